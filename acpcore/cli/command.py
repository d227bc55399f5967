"""A command that runs for an agent's terminal: its start, its output, its end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import signal
import struct
import subprocess
import termios
from collections.abc import Sequence
from typing import Final

import msgspec

from ..transports._child import Child, ExitStatus
from ..transports._exit_watch import ExitWatch
from ..transports._ladder import Ladder

READ_SIZE: Final = 64 * 1024
_PIPE_SIZE: Final = 256 * 1024
_PATIENCE: Final = 1.0  # seconds of silence after which the output of a command that ended is over
_INTERRUPT_TIME: Final = 1.0  # from SIGINT to SIGTERM
_TERM_TIME: Final = 1.0  # from SIGTERM to SIGKILL
_HURRY: Final = 0.4  # the same when nobody listens any more
_KILL_TIME: Final = 1.0


class Pty(msgspec.Struct, frozen=True, kw_only=True):
    """A pseudo-terminal to run on, and its size in characters."""

    rows: int = 24
    cols: int = 80


class Command:
    """Runs ``argv`` in ``cwd`` as a process group of its own, with stdout and stderr on one pipe or pseudo-terminal.

    The constructor raises ``OSError`` if it cannot be started. Then :meth:`read` until it gives nothing, :meth:`wait`,
    and :meth:`end` in any case; :meth:`interrupt` may come at any time.
    """

    def __init__(self, argv: Sequence[str], cwd: str, pty: Pty | None = None) -> None:
        self._loop = loop = asyncio.get_running_loop()
        self._fd, process = _start(argv, cwd, pty)
        self._child = Child(process, leads_group=True)
        self._done = asyncio.Event()
        self._ladder = Ladder(
            loop,
            self._child,
            self._done.set,
            exit_timeout=_INTERRUPT_TIME,
            term_timeout=_TERM_TIME,
            kill_timeout=_KILL_TIME,
        )
        self._exited = False
        self._interrupted = False
        self._output_over = False
        self._dry = False
        self._waiter: asyncio.Future[bool] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._watch = ExitWatch(loop, self._child, self._leader_exited)

    # --- output

    async def read(self) -> bytes:
        """What the command printed, at most ``READ_SIZE`` bytes, as soon as there is something; empty at the end.

        Nothing is read ahead: as long as nobody asks, the command waits when its pipe is full.
        """
        while True:
            if self._dry and not await self._readable():
                return b""
            self._dry = False
            data = self._read_what_is_there()
            if data or not self._dry:
                return data

    def _read_what_is_there(self) -> bytes:
        """Pseudo-terminals give 4 KiB at a time: what can be read at once is one piece."""
        parts: list[bytes] = []
        size = 0
        while size < READ_SIZE:
            try:
                part = os.read(self._fd, READ_SIZE - size)
            except BlockingIOError:
                self._dry = True
                break
            except OSError as error:
                if error.errno != errno.EIO:  # the other side of the pseudo-terminal is closed
                    raise
                break
            if not part:
                break
            parts.append(part)
            size += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _readable(self) -> bool:
        """Wait for output; false when the command has ended and whoever else holds its output open says nothing."""
        waiter: asyncio.Future[bool]
        waiter = self._waiter = self._loop.create_future()
        self._loop.add_reader(self._fd, _resolve, waiter, True)
        if self._exited:
            self._be_patient()
        try:
            return await waiter
        finally:
            self._waiter = None
            self._loop.remove_reader(self._fd)
            if self._timer is not None:
                self._timer.cancel()

    def _be_patient(self) -> None:
        if self._waiter is not None:
            self._timer = self._loop.call_later(_PATIENCE, _resolve, self._waiter, False)

    # --- the end

    def interrupt(self) -> None:
        """SIGINT for the whole group, SIGTERM if that does not help, then SIGKILL. Idempotent."""
        if not self._interrupted:
            self._interrupted = True
            self._child.signal(signal.SIGINT)
            self._climb()

    async def wait(self) -> ExitStatus:
        """How the command ended, once nothing of its group is left. To be called when :meth:`read` gave nothing."""
        self._output_over = True
        if self._exited:
            self._ladder.leader_ended()
        await self._done.wait()
        return self._child.status() or ExitStatus(None, None)

    async def end(self) -> None:
        """SIGTERM, very soon SIGKILL, and release everything; also after :meth:`wait`. Idempotent."""
        if not self._done.is_set():
            self._interrupted = True
            self._child.signal(signal.SIGTERM)
            self._climb()
            kill = self._loop.call_later(_HURRY, self._ladder.kill)
            try:
                await self._done.wait()
            finally:
                kill.cancel()
        self._watch.stop()
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _climb(self) -> None:
        if self._exited:
            self._ladder.leader_ended()
        else:
            self._ladder.climb()

    def _leader_exited(self) -> None:
        """What it left running may still print, unless it is to end anyway."""
        self._exited = True
        if self._interrupted or self._output_over:
            self._ladder.leader_ended()
        self._be_patient()


def _resolve(waiter: asyncio.Future[bool] | None, value: bool) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(value)


def _start(argv: Sequence[str], cwd: str, pty: Pty | None) -> tuple[int, subprocess.Popen[bytes]]:
    """Our end of its output, and the process."""
    ours, theirs = os.pipe() if pty is None else _open_pty(pty)
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL if pty is None else theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=None if pty is None else _take_terminal,
        )
        os.set_blocking(ours, False)
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    if pty is None and hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):  # a wish: the system may refuse it
            fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
    return ours, process


def _open_pty(pty: Pty) -> tuple[int, int]:
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", pty.rows, pty.cols, 0, 0))
    return ours, theirs


def _take_terminal() -> None:
    """In the child: its stdin becomes the terminal of its session, which brings job control and hang-ups."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
