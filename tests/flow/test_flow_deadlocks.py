"""The deadlocks people met (LOG 45, 55, 70) and their mixtures, each beside a naive peer that does hang."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest
from ends import on_both_loops, until, within
from flow_naive import Handler, Naive
from flow_scale import KIB, MIB, environment, program, scaled

from acpcore import Connection, Handlers, Notification, expand, spawn
from acpcore.transports.socket import SocketTransport

UPDATE = "session/update"
PAD = "x" * (4 * KIB)
COUNT = scaled(512, 4096)  # updates of 4 KiB each way: more than all buffers hold
PAUSE = scaled(1, 5)  # seconds without reading


# --- both kinds of ends


@contextlib.asynccontextmanager
async def acpcore_pair(client: dict[str, Any], agent: dict[str, Any]) -> AsyncIterator[tuple[Any, Any]]:
    here, there = socket.socketpair()
    one = Connection(SocketTransport(here), wrapped(client), role="client")
    async with one, Connection(SocketTransport(there), wrapped(agent), role="agent") as other:
        yield one, other


def wrapped(functions: dict[str, Handler]) -> Handlers:
    handlers = Handlers()
    for method, function in functions.items():
        handlers.on(method)(_handler(function))
    return handlers


def _handler(function: Any) -> Any:
    async def handle(message: Any) -> Any:
        return await function(message.conn, message.params)

    return handle


@contextlib.asynccontextmanager
async def naive_pair(client: dict[str, Any], agent: dict[str, Any]) -> AsyncIterator[tuple[Any, Any]]:
    here, there = socket.socketpair()
    one = Naive(*await asyncio.open_connection(sock=here), client)
    other = Naive(*await asyncio.open_connection(sock=there), agent)
    try:
        yield one, other
    finally:
        await one.stop()
        await other.stop()


async def hangs(work: Awaitable[Any], *peers: Naive) -> bool:
    """Whether it comes to a stop before its end: nothing moves for half a second."""
    task = asyncio.ensure_future(work)
    last = None
    for _ in range(60):
        done, _ = await asyncio.wait([task], timeout=0.5)
        moved = [peer.moved for peer in peers]
        if done or moved == last:
            break
        last = moved
    stuck = not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return stuck


# --- 45: a handler that calls back


async def ask_back(conn: Any, params: Any) -> Any:
    return await conn.request("read", {"path": params["path"]})


async def read(conn: Any, params: Any) -> Any:
    return {"content": params["path"]}


async def asks(agent: Any) -> None:
    assert await agent.request("permission", {"path": "/a"}) == {"content": "/a"}


@on_both_loops
async def test_a_handler_that_calls_back() -> None:
    handlers = {"permission": ask_back}, {"read": read}
    async with acpcore_pair(*handlers) as (_, agent):
        await within(asks(agent))
    async with naive_pair(*handlers) as (client, agent):
        assert await hangs(asks(agent), client, agent)


# --- 55: both sides write and wait


class Echo:
    """Takes updates, answers one in four with one of its own, and asks back in one of 64 if it is told to."""

    def __init__(self, asks: bool = False) -> None:
        self.seen = 0
        self.asks = asks
        self.handlers: dict[str, Any] = {UPDATE: self.take, "echo": self.take, "ask": self.answer}

    async def take(self, conn: Any, params: Any) -> None:
        if params["echo"]:
            return
        self.seen += 1
        if self.seen % 4 == 0:
            await conn.notify(UPDATE, {"pad": PAD, "echo": True, "sessionId": "s1"})
        if self.asks and self.seen % 64 == 0:
            assert await conn.request("ask", {"n": self.seen}) == {"n": self.seen}

    async def answer(self, conn: Any, params: Any) -> Any:
        return params


async def flood(conn: Any) -> None:
    for _ in range(COUNT):
        await conn.notify(UPDATE, {"pad": PAD, "echo": False, "sessionId": "s1"})


async def both_flood(ends: tuple[Any, Any], echoes: tuple[Echo, Echo]) -> None:
    await asyncio.gather(*map(flood, ends))
    await until(lambda: all(echo.seen == COUNT for echo in echoes))


@pytest.mark.parametrize("asks", [False, True], ids=["55", "55 and 45"])
@on_both_loops
async def test_both_sides_flood(asks: bool) -> None:
    echoes = Echo(asks), Echo(asks)
    async with acpcore_pair(echoes[0].handlers, echoes[1].handlers) as ends:
        await within(both_flood(ends, echoes), 50)
    naive = Echo(asks), Echo(asks)
    async with naive_pair(naive[0].handlers, naive[1].handlers) as ends:
        assert await hangs(both_flood(ends, naive), *ends)


@pytest.mark.parametrize("role", ["client", "agent"])
@on_both_loops
async def test_one_end_that_reads_is_enough(role: Any) -> None:
    """Against a naive peer: nobody hangs as long as one of the two reads while it writes."""
    echoes = Echo(), Echo()
    here, there = socket.socketpair()
    async with Connection(SocketTransport(here), wrapped(echoes[0].handlers), role=role) as conn:
        peer = Naive(*await asyncio.open_connection(sock=there), echoes[1].handlers)
        await within(both_flood((conn, peer), echoes), 50)
        await peer.stop()


# --- 70: stderr is full


NOISE = 256 * KIB


async def naive_child() -> tuple[asyncio.subprocess.Process, Naive]:
    """Its stderr is piped and never read."""
    pipe = asyncio.subprocess.PIPE
    command = program("flow_agent.py", "--noise", NOISE)
    child = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment())
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    child.stderr._transport.pause_reading()  # type: ignore[attr-defined]
    return child, Naive(child.stdout, child.stdin, {"_t/back": Echo().answer})


@on_both_loops
async def test_a_full_stderr() -> None:
    said = 0

    def count(data: bytes) -> None:
        nonlocal said
        said += len(data)

    async with spawn(program("flow_agent.py", "--noise", NOISE), env=environment(), on_stderr=count) as conn:
        for n in range(8):
            assert await within(conn.request("_t/echo", {"n": n})) == {"n": n}
    assert said == 8 * NOISE


def test_a_full_stderr_stops_a_naive_host() -> None:
    async def main() -> None:
        child, peer = await naive_child()
        assert await hangs(peer.request("_t/echo", {"n": 1}), peer)
        await peer.stop()
        child.kill()
        child._transport.close()  # type: ignore[attr-defined]
        await child.wait()

    asyncio.run(main())


# --- all of it


class Everything:
    """A client that floods, is flooded, is asked and asks, stops reading for a while, and has a talkative agent."""

    def __init__(self) -> None:
        self.text = 0
        self.handlers = Handlers()
        self.handlers.on(UPDATE)(self.take)
        self.handlers.on("_t/back")(lambda request: request.params)
        self.idle = asyncio.Event()

    async def take(self, event: Notification) -> None:
        update = event.params["update"]
        if update["sessionUpdate"] == "state_update":
            self.idle.set()
            return
        self.text += len(update["content"]["text"])
        if self.text % (64 * 8 * KIB) == 0:
            assert await event.conn.request("_t/ask", {"n": self.text}) == {"n": self.text}

    async def stand_still(self, conn: Connection) -> None:
        await asyncio.sleep(0.1)
        conn.transport.pause_reading()
        await asyncio.sleep(PAUSE)
        conn.transport.resume_reading()

    async def run(self, conn: Connection, size: int) -> None:
        await conn.request("_t/start", {"kind": "text", "size": size, "chunk": 8 * KIB})
        calls = [asyncio.ensure_future(conn.request("_t/ask", {"n": n})) for n in range(10)]
        await asyncio.gather(flood(conn), self.stand_still(conn))
        assert [await call for call in calls] == [{"n": n} for n in range(10)]
        await self.idle.wait()


@on_both_loops
async def test_everything_at_once() -> None:
    client, size = Everything(), scaled(4 * MIB, 64 * MIB)
    async with spawn(program("flow_agent.py", "--noise", NOISE), client.handlers, env=environment()) as conn:
        await within(client.run(conn, size), 50 + PAUSE)
        await until(lambda: client.text == size + COUNT // 8 * 1000)
        assert (await conn.request("_t/report"))["updates"] == COUNT


# --- an answer behind what nobody reads


@on_both_loops
async def test_an_answer_behind_twenty_thousand_updates_over_a_real_pipe() -> None:
    """With the usual limits: the inbox of a host that pulls nothing grows until the answer is there."""
    count = 20_000
    async with spawn(program("flow_agent.py"), env=environment()) as conn:
        answer = await within(conn.request("_t/flood", {"kind": "text", "size": count * 10, "chunk": 10}))
        assert answer == {"sent": count * 10}
        seen = 0
        while seen < count:
            seen += sum(isinstance(event, Notification) for event in expand(await within(conn.receive())))
        assert conn.stats().inbox.peak < conn.engine.limits.inbox_hard
