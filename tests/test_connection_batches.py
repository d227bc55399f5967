"""Batches with handlers: entries as if on lines of their own, one array of answers. And a loop that gets its turn."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from ends import (
    encode,
    error,
    on_both_loops,
    request,
    result,
    terminal,
    text_of,
    turns,
    until,
    update,
    with_peer,
    within,
)
from traces import Trace, n, r

from acpcore import Handlers, Limits, Request, TerminalBytes

# --- batches


@on_both_loops
async def test_a_batch_runs_as_lines_of_their_own_and_is_answered_by_one_array() -> None:
    trace = Trace()
    async with with_peer(trace.handlers(), role="agent") as (_, peer):
        batch = [n("1"), r("x", "x"), 5, r("y", "y"), n("2"), request("z", "missing")]
        peer.send(encode(batch), r(9, "after"))
        await trace.has("+1")
        await turns()
        assert trace.log == ["+1"]
        for name in ("1", "2", "y", "after"):
            trace.gate(name).set()
        assert (await peer.line())["id"] == 9
        assert peer.rest() == []
        trace.gate("x").set()
        answers = await peer.line()
        assert sorted(str(one["id"]) for one in answers) == ["None", "x", "y", "z"]
        codes = {one["id"]: one.get("error", {}).get("code") for one in answers}
        assert codes == {None: -32600, "x": None, "y": None, "z": -32601}


@on_both_loops
async def test_answers_in_a_batch_end_their_calls() -> None:
    async with with_peer(Handlers()) as (conn, peer):
        calls = [asyncio.create_task(conn.request("_t/call")) for _ in range(3)]
        await peer.lines(3)
        peer.send(encode([result(2, 2), result(0, 0), error(1, 5)]))
        done = await within(asyncio.gather(*calls, return_exceptions=True))
        assert (done[0], done[2]) == (0, 2) and getattr(done[1], "code", None) == 5


@on_both_loops
async def test_a_batch_whose_answers_fill_the_outbox_while_one_of_its_handlers_sends() -> None:
    """Answers that wait for the rest of their batch must not keep that rest from coming."""
    handlers = Handlers()
    handlers.on("big")(lambda asked: {"pad": "x" * 100_000})

    @handlers.on("sends")
    async def sends(asked: Request) -> None:
        for count in range(20):
            await asked.conn.notify("session/update", {"sessionId": "s1", "n": count, "pad": "x" * 9000})

    async with with_peer(handlers, role="agent") as (_, peer):
        peer.send(encode([request(1, "big"), request(2, "sends")]))
        lines = await peer.lines(21)
        assert [line["params"]["n"] for line in lines[:20]] == list(range(20))
        assert sorted(one["id"] for one in lines[20]) == [1, 2]


# --- the loop


@pytest.mark.parametrize("how", ["function", "coroutine"])
@on_both_loops
async def test_a_flood_of_notifications_lets_the_loop_turn(how: str) -> None:
    """LOG 56: other work goes on while thousands of handlers run."""
    seen, ticks = 0, 0
    handlers = Handlers()

    def handle(message: Any) -> None:
        nonlocal seen
        seen += 1
        sum(range(3000))

    async def handle_as_coroutine(message: Any) -> None:
        handle(message)

    handlers.on("n")(handle if how == "function" else handle_as_coroutine)
    async with with_peer(handlers, capacity=1 << 20, limits=Limits.bulk()) as (_, peer):

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 0 < seen < 5000

        task = asyncio.create_task(tick())
        peer.send(*(n("x") for _ in range(5000)))
        await until(lambda: seen == 5000)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert ticks > 0


@on_both_loops
async def test_groups_reach_their_handlers_in_wire_order() -> None:
    """Terminal bytes and updates are joined on the way, and taken apart for a handler that wants messages."""
    log: list[Any] = []
    handlers = Handlers()
    handlers.on("session/update")(lambda event: log.append(text_of(event)))
    handlers.on(TerminalBytes)(lambda event: log.append(event.data))
    async with with_peer(handlers) as (_, peer):
        peer.send(update("1"), update("2"), terminal("YQ=="), terminal("Yg=="), update("3"))
        await turns()
        assert log == ["1", "2", b"ab", "3"]
