"""Peers that make noise, fall over or are killed: whoever waits is told why, and nothing stays running."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator
from typing import IO, Any

import peers
import pytest
from conversation import Client, output
from loops import LOOPS, run
from raw import RawClient

from acpcore import Connection, ConnectionClosed, Handlers, spawn
from acpcore.transports.process import ProcessTransport

SDK = "sdk-1.3.0"

pytestmark = pytest.mark.usefixtures("sdks")


@pytest.mark.parametrize("kind", LOOPS)
def test_noise_on_stderr_stays_there(kind: str) -> None:
    """The agent writes more than any pipe holds, and waits until it is read."""
    client, lines = Client(), 2000
    heard = bytearray()

    async def main() -> None:
        agent = spawn(peers.ts_agent(SDK), client.handlers, on_stderr=heard.extend, stderr_tail=4096)
        async with agent as conn:
            await client.initialize(conn, 2)
            assert await conn.request("_interop/noise", {"lines": lines}) == {"lines": lines}
            await client.new()
        closed = await conn.closed
        assert heard.startswith(b"noise 0 #")
        assert heard.count(b"\n") == lines
        assert closed.stderr_tail == heard[-4096:]

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_what_the_agent_cannot_read_it_tells_its_stderr(kind: str) -> None:
    async def main() -> None:
        async with RawClient(peers.example("dual-version-agent.js")) as client:
            await client.initialize()
            client.send(b"not JSON")
            await client.until(lambda: b"Failed to parse JSON message: not JSON" in client.noise)
            assert (await client.call("after", "session/list")).result == {"sessions": []}
            assert len(client.lines) == 2

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_an_agent_that_gives_up_in_a_call(kind: str) -> None:
    async def main() -> None:
        client = Client()
        async with spawn(peers.ts_agent(SDK), client.handlers) as conn:
            await client.initialize(conn, 2)
            with pytest.raises(ConnectionClosed) as closed:
                await conn.request("_interop/exit", {"code": 3})
            assert (closed.value.exit_code, closed.value.signal) == (3, None)
            assert closed.value.stderr_tail == b"giving up\n"
            assert "exit code 3" in str(closed.value)
            assert "giving up" in str(closed.value)
            with pytest.raises(ConnectionClosed):
                await conn.request("session/list", {})

    run(kind, main)


@pytest.mark.parametrize("kind", LOOPS)
def test_an_agent_that_is_killed_in_a_turn(kind: str) -> None:
    """Every call that waits fails with the signal, whoever pulls comes to the end, and the reason stays to be read."""
    first = asyncio.Event()

    async def main() -> None:
        handlers = Handlers()
        transport = ProcessTransport(peers.example("agent.js"))
        async with Connection(transport, handlers, role="client") as conn:
            await conn.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            session_id = (await conn.request("session/new", {"cwd": "/", "mcpServers": []}))["sessionId"]
            prompt = {"sessionId": session_id, "prompt": [{"type": "text", "text": "hello"}]}
            turns = [asyncio.ensure_future(conn.request("session/prompt", prompt)) for _ in range(3)]
            pulled = asyncio.ensure_future(pull(conn, session_id))
            await first.wait()
            assert transport.pid is not None
            os.kill(transport.pid, signal.SIGKILL)
            results = await asyncio.gather(*turns, return_exceptions=True)
            assert await pulled >= 1
            assert [check(error) for error in results] == ["SIGKILL"] * 3
            assert len({id(error) for error in results}) == 3
            assert (await conn.closed).signal == "SIGKILL"
            assert conn.stats().pending_calls == 0
            with pytest.raises(ConnectionClosed) as late:
                await conn.notify("session/cancel", {"sessionId": session_id})
            assert late.value.signal == "SIGKILL"

    async def pull(conn: Connection, session_id: str) -> int:
        count = 0
        async for _ in conn.session(session_id):
            count += 1
            first.set()
        return count

    run(kind, main)


def check(error: Any) -> str | None:
    assert isinstance(error, ConnectionClosed)
    assert error.exit_code is None
    return error.signal


@pytest.mark.parametrize("kind", LOOPS)
def test_an_agent_that_is_killed_while_it_asks(kind: str) -> None:
    """The handler that thinks about the agent's question ends too."""
    client, ended = Client(), asyncio.Event()

    async def think(request: Any) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()

    client.decide = think

    async def main() -> None:
        transport = ProcessTransport(peers.ts_agent(SDK))
        async with Connection(transport, client.handlers, role="client", grace=0.1) as conn:
            await client.initialize(conn, 2)
            await client.new()
            await client.prompt("work")
            await client.until(lambda: client.asked)
            assert transport.pid is not None
            os.kill(transport.pid, signal.SIGKILL)
            assert (await conn.closed).signal == "SIGKILL"
            assert ended.is_set()
            assert output(client.updates) == []

    run(kind, main)


# --- the other way round: the client is killed, and the agent has work in hand


def test_an_agent_ends_its_work_when_its_client_is_killed() -> None:
    """Neither acpcore's example agent nor the command it runs outlives the client."""
    command = ["node", str(peers.HERE / "ts-client.mjs"), SDK, "hold", *peers.example_agent()]
    env = {**os.environ, "WAIT_TEXT": "echo $$; exec sleep 600"}
    with started(command, env) as (process, stdout):
        step = next(step for line in stdout if (step := json.loads(line))["step"] == "holding")
        with watched(step["agent"]) as agent, watched(int(step["output"])) as work:
            process.kill()
            assert ended(agent, work)


@contextlib.contextmanager
def started(command: list[str], env: dict[str, str]) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert process.stdout is not None
        yield process, process.stdout
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def watched(pid: int) -> Iterator[int]:
    """A descriptor that becomes readable when the process, which is no child of ours, has ended."""
    fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        os.close(fd)


def ended(*fds: int, timeout: int = 20_000) -> bool:
    """Whether all of them end in time (milliseconds for each)."""
    for fd in fds:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        if not poll.poll(timeout):
            return False
    return True
