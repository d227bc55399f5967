"""PyPI agent-client-protocol 1.0.0rc3, which speaks a later draft. Where it differs from alpha.2, a test says so."""

from __future__ import annotations

import peers
import pytest
from conversation import Client, converse
from loops import LOOPS, run
from raw import RawClient, request
from steps import COMMANDS, answers, check_commands, check_turns, named

from acpcore import RemoteError

pytestmark = pytest.mark.slow  # its environment is made first


# --- an acpcore client and an agent on the SDK


@pytest.mark.parametrize(("kind", "terminal_events"), [("asyncio", False), ("uvloop", True)])
def test_a_conversation(kind: str, terminal_events: bool, rc3: str) -> None:
    client = Client(terminal_events=terminal_events)

    async def main() -> None:
        async with client.spawn(peers.py_agent(rc3)) as conn:
            assert (await client.initialize(conn, 2)).protocol_version == 2
            await converse(client)
            with pytest.raises(RemoteError) as unknown:
                await conn.request("_interop/unknown", {})
            assert unknown.value.code == -32601
        assert (await conn.closed).exit_code == 0
        assert conn.stats().bad_frames == 0

    run(kind, main)


# --- where it differs


@pytest.mark.parametrize("kind", LOOPS)
def test_the_version_must_be_two(kind: str, rc3: str) -> None:
    """(At alpha.2 the agent answers with the version it speaks.)"""

    async def main() -> None:
        client = Client()
        async with client.spawn(peers.py_agent(rc3)) as conn:
            with pytest.raises(RemoteError) as refused:
                await client.initialize(conn, 65535)
            assert refused.value.code == -32602
            assert refused.value.data == {"expectedProtocolVersion": 2, "receivedProtocolVersion": 65535}
            assert conn.protocol_version is None

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_batches_and_noise_are_ignored(kind: str, rc3: str) -> None:
    """It tells its stderr and answers nothing, not even an empty batch. Ids of ``null`` it echoes."""

    async def main() -> None:
        async with RawClient(peers.py_agent(rc3)) as client:
            await client.initialize()
            client.engine.expect("a")
            client.send([], [request("a", "session/list")], b"not JSON", request(None, "session/list"))
            _, null = await client.until_lines(2)
            assert null == {"jsonrpc": "2.0", "id": None, "result": {"sessions": []}}
            await client.call("after", "session/list")
            assert len(client.lines) == 3
            await client.until(lambda: client.noise.count(b"Ignoring non-object") == 2)
            assert b"Error parsing JSON-RPC message" in client.noise

    run(kind, main)


# --- a client on the SDK and agents on acpcore


def test_a_client_needs_a_message_id_in_the_answer_to_a_prompt(rc3: str) -> None:
    """An agent of alpha.2 answers ``{}``, which this client takes for a failure; the turn goes on all the same."""
    steps = peers.py_client(rc3, "conversation", peers.acp_agent("--loop", "asyncio"))
    check_turns(steps)
    assert answers(steps) == ["ValidationError"] * 3


def test_a_client_is_content_with_an_agent_that_gives_one(rc3: str) -> None:
    steps = peers.py_client(rc3, "conversation", peers.acp_agent("--loop", "uvloop", "--message-id"))
    check_turns(steps)
    assert answers(steps) == [{"messageId": "user-0"}, {"messageId": "user-15"}, {"messageId": "user-17"}]


def test_a_client_talks_to_the_example_agent(rc3: str) -> None:
    check_commands(peers.py_client(rc3, "conversation", peers.example_agent(), **COMMANDS))


def test_a_client_gives_a_request_up(rc3: str) -> None:
    """It does not wait for the answer, which comes."""
    steps = peers.py_client(rc3, "cancelRequest", peers.acp_agent())
    assert (named(steps, "wait")["cancelled"], named(steps, "wait")["code"]) == (True, -32800)
    assert named(steps, "list")["result"] == {"sessions": []}
    assert named(steps, "exit")["code"] == 0
