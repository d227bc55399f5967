"""A child process from its start to the moment when nothing of it is left."""

from __future__ import annotations

import asyncio
import math
import os
import weakref
from collections.abc import Callable
from functools import partial

from ._child import Child, ExitStatus
from ._exit_watch import ExitWatch
from ._ladder import Ladder
from ._reader import Reader
from ._spawn import Streams
from ._stderr import StderrTail
from .base import Link, Outcome
from .fd import FdTransport


class Running:
    """Brings together what ends at different times: stdin and stdout, stderr, the child, its process group.

    ``ladder`` makes the ladder from a callback. If the constructor raises, the child is gone and nothing is open.
    """

    def __init__(
        self,
        child: Child,
        streams: Streams,
        tail: StderrTail,
        link: Link,
        loop: asyncio.AbstractEventLoop,
        ladder: Callable[[Callable[[], None]], Ladder],
        drain_timeout: float,
    ) -> None:
        self.child = child
        self.done = asyncio.Event()
        self._tail = tail
        self._link = link
        self._loop = loop
        self._drain_timeout = drain_timeout
        self._status: ExitStatus | None = None
        self._error: BaseException | None = None
        self._eof = False
        self._stream_done = False
        self._stderr_done = streams.stderr is None
        self._group_done = False
        self._closing = False
        self._impatient = False
        self._told_eof = False
        self._told_lost = False
        self._timer: asyncio.TimerHandle | None = None
        self._watch: ExitWatch | None = None
        self._stderr: Reader | None = None
        self._ladder = ladder(self._group_ended)
        # Input after close() is thrown away until the child ends: one that still has something to say can say it.
        self.stream = _Stream(streams.stdout, streams.stdin, linger=math.inf, drain_timeout=drain_timeout)
        # When the loop was closed, or the program ends, with the child still there.
        self._leftover = weakref.finalize(self, child.abandon)
        try:
            self._start(streams.stderr)
        except BaseException:
            self._undo()
            raise

    @property
    def outcome(self) -> Outcome:
        """What is known so far."""
        code, signal = self._status or (None, None)
        return Outcome(exit_code=code, signal=signal, stderr_tail=self._tail.tail, error=self._error)

    @property
    def is_forked_copy(self) -> bool:
        """Whether another process is the child's parent."""
        return self.child.owner != os.getpid()

    def close(self) -> None:
        """End its input, then let the ladder do the rest."""
        if not self._closing:
            self._closing = True
            self.stream.close()
            self._ladder.climb()

    def abort(self) -> None:
        """Kill the group now."""
        self._closing = True
        self.stream.abort()
        self._ladder.kill()

    # -- start ------------------------------------------------------------------------------------------------------

    def _start(self, stderr: int | None) -> None:
        if stderr is not None:
            self.child.held.add(stderr)
            os.set_blocking(stderr, False)
            self._stderr = Reader(self._loop, stderr, self._tail, partial(self._stderr_ended, stderr))
            self._stderr.resume()
        self.stream.start(_StreamLink(self._link, self._read_eof, self._stream_ended), self._loop)
        self._watch = ExitWatch(self._loop, self.child, self._exited)

    def _undo(self) -> None:
        """After a start that failed, most likely because the loop is closed."""
        self._leftover.detach()
        self._told_lost = self._closing = True
        self.stream.abort()
        if self._stderr is not None:
            self._stderr.stop()
        if self._watch is not None:
            self._watch.stop()
        self.child.put_down()

    # -- what ends, in any order --------------------------------------------------------------------------------------

    def _read_eof(self) -> None:
        self._eof = True
        self._settle()

    def _stream_ended(self, error: BaseException | None) -> None:
        self._stream_done = True
        self._error = error
        self._settle()

    def _stderr_ended(self, fd: int, error: OSError | None) -> None:
        self._stderr_done = True
        self.child.let_go(fd)
        self._settle()

    def _exited(self) -> None:
        self._status = self.child.status()
        self._impatient = False  # from here on the wait for the last of stderr has its own bound
        self._cancel_timer()
        if self._stderr is not None:
            self._stderr.drain(self._drain_timeout)
        if self._closing:
            self.stream.abort()
        else:
            self.stream.drain()
        self._ladder.leader_ended()
        self._settle()

    def _group_ended(self) -> None:
        self._group_done = True
        self._leftover.detach()
        if self._status is None:  # it could not be killed: let go of it
            self._let_go()
        self._settle()

    def _let_go(self) -> None:
        if self._watch is not None:
            self._watch.stop()
        if self._stderr is not None:
            self._stderr.cut()
        self.stream.abort()

    # -- who is told what ---------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Something ended: tell the link what is due."""
        if not self._closing:
            self._tell_while_open()
        if self._stream_done and self._stderr_done and self._group_done and not self.done.is_set():
            self._cancel_timer()
            self._tell_lost()
            self.done.set()

    def _tell_while_open(self) -> None:
        if not (self._eof or self._stream_done):
            return
        if not self._impatient and (self._status is None or not self._stderr_done):
            self._be_patient()
            return
        if self._eof and not self._told_eof:
            self._told_eof = True
            self._link.eof_received()
        if self._stream_done and not self._closing:
            self._tell_lost()

    def _tell_lost(self) -> None:
        if not self._told_lost:
            self._told_lost = True
            self._link.connection_lost(self._error)

    def _be_patient(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(self._drain_timeout, self._lose_patience)

    def _lose_patience(self) -> None:
        self._impatient = True
        self._settle()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Stream(FdTransport):
    """When it is dropped, the warning for the child says it all."""

    def __del__(self) -> None:
        if not self._finished and self._owner == os.getpid():
            self._release()


class _StreamLink:
    """The link, as the stream sees it: only the end takes a detour."""

    def __init__(
        self, link: Link, eof_received: Callable[[], None], connection_lost: Callable[[BaseException | None], None]
    ) -> None:
        self.get_buffer = link.get_buffer
        self.buffer_updated = link.buffer_updated
        self.data_to_send = link.data_to_send
        self.data_sent = link.data_sent
        self.eof_received = eof_received
        self.connection_lost = connection_lost
