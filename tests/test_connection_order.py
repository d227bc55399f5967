"""What starts when: notifications of a session one after the other, answers and requests at their place."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from ends import (
    LONG,
    encode,
    error,
    notification,
    on_both_loops,
    pair,
    request,
    result,
    run_often,
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
from traces import Trace, n, r

from acpcore import Handlers, Limits, Overrun, Request, watch

# --- notifications


@on_both_loops
async def test_handlers_of_one_session_run_one_after_the_other() -> None:
    trace = Trace()
    async with with_peer(trace.handlers()) as (_, peer):
        peer.send(n("1"), n("2"), n("3"))
        await trace.has("+1")
        await turns()
        assert trace.log == ["+1"]
        for name, following in (("1", "+2"), ("2", "+3")):
            trace.gate(name).set()
            await trace.has(following)
        trace.gate("3").set()
        await trace.has("-3")
        assert trace.log == ["+1", "-1", "+2", "-2", "+3", "-3"]


@on_both_loops
async def test_sessions_do_not_wait_for_each_other_and_no_session_is_one_of_them() -> None:
    trace = Trace()
    async with with_peer(trace.handlers()) as (_, peer):
        peer.send(n("a1"), n("a2"), n("b1", "b"), n("x1", None), n("x2", None))
        await trace.has("+x1")
        assert trace.log == ["+a1", "+b1", "+x1"]
        for name in ("a1", "a2", "b1", "x1", "x2"):
            trace.gate(name).set()
        await trace.has("-x2")
        await trace.has("-a2")


@pytest.mark.parametrize("sync", [True, False])
@on_both_loops
async def test_wire_order_is_handling_order(sync: bool) -> None:
    """LOG 42: chunk, answer 1, chunk, chunk, answer 2 in one write."""
    log: list[str] = []
    handlers = Handlers()

    def note(event: Any) -> None:
        log.append(text_of(event))

    async def note_later(event: Any) -> None:
        await asyncio.sleep(0)
        note(event)

    handlers.on("session/update")(note if sync else note_later)
    async with with_peer(handlers) as (conn, peer):

        async def call(name: str) -> None:
            await conn.request("session/prompt", {"sessionId": "s1"})
            log.append(name)

        calls = [asyncio.create_task(call(name)) for name in ("first", "second")]
        await peer.lines(2)
        peer.send(update("1"), result(0), update("2"), update("3"), result(1), update("4"))
        await within(asyncio.gather(*calls))
        await turns()
        assert log == ["1", "first", "2", "3", "second", "4"]


@on_both_loops
async def test_updates_before_the_answer_that_names_their_session() -> None:
    """LOG 44: the session is that of the result."""
    log: list[str] = []
    handlers = Handlers()

    @handlers.on("session/update")
    async def note(event: Any) -> None:
        await asyncio.sleep(0)
        log.append(text_of(event))

    async with with_peer(handlers) as (conn, peer):
        call = asyncio.create_task(conn.request("session/new", {}))
        await peer.line()
        early = [update(text, "s-new") for text in ("early 1", "early 2")]
        peer.send(*early, result(0, {"sessionId": "s-new"}), update("later", "s-new"))
        reply = await within(call)
        log.append(reply["sessionId"])
        await turns()
        assert log == ["early 1", "early 2", "s-new", "later"]


rows = st.lists(
    st.tuples(st.sampled_from(["n", "n", "r", "answer"]), st.sampled_from(["a", "b", None]), st.integers(0, 3)),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("kind", LOOPS)
@given(rows=rows, sync=st.booleans(), cut=st.integers(1, 200))
def test_any_schedule_keeps_the_promises(
    kind: str, rows: list[tuple[str, str | None, int]], sync: bool, cut: int
) -> None:
    """Handlers of a session do not overlap; an answer comes after all earlier ones and before any later one."""
    log: list[tuple[str, int]] = []

    async def main() -> None:
        handlers = Handlers()

        async def slow(message: Any) -> None:
            at = message.params["at"]
            log.append(("+", at))
            for _ in range(rows[at][2]):
                await asyncio.sleep(0)
            log.append(("-", at))

        def quick(message: Any) -> None:
            log.extend([("+", message.params["at"]), ("-", message.params["at"])])

        handlers.on("n")(quick if sync else slow)
        handlers.on("r")(slow)
        async with with_peer(handlers) as (conn, peer):

            async def call(at: int, session: str | None) -> None:
                await conn.request("_t/call", {} if session is None else {"sessionId": session})
                log.append(("=", at))

            answers = [at for at, row in enumerate(rows) if row[0] == "answer"]
            calls = [asyncio.create_task(call(at, rows[at][1])) for at in answers]
            ids = dict(zip(answers, [line["id"] for line in await peer.lines(len(answers))], strict=True))
            data = b""
            for at, (what, session, _) in enumerate(rows):
                params = {"at": at} if session is None else {"at": at, "sessionId": session}
                message = {"n": notification("n", **params), "r": request(at, "r", **params)}
                data += encode(message.get(what, result(ids.get(at))))
            for start in range(0, len(data), cut):
                peer.send(data[start : start + cut])
                await turns(1)
            await within(asyncio.gather(*calls))
            asked = sum(what == "r" for what, _, _ in rows)
            await peer.lines(asked)
            while len(log) < 2 * len(rows) - len(answers):
                await turns(1)

    run_often(kind, main)
    check_schedule(rows, log)


def check_schedule(rows: list[tuple[str, str | None, int]], log: list[tuple[str, int]]) -> None:
    place = {mark: at for at, mark in enumerate(log)}
    assert len(place) == len(log) == sum(1 if what == "answer" else 2 for what, _, _ in rows)
    for later, (what, session, _) in enumerate(rows):
        earlier = [at for at, row in enumerate(rows[:later]) if row[:2] == ("n", session)]
        begin = place[("=" if what == "answer" else "+", later)]
        if what == "answer" and session is None:
            continue
        assert all(place["-", at] < begin for at in earlier)
        following = [at for at, row in enumerate(rows) if at > later and row[:2] == ("n", session)]
        if what == "answer":
            assert all(begin < place["+", at] for at in following)


# --- requests


@on_both_loops
async def test_a_request_handler_starts_when_earlier_notifications_are_handled_and_then_runs_beside() -> None:
    trace = Trace()
    async with with_peer(trace.handlers(), role="agent") as (_, peer):
        peer.send(n("before"), r(1, "request"), n("after"))
        await trace.has("+before")
        await turns()
        assert trace.log == ["+before"]
        trace.gate("before").set()
        await trace.has("+after")
        await trace.has("+request")
        assert trace.log[:2] == ["+before", "-before"]
        trace.gate("after").set()
        await trace.has("-after")
        trace.gate("request").set()
        assert (await peer.line())["id"] == 1


@on_both_loops
async def test_requests_of_one_session_run_beside_each_other() -> None:
    trace = Trace()
    async with with_peer(trace.handlers(), role="agent") as (_, peer):
        peer.send(*(r(ident, str(ident)) for ident in range(3)))
        await trace.has("+2")
        for ident in (2, 0, 1):
            trace.gate(str(ident)).set()
            assert (await peer.line())["id"] == ident


@pytest.mark.parametrize("between", [True, False], ids=["an answer between", "nothing between"])
@pytest.mark.parametrize("at", ["call", "door"])
@on_both_loops
async def test_a_request_starts_behind_a_handler_that_waits_for_the_peer(at: str, between: bool) -> None:
    """Whatever the handler waits for may depend on that request (LOG 45)."""
    log: list[str] = []
    handlers = Handlers()

    @handlers.on("n")
    async def waits(message: Any) -> None:
        if at == "call":
            await message.conn.request("_t/back")
        else:
            await message.conn.notify("_t/bulk", {"pad": "x" * 200}, bulk=True)
        log.append("went on")

    @handlers.on("r")
    def serve(message: Any) -> dict[str, int]:
        log.append("request")
        return {"served": 1}

    limits = Limits(outbox_low=10, outbox_high=100, stall_timeout=60)
    capacity = 10 if at == "door" else 1000  # so that all comes in one read, before the handler waits
    async with with_peer(handlers, role="agent", limits=limits, capacity=capacity) as (conn, peer):
        other = asyncio.create_task(conn.request("_t/other", {"sessionId": "a"}))
        assert (await peer.line())["method"] == "_t/other"
        if at == "door":
            peer.stop_reading()
            await conn.notify("_t/fill", {"pad": "x" * 200}, bulk=True)
        peer.send(n("1"), *([result(0)] if between else []), r(1, "request"))
        if at == "call":
            [back, answer] = await peer.lines(2)
            assert back["method"] == "_t/back" and answer == result(1, {"served": 1})
            assert log == ["request"], "an answer that stands behind the handler does not hold the request up"
            peer.send(result(back["id"]))
        else:
            while log != ["request"]:
                await turns(1)
            peer.read_on()
            assert [line.get("method") for line in await peer.lines(3)] == ["_t/fill", None, "_t/bulk"]
        if not between:
            peer.send(result(0))
        await within(other)
        assert log == ["request", "went on"]


@on_both_loops
async def test_a_request_waits_for_a_handler_that_waits_for_something_else() -> None:
    trace = Trace()
    async with with_peer(trace.handlers(), role="agent") as (conn, peer):
        call = asyncio.create_task(trace.call(conn, "outside", "b"))
        await peer.line()
        peer.send(n("1"), r(1, "request"))
        await trace.has("+1")
        await turns()
        assert trace.log == ["+1"]
        trace.gate("1").set()
        await trace.has("+request")
        trace.gate("request").set()
        assert (await peer.line())["id"] == 1
        peer.send(result(0))
        await within(call)


# --- answers


@pytest.mark.parametrize("sync", [True, False])
@on_both_loops
async def test_an_answer_comes_after_earlier_and_before_later_notifications(sync: bool) -> None:
    trace = Trace()
    async with with_peer(trace.handlers(sync=sync)) as (conn, peer):
        call = asyncio.create_task(trace.call(conn, "answer"))
        await peer.line()
        for name in ("1", "2", "3"):
            trace.gate(name).set()
        peer.send(n("1"), n("2"), result(0), n("3"))
        await within(call)
        await trace.has("3" if sync else "-3")
        names = ["1", "2", "=answer", "3"] if sync else ["+1", "-1", "+2", "-2", "=answer", "+3", "-3"]
        assert trace.log == names


@on_both_loops
async def test_an_answer_waits_for_its_own_session_only() -> None:
    trace = Trace()
    async with with_peer(trace.handlers()) as (conn, peer):
        calls = [asyncio.create_task(trace.call(conn, name, name)) for name in ("a", "b")]
        calls.append(asyncio.create_task(trace.call(conn, "none", None)))
        await peer.lines(3)
        peer.send(n("1"), result(0), result(1), result(2))
        await within(asyncio.gather(*calls[1:]))
        assert not calls[0].done() and "=a" not in trace.log
        trace.gate("1").set()
        await within(calls[0])
        assert trace.log.index("-1") < trace.log.index("=a")


@on_both_loops
async def test_an_error_keeps_its_place_too() -> None:
    trace = Trace()
    async with with_peer(trace.handlers()) as (conn, peer):
        call = asyncio.create_task(trace.call(conn, "answer"))
        await peer.line()
        peer.send(n("1"), error(0, 5))
        await trace.has("+1")
        await turns()
        assert not call.done()
        trace.gate("1").set()
        with pytest.raises(Exception, match="no"):
            await within(call)


@on_both_loops
async def test_on_result_runs_at_the_answers_place() -> None:
    trace = Trace()
    async with with_peer(trace.handlers(sync=True)) as (conn, peer):
        got: list[Any] = []

        def on_result(value: Any) -> None:
            got.append(value)
            trace.note("result")

        call = asyncio.create_task(trace.call(conn, "answer", on_result=on_result))
        await peer.line()
        peer.send(n("1"), result(0, {"v": 1}), n("2"))
        assert await within(call) == {"v": 1}
        await trace.has("2")
        assert trace.log == ["1", "result", "=answer", "2"] and got == [{"v": 1}]


@on_both_loops
async def test_what_on_result_raises_is_what_the_caller_gets() -> None:
    def on_result(value: Any) -> None:
        raise LookupError("not mine")

    async with with_peer(Handlers()) as (conn, peer):
        call = asyncio.create_task(conn.request("_t/call", on_result=on_result))
        await peer.answer()
        with pytest.raises(LookupError):
            await within(call)


@on_both_loops
async def test_an_unordered_call_does_not_wait() -> None:
    trace = Trace()
    async with with_peer(trace.handlers()) as (conn, peer):
        call = asyncio.create_task(trace.call(conn, "answer", ordered=False))
        await peer.line()
        peer.send(n("1"), result(0))
        await within(call)
        assert "-1" not in trace.log
        trace.gate("1").set()
        await trace.has("-1")


@on_both_loops
async def test_a_call_that_is_given_up_while_its_answer_waits() -> None:
    """The answer was read: nothing is cancelled at the peer, and the session goes on."""
    trace = Trace()
    async with with_peer(trace.handlers()) as (conn, peer):
        call = asyncio.create_task(trace.call(conn, "answer"))
        await peer.line()
        peer.send(n("1"), result(0), n("2"))
        await trace.has("+1")
        await turns()
        call.cancel()
        await asyncio.wait([call])
        trace.gate("1").set()
        trace.gate("2").set()
        await trace.has("-2")
        assert trace.log == ["+1", "-1", "+2", "-2"] and peer.rest() == []


# --- calls in handlers


@pytest.mark.parametrize("how", ["await", "wait_for", "gather", "task", "thread"])
@on_both_loops
async def test_a_call_in_a_handler_does_not_wait_for_that_handler(how: str) -> None:
    """Also with more of the same session behind it, and the answer naming that session."""
    log: list[Any] = []
    handlers = Handlers()

    @handlers.on("n")
    async def ask(message: Any) -> None:
        call = message.conn.request("_t/call", {"sessionId": "a"})
        if how == "await":
            log.append(await call)
        elif how == "wait_for":
            log.append(await asyncio.wait_for(call, LONG))
        elif how == "gather":
            log.extend(await asyncio.gather(call))
        elif how == "task":
            log.append(await message.conn.start(call))
        else:
            call.close()
            ask = message.conn.threadsafe.request
            log.append(await asyncio.to_thread(lambda: ask("_t/call", {"sessionId": "a"}).result(LONG)))
        log.append(message.params["name"])

    async with with_peer(handlers) as (_, peer):
        peer.send(n("1"), n("2"))
        await peer.answer({"sessionId": "a"})
        await peer.answer({"sessionId": "a"})
        await until(lambda: len(log) == 4)
        assert log == [{"sessionId": "a"}, "1", {"sessionId": "a"}, "2"]


@pytest.mark.parametrize("pending", ["initialize", "session/new", "session/prompt"])
@on_both_loops
async def test_a_request_handler_may_ask_back_while_a_call_is_pending(pending: str) -> None:
    """LOG 45: the handler of a request sends one itself and waits for it."""
    client_handlers, agent_handlers = Handlers(), Handlers()

    @client_handlers.on("session/request_permission")
    async def permission(asked: Request) -> Any:
        await asyncio.sleep(0)
        return {"outcome": {"outcome": "selected", "optionId": (await asked.conn.request("_t/which"))["option"]}}

    @agent_handlers.on(pending)
    async def serve(asked: Request) -> Any:
        return await asked.conn.request("session/request_permission", {"sessionId": "s1"})

    agent_handlers.on("_t/which")(lambda asked: {"option": "yes"})
    async with pair(client_handlers, agent_handlers) as (client, _):
        reply = await within(client.request(pending, {"sessionId": "s1"}))
        assert reply == {"outcome": {"outcome": "selected", "optionId": "yes"}}


@on_both_loops
async def test_background_work_calls_in_order_once_its_handler_has_returned() -> None:
    trace = Trace()
    handlers = trace.handlers()

    @handlers.on("session/prompt")
    async def prompt(asked: Request) -> None:
        asked.conn.start(trace.call(asked.conn, "turn"))

    async with with_peer(handlers, role="agent") as (_, peer):
        peer.send(request(1, "session/prompt", sessionId="a"))
        assert {line.get("method") for line in await peer.lines(2)} == {None, "_t/call"}
        peer.send(n("1"), result(0))
        await trace.has("+1")
        await turns()
        assert "=turn" not in trace.log
        trace.gate("1").set()
        await trace.has("=turn")


@on_both_loops
async def test_a_handler_that_waits_in_a_way_no_rule_can_see_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "STUCK", 0.1)
    work: asyncio.Queue[asyncio.Future[Any]] = asyncio.Queue()
    reports: list[tuple[BaseException, str]] = []
    told = asyncio.Event()
    handlers = Handlers()

    @handlers.on("n")
    async def hands_its_call_to_another_task(message: Any) -> None:
        future = asyncio.get_running_loop().create_future()
        work.put_nowait(future)
        await future

    def on_error(error: BaseException, context: str) -> None:
        reports.append((error, context))
        told.set()

    async with with_peer(handlers, on_error=on_error) as (conn, peer):

        async def worker() -> None:
            future = await work.get()
            future.set_result(await conn.request("_t/call", {"sessionId": "a"}, timeout=LONG))

        task = asyncio.create_task(worker())
        await turns(2)
        peer.send(n("1"))
        await peer.answer()
        await within(told.wait())
        await asyncio.sleep(0.3)
        [(error, context)] = reports
        assert isinstance(error, Overrun)
        assert "_t/call" in str(error) and "hands_its_call_to_another_task" in str(error)
        assert "hands_its_call_to_another_task" in context
        task.cancel()
        await asyncio.wait([task])


@on_both_loops
async def test_a_request_that_stands_behind_a_wait_and_updates_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The peer may wait for this very answer: order keeps both where they are, but not in silence."""
    monkeypatch.setattr(watch, "STUCK", 0.1)
    reports: list[BaseException] = []
    told = asyncio.Event()
    handlers = Handlers()

    @handlers.on("n")
    async def asks(message: Any) -> None:
        await message.conn.request("_t/call", {"sessionId": "a"})

    @handlers.on("r")
    def answers(asked: Request) -> None:
        raise AssertionError("it stands behind an update that has not started")

    def on_error(error: BaseException, context: str) -> None:
        reports.append(error)
        told.set()

    async with with_peer(handlers, role="agent", on_error=on_error) as (_, peer):
        peer.send(n("1"), n("2"), r(1, "1"))
        await within(told.wait())
        [error] = reports
        assert isinstance(error, Overrun)
        assert "request r " in str(error) and "asks" in str(error)
