"""Connecting, serving, being an agent on stdio: the ways to get a connection."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from ends import on_both_loops, request, result, turns, until, with_peer, within

import acpcore
from acpcore import Connection, ConnectionClosed, Handlers, Request, UsageError, connect, schema, serve, spawn, stdio
from acpcore.opening import Server

ROOT = Path(__file__).resolve().parent.parent


def echo() -> Handlers:
    handlers = Handlers()

    @handlers.on("echo")
    async def serve_echo(asked: Request) -> Any:
        await asked.conn.notify("session/update", {"sessionId": "s1", "before": True})
        return asked.params

    return handlers


async def try_out(conn: Connection, n: int = 1) -> None:
    assert await within(conn.request("echo", {"n": n})) == {"n": n}


@on_both_loops
async def test_many_clients_of_one_server(tmp_path: Path) -> None:
    path = tmp_path / "agent.sock"
    told: list[Connection] = []
    async with serve(echo(), path=path, on_connect=told.append) as server:
        assert server.addresses == [str(path)]

        async def client(n: int) -> None:
            async with connect(path, Handlers()) as conn:
                await asyncio.gather(*(try_out(conn, n * 100 + i) for i in range(10)))

        await asyncio.gather(*(client(n) for n in range(5)))
        await until(lambda: not server.connections)
        assert len(told) == 5 and all(conn.engine.role == "agent" for conn in told)
    assert not path.exists()


@on_both_loops
async def test_over_tcp() -> None:
    async with serve(echo(), port=0) as server:
        host, port = server.addresses[0]
        async with connect(host=host, port=port) as conn:
            await try_out(conn)
            assert len(await within(conn.receive())) == 2


@on_both_loops
async def test_closing_the_server_closes_every_connection(tmp_path: Path) -> None:
    server = serve(echo(), path=tmp_path / "s")
    async with server:
        async with connect(tmp_path / "s", Handlers()) as conn:
            await try_out(conn)
            await within(server.close())
            assert (await within(conn.closed)).reason == "end of input"
        await within(server.close())
    with pytest.raises(OSError, match=r"No such file|refused"):
        await connect(tmp_path / "s").open()


@pytest.mark.parametrize("wait", [0, 1, 2, 3, 5])
@on_both_loops
async def test_closing_the_server_while_somebody_connects(tmp_path: Path, wait: int) -> None:
    async with serve(echo(), path=tmp_path / "s") as server:
        conn = connect(tmp_path / "s", Handlers())
        opening = asyncio.create_task(conn.open())
        await turns(wait)
        await within(server.close())
        await asyncio.wait([opening])
        if opening.exception() is None:
            await within(conn.closed)


@on_both_loops
async def test_what_on_connect_raises_is_reported_and_ends_that_connection(tmp_path: Path) -> None:
    reports: list[Any] = []
    calls: list[Connection] = []

    def on_connect(conn: Connection) -> None:
        calls.append(conn)
        if len(calls) == 1:
            raise LookupError("not you")

    options = {"on_error": lambda error, context: reports.append((type(error), context))}
    async with serve(echo(), path=tmp_path / "s", on_connect=on_connect, **options):
        async with connect(tmp_path / "s", Handlers()) as conn:
            await within(conn.closed)
        async with connect(tmp_path / "s", Handlers()) as conn:
            await try_out(conn)
    assert reports == [(LookupError, "on_connect")]


@on_both_loops
async def test_addresses_that_make_no_sense(tmp_path: Path) -> None:
    for wrong in ({}, {"path": "x", "port": 1}):
        with pytest.raises(UsageError):
            connect(**wrong)
        with pytest.raises(UsageError):
            serve(echo(), **wrong)
    with pytest.raises(FileNotFoundError):
        async with connect(tmp_path / "nobody"):
            pass
    assert Server(echo(), None, {}).addresses == []


AGENT = """
import asyncio, sys
from acpcore import Handlers, run, stdio

handlers = Handlers()

@handlers.on("echo")
async def echo(asked):
    print("a stray line")
    return asked.params

@handlers.on("leave")
def leave(asked):
    asked.reply({"leaving": True})
    asked.conn.start(asked.conn.close())

async def main():
    async with stdio(handlers) as conn:
        reason = await conn.closed
    sys.stderr.write(f"agent: {reason.reason}\\n")

run(main(), uvloop=sys.argv[1] == "uvloop")
"""


def agent(kind: str) -> Connection:
    path = os.pathsep.join([str(ROOT), *(entry for entry in sys.path if entry)])
    env = {**os.environ, "PYTHONPATH": path}
    return spawn([sys.executable, "-X", "dev", "-W", "error", "-c", AGENT, kind], Handlers(), env=env)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@on_both_loops
async def test_an_agent_on_stdio(loop: str) -> None:
    conn = agent(loop)
    async with conn:
        for n in range(5):
            await try_out(conn, n)
    reason = await conn.closed
    assert (reason.exit_code, reason.signal) == (0, None)
    assert reason.stderr_tail == b"a stray line\n" * 5 + b"agent: end of input\n"


@on_both_loops
async def test_an_agent_that_leaves_by_itself() -> None:
    async with agent("asyncio") as conn:
        assert await within(conn.request("leave")) == {"leaving": True}
        reason = await within(conn.closed)
        assert (reason.reason, reason.exit_code) == ("end of input", 0)
        with pytest.raises(ConnectionClosed):
            await conn.request("echo")


# --- run


@pytest.mark.parametrize("uvloop", [None, True, False])
def test_run_gives_the_result_and_winds_up(uvloop: bool | None) -> None:
    left: list[str] = []

    async def for_ever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            left.append("cancelled")

    async def main() -> Any:
        main.task = asyncio.ensure_future(for_ever())  # type: ignore[attr-defined]
        await turns(2)
        return type(asyncio.get_running_loop()).__module__.partition(".")[0]

    assert acpcore.run(main(), uvloop=uvloop) == ("asyncio" if uvloop is False else "uvloop")
    assert left == ["cancelled"]
    with pytest.raises(LookupError):
        acpcore.run(fails(), uvloop=uvloop)


async def fails() -> None:
    raise LookupError


def test_stdio_is_an_agent_and_spawn_a_client() -> None:
    assert stdio(Handlers()).engine.role == "agent"
    assert spawn(["true"]).engine.role == connect("x").engine.role == "client"


# --- profiles


@on_both_loops
async def test_a_profile_says_what_is_accepted() -> None:
    """DRIFT: later drafts refuse batches and null ids, and answer a prompt with the message it became."""
    handlers = Handlers()

    @handlers.on("_t/echo")
    def echo(asked: Request) -> object:
        return asked.params

    later = msgspec.structs.replace(schema.TOLERANT, null_ids=False)
    async with with_peer(handlers, role="agent", profile=later) as (conn, peer):
        peer.send([request(1, "_t/echo")], request(None, "_t/echo"), request(2, "_t/echo"))
        answers = [await peer.line() for _ in range(3)]
        assert [(line["id"], line.get("error", {}).get("code")) for line in answers] == [
            (None, -32600),
            (None, -32600),
            (2, None),
        ]
    async with with_peer(profile=later) as (conn, peer):
        prompt = schema.PromptRequest(session_id="s1", prompt=[schema.TextContent(text="hi")])
        call = asyncio.create_task(conn.request(prompt))
        sent = await peer.line()
        peer.send(result(sent["id"], {"messageId": "m1"}))
        answer = await within(call)
        assert isinstance(answer, schema.later.PromptResponse) and answer.message_id == "m1"


@on_both_loops
async def test_the_default_profile_takes_batches_and_null_ids() -> None:
    handlers = Handlers()
    handlers.on("_t/echo")(lambda asked: asked.params)
    async with with_peer(handlers, role="agent") as (_, peer):
        peer.send([request(1, "_t/echo")], request(None, "_t/echo"))
        assert [line["id"] for line in await peer.line()] == [1]
        assert "result" in await peer.line()
