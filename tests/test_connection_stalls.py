"""Standing still: what is granted while an answer is owed, and how a hard cap ends in words."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from ends import (
    KIB,
    SMALL,
    Peer,
    encode,
    on_both_loops,
    request,
    result,
    turns,
    until,
    update,
    with_peer,
    within,
)

from acpcore import (
    Connection,
    ConnectionClosed,
    Handlers,
    Limits,
    Notification,
    Overrun,
    Request,
    UsageError,
    expand,
    watch,
)

READ = 4 * KIB
LINE = 1 * KIB  # no line is longer here, but where a test says so


def bounded(conn: Connection, more: int = 0) -> bool:
    """The inbox went beyond its high mark by one read and one line at the most."""
    limits = conn.engine.limits
    return conn.stats().inbox.peak < limits.inbox_high + READ + LINE + more


# --- an answer that is owed (R5)


FLOOD = 20_000
GROWS = Limits(inbox_low=2 * KIB, inbox_high=16 * KIB, read_size=16 * KIB)


def flood(peer: Peer, answer: int) -> None:
    peer.send(*(update(str(n)) for n in range(FLOOD)), result(answer, {"fine": True}))


@pytest.mark.parametrize("how", ["pulling", "a function"])
@on_both_loops
async def test_an_answer_behind_twenty_thousand_updates_that_nobody_takes_returns(how: str) -> None:
    handlers = Handlers()
    release = asyncio.Event()

    @handlers.on("session/update")
    async def stands_still(event: Notification) -> None:
        await release.wait()

    async with with_peer(None if how == "pulling" else handlers, limits=GROWS) as (conn, peer):
        call = asyncio.create_task(conn.request("q"))
        await peer.line()
        flood(peer, 0)
        assert await within(call) == {"fine": True}
        release.set()
        count = 0
        while how == "pulling" and count <= FLOOD:
            count += len(list(expand(await within(conn.receive()))))
        await until(lambda: conn.stats().inbox.used == 0 or how == "pulling")


@pytest.mark.parametrize("how", ["a call", "a door"])
@on_both_loops
async def test_an_answer_behind_a_handler_that_is_known_to_wait_returns(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once. It is asked for by the handler itself, or by another task while the handler stands at a door."""
    monkeypatch.setattr(watch, "TICK", 3600)
    handlers = Handlers()
    got: list[Any] = []

    @handlers.on("session/update")
    async def waits(event: Notification) -> None:
        if not got:
            got.append("begun")
            if how == "a call":
                got.append(await event.conn.request("q"))
            else:
                await event.conn.notify("session/update", {"last": True})

    async with with_peer(handlers, limits=GROWS) as (conn, peer):
        call = None
        if how == "a door":
            call = asyncio.create_task(conn.request("q"))
            await peer.line()
            peer.stop_reading()
            await conn.notify("session/update", {"pad": "x" * 200_000})
        peer.send(update("first"))
        await until(lambda: got)
        flood(peer, 0)
        if call is None:
            await until(lambda: len(got) == 2)
            assert got[1] == {"fine": True}
        else:
            assert await within(call) == {"fine": True}
            peer.read_on()
        await until(lambda: conn.stats().inbox.used == 0)


@on_both_loops
async def test_without_an_answer_owed_nothing_is_granted() -> None:
    async with with_peer(limits=SMALL, capacity=1 * KIB) as (conn, peer):
        peer.send(*(update(str(n)) for n in range(2000)))
        await until(lambda: conn.stats().inbox.times)
        await asyncio.sleep(0.3)
        assert bounded(conn)


@on_both_loops
async def test_a_host_that_works_gets_no_more_than_the_high_mark() -> None:
    """An answer is owed for the whole flood, but the host goes on: the inbox does not grow."""
    seen = 0
    handlers = Handlers()

    @handlers.on("session/update")
    async def handle(event: Notification) -> None:
        nonlocal seen
        await asyncio.sleep(0)
        seen += 1

    async with with_peer(handlers, limits=SMALL, capacity=4 * KIB) as (conn, peer):
        call = asyncio.create_task(conn.request("session/resume", {"sessionId": "s1"}))
        await peer.line()
        peer.send(*(update("x" * 100) for _ in range(3000)), result(0, {}))
        await within(call, 50)
        assert seen == 3000
        assert conn.stats().inbox.peak < 4 * SMALL.inbox_high


@on_both_loops
async def test_a_host_that_stands_still_at_the_hard_cap_is_named() -> None:
    """The waiting calls fail with an overrun, the connection lives, and nothing is lost."""
    limits = Limits(inbox_low=1 * KIB, inbox_high=4 * KIB, inbox_hard=16 * KIB, read_size=4 * KIB, stall_timeout=0.2)
    seen = 0
    release = asyncio.Event()
    handlers = Handlers()

    @handlers.on("session/update")
    async def stands_still(event: Notification) -> None:
        nonlocal seen
        await release.wait()
        seen += 1

    async with with_peer(handlers, limits=limits) as (conn, peer):
        call = asyncio.create_task(conn.request("q"))
        await peer.line()
        peer.send(*(update("x" * 100) for _ in range(500)), result(0))
        with pytest.raises(Overrun, match="stands_still"):
            await within(call)
        assert not conn.is_closed
        assert (await peer.line())["method"] == "$/cancel_request"
        release.set()
        await until(lambda: seen == 500)
        again = asyncio.create_task(conn.request("q"))
        peer.send(result((await peer.line())["id"], {"n": 1}))
        assert await within(again) == {"n": 1}


@on_both_loops
async def test_a_host_that_pulls_nothing_is_told_so() -> None:
    limits = Limits(inbox_low=1 * KIB, inbox_high=4 * KIB, inbox_hard=16 * KIB, read_size=4 * KIB, stall_timeout=0.2)
    async with with_peer(limits=limits) as (conn, peer):
        call = asyncio.create_task(conn.request("q"))
        await peer.line()
        peer.send(*(update("x" * 100) for _ in range(500)))
        with pytest.raises(Overrun, match="nothing is pulled"):
            await within(call)
        count = 0
        while count < 500:
            count += len(list(expand(await within(conn.receive()))))


@on_both_loops
async def test_a_handler_that_starts_to_wait_after_the_gate_shut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watch runs already: the wait is seen all the same, at once."""
    monkeypatch.setattr(watch, "TICK", 3600)
    handlers = Handlers()
    go_on = asyncio.Event()
    got: list[Any] = []

    @handlers.on("session/update")
    async def handle(event: Notification) -> None:
        if not got:
            await go_on.wait()
            got.append(await event.conn.request("q", {"sessionId": "s1"}))

    async with with_peer(handlers, limits=SMALL, capacity=2 * KIB) as (conn, peer):
        peer.send(*(update("x" * 100) for _ in range(500)))
        await until(lambda: conn.stats().inbox.times)
        go_on.set()
        asked = await peer.line()
        peer.send(result(asked["id"], "late"))
        await until(lambda: got)
        await until(lambda: conn.stats().inbox.used == 0)


# --- the hard cap of the outbox (R3)


def spam(count: int, size: int = 0) -> list[dict[str, Any]]:
    return [request(n, "echo", pad="x" * size) for n in range(count)]


@pytest.mark.parametrize("how", ["function", "coroutine", "pull", "missing"])
@on_both_loops
async def test_a_peer_that_asks_and_never_reads_is_closed_and_told_why(how: str) -> None:
    limits = Limits(outbox_low=1 * KIB, outbox_high=2 * KIB, outbox_hard=8 * KIB, read_size=4 * KIB, stall_timeout=0.2)
    handlers = Handlers()

    async def later(asked: Request) -> Any:
        return asked.params

    if how != "missing":
        handlers.on("echo")(later if how == "coroutine" else lambda asked: asked.params)

    async def host(conn: Connection) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for event in conn:
                if isinstance(event, Request):
                    event.reply(event.params)

    async with with_peer(None if how == "pull" else handlers, role="agent", limits=limits, capacity=1 * KIB) as (
        conn,
        peer,
    ):
        hosting = asyncio.create_task(host(conn)) if how == "pull" else None
        peer.stop_reading()
        peer.send(*spam(3000, 100))
        reason = await within(conn.closed)
        assert "has not read" in reason.reason and reason.unsent > 0
        assert conn.stats().outbox.peak <= limits.outbox_hard + LINE
        assert conn.stats().bytes_in < 100 * KIB, "at the cap reading waits for writing: answers do not pile up"
        if hosting is not None:
            await within(hosting)


@on_both_loops
async def test_answers_of_a_batch_that_do_not_fit_end_the_connection_by_name() -> None:
    handlers = Handlers()
    handlers.on("echo")(lambda asked: {"pad": "x" * 1500})
    limits = Limits(outbox_low=100, outbox_high=500, outbox_hard=2000, stall_timeout=0.2)
    async with with_peer(handlers, role="agent", limits=limits) as (conn, peer):
        peer.send(encode([request(1, "echo"), request(2, "echo")]))
        assert "the answers of a batch" in (await within(conn.closed)).reason


@on_both_loops
async def test_a_peer_that_reads_again_in_time_is_answered() -> None:
    limits = Limits(outbox_low=1 * KIB, outbox_high=2 * KIB, outbox_hard=8 * KIB, read_size=4 * KIB, stall_timeout=60)
    handlers = Handlers()
    handlers.on("echo")(lambda asked: asked.params)
    async with with_peer(handlers, role="agent", limits=limits, capacity=1 * KIB) as (conn, peer):
        peer.stop_reading()
        peer.send(*spam(1000, 100))
        await until(lambda: conn.control_waits)
        await turns(100)
        assert conn.stats().bytes_in < 100 * KIB
        peer.read_on()
        lines = await peer.lines(1000)
        assert sorted(line["id"] for line in lines) == list(range(1000))
        assert conn.stats().open_requests == 0 and not conn.control_waits


@on_both_loops
async def test_an_answer_given_at_the_hard_cap_goes_when_there_is_room() -> None:
    """``reply`` says ``False``, and nothing else is sent in its place."""
    limits = Limits(outbox_low=10, outbox_high=100, outbox_hard=600, stall_timeout=60)
    handlers = Handlers()
    said: list[bool] = []

    @handlers.on("r")
    async def serve(asked: Request) -> None:
        said.append(asked.reply({"n": asked.id, "pad": "x" * 400}))
        with pytest.raises(UsageError):
            asked.reply({"again": True})

    async with with_peer(handlers, role="agent", limits=limits, capacity=10) as (conn, peer):
        peer.stop_reading()
        peer.send(request(1, "r"), request(2, "r"))
        await until(lambda: len(said) == 2)
        assert said == [True, False]
        peer.read_on()
        assert [line["result"]["n"] for line in await peer.lines(2)] == [1, 2]
        await turns()
        assert peer.rest() == [] and conn.stats().open_requests == 0


@on_both_loops
async def test_control_at_the_hard_cap_waits_in_order() -> None:
    limits = Limits(outbox_low=10, outbox_high=100, outbox_hard=600, stall_timeout=60)
    async with with_peer(limits=limits, capacity=10) as (conn, peer):
        peer.stop_reading()
        sends = [asyncio.create_task(conn.notify("n", {"n": n, "pad": "x" * 200})) for n in range(6)]
        calls = [asyncio.create_task(conn.request("q", {"n": n})) for n in range(6, 9)]
        await turns()
        assert sum(task.done() for task in sends) == 2
        peer.read_on()
        lines = await peer.lines(9)
        assert [line["params"]["n"] for line in lines] == list(range(9))
        peer.send(*(result(line["id"]) for line in lines[6:]))
        await within(asyncio.gather(*sends, *calls))
