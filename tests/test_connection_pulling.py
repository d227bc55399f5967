"""Pulling: one event, a batch, one session; and nothing is lost when a pull is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from typing import Any

import pytest
from ends import (
    cancel,
    encode,
    error,
    notification,
    on_both_loops,
    request,
    result,
    run_often,
    terminal,
    text_of,
    turns,
    until,
    update,
    with_peer,
    within,
)
from hypothesis import given
from hypothesis import strategies as st
from loops import LOOPS

from acpcore import Handlers, Limits, Notification, Request, Response, TerminalBytes, UsageError, expand

LINE = 200  # no line of these tests is longer: what a read completes may have begun before it


async def names(source: Any, count: int) -> list[Any]:
    """The first events of a source, taken apart, in short."""
    found: list[Any] = []
    while len(found) < count:
        found += [short(event) for event in expand([await within(anext(aiter(source)))])]
    return found


def short(event: Any) -> Any:
    if isinstance(event, Notification):
        update = event.params["update"] if event.method == "session/update" else {"data": event.method}
        return update["data"] if "data" in update else text_of(event)
    return event.id if isinstance(event, (Request, Response)) else type(event)


# --- all events


@on_both_loops
async def test_events_come_in_wire_order_with_markers_for_answers() -> None:
    async with with_peer() as (conn, peer):
        call = asyncio.create_task(conn.request("_t/call", {"sessionId": "a"}))
        await peer.line()
        peer.send(update("1"), result(0, {"big": "x" * 5000}), update("2"), request(7, "r"), b"noise\n")
        assert await within(call) == {"big": "x" * 5000}, "a call returns at once, whatever stands unread before it"
        events = [event for batch in [await within(conn.receive()) for _ in range(1)] for event in expand(batch)]
        assert [short(event) for event in events[:4]] == ["1", 0, "2", 7]
        marker = events[1]
        assert isinstance(marker, Response) and marker.matched
        assert (marker.raw_result, marker.error, marker.line) == (None, None, b""), "the call has the payload"
        assert marker.call is not None and marker.call.tag is None
        await turns()


@on_both_loops
async def test_a_host_that_only_calls_needs_not_pull() -> None:
    """Answers stand in no gate, and what marks them is small."""
    async with with_peer(limits=Limits(inbox_low=1000, inbox_high=4000)) as (conn, peer):
        for n in range(300):
            call = asyncio.create_task(conn.request("_t/call"))
            await peer.answer({"n": n, "pad": "x" * 1000})
            assert (await within(call))["n"] == n
        assert conn.stats().inbox.used == 0
        assert len(await conn.receive(1000)) == 300


UNASKED = {
    "answers to no call": [encode(result(f"nobody {n}", "x" * 100)) for n in range(300)],
    "errors to no call": [encode(error(None, -32600, "x" * 100)) for _ in range(300)],
    "noise": [b"noise " * 20 + b"\n"] * 300,
    "requests again": [encode(request(1, "r", pad="x" * 80))] * 301,
    "lines that are too large": [b"x" * 1000 + b"\n"] * 300,
    "notifications": [encode(notification("n", pad="x" * 80))] * 300,
}


@pytest.mark.parametrize("what", UNASKED)
@on_both_loops
async def test_whatever_a_peer_can_send_without_being_asked_counts_until_it_is_pulled(what: str) -> None:
    limits = Limits(inbox_low=1000, inbox_high=4000, read_size=4096, max_frame=500)
    async with with_peer(limits=limits) as (conn, peer):
        peer.send(*UNASKED[what])
        await turns(200)
        assert conn.stats().bytes_in < 3 * 4096
        pulled = 0
        while pulled < 300:
            pulled += len(await within(conn.receive()))
            assert conn.stats().inbox.peak < 4000 + 4096 + LINE
        await conn.receive(max_wait=0)
        assert await conn.receive(max_wait=0) == []
        assert conn.stats().inbox.used == 0
        conn.abort()


@on_both_loops
async def test_async_for_may_be_left_and_entered_again() -> None:
    async with with_peer() as (conn, peer):
        peer.send(*(notification(f"n{n}") for n in range(5)))
        seen = []
        for _ in range(2):
            async for event in conn:
                seen.append(event.method)
                if len(seen) in (2, 5):
                    break
        assert seen == ["n0", "n1", "n2", "n3", "n4"]


@on_both_loops
async def test_a_batch_per_frame_for_a_ui() -> None:
    """LOG 88: up to so many events, or so many seconds; the host sets the pace."""
    limits = Limits(inbox_low=2000, inbox_high=8000)
    async with with_peer(limits=limits, capacity=4000) as (conn, peer):
        assert await conn.receive(max_wait=0) == []
        assert await conn.receive(200, max_wait=0.005) == []
        peer.send(*(notification("n", n=n) for n in range(3000)))
        seen: list[int] = []
        while len(seen) < 3000:
            batch = await within(conn.receive(200, max_wait=0.004))
            assert len(batch) <= 200
            seen += [event.params["n"] for event in batch]
        assert seen == list(range(3000))
        assert conn.stats().inbox.peak < 8000 + 4096


@on_both_loops
async def test_without_a_wait_a_batch_is_what_is_there_once_something_is() -> None:
    async with with_peer() as (conn, peer):
        pulling = asyncio.create_task(conn.receive(3))
        await turns()
        assert not pulling.done()
        peer.send(*(notification(f"n{n}") for n in range(5)))
        assert [event.method for event in await within(pulling)] == ["n0", "n1", "n2"]
        assert [event.method for event in await within(conn.receive(3))] == ["n3", "n4"]


@pytest.mark.parametrize("count", [0, -1])
@on_both_loops
async def test_a_batch_holds_at_least_one(count: int) -> None:
    async with with_peer() as (conn, _):
        with pytest.raises(UsageError):
            await conn.receive(count)
        with pytest.raises(UsageError):
            await conn.session("s1").receive(count)


@on_both_loops
async def test_with_handlers_there_is_nothing_to_pull() -> None:
    async with with_peer(Handlers()) as (conn, _):
        with pytest.raises(UsageError, match="handlers"):
            await conn.receive()
        with pytest.raises(UsageError, match="handlers"):
            await anext(aiter(conn))


# --- cancelled and crossing pulls


@on_both_loops
async def test_a_cancelled_pull_loses_nothing() -> None:
    """LOG 18: a long line comes slowly while pulls are timed out."""
    line = encode(notification("n", pad="x" * 100_000))
    async with with_peer(capacity=10_000) as (conn, peer):
        timed_out = 0
        for at in range(0, len(line), 10_000):
            peer.send(line[at : at + 10_000])
            with contextlib.suppress(asyncio.TimeoutError):
                [event] = await asyncio.wait_for(conn.receive(), 0.001 if at + 10_000 < len(line) else 20)
                assert event.params == {"pad": "x" * 100_000}
                break
            timed_out += 1
        assert timed_out == len(line) // 10_000


@pytest.mark.parametrize("how", ["receive", "next"])
@on_both_loops
async def test_a_pull_right_after_a_cancelled_one(how: str) -> None:
    """LOG 18: no 'already waiting'."""
    async with with_peer() as (conn, peer):

        def pull() -> Any:
            return conn.receive(1) if how == "receive" else anext(aiter(conn))

        first = asyncio.ensure_future(pull())
        await turns(2)
        first.cancel()
        second = asyncio.ensure_future(pull())
        third: Any = None
        for _ in range(5):
            await asyncio.sleep(0)
            second.cancel()
            third = asyncio.ensure_future(pull())
            second = third
        peer.send(notification("n"))
        got = await within(third)
        assert (got[0] if how == "receive" else got).method == "n"
        assert first.cancelled()
        fourth = asyncio.ensure_future(pull())
        await turns(2)
        fourth.cancel()
        peer.send(notification("m"))
        got = await pull()  # at once: the cancelled one has not even noticed
        assert (got[0] if how == "receive" else got).method == "m"


@on_both_loops
async def test_two_pulls_at_once_are_a_mistake() -> None:
    async with with_peer() as (conn, peer):
        first = asyncio.create_task(conn.receive())
        await turns(2)
        for pull in (conn.receive(), anext(aiter(conn)), conn.receive(max_wait=1)):
            with pytest.raises(UsageError, match="already"):
                await pull
        peer.send(notification("n"))
        assert [event.method for event in await within(first)] == ["n"]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(1, 5)),
        st.tuples(st.just("pull"), st.integers(1, 4)),
        st.tuples(st.just("cancel"), st.just(0)),
        st.tuples(st.just("turns"), st.integers(1, 4)),
    ),
    max_size=20,
)


@pytest.mark.parametrize("kind", LOOPS)
@given(steps=steps, cut=st.integers(1, 90), stream=st.booleans())
def test_pulls_cancelled_anywhere_lose_and_reorder_nothing(
    kind: str, steps: list[tuple[str, int]], cut: int, stream: bool
) -> None:
    async def main() -> None:
        async with with_peer(limits=Limits(inbox_low=100, inbox_high=300), capacity=cut) as (conn, peer):
            source = conn.session("a") if stream else conn
            sent, seen = 0, list[int]()
            pulling: asyncio.Task[Any] | None = None
            for what, number in [*steps, ("turns", 3)]:
                if what == "send":
                    peer.send(*(notification("n", n=n, sessionId="a") for n in range(sent, sent + number)))
                    sent += number
                elif what == "pull" and pulling is None:
                    pulling = asyncio.create_task(source.receive(number))
                elif what == "cancel" and pulling is not None:
                    pulling.cancel()
                await turns(number)
                if pulling is not None and pulling.done():
                    seen += [] if pulling.cancelled() else [event.params["n"] for event in pulling.result()]
                    pulling = None
            if pulling is not None:
                pulling.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    seen += [event.params["n"] for event in await pulling]
            while len(seen) < sent:
                seen += [event.params["n"] for event in await within(source.receive())]
            assert seen == list(range(sent))
            assert await source.receive(max_wait=0) == []
            assert conn.stats().inbox.used == 0

    run_often(kind, main)


# --- one session


@pytest.mark.parametrize("pulled", [True, False])
@on_both_loops
async def test_a_session_is_pulled_beside_the_rest(pulled: bool) -> None:
    rest: list[Any] = []
    handlers = Handlers()
    handlers.on("*")(lambda event: rest.append(short(event)))
    async with with_peer(None if pulled else handlers) as (conn, peer):
        stream = conn.session("a")
        peer.send(
            update("1", "a"),
            update("2", "b"),
            update("3", "a"),
            notification("n", sessionId="a"),
            request(7, "r"),
            terminal("YQ==", "a"),
            terminal("Yg==", "b"),
            notification("m", sessionId="b"),
            update("4", "a"),
        )
        assert await names(stream, 5) == ["1", "3", "n", "YQ==", "4"]
        if pulled:
            rest = await names(conn, 4)
        assert sorted(map(str, rest)) == ["2", "7", "Yg==", "m"] and rest.index("2") < rest.index("Yg==") < rest.index(
            "m"
        )
        assert await stream.receive(max_wait=0) == []
        assert conn.stats().inbox.used == 0 or pulled


@pytest.mark.parametrize("pulled", [True, False])
@on_both_loops
async def test_a_run_of_updates_that_mixes_sessions_is_taken_apart(pulled: bool) -> None:
    """Each update goes where its session goes, with its bytes, and keeps its order."""
    rest: list[str] = []
    handlers = Handlers()
    handlers.on("session/update")(lambda event: rest.append(text_of(event)))
    async with with_peer(None if pulled else handlers) as (conn, peer):
        streams = {name: conn.session(name) for name in "ab"}
        peer.send(*(update(str(n), "abc"[n % 3]) for n in range(300)))
        for at, name in enumerate("ab"):
            assert await names(streams[name], 100) == [str(n) for n in range(at, 300, 3)]
        if pulled:
            rest = await names(conn, 100)
        await until(lambda: len(rest) == 100)
        assert rest == [str(n) for n in range(2, 300, 3)]
        for source in (*streams.values(), *([conn] if pulled else [])):
            assert await source.receive(max_wait=0) == []
        assert conn.stats().inbox.used == 0


@pytest.mark.parametrize("pulled", [True, False])
@on_both_loops
async def test_early_updates_are_kept_for_a_session_that_is_opened_next(pulled: bool) -> None:
    """LOG 44: they came before the answer that names the session."""
    async with with_peer(None if pulled else Handlers()) as (conn, peer):
        call = asyncio.create_task(conn.request("session/new", {}))
        await peer.line()
        early = [update("1", "new"), update("x", "old"), update("2", "new"), terminal("YQ==", "new")]
        peer.send(*early, result(0, {"sessionId": "new"}), update("3", "new"))
        stream = conn.session((await within(call))["sessionId"])
        assert await names(stream, 2) == ["1", "2"]
        chunk = await within(anext(stream))
        assert isinstance(chunk, TerminalBytes) and chunk.data == b"a"
        assert await names(stream, 1) == ["3"]
        if pulled:
            assert await names(conn, 2) == ["x", 0]
        with pytest.raises(UsageError, match="already"):
            conn.session("new")


@on_both_loops
async def test_of_what_nobody_claims_only_the_last_part_is_kept() -> None:
    async with with_peer(Handlers(), limits=Limits(inbox_low=1000, inbox_high=8000)) as (conn, peer):
        peer.send(*(update(f"{n:03}", "new") for n in range(100)))
        await peer.until_sent()
        await turns()
        assert conn.stats().inbox.used == 0 and conn.stats().unhandled > 90
        kept = await within(conn.session("new").receive())
        assert 0 < len(kept) < 10 and text_of(kept[-1]) == "099"
        assert all(event.conn is conn for event in kept)


@on_both_loops
async def test_closing_a_stream_gives_its_session_back() -> None:
    rest: list[str] = []
    handlers = Handlers()
    handlers.on("session/update")(lambda event: rest.append(text_of(event)))
    async with with_peer(handlers) as (conn, peer):
        stream = conn.session("a")
        peer.send(update("1", "a"), update("2", "a"))
        assert await names(stream, 1) == ["1"]
        stream.close()
        stream.close()
        assert [event async for event in stream] == [], "what was queued is dropped"
        assert conn.stats().inbox.used == 0
        peer.send(update("3", "a"))
        await until(lambda: rest == ["3"])
        async with contextlib.aclosing(conn.session("a")) as again:
            peer.send(update("4", "a"))
            assert await names(again, 1) == ["4"]
        peer.send(update("5", "a"))
        await until(lambda: rest == ["3", "5"])


@on_both_loops
async def test_a_stream_that_nobody_holds_any_more_gives_its_session_back() -> None:
    """Leaving ``async for update in conn.session(...)`` must not let the session's updates pile up unread."""
    rest: list[str] = []
    handlers = Handlers()
    handlers.on("session/update")(lambda event: rest.append(text_of(event)))
    async with with_peer(handlers) as (conn, peer):
        peer.send(update("0", "b"))

        async def first() -> str:
            async for event in conn.session("a"):
                return text_of(event)
            raise AssertionError

        pulling = asyncio.create_task(first())
        await turns(3)
        peer.send(update("1", "a"))
        assert await within(pulling) == "1"
        del pulling
        gc.collect()
        await turns(3)
        peer.send(update("2", "a"))
        await until(lambda: rest == ["0", "2"])
        assert conn.stats().inbox.used == 0


@on_both_loops
async def test_a_stream_ends_with_the_connection_and_can_be_read_empty() -> None:
    async with with_peer(Handlers()) as (conn, peer):
        stream = conn.session("a")
        peer.send(update("1", "a"), update("2", "a"))
        peer.end()
        await within(conn.closed)
        assert [short(event) for event in expand([event async for event in stream])] == ["1", "2"]
        assert await stream.receive() == []
        late = conn.session("b")
        assert [event async for event in late] == []


@on_both_loops
async def test_a_stream_belongs_to_its_loop() -> None:
    async with with_peer() as (conn, _):
        stream = conn.session("a")

        def elsewhere() -> None:
            for use in (stream.receive, stream.__anext__):
                with pytest.raises(UsageError, match="loop"):
                    asyncio.run(use())  # type: ignore[arg-type]
            with pytest.raises(UsageError, match="loop"):
                stream.close()

        await asyncio.to_thread(elsewhere)


@on_both_loops
async def test_a_session_nobody_reads_stops_the_peer_and_a_reader_lets_it_go_on() -> None:
    limits = Limits(inbox_low=1000, inbox_high=4000, read_size=4096)
    async with with_peer(Handlers(), limits=limits, capacity=1000) as (conn, peer):
        stream = conn.session("a")
        peer.send(*(update(str(n), "a") for n in range(500)))
        await turns(200)
        assert conn.stats().inbox.times == 1
        assert 4000 <= conn.stats().inbox.used < 4000 + 4096 + LINE
        assert await names(stream, 500) == [str(n) for n in range(500)]


@on_both_loops
async def test_a_cancel_of_an_unread_request_counts_nothing_twice() -> None:
    async with with_peer(role="agent") as (conn, peer):
        for n in range(20):
            peer.send(request(n, "r"), cancel(n))
        assert {line["error"]["code"] for line in await peer.lines(20)} == {-32800}
        pulled: list[Any] = []
        while len(pulled) < 20:
            pulled += await within(conn.receive())
        assert {event.method for event in pulled} == {"$/cancel_request"}
        assert await conn.receive(max_wait=0) == []
        assert conn.stats().inbox.used == 0


@on_both_loops
async def test_many_streams() -> None:
    async with with_peer() as (conn, peer):
        streams = {str(n): conn.session(str(n)) for n in range(40)}
        peer.send(*(update(f"{n}", str(n % 40)) for n in range(400)))
        for name, stream in streams.items():
            assert await names(stream, 10) == [str(n) for n in range(int(name), 400, 40)]


def test_an_event_queue_marks_no_more_answers_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that calls for ever and never pulls keeps a bounded number of markers."""
    from acpcore import pull

    monkeypatch.setattr(pull, "_MARKERS", 3)

    async def main() -> None:
        async with with_peer() as (conn, peer):
            for _ in range(2):
                for _ in range(5):
                    call = asyncio.create_task(conn.request("_t/call"))
                    await peer.answer()
                    await within(call)
                assert len(await conn.receive()) == 3
                assert await conn.receive(max_wait=0) == []

    run_often("asyncio", main)
