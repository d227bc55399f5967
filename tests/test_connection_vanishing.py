"""A peer that vanishes, and what is left after any end: nothing."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from ends import (
    notification,
    on_both_loops,
    pair,
    socket_pair,
    turns,
    until,
    with_peer,
    within,
)
from loops import LOOPS

from acpcore import Connection, ConnectionClosed, Handlers, Request, Truncated, UsageError, spawn
from acpcore.transports.memory import memory_pair

ROOT = Path(__file__).resolve().parent.parent


# --- the peer vanishes


@on_both_loops
async def test_a_peer_that_vanishes_in_the_middle_of_a_frame() -> None:
    transport, there = socket_pair()
    async with Connection(transport) as conn:
        call = asyncio.create_task(conn.request("_t/call"))
        await until(lambda: conn.stats().bytes_out)
        there.send(b'{"jsonrpc":"2.0","id":0,"res')
        there.close()
        with pytest.raises(ConnectionClosed):
            await within(call)
        await within(conn.closed)
        assert [type(event) for event in await conn.receive()] == [Truncated]


@pytest.mark.parametrize("handlers", [None, Handlers()], ids=["pulling", "handlers"])
@on_both_loops
async def test_a_peer_that_vanishes_while_a_megabyte_is_on_its_way(handlers: Handlers | None) -> None:
    """LOG 72: the senders learn of it, nothing is raised elsewhere, and later sends fail at once."""
    transport, there = socket_pair(4096)
    reports: list[Any] = []
    async with Connection(transport, handlers, on_error=lambda *report: reports.append(report)) as conn:
        call = asyncio.create_task(conn.request("_t/call", {"pad": "x" * 1_000_000}))
        sends = [asyncio.create_task(conn.notify("session/update", {"sessionId": "a"})) for _ in range(3)]
        flush = asyncio.create_task(conn.flush())
        await until(lambda: conn.stats().bytes_out)
        there.close()
        outcomes = await within(asyncio.gather(call, flush, *sends, return_exceptions=True))
        assert [type(one) for one in outcomes] == [ConnectionClosed] * 5
        reason = await within(conn.closed)
        assert reason.unsent > 500_000
        for _ in range(3):
            with pytest.raises(ConnectionClosed):
                await conn.notify("n")
    assert reports == []


@on_both_loops
async def test_a_peer_that_stops_reading_but_not_sending_is_still_heard() -> None:
    """What it had sent before is delivered, in order, before the end."""
    here, there = memory_pair()
    from ends import Peer

    peer = Peer(there)
    seen: list[int] = []
    handlers = Handlers()
    handlers.on("n")(lambda message: seen.append(message.params["n"]))
    async with Connection(here, handlers) as conn:
        there.start(peer, asyncio.get_running_loop())
        peer.send(*(notification("n", n=n) for n in range(50)))
        there.close()
        await conn.notify("_t/into the void")
        await within(conn.closed)
        assert seen == list(range(50))
    await there.wait_closed()


@on_both_loops
async def test_handlers_that_send_to_a_peer_that_is_gone() -> None:
    reports: list[Any] = []
    handlers = Handlers()

    @handlers.on("r")
    async def serve(asked: Request) -> None:
        while True:
            await asked.conn.notify("session/update", {"sessionId": "a", "pad": "x" * 5000})

    transport, there = socket_pair(4096)
    async with Connection(transport, handlers, role="agent", on_error=lambda error, _: reports.append(error)) as conn:
        there.send(b'{"jsonrpc":"2.0","id":1,"method":"r"}\n')
        await until(lambda: conn.stats().outbox.times)
        there.close()
        await within(conn.closed)
    assert {type(error) for error in reports} <= {ConnectionClosed}


@on_both_loops
async def test_reset_by_the_peer() -> None:
    async with with_peer() as (conn, peer):
        call = asyncio.create_task(conn.request("_t/call"))
        await turns(3)
        peer.transport.abort()
        with pytest.raises(ConnectionClosed):
            await within(call)
        reason = await within(conn.closed)
        assert reason.reason.startswith(("end of input", "connection lost"))


@on_both_loops
async def test_an_agent_that_dies_says_how() -> None:
    """LOG 41 and 75: exit code and stderr are part of the error, for the call and for the owner."""
    script = "import sys; sys.stdin.readline(); sys.stderr.write('no such model\\n'); sys.exit(3)"
    async with spawn([sys.executable, "-c", script]) as conn:
        with pytest.raises(ConnectionClosed) as failure:
            await within(conn.request("initialize", {}))
        reason = await within(conn.closed)
        for one in (failure.value, reason):
            assert (one.exit_code, one.signal, one.stderr_tail) == (3, None, b"no such model\n")
        assert str(failure.value) == "end of input; exit code 3; stderr: no such model"


# --- opening


@on_both_loops
async def test_a_connection_that_cannot_be_opened() -> None:
    async def opener() -> Any:
        raise OSError("nobody there")

    conn = Connection(opener, Handlers())
    with pytest.raises(OSError, match="nobody there"):
        async with conn:
            pass
    assert (await within(conn.closed)).reason == "could not be opened: nobody there"
    assert (await within(conn.close())).reason == "could not be opened: nobody there"
    conn.abort()
    with pytest.raises(ConnectionClosed):
        await conn.request("_t/call")


@on_both_loops
async def test_nothing_can_be_done_while_a_connection_is_being_opened() -> None:
    go_on = asyncio.Event()
    here, there = memory_pair()

    async def opener() -> Any:
        await go_on.wait()
        return here

    conn = Connection(opener)
    opening = asyncio.create_task(conn.open())
    await turns(2)
    for use in (lambda: conn.request("q"), lambda: conn.notify("n"), lambda: conn.receive(), lambda: conn.close()):
        with pytest.raises(UsageError, match="not open"):
            await use()
    for use_now in (lambda: conn.try_notify("n"), lambda: conn.abort(), lambda: conn.closed, lambda: conn.session("s")):
        with pytest.raises(UsageError, match="not open"):
            use_now()
    go_on.set()
    assert await within(opening) is conn
    await conn.notify("n")
    there.close()
    await within(conn.close())


@on_both_loops
async def test_an_opening_that_is_cancelled() -> None:
    async def opener() -> Any:
        await asyncio.Event().wait()

    conn = Connection(opener, Handlers())
    opening = asyncio.create_task(conn.open())
    await turns(2)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert (await within(conn.close())).reason.startswith("could not be opened")


@on_both_loops
async def test_a_transport_that_refuses_to_start() -> None:
    here, there = memory_pair()
    here.close()
    conn = Connection(here)
    with pytest.raises(UsageError):
        await conn.open()
    assert (await within(conn.close())).reason.startswith("could not be opened")
    there.close()


# --- nothing is left


SCRIPT = """
import asyncio, sys
from loops import new_loop
from ends import pair, with_peer, update, request, notification, turns, socket_pair
from acpcore import Connection, Handlers

async def serve(asked):
    await asked.conn.notify("session/update", {"sessionId": "s1", "pad": "x" * 1000})
    await asyncio.sleep(0.01)

async def main():
    for _ in range(3):
        handlers = Handlers()
        handlers.on("*")(serve)
        async with pair(handlers, handlers) as (client, agent):
            calls = [asyncio.ensure_future(client.request("r", {"sessionId": "s1"})) for _ in range(5)]
            client.start(asyncio.wait([client.start(client.notify("n"))]))
            client.start(asyncio.sleep(100))
            await turns(4)
            calls[0].cancel()
            conn = client.session("s1")
            await client.receive(max_wait=0) if client.runner is None else None
        await asyncio.wait(calls)
        [call.exception() for call in calls if not call.cancelled()]
        transport, there = socket_pair()
        async with Connection(transport, handlers) as conn:
            there.send(b'{"jsonrpc":"2.0","id":1,"method":"r"}\\n')
            await turns(3)
            there.close()

loop = new_loop(sys.argv[1])
loop.run_until_complete(main())
assert not asyncio.all_tasks(loop)
loop.close()
print("done")
"""


@pytest.mark.parametrize("kind", LOOPS)
def test_no_warning_in_development_mode(kind: str) -> None:
    """Tasks, coroutines, descriptors: what is left behind is told on stderr."""
    path = os.pathsep.join([str(ROOT / "tests"), *(entry for entry in sys.path if entry)])
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(SCRIPT), kind],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("done\n", "", 0)


@on_both_loops
async def test_many_connections_leave_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    for n in range(30):
        handlers = Handlers()
        handlers.on("r")(lambda asked: {"n": 1})
        async with pair(handlers if n % 2 else None, handlers) as (client, _):
            assert await within(client.request("r")) == {"n": 1}
            if n % 3 == 0:
                client.abort()
    gc.collect()
    assert caplog.text == ""
    assert len(asyncio.all_tasks()) <= 2  # this one and, perhaps, the one that limits its time
