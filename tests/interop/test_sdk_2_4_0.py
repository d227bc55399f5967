"""npm @agentclientprotocol/sdk 2.4.0, which speaks a later draft. Where it differs from 1.3.0, a test says so."""

from __future__ import annotations

from typing import Any

import peers
import pytest
from conversation import Client, converse
from loops import LOOPS, run
from raw import NOTE, RawClient, initialize_params, request
from steps import COMMANDS, answers, check_commands, check_turns, named

from acpcore import Response
from acpcore.schema import PromptRequest, TextContent, later

SDK = "sdk-2.4.0"

pytestmark = pytest.mark.usefixtures("sdks")


def refusal(line: Any) -> tuple[Any, Any]:
    """Whose fault it was, and which."""
    return line["id"], line["error"]["code"]


# --- an acpcore client and an agent on the SDK


@pytest.mark.parametrize(("kind", "terminal_events"), [("asyncio", False), ("uvloop", True)])
def test_a_conversation(kind: str, terminal_events: bool) -> None:
    client = Client(terminal_events=terminal_events)

    async def main() -> None:
        async with client.spawn(peers.ts_agent(SDK)) as conn:
            answer = await client.initialize(conn, 65535)
            assert answer.protocol_version == 2
            await converse(client)
        assert (await conn.closed).exit_code == 0
        assert conn.stats().bad_frames == 0

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_the_answer_to_a_prompt_names_the_message(kind: str) -> None:
    """A later draft's member: there for who asks for it, ignored otherwise (every conversation here shows that)."""
    client = Client()

    async def main() -> None:
        async with client.spawn(peers.ts_agent(SDK)) as conn:
            await client.initialize(conn, 2)
            prompt = PromptRequest(session_id=await client.new(), prompt=[TextContent(text="work")])
            answer = await conn.request(prompt, result=later.PromptResponse)
            turn = await client.over(0)
            assert answer.message_id == turn[0].message_id

    run(kind, main)


# --- where this draft differs


@pytest.mark.parametrize("kind", LOOPS)
def test_batches_are_refused_whole(kind: str) -> None:
    """One error for each, whatever is in it, and nothing of it runs. (1.3.0 runs them.)"""

    async def main() -> None:
        async with RawClient(peers.ts_agent(SDK)) as client:
            await client.initialize()
            call = client.engine.expect("a")
            client.send([], [NOTE], [request("a", "session/new"), NOTE])
            lines = await client.until_lines(4)
            assert [refusal(line) for line in lines[1:]] == [(None, -32600)] * 3
            events = client.events[1:]
            assert [(event.id, event.matched) for event in events if isinstance(event, Response)] == [(None, False)] * 3
            assert client.engine.pending_calls == [call]
            assert (await client.call("b", "session/list")).result == {"sessions": []}

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_ids_must_be_strings_or_integers(kind: str) -> None:
    """(1.3.0 answers ``null`` with ``null`` and fractions with themselves.)"""

    async def main() -> None:
        async with RawClient(peers.ts_agent(SDK)) as client:
            await client.initialize()
            client.send(request(None, "session/list"), request(1.5, "session/list"))
            lines = await client.until_lines(3)
            assert [refusal(line) for line in lines[1:]] == [(None, -32600)] * 2
            assert (await client.call("s", "session/list")).id == "s"
            assert (await client.call(2**53 - 1, "session/list")).id == 2**53 - 1

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_noise_is_answered(kind: str) -> None:
    """(1.3.0 tells its stderr.)"""

    async def main() -> None:
        async with RawClient(peers.ts_agent(SDK)) as client:
            await client.initialize()
            client.send(b"not JSON", b"17", b" \t\r")
            lines = await client.until_lines(3)
            assert [refusal(line) for line in lines[1:]] == [(None, -32700), (None, -32600)]
            assert (await client.call("after", "session/list")).result == {"sessions": []}
            assert len(client.lines) == 4

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_nothing_may_follow_initialize_before_its_answer(kind: str) -> None:
    """So a client must wait for it. Once it is answered, and something else was asked, it may not come again."""

    async def main() -> None:
        async with RawClient(peers.ts_agent(SDK)) as client:
            client.send(request("early", "session/list"))
            assert refusal((await client.until_lines(1))[0]) == ("early", -32600)
            initialize = request("init", "initialize", initialize_params(2))
            initialized, pipelined = await client.calls(initialize, request("pipelined", "session/list"))
            assert initialized.result["protocolVersion"] == 2
            assert pipelined.error is not None
            assert pipelined.error.code == -32600
            assert (await client.call("after", "session/list")).result == {"sessions": []}
            again = await client.call("again", "initialize", initialize_params(2))
            assert again.error is not None
            assert again.error.code == -32600

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_a_version_below_all_it_speaks_is_an_error(kind: str) -> None:
    """(At alpha.2 the agent answers with the version it speaks.) The client may try again."""

    async def main() -> None:
        async with RawClient(peers.ts_agent(SDK)) as client:
            refused = await client.call(1, "initialize", initialize_params(1))
            assert refused.error is not None
            assert (refused.error.code, refused.error.data["supported"]) == (-32022, [2])
            assert (await client.initialize(2)).result["protocolVersion"] == 2

    run(kind, main)


# --- a client on the SDK and agents on acpcore


def test_a_client_needs_a_message_id_in_the_answer_to_a_prompt() -> None:
    """An agent of alpha.2 answers ``{}``, which this client takes for a failure; the turn goes on all the same."""
    steps = peers.ts_client(SDK, "conversation", peers.acp_agent("--loop", "asyncio"))
    check_turns(steps)
    assert answers(steps) == ["ZodError"] * 3


def test_a_client_is_content_with_an_agent_that_gives_one() -> None:
    steps = peers.ts_client(SDK, "conversation", peers.acp_agent("--loop", "uvloop", "--message-id"))
    check_turns(steps)
    assert answers(steps) == [{"messageId": "user-0"}, {"messageId": "user-15"}, {"messageId": "user-17"}]


def test_a_client_talks_to_the_example_agent() -> None:
    check_commands(peers.ts_client(SDK, "conversation", peers.example_agent(), **COMMANDS))


def test_a_client_gives_a_request_up() -> None:
    steps = peers.ts_client(SDK, "cancelRequest", peers.acp_agent())
    assert named(steps, "wait")["error"]["code"] == -32800
    assert named(steps, "list")["result"] == {"sessions": []}
    assert named(steps, "exit")["code"] == 0
