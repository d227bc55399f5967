"""A client on the Python SDK's experimental v2 API; it runs where acpcore is not. Prints what ts-client.mjs prints.

python py_client.py SCENARIO AGENT...
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from acp.experimental import v2
from acp.transports import spawn_stdio_transport

S = v2.schema


def say(step: str, **what: Any) -> None:
    print(json.dumps({"step": step, **what}), flush=True)


def plain(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True) if hasattr(model, "model_dump") else model


async def attempt(step: str, work: Awaitable[Any]) -> Any:
    """Something that may fail: says which."""
    try:
        result = await work
    except Exception as error:
        code = getattr(error, "code", None)
        say(step, error={"name": type(error).__name__, "code": code, "message": str(error)[:300]})
        return None
    say(step, result=plain(result))
    return result


def summary(message: dict[str, Any]) -> str:
    if "method" not in message:
        return f"answer {message['id']}"
    return (message.get("params") or {}).get("update", {}).get("sessionUpdate") or message["method"]


class Client(v2.Client):
    """Keeps what comes. ``wire`` is the order of the wire, which this SDK's handlers do not keep."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.wire: list[str] = []
        self.errors: dict[int, int] = {}  # answers with an error: id to code
        self.changed = asyncio.Event()
        self.on_permission: Callable[[Any], Awaitable[Any]] = self.allow

    def observe(self, event: Any) -> None:
        message = event.message
        if event.direction.value == "incoming":
            self.wire.append(summary(message))
            if "error" in message:
                self.errors[message["id"]] = message["error"]["code"]
            self.changed.set()

    async def session_update(self, session_id: str, update: Any, **meta: Any) -> None:
        self.updates.append(plain(update))
        self.changed.set()

    async def request_permission(self, session_id: str, title: str, options: Any, **others: Any) -> Any:
        request = {"sessionId": session_id, "title": title, "options": [plain(option) for option in options]}
        say("permission", params={**request, "subject": plain(others.get("subject"))})
        return S.RequestPermissionResponse(outcome=await self.on_permission(options))

    async def allow(self, options: Any) -> Any:
        chosen = next(option for option in options if option.kind == "allow_once")
        return S.SelectedPermissionOutcomeVariant(outcome="selected", option_id=chosen.option_id)

    async def until(self, condition: Callable[[], Any]) -> Any:
        while not (found := condition()):
            self.changed.clear()
            await self.changed.wait()
        return found

    async def over(self, step: str, since: int) -> None:
        await self.until(lambda: any(update.get("state") == "idle" for update in self.updates[since:]))
        seen = self.updates[since:]
        data = [base64.b64decode(update["data"]) for update in seen if "data" in update]
        say(
            step,
            stopReason=seen[-1].get("stopReason"),
            kinds=[update["sessionUpdate"] for update in seen],
            sizes=[len(chunk) for chunk in data],
            sha256=hashlib.sha256(b"".join(data)).hexdigest(),
        )


async def conversation(conn: Any, client: Client) -> None:
    cwd = os.getcwd()
    session = await attempt("new", conn.new_session(cwd))

    async def turn(step: str, words: str) -> int:
        since = len(client.updates)
        prompt = [S.TextContentBlock(type="text", text=words)]
        await attempt(f"{step} answered", conn.prompt(session_id=session.session_id, prompt=prompt))
        return since

    await client.over("work", await turn("work", os.environ["WORK_TEXT"]))

    since = await turn("wait", os.environ["WAIT_TEXT"])
    await client.until(lambda: any("data" in update for update in client.updates[since:]))
    await conn.cancel_session(session.session_id)
    await client.over("wait", since)

    async def cancel(options: Any) -> Any:
        await conn.cancel_session(session.session_id)
        return S.CancelledPermissionOutcome(outcome="cancelled")

    client.on_permission = cancel
    await client.over("ask", await turn("ask", os.environ["WORK_TEXT"]))

    before = len(client.wire)
    start = S.ReplayFromStartVariant(type="start")
    await attempt("resume", conn.resume_session(session.session_id, cwd, replay_from=start))
    say("replay", wire=client.wire[before:])
    await attempt("close", conn.close_session(session.session_id))
    prompt = [S.TextContentBlock(type="text", text="true")]
    await attempt("after close", conn.prompt(session_id=session.session_id, prompt=prompt))
    await attempt("unknown method", conn.send_extension_request("_interop/unknown", {}))


async def cancel_request(conn: Any, client: Client) -> None:
    """This SDK does not wait for the answer of a request it gave up, but the answer comes."""
    waiting = asyncio.create_task(conn.send_extension_request("_interop/wait", {}))
    await client.until(lambda: "_interop_waiting" in client.wire)
    waiting.cancel()
    await asyncio.wait([waiting])
    code = await client.until(lambda: next(iter(client.errors.values()), None))
    say("wait", cancelled=waiting.cancelled(), code=code)
    await attempt("list", conn.list_sessions())


SCENARIOS = {"conversation": conversation, "cancelRequest": cancel_request}


async def main(scenario: str, *agent: str) -> None:
    client = Client()
    limit = 50 * 1024 * 1024
    async with spawn_stdio_transport(*agent, env=os.environ, limit=limit, stderr=None) as (reader, writer, process):
        conn = v2.connect_to_agent(client, writer, reader, observers=[client.observe])
        info = S.Implementation(name="interop", version="1")
        await attempt("initialize", conn.initialize(2, info))
        await SCENARIOS[scenario](conn, client)
        await conn.close()
        writer.close()
        code = await process.wait()
        say("exit", code=code, signal=None)


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 50))
