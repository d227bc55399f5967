"""The read half of a descriptor: one ``readv`` a wake-up, straight into the buffers of a sink."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import stat
from collections.abc import Callable
from typing import Protocol

_RETRY = 0.05
"""Seconds between two looks at a descriptor that neither the loop can watch nor has anything to give."""


class Sink(Protocol):
    """Where bytes go: the reading part of a ``Link``."""

    def get_buffer(self) -> memoryview: ...

    def buffer_updated(self, size: int) -> None: ...


class Void:
    """A sink that throws everything away."""

    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(65536))

    def get_buffer(self) -> memoryview:
        return self._buffer

    def buffer_updated(self, size: int) -> None:
        pass


class Reader:
    """Reads the non-blocking descriptor ``fd`` from :meth:`resume` to :meth:`pause`, until its end.

    ``ended`` is called once, with the error that ended the input or ``None`` at its regular end, and not at all after
    :meth:`stop`. The descriptor is neither owned nor closed here.

    Normally the loop says when to read. Reading goes by *turns* instead, one read a loop turn, where the loop cannot
    say it: a descriptor that epoll refuses (regular files, the null device), and one that is hung up.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fd: int,
        sink: Sink,
        ended: Callable[[OSError | None], None],
        *,
        sock: socket.socket | None = None,
    ) -> None:
        mode = os.fstat(fd).st_mode
        self._loop = loop
        self._fd = fd
        self._sink = sink
        self._ended = ended
        self._sock = sock
        self._device = stat.S_ISCHR(mode)
        self._refused = stat.S_ISREG(mode)
        self._running = False
        self._done = False
        self._turns = False
        self._polled = False
        self._turn_handle: asyncio.Handle | None = None
        self._error: OSError | None = None
        self._patience: float | None = None
        self._patience_timer: asyncio.TimerHandle | None = None
        self._empty_since = 0.0

    @property
    def done(self) -> bool:
        """Whether the input ended or reading was stopped."""
        return self._done

    def resume(self) -> None:
        """Read from now on; idempotent."""
        if not self._running and not self._done:
            self._running = True
            self._arm()

    def pause(self) -> None:
        """Read nothing until :meth:`resume`; idempotent."""
        self._running = False
        self._disarm()

    def stop(self) -> None:
        """Never read again."""
        self._done = True
        self.pause()

    def cut(self) -> None:
        """Take it for the end, whatever may be there."""
        self._finish(None)

    def discard(self) -> None:
        """Read on, also when paused, but throw everything away."""
        self._sink = Void()
        self.resume()

    def hang_up(self) -> None:
        """The peer is gone, what it left has to be fetched by turns.

        uvloop drops a descriptor that epoll marks as broken after a single call, even when more is there to read.
        """
        self._turns = True
        if self._running:
            self._disarm()
            self._arm()

    def drain(self, patience: float) -> None:
        """Read what is there; then, at the latest after ``patience`` seconds of empty input in all, it is the end.

        Time in which reading is paused, or in which the input has something to read, does not count.
        """
        if self._patience is None and not self._done:
            self._patience = patience
            self.hang_up()

    # -- how the next read comes about ----------------------------------------------------------------------------

    def _arm(self) -> None:
        if self._turns or self._refused:
            self._turn_handle = self._loop.call_soon(self._turn)
        else:
            self._watch()

    def _watch(self) -> None:
        try:
            self._loop.add_reader(self._fd, self._ready if self._patience is None else self._again)
            self._polled = True
        except PermissionError:
            self._refused = True
            self._arm()

    def _disarm(self) -> None:
        if self._polled:
            self._polled = False
            self._loop.remove_reader(self._fd)
        if self._turn_handle is not None:
            self._turn_handle.cancel()
            self._turn_handle = None
        if self._patience_timer is not None:
            self._patience_timer.cancel()
            self._patience_timer = None
            self._spend_patience()

    def _ready(self) -> None:
        self._read()

    def _turn(self) -> None:
        self._turn_handle = None
        if not self._read():
            self._wait()
        elif self._running and self._turn_handle is None and not self._polled:
            self._arm()

    def _again(self) -> None:
        self._disarm()
        self._turns = True
        self._turn()

    def _wait(self) -> None:
        """Nothing is there now: back to the loop's watch, where it can."""
        self._turns = False
        if self._refused:
            self._turn_handle = self._loop.call_later(_RETRY, self._turn)
        else:
            self._watch()
        if self._patience is not None:
            self._empty_since = self._loop.time()
            self._patience_timer = self._loop.call_later(self._patience, self._impatient)

    def _spend_patience(self) -> None:
        if self._patience is not None:
            self._patience = max(0.0, self._patience - (self._loop.time() - self._empty_since))

    def _impatient(self) -> None:
        self._disarm()
        self._patience = 0.0
        # The loop may have stood still while something came: only a read tells that the input is empty.
        if self._read():
            self.hang_up()
        else:
            self._finish(None)

    # -- the read itself ------------------------------------------------------------------------------------------

    def _read(self) -> bool:
        """Read once; false when there is nothing to read now."""
        try:
            size = os.readv(self._fd, (self._sink.get_buffer(),))
        except BlockingIOError:
            return False
        except OSError as error:
            self._finish(None if self._is_hangup(error) else error)
            return True
        if size == 0:
            self._finish(self._error)
            return True
        if self._sock is not None:
            self._check_socket(self._sock)
        self._sink.buffer_updated(size)
        return True

    def _is_hangup(self, error: OSError) -> bool:
        """A terminal whose other side closed answers EIO where a pipe would answer 0 bytes."""
        return self._device and error.errno == errno.EIO

    def _check_socket(self, sock: socket.socket) -> None:
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            self._error = OSError(code, os.strerror(code))
            self.hang_up()

    def _finish(self, error: OSError | None) -> None:
        if not self._done:
            self.stop()
            self._ended(error)
