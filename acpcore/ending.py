"""How a connection ends: by its peer, by its user, or because the link broke. Once, and in this order:

own calls fail, handlers get their grace (not when it was us), tasks are cancelled, what was admitted is written, the
transport goes through its steps, everybody who waited is told.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from .errors import ConnectionClosed
from .message import Call, Closed
from .pending import Pending
from .transports.base import Outcome

if TYPE_CHECKING:
    from .connection import Connection

logger = logging.getLogger("acpcore")


class Ending:
    """The end of one connection, from the moment it is certain.

    ``own``: this side wants it. ``timeout`` (seconds) is what writing the rest may take; 0 ends it at once.
    """

    def __init__(self, conn: Connection, reason: str, closed: Closed, *, own: bool, timeout: float) -> None:
        self._conn = conn
        self._reason = reason
        self._calls = closed.calls
        self._own = own
        self._timeout = timeout
        self._caller = asyncio.current_task()
        self.tasks_stopped = False  # from then on none is started
        self._deadline: float | None = None
        self._hurried: asyncio.Future[None] | None = None
        self.why = ConnectionClosed(self._text())

    def _text(self) -> str:
        lost = self._conn.sender.lost
        return self._reason if lost is None else f"{self._reason}: {lost}"

    def hurry(self, timeout: float) -> None:
        """It is to take no longer than so many seconds from now on."""
        loop = asyncio.get_running_loop()
        self._timeout = min(self._timeout, timeout)
        if self._deadline is not None:
            self._deadline = min(self._deadline, loop.time() + timeout)
        if self._hurried is not None and not self._hurried.done():
            self._hurried.set_result(None)

    async def run(self) -> ConnectionClosed:
        """Go through the steps; returns the reason."""
        transport = self._conn.transport
        all_written = False
        try:
            if self._own and self._timeout <= 0:
                transport.abort()
            self.why = self._why()
            self._fail_calls(self._calls)
            if not self._own:
                await self._let_handlers_finish()
            await self._stop_tasks()
            all_written = await self._write_rest()
        finally:
            if all_written:
                transport.close()
            else:
                transport.abort()
            outcome = await transport.wait_closed()
        return closed_because(self._text(), outcome, self._conn.sender.unsent)

    def _why(self) -> ConnectionClosed:
        """The reason with how a child process ended: whoever waits for an answer wants to know."""
        outcome = getattr(self._conn.transport, "outcome", None)
        if self._own or outcome is None:
            return ConnectionClosed(self._text())
        return closed_because(self._text(), outcome, 0)

    def _fail_calls(self, calls: list[Call]) -> None:
        for call in calls:
            if isinstance(call.tag, Pending):
                call.tag.fail(self.why.copy())
        self._conn.sender.fail_calls(self.why)
        if self._own or self._conn.sender.is_lost:
            self._conn.sender.fail_doors(self.why)

    async def _let_handlers_finish(self) -> None:
        """What was read is handled, as long as something moves within the grace time."""
        conn = self._conn
        while conn.host_works and not conn.is_closing:
            conn.handlers_returned.clear()
            try:
                await asyncio.wait_for(conn.handlers_returned.wait(), conn.grace)
            except asyncio.TimeoutError:
                names = "" if conn.runner is None else ", ".join(conn.runner.busy_handlers())
                logger.warning("%s not ready %.1f s after the end of input", names or "requests", conn.grace)
                return

    async def _stop_tasks(self) -> None:
        conn = self._conn
        self.tasks_stopped = True
        if conn.runner is not None:
            conn.runner.closing = True
            conn.runner.drop_queue()
        here = asyncio.current_task()
        tasks = [task for task in conn.tasks if task is not self._caller and task is not here]
        await _cancel(tasks, conn.grace)

    async def _write_rest(self) -> bool:
        """Give the transport what was admitted; ``False`` when time is up before that. A broken link takes nothing."""
        loop, sender, outbox = asyncio.get_running_loop(), self._conn.sender, self._conn.engine.outbox
        if not sender.is_lost:
            self._conn.engine.outward.move_all_out()
        self._deadline = loop.time() + self._timeout
        while outbox and not sender.is_lost and (left := self._deadline - loop.time()) > 0:
            self._hurried = loop.create_future()
            flushed = sender.flushed()
            await asyncio.wait([flushed, self._hurried], timeout=left, return_when=asyncio.FIRST_COMPLETED)
            flushed.cancel()
        all_written = not outbox and (self._timeout > 0 or not self._own)
        sender.drop_rest()
        return all_written


async def _cancel(tasks: list[asyncio.Task[Any]], seconds: float) -> None:
    for task in tasks:
        task.cancel()
    if not tasks:
        return
    _, pending = await asyncio.wait(tasks, timeout=seconds)
    for task in pending:
        logger.warning("%s does not end although it was cancelled", task.get_name())


def closed_because(text: str, outcome: Outcome, unsent: int) -> ConnectionClosed:
    """The reason in full."""
    if unsent:
        text = f"{text}; {unsent} bytes were not sent"
    return ConnectionClosed(
        text, exit_code=outcome.exit_code, signal=outcome.signal, stderr_tail=outcome.stderr_tail, unsent=unsent
    )
