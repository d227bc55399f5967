"""Events that wait to be pulled. They stand in the inbox gate until the next pull, so that a host's pace is the
peer's.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from .errors import UsageError
from .message import Event


class EventQueue:
    """A queue with one reader. ``done`` is told of each event when the next pull begins."""

    __slots__ = ("_done", "_ended", "_events", "_handed", "_loop", "_waiter")

    def __init__(self, loop: asyncio.AbstractEventLoop, done: Callable[[Event], None]) -> None:
        self._loop = loop
        self._done = done
        self._events: deque[Event] = deque()
        self._handed: list[Event] = []
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False

    def put(self, event: Event) -> None:
        """Append an event and wake the reader."""
        self._events.append(event)
        self._wake()

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
        while not self._events:
            if self._ended:
                return None
            await self._wait(None)
        return self._hand_out()

    async def get_batch(self, most: int, wait: float | None) -> list[Event]:
        """Up to ``most`` events: what comes within ``wait`` seconds, or, with ``None``, what is there once one is."""
        self.finish_handed()
        deadline = None if wait is None else self._loop.time() + wait
        while not self._ended and len(self._events) < (1 if deadline is None else most):
            left = None if deadline is None else deadline - self._loop.time()
            if left is not None and left <= 0:
                break
            await self._wait(left)
        return [self._hand_out() for _ in range(min(most, len(self._events)))]

    def _hand_out(self) -> Event:
        event = self._events.popleft()
        self._handed.append(event)
        return event

    async def _wait(self, seconds: float | None) -> None:
        if self._waiter is not None:
            raise UsageError("another task is pulling from here already")
        waiter = self._waiter = self._loop.create_future()
        timer = None if seconds is None else self._loop.call_later(seconds, self._wake)
        try:
            await waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def clear(self) -> None:
        """Drop everything; every event counts as done."""
        self.finish_handed()
        while self._events:
            self._done(self._events.popleft())
