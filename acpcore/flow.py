"""Pressure, counted in wire bytes.

The wire has no credit frame: the only way to slow a peer is to stop reading. A ``Gate`` says when: it shuts at its
high watermark and opens again at its low one. The ``Outbox`` holds what was admitted and not yet taken by the
transport.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec

KIB: Final = 1024
MIB: Final = 1024 * KIB
Clock = Callable[[], float]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Every bound of a connection, in bytes unless said otherwise.

    ``inbox_*`` bound what the host has not finished, ``outbox_*`` what the transport has not taken: reading or
    admitting stops at ``high``, goes on at ``low``, and nothing passes ``hard``. ``max_frame`` is the longest line
    that is taken, ``max_send_frame`` the longest that is sent. ``stall_timeout`` (seconds) is how long a hard cap
    may stand still. ``max_running`` requests run at once, ``max_batch`` entries make a batch. ``read_size`` is the
    most that one read takes.
    """

    inbox_high: int = 256 * KIB
    inbox_low: int = 64 * KIB
    inbox_hard: int = 64 * MIB
    outbox_high: int = 64 * KIB
    outbox_low: int = 16 * KIB
    outbox_hard: int = 64 * MIB
    max_frame: int = 64 * MIB
    max_send_frame: int = 64 * MIB
    stall_timeout: float = 5.0
    max_running: int = 1024
    max_batch: int = 1024
    read_size: int = 256 * KIB

    def __post_init__(self) -> None:
        for name in ("inbox", "outbox"):
            low, high, hard = (getattr(self, f"{name}_{mark}") for mark in ("low", "high", "hard"))
            if not 0 <= low <= high <= hard:
                raise ValueError(f"{name}: low, high and hard must rise (they are {low}, {high}, {hard})")
        if not 1 <= self.max_frame <= 0x7F000000 or not 1 <= self.max_send_frame <= 0x7F000000:
            raise ValueError("max_frame and max_send_frame lie between 1 and 2,130,706,432 bytes")
        if self.stall_timeout <= 0 or self.max_running < 1 or self.max_batch < 1 or self.read_size < 4096:
            raise ValueError("stall_timeout, max_running and max_batch are positive, read_size is at least 4096")

    @classmethod
    def interactive(cls) -> Limits:
        """The default: a stuck consumer delays a reply by tens of milliseconds, not by seconds."""
        return cls()

    @classmethod
    def bulk(cls) -> Limits:
        """For floods: larger buffers, fewer wake-ups, longer delays behind a slow consumer."""
        return cls(
            inbox_high=4 * MIB,
            inbox_low=1 * MIB,
            outbox_high=1 * MIB,
            outbox_low=256 * KIB,
            read_size=1 * MIB,
        )


class GateStats(msgspec.Struct, frozen=True):
    """A gate so far: bytes ``used`` now and at ``peak``, how many ``times`` it shut, ``seconds`` it was shut in all."""

    used: int
    peak: int
    times: int
    seconds: float


class Gate:
    """Bytes against two watermarks with hysteresis: shuts at ``high``, opens at ``low``."""

    __slots__ = ("_clock", "_seconds", "_since", "budget", "hard", "high", "low", "peak", "shut", "times", "used")

    def __init__(
        self, high: int, low: int, hard: int, clock: Clock = time.monotonic, budget: Budget | None = None
    ) -> None:
        self.budget = budget
        self.high = high
        self.low = low
        self.hard = hard
        self.used = 0
        self.peak = 0
        self.times = 0
        self.shut = False
        self._clock = clock
        self._seconds = 0.0
        self._since = 0.0

    def add(self, size: int) -> None:
        """``size`` more bytes wait."""
        self.used += size
        if self.used > self.peak:
            self.peak = self.used
        if not self.shut and self.used >= self.high:
            self.shut = True
            self.times += 1
            self._since = self._clock()
        if self.budget is not None:
            self.budget.add(size)

    def sub(self, size: int) -> None:
        """``size`` bytes are done."""
        self.used -= size
        if self.shut and self.used <= self.low:
            self.shut = False
            self._seconds += self._clock() - self._since
        if self.budget is not None:
            self.budget.sub(size)

    def leave_budget(self) -> None:
        """What waits here no longer counts in the budget: the connection is over."""
        budget, self.budget = self.budget, None
        if budget is not None:
            budget.sub(self.used)

    def admits(self, size: int) -> bool:
        """Whether ``size`` bytes stay within the hard cap. An empty gate admits anything once."""
        return self.used == 0 or self.used + size <= self.hard

    @property
    def full(self) -> bool:
        """Whether the hard cap is reached."""
        return self.used >= self.hard

    def stats(self) -> GateStats:
        """A snapshot."""
        running = self._clock() - self._since if self.shut else 0.0
        return GateStats(self.used, self.peak, self.times, self._seconds + running)


class Budget(Gate):
    """A bound on what the inboxes of many connections hold together, in bytes: for gateways, and hosts of many
    agents.

    At ``high`` every connection that holds something stops reading (an agent: at ``hard``), one with an empty inbox
    still takes one frame, so that nobody starves; at ``low`` all go on. A budget belongs to one thread.
    """

    __slots__ = ("_listeners", "_was_full")

    def __init__(
        self, high: int, low: int | None = None, hard: int | None = None, clock: Clock = time.monotonic
    ) -> None:
        super().__init__(high, high // 2 if low is None else low, 2 * high if hard is None else hard, clock)
        if not 0 <= self.low <= self.high <= self.hard:
            raise ValueError("low, high and hard must rise")
        self._listeners: set[Callable[[], None]] = set()
        self._was_full = False

    def add(self, size: int) -> None:
        """``size`` more bytes wait in some inbox."""
        super().add(size)
        self._was_full = self._was_full or self.full

    def sub(self, size: int) -> None:
        """``size`` bytes are done; whoever stopped reading because of the budget is told when there is room again."""
        was_shut = self.shut
        super().sub(size)
        freed = self._was_full and not self.full
        if freed:
            self._was_full = False
        if freed or (was_shut and not self.shut):
            for listener in list(self._listeners):
                listener()

    def join(self, listener: Callable[[], None]) -> None:
        """``listener()`` is called when there is room again."""
        self._listeners.add(listener)

    def leave(self, listener: Callable[[], None]) -> None:
        """It no longer is."""
        self._listeners.discard(listener)


_JOIN: Final = 64 * KIB  # small lines are joined up to this size, larger ones go out as they are
_BUFFERS: Final = 64  # buffers offered to one writev


class Outbox:
    """One queue out. What is admitted keeps its order and leaves whole, however the transport cuts it."""

    __slots__ = ("_head", "_queue", "gate", "sent")

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.sent = 0  # bytes taken by the transport in all
        self._queue: deque[bytes] = deque()
        self._head = 0  # bytes of the first line that are already gone

    def push(self, line: bytes) -> None:
        """Admit one line. The caller has asked the gate."""
        self._queue.append(line)
        self.gate.add(len(line))

    def push_reserved(self, line: bytes, reserved: int) -> None:
        """Admit a line of which ``reserved`` bytes were counted before."""
        self._queue.append(line)
        self.gate.add(len(line))
        self.gate.sub(reserved)

    def buffers(self) -> list[bytes | memoryview]:
        """What to write next, in order: small lines joined, the unsent rest of a cut one first."""
        queue = self._queue
        if not queue:
            return []
        if len(queue) > 1 and len(queue[0]) + len(queue[1]) <= _JOIN:
            self._join()
        result: list[bytes | memoryview] = []
        for line in queue:
            if len(result) == _BUFFERS:
                break
            result.append(line)
        if self._head:
            result[0] = memoryview(queue[0])[self._head :]
        return result

    def _join(self) -> None:
        """Make one buffer of the small lines in front, so that the system call is paid once for all of them."""
        queue = self._queue
        lines, size = [queue.popleft()], 0
        size = len(lines[0])
        while queue and size + len(queue[0]) <= _JOIN:
            line = queue.popleft()
            lines.append(line)
            size += len(line)
        queue.appendleft(b"".join(lines))

    def taken(self, size: int) -> None:
        """``size`` bytes of :meth:`buffers` are gone."""
        self.sent += size
        self.gate.sub(size)
        queue = self._queue
        size += self._head
        while queue and size >= len(queue[0]):
            size -= len(queue.popleft())
        self._head = size

    @property
    def pending(self) -> int:
        """Bytes that wait to be written."""
        return sum(map(len, self._queue)) - self._head

    def __bool__(self) -> bool:
        return bool(self._queue)

    def clear(self) -> int:
        """Drop everything; returns how many bytes were dropped."""
        dropped = self.pending
        self._queue.clear()
        self._head = 0
        self.gate.sub(dropped)
        return dropped
