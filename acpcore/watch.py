"""Watches a connection that stands still: one timer, and only while there is something to watch.

It grants a client more room while an answer is owed and the host finishes nothing, and ends in words what would
otherwise be a silent hang.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from .errors import Overrun
from .pending import Pending

if TYPE_CHECKING:
    from .connection import Connection

logger = logging.getLogger("acpcore")

TICK: Final = 0.05  # seconds between two looks
STUCK: Final = 5.0  # seconds after which an answer behind a handler is reported


class Watch:
    """The timer of one connection."""

    def __init__(self, conn: Connection, loop: asyncio.AbstractEventLoop) -> None:
        self._conn = conn
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False
        self._inbox_since: float | None = None
        self._inbox_used = -1
        self._inbox_sent = -1
        self._looked_sent = -1
        self._outbox_since: float | None = None
        self._outbox_sent = -1
        self._told: set[int] = set()

    def start(self) -> None:
        """Look from now on, until there is nothing to look at."""
        if self._stopped:
            return
        if self._timer is None:
            self._timer = self._loop.call_later(TICK, self._tick)
        self._look_at_waits()

    def stop(self) -> None:
        """The connection is over."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        if self._stopped:
            return
        self._timer = self._loop.call_later(TICK, self._tick)  # what the looks set off finds the watch running
        now = self._loop.time()
        busy = self._look_at_inbox(now)
        busy = self._look_at_outbox(now) or busy
        busy = self._look_at_answers(now) or busy
        if not busy and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- the inbox is shut: who stands still?

    def _look_at_waits(self) -> None:
        """A handler that is known to wait for the peer will finish nothing: the answer it needs may be behind."""
        engine = self._conn.engine
        runner = self._conn.runner
        if engine.grants_all or not (engine.inbox_shut and engine.owed):
            return
        if runner is not None and runner.handler_waits:
            engine.host_stands_still(known=True)
            self._conn.regulate()

    def _look_at_inbox(self, now: float) -> bool:
        engine = self._conn.engine
        runner = self._conn.runner
        unread = self._peer_takes_nothing()
        if not engine.inbox_shut:
            self._inbox_since = None
            return bool(runner is not None and runner.waiting_answers)
        if not engine.owed and not unread:
            self._inbox_since = None
            return True
        engine.host_stands_still(known=runner is not None and runner.handler_waits, unread=unread)
        self._conn.regulate()
        if self._inbox_since is None or not engine.inbox_full or engine.finished != self._inbox_used:
            self._inbox_used = engine.finished
            self._inbox_sent = engine.outbox.sent
            self._inbox_since = now
        elif now - self._inbox_since >= engine.limits.stall_timeout:
            self._inbox_since = now  # whoever calls again has as much patience
            names = [] if runner is None else runner.busy_handlers()
            self._fail_stalled(names, unread and self._inbox_sent == engine.outbox.sent)
        return True

    def _peer_takes_nothing(self) -> bool:
        """Whether somebody waits at the bulk door and nothing has left since the last look: perhaps each side waits
        for the other to read, and who reads ends that.
        """
        before, self._looked_sent = self._looked_sent, self._conn.engine.outbox.sent
        return len(self._conn.sender.bulk) > 0 and before == self._looked_sent

    def _fail_stalled(self, names: list[str], doors: bool) -> None:
        """The inbox stood full for too long: the calls that wait fail, and the text names who stands still. With
        ``doors`` so do handlers that wait at the bulk door (of a host that pulls: whoever waits there), since the
        peer does not read either.
        """
        conn = self._conn
        who = ", ".join(names) or "the host (nothing is pulled)"
        for call in conn.engine.pending_calls:
            conn.engine.cancel(call)
            if isinstance(call.tag, Pending):
                call.tag.fail(Overrun(f"{call.method} cannot be answered: the inbox is full, {who} stands still"))
        if doors:
            text = f"no update can be sent: the peer does not read, the inbox is full, {who} stands still"
            if conn.runner is not None:
                conn.runner.interrupt(text)
            else:
                conn.sender.bulk.fail(lambda: Overrun(text))
        conn.sender.wake()

    # --- the outbox is full: the peer asks and does not read

    def _look_at_outbox(self, now: float) -> bool:
        engine = self._conn.engine
        if not engine.outbox.gate.full and not self._conn.control_waits:
            self._outbox_since = None
            return False
        if self._outbox_since is None or engine.outbox.sent != self._outbox_sent:
            self._outbox_since = now
            self._outbox_sent = engine.outbox.sent
        elif now - self._outbox_since >= engine.limits.stall_timeout:
            why = "the peer has not read" if engine.outbox else "the answers of a batch were not complete"
            self._conn.abort(f"{why} for {engine.limits.stall_timeout:g} s and the outbox is full")
        return True

    # --- an answer waits behind a handler that waits for it in a way no rule can see

    def _look_at_answers(self, now: float) -> bool:
        runner = self._conn.runner
        if runner is None or not (runner.waiting_answers or runner.requests_behind_waits):
            self._told.clear()
            return False
        for answer, name in runner.stuck_answers(now, STUCK):
            if self._tell(answer):
                self._report(
                    f"the answer to {answer.name} has waited {STUCK:g} s for handler {name} to return; if that waits "
                    "for the answer in another task, call with ordered=False",
                    name,
                )
        for request, name in runner.stuck_requests(now, STUCK):
            if self._tell(request):
                self._report(
                    f"the request {request.method} has waited {STUCK:g} s behind updates and handler {name}, which "
                    "waits for the peer; if the peer waits for this answer, neither goes on",
                    name,
                )
        return True

    def _tell(self, waiting: object) -> bool:
        """Whether nobody was told of this one yet."""
        new = id(waiting) not in self._told
        self._told.add(id(waiting))
        return new

    def _report(self, text: str, handler: str) -> None:
        self._conn.report(Overrun(text), f"handler {handler}", None)
