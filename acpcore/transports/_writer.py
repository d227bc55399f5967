"""The write half of a descriptor: ``writev`` of what a link has to send, as much as the operating system takes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence

from .base import Link

_MAX_BUFFERS = min(1024, os.sysconf("SC_IOV_MAX")) if "SC_IOV_MAX" in os.sysconf_names else 16
_MAX_BYTES = 1 << 20
"""Bytes given to the operating system in one loop turn, so that a reader as fast as we are does not hold the loop."""

_RETRY = 0.05
"""Seconds between two tries on a descriptor that the loop cannot watch and that takes nothing now."""

Buffers = Sequence[bytes | memoryview]


class Writer:
    """Writes to the non-blocking descriptor ``fd`` what ``link.data_to_send()`` offers.

    ``broken`` is called once if the descriptor takes no more bytes for good, with the error, and not at all after
    :meth:`close`. The descriptor is neither owned nor closed here.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fd: int,
        link: Link,
        broken: Callable[[OSError], None],
    ) -> None:
        self._loop = loop
        self._fd = fd
        self._link = link
        self._broken = broken
        self._closed = False
        self._writing = False
        self._refused = False
        self._polled = False
        self._turn_handle: asyncio.Handle | None = None

    @property
    def closed(self) -> bool:
        """Whether nothing will be written any more."""
        return self._closed

    def wake(self) -> None:
        """Write now, unless a write is under way or waits for the descriptor."""
        if not (self._writing or self._polled or self._turn_handle is not None or self._closed):
            self._turn()

    def close(self) -> None:
        """Write nothing more; idempotent."""
        self._closed = True
        self._disarm()

    # -- when to write ----------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        self._turn_handle = None
        self._writing = True
        try:
            self._write()
        finally:
            self._writing = False

    def _later(self, blocked: bool) -> None:
        """Go on when the descriptor takes more."""
        if self._polled or self._closed:
            return
        if not self._refused:
            self._watch()
        if self._refused:
            self._turn_handle = self._loop.call_later(_RETRY if blocked else 0, self._turn)

    def _watch(self) -> None:
        try:
            self._loop.add_writer(self._fd, self._turn)
            self._polled = True
        except PermissionError:
            self._refused = True

    def _disarm(self) -> None:
        if self._polled:
            self._polled = False
            self._loop.remove_writer(self._fd)
        if self._turn_handle is not None:
            self._turn_handle.cancel()
            self._turn_handle = None

    # -- the write itself -------------------------------------------------------------------------------------------

    def _write(self) -> None:
        """Until nothing is left, the descriptor is full, or this turn has had its share."""
        left = _MAX_BYTES
        while not self._closed:
            buffers, size = _first(self._link.data_to_send(), left)
            if size == 0:
                self._disarm()
                return
            taken = self._give(buffers)
            if taken:
                self._link.data_sent(taken)
            left -= taken
            if taken < size or left <= 0:
                self._later(blocked=taken == 0)
                return

    def _give(self, buffers: Buffers) -> int:
        try:
            return os.writev(self._fd, buffers)
        except BlockingIOError:
            return 0
        except OSError as error:
            self.close()
            self._broken(error)
            return 0


def _first(buffers: Buffers, limit: int) -> tuple[Buffers, int]:
    """The first buffers of ``buffers``, at most ``limit`` bytes together, and how many bytes that is."""
    if len(buffers) == 1 and len(buffers[0]) <= limit:
        return buffers, len(buffers[0])
    chosen: list[bytes | memoryview] = []
    size = 0
    for buffer in buffers[:_MAX_BUFFERS]:
        if size + len(buffer) > limit:
            chosen.append(memoryview(buffer)[: limit - size])
            return chosen, limit
        chosen.append(buffer)
        size += len(buffer)
    return chosen, size
