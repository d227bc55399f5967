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

    ``own``: this side wants it; ``timeout`` (seconds) is then what writing the rest may take.
    """

    def __init__(self, conn: Connection, reason: str, closed: Closed, *, own: bool, timeout: float) -> None:
        self._conn = conn
        self._reason = reason
        self._calls = closed.calls
        self._own = own
        self._timeout = timeout
        self._caller = asyncio.current_task()
        self.why = ConnectionClosed(self._text())

    def _text(self) -> str:
        lost = self._conn.sender.lost
        return self._reason if lost is None else f"{self._reason}: {lost}"

    async def run(self) -> ConnectionClosed:
        """Go through the steps; returns the reason."""
        conn = self._conn
        transport = conn.transport
        transport.pause_reading()
        unsent = 0
        try:
            self.why = self._why()
            self._fail_calls(self._calls)
            if not self._own:
                await self._let_handlers_finish()
            await self._stop_tasks()
            unsent = await self._write_rest()
        finally:
            if unsent or (self._own and self._timeout == 0):
                transport.abort()
            else:
                transport.close()
            outcome = await transport.wait_closed()
        return closed_because(self._text(), outcome, unsent)

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
        self._conn.sender.fail_bulk(self.why)
        if self._own or self._conn.sender.is_lost:
            self._conn.sender.fail_all(self.why)

    async def _let_handlers_finish(self) -> None:
        """What was read is handled, as long as something moves within the grace time."""
        conn, runner = self._conn, self._conn.runner
        while runner is not None and not runner.idle and not conn.is_closing:
            conn.handlers_returned.clear()
            try:
                await asyncio.wait_for(conn.handlers_returned.wait(), conn.grace)
            except asyncio.TimeoutError:
                names = ", ".join(runner.busy_handlers()) or "requests"
                logger.warning("handlers still run %.1f s after the end of input: %s", conn.grace, names)
                return

    async def _stop_tasks(self) -> None:
        conn = self._conn
        if conn.runner is not None:
            conn.runner.closing = True
            conn.runner.drop_queue()
        here = asyncio.current_task()
        tasks = [task for task in conn.tasks if task is not self._caller and task is not here]
        await _cancel(tasks, conn.grace)

    async def _write_rest(self) -> int:
        """Give the transport what was admitted; returns how many bytes did not go."""
        sender, outbox = self._conn.sender, self._conn.engine.outbox
        timeout = self._timeout if self._own else self._conn.grace
        if outbox and not sender.is_lost and timeout > 0:
            flushed = sender.flushed()
            await asyncio.wait([flushed], timeout=timeout)
            flushed.cancel()
        return outbox.clear()


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
