"""One turn of the example agent: ask, run the command, stream what it prints."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from acpcore import AcpError, Connection, InvalidParams

from ..schema import (
    CommandPermissionSubject,
    ContentBlock,
    PermissionOption,
    PromptRequest,
    RequestPermissionRequest,
    SelectedPermissionOutcome,
    StateUpdate,
    Terminal,
    TerminalExitStatus,
    TextContent,
    ToolCallUpdate,
    UserMessage,
)
from ..terminal import CHUNK_SIZE, TerminalWriter
from .command import Command, Pty
from .conversation import Session, TerminalRecord

ARGV: Final = "acpcore/argv"
PTY: Final = "acpcore/pty"
_OPTIONS: Final = (
    PermissionOption(option_id="allow", name="Run it", kind="allow_once"),
    PermissionOption(option_id="reject", name="Do not run it", kind="reject_once"),
)
_ALLOWED: Final = frozenset({"allow"})


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What a prompt asks for: ``argv`` is run, ``shown`` is what people see of it."""

    argv: list[str]
    shown: str
    pty: Pty | None


def read_task(prompt: PromptRequest) -> Task:
    """The command of a prompt: ``_meta["acpcore/argv"]`` of a text block or of the prompt, else its text for ``sh -c``.

    ``_meta["acpcore/pty"]`` beside it asks for a pseudo-terminal: ``true``, or an object with ``rows`` and ``cols``.
    Raises ``InvalidParams``.
    """
    meta = dict(prompt.meta or {})
    for block in prompt.prompt:
        if isinstance(block, TextContent):
            meta.update(block.meta or {})
    text = "\n".join(_texts(prompt.prompt))
    argv = _convert("argv", meta[ARGV], list[str]) if ARGV in meta else ["sh", "-c", text]
    if not argv or not (text or ARGV in meta):
        raise InvalidParams("prompt", "no text and no command")
    if any("\0" in argument for argument in argv):
        raise InvalidParams("prompt", "a command holds no NUL")
    return Task(argv=argv, shown=text or shlex.join(argv), pty=_read_pty(meta.get(PTY)))


def _texts(blocks: Sequence[ContentBlock]) -> list[str]:
    return [block.text for block in blocks if isinstance(block, TextContent)]


def _read_pty(value: Any) -> Pty | None:
    if isinstance(value, bool) or value is None:
        return Pty() if value else None
    pty: Pty = _convert("pty", value, Pty)
    return pty


def _convert(name: str, value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise InvalidParams(f"_meta.acpcore/{name}", str(error)) from None


class Turn:
    """Runs one task in a session. :meth:`cancel` may come at any time. ``message_id`` is the prompt's."""

    def __init__(self, conn: Connection, session: Session, prompt: PromptRequest) -> None:
        self._conn = conn
        self._session = session
        self._prompt = prompt
        self._task = read_task(prompt)
        self.message_id = session.new_id("message")  # of the prompt as a message of the session
        self._cancelled = False
        self._question: asyncio.Task[bool] | None = None
        self._command: Command | None = None

    @property
    def title(self) -> str:
        """What people see of its task."""
        return self._task.shown

    def cancel(self) -> None:
        """Stop asking, stop the command; the turn then ends by itself, with a last state update.

        https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#cancellation
        """
        self._cancelled = True
        if self._question is not None:
            self._question.cancel()
        if self._command is not None:
            self._command.interrupt()

    async def run(self) -> None:
        """The whole turn. Whatever goes wrong in it, the client hears that it is over."""
        reason = "_error"
        try:
            await self._tell(UserMessage(message_id=self.message_id, content=self._prompt.prompt))
            await self._tell(StateUpdate(state="running"))
            reason = await self._work()
        finally:
            if not self._conn.is_closed:
                await self._tell(StateUpdate(state="idle", stop_reason=reason))

    async def _work(self) -> str:
        """Returns the stop reason."""
        tool_call, terminal = self._session.new_id("call"), self._session.new_id("terminal")
        allowed = await self._ask(tool_call, terminal)
        if self._cancelled:
            return "cancelled"
        if not allowed:
            return "refusal"
        code = await self._run_command(tool_call, terminal)
        status = "cancelled" if self._cancelled else "completed" if code == 0 else "failed"
        await self._tell(ToolCallUpdate(tool_call_id=tool_call, status=status))
        return "cancelled" if self._cancelled else "end_turn"

    async def _tell(self, update: Any) -> None:
        await self._session.tell(self._conn, update)

    # --- permission

    async def _ask(self, tool_call: str, terminal: str) -> bool:
        await self._tell(StateUpdate(state="requires_action"))
        if not self._cancelled:
            self._question = asyncio.ensure_future(self._permission(tool_call, terminal))
            try:
                await asyncio.wait([self._question])
            finally:
                self._question.cancel()
            if not self._question.cancelled() and self._question.result():
                await self._tell(StateUpdate(state="running"))
                return True
        return False

    async def _permission(self, tool_call: str, terminal: str) -> bool:
        """Only the option that allows it allows it: an error, another option or another outcome does not.

        https://agentclientprotocol.com/protocol/v2/draft/tool-calls#requesting-permission
        """
        subject = CommandPermissionSubject(
            command=self._task.shown, cwd=self._session.cwd, tool_call_id=tool_call, terminal_id=terminal
        )
        request = RequestPermissionRequest(
            session_id=self._session.session_id, title="Run a command", options=list(_OPTIONS), subject=subject
        )
        try:
            answer = await self._conn.request(request)
        except AcpError:
            return False
        outcome = answer.outcome
        return isinstance(outcome, SelectedPermissionOutcome) and outcome.option_id in _ALLOWED

    # --- the command

    async def _run_command(self, tool_call: str, terminal_id: str) -> int | None:
        session, shown = self._session, self._task.shown
        record = TerminalRecord(terminal_id, shown, session.cwd)
        session.remember(record)
        async with self._conn.terminal(session.session_id, terminal_id) as terminal:
            await terminal.update(command=shown, cwd=session.cwd)
            anchor = Terminal(terminal_id=terminal_id)
            await self._tell(
                ToolCallUpdate(
                    tool_call_id=tool_call, title=shown, kind="execute", status="in_progress", content=[anchor]
                )
            )
            status = await self._stream(terminal, record)
            record.exit_status = status
            await terminal.update(exit_status=status)
        return status.exit_code

    async def _stream(self, terminal: TerminalWriter, record: TerminalRecord) -> TerminalExitStatus:
        if self._cancelled:
            return TerminalExitStatus(signal="SIGINT")
        try:
            command = self._command = Command(self._task.argv, self._session.cwd, self._task.pty)
        except OSError as error:
            return await self._not_started(terminal, record, error)
        try:
            while data := await command.read():
                await _print(terminal, record, data)
            code, signal = await command.wait()
        finally:
            await command.end()
        return TerminalExitStatus(exit_code=code, signal=signal)

    async def _not_started(
        self, terminal: TerminalWriter, record: TerminalRecord, error: OSError
    ) -> TerminalExitStatus:
        """A shell's words and numbers: 127 for what is not there, 126 for what cannot be run."""
        name = error.filename if error.filename == self._session.cwd else self._task.argv[0]
        missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        text = "command not found" if missing and name == self._task.argv[0] else error.strerror
        end = "\r\n" if self._task.pty else "\n"
        await _print(terminal, record, os.fsencode(f"acpcore: {name}: {text}{end}"))
        return TerminalExitStatus(exit_code=127 if missing else 126)


async def _print(terminal: TerminalWriter, record: TerminalRecord, data: bytes) -> None:
    """Chunk by chunk: each is remembered when it takes its place in the stream, for a replay may fall in between."""
    view = memoryview(data)
    for at in range(0, len(view), CHUNK_SIZE):
        piece = view[at : at + CHUNK_SIZE]
        record.append(piece)
        await terminal.write(piece)
