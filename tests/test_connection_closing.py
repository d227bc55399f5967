"""The end, in every way it can come: once, with a reason, without leftovers, and without losing what was read."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
from ends import (
    notification,
    on_both_loops,
    request,
    result,
    turns,
    until,
    update,
    with_peer,
    within,
)

from acpcore import Connection, ConnectionClosed, Handlers, Limits, Request, Truncated

ROOT = Path(__file__).resolve().parent.parent


def waiting_handler(started: asyncio.Event) -> Handlers:
    """Requests ``r`` that never return."""
    handlers = Handlers()

    @handlers.on("r")
    async def serve(asked: Request) -> None:
        started.set()
        await asyncio.Event().wait()

    return handlers


# --- the peer ends its output


@pytest.mark.parametrize("handlers", [None, Handlers()], ids=["pulling", "handlers"])
@on_both_loops
async def test_end_of_input_is_told_once_and_to_everybody(handlers: Handlers | None) -> None:
    """LOG 68: as an awaitable and as a callback."""
    told: list[ConnectionClosed] = []
    async with with_peer(handlers, on_close=told.append) as (conn, peer):
        waiters = [asyncio.ensure_future(conn.closed) for _ in range(3)]
        await turns(2)
        waiters[1].cancel()
        peer.end()
        reasons = await within(asyncio.gather(waiters[0], waiters[2], conn.closed))
        assert [one.reason for one in reasons] == ["end of input"] * 3
        assert conn.is_closed and repr(conn) == "<Connection client closed>"
        assert waiters[1].cancelled()
    assert [one.reason for one in told] == ["end of input"]


@on_both_loops
async def test_running_handlers_may_still_answer_after_the_end_of_input() -> None:
    handlers = Handlers()
    gate = asyncio.Event()

    @handlers.on("r")
    async def serve(asked: Request) -> dict[str, int]:
        await gate.wait()
        await asked.conn.notify("session/update", {"sessionId": "s1", "last": True})
        with pytest.raises(ConnectionClosed, match="end of input"):
            await asked.conn.request("_t/no")
        return {"done": 1}

    async with with_peer(handlers, role="agent") as (conn, peer):
        peer.send(request(1, "r"))
        peer.end()
        await turns()
        assert conn.is_closed and not peer.ended
        gate.set()
        assert [line.get("id") for line in await peer.lines(2)] == [None, 1]
        await peer.until_end()
        assert (await within(conn.closed)).unsent == 0


@on_both_loops
async def test_a_handler_that_waits_at_the_door_when_input_ends_sends_on() -> None:
    handlers = Handlers()

    @handlers.on("r")
    async def serve(asked: Request) -> None:
        for n in range(100):
            await asked.conn.notify("session/update", {"sessionId": "s1", "n": n, "pad": "x" * 100})

    limits = Limits(outbox_low=100, outbox_high=500)
    async with with_peer(handlers, role="agent", limits=limits, capacity=100) as (conn, peer):
        peer.send(request(1, "r"))
        peer.stop_reading()
        peer.end()
        await turns()
        assert conn.is_closed
        peer.read_on()
        lines = await peer.lines(101)
        assert [line["params"]["n"] for line in lines[:100]] == list(range(100)) and lines[100] == result(1)


@on_both_loops
async def test_calls_that_stand_at_a_door_when_input_ends_fail_at_once() -> None:
    """What was sent is still on its way, but nothing can answer them."""
    limits = Limits(outbox_low=10, outbox_high=100, outbox_hard=500, stall_timeout=3600)
    async with with_peer(limits=limits, capacity=10, grace=3600) as (conn, peer):
        peer.stop_reading()
        await conn.notify("n", {"pad": "x" * 400})
        calls = [asyncio.create_task(conn.request("q", bulk=True)) for _ in range(2)]
        await turns()
        peer.end()
        for call in calls:
            with pytest.raises(ConnectionClosed, match="end of input"):
                await within(call)
        peer.read_on()
        assert (await within(conn.closed)).unsent == 0
        assert [line["method"] for line in peer.rest()] == ["n"]


@on_both_loops
async def test_handlers_have_a_grace_time_and_not_longer(caplog: pytest.LogCaptureFixture) -> None:
    started = asyncio.Event()
    async with with_peer(waiting_handler(started), role="agent", grace=0.05) as (conn, peer):
        peer.send(request(1, "r"))
        await within(started.wait())
        peer.end()
        reason = await within(conn.closed)
        assert reason.reason == "end of input"
        assert (await peer.line())["error"]["code"] == -32800
    assert "after the end of input" in caplog.text


@pytest.mark.parametrize("sync", [True, False])
@on_both_loops
async def test_nothing_that_was_read_before_the_end_is_lost(sync: bool) -> None:
    """Slow handlers after the end of input all run, each of them within the grace time."""
    seen: list[int] = []
    handlers = Handlers()

    def quick(message: Any) -> None:
        seen.append(message.params["n"])
        sum(range(20_000))

    async def slow(message: Any) -> None:
        await asyncio.sleep(0.01)
        seen.append(message.params["n"])

    handlers.on("n")(quick if sync else slow)
    count = 300 if sync else 30
    grace = 20.0 if sync else 0.15  # all of the slow ones together take longer than that
    async with with_peer(handlers, grace=grace) as (conn, peer):
        peer.send(*(notification("n", n=n, sessionId="a") for n in range(count)))
        peer.end()
        started = asyncio.get_running_loop().time()
        await within(conn.closed)
        assert seen == list(range(count))
        assert asyncio.get_running_loop().time() - started < 15, "it does not wait when nothing runs any more"


@on_both_loops
async def test_answers_that_were_read_before_the_end_reach_their_calls() -> None:
    gate = asyncio.Event()
    handlers = Handlers()

    @handlers.on("n")
    async def hold(message: Any) -> None:
        await gate.wait()

    async with with_peer(handlers) as (conn, peer):
        calls = [asyncio.create_task(conn.request("_t/call", {"sessionId": "a"})) for _ in range(2)]
        await peer.lines(2)
        peer.send(notification("n", sessionId="a"), result(0, "in time"))
        peer.end()
        with pytest.raises(ConnectionClosed):
            await within(calls[1])
        gate.set()
        assert await within(calls[0]) == "in time"


@on_both_loops
async def test_answers_are_handed_over_even_when_the_handler_in_front_never_returns() -> None:
    handlers = Handlers()

    @handlers.on("n")
    async def hold(message: Any) -> None:
        await asyncio.Event().wait()

    async with with_peer(handlers) as (conn, peer):
        call = asyncio.create_task(conn.request("_t/call", {"sessionId": "a"}))
        await peer.line()
        peer.send(notification("n", sessionId="a"), result(0, "in time"))
        await turns()
        await conn.close()
        assert await within(call) == "in time"


@on_both_loops
async def test_pulled_what_was_read_can_be_pulled_after_the_end() -> None:
    async with with_peer() as (conn, peer):
        peer.send(notification("n", n=1), notification("n", n=2), b'{"cut')
        peer.end()
        await within(conn.closed)
        events = [event async for event in conn]
        assert [getattr(event, "method", type(event)) for event in events] == ["n", "n", Truncated]
        assert await conn.receive() == []


@on_both_loops
async def test_pulled_requests_may_be_answered_after_the_end_of_input() -> None:
    """A host that pulls has the grace time too."""
    async with with_peer(role="agent") as (conn, peer):
        peer.send(request(1, "r"), request(2, "r"))
        peer.end()
        await turns()
        async for event in conn:
            assert isinstance(event, Request)
            event.reply({"id": event.id})
            if event.id == 2:
                break
        assert [line["id"] for line in await peer.lines(2)] == [1, 2]
        await peer.until_end()
        await within(conn.closed)


@on_both_loops
async def test_pulled_requests_that_cannot_be_answered_do_not_hold_up_the_end_at_all() -> None:
    async with with_peer(role="agent", grace=3600) as (conn, peer):
        peer.send(request(1, "r"))
        peer.end()
        await turns()
        assert not conn.transport.outcome.error  # type: ignore[attr-defined]
        peer.transport.abort()
        assert conn.try_notify("n")  # into a broken pipe
        assert (await within(conn.closed)).reason.startswith("end of input")


@on_both_loops
async def test_pulled_requests_that_nobody_answers_do_not_hold_up_the_end_for_ever() -> None:
    async with with_peer(role="agent", grace=0.05) as (conn, peer):
        peer.send(request(1, "r"))
        peer.end()
        assert (await within(conn.closed)).reason == "end of input"


# --- this side closes


@on_both_loops
async def test_close_writes_what_was_admitted() -> None:
    async with with_peer(capacity=100) as (conn, peer):
        for n in range(50):
            await conn.notify("n", {"n": n, "pad": "x" * 100})
        reason = await within(conn.close())
        assert (reason.reason, reason.unsent) == ("closed by this side", 0)
        assert [line["params"]["n"] for line in await peer.lines(50)] == list(range(50))


@on_both_loops
async def test_close_says_how_much_did_not_go_to_a_peer_that_does_not_read() -> None:
    async with with_peer(capacity=100) as (conn, peer):
        peer.stop_reading()
        await conn.notify("n", {"pad": "x" * 1000})
        await turns()
        size = conn.stats().outbox.used
        reason = await within(conn.close(timeout=0.05))
        assert 900 < reason.unsent == size and f"{size} bytes were not sent" in str(reason)


@on_both_loops
async def test_close_writes_to_a_peer_that_reads_only_once_its_own_output_went() -> None:
    """Two full pipes at the end: input is thrown away so that output can leave."""
    async with with_peer(limits=Limits(inbox_low=100, inbox_high=500), capacity=100) as (conn, peer):
        peer.stop_reading()
        await conn.notify("n", {"pad": "x" * 1000})
        peer.send(*(update("x" * 100) for _ in range(100)))
        await turns()
        closing = asyncio.create_task(conn.close())
        await peer.until_sent()
        peer.read_on()
        assert (await within(closing)).unsent == 0
        assert (await peer.line())["method"] == "n"


@on_both_loops
async def test_close_fails_calls_and_whoever_waits_at_a_door_or_for_a_flush() -> None:
    limits = Limits(outbox_low=10, outbox_high=100, outbox_hard=2000, stall_timeout=60)
    async with with_peer(limits=limits, capacity=10) as (conn, peer):
        call = asyncio.create_task(conn.request("_t/call"))
        await peer.line()
        peer.stop_reading()
        await conn.notify("n", {"pad": "x" * 1500})
        waiting = [
            asyncio.create_task(conn.notify("session/update", {"sessionId": "s1"})),
            asyncio.create_task(conn.notify("n", {"pad": "x" * 1000})),
            asyncio.create_task(conn.request("_t/call", {"pad": "x" * 1000})),
            asyncio.create_task(conn.request("_t/call", bulk=True)),
            asyncio.create_task(conn.flush()),
        ]
        await turns()
        assert not any(task.done() for task in waiting)
        await within(conn.close(timeout=0.05))
        failures = await within(asyncio.gather(call, *waiting, return_exceptions=True))
        assert [type(one) for one in failures] == [ConnectionClosed] * 6
        assert len({id(one) for one in failures}) == 6
        assert conn.stats().pending_calls == 0


@on_both_loops
async def test_a_flush_that_close_completes_succeeds() -> None:
    async with with_peer(capacity=100) as (conn, peer):
        await conn.notify("n", {"pad": "x" * 1000})
        flush = asyncio.create_task(conn.flush())
        await turns(1)
        await within(conn.close())
        await within(flush)
        await peer.line()


@on_both_loops
async def test_closing_twice_at_once_and_again() -> None:
    """LOG 73."""
    async with with_peer(Handlers()) as (conn, peer):
        reasons = await within(asyncio.gather(*(conn.close() for _ in range(5))))
        reasons.append(await conn.close())
        assert {one.reason for one in reasons} == {"closed by this side"}
        conn.abort()
        await peer.until_end()


@on_both_loops
async def test_a_close_that_is_cancelled_goes_on() -> None:
    async with with_peer(capacity=10) as (conn, peer):
        peer.stop_reading()
        await conn.notify("n", {"pad": "x" * 1000})
        closing = asyncio.create_task(conn.close())
        await turns(3)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        peer.read_on()
        assert (await within(conn.closed)).unsent == 0
        await peer.line()


@pytest.mark.parametrize("how", ["close", "abort", "threadsafe"])
@on_both_loops
async def test_a_close_may_be_hurried(how: str) -> None:
    async with with_peer(capacity=10) as (conn, peer):
        peer.stop_reading()
        await conn.notify("n", {"pad": "x" * 1000})
        closing = asyncio.create_task(conn.close(timeout=3600))
        await turns(3)
        if how == "close":
            await within(conn.close(timeout=0.01))
        elif how == "abort":
            conn.abort()
        else:
            conn.threadsafe.close(timeout=0)
        assert (await within(closing)).unsent > 900


@pytest.mark.parametrize("how", ["close", "abort"])
@on_both_loops
async def test_the_grace_after_the_end_of_input_may_be_cut_short(how: str) -> None:
    started = asyncio.Event()
    async with with_peer(waiting_handler(started), role="agent", grace=3600) as (conn, peer):
        peer.send(request(1, "r"))
        await within(started.wait())
        peer.end()
        await turns()
        if how == "close":
            await within(conn.close(timeout=0.05))
        else:
            conn.abort()
        await within(conn.closed)


@pytest.mark.parametrize("waits", ["notification", "request", "background", "wait_for", "child"])
@pytest.mark.parametrize("how", ["close", "abort"])
@on_both_loops
async def test_closing_inside_a_handler(waits: str, how: str) -> None:
    closed: list[Any] = []
    handlers = Handlers()
    conn: Connection

    async def end(message: Any = None) -> None:
        if how == "abort":
            conn.abort()
        elif waits == "wait_for":
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait_for(conn.close(), 20)
        elif waits == "child":
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(conn.close())
        else:
            await conn.close()
        closed.append(1)

    handlers.on("end")(end)
    async with with_peer(handlers, role="agent") as (conn, peer):
        if waits == "background":
            conn.start(end())
        else:
            params = {"sessionId": "a"}
            first = request(1, "end", **params) if waits == "request" else notification("end", **params)
            peer.send(first, notification("end", **params), request(2, "end", **params))
        await within(conn.closed)
        await until(lambda: closed)
        await turns()
    assert conn.tasks == set()


@on_both_loops
async def test_closing_in_a_synchronous_handler_ends_what_follows() -> None:
    seen: list[int] = []
    handlers = Handlers()

    @handlers.on("n")
    def handle(message: Any) -> None:
        seen.append(message.params["n"])
        message.conn.abort("enough")

    async with with_peer(handlers) as (conn, peer):
        peer.send(*(notification("n", n=n) for n in range(3)))
        assert (await within(conn.closed)).reason == "enough"


@pytest.mark.parametrize("first", [request(1, "r"), notification("r")], ids=["request", "notification"])
@on_both_loops
async def test_closing_before_a_coroutine_that_was_returned_could_begin(first: Any) -> None:
    """It is closed in order: nobody is told that it was never awaited."""
    handlers = Handlers()

    async def never() -> None:
        raise AssertionError

    @handlers.on("r")
    def serve(message: Any) -> Any:
        message.conn.abort("enough")
        return never()

    async with with_peer(handlers, role="agent") as (conn, peer):
        conn_tasks = conn.tasks
        peer.send(first)
        await within(conn.closed)
        await until(lambda: not conn_tasks)


@pytest.mark.parametrize("where", ["conn", "receive", "session"])
@on_both_loops
async def test_closing_while_pulling(where: str) -> None:
    async with with_peer() as (conn, _):
        stream = conn.session("s1") if where == "session" else None
        pulled: list[Any] = []

        async def pull() -> None:
            if where == "receive":
                pulled.append(await conn.receive())
            else:
                pulled.extend([event async for event in stream or conn])

        pulling = asyncio.create_task(pull())
        await turns(3)
        await conn.close()
        await within(pulling)
        assert pulled == ([[]] if where == "receive" else [])


@on_both_loops
async def test_closing_while_reading_is_paused_and_while_data_comes() -> None:
    """LOG 63 and 71: a burst, nobody reads it, the host leaves."""
    limits = Limits(inbox_low=100, inbox_high=500)
    for wait in (0, 1, 2, 5, 30):
        async with with_peer(limits=limits) as (conn, peer):
            peer.send(*(update("x" * 100) for _ in range(100)))
            await turns(wait)
    for wait in (0, 1, 2, 5, 30):
        async with with_peer(Handlers()) as (conn, peer):
            peer.send(*(update("x" * 100) for _ in range(100)))
            await turns(wait)
            closing = asyncio.create_task(conn.close())
            peer.send(update("more"))
            await within(closing)


@on_both_loops
async def test_requests_that_run_are_cancelled_and_answered_when_this_side_closes() -> None:
    started = asyncio.Event()
    async with with_peer(waiting_handler(started), role="agent") as (conn, peer):
        peer.send(request(1, "r"))
        await within(started.wait())
        await within(conn.close())
        assert (await peer.line())["error"]["code"] == -32800
        await peer.until_end()


@on_both_loops
async def test_a_task_that_resists_does_not_stop_the_end(caplog: pytest.LogCaptureFixture) -> None:
    release = asyncio.Event()
    handlers = Handlers()

    @handlers.on("r")
    async def stubborn(asked: Request) -> None:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await release.wait()

    async with with_peer(handlers, role="agent", grace=0.05) as (conn, peer):
        peer.send(request(1, "r"))
        await until(lambda: conn.tasks)
        await within(conn.close())
        assert "does not end although it was cancelled" in caplog.text
        release.set()
        await until(lambda: not conn.tasks)


@on_both_loops
async def test_an_exception_in_the_body_comes_out_unchanged() -> None:
    class Mine(Exception):
        pass

    async def body() -> None:
        async with with_peer(Handlers()) as (conn, peer):
            peer.send(*(update("x") for _ in range(10)))
            ends.append(conn)
            raise Mine

    ends: list[Connection] = []
    with pytest.raises(Mine) as failure:
        await body()
    assert failure.value.__context__ is None
    assert ends[0].is_closed


@on_both_loops
async def test_a_cancelled_body_closes() -> None:
    inside = asyncio.Event()

    async def body() -> None:
        async with with_peer(Handlers()) as (conn, _):
            inside.set()
            await conn.request("_t/never")

    task = asyncio.create_task(body())
    await within(inside.wait())
    await turns(3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await within(task)


@on_both_loops
async def test_what_on_close_raises_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    def on_close(reason: ConnectionClosed) -> None:
        raise LookupError("in on_close")

    async with with_peer(on_close=on_close) as (conn, _):
        await conn.close()
    assert "in on_close" in caplog.text
