"""Terminal bytes: writing them as chunks, and folding what comes back into bytes.

A terminal belongs to the agent; the client only looks on.
https://agentclientprotocol.com/protocol/v2/draft/tool-calls
"""

from __future__ import annotations

from collections.abc import Awaitable
from types import TracebackType
from typing import Any, Final, Protocol

from msgspec import UNSET, UnsetType

from .errors import UsageError
from .message import TerminalHead
from .schema import TerminalExitStatus, TerminalOutput, TerminalUpdate, UpdateSessionNotification

CHUNK_SIZE: Final = 32 * 1024
_TAIL: Final = 4096  # bytes by which a snapshot is recognised


class Stage(Protocol):
    """Where a terminal's bytes wait for each other."""

    def __len__(self) -> int:
        """Bytes that are held back."""

    def take(self, raw: memoryview) -> memoryview:
        """Take what needs no waiting; returns the rest."""

    async def write(self, rest: memoryview) -> None:
        """Take the rest."""

    async def flush(self) -> None:
        """Until nothing is held back."""


class Sender(Protocol):
    """What a writer needs of a connection."""

    def stage(self, session_id: str, head: TerminalHead, chunk_size: int) -> Stage:
        """Where a terminal's bytes wait for each other."""

    async def notify(self, method: Any, params: Any = None, *, bulk: bool | None = None) -> None:
        """Send a notification."""

    async def wait_for_peer(self, waiting: Awaitable[None]) -> None:
        """Await something that depends on the peer."""


class TerminalWriter:
    """The agent's end of one terminal: ``async with conn.terminal(session_id, terminal_id) as terminal``.

    Small writes share a message while the peer is slow; on an idle link a write leaves at the end of the loop turn.
    ``chunk_size`` (bytes) is the most that one message carries, and the most that is held back.
    """

    def __init__(self, conn: Sender, session_id: str, terminal_id: str, *, chunk_size: int = CHUNK_SIZE) -> None:
        if chunk_size < 1:
            raise UsageError("chunk_size is at least one byte")
        self.session_id = session_id
        self.terminal_id = terminal_id
        self._conn = conn
        self._stage = conn.stage(session_id, TerminalHead(session_id, terminal_id), chunk_size)

    async def __aenter__(self) -> TerminalWriter:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            await self.flush()

    async def write(self, raw: bytes | bytearray | memoryview) -> None:
        """Send bytes as the terminal printed them; returns when they are admitted or held back for the next message.
        They may be changed once it returns.

        Whatever fits into one chunk takes its place among the messages of the session before the first wait. Raises
        ``ConnectionClosed``.
        """
        view = memoryview(raw).cast("B")
        rest = self._stage.take(view)
        if len(rest):
            await self._conn.wait_for_peer(self._stage.write(rest))

    async def flush(self) -> None:
        """Until nothing is held back any more: the outbox has it all."""
        if len(self._stage):
            await self._conn.wait_for_peer(self._stage.flush())

    async def update(
        self,
        *,
        command: str | None | UnsetType = UNSET,
        cwd: str | None | UnsetType = UNSET,
        output: bytes | None | UnsetType = UNSET,
        exit_status: TerminalExitStatus | None | UnsetType = UNSET,
    ) -> None:
        """Change what is given, clear what is ``None``. ``output`` replaces all bytes so far, ``cwd`` is absolute."""
        snapshot = TerminalOutput(data=output) if isinstance(output, bytes) else output
        update = TerminalUpdate(
            terminal_id=self.terminal_id, command=command, cwd=cwd, output=snapshot, exit_status=exit_status
        )
        await self._conn.notify(UpdateSessionNotification(session_id=self.session_id, update=update))

    async def exit(self, code: int | None = None, signal: str | None = None) -> None:
        """The command ended: with an exit code (0 to 2^32-1), or by a signal (its name, as ``"SIGKILL"``)."""
        await self.update(exit_status=TerminalExitStatus(exit_code=code, signal=signal))


class TerminalState:
    """What is known of one terminal: ``command``, ``cwd``, ``exit_status``, and ``size``, the bytes it shows now."""

    __slots__ = ("_tail", "command", "cwd", "exit_status", "size")

    def __init__(self) -> None:
        self.command: str | None = None
        self.cwd: str | None = None
        self.exit_status: TerminalExitStatus | None = None
        self.size = 0
        self._tail = b""

    def append(self, data: bytes) -> None:
        """A chunk came."""
        self.size += len(data)
        self._tail = (data if len(data) >= _TAIL else self._tail + data)[-_TAIL:]

    def replace(self, data: bytes) -> bytes:
        """A snapshot came: returns the part of it that was not there before.

        A snapshot is all that the terminal shows from now on, it never has to be joined with earlier bytes. Who
        writes to a stream cannot take anything back, though: if the snapshot goes on where the terminal was, only
        what is new is to be written; if it is a window on the end of what was there, nothing; anything else is
        written whole. Since the terminal's bytes are not kept, their number and their last 4 KiB decide.
        """
        new = self._new_part(data)
        self.size = len(data)
        self._tail = data[-_TAIL:]
        return new

    def _new_part(self, data: bytes) -> bytes:
        if len(data) >= self.size:
            return data[self.size :] if data.endswith(self._tail, 0, self.size) else data
        return b"" if self._tail.endswith(data[-_TAIL:]) else data


class TerminalReader:
    """The client's end of a session's terminals: gives each byte once, in order. ``count`` is how many it gave in
    all.

    ``terminals`` are the states by terminal id; a terminal begins with whatever first names it.
    """

    def __init__(self) -> None:
        self.terminals: dict[str, TerminalState] = {}
        self.count = 0

    def chunk(self, terminal_id: str, data: bytes) -> bytes:
        """Output came: a ``TerminalBytes`` event or a ``TerminalOutputChunk``. Returns ``data``."""
        self._terminal(terminal_id).append(data)
        self.count += len(data)
        return data

    def update(self, update: TerminalUpdate) -> bytes:
        """Patch a terminal's state; returns what a snapshot in it adds."""
        state = self._terminal(update.terminal_id)
        for name in ("command", "cwd", "exit_status"):
            value = getattr(update, name)
            if value is not UNSET:
                setattr(state, name, value)
        if isinstance(update.output, UnsetType):
            return b""
        new = state.replace(b"" if update.output is None else update.output.data)
        self.count += len(new)
        return new

    def _terminal(self, terminal_id: str) -> TerminalState:
        state = self.terminals.get(terminal_id)
        if state is None:
            state = self.terminals[terminal_id] = TerminalState()
        return state
