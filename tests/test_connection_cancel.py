"""Cancelling what the peer asked for: never twice answered, never unanswered, never somebody else's."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from ends import (
    Peer,
    cancel,
    encode,
    notification,
    on_both_loops,
    request,
    result,
    run_often,
    turns,
    until,
    with_peer,
    within,
)
from hypothesis import given
from hypothesis import strategies as st
from loops import LOOPS

from acpcore import Connection, Handlers, Limits, Request

CANCELLED = -32800


class Slow:
    """Handlers that wait until they are let go or cancelled, and write down what happens."""

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.gate = asyncio.Event()
        self.handlers = Handlers()
        self.handlers.on("r")(self.serve)
        self.handlers.on("n")(self.hold)

    async def serve(self, asked: Request) -> dict[str, str]:
        self.log.append(("+", asked.id))
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.log.append(("cancelled", asked.id, asked.cancelled))
            raise
        return {"done": str(asked.id)}

    async def hold(self, message: Any) -> None:
        await self.gate.wait()


def code(line: Any) -> Any:
    return line["id"], line.get("error", {}).get("code")


@on_both_loops
async def test_a_request_that_has_not_started_never_runs() -> None:
    slow = Slow()
    async with with_peer(slow.handlers, role="agent") as (conn, peer):
        peer.send(notification("n", sessionId="a"), request(1, "r", sessionId="a"), request(2, "r", sessionId="a"))
        peer.send(cancel(1))
        assert code(await peer.line()) == (1, CANCELLED)
        slow.gate.set()
        assert await peer.line() == result(2, {"done": "2"})
        assert slow.log == [("+", 2)]
        assert conn.stats().open_requests == 0 and conn.stats().inbox.used == 0


@on_both_loops
async def test_one_that_runs_is_told() -> None:
    slow = Slow()
    async with with_peer(slow.handlers, role="agent") as (_, peer):
        peer.send(request(1, "r"))
        await until(lambda: slow.log)
        peer.send(cancel(1))
        assert code(await peer.line()) == (1, CANCELLED)
        assert slow.log == [("+", 1), ("cancelled", 1, True)]
        await turns()
        assert peer.rest() == []


@pytest.mark.parametrize("how", ["returns", "replies", "fails", "raises", "again"])
@on_both_loops
async def test_a_handler_that_does_not_give_in_answers_for_itself_once(how: str) -> None:
    handlers = Handlers()
    started = asyncio.Event()

    @handlers.on("r")
    async def stubborn(asked: Request) -> dict[str, bool]:
        started.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await turns(2)
        if how == "replies":
            asked.reply({"late": True})
        elif how == "fails":
            asked.fail(5, "late")
        elif how == "raises":
            raise LookupError
        elif how == "again":
            await asyncio.Event().wait()
        return {"late": True}

    async with with_peer(handlers, role="agent", on_error=lambda *_: None) as (_, peer):
        peer.send(request(1, "r"))
        await within(started.wait())
        peer.send(cancel(1))
        if how == "again":
            await turns()
            peer.send(cancel(1))
        line = await peer.line()
        expected = {"fails": (1, 5), "raises": (1, -32603), "again": (1, CANCELLED)}
        assert code(line) == expected.get(how, (1, None))
        await turns()
        assert peer.rest() == []


@on_both_loops
async def test_in_one_read_with_its_request_either_answer_is_right_and_there_is_one() -> None:
    slow = Slow()
    slow.handlers.on("quick")(lambda asked: {"quick": True})
    async with with_peer(slow.handlers, role="agent") as (_, peer):
        peer.send(encode(request(1, "r"), cancel(1), request(2, "quick"), cancel(2)))
        answers = dict(code(line) for line in await peer.lines(2))
        assert answers[1] == CANCELLED and answers[2] in (None, CANCELLED)
        assert slow.log == []
        await turns()
        assert peer.rest() == []


@on_both_loops
async def test_cancels_of_what_is_over_or_was_never_there_do_nothing() -> None:
    """LOG 46: a late cancel does not hit the next request, also not of an equal id of the other type."""
    slow = Slow()
    async with with_peer(slow.handlers, role="agent") as (_, peer):
        slow.gate.set()
        peer.send(request(1, "r"))
        assert await peer.line() == result(1, {"done": "1"})
        slow.gate.clear()
        bad = [
            notification("$/cancel_request"),
            notification("$/cancel_request", requestId=None),
            cancel([1]),
            cancel(99),
        ]
        peer.send(cancel(1), cancel("1"), *bad, request("1", "r"))
        await until(lambda: ("+", "1") in slow.log)
        peer.send(cancel(1))
        await turns()
        slow.gate.set()
        assert await peer.line() == result("1", {"done": "1"})


@on_both_loops
async def test_a_cancel_of_one_session_leaves_the_other_alone() -> None:
    """LOG 50."""
    slow = Slow()
    async with with_peer(slow.handlers, role="agent") as (_, peer):
        peer.send(request(1, "r", sessionId="a"), request(2, "r", sessionId="b"))
        await until(lambda: len(slow.log) == 2)
        peer.send(cancel(1))
        assert code(await peer.line()) == (1, CANCELLED)
        slow.gate.set()
        assert await peer.line() == result(2, {"done": "2"})


@on_both_loops
async def test_a_cancel_does_not_wait_behind_notifications() -> None:
    slow = Slow()
    async with with_peer(slow.handlers, role="agent") as (_, peer):
        peer.send(request(1, "r", sessionId="a"))
        await until(lambda: slow.log)
        peer.send(*(notification("n", sessionId="a") for _ in range(500)), cancel(1))
        assert code(await peer.line()) == (1, CANCELLED)
        slow.gate.set()


@on_both_loops
async def test_a_request_behind_a_cancelled_one_starts() -> None:
    slow = Slow()
    async with with_peer(slow.handlers, role="agent") as (_, peer):
        peer.send(notification("n", sessionId="a"), request(1, "r", sessionId="a"), notification("n", sessionId="a"))
        peer.send(cancel(1))
        assert code(await peer.line()) == (1, CANCELLED)
        peer.send(request(2, "r", sessionId="a"))
        slow.gate.set()
        assert await peer.line() == result(2, {"done": "2"})


@on_both_loops
async def test_an_entry_of_a_batch_may_be_cancelled() -> None:
    slow = Slow()
    async with with_peer(slow.handlers, role="agent") as (_, peer):
        peer.send(encode([request(1, "r"), request(2, "r")]))
        await until(lambda: len(slow.log) == 2)
        peer.send(cancel(2))
        await turns()
        assert peer.rest() == []
        slow.gate.set()
        assert sorted(code(one) for one in await peer.line()) == [(1, None), (2, CANCELLED)]


# --- pulling


@on_both_loops
async def test_pulled_a_request_that_was_taken_learns_of_it() -> None:
    async with with_peer(role="agent") as (conn, peer):
        peer.send(request(1, "r"))
        [asked] = await within(conn.receive())
        assert isinstance(asked, Request) and not asked.cancelled
        peer.send(cancel(1))
        [told] = await within(conn.receive())
        assert told.method == "$/cancel_request" and asked.cancelled and not asked.answered
        asked.fail(CANCELLED, "Request cancelled")
        assert code(await peer.line()) == (1, CANCELLED)


@on_both_loops
async def test_pulled_a_request_nobody_took_is_answered_and_never_seen() -> None:
    async with with_peer(role="agent") as (conn, peer):
        peer.send(request(1, "r"), request(2, "r"), cancel(1))
        assert code(await peer.line()) == (1, CANCELLED)
        events = await within(conn.receive())
        assert [getattr(event, "id", None) for event in events] == [2, None]
        events[0].reply()
        assert await peer.line() == result(2)
        assert await within(conn.receive(max_wait=0)) == []
        assert conn.stats().inbox.used == conn.stats().open_requests == 0


@on_both_loops
async def test_a_pull_that_finds_only_withdrawn_requests_goes_on_waiting() -> None:
    async with with_peer(role="agent") as (conn, peer):
        peer.send(request(1, "r"))
        await peer.until_sent()
        await turns()
        pulling = asyncio.ensure_future(anext(aiter(conn)))
        peer.send(cancel(1), notification("n"))
        first = await within(pulling)
        assert getattr(first, "id", None) == 1 or first.method == "$/cancel_request"
        assert (await within(anext(aiter(conn)))).method in ("$/cancel_request", "n")


# --- any order of things


actions = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(0, 5)),
        st.tuples(st.just("cancel"), st.integers(0, 6)),
        st.tuples(st.just("hold"), st.just(0)),
        st.tuples(st.just("turns"), st.integers(1, 4)),
        st.tuples(st.just("free"), st.just(0)),
    ),
    max_size=25,
)


async def act(actions: list[tuple[str, int]], slow: Slow, peer: Peer) -> int:
    """Do it; returns how many answers are owed."""
    for what, number in actions:
        if what == "ask":
            peer.send(request(number, "r", sessionId="a"))
        elif what == "cancel":
            peer.send(cancel(number))
        elif what == "hold":
            peer.send(notification("n", sessionId="a"))
        elif what == "turns":
            await turns(number)
        else:
            slow.gate.set()
    slow.gate.set()
    return sum(what == "ask" for what, _ in actions)


async def host(conn: Connection) -> None:
    async for event in conn:
        if isinstance(event, Request):
            await asyncio.sleep(0)
            event.reply()


@pytest.mark.parametrize("kind", LOOPS)
@given(actions=actions, pulled=st.booleans())
def test_each_request_is_answered_once_whatever_is_cancelled_when(
    kind: str, actions: list[tuple[str, int]], pulled: bool
) -> None:
    async def main() -> None:
        slow = Slow()
        async with with_peer(None if pulled else slow.handlers, role="agent") as (conn, peer):
            hosting = asyncio.create_task(host(conn)) if pulled else None
            answers = await peer.lines(await act(actions, slow, peer))
            await turns()
            assert peer.rest() == []
            assert {one.get("error", {}).get("code") for one in answers} <= {None, CANCELLED, -32600}
            assert conn.stats().open_requests == 0
            if hosting is not None:
                hosting.cancel()

    run_often(kind, main)


@on_both_loops
async def test_a_cancelled_answer_at_the_hard_cap_is_still_one_answer() -> None:
    """The handler has returned and its answer waits for room: a cancel comes too late, and changes nothing."""
    handlers = Handlers()
    handlers.on("r")(lambda asked: {"pad": "x" * 400})
    limits = Limits(outbox_low=10, outbox_high=100, outbox_hard=600, stall_timeout=60)
    async with with_peer(handlers, role="agent", limits=limits, capacity=10) as (conn, peer):
        peer.stop_reading()
        peer.send(request(1, "r"), request(2, "r"))
        await until(lambda: conn.control_waits)
        peer.send(cancel(2))
        await turns()
        peer.read_on()
        assert [line["id"] for line in await peer.lines(2)] == [1, 2]
        await turns()
        assert peer.rest() == [] and conn.stats().open_requests == 0


# --- a session is cancelled


@pytest.mark.parametrize("how", ["coroutine", "pulling"])
@on_both_loops
async def test_cancelling_a_session_answers_its_open_permission_requests(how: str) -> None:
    """RULES 3.13: the client must answer them ``cancelled``; those of other sessions stay open."""
    handlers = Handlers()
    asked: list[str | None] = []
    ended: list[str | None] = []

    @handlers.on("session/request_permission")
    async def permit(question: Request) -> Any:
        asked.append(question.session_id)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(question.session_id)

    async with with_peer(handlers if how == "coroutine" else None) as (conn, peer):
        peer.send(*(request(k, "session/request_permission", sessionId=name) for k, name in enumerate("aab")))
        if how == "coroutine":
            await until(lambda: len(asked) == 3)
        await turns()
        await conn.cancel_session("a")
        lines = [await peer.line() for _ in range(3)]
        assert lines[0]["method"] == "session/cancel" and lines[0]["params"] == {"sessionId": "a"}
        assert [(line["id"], line["result"]) for line in lines[1:]] == [
            (k, {"outcome": {"outcome": "cancelled"}}) for k in (0, 1)
        ]
        await turns()
        assert ended == (["a", "a"] if how == "coroutine" else [])
        assert conn.stats().open_requests == 1
