"""npm @agentclientprotocol/sdk 1.3.0, which speaks the very draft that acpcore implements: nothing is excused here."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import peers
import pytest
import work
from conversation import Client, converse, kinds
from loops import LOOPS, run
from raw import NOTE, RawClient, initialize_params, request
from steps import COMMANDS, answers, check_commands, check_turns, named

from acpcore import Notification, Observation, RemoteError, Request, Response, spawn
from acpcore.schema import METHODS, ListSessionsRequest, StateUpdate, TextContent, decode, encode

SDK = "sdk-1.3.0"
EXAMPLE_TURN = ["user_message", "state_update", "agent_message", "state_update"]

pytestmark = pytest.mark.usefixtures("sdks")


# --- an acpcore client and the SDK's own agent, as it was published


@pytest.mark.parametrize("kind", LOOPS)
def test_a_conversation_with_the_example_agent(kind: str) -> None:
    client = Client()

    async def main() -> None:
        async with client.spawn(peers.example("dual-version-agent.js")) as conn:
            answer = await client.initialize(conn, 65535)
            assert (answer.protocol_version, answer.info.name) == (2, "dual-version-example")
            assert answer.capabilities.session is not None
            assert conn.protocol_version == 2
            session_id = await client.new()
            assert [s.session_id for s in (await conn.request(ListSessionsRequest())).sessions] == [session_id]

            turn = await client.over(await client.prompt("hello"))
            assert kinds(turn) == EXAMPLE_TURN
            assert turn[0].content == [TextContent(text="hello")]
            assert turn[2].content == [TextContent(text="Hello from the v2 implementation.")]
            assert [turn[1].state, turn[3].state, turn[3].stop_reason] == ["running", "idle", "end_turn"]

            cancelled = await cancelled_turn(client)
            assert kinds(cancelled) == ["user_message", "state_update", "state_update"]

            told = [update for update in client.updates if not isinstance(update, StateUpdate)]
            assert await client.resume() == told
            await client.close()
            with pytest.raises(RemoteError) as refused:
                await client.prompt("too late")
            assert refused.value.code == -32602
            with pytest.raises(RemoteError) as unknown:
                await conn.request("interop/unknown", {})
            assert (unknown.value.code, unknown.value.data) == (-32601, {"method": "interop/unknown"})
        assert (await conn.closed).exit_code == 0
        assert conn.stats().bad_frames == 0

    run(kind, main)


async def cancelled_turn(client: Client) -> list[Any]:
    """The agent works for a quarter of a second: on a busy machine a cancel may come too late."""
    while True:
        since = await client.prompt("never mind")
        await client.until(lambda since=since: "state_update" in kinds(client.updates[since:]))
        await client.cancel()
        turn = await client.over(since)
        if turn[-1].stop_reason == "cancelled":
            return turn


@pytest.mark.parametrize("kind", LOOPS)
def test_a_conversation_that_is_pulled_and_untyped(kind: str) -> None:
    """Events come in wire order, the answers among the updates."""

    async def main() -> None:
        async with spawn(peers.example("dual-version-agent.js")) as conn:
            assert (await conn.request("initialize", initialize_params(2)))["protocolVersion"] == 2
            session = (await conn.request("session/new", b'{"cwd": "/"}'))["sessionId"]
            prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "hello"}]}
            assert await conn.request("session/prompt", prompt) == {}
            seen = [event async for event in up_to_idle(conn)]
            assert [type(event).__name__ for event in seen[:3]] == ["Response"] * 3
            assert {event.session_id for event in seen[3:]} == {session}

            resume = {"sessionId": session, "cwd": "/", "replayFrom": {"type": "start"}}
            assert await conn.request("session/resume", resume) == {}
            replayed = [event for event in await conn.receive() for event in expanded(event)]
            assert [tag(event) for event in replayed] == ["user_message", "agent_message", "answer"]
            assert replayed[0].params == seen[3].params
            assert await conn.request("session/close", {"sessionId": session}) == {}

    run(kind, main)


def expanded(event: Any) -> list[Any]:
    return event.expand() if hasattr(event, "expand") else [event]


def tag(event: Any) -> str:
    if isinstance(event, Response):
        return "answer"
    return str(event.params["update"]["sessionUpdate"])


async def up_to_idle(conn: Any) -> Any:
    async for group in conn:
        for event in expanded(group):
            yield event
            if isinstance(event, Notification) and event.params["update"].get("state") == "idle":
                return


@pytest.mark.parametrize("kind", LOOPS)
def test_ids_come_back_as_they_were(kind: str) -> None:
    """Also when a number and a string that look alike are under way together."""
    ids = ["", "a", 'ünï"\\\n\u2028', "1", 1, 0, -1, 2**53 - 1]

    async def main() -> None:
        async with RawClient(peers.example("dual-version-agent.js")) as client:
            await client.initialize()
            answered = await client.calls(*(request(id, "session/list") for id in ids))
            assert [(type(answer.id), answer.id) for answer in answered] == [(type(id), id) for id in ids]
            assert [answer.result for answer in answered] == [{"sessions": []}] * len(ids)

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_versions(kind: str) -> None:
    async def ask(version: Any) -> Response:
        async with RawClient(peers.example("dual-version-agent.js")) as client:
            return await client.initialize(version)

    async def main() -> None:
        high, low, none, text = await asyncio.gather(ask(65535), ask(1), ask(0), ask("2"))
        assert (high.result["protocolVersion"], low.result["protocolVersion"]) == (2, 1)
        assert [answer.error.code for answer in (none, text) if answer.error is not None] == [-32600, -32602]

    run(kind, main)


# --- batches: acpcore reads them and never sends them, so that these come from the raw client


@pytest.mark.parametrize("kind", LOOPS)
def test_batches_are_answered_and_read(kind: str) -> None:
    async def main() -> None:
        async with RawClient(peers.example("dual-version-agent.js")) as client:
            await client.initialize()
            text, number = client.engine.expect("a"), client.engine.expect(7)
            mixed = [
                request("a", "session/list"),
                NOTE,
                17,
                request(7, "interop/unknown"),
                request(None, "session/list"),
            ]
            client.send([], [NOTE, NOTE], mixed)
            _, empty, answers = await client.until_lines(3)
            assert (empty["id"], empty["error"]["code"]) == (None, -32600)
            assert isinstance(answers, list)  # the batch of notifications has no answer
            by_id = {repr(answer["id"]): answer for answer in answers if answer["id"] is not None}
            assert by_id["'a'"]["result"] == {"sessions": []}
            assert by_id["7"]["error"]["code"] == -32601
            nulls = [answer for answer in answers if answer["id"] is None]
            assert sorted(answer.get("error", {}).get("code", 0) for answer in nulls) == [-32600, 0]
            assert len(answers) == 4

            events = [event for event in client.events[-4:] if isinstance(event, Response)]
            assert {event.id: event.call for event in events} == {"a": text, 7: number, None: None}
            assert len(events) == 4
            assert client.engine.pending_calls == []
            await client.call("after", "session/list")
            assert len(client.lines) == 4

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_a_batch_of_one_may_initialize(kind: str) -> None:
    async def main() -> None:
        async with RawClient(peers.example("dual-version-agent.js")) as client:
            call = client.engine.expect(1)
            client.send([request(1, "initialize", initialize_params(2))])
            (answers,) = await client.until_lines(1)
            assert isinstance(answers, list)
            (event,) = client.events
            assert isinstance(event, Response)
            assert (event.call, event.result["protocolVersion"]) == (call, 2)

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_a_batch_of_the_agent_is_handled_and_answered_as_one(kind: str) -> None:
    client, sent = Client(), list[Observation]()
    answers_to_it = [{"outcome": {"outcome": "selected", "optionId": "yes"}}] * 2

    async def main() -> None:
        async with spawn(peers.ts_agent(SDK), client.handlers, on_error=client.on_error, observer=sent.append) as conn:
            await client.initialize(conn, 2)
            session_id = await client.new()
            answered = await conn.request("_interop/batch", {"sessionId": session_id})
            assert [answered["first"], answered["second"]] == answers_to_it
            assert [update.state for update in client.updates] == ["requires_action", "running"]
            (batch,) = [seen for seen in sent if seen.direction == "out" and seen.kind == "batch"]
            assert [answer["result"] for answer in msgspec.json.decode(batch.line)] == answers_to_it
            assert client.errors == []

    run(kind, main)


# --- an acpcore client and an agent of ours on the SDK, with permission, tools and terminals


@pytest.mark.parametrize("terminal_events", [False, True])
@pytest.mark.parametrize("kind", LOOPS)
def test_a_conversation_with_terminals_and_permission(kind: str, terminal_events: bool) -> None:
    client = Client(terminal_events=terminal_events)

    async def main() -> None:
        async with client.spawn(peers.ts_agent(SDK)) as conn:
            await client.initialize(conn, 2)
            await converse(client)
        assert conn.stats().bad_frames == 0

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_the_typed_layer_loses_nothing_of_what_the_sdk_sends(kind: str) -> None:
    """Each update, and the request for permission, decoded and encoded again, is what came."""

    async def main() -> None:
        async with RawClient(peers.ts_agent(SDK)) as client:
            await client.initialize()
            session = (await client.call("new", "session/new", {"cwd": "/"})).result["sessionId"]
            prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "work"}]}
            await client.call("prompt", "session/prompt", prompt)
            (asked,) = await client.until(lambda: [event for event in client.events if isinstance(event, Request)])
            outcome = {"outcome": "selected", "optionId": "yes"}
            client.send({"jsonrpc": "2.0", "id": asked.id, "result": {"outcome": outcome}})
            await client.until(lambda: len(updates(client)) == len(work.KINDS))
            assert [event.params["update"]["sessionUpdate"] for event in updates(client)] == work.KINDS
            for event in [asked, *updates(client)]:
                again = encode(decode(METHODS_BY_NAME[event.method].params, event.raw_params))
                assert msgspec.json.decode(again) == event.params

    run(kind, main)


METHODS_BY_NAME = {method.name: method for method in METHODS}


def updates(client: RawClient) -> list[Notification]:
    return [event for event in client.events if isinstance(event, Notification)]


# --- a client on the SDK and agents on acpcore


@pytest.mark.parametrize("kind", LOOPS)
def test_a_client_of_the_sdk_talks_to_an_agent_on_acpcore(kind: str) -> None:
    steps = peers.ts_client(SDK, "conversation", peers.acp_agent("--loop", kind))
    check_turns(steps)
    assert answers(steps) == [{}, {}, {}]


def test_a_client_of_the_sdk_does_not_mind_a_message_id() -> None:
    """Later drafts want one in the answer to a prompt."""
    steps = peers.ts_client(SDK, "conversation", peers.acp_agent("--message-id"))
    check_turns(steps)
    assert all(isinstance(answer, dict) for answer in answers(steps))


def test_a_client_of_the_sdk_talks_to_the_example_agent() -> None:
    check_commands(peers.ts_client(SDK, "conversation", peers.example_agent(), **COMMANDS))


@pytest.mark.parametrize("kind", LOOPS)
def test_a_client_of_the_sdk_gives_a_request_up(kind: str) -> None:
    steps = peers.ts_client(SDK, "cancelRequest", peers.acp_agent("--loop", kind))
    assert named(steps, "wait")["error"]["code"] == -32800
    assert named(steps, "list")["result"] == {"sessions": []}
    assert named(steps, "exit")["code"] == 0


@pytest.mark.parametrize("kind", LOOPS)
def test_a_client_of_the_sdk_sends_batches(kind: str) -> None:
    steps = peers.ts_client(SDK, "batch", peers.acp_agent("--loop", kind))
    batch = named(steps, "batch")
    assert (batch["first"], batch["second"]) == ({"sessions": []}, {"n": 1})
    assert sorted(batch["wire"]) == ["answer 1", "answer 2", "array"]
    assert named(steps, "quiet")["wire"] == ["answer 3"]  # and nothing for the batch of notifications
