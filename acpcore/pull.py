"""Events that wait to be pulled. They stand in the inbox gate until the next pull, so that a host's pace is the
peer's.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from .errors import UsageError
from .message import Event, Group, Notification, Request, Response, TerminalBytes, Updates

if TYPE_CHECKING:
    from .connection import Connection

_MARKERS: Final = 65536  # answers to own calls that are marked while nobody pulls


class EventQueue:
    """A queue with one reader. ``done`` is told of each event when the next pull begins."""

    __slots__ = ("_done", "_ended", "_events", "_handed", "_loop", "_markers", "_waiter")

    def __init__(self, loop: asyncio.AbstractEventLoop, done: Callable[[Event], None]) -> None:
        self._loop = loop
        self._done = done
        self._events: deque[Event] = deque()
        self._handed: list[Event] = []
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False
        self._markers = 0

    def put(self, event: Event) -> None:
        """Append an event and wake the reader."""
        self._events.append(event)
        self._wake()

    def mark(self, event: Response) -> None:
        """Append the marker of an answer. They stand in no gate, only the host's own calls make them: a host that
        never pulls gets no more of them after some time.
        """
        if self._markers < _MARKERS:
            self._markers += 1
            self.put(event)

    def extract(self, session_id: str, parts: Callable[[Group], list[Notification]]) -> list[Event]:
        """Take the notifications of one session out; ``parts`` takes a group apart."""
        mine: list[Event] = []
        rest: deque[Event] = deque()
        for event in self._events:
            mixed = isinstance(event, Updates) and session_id in event.sessions()
            for one in parts(event) if mixed and isinstance(event, Updates) else [event]:
                wanted = isinstance(one, (Notification, TerminalBytes)) and one.session_id == session_id
                (mine if wanted else rest).append(one)
        self._events = rest
        return mine

    def end(self) -> None:
        """Nothing will follow what is queued."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def __len__(self) -> int:
        return len(self._events)

    def finish_handed(self) -> None:
        """What was pulled last is done."""
        handed, self._handed = self._handed, []
        for event in handed:
            self._done(event)

    async def get(self) -> Event | None:
        """The next event, or ``None`` at the end. A cancelled pull loses nothing."""
        self.finish_handed()
        while (event := self._hand_out()) is None:
            if self._ended:
                return None
            await self._wait(None)
        return event

    async def get_batch(self, most: int, wait: float | None) -> list[Event]:
        """Up to ``most`` events: what comes within ``wait`` seconds, or, with ``None``, what is there once one is."""
        if most < 1:
            raise UsageError("a pull takes at least one event")
        self.finish_handed()
        deadline = None if wait is None else self._loop.time() + wait
        while True:
            await self._gather(1 if deadline is None else most, deadline)
            batch = self._hand_out_batch(most)
            if batch or deadline is not None or self._ended:
                return batch

    async def _gather(self, count: int, deadline: float | None) -> None:
        """Until so many events are queued, the time is over, or nothing will follow."""
        while not self._ended and len(self._events) < count:
            left = None if deadline is None else deadline - self._loop.time()
            if left is not None and left <= 0:
                return
            await self._wait(left)

    def _hand_out_batch(self, most: int) -> list[Event]:
        batch: list[Event] = []
        while len(batch) < most and (event := self._hand_out()) is not None:
            batch.append(event)
        return batch

    def _hand_out(self) -> Event | None:
        """The next event. A request that was cancelled, and answered, before anybody took it is passed over."""
        while self._events:
            event = self._events.popleft()
            if isinstance(event, Request):
                if event.answered:
                    self._done(event)
                    continue
                event.started = True
            elif isinstance(event, Response) and event.matched:
                self._markers -= 1
            self._handed.append(event)
            return event
        return None

    async def _wait(self, seconds: float | None) -> None:
        if self._waiter is not None and not self._waiter.done():  # a done one was cancelled or woken a moment ago
            raise UsageError("another task is pulling from here already")
        waiter = self._waiter = self._loop.create_future()
        timer = None if seconds is None else self._loop.call_later(seconds, self._wake)
        try:
            await waiter
        finally:
            if self._waiter is waiter:
                self._waiter = None
            if timer is not None:
                timer.cancel()

    def clear(self) -> None:
        """Drop everything; every event counts as done."""
        self.finish_handed()
        while self._events:
            self._done(self._events.popleft())


class Pulling:
    """``async for event in conn``. Leaving the loop in the middle leaves nothing behind."""

    __slots__ = ("_conn",)

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def __aiter__(self) -> Pulling:
        return self

    async def __anext__(self) -> Event:
        event = await self._conn.pull()
        if event is None:
            raise StopAsyncIteration
        return event
