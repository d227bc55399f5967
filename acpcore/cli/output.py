"""Standard output, written without ever holding up the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import stat
from collections.abc import Callable, Coroutine
from typing import Any, Final

_PIPE_SIZE: Final = 1024 * 1024


class Output:
    """Writes bytes to descriptor ``fd`` as fast as it takes them.

    :meth:`write` returns ``None`` when everything is written, else something to await. ``on_error`` is told once that
    nothing more can be written (``BrokenPipeError`` when the reader went away); from then on everything is dropped.
    ``OSError`` if the descriptor is not open.
    """

    def __init__(self, fd: int, on_error: Callable[[OSError], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_error = on_error
        self._shared: int | None = None
        self._failed = False
        self._fd = self._prepare(fd)

    def write(self, data: bytes) -> Coroutine[Any, Any, None] | None:
        """Write ``data`` after what was written before, which must be done."""
        sent = self._put(data)
        return None if sent == len(data) else self._write_rest(memoryview(data)[sent:])

    async def _write_rest(self, rest: memoryview) -> None:
        while len(rest):
            await self._writable()
            rest = rest[self._put(rest) :]

    def _put(self, data: bytes | memoryview) -> int:
        """Write what goes now; says how much is done with."""
        if self._failed:
            return len(data)
        try:
            return os.write(self._fd, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            self._failed = True
            self._on_error(error)
            return len(data)

    async def _writable(self) -> None:
        future = self._loop.create_future()
        try:
            self._loop.add_writer(self._fd, _resolve, future)
        except PermissionError:  # a file: it takes everything, if not in one go
            return
        try:
            await future
        finally:
            self._loop.remove_writer(self._fd)

    def close(self) -> None:
        """Give the descriptor back as it was."""
        if self._shared is not None:
            with contextlib.suppress(OSError):
                os.set_blocking(self._shared, True)
        os.close(self._fd)

    def _prepare(self, fd: int) -> int:
        """A descriptor of our own that does not block.

        The flag belongs to the open file, which other processes may share: a terminal with the shell, a pipe with what
        is written to stderr. Pipes and terminals can be opened anew.
        """
        mode = os.fstat(fd).st_mode
        pipe = stat.S_ISFIFO(mode)
        if pipe and hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):  # a wish
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
        if pipe or os.isatty(fd):
            with contextlib.suppress(OSError):
                return os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        if os.get_blocking(fd) and not stat.S_ISREG(mode):
            os.set_blocking(fd, False)
            self._shared = fd
        return os.dup(fd)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
