"""Other threads: they send through ``conn.threadsafe``, whole frames in order; anything else they do is refused."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from ends import LONG, Peer, notification, on_both_loops, request, result, turns, until, with_peer, within
from loops import LOOPS, new_loop

from acpcore import Connection, ConnectionClosed, Handlers, Limits, Request, UsageError
from acpcore.doors import WITHDRAWN
from acpcore.threads import Posted
from acpcore.transports.memory import memory_pair

Cancelled = concurrent.futures.CancelledError


async def in_thread(work: Callable[[], Any]) -> Any:
    """Run ``work`` in a thread of its own, without the loop's context."""
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    loop = asyncio.get_running_loop()

    def run() -> None:
        try:
            value = work()
        except BaseException as error:
            loop.call_soon_threadsafe(done.set_exception, error)
        else:
            loop.call_soon_threadsafe(done.set_result, value)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        return await within(done)
    finally:
        thread.join()


@on_both_loops
async def test_eight_threads_with_large_messages_send_whole_frames_in_order() -> None:
    """LOG 15: no fragment of one message in another."""
    pad = "x" * (300 * 1024)

    async with with_peer() as (conn, peer):

        def send(thread: int) -> None:
            results = [conn.threadsafe.notify("n", {"thread": thread, "n": n, "pad": pad}) for n in range(4)]
            for one in results:
                one.result(LONG)

        await asyncio.gather(*(in_thread(lambda thread=thread: send(thread)) for thread in range(8)))
        seen: dict[int, list[int]] = {}
        for line in await peer.lines(32):
            assert line["params"]["pad"] == pad
            seen.setdefault(line["params"]["thread"], []).append(line["params"]["n"])
        assert seen == {thread: [0, 1, 2, 3] for thread in range(8)}


@on_both_loops
async def test_a_thread_keeps_its_order_through_both_doors() -> None:
    """Updates wait at the bulk door; what the thread sends after them does not pass them."""
    limits = Limits(outbox_low=10, outbox_high=300, outbox_hard=5000, stall_timeout=60)
    async with with_peer(Handlers(), role="agent", limits=limits, capacity=50) as (conn, peer):
        peer.stop_reading()

        def send() -> list[Any]:
            one = conn.threadsafe
            return [
                one.notify("session/update", {"n": 0, "pad": "x" * 300}),
                one.notify("session/update", {"n": 1, "pad": "x" * 300}),
                one.notify("m", {"n": 2}),
                one.request("q", {"n": 3}),
                one.notify("session/update", {"n": 4, "pad": "x" * 300}),
                one.notify("m", {"n": 5}),
                one.request("q", {"n": 6}),
                one.notify("m", {"n": 7}),
                one.flush(),
            ]

        results = await in_thread(send)
        await turns()
        assert results[0].done() and not any(one.done() for one in results[1:])
        await conn.notify("m", {"n": "of the loop"})
        peer.read_on()
        lines = await peer.lines(9)
        assert [line["params"]["n"] for line in lines if line["params"]["n"] != "of the loop"] == list(range(8))
        for line in lines:
            if "id" in line:
                peer.send(result(line["id"], line["params"]["n"]))
        values = await in_thread(lambda: [one.result(LONG) for one in results])
        assert values[3] == 3 and values[6] == 6 and values[8] is None


@on_both_loops
async def test_what_a_thread_posted_goes_before_what_the_loop_sends_then() -> None:
    """LOG 64: the loop stands still, a thread sends a thousand chunks, then the loop sends the end."""
    handlers = Handlers()

    @handlers.on("run")
    async def serve(asked: Request) -> dict[str, str]:
        def send() -> None:
            for n in range(1000):
                asked.conn.threadsafe.notify("session/update", {"sessionId": "a", "n": n})

        thread = threading.Thread(target=send)
        thread.start()
        thread.join()  # the loop stands still, nothing of it has been sent
        return {"state": "idle"}

    limits = Limits(outbox_low=1 << 19, outbox_high=1 << 20)
    async with with_peer(handlers, role="agent", limits=limits) as (_, peer):
        peer.send(request(1, "run"))
        lines = await peer.lines(1001)
        assert [line["params"]["n"] for line in lines[:1000]] == list(range(1000))
        assert lines[1000] == result(1, {"state": "idle"})


@pytest.mark.parametrize("how", ["notify", "try_notify", "request", "reply", "fail", "start"])
@on_both_loops
async def test_every_way_of_the_loop_to_send_lets_posted_messages_go_first(how: str) -> None:
    handlers = Handlers()
    asked: list[Request] = []

    @handlers.on("r")
    async def serve(one: Request) -> None:
        asked.append(one)
        await asyncio.Event().wait()

    async with with_peer(handlers, role="agent") as (conn, peer):
        peer.send(request(1, "r"))
        await until(lambda: asked)
        thread = threading.Thread(target=lambda: conn.threadsafe.notify("posted"))
        thread.start()
        thread.join()
        if how == "notify":
            await conn.notify("loop")
        elif how == "try_notify":
            assert conn.try_notify("loop")
        elif how == "request":
            asyncio.ensure_future(conn.request("loop")).add_done_callback(lambda task: task.exception())
        elif how == "start":
            conn.start(conn.notify("loop"))
        else:
            asked[0].reply() if how == "reply" else asked[0].fail(1, "no")
        assert (await peer.line())["method"] == "posted"
        line = await peer.line()
        assert line.get("method", "loop") == "loop"


@on_both_loops
async def test_calls_and_answers_from_threads() -> None:
    handlers = Handlers()

    @handlers.on("r")
    async def serve(asked: Request) -> Any:
        if asked.id == 2:
            await in_thread(lambda: asked.conn.threadsafe.fail(asked, 5, "no", {"why": 1}).result(LONG))
        else:
            await in_thread(lambda: asked.conn.threadsafe.reply(asked, {"by": "thread"}).result(LONG))
        with pytest.raises(UsageError):
            await in_thread(lambda: asked.conn.threadsafe.reply(asked).result(LONG))
        return {"not": "sent"}

    async with with_peer(handlers, role="agent") as (conn, peer):
        peer.send(request(1, "r"))
        assert await peer.line() == result(1, {"by": "thread"})
        peer.send(request(2, "r"))
        assert (await peer.line())["error"] == {"code": 5, "message": "no", "data": {"why": 1}}
        call = asyncio.create_task(in_thread(lambda: conn.threadsafe.request("q", {"n": 1}, timeout=LONG).result(LONG)))
        await peer.answer({"n": 2})
        assert await within(call) == {"n": 2}
        await until(lambda: not conn.tasks)
        assert peer.rest() == []


@on_both_loops
async def test_errors_of_calls_reach_the_thread() -> None:
    async with with_peer(Handlers()) as (conn, peer):
        with pytest.raises(TimeoutError):
            await in_thread(lambda: conn.threadsafe.request("q", timeout=0.01).result(LONG))
        await peer.lines(2)
        for bad in (lambda: conn.threadsafe.notify("n", {"a": "\ud800"}), lambda: conn.threadsafe.notify(5)):
            with pytest.raises(UsageError):
                await in_thread(bad)
        with pytest.raises(UsageError):
            await in_thread(lambda: conn.threadsafe.request("q", {"a": "\ud800"}).result(LONG))
        with pytest.raises(TypeError):
            await in_thread(lambda: conn.threadsafe.request("q", no_option=1).result(LONG))
        waiting = asyncio.create_task(in_thread(lambda: conn.threadsafe.request("q").result(LONG)))
        await peer.line()
        peer.end()
        with pytest.raises(ConnectionClosed):
            await within(waiting)
        for use in (conn.threadsafe.notify, conn.threadsafe.request):
            with pytest.raises(ConnectionClosed):
                await in_thread(lambda use=use: use("n").result(LONG))
        with pytest.raises(ConnectionClosed):
            await in_thread(lambda: conn.threadsafe.flush().result(LONG))


# --- cancelling


@on_both_loops
async def test_cancelled_at_the_door_it_is_not_sent_and_sent_it_cannot_be_cancelled() -> None:
    limits = Limits(outbox_low=10, outbox_high=100, outbox_hard=5000, stall_timeout=60)
    async with with_peer(limits=limits, capacity=10) as (conn, peer):
        peer.stop_reading()
        await conn.notify("first", {"pad": "x" * 200})

        def send() -> list[Any]:
            return [conn.threadsafe.notify("session/update", {"n": n, "pad": "x" * 50}) for n in range(3)]

        results = await in_thread(send)
        await turns()
        assert await in_thread(results[1].cancel)
        peer.read_on()
        assert [line["params"].get("n") for line in await peer.lines(3)] == [None, 0, 2]
        assert await in_thread(lambda: results[0].result(LONG)) is None
        assert not await in_thread(results[0].cancel)
        await conn.flush()
        await turns()
        assert results[1].cancelled() and peer.rest() == []


@on_both_loops
async def test_cancelled_before_the_loop_saw_it_it_is_not_sent() -> None:
    async with with_peer() as (conn, peer):
        results: list[Any] = []

        def send() -> None:
            results.append(conn.threadsafe.notify("n"))
            assert results[0].cancel()
            results.append(conn.threadsafe.notify("m"))

        thread = threading.Thread(target=send)
        thread.start()
        thread.join()
        assert (await peer.line())["method"] == "m"
        await turns()
        assert peer.rest() == []


@on_both_loops
async def test_whatever_the_race_the_future_tells_whether_it_was_sent() -> None:
    """Threads cancel at once, the loop admits at the same time: each says the same as the wire."""
    limits = Limits(outbox_low=100, outbox_high=2000)
    async with with_peer(limits=limits, capacity=1000) as (conn, peer):

        def send(thread: int) -> list[tuple[str, Any]]:
            sent = []
            for n in range(150):
                future = conn.threadsafe.notify("session/update", {"n": f"{thread}.{n}", "pad": "x" * 30})
                if n % 3 == 0:
                    time.sleep(0.0001 * (n % 7))
                future.cancel()
                sent.append((f"{thread}.{n}", future))
            return sent

        sent = await asyncio.gather(*(in_thread(lambda thread=thread: send(thread)) for thread in range(3)))
        await until(lambda: all(future.done() for one in sent for _, future in one))
        await conn.flush()
        await turns(200)
        on_wire = {line["params"]["n"] for line in peer.rest()}
        for one in sent:
            for name, future in one:
                assert future.cancelled() is (name not in on_wire)


def test_a_future_says_what_happened_at_the_moment_of_admission() -> None:
    calls: list[int] = []
    future = Posted()
    assert future.cancel() and future.cancel()
    assert future.guard(lambda: calls.append(1))() is WITHDRAWN and calls == []
    future = Posted()
    assert not future.guard(lambda: False)()
    assert future.cancel(), "it was not admitted: it may still be withdrawn"
    future = Posted()
    told: list[bool] = []
    canceller = threading.Thread(target=lambda: told.append(future.cancel()))

    def admit() -> bool:
        canceller.start()
        time.sleep(0.02)  # time for a cancel that does not wait for us
        assert told == []
        return True

    assert future.guard(admit)() is True
    canceller.join()
    assert told == [False] and not future.cancel() and not future.cancelled()


@on_both_loops
async def test_a_call_from_a_thread_is_not_taken_for_one_of_the_handler_that_let_it_go_first() -> None:
    """It is posted while the loop stands still, and sent from inside a handler; its answer keeps its place."""
    handlers = Handlers()
    go_on = asyncio.Event()
    calls: list[Any] = []

    @handlers.on("n")
    async def handle(message: Any) -> None:
        conn = message.conn
        thread = threading.Thread(target=lambda: calls.append(conn.threadsafe.request("q", {"sessionId": "a"})))
        thread.start()
        thread.join()
        assert conn.try_notify("m")
        await go_on.wait()

    async with with_peer(handlers) as (_, peer):
        peer.send(notification("n", sessionId="a"))
        await peer.answer()
        assert (await peer.line())["method"] == "m"
        await turns()
        assert not calls[0].done()
        go_on.set()
        await until(lambda: calls[0].done())


@on_both_loops
async def test_an_answer_cancelled_at_the_door_leaves_the_request_to_others() -> None:
    handlers = Handlers()
    asked: list[Request] = []

    @handlers.on("r")
    async def serve(one: Request) -> dict[str, str]:
        asked.append(one)
        await go_on.wait()
        return {"by": "handler"}

    go_on = asyncio.Event()
    limits = Limits(outbox_low=10, outbox_high=100, outbox_hard=300, stall_timeout=60)
    async with with_peer(handlers, role="agent", limits=limits, capacity=10) as (conn, peer):
        peer.send(request(1, "r"))
        await until(lambda: asked)
        peer.stop_reading()
        await conn.notify("n", {"pad": "x" * 250})
        future = await in_thread(lambda: conn.threadsafe.reply(asked[0], {"by": "thread", "pad": "x" * 100}))
        await until(lambda: conn.control_waits)
        assert asked[0].answered
        assert await in_thread(future.cancel)
        await until(lambda: not asked[0].answered)
        go_on.set()
        peer.read_on()
        assert [line.get("result") for line in await peer.lines(2)] == [None, {"by": "handler"}]


@pytest.mark.parametrize("tell", [True, False])
@on_both_loops
async def test_a_call_that_a_thread_gives_up(tell: bool) -> None:
    async with with_peer() as (conn, peer):
        future = await in_thread(lambda: conn.threadsafe.request("q", tell=tell))
        asked = await peer.line()
        assert await in_thread(future.cancel)
        await until(lambda: conn.stats().pending_calls == 0)
        await conn.flush()
        await turns()
        assert peer.rest() == ([notification("$/cancel_request", requestId=asked["id"])] if tell else [])


# --- closing


@on_both_loops
async def test_close_from_threads() -> None:
    """LOG 73: also twice, while the peer is alive and silent."""
    async with with_peer(Handlers()) as (conn, _):
        reasons = await asyncio.gather(*(in_thread(lambda: conn.threadsafe.close().result(LONG)) for _ in range(3)))
        assert {one.reason for one in reasons} == {"closed by this side"}


@on_both_loops
async def test_flush_from_a_thread_waits_for_what_that_thread_sent() -> None:
    limits = Limits(outbox_low=10, outbox_high=100)
    async with with_peer(limits=limits, capacity=10) as (conn, peer):
        peer.stop_reading()

        def send() -> Any:
            for n in range(5):
                conn.threadsafe.notify("session/update", {"n": n, "pad": "x" * 100})
            return conn.threadsafe.flush()

        future = await in_thread(send)
        await turns(50)
        assert not future.done()
        frames: list[int] = []
        future.add_done_callback(lambda _: frames.append(conn.stats().frames_out))
        peer.read_on()
        await in_thread(lambda: future.result(LONG))
        assert frames == [5]
        await peer.lines(5)


@pytest.mark.parametrize("kind", LOOPS)
def test_a_loop_that_is_closed(kind: str) -> None:
    loop = new_loop(kind)

    async def main() -> Connection:
        here, there = memory_pair()
        peer = Peer(there)
        async with Connection(here) as conn:
            there.start(peer, loop)
            there.close()
        await there.wait_closed()
        return conn

    conn = loop.run_until_complete(main())
    loop.close()
    for use in (conn.threadsafe.notify, conn.threadsafe.request):
        with pytest.raises(UsageError, match="closed"):
            use("n")


# --- what is refused


async def uses(conn: Connection) -> list[Callable[[], Any]]:
    """Everything that belongs to the loop's thread."""
    return [
        lambda: conn.request("q"),
        lambda: conn.notify("n"),
        lambda: conn.flush(),
        lambda: conn.receive(),
        lambda: anext(aiter(conn)),
        lambda: conn.close(),
        lambda: conn.open(),
    ]


@on_both_loops
async def test_another_threads_loop_may_not_use_it() -> None:
    async with with_peer() as (conn, peer):
        everything = await uses(conn)

        async def use(one: Callable[[], Any]) -> None:
            await one()

        def elsewhere() -> None:
            for one in everything:
                with pytest.raises(UsageError):
                    asyncio.run(use(one))

        await in_thread(elsewhere)
        await turns()
        assert peer.rest() == [] and not conn.is_closed


@on_both_loops
async def test_a_thread_without_a_loop_may_not_use_it() -> None:
    async with with_peer(role="agent") as (conn, peer):
        peer.send(request(1, "r"))
        [asked] = await within(conn.receive())
        assert isinstance(asked, Request)

        def elsewhere() -> None:
            for one in (
                lambda: conn.try_notify("n"),
                lambda: conn.session("s1"),
                lambda: conn.abort(),
                lambda: conn.closed,
                lambda: asked.reply(),
                lambda: asked.fail(1, "no"),
            ):
                with pytest.raises(UsageError, match="loop"):
                    one()
            work = asyncio.sleep(0)
            with pytest.raises(UsageError, match="loop"):
                conn.start(work)
            work.close()

        await in_thread(elsewhere)
        assert not asked.answered
        asked.reply()
        assert await peer.line() == result(1)


@on_both_loops
async def test_a_forked_child_may_not_use_it() -> None:
    """Its messages would go nowhere, or out through the parent's descriptors."""
    async with with_peer() as (conn, peer):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            refused = 0
            for use in (lambda: conn.try_notify("n"), lambda: conn.threadsafe.notify("n"), lambda: conn.abort()):
                try:
                    use()
                except UsageError:
                    refused += 1
                except BaseException:
                    pass
            os.write(writer, bytes([refused]))
            os._exit(0)
        os.close(writer)
        refused = os.read(reader, 1)
        os.close(reader)
        os.waitpid(child, 0)  # noqa: ASYNC222 - it has written its last byte
        assert refused == b"\x03"
        await conn.notify("n")
        assert (await peer.line())["method"] == "n"
