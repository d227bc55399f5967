"""Start a child process with pipes or a socket pair as its stdio."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ._child import Child

Argument = str | os.PathLike[str]
Stdio = Literal["pipe", "socketpair"]
Stderr = int | Argument | None


class Streams(NamedTuple):
    """Our ends of the child's stdio; ``stderr`` is ``None`` unless we read it, the first two may be the same socket."""

    stdin: int
    stdout: int
    stderr: int | None


def spawn(
    argv: Sequence[Argument],
    *,
    cwd: Argument | None,
    env: Mapping[str, str] | None,
    stdio: Stdio,
    pipe_size: int | None,
    stderr: Stderr,
    new_session: bool,
) -> tuple[Child, Streams]:
    """Start ``argv``. ``OSError`` if that fails, with no descriptor left open."""
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
        if stdio == "pipe":
            child_in, to_child = _pipe(theirs, ours)
            from_child, child_out = _pipe(ours, theirs)
        else:
            to_child, child_in = _socketpair(ours, theirs, pipe_size)
            from_child, child_out = to_child, child_in
        from_stderr, child_err = _open_stderr(stderr, ours, theirs)
        process = subprocess.Popen(
            list(argv),
            stdin=child_in,
            stdout=child_out,
            stderr=child_err,
            cwd=cwd,
            env=env,
            start_new_session=new_session,
        )
        ours.pop_all()
    if stdio == "pipe" and pipe_size is not None:
        _resize(pipe_size, to_child, from_child)
    return Child(process, new_session), Streams(to_child, from_child, from_stderr)


def _pipe(readers: contextlib.ExitStack, writers: contextlib.ExitStack) -> tuple[int, int]:
    reader, writer = os.pipe()
    readers.callback(os.close, reader)
    writers.callback(os.close, writer)
    return reader, writer


def _socketpair(ours: contextlib.ExitStack, theirs: contextlib.ExitStack, size: int | None) -> tuple[int, int]:
    pair = socket.socketpair()
    if size is not None:
        for sock in pair:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    ours.callback(os.close, here := pair[0].detach())
    theirs.callback(os.close, there := pair[1].detach())
    return here, there


def _open_stderr(
    stderr: Stderr, ours: contextlib.ExitStack, theirs: contextlib.ExitStack
) -> tuple[int | None, int | None]:
    """Our end, if we read it, and what ``Popen`` gets."""
    if stderr == subprocess.PIPE:
        return _pipe(ours, theirs)
    if stderr is None or isinstance(stderr, int):
        return None, stderr
    fd = os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    theirs.callback(os.close, fd)
    return None, fd


def _resize(size: int, *fds: int) -> None:
    """A wish: the system may refuse it, above a limit or when many pipes are large already."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        for fd in fds:
            with contextlib.suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, size)
