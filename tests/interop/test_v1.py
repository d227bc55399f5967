"""ACP v1 over the same core, with names and plain objects: the typed layer knows v2 only."""

from __future__ import annotations

import asyncio
from typing import Any

import peers
import pytest
from loops import LOOPS, run

from acpcore import Connection, Handlers, Notification, Request, spawn

pytestmark = pytest.mark.usefixtures("sdks")

INITIALIZE = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
}


class Editor:
    """A v1 client: notes updates and requests for permission in the order in which they are handled."""

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self.log: list[str] = []
        self.changed = asyncio.Event()
        self.handlers = Handlers()
        self.handlers.on("session/update")(self.update)
        self.handlers.on("session/request_permission")(self.permission)

    def update(self, notification: Notification) -> None:
        update = notification.params["update"]
        self.log.append(" ".join(update[key] for key in ("sessionUpdate", "toolCallId", "status") if key in update))
        self.changed.set()

    async def permission(self, request: Request) -> dict[str, Any]:
        await asyncio.sleep(0)
        self.log.append(f"permission {request.params['toolCall']['toolCallId']}")
        assert self.choice in [option["optionId"] for option in request.params["options"]]
        return {"outcome": {"outcome": "selected", "optionId": self.choice}}


async def new_session(conn: Connection) -> str:
    answer = await conn.request("initialize", INITIALIZE)
    assert (answer["protocolVersion"], conn.protocol_version) == (1, 1)
    session_id: str = (await conn.request("session/new", {"cwd": "/", "mcpServers": []}))["sessionId"]
    return session_id


def prompt(session_id: str) -> dict[str, Any]:
    return {"sessionId": session_id, "prompt": [{"type": "text", "text": "hello"}]}


BEFORE = [
    "agent_message_chunk",
    "tool_call call_1 pending",
    "tool_call_update call_1 completed",
    "agent_message_chunk",
    "tool_call call_2 pending",
    "permission call_2",
]
AFTER = {"allow": ["tool_call_update call_2 completed", "agent_message_chunk"], "reject": ["agent_message_chunk"]}


@pytest.mark.parametrize(("kind", "choice"), list(zip(LOOPS, AFTER, strict=True)))
def test_a_turn_of_the_example_agent(kind: str, choice: str) -> None:
    """Its result comes at the end of the turn, behind the last update. (The agent sleeps for five seconds of it.)"""
    editor = Editor(choice)

    async def main() -> None:
        async with spawn(peers.example("agent.js"), editor.handlers) as conn:
            session_id = await new_session(conn)
            assert await conn.request("session/prompt", prompt(session_id)) == {"stopReason": "end_turn"}
            assert editor.log == BEFORE + AFTER[choice]
        assert (await conn.closed).exit_code == 0
        assert conn.stats().bad_frames == 0

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_a_cancelled_turn(kind: str) -> None:
    editor = Editor("allow")

    async def main() -> None:
        async with spawn(peers.example("agent.js"), editor.handlers) as conn:
            session_id = await new_session(conn)
            turn = asyncio.ensure_future(conn.request("session/prompt", prompt(session_id)))
            await editor.changed.wait()
            await conn.notify("session/cancel", {"sessionId": session_id})
            assert await turn == {"stopReason": "cancelled"}
            assert editor.log == BEFORE[: len(editor.log)]  # the first, unless the machine is very busy

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_the_v1_side_of_an_agent_that_speaks_both(kind: str) -> None:
    editor = Editor("allow")

    async def main() -> None:
        async with spawn(peers.example("dual-version-agent.js"), editor.handlers) as conn:
            session_id = await new_session(conn)
            assert await conn.request("session/prompt", prompt(session_id)) == {"stopReason": "end_turn"}
            assert editor.log == ["agent_message_chunk"]

    run(kind, main)
