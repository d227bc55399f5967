"""The two doors in front of the outbox: messages that wait to be admitted, in arrival order."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

Admit = Callable[[], Any]  # returns something true once the message was admitted, or ``WITHDRAWN``
WITHDRAWN: Final = "withdrawn"  # its sender has changed its mind: it is not sent


class Door:
    """A queue of messages that the outbox does not take yet. What waits here belongs to its sender: cancelling its
    future drops it. ``entered()`` is called when somebody has to wait.
    """

    __slots__ = ("_entered", "_loop", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop, entered: Callable[[], None]) -> None:
        self._loop = loop
        self._entered = entered
        self._waiting: OrderedDict[asyncio.Future[Any], Admit] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def enter(self, admit: Admit) -> asyncio.Future[Any]:
        """Stand at the end of the queue; the future tells when ``admit`` succeeded, or that it raised."""
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting[future] = admit
        future.add_done_callback(self._left)
        self._entered()
        return future

    def _left(self, future: asyncio.Future[Any]) -> None:
        """Nothing is kept of what was cancelled, even if the door never opens again."""
        self._waiting.pop(future, None)

    def open(self) -> bool:
        """Admit what is admitted now, in order; returns whether anything was."""
        moved = False
        while self._waiting:
            future, admit = next(iter(self._waiting.items()))
            if not future.done():
                try:
                    result = admit()
                except Exception as error:
                    _fail(future, error)
                else:
                    if not result:
                        return moved
                    moved = _settle(future, result) or moved
            del self._waiting[future]
        return moved

    def fail(self, make_error: Callable[[], Exception]) -> None:
        """Nothing will be admitted any more."""
        while self._waiting:
            future, _ = self._waiting.popitem(last=False)
            if not future.done():
                _fail(future, make_error())


def _settle(future: asyncio.Future[Any], result: Any) -> bool:
    """Whether it was sent."""
    if result is WITHDRAWN:
        future.cancel()
        return False
    future.set_result(None)
    return True


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    future.set_exception(error)
    future.exception()  # the sender may be gone: nobody has to look
