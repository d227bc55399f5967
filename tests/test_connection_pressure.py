"""Pressure: who is slow stops the other side, memory stays bounded, and nothing hangs in silence."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from ends import (
    KIB,
    SMALL,
    encode,
    notification,
    on_both_loops,
    pair,
    request,
    run_often,
    socket_pair,
    terminal,
    turns,
    until,
    update,
    with_peer,
    within,
)
from hypothesis import given
from hypothesis import strategies as st
from loops import LOOPS

from acpcore import (
    Budget,
    Connection,
    Handlers,
    Limits,
    Notification,
    Request,
    TerminalBytes,
    UsageError,
    expand,
)

READ = 4 * KIB
LINE = 1 * KIB  # no line is longer here, but where a test says so


def bounded(conn: Connection, more: int = 0) -> bool:
    """The inbox went beyond its high mark by one read and one line at the most."""
    limits = conn.engine.limits
    return conn.stats().inbox.peak < limits.inbox_high + READ + LINE + more


# --- a slow consumer


@pytest.mark.parametrize("how", ["coroutine", "function", "pull", "batch", "stream"])
@on_both_loops
async def test_a_slow_consumer_stops_the_sender(how: str) -> None:
    """LOG 53 and 61: nothing lost, nothing closed, the peer slows down, memory is bounded on both sides."""
    seen: list[int] = []
    handlers = Handlers()

    async def slow(event: Any) -> None:
        await asyncio.sleep(0)
        seen.append(event.params["n"])

    handlers.on("n")(slow if how == "coroutine" else lambda event: seen.append(event.params["n"]))
    handled = handlers if how in ("coroutine", "function") else None
    options = {"limits": SMALL}
    async with pair(handled, None, capacity=2 * KIB, client=options, agent=options) as (client, agent):
        stream = client.session("s1") if how == "stream" else None

        async def send() -> None:
            for n in range(2000):
                await agent.notify("n", {"n": n, "sessionId": "s1", "pad": "x" * 200}, bulk=True)
            await agent.flush()

        sending = asyncio.create_task(send())
        if handled is None:
            await until(lambda: agent.stats().outbox.times and client.stats().inbox.times)
            assert not sending.done()
            assert client.stats().inbox.used >= SMALL.inbox_high
        while len(seen) < 2000:
            if stream is not None:
                seen.append((await within(anext(stream))).params["n"])
            elif how == "pull":
                seen.append((await within(anext(aiter(client)))).params["n"])
            elif how == "batch":
                seen += [event.params["n"] for event in await within(client.receive(50, 0.001))]
            else:
                await asyncio.sleep(0.001)
        await within(sending)
        assert seen == list(range(2000))
        assert bounded(client) and agent.stats().outbox.peak < SMALL.outbox_high + LINE
        assert agent.stats().outbox.times > 0 or how in ("coroutine", "function")


@on_both_loops
async def test_a_frame_larger_than_every_mark_passes_an_empty_gate() -> None:
    """LOG 54: saturation means waiting, not closing."""
    async with pair(None, None, capacity=2 * KIB, client={"limits": SMALL}, agent={"limits": SMALL}) as (client, agent):
        pads = [40 * KIB, 10, 30 * KIB, 200 * KIB]

        async def send() -> None:
            for size in pads:
                await agent.notify("session/update", {"pad": "x" * size})

        sending = asyncio.create_task(send())
        got: list[int] = []
        while len(got) < len(pads):
            got += [len(event.params["pad"]) for event in expand(await within(client.receive()))]  # type: ignore[attr-defined]
        assert got == pads
        await within(sending)


@on_both_loops
async def test_terminal_output_counts_until_it_is_handled() -> None:
    gate, total = asyncio.Event(), 0
    handlers = Handlers()

    @handlers.on(TerminalBytes)
    async def slow(event: TerminalBytes) -> None:
        nonlocal total
        await gate.wait()
        total += len(event.data)

    async with with_peer(handlers, limits=SMALL, capacity=4 * KIB) as (conn, peer):
        peer.send(*(terminal("QUJD" * 100) for _ in range(400)))
        await until(lambda: conn.stats().inbox.times)
        await turns()
        assert total == 0 and conn.stats().inbox.used >= SMALL.inbox_high
        gate.set()
        await until(lambda: total == 400 * 300)
        assert bounded(conn)
        await turns()
        assert conn.stats().inbox.used == 0


@on_both_loops
async def test_the_gate_opens_at_the_low_mark_and_reading_goes_on() -> None:
    async with with_peer(limits=SMALL, capacity=1 * KIB) as (conn, peer):
        peer.send(*(notification("n", n=n, pad="x" * 100) for n in range(400)))
        await until(lambda: conn.stats().inbox.times)
        await turns()
        read = conn.stats().bytes_in
        await conn.receive(5)
        await turns()
        assert conn.stats().bytes_in == read, "above the low mark nothing is read"
        count = 5
        while count < 400:
            count += len(await within(conn.receive(20)))
            await turns(40)
        assert conn.stats().inbox.times > 3 and conn.stats().inbox.seconds > 0


@on_both_loops
async def test_an_agent_reads_on_past_the_high_mark_and_stops_at_the_hard_cap() -> None:
    """R6: one direction always drains."""
    async with with_peer(role="agent", limits=SMALL, capacity=4 * KIB) as (conn, peer):
        peer.send(*(notification("n", pad="x" * 500) for _ in range(1000)))
        await until(lambda: conn.stats().inbox.used >= SMALL.inbox_hard)
        await turns()
        assert conn.stats().inbox.used < SMALL.inbox_hard + READ + LINE
        count = 0
        while count < 1000:
            count += len(await within(conn.receive()))


# --- the doors


@on_both_loops
async def test_the_bulk_door_is_a_queue() -> None:
    async with with_peer(limits=SMALL, capacity=100) as (conn, peer):
        peer.stop_reading()
        await conn.notify("session/update", {"n": -1, "pad": "x" * 9000})
        sends = [asyncio.create_task(conn.notify("session/update", {"n": n})) for n in range(100)]
        await turns()
        assert not any(task.done() for task in sends) and not conn.try_notify("session/update", {"n": "no"})
        peer.read_on()
        assert [line["params"]["n"] for line in await peer.lines(101)] == list(range(-1, 100))
        await within(asyncio.gather(*sends))
        assert conn.try_notify("session/update", {"n": "yes"})
        assert (await peer.line())["params"]["n"] == "yes"


@on_both_loops
async def test_control_does_not_wait_behind_bulk() -> None:
    async with with_peer(role="agent", limits=SMALL, capacity=100) as (conn, peer):
        peer.send(request(7, "r"))
        [asked] = await within(conn.receive())
        peer.stop_reading()
        await conn.notify("session/update", {"pad": "x" * 9000})
        waiting = asyncio.create_task(conn.notify("session/update", {"last": True}))
        await turns()
        assert conn.try_notify("n")
        call = asyncio.create_task(conn.request("q"))
        await turns(2)
        assert isinstance(asked, Request) and asked.reply()
        call.cancel()
        await turns(2)
        peer.read_on()
        lines = [line.get("method", line.get("id")) for line in await peer.lines(6)]
        assert lines == ["session/update", "n", "q", 7, "$/cancel_request", "session/update"]
        await within(waiting)


@on_both_loops
async def test_a_send_that_is_cancelled_at_the_door_is_dropped_whole() -> None:
    async with with_peer(limits=SMALL, capacity=100) as (conn, peer):
        peer.stop_reading()
        await conn.notify("session/update", {"n": -1, "pad": "x" * 9000})
        sends = [asyncio.create_task(conn.notify("session/update", {"n": n})) for n in range(10)]
        await turns()
        for task in sends[::3]:
            task.cancel()
        await turns(2)
        peer.read_on()
        expected = [n for n in range(-1, 10) if n < 0 or n % 3]
        assert [line["params"]["n"] for line in await peer.lines(len(expected))] == expected
        await conn.flush()
        await turns()
        assert peer.rest() == []


@on_both_loops
async def test_waiting_and_giving_up_for_ever_keeps_nothing() -> None:
    async with with_peer(limits=SMALL, capacity=100) as (conn, peer):
        peer.stop_reading()
        await conn.notify("session/update", {"pad": "x" * 9000})
        for _ in range(500):
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(conn.notify("session/update", {"pad": "y" * 1000}), 0)
            sending = asyncio.create_task(conn.notify("session/update", {"pad": "y" * 1000}))
            await asyncio.sleep(0)
            sending.cancel()
        await turns(3)
        assert len(conn.sender.bulk) == 0
        peer.read_on()
        await peer.line()


outgoing = st.lists(
    st.tuples(st.sampled_from(["update", "control", "call", "cancel", "turns"]), st.integers(0, 400)),
    min_size=1,
    max_size=25,
)


@pytest.mark.parametrize("kind", LOOPS)
@given(steps=outgoing, capacity=st.integers(1, 300))
def test_partial_writes_never_cut_or_reorder(kind: str, steps: list[tuple[str, int]], capacity: int) -> None:
    """LOG 62: whatever the pipe takes at a time and whoever gives up, only whole lines, each sender in order."""

    async def main() -> None:
        limits = Limits(outbox_low=50, outbox_high=300, outbox_hard=2000, stall_timeout=60)
        async with with_peer(limits=limits, capacity=capacity) as (conn, peer):
            tasks: list[asyncio.Task[Any]] = []
            for n, (what, size) in enumerate(steps):
                params = {"n": n, "pad": "x" * size}
                if what == "update":
                    tasks.append(asyncio.create_task(conn.notify("session/update", params)))
                elif what == "control":
                    tasks.append(asyncio.create_task(conn.notify("control", params)))
                elif what == "call":
                    tasks.append(asyncio.create_task(conn.request("call", params)))
                elif what == "cancel" and tasks:
                    tasks[size % len(tasks)].cancel()
                else:
                    await turns(size % 5)
            await turns(2)
            await until(lambda: all(task.done() or waits_for_answer(task) for task in tasks))
            await until(lambda: not (len(conn.sender.bulk) or conn.control_waits or conn.stats().outbox.used))
            await conn.flush()
            await until(lambda: len(peer.data) == conn.stats().bytes_out)
            lines = peer.rest()
            for method in ("session/update", "control", "call"):
                numbers = [line["params"]["n"] for line in lines if line["method"] == method]
                assert numbers == sorted(set(numbers))
            for task in tasks:
                task.cancel()

    def waits_for_answer(task: asyncio.Task[Any]) -> bool:
        """A call that was sent waits for an answer that never comes."""
        return "Connection.request" in repr(task.get_coro())

    run_often(kind, main)


@on_both_loops
async def test_seven_bytes_at_a_time() -> None:
    async with pair(None, None, capacity=7) as (client, agent):
        call = asyncio.create_task(client.request("r", {"pad": "x" * 300}))
        [asked] = await within(agent.receive())
        assert isinstance(asked, Request)
        await agent.notify("session/update", {"n": 1})
        asked.reply({"pad": "y" * 300})
        assert await within(call) == {"pad": "y" * 300}
        assert [getattr(event, "method", None) for event in await within(client.receive())] == ["session/update", None]


@on_both_loops
async def test_flush_returns_when_the_transport_has_taken_everything() -> None:
    async with with_peer(capacity=10) as (conn, peer):
        await within(conn.flush())
        peer.stop_reading()
        await conn.notify("n", {"pad": "x" * 500})
        first = asyncio.create_task(conn.flush())
        await turns(3)
        await conn.notify("m", {"pad": "x" * 500})
        second = asyncio.create_task(conn.flush())
        await turns(3)
        assert not first.done() and not second.done()
        first.cancel()
        peer.read_on()
        await within(second)
        assert first.cancelled() and conn.stats().bytes_out == 1102 and conn.stats().outbox.used == 0


@on_both_loops
async def test_a_message_beyond_the_limit_is_refused_before_a_byte_leaves() -> None:
    handlers = Handlers()
    handlers.on("r")(lambda asked: {"pad": "x" * 2000})
    limits = Limits(max_send_frame=1000, outbox_low=10, outbox_high=100)
    async with with_peer(handlers, role="agent", limits=limits, capacity=10, on_error=lambda *_: None) as (conn, peer):
        peer.stop_reading()
        await conn.notify("session/update", {"pad": "x" * 500})
        for refused in (
            lambda: conn.notify("n", {"pad": "x" * 1000}),
            lambda: conn.notify("session/update", {"pad": "x" * 1000}),
            lambda: conn.request("q", {"pad": "x" * 1000}),
            lambda: conn.request("q", {"pad": "x" * 1000}, bulk=True),
        ):
            with pytest.raises(UsageError, match="max_send_frame"):
                await within(refused())
        peer.send(request(1, "r"))
        peer.read_on()
        assert [line.get("error", {}).get("code") for line in await peer.lines(2)] == [None, -32603]
        assert len(conn.sender.bulk) == 0


# --- both directions


@on_both_loops
async def test_both_sides_flood_and_their_handlers_call_back() -> None:
    """LOG 55 and 45: eight MiB each way at the same moment, with calls in the handlers."""
    count, pad = 512, "x" * (16 * KIB)
    seen: dict[str, int] = {"client": 0, "agent": 0}

    def handlers_of(side: str) -> Handlers:
        handlers = Handlers()

        @handlers.on("session/update")
        async def take(event: Notification) -> None:
            assert len(event.params["pad"]) == len(pad)
            if seen[side] % 64 == 0:
                assert await event.conn.request("ask", {"n": seen[side]}) == {"n": seen[side]}
            seen[side] += 1

        handlers.on("ask")(lambda asked: asked.params)
        return handlers

    async def send(conn: Connection) -> None:
        for _ in range(count):
            await conn.notify("session/update", {"sessionId": "s1", "pad": pad})

    async with pair(handlers_of("client"), handlers_of("agent")) as (client, agent):
        await within(asyncio.gather(send(client), send(agent)), 50)
        await until(lambda: seen == {"client": count, "agent": count})


@on_both_loops
async def test_a_peer_that_floods_without_reading_is_heard_while_sends_wait() -> None:
    """LOG 55: reading goes on while writes wait."""
    seen = 0
    handlers = Handlers()

    @handlers.on("n")
    def take(event: Notification) -> None:
        nonlocal seen
        seen += 1

    async with with_peer(handlers, limits=SMALL, capacity=1 * KIB) as (conn, peer):
        peer.stop_reading()
        await conn.notify("session/update", {"pad": "x" * 9000})
        waiting = asyncio.create_task(conn.notify("session/update", {"last": True}))
        peer.send(*(notification("n", pad="x" * 500) for _ in range(500)))
        await until(lambda: seen == 500)
        assert not waiting.done()
        peer.read_on()
        await within(waiting)
        await peer.lines(2)


@on_both_loops
async def test_a_large_answer_to_a_peer_that_does_not_read_keeps_the_loop_turning() -> None:
    """LOG 56."""
    handlers = Handlers()
    handlers.on("big")(lambda asked: {"pad": "x" * (1024 * KIB)})
    transport, there = socket_pair(4096)
    async with Connection(transport, handlers, role="agent") as conn:
        there.send(encode(request(1, "big")))
        await until(lambda: conn.stats().outbox.used > 900 * KIB)
        await turns(200)  # nothing blocks
        data = b""
        loop = asyncio.get_running_loop()
        while not data.endswith(b"\n"):
            data += await within(loop.sock_recv(there, 65536))
        assert len(data) > 1024 * KIB
        there.close()


# --- a budget shared by connections


@on_both_loops
async def test_a_budget_bounds_what_many_connections_hold_together() -> None:
    """Each could take its own high mark; together they stop at the budget's, and whoever holds nothing takes a line."""
    budget = Budget(6 * KIB, 2 * KIB)
    wide = Limits(inbox_low=2 * KIB, inbox_high=64 * KIB, read_size=4 * KIB)
    async with contextlib.AsyncExitStack() as stack:
        ends = [await stack.enter_async_context(with_peer(limits=wide, budget=budget)) for _ in range(4)]
        for _, peer in ends[:3]:
            peer.send(*(update("x" * 500) for _ in range(40)))
        await turns(20)
        assert budget.shut and budget.used < 6 * KIB + 3 * (READ + LINE)
        late, peer = ends[3]
        peer.send(update("late"))
        [event] = await within(late.receive())
        assert b"late" in bytes(event.lines if hasattr(event, "lines") else event.line)
        for conn, _ in ends[:3]:
            seen = 0
            while seen < 40:
                seen += len(list(expand(await within(conn.receive()))))
            assert seen == 40
    assert budget.used == 0 and not budget.shut
