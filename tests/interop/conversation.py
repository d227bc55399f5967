"""An acpcore client for a whole conversation with any v2 agent, typed, through handlers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import work

from acpcore import Connection, Handlers, Request, Response, TerminalBytes, spawn
from acpcore.schema import (
    CancelSessionNotification,
    ClientCapabilities,
    CloseSessionRequest,
    IdleStateUpdate,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    Other,
    PromptRequest,
    PromptResponse,
    ReplayFromStart,
    RequestPermissionRequest,
    RequestPermissionResponse,
    ResumeSessionRequest,
    SelectedPermissionOutcome,
    StateUpdate,
    TerminalOutputChunk,
    TextContent,
    UpdateSessionNotification,
)

INFO = Implementation(name="interop", version="1")


class Client:
    """Keeps what comes, answers permission requests as ``decide`` says. ``terminal_events``: take terminal output as
    ``TerminalBytes``, decoded and joined; otherwise chunk by chunk with the other updates."""

    def __init__(self, *, terminal_events: bool = False) -> None:
        self.conn: Connection
        self.session_id = ""
        self.updates: list[Any] = []
        self.asked: list[RequestPermissionRequest] = []
        self.late: list[Response] = []  # answers to no call
        self.errors: list[str] = []  # what a handler raised
        self.decide: Callable[[Request], Awaitable[Any]] = self.choose("yes")
        self.handlers = Handlers()
        self.noise = bytearray()  # what came on stderr
        self._changed = asyncio.Event()
        self.handlers.on(UpdateSessionNotification)(self._update)
        self.handlers.on(RequestPermissionRequest)(self._permission)
        self.handlers.on(Response)(self._late)
        if terminal_events:
            self.handlers.on(TerminalBytes)(self._terminal)

    def choose(self, option_id: str) -> Callable[[Request], Awaitable[RequestPermissionResponse]]:
        async def decide(request: Request) -> RequestPermissionResponse:
            return RequestPermissionResponse(outcome=SelectedPermissionOutcome(option_id=option_id))

        return decide

    def _update(self, notification: Any) -> None:
        assert notification.session_id == notification.params.session_id
        self._keep(notification.params.update)

    def _terminal(self, event: TerminalBytes) -> None:
        at = 0
        for size in event.sizes:
            self._keep(TerminalOutputChunk(terminal_id=event.terminal_id, data=bytes(event.data[at : at + size])))
            at += size
        assert at == len(event.data)

    def _late(self, response: Response) -> None:
        self.late.append(response)
        self._changed.set()

    def _keep(self, update: Any) -> None:
        self.updates.append(update)
        self._changed.set()

    async def _permission(self, request: Request) -> Any:
        self.asked.append(request.params)
        self._changed.set()
        return await self.decide(request)

    def on_error(self, error: BaseException, context: str) -> None:
        self.errors.append(f"{context}: {error!r}")
        self._changed.set()

    def heard(self, noise: bytes) -> None:
        self.noise += noise
        self._changed.set()

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Waits as long as it takes; what runs it has a time limit."""
        while not (found := condition()):
            assert not self.errors
            self._changed.clear()
            await self._changed.wait()
        return found

    def spawn(self, argv: list[str]) -> Connection:
        """A connection to an agent that this client listens to."""
        return spawn(argv, self.handlers, on_error=self.on_error, on_stderr=self.heard)

    # --- a conversation, step by step

    async def initialize(self, conn: Connection, version: int) -> InitializeResponse:
        self.conn = conn
        request = InitializeRequest(protocol_version=version, info=INFO, capabilities=ClientCapabilities())
        response: InitializeResponse = await conn.request(request)
        return response

    async def new(self, cwd: str = "/") -> str:
        self.session_id = (await self.conn.request(NewSessionRequest(cwd=cwd))).session_id
        return self.session_id

    async def prompt(self, text: str) -> int:
        """Send a prompt; how many updates there were before its turn."""
        since = len(self.updates)
        request = PromptRequest(session_id=self.session_id, prompt=[TextContent(text=text)])
        assert isinstance(await self.conn.request(request), PromptResponse)
        return since

    async def over(self, since: int) -> list[Any]:
        """The updates of a turn, once it is idle again."""
        await self.until(lambda: any(isinstance(update, IdleStateUpdate) for update in self.updates[since:]))
        return self.updates[since:]

    async def cancel(self) -> None:
        await self.conn.notify(CancelSessionNotification(session_id=self.session_id))

    async def resume(self) -> list[Any]:
        """What is replayed. The answer is handed over behind it, so that nothing has to be waited for."""
        since = len(self.updates)
        request = ResumeSessionRequest(session_id=self.session_id, cwd="/", replay_from=ReplayFromStart())
        await self.conn.request(request)
        return self.updates[since:]

    async def close(self) -> None:
        await self.conn.request(CloseSessionRequest(session_id=self.session_id))


def kind(update: Any) -> str:
    """The tag of an update on the wire."""
    if isinstance(update, Other):
        return update.tag
    return "state_update" if isinstance(update, StateUpdate) else str(type(update).__struct_config__.tag)


def kinds(updates: list[Any]) -> list[str]:
    return [kind(update) for update in updates]


def output(updates: list[Any]) -> list[bytes]:
    """The chunks of terminal output."""
    return [update.data for update in updates if isinstance(update, TerminalOutputChunk)]


# --- the conversation all our own agents can hold


async def converse(client: Client) -> None:
    """All of it, with an agent that is initialized: work, cancel, cancel while it asks, refuse, resume, close, and a
    call that is given up."""
    await client.new()
    turns = [await _work(client), await _cancel(client), await _cancel_while_asked(client), await _refuse(client)]
    told = [update for turn in turns for update in turn if not isinstance(update, StateUpdate)]
    assert await client.resume() == told
    await client.close()
    assert (client.errors, client.late) == ([], [])
    await _give_up(client)


async def _work(client: Client) -> list[Any]:
    turn = await client.over(await client.prompt("work"))
    assert kinds(turn) == work.KINDS
    assert turn[0].content == [TextContent(text="work")]
    assert output(turn) == work.chunks()
    assert [update.content.text for update in turn if kind(update) == "agent_message_chunk"] == work.TEXTS
    terminal, closing = (update for update in turn if kind(update) == "terminal_update")
    assert (terminal.command, terminal.cwd, closing.exit_status.exit_code) == ("count", "/", 0)
    assert [update.status for update in turn if kind(update) == "tool_call_update"][::2] == ["pending", "completed"]
    assert (turn[-1].state, turn[-1].stop_reason) == ("idle", "end_turn")
    (asked,) = client.asked
    assert asked.subject.tool_call.tool_call_id == "call-1"
    assert {option.option_id: option.kind for option in asked.options} == {"yes": "allow_once", "no": "reject_once"}
    return turn


async def _cancel(client: Client) -> list[Any]:
    since = await client.prompt("wait")
    await client.until(lambda: output(client.updates[since:]))
    await client.cancel()
    turn = await client.over(since)
    assert (b"".join(output(turn)), turn[-1].stop_reason) == (b"waiting", "cancelled")
    return turn


async def _cancel_while_asked(client: Client) -> list[Any]:
    """The agent gives its question up with ``$/cancel_request``, which cancels the handler that thinks about it."""
    cancelled: list[bool] = []

    async def think(request: Request) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            cancelled.append(request.cancelled)

    client.decide = think
    asked = len(client.asked)
    since = await client.prompt("work")
    await client.until(lambda: len(client.asked) > asked)
    await client.cancel()
    turn = await client.over(since)
    await client.until(lambda: cancelled)
    assert cancelled == [True]
    assert (output(turn), turn[-1].stop_reason) == ([], "cancelled")
    return turn


async def _refuse(client: Client) -> list[Any]:
    client.decide = client.choose("no")
    turn = await client.over(await client.prompt("work"))
    assert (output(turn), turn[-1].stop_reason) == ([], "refusal")
    return turn


async def _give_up(client: Client) -> None:
    """A task that is cancelled gives its call up with ``$/cancel_request``; the answer comes all the same."""
    task = asyncio.ensure_future(client.conn.request("_interop/wait", {}))
    await client.until(lambda: b"waiting" in client.noise)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert client.conn.stats().pending_calls == 0
    (late,) = await client.until(lambda: client.late)
    assert late.error is not None
    assert (late.matched, late.error.code) == (False, -32800)
