"""A transport over two descriptors (or one for both directions): pipes, sockets, terminals, files.

It works on every loop that has ``add_reader`` and ``add_writer``, asyncio's and uvloop alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import math
import os
import socket
import stat
import warnings

from ..errors import UsageError
from ._reader import Reader
from ._writer import Writer
from .base import Link, Outcome


class FdTransport:
    """Bytes in from ``read_fd``, bytes out to ``write_fd``; both may be the same socket or terminal.

    ``owned``: close the descriptors at the end; otherwise they are left open and the peer sees no end of input. Their
    blocking flags are put back either way.
    ``linger``: seconds after :meth:`close` in which input is still read and thrown away until the peer has closed too
    (closing a TCP socket with unread input would destroy output that is still on its way); 0 closes at once.
    ``drain_timeout``: when the peer does not read any more (EPIPE), what it wrote before is delivered until it ends or
    was empty for so many seconds.
    """

    _finished = True  # for __del__, until the constructor is through

    def __init__(
        self, read_fd: int, write_fd: int, *, owned: bool = True, linger: float = 0.0, drain_timeout: float = 1.0
    ) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._owned = owned
        self._linger = linger
        self._drain_timeout = drain_timeout
        self._owner = os.getpid()
        self._blocking: list[int] = []
        self._sock: socket.socket | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._link: Link | None = None
        self._reader: Reader | None = None
        self._writer: Writer | None = None
        self._linger_timer: asyncio.TimerHandle | None = None
        self._error: OSError | None = None
        self._write_ended = False
        self._draining = False
        self._closing = False
        self._finished = False
        self._closed = asyncio.Event()

    # -- Transport ------------------------------------------------------------------------------------------------

    @property
    def outcome(self) -> Outcome:
        """What is known so far of how the transport ended."""
        return Outcome(error=self._error)

    def start(self, link: Link, loop: asyncio.AbstractEventLoop) -> None:
        """Begin reading. ``UsageError`` if the descriptors cannot be used, or at a second call."""
        if self._link is not None or self._finished:
            raise UsageError("a transport can be started once")
        try:
            self._open(link, loop)
        except BaseException:
            self._finished = True
            self._stop()
            self._closed.set()
            raise

    def pause_reading(self) -> None:
        """Stop reading; idempotent."""
        if self._reader is not None and not self._closing:
            self._reader.pause()

    def resume_reading(self) -> None:
        """Read again; idempotent."""
        if self._reader is not None and not self._closing:
            self._reader.resume()

    def wake(self) -> None:
        """Write what the link has to send."""
        if self._writer is not None:
            self._writer.wake()

    def write_eof(self) -> None:
        """End the write side only: the peer sees end of input, its output is still read. Idempotent."""
        self._end_writing()
        self._finish_if_both_ended()

    def close(self) -> None:
        """End the write side, stop reading, release everything (after ``linger`` seconds at the latest)."""
        if self._closing:
            return
        self._closing = True
        self._end_writing()
        if self._reader is None or self._reader.done or self._linger <= 0 or self._draining:
            self._finish(None)
            return
        self._reader.discard()
        if self._linger < math.inf and self._loop is not None:
            self._linger_timer = self._loop.call_later(self._linger, self._finish, None)

    def abort(self) -> None:
        """Release everything now."""
        self._closing = True
        self._finish(None)

    async def wait_closed(self) -> Outcome:
        """Until everything is released. ``UsageError`` if the transport was neither started nor closed."""
        if self._link is None and not self._finished:
            raise UsageError("the transport was not started")
        await self._closed.wait()
        return self.outcome

    def drain(self) -> None:
        """The peer is known to be gone: deliver what it left (see ``drain_timeout``), then end."""
        self._draining = True
        self._end_writing()
        if self._reader is None or self._reader.done or self._closing:
            self._finish(None)
        else:
            self._reader.drain(self._drain_timeout)

    def __del__(self) -> None:
        # A forked copy must not touch flags of open files that it shares with the original.
        if not self._finished and self._owned and self._owner == os.getpid():
            warnings.warn(f"unclosed transport {self!r}", ResourceWarning, source=self, stacklevel=2)
            self._release()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} read_fd={self._read_fd} write_fd={self._write_fd}>"

    # -- inside ---------------------------------------------------------------------------------------------------

    def _open(self, link: Link, loop: asyncio.AbstractEventLoop) -> None:
        check_usable(self._read_fd, "input", os.O_WRONLY)
        check_usable(self._write_fd, "output", os.O_RDONLY)
        self._unblock(self._read_fd)
        self._unblock(self._write_fd)
        if _is_socket(self._read_fd):
            self._sock = socket.socket(fileno=self._read_fd)
        self._loop = loop
        self._link = link
        self._writer = Writer(loop, self._write_fd, link, self._write_broken)
        self._reader = Reader(loop, self._read_fd, link, self._read_ended, sock=self._sock)
        self._reader.resume()

    def _unblock(self, fd: int) -> None:
        if os.get_blocking(fd):
            os.set_blocking(fd, False)
            self._blocking.append(fd)

    def _read_ended(self, error: OSError | None) -> None:
        if self._link is not None and not self._closing:
            self._link.eof_received()
        if error is not None or self._draining or self._closing:
            self._finish(error)
        else:
            self._finish_if_both_ended()

    def _write_broken(self, error: OSError) -> None:
        self._error = error
        self.drain()

    def _finish_if_both_ended(self) -> None:
        if self._reader is not None and self._reader.done and self._writer is not None and self._writer.closed:
            self._finish(None)

    def _end_writing(self) -> None:
        """Stop writing and let the peer see the end, while the read side stays as it is."""
        if self._writer is None or self._write_ended or self._finished:
            return
        self._write_ended = True
        self._writer.close()
        if self._owned and _is_socket(self._write_fd):
            _shut_down(self._write_fd)
        if self._owned and self._write_fd != self._read_fd:
            fd, self._write_fd = self._write_fd, -1
            self._let_go(fd)

    def _finish(self, error: OSError | None) -> None:
        """Release everything at once and tell the link on a later turn. Whoever comes first says why."""
        if self._finished:
            return
        self._finished = True
        self._error = self._error or error
        self._stop()
        if self._loop is None:
            self._closed.set()
        elif not self._loop.is_closed():
            self._loop.call_soon(self._report)

    def _stop(self) -> None:
        if self._linger_timer is not None:
            self._linger_timer.cancel()
        if self._reader is not None:
            self._reader.stop()
        if self._writer is not None:
            self._writer.close()
        self._release()

    def _release(self) -> None:
        """The one place where descriptors are let go: a second close could hit somebody else's."""
        if self._sock is not None:
            self._sock.detach()
            self._sock = None
        fds = {self._read_fd, self._write_fd} - {-1}
        self._read_fd = self._write_fd = -1
        for fd in fds:
            self._let_go(fd)

    def _let_go(self, fd: int) -> None:
        with contextlib.suppress(OSError):
            # The flag belongs to the open file, which other processes may share.
            if fd in self._blocking:
                self._blocking.remove(fd)
                os.set_blocking(fd, True)
            if self._owned:
                os.close(fd)

    def _report(self) -> None:
        if self._link is not None:
            self._link.connection_lost(self._error)
        self._closed.set()


def _is_socket(fd: int) -> bool:
    return stat.S_ISSOCK(os.fstat(fd).st_mode)


def _shut_down(fd: int) -> None:
    sock = socket.socket(fileno=fd)
    try:
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the peer is gone already
    finally:
        sock.detach()


def check_usable(fd: int, side: str, wrong_mode: int) -> None:
    """``UsageError`` in plain words for what would otherwise fail somewhere inside the loop."""
    try:
        mode = os.fstat(fd).st_mode
        access = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE
    except OSError as error:
        raise UsageError(f"the {side} (descriptor {fd}) is not open: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        raise UsageError(f"the {side} (descriptor {fd}) is a directory")
    if access == wrong_mode:
        raise UsageError(f"the {side} (descriptor {fd}) is opened for the other direction only")
