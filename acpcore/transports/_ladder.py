"""How a child and its process group are ended, step by step."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable

from ._child import Child

_log = logging.getLogger("acpcore")

_CHECK_INTERVAL = 0.02
"""Seconds between two looks at the processes that outlived the leader."""

_BLIND_GRACE = 0.2
"""Seconds between SIGTERM and SIGKILL for a group whose members the system does not list."""


class Ladder:
    """Waits ``exit_timeout`` seconds, SIGTERM, waits ``term_timeout``, SIGKILL, waits ``kill_timeout``, gives up.

    When the leader has ended, by itself or on the way, the same goes on for the processes it left in its group. The
    leader is reaped last, so that until then the group cannot be anybody else's. Then ``ended`` is called, once.
    It runs on timers: no task has to wait for it.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        child: Child,
        ended: Callable[[], None],
        *,
        exit_timeout: float,
        term_timeout: float,
        kill_timeout: float,
    ) -> None:
        self._loop = loop
        self._child = child
        self._ended = ended
        self._exit_timeout = exit_timeout
        self._term_timeout = term_timeout
        self._kill_timeout = kill_timeout
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None
        self._leader_gone = False
        self._killing = False
        self._done = False

    def climb(self) -> None:
        """The child has been told to end: give it its time. Idempotent."""
        if self._timer is None and not self._leader_gone and not self._done:
            self._later(self._exit_timeout, self._terminate)

    def kill(self) -> None:
        """SIGKILL for everyone, now. Idempotent."""
        if self._done or self._killing:
            return
        self._killing = True
        self._deadline = self._loop.time() + self._kill_timeout
        self._child.signal(signal.SIGKILL)
        if self._leader_gone:
            self._check()
        else:
            self._later(self._kill_timeout, self._give_up)

    def leader_ended(self) -> None:
        """The child itself is a zombie now."""
        self._leader_gone = True
        # Also after a signal before: a process may have been forked in between. A zombie does not hear it.
        self._child.signal(signal.SIGKILL if self._killing else signal.SIGTERM)
        if self._deadline is None:
            self._deadline = self._loop.time() + self._term_timeout
        self._check()

    def _terminate(self) -> None:
        self._deadline = self._loop.time() + self._term_timeout
        self._child.signal(signal.SIGTERM)
        self._later(self._term_timeout, self.kill)

    def _check(self) -> None:
        """Whether somebody of the group is left, with time to go."""
        helpers = self._child.helpers()
        over = self._deadline is not None and self._loop.time() >= self._deadline
        if helpers == [] or (self._killing and (helpers is None or over)):
            self._end()
        elif over:
            self.kill()
        elif helpers is None:
            self._later(_BLIND_GRACE, self.kill)
        else:
            self._later(_CHECK_INTERVAL, self._check)

    def _give_up(self) -> None:
        _log.error("process %d did not end after SIGKILL", self._child.pid)
        self._end()

    def _end(self) -> None:
        if not self._done:
            self._done = True
            self._cancel()
            self._child.reap()
            self._ended()

    def _later(self, delay: float, step: Callable[[], None]) -> None:
        self._cancel()
        self._timer = self._loop.call_later(delay, step)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
