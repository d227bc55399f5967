"""The agent's side of a pipe: this process's own stdin and stdout."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import stat
import sys

from ..errors import UsageError
from .base import Link
from .fd import FdTransport, check_usable

_PTY_MASTER_MAJOR = 5
"""Opening a pty master a second time (or the console) would give another terminal."""

_taken = False


class StdioTransport(FdTransport):
    """Bytes in from descriptor 0, bytes out to descriptor 1; pipes, sockets, terminals, files and the null device.

    ``isolate``: while the transport lives, descriptor 0 is the null device and descriptor 1 is stderr, so that a stray
    ``print``, a library or a child process can neither eat input nor spoil the output. :meth:`close` and the end of the
    stream put both back, with their blocking flags; the peer sees end of input when the process ends.
    """

    _holds_stdio = False

    def __init__(self, isolate: bool = True, *, drain_timeout: float = 1.0) -> None:
        super().__init__(-1, -1, drain_timeout=drain_timeout)
        self._isolate = isolate
        self._saved: list[tuple[int, int]] = []

    def start(self, link: Link, loop: asyncio.AbstractEventLoop) -> None:
        """Take stdin and stdout. ``UsageError`` if one of them cannot be used or is taken already."""
        global _taken
        if _taken:
            raise UsageError("stdin and stdout are taken by another transport")
        _taken = self._holds_stdio = True
        super().start(link, loop)

    def __del__(self) -> None:
        if self._holds_stdio:
            super().__del__()

    def _open(self, link: Link, loop: asyncio.AbstractEventLoop) -> None:
        check_usable(0, "stdin", os.O_WRONLY)
        check_usable(1, "stdout", os.O_RDONLY)
        _flush_stdout()
        stray = 2 if _is_open(2) else None
        self._read_fd = _private(0, os.O_RDONLY)
        self._write_fd = _private(1, os.O_WRONLY)
        super()._open(link, loop)
        if self._isolate:
            self._redirect(stray)

    def _redirect(self, stray: int | None) -> None:
        self._saved.append((_duplicate(0), 0))
        self._saved.append((_duplicate(1), 1))
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null if stray is None else stray, 1)
        os.close(null)

    def _end_writing(self) -> None:
        """The stream stays open at descriptor 1 for whoever comes after us: no socket is shut down."""
        if self._writer is not None:
            self._writer.close()

    def _release(self) -> None:
        global _taken
        super()._release()
        if not self._holds_stdio:
            return
        if self._saved:
            _flush_stdout()  # what was printed meanwhile belongs to stderr
        for saved, fd in self._saved:
            os.dup2(saved, fd)
            os.close(saved)
        self._saved = []
        _taken = self._holds_stdio = False


def _flush_stdout() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or there is none
        sys.stdout.flush()


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def _private(fd: int, access: int) -> int:
    """A non-inheritable descriptor for the same stream, if possible with blocking flags of its own.

    A plain duplicate shares them with everyone who has the stream, often stderr (a terminal, ``2>&1``): log lines would
    then fail with ``BlockingIOError``. A pipe or a terminal can be opened anew.
    """
    status = os.fstat(fd)
    if stat.S_ISFIFO(status.st_mode) or _is_terminal(fd, status):
        with contextlib.suppress(OSError):
            return _lift(os.open(f"/proc/self/fd/{fd}", access | os.O_NONBLOCK | os.O_NOCTTY))
    return _duplicate(fd)


def _duplicate(fd: int) -> int:
    """Never 0, 1 or 2, also when one of them is closed: the next ``print`` would write into it."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)


def _lift(fd: int) -> int:
    if fd > 2:
        return fd
    high = _duplicate(fd)
    os.close(fd)
    return high


def _is_terminal(fd: int, status: os.stat_result) -> bool:
    return os.isatty(fd) and os.major(status.st_rdev) != _PTY_MASTER_MAJOR
