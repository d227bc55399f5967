"""The two doors in front of the outbox: messages that wait to be admitted, in arrival order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

Admit = Callable[[], Any]  # returns something true once the message was admitted


class Door:
    """A queue of messages that the outbox does not take yet. What waits here belongs to its sender: cancelling it
    drops it.
    """

    __slots__ = ("_loop", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[tuple[Admit, asyncio.Future[Any]]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def enter(self, admit: Admit) -> asyncio.Future[Any]:
        """Stand at the end of the queue; the future holds what ``admit`` returned."""
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append((admit, future))
        return future

    def open(self) -> bool:
        """Admit what is admitted now, in order; returns whether anything was."""
        moved = False
        while self._waiting:
            admit, future = self._waiting[0]
            if not future.done():
                try:
                    result = admit()
                except Exception as error:
                    future.set_exception(error)
                else:
                    if not result:
                        return moved
                    future.set_result(result)
                    moved = True
            self._waiting.popleft()
        return moved

    def fail(self, make_error: Callable[[], Exception]) -> None:
        """Nothing will be admitted any more."""
        while self._waiting:
            _, future = self._waiting.popleft()
            if not future.done():
                future.set_exception(make_error())
                future.exception()  # the sender may be gone: nobody has to look
