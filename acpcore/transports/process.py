"""The client's side of an agent that it starts itself: a child process, its stdio, its stderr, its end."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ..errors import UsageError
from ._child import Child
from ._ladder import Ladder
from ._running import Running
from ._spawn import Argument, Stderr, Stdio, spawn
from ._stderr import StderrTail
from .base import Link, Outcome


class ProcessTransport:
    """A child process that is spoken to over its stdin and stdout.

    ``argv``, ``cwd``, ``env``: as for ``subprocess.Popen`` (no shell; ``env`` is the whole environment).
    ``stdio``: real pipes, which every agent can live with, or a ``"socketpair"``, which is faster.
    ``pipe_size``: bytes the system should buffer in each direction; a refusal is tolerated.
    ``stderr``: ``subprocess.PIPE`` reads it for ever, keeps the last ``stderr_tail`` bytes and calls
    ``on_stderr(bytes)``; ``None`` shares ours; a descriptor, ``subprocess.DEVNULL`` or the path of a file to append to.
    ``new_session``: the child leads a session and process group of its own: Ctrl-C in the host's terminal does not
    reach it, and signals go to the whole group. Without it, only the child itself is signalled.

    Times are in seconds. :meth:`close` ends the child's stdin, waits ``exit_timeout``, sends SIGTERM, waits
    ``term_timeout``, sends SIGKILL and waits ``kill_timeout``. Processes that the child leaves in its group get
    SIGTERM, then SIGKILL too; one that made a group of its own is out of reach. When the child ended, what it wrote is
    delivered first; if a helper process keeps its output open, it counts as ended after ``drain_timeout`` of silence.

    ``eof_received`` comes together with the exit status: it is held back for ``drain_timeout`` at most, so that
    :attr:`outcome` says by then how the child ended, unless it lives on without its stdout.
    """

    _running: Running | None = None
    _loop: asyncio.AbstractEventLoop | None = None

    def __init__(
        self,
        argv: Sequence[Argument],
        *,
        cwd: Argument | None = None,
        env: Mapping[str, str] | None = None,
        stdio: Stdio = "pipe",
        pipe_size: int | None = None,
        stderr: Stderr = subprocess.PIPE,
        on_stderr: Callable[[bytes], object] | None = None,
        stderr_tail: int = 65536,
        exit_timeout: float = 2.0,
        term_timeout: float = 2.0,
        kill_timeout: float = 2.0,
        drain_timeout: float = 1.0,
        new_session: bool = True,
    ) -> None:
        if isinstance(argv, str) or not argv:
            raise UsageError("argv is a sequence of at least one argument")
        if stdio not in ("pipe", "socketpair"):
            raise UsageError(f"stdio is 'pipe' or 'socketpair', not {stdio!r}")
        if stderr == subprocess.STDOUT:
            raise UsageError("stderr cannot go to stdout, which carries messages")
        self._argv = list(argv)
        self._cwd = cwd
        self._env = env
        self._stdio: Stdio = stdio
        self._pipe_size = pipe_size
        self._stderr = stderr
        self._new_session = new_session
        self._exit_timeout = exit_timeout
        self._term_timeout = term_timeout
        self._kill_timeout = kill_timeout
        self._drain_timeout = drain_timeout
        self._tail = StderrTail(stderr_tail, on_stderr)
        self._over = False

    @property
    def pid(self) -> int | None:
        """The child's process id, ``None`` before :meth:`start`."""
        return None if self._running is None else self._running.child.pid

    @property
    def outcome(self) -> Outcome:
        """What is known so far of how the child ended."""
        return Outcome() if self._running is None else self._running.outcome

    def start(self, link: Link, loop: asyncio.AbstractEventLoop) -> None:
        """Start the child. ``OSError`` (``FileNotFoundError``, ``PermissionError``, ...) if that fails."""
        if self._over or self._running is not None:
            raise UsageError("a transport can be started once")
        self._over = True
        self._loop = loop
        child, streams = spawn(
            self._argv,
            cwd=self._cwd,
            env=self._env,
            stdio=self._stdio,
            pipe_size=self._pipe_size,
            stderr=self._stderr,
            new_session=self._new_session,
        )
        self._running = Running(
            child, streams, self._tail, link, loop, partial(self._make_ladder, loop, child), self._drain_timeout
        )

    def pause_reading(self) -> None:
        """Stop reading stdout (stderr is read for ever); idempotent."""
        if self._running is not None:
            self._running.stream.pause_reading()

    def resume_reading(self) -> None:
        """Read again; idempotent."""
        if self._running is not None:
            self._running.stream.resume_reading()

    def wake(self) -> None:
        """Write what the link has to send."""
        if self._running is not None:
            self._running.stream.wake()

    def write_eof(self) -> None:
        """Close the child's stdin, go on reading, and let it take its time. Idempotent."""
        if self._running is not None:
            self._running.stream.write_eof()

    def close(self) -> None:
        """Close the child's stdin and begin the ladder; what it still writes is thrown away. Idempotent."""
        self._over = True
        if self._running is not None:
            self._running.close()

    def abort(self) -> None:
        """SIGKILL the group now. Idempotent."""
        self._over = True
        if self._running is not None:
            self._running.abort()

    async def wait_closed(self) -> Outcome:
        """Until the child and its group are gone, however often it is called or cancelled: it only looks on.

        ``UsageError`` if the transport was neither started nor closed.
        """
        if not self._over:
            raise UsageError("the transport was not started")
        if self._running is not None:
            await self._running.done.wait()
        return self.outcome

    def __del__(self) -> None:
        running, loop = self._running, self._loop
        if running is None or loop is None or running.done.is_set() or loop.is_closed() or running.is_forked_copy:
            return  # on a closed loop the child ends with ``running``
        warnings.warn(f"unclosed transport {self!r}", ResourceWarning, source=self, stacklevel=2)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(running.abort)

    def __repr__(self) -> str:
        return f"<ProcessTransport {self._argv[0]!r} pid={self.pid}>"

    def _make_ladder(self, loop: asyncio.AbstractEventLoop, child: Child, ended: Callable[[], None]) -> Ladder:
        return Ladder(
            loop,
            child,
            ended,
            exit_timeout=self._exit_timeout,
            term_timeout=self._term_timeout,
            kill_timeout=self._kill_timeout,
        )
