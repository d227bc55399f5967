"""Notice that a child ended, on any loop and in any thread."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import weakref
from collections.abc import Callable

from ._child import Child

_LOOK_INTERVAL = 0.05
"""Seconds between two looks where no way of waiting leaves the status in place."""


class ExitWatch:
    """Calls ``exited`` once on the loop when the child has ended, before it is reaped; :meth:`stop` for never.

    By a descriptor for the process where the system has them, else by a waiting thread; never by a signal handler or a
    child watcher, which exist once in a program and belong to the host.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, child: Child, exited: Callable[[], None]) -> None:
        self._loop = loop
        self._child = child
        self._exited = exited
        self._pidfd = -1
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False
        if not self._watch_pidfd():
            if hasattr(os, "waitid"):
                self._watch_in_thread()
            else:
                self._timer = loop.call_later(0, self._look)

    def stop(self) -> None:
        """Idempotent; the loop may be closed already."""
        self._stopped = True
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            self._child.let_go(self._pidfd)
            self._pidfd = -1
        if self._timer is not None:
            self._timer.cancel()

    def _watch_pidfd(self) -> bool:
        try:
            self._pidfd = os.pidfd_open(self._child.pid)
        except (AttributeError, OSError):  # another system, an old kernel, a sandbox
            return False
        self._child.held.add(self._pidfd)
        self._loop.add_reader(self._pidfd, self._look)
        return True

    def _watch_in_thread(self) -> None:
        arguments = (self._child.pid, weakref.ref(self))
        threading.Thread(target=_wait_in_thread, args=arguments, name="acpcore-wait", daemon=True).start()

    def _look(self) -> None:
        if self._stopped:
            return
        if self._child.status() is None:
            if self._pidfd < 0:
                self._timer = self._loop.call_later(_LOOK_INTERVAL, self._look)
            return
        self.stop()
        self._exited()

    def notice(self) -> None:
        """From the waiting thread: it is time to look."""
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            self._loop.call_soon_threadsafe(self._look)


def _wait_in_thread(pid: int, reference: weakref.ref[ExitWatch]) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    watch = reference()
    if watch is not None:
        watch.notice()
