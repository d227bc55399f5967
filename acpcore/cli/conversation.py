"""What the example agent remembers of a session, and how it tells it again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from acpcore import Connection

from ..schema import (
    SessionUpdate,
    StateUpdate,
    TerminalExitStatus,
    TerminalOutput,
    TerminalUpdate,
    UpdateSessionNotification,
)

KEPT = 1024 * 1024
"""Bytes of output that are remembered of each terminal: the last ones."""


class TerminalRecord:
    """A terminal as a snapshot can show it."""

    def __init__(self, terminal_id: str, command: str, cwd: str) -> None:
        self.terminal_id = terminal_id
        self.command = command
        self.cwd = cwd
        self.exit_status: TerminalExitStatus | None = None
        self._output = bytearray()

    def append(self, data: bytes | memoryview) -> None:
        """More output; what is too old is forgotten, now and then (moving the rest costs)."""
        self._output += data
        if len(self._output) > 2 * KEPT:
            del self._output[:-KEPT]

    def snapshot(self) -> TerminalUpdate:
        """All that is remembered: it replaces whatever the client has."""
        output = TerminalOutput(data=bytes(self._output[-KEPT:]))
        update = TerminalUpdate(terminal_id=self.terminal_id, command=self.command, cwd=self.cwd, output=output)
        if self.exit_status is not None:
            update.exit_status = self.exit_status
        return update


class Session:
    """A session: its folder, what was said in it, and the turn that runs."""

    def __init__(self, session_id: str, cwd: str) -> None:
        self.session_id = session_id
        self.cwd = cwd
        self.title: str | None = None
        self.state = StateUpdate(state="idle")
        self.turn: asyncio.Task[None] | None = None
        self._history: list[SessionUpdate | TerminalRecord] = []
        self._numbers: dict[str, int] = {}

    @property
    def busy(self) -> bool:
        """Whether a turn runs."""
        return self.turn is not None and not self.turn.done()

    def new_id(self, kind: str) -> str:
        """An id nothing else in this session has."""
        number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
        return f"{kind}-{number}"

    def remember(self, record: TerminalRecord) -> None:
        """A terminal's output is remembered as it grows."""
        self._history.append(record)

    async def tell(self, conn: Connection, update: SessionUpdate) -> None:
        """Send an update and remember it, unless it is about the moment only."""
        if isinstance(update, StateUpdate):
            self.state = update
        elif not isinstance(update, TerminalUpdate):
            self._history.append(update)
        await self._send(conn, update)

    async def replay(self, conn: Connection) -> None:
        """The whole conversation again, terminals as snapshots, then the state it is in.

        https://agentclientprotocol.com/protocol/v2/draft/session-setup
        """
        for update in self._told():
            await self._send(conn, update)
        await self._send(conn, self.state)

    def _told(self) -> Iterator[SessionUpdate]:
        """Each taken when its turn comes to be sent: while it waits, a terminal that runs must not move on."""
        for entry in list(self._history):
            yield entry.snapshot() if isinstance(entry, TerminalRecord) else entry

    async def _send(self, conn: Connection, update: SessionUpdate) -> None:
        await conn.notify(UpdateSessionNotification(session_id=self.session_id, update=update))
