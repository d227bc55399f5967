"""An agent on the Python SDK's experimental v2 API, run where acpcore is not; ts-agent.mjs tells what its turns do."""

from __future__ import annotations

import asyncio
import base64
import sys
from typing import Any

from acp.exceptions import RequestError
from acp.experimental import v2
from work import TEXTS, chunks

S = v2.schema


class Session:
    """One session: what it has told, and its running turn."""

    def __init__(self, conn: Any, session_id: str) -> None:
        self.conn = conn
        self.id = session_id
        self.history: list[Any] = []
        self.turn: asyncio.Task[Any] | None = None

    async def update(self, update: Any) -> None:
        if update.session_update != "state_update":
            self.history.append(update)
        await self.conn.session_update(self.id, update)

    async def run(self, message_id: str, prompt: list[Any]) -> None:
        await self.update(S.UserMessageUpdate(message_id=message_id, content=prompt))
        await self.update(S.RunningSessionStateUpdate())
        reason = "cancelled"
        self.turn = asyncio.create_task(self.work(prompt[0].text))
        try:
            await asyncio.wait([self.turn])
            reason = self.turn.result()
        except asyncio.CancelledError:
            pass
        self.turn = None
        await self.update(S.IdleSessionStateUpdate(stop_reason=reason))

    async def work(self, text: str) -> str:
        if text == "wait":
            await self.chunk("term-0", b"waiting")
            await asyncio.get_running_loop().create_future()
        call = {"tool_call_id": "call-1", "title": "Count", "kind": "execute", "status": "pending"}
        await self.update(S.SessionToolCallUpdate(**call))
        if not await self.allowed(call):
            return "refusal"
        await self.update(S.SessionTerminalUpdate(terminal_id="term-1", command="count", cwd="/"))
        terminal = S.TerminalToolCallContent(terminal_id="term-1")
        await self.update(S.SessionToolCallUpdate(tool_call_id="call-1", content=[terminal]))
        for chunk in chunks():
            await self.chunk("term-1", chunk)
        await self.update(S.SessionTerminalUpdate(terminal_id="term-1", exit_status=S.TerminalExitStatus(exit_code=0)))
        await self.update(S.SessionToolCallUpdate(tool_call_id="call-1", status="completed"))
        for text in TEXTS:
            content = S.TextContentBlock(type="text", text=text)
            await self.update(S.AgentMessageChunk(message_id="agent-1", content=content))
        return "end_turn"

    async def chunk(self, terminal_id: str, data: bytes) -> None:
        text = base64.b64encode(data).decode()
        await self.update(S.SessionTerminalOutputChunk(terminal_id=terminal_id, data=text))

    async def allowed(self, call: dict[str, Any]) -> bool:
        subject = S.ToolCallPermissionSubjectVariant(type="tool_call", tool_call=S.ToolCallUpdate(**call))
        options = [
            S.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
            S.PermissionOption(option_id="no", name="No", kind="reject_once"),
        ]
        answer = await self.conn.request_permission(self.id, "May I?", options, subject=subject)
        return answer.outcome.outcome == "selected" and answer.outcome.option_id == "yes"


class Agent(v2.Agent):
    """The methods the tests need."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.tasks: set[asyncio.Task[Any]] = set()

    def on_connect(self, conn: Any) -> None:
        self.conn = conn

    def session(self, session_id: str) -> Session:
        if session_id not in self.sessions:
            raise RequestError.invalid_params({"sessionId": session_id})
        return self.sessions[session_id]

    async def initialize(self, protocol_version: int, info: Any, capabilities: Any = None, **meta: Any) -> Any:
        return S.InitializeResponse(
            protocol_version=2,
            info=S.Implementation(name="interop", version="1"),
            capabilities=S.AgentCapabilities(session=S.SessionCapabilities()),
        )

    async def new_session(self, cwd: str, *others: Any, **meta: Any) -> Any:
        session = Session(self.conn, f"s-{len(self.sessions)}")
        self.sessions[session.id] = session
        return S.NewSessionResponse(session_id=session.id)

    async def list_sessions(self, cwd: Any = None, cursor: Any = None, **meta: Any) -> Any:
        return S.ListSessionsResponse(sessions=[S.SessionInfo(session_id=id, cwd="/") for id in self.sessions])

    async def prompt(self, session_id: str, prompt: list[Any], **meta: Any) -> Any:
        session = self.session(session_id)
        message_id = f"user-{len(session.history)}"
        task = asyncio.create_task(session.run(message_id, prompt))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return S.PromptResponse(message_id=message_id)

    async def cancel_session(self, session_id: str, **meta: Any) -> None:
        turn = self.session(session_id).turn
        if turn is not None:
            turn.cancel()

    async def resume_session(
        self, session_id: str, cwd: str, *others: Any, replay_from: Any = None, **meta: Any
    ) -> Any:
        for update in self.session(session_id).history if replay_from else ():
            await self.conn.session_update(session_id, update)
        return S.ResumeSessionResponse()

    async def close_session(self, session_id: str, **meta: Any) -> Any:
        del self.sessions[self.session(session_id).id]
        return S.CloseSessionResponse()

    async def handle_extension_request(self, method: str, params: Any) -> Any:
        if method != "_interop/wait":
            raise RequestError.method_not_found(method)
        print("waiting", file=sys.stderr, flush=True)
        await asyncio.get_running_loop().create_future()


asyncio.run(v2.run_agent(Agent()))
