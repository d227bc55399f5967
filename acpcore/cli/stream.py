"""``acpcore stream``: run a command in an agent's terminal and write its bytes to stdout."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, Literal

import msgspec

from acpcore import (
    AcpError,
    Connection,
    ConnectionClosed,
    Handlers,
    ProtocolError,
    TerminalBytes,
    __version__,
    run,
    spawn,
)

from ..schema import (
    AgentMessageChunk,
    CancelledPermissionOutcome,
    CancelSessionNotification,
    Implementation,
    NewSessionRequest,
    PromptRequest,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SelectedPermissionOutcome,
    StateUpdate,
    TerminalOutputChunk,
    TerminalUpdate,
    TextContent,
    UpdateSessionNotification,
)
from ..terminal import TerminalReader
from .exits import INTERRUPTED, OWN_FAILURE, READER_GONE, shell_status
from .output import Output
from .report import Report, say
from .summary import Meter, Summary

_START_TIMEOUT: Final = 60.0  # seconds for initialize and session/new
_CANCEL_TIMEOUT: Final = 15.0  # seconds an agent has to say that it is idle after session/cancel
_ENOUGH: Final = 20  # lines of an agent's stderr that are shown when it fails
_WORDS: Final = 2000  # characters of what it says that are shown when it runs nothing


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """``command``: program and arguments. ``agent``: the agent's, or ``None`` for acpcore's own. ``stdio`` and
    ``pipe_size`` (bytes): how the agent is spoken to, as for ``spawn``.
    """

    command: Sequence[str]
    agent: Sequence[str] | None = None
    pty: bool = False
    json: bool = False
    stdio: Literal["pipe", "socketpair"] = "pipe"
    pipe_size: int | None = None


class Failed(Exception):
    """It cannot go on, and it is not the command's fault; the text is for people."""


class Stream:
    """One run. :meth:`main` returns the exit status; the rest is called by handlers, signals and the output."""

    def __init__(self, options: Options) -> None:
        self.reader = TerminalReader()
        self.error: str | None = None
        self.stop_reason: str | None = None
        self._options = options
        self._meter = Meter()
        self._conn = self._connect()
        self._session_id: str | None = None
        self._prompted = False
        self._running = False
        self._words = ""
        self._interrupts = 0
        self._loop = asyncio.get_running_loop()
        self._status: asyncio.Future[int] = self._loop.create_future()
        self._out = self._open_output()

    # --- from beginning to end

    async def main(self) -> int:
        """Run the command; returns the exit status."""
        self._heed_signals()
        work = asyncio.ensure_future(self._converse())
        try:
            return await self._status
        finally:
            work.cancel()
            await asyncio.wait([work])
            self._out.close()

    def summary(self) -> Summary:
        """The numbers so far."""
        return self._meter.read(self.reader.count, self._conn.stats())

    def _open_output(self) -> Output:
        try:
            if sys.__stdout__ is None:
                raise Failed("stdout is not open")
            return Output(sys.__stdout__.fileno(), self._output_failed)
        except OSError as error:
            raise Failed(f"stdout: {error.strerror}") from None

    def _connect(self) -> Connection:
        handlers = Handlers()
        handlers.on(TerminalBytes)(self._on_bytes)
        handlers.on(UpdateSessionNotification)(self._on_update)
        handlers.on(RequestPermissionRequest)(self._on_permission)
        options = self._options
        return spawn(
            options.agent or own_agent(),
            handlers,
            stdio=options.stdio,
            pipe_size=options.pipe_size,
            exit_timeout=3.0,
            on_error=_warn,
        )

    async def _converse(self) -> None:
        try:
            await self._start_agent()
            try:
                await self._begin()
                await self._prompt()
                raise Failed(f"the agent ended: {_describe(await self._conn.closed)}")
            finally:
                await self._conn.close(timeout=0.5)
        except (Failed, AcpError, TimeoutError) as error:
            self._fail(_describe(error))

    async def _start_agent(self) -> None:
        try:
            await self._conn.open()
        except OSError as error:
            raise Failed(f"cannot start the agent: {error.filename or ''}: {error.strerror}") from None

    async def _begin(self) -> None:
        """https://agentclientprotocol.com/protocol/v2/draft/initialization"""
        info = Implementation(name="acpcore-stream", title="acpcore stream", version=__version__)
        await self._conn.initialize(info, timeout=_START_TIMEOUT)
        session = await self._conn.request(NewSessionRequest(cwd=os.getcwd()), timeout=_START_TIMEOUT)
        self._session_id = session.session_id

    async def _prompt(self) -> None:
        command = list(self._options.command)
        _check_text(command)
        meta: dict[str, Any] = {"acpcore/argv": command}
        if self._options.pty:
            columns, rows = shutil.get_terminal_size()
            meta["acpcore/pty"] = {"rows": rows, "cols": columns}
        block = TextContent(text=shlex.join(command), meta=meta)
        self._prompted = True
        self._meter.start()
        await self._conn.request(PromptRequest(session_id=self._session_id or "", prompt=[block]))

    # --- what the agent says

    def _on_bytes(self, event: TerminalBytes) -> Awaitable[None] | None:
        if event.session_id != self._session_id:
            return None
        return self._out.write(self.reader.chunk(event.terminal_id, event.data))

    def _on_update(self, notification: Any) -> Awaitable[None] | None:
        if notification.session_id != self._session_id:
            return None
        update = notification.params.update
        if isinstance(update, TerminalOutputChunk):
            return self._out.write(self.reader.chunk(update.terminal_id, update.data))
        if isinstance(update, TerminalUpdate):
            return self._out.write(self.reader.update(update))
        if isinstance(update, StateUpdate):
            self._on_state(update)
        elif isinstance(update, AgentMessageChunk) and isinstance(update.content, TextContent):
            self._words = (self._words + update.content.text)[-_WORDS:]
        return None

    def _on_state(self, update: StateUpdate) -> None:
        """The turn is over when the agent is idle again. One that says at the start that it is idle means no turn."""
        if not self._prompted:
            return
        if update.state != "idle":
            self._running = True
        elif self._running or update.stop_reason is not None:
            self.stop_reason = update.stop_reason
            self._turn_ended()

    def _turn_ended(self) -> None:
        if self._interrupts:
            self._finish(INTERRUPTED)
            return
        exits = [state.exit_status for state in self.reader.terminals.values() if state.exit_status is not None]
        if exits:
            self._finish(shell_status(exits[-1]))
        elif self.stop_reason in (None, "end_turn") and self.reader.terminals:
            self._finish(0)  # an agent that does not tell how commands end
        else:
            text = f"the agent ran nothing: it stopped with {self.stop_reason or 'no reason'}"
            self._fail("\n  ".join([text, *self._words.splitlines()]))

    def _on_permission(self, request: Any) -> RequestPermissionResponse:
        """Asked for its own command, the user has said yes already; for the shortest time that is offered."""
        kinds = () if self._interrupts else ("allow_once", "allow_always")
        wanted = [option.option_id for kind in kinds for option in request.params.options if option.kind == kind]
        if not wanted:
            return RequestPermissionResponse(outcome=CancelledPermissionOutcome())
        return RequestPermissionResponse(outcome=SelectedPermissionOutcome(option_id=wanted[0]))

    # --- what else happens

    def _heed_signals(self) -> None:
        self._on_signal(signal.SIGINT, self._interrupted)
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._on_signal(number, partial(self._finish, 128 + number))

    def _on_signal(self, number: signal.Signals, action: Callable[[], object]) -> None:
        if signal.getsignal(number) is not signal.SIG_IGN:  # a shell ignores them for what it runs in the background
            self._loop.add_signal_handler(number, action)

    def _interrupted(self) -> None:
        """Ctrl-C: ask the agent to cancel; at the second, or if it does not, leave; at the third, without waiting."""
        self._interrupts += 1
        if self._interrupts > 1 or not self._prompted or self._conn.is_closed:
            self._finish(INTERRUPTED)
            if self._interrupts > 2 and self._prompted:
                self._conn.abort()
            return
        cancel = CancelSessionNotification(session_id=self._session_id or "")
        self._conn.start(self._conn.notify(cancel), name="cancel")
        self._loop.call_later(_CANCEL_TIMEOUT, self._finish, INTERRUPTED)

    def _output_failed(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            self._finish(READER_GONE)
        else:
            self._fail(f"cannot write the output: {error.strerror}")

    def _finish(self, status: int) -> None:
        if not self._status.done():
            self._meter.stop()
            self._status.set_result(status)

    def _fail(self, text: str) -> None:
        if not self._status.done():
            self.error = text
            self._finish(OWN_FAILURE)


def _check_text(command: Sequence[str]) -> None:
    try:
        "".join(command).encode()
    except UnicodeEncodeError:
        raise Failed("the command is not UTF-8, and JSON can carry nothing else") from None


def own_agent() -> list[str]:
    """acpcore's agent in this interpreter, from the place this package lies in: nothing in the current folder is taken
    for a module."""
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    code = f"import sys; sys.path[:1] = [{home!r}]; from acpcore.cli.agent import main; main()"
    return [sys.executable, "-c", code]


def _describe(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    if isinstance(error, ConnectionClosed) and error.stderr_tail:
        lines = error.stderr_tail.decode("utf-8", "replace").strip().split("\n")[-_ENOUGH:]
        return "\n  ".join([text, *lines]) if len(lines) > 1 else text
    return text


def _warn(error: BaseException, context: str) -> None:
    about = "the agent sent what does not fit" if isinstance(error, ProtocolError) else context
    say(f"acpcore: warning: {about}: {error}")


async def _stream(options: Options) -> int:
    stream = Stream(options)
    report = Report(stream.summary, options.json)
    report.start()
    try:
        status = await stream.main()
    finally:
        report.stop()
    summary = stream.summary()
    summary.exit_status, summary.stop_reason, summary.error = status, stream.stop_reason, stream.error
    report.finish(summary)
    return status


def main(options: Options) -> int:
    """Run it; returns the exit status."""
    try:
        return run(_stream(options))
    except Failed as error:  # nothing has begun
        say(f"acpcore: {error}")
        return OWN_FAILURE
