"""An agent on acpcore for the clients of other SDKs; what its turns do is written in ts-agent.mjs.

    python acp_agent.py [--loop asyncio|uvloop] [--message-id]

``--message-id`` answers prompts as drafts after alpha.2 want it.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from work import TEXTS, chunks

from acpcore import Connection, Handlers, RemoteError, Request, RequestCancelled, run, stdio
from acpcore.message import INVALID_PARAMS
from acpcore.schema import (
    AgentCapabilities,
    AgentMessageChunk,
    CancelSessionNotification,
    CloseSessionRequest,
    IdleStateUpdate,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    NewSessionRequest,
    NewSessionResponse,
    OtherSessionUpdate,
    PermissionOption,
    PromptRequest,
    PromptResponse,
    RequestPermissionRequest,
    ResumeSessionRequest,
    RunningStateUpdate,
    SelectedPermissionOutcome,
    SessionCapabilities,
    SessionInfo,
    StateUpdate,
    Terminal,
    TerminalExitStatus,
    TerminalOutputChunk,
    TerminalUpdate,
    TextContent,
    ToolCallPatch,
    ToolCallPermissionSubject,
    ToolCallUpdate,
    UpdateSessionNotification,
    UserMessage,
    later,
)

OPTIONS = [
    PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
    PermissionOption(option_id="no", name="No", kind="reject_once"),
]


class Session:
    """One session: what it has told, and its running turn."""

    def __init__(self, conn: Connection, session_id: str) -> None:
        self.conn = conn
        self.id = session_id
        self.history: list[Any] = []
        self.turn: asyncio.Task[Any] | None = None

    async def update(self, update: Any) -> None:
        if not isinstance(update, StateUpdate):
            self.history.append(update)
        await self.conn.notify(UpdateSessionNotification(session_id=self.id, update=update))

    async def run(self, message_id: str, prompt: list[Any]) -> None:
        await self.update(UserMessage(message_id=message_id, content=prompt))
        await self.update(RunningStateUpdate())
        reason = "cancelled"
        self.turn = self.conn.start(self.work(prompt[0].text))
        try:
            await asyncio.wait([self.turn])
            reason = self.turn.result()
        except asyncio.CancelledError:
            pass
        self.turn = None
        await self.update(IdleStateUpdate(stop_reason=reason))

    async def work(self, text: str) -> str:
        if text == "wait":
            await self.update(TerminalOutputChunk(terminal_id="term-0", data=b"waiting"))
            await asyncio.get_running_loop().create_future()
        await self.update(ToolCallUpdate(tool_call_id="call-1", title="Count", kind="execute", status="pending"))
        if not await self.allowed():
            return "refusal"
        await self.update(TerminalUpdate(terminal_id="term-1", command="count", cwd="/"))
        await self.update(ToolCallUpdate(tool_call_id="call-1", content=[Terminal(terminal_id="term-1")]))
        for chunk in chunks():
            await self.update(TerminalOutputChunk(terminal_id="term-1", data=chunk))
        await self.update(TerminalUpdate(terminal_id="term-1", exit_status=TerminalExitStatus(exit_code=0)))
        await self.update(ToolCallUpdate(tool_call_id="call-1", status="completed"))
        for words in TEXTS:
            await self.update(AgentMessageChunk(message_id="agent-1", content=TextContent(text=words)))
        return "end_turn"

    async def allowed(self) -> bool:
        call = ToolCallPatch(tool_call_id="call-1", title="Count", kind="execute", status="pending")
        subject = ToolCallPermissionSubject(tool_call=call)
        request = RequestPermissionRequest(session_id=self.id, title="May I?", subject=subject, options=OPTIONS)
        try:
            outcome = (await self.conn.request(request)).outcome
        except RequestCancelled:
            return False
        return isinstance(outcome, SelectedPermissionOutcome) and outcome.option_id == "yes"


class Agent:
    """The handlers."""

    def __init__(self, message_ids: bool) -> None:
        self.message_ids = message_ids
        self.sessions: dict[str, Session] = {}

    def handlers(self) -> Handlers:
        handlers = Handlers()
        handlers.on(InitializeRequest)(self.initialize)
        handlers.on(NewSessionRequest)(self.new)
        handlers.on(ListSessionsRequest)(self.list)
        handlers.on(PromptRequest)(self.prompt)
        handlers.on(CancelSessionNotification)(self.cancel)
        handlers.on(ResumeSessionRequest)(self.resume)
        handlers.on(CloseSessionRequest)(self.close)
        handlers.on("_interop/wait")(self.wait)
        handlers.on("_interop/echo")(lambda request: request.params)
        return handlers

    def session(self, message: Any) -> Session:
        session = self.sessions.get(message.params.session_id)
        if session is None:
            raise RemoteError(INVALID_PARAMS, "no such session")
        return session

    def initialize(self, request: Request) -> InitializeResponse:
        capabilities = AgentCapabilities(session=SessionCapabilities())
        info = Implementation(name="interop", version="1")
        return InitializeResponse(protocol_version=2, info=info, capabilities=capabilities)

    def new(self, request: Request) -> NewSessionResponse:
        session = Session(request.conn, f"s-{len(self.sessions)}")
        self.sessions[session.id] = session
        return NewSessionResponse(session_id=session.id)

    def list(self, request: Request) -> ListSessionsResponse:
        return ListSessionsResponse(sessions=[SessionInfo(session_id=id, cwd="/") for id in self.sessions])

    def prompt(self, request: Request) -> PromptResponse:
        session = self.session(request)
        message_id = f"user-{len(session.history)}"
        request.conn.start(session.run(message_id, request.params.prompt))
        return later.PromptResponse(message_id=message_id) if self.message_ids else PromptResponse()

    def cancel(self, notification: Any) -> None:
        turn = self.session(notification).turn
        if turn is not None:
            turn.cancel()

    async def resume(self, request: Request) -> None:
        session = self.session(request)
        for update in session.history if request.params.replay_from else ():
            await request.conn.notify(UpdateSessionNotification(session_id=session.id, update=update))

    def close(self, request: Request) -> None:
        del self.sessions[self.session(request).id]

    async def wait(self, request: Request) -> None:
        """Tells with an update of its own kind that it waits, then waits to be given up."""
        waiting = OtherSessionUpdate.of({"sessionUpdate": "_interop_waiting"})
        await request.conn.notify(UpdateSessionNotification(session_id="none", update=waiting))
        await asyncio.get_running_loop().create_future()


async def main(message_ids: bool) -> None:
    async with stdio(Agent(message_ids).handlers()) as conn:
        await conn.closed


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--loop", choices=["asyncio", "uvloop"], default="uvloop")
    parser.add_argument("--message-id", action="store_true")
    options = parser.parse_args()
    run(main(options.message_id), uvloop=options.loop == "uvloop")
