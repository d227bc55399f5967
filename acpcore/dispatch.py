"""Which message may start, and which must wait. A pure scheduler: no loop, no clock, no calls into anybody.

Everything of one session stands in one lane, in wire order; messages without a session share a lane.

* A notification starts when the one before it in its lane has returned.
* A request starts when every earlier notification of its lane has returned or itself waits for the peer; then it runs
  beside the lane. It passes answers that stand behind such a wait.
* An answer is handed over when every earlier notification of its lane has returned; the lane rests until ``release``,
  so that whoever waited for the answer goes on before the next notification starts.

Lanes do not wait for each other. Among the entries that may start, the one that came first on the wire starts first.
"""

from __future__ import annotations

import heapq
import itertools
from collections import OrderedDict
from enum import IntEnum
from typing import Any


class Kind(IntEnum):
    """What an entry is."""

    NOTIFICATION = 0
    REQUEST = 1
    ANSWER = 2


class Entry:
    """One thing that waits or runs. ``item`` is the scheduler's user's own."""

    __slots__ = ("item", "kind", "lane", "number", "offered", "started", "waits")

    def __init__(self, kind: Kind, lane: Lane, number: int, item: Any) -> None:
        self.kind = kind
        self.lane = lane
        self.number = number
        self.item = item
        self.started = False
        self.offered = False  # whether it stands in the heap of those that may start
        self.waits = 0  # how many waits for the peer its handler is in

    def __lt__(self, other: Entry) -> bool:
        return self.number < other.number


class Lane:
    """The queue of one session."""

    __slots__ = ("held", "key", "queue", "running")

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.queue: OrderedDict[Entry, None] = OrderedDict()  # so that one can leave from the middle at once
        self.running: Entry | None = None
        self.held = False

    def first(self) -> Entry | None:
        """The entry that may start, if there is one."""
        if not self.queue or self.held:
            return None
        if self.running is None:
            return next(iter(self.queue))
        return self._request_ahead() if self.running.waits > 0 else None

    def _request_ahead(self) -> Entry | None:
        """The first request, if no notification stands before it. It passes answers: the handler that they stand
        behind waits for the peer, and what the peer waits for may be this request.
        """
        for entry in self.queue:
            if entry.kind is not Kind.ANSWER:
                return entry if entry.kind is Kind.REQUEST else None
        return None

    @property
    def idle(self) -> bool:
        """Nothing runs, waits or rests here."""
        return not self.queue and self.running is None and not self.held


class Scheduler:
    """The lanes of one connection."""

    __slots__ = ("_lanes", "_number", "_ready", "waiting")

    def __init__(self) -> None:
        self._lanes: dict[str | None, Lane] = {}
        self._ready: list[Entry] = []
        self._number = itertools.count()
        self.waiting = 0  # entries that have not started

    def __len__(self) -> int:
        return self.waiting

    @property
    def idle(self) -> bool:
        """Whether nothing runs, waits or rests in any lane."""
        return not self._lanes

    def clear_way(self, key: str | None) -> bool:
        """Whether a new entry of this lane would start at once, before everything that waits."""
        return not self.waiting and key not in self._lanes

    def add(self, kind: Kind, key: str | None, item: Any) -> Entry:
        """Append to a lane."""
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(key)
        entry = Entry(kind, lane, next(self._number), item)
        lane.queue[entry] = None
        self.waiting += 1
        self._offer(lane)
        return entry

    def start_now(self, key: str | None, item: Any) -> Entry:
        """A notification that starts at once; only where :meth:`clear_way` said so."""
        lane = self._lanes[key] = Lane(key)
        entry = lane.running = Entry(Kind.NOTIFICATION, lane, next(self._number), item)
        entry.started = True
        return entry

    def next(self) -> Entry | None:
        """The entry that starts now, or ``None``. A notification occupies its lane until :meth:`finished`."""
        while self._ready:
            entry = heapq.heappop(self._ready)
            entry.offered = False
            if not entry.started and entry.lane.first() is entry:
                return self._start(entry)
        return None

    def _start(self, entry: Entry) -> Entry:
        lane = entry.lane
        del lane.queue[entry]
        entry.started = True
        self.waiting -= 1
        if entry.kind is Kind.NOTIFICATION:
            lane.running = entry
        elif entry.kind is Kind.ANSWER:
            lane.held = True
        self._offer(lane)
        return entry

    def finished(self, entry: Entry) -> None:
        """A notification's handler returned."""
        lane = entry.lane
        if lane.running is entry:
            lane.running = None
            self._offer(lane)

    def hold(self, key: str | None) -> None:
        """Let a lane rest, as after an answer that did not have to wait."""
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(key)
        lane.held = True

    def release(self, key: str | None) -> None:
        """The rest after an answer is over."""
        lane = self._lanes.get(key)
        if lane is not None:
            lane.held = False
            self._offer(lane)

    def waits(self, entry: Entry) -> None:
        """A handler began to wait for the peer."""
        entry.waits += 1
        self._offer(entry.lane)

    def resumes(self, entry: Entry) -> None:
        """One wait of it is over."""
        entry.waits -= 1

    def remove(self, entry: Entry) -> bool:
        """Drop an entry that has not started; ``False`` if it has."""
        if entry.started:
            return False
        entry.started = True
        self.waiting -= 1
        lane = entry.lane
        del lane.queue[entry]
        self._offer(lane)
        return True

    def clear(self) -> list[Entry]:
        """Drop everything that has not started; what runs goes on."""
        dropped = sorted((e for lane in self._lanes.values() for e in lane.queue), key=lambda e: e.number)
        for entry in dropped:
            entry.started = True
            entry.lane.queue.clear()
        self._ready.clear()
        self.waiting = 0
        for lane in list(self._lanes.values()):
            lane.held = False
            self._offer(lane)
        return dropped

    def blocked_by(self, entry: Entry) -> Any:
        """The item whose handler an entry waits for, or ``None``."""
        running = entry.lane.running
        return None if running is None or entry.started else running.item

    def running(self) -> list[Any]:
        """The items of all notifications whose handlers have not returned."""
        return [lane.running.item for lane in self._lanes.values() if lane.running is not None]

    def _offer(self, lane: Lane) -> None:
        """Make a lane's first entry known if it may start; forget a lane in which nothing is left."""
        first = lane.first()
        if first is not None:
            if not first.offered:
                first.offered = True
                heapq.heappush(self._ready, first)
        elif lane.idle and self._lanes.get(lane.key) is lane:
            del self._lanes[lane.key]
