"""Handlers: how they are found, what becomes of what they return and raise."""

from __future__ import annotations

import asyncio
import functools
import logging
from typing import Any

import pytest
from ends import (
    encode,
    notification,
    on_both_loops,
    pair,
    request,
    result,
    terminal,
    text_of,
    turns,
    update,
    with_peer,
    within,
)

from acpcore import (
    BadFrame,
    Closed,
    FrameTooLarge,
    Handlers,
    InvalidParams,
    Limits,
    Notification,
    RemoteError,
    Request,
    TerminalBytes,
    Truncated,
    UsageError,
)
from acpcore.schema import (
    CancelSessionNotification,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    UpdateSessionNotification,
)

Reports = list[tuple[BaseException, str]]


def agent(handlers: Handlers, reports: Reports | None = None, **options: Any) -> Any:
    """An agent and its peer; what handlers raise goes to ``reports``."""
    if reports is not None:
        options["on_error"] = lambda error, context: reports.append((error, context))
    return with_peer(handlers, role="agent", **options)


# --- finding one


@on_both_loops
async def test_a_request_without_a_handler_and_a_notification_without_one() -> None:
    async with agent(Handlers()) as (conn, peer):
        peer.send(request(1, "missing"), notification("missing"), request(2, "session/prompt", sessionId="s1"))
        assert [(line["id"], line["error"]["code"]) for line in await peer.lines(2)] == [(1, -32601), (2, -32601)]
        assert conn.stats().unhandled == 1


@on_both_loops
async def test_updates_nobody_handles_are_counted_once_they_are_dropped() -> None:
    async with with_peer(Handlers()) as (conn, peer):
        peer.send(*(update("x" * 1000) for _ in range(200)))
        await peer.until_sent()
        await turns()
        assert 100 < conn.stats().unhandled < 200  # the last of them are kept for a session that is about to be opened
        assert conn.stats().inbox.used == 0


@on_both_loops
async def test_handlers_by_type_by_name_and_for_the_rest() -> None:
    seen: list[Any] = []
    handlers = Handlers()

    @handlers.on(NewSessionRequest)
    async def new(asked: Request) -> NewSessionResponse:
        seen.append(asked.params)
        return NewSessionResponse(session_id="s1")

    handlers.on(CancelSessionNotification)(lambda told: seen.append(told.params))
    handlers.on("_t/named", decode=lambda raw: bytes(raw))(lambda message: seen.append(message.params))
    handlers.on("*")(lambda message: seen.append(message.method))
    async with agent(handlers) as (_, peer):
        peer.send(
            request(1, "session/new", cwd="/w", mcpServers=[]),
            notification("session/cancel", sessionId="s1"),
            notification("_t/named", a=1),
            notification("_t/else"),
            request(2, "_t/else"),
        )
        answers = {line["id"]: line["result"] for line in await peer.lines(2)}
        assert answers == {1: {"sessionId": "s1"}, 2: {}}
        new_session, cancel = NewSessionRequest(cwd="/w", mcp_servers=[]), CancelSessionNotification(session_id="s1")
        expected = [new_session, cancel, b'{"a": 1}', "_t/else", "_t/else"]
        assert len(seen) == 5 and all(one in seen for one in expected)


@on_both_loops
async def test_requests_and_notifications_of_one_name() -> None:
    seen: list[str] = []
    handlers = Handlers()
    handlers.request("m")(lambda message: seen.append(type(message).__name__))
    handlers.notification("m")(lambda message: seen.append(type(message).__name__))
    handlers.notification("n")(lambda message: seen.append("never"))
    async with agent(handlers) as (_, peer):
        peer.send(request(1, "m"), notification("m"), request(2, "n"))
        assert [line.get("error", {}).get("code") for line in await peer.lines(2)] == [None, -32601]
        assert sorted(seen) == ["Notification", "Request"]


@on_both_loops
async def test_events_have_handlers_too() -> None:
    seen: list[Any] = []
    handlers = Handlers()
    for kind in (BadFrame, FrameTooLarge, Truncated, TerminalBytes):
        handlers.on(kind)(seen.append)
    async with with_peer(handlers, limits=Limits(max_frame=300)) as (conn, peer):
        peer.send(b"noise\n", update("x" * 400), terminal("YQ=="), terminal("Yg=="), b'{"cut')
        peer.end()
        await within(conn.closed)
        assert [type(event) for event in seen] == [BadFrame, FrameTooLarge, TerminalBytes, Truncated]
        assert seen[2].data == b"ab" and seen[2].sizes == [1, 1]


@pytest.mark.parametrize("what", [5, Closed, Request, object, Limits])
def test_what_cannot_be_registered(what: Any) -> None:
    with pytest.raises(UsageError):
        Handlers().on(what)(print)


def test_a_type_of_the_wrong_kind_and_something_that_is_no_function() -> None:
    with pytest.raises(UsageError, match="is a notification"):
        Handlers().request(CancelSessionNotification)(print)
    with pytest.raises(UsageError, match="is a request"):
        Handlers().notification(PromptRequest)(print)
    with pytest.raises(UsageError, match="function"):
        Handlers().on("m")("text")  # type: ignore[type-var]


class Service:
    """Callables of all kinds."""

    async def method(self, asked: Request) -> dict[str, str]:
        return {"by": "method"}

    async def __call__(self, asked: Request) -> dict[str, str]:
        return {"by": "object"}

    @staticmethod
    async def with_more(more: str, asked: Request) -> dict[str, str]:
        return {"by": more}


@on_both_loops
async def test_any_callable_is_a_handler() -> None:
    handlers = Handlers()
    service = Service()
    handlers.on("method")(service.method)
    handlers.on("object")(service)
    handlers.on("partial")(functools.partial(Service.with_more, "partial"))
    handlers.on("lambda")(lambda asked: {"by": "lambda"})
    handlers.on("awaitable")(lambda asked: service.with_more("awaitable", asked))
    handlers.on("future")(lambda asked: asyncio.ensure_future(service.with_more("future", asked)))
    async with pair(None, handlers) as (client, _):
        for name in ("method", "object", "partial", "lambda", "awaitable", "future"):
            assert await within(client.request(name)) == {"by": name}


@on_both_loops
async def test_a_function_that_returns_something_to_await_holds_its_lane() -> None:
    log: list[str] = []
    handlers = Handlers()

    async def later(text: str) -> None:
        log.append(f"+{text}")
        await turns(3)
        log.append(f"-{text}")

    handlers.on("n")(lambda message: later(message.params["name"]))
    async with with_peer(handlers) as (_, peer):
        peer.send(*(notification("n", name=name, sessionId="a") for name in "123"))
        while len(log) < 6:
            await turns(1)
        assert log == ["+1", "-1", "+2", "-2", "+3", "-3"]


# --- what they return


@on_both_loops
async def test_results() -> None:
    handlers = Handlers()
    values = {"none": None, "dict": {"a": 1}, "raw": b'{"b":\n2}', "struct": NewSessionResponse(session_id="s")}
    for name, value in values.items():
        handlers.on(name)(lambda asked, value=value: value)
    async with agent(handlers) as (_, peer):
        peer.send(*(request(name, name) for name in values))
        answers = {line["id"]: line["result"] for line in await peer.lines(4)}
        assert answers == {"none": {}, "dict": {"a": 1}, "raw": {"b": 2}, "struct": {"sessionId": "s"}}


@pytest.mark.parametrize(
    "value", [{"a": "\ud800"}, object(), b"{", {"a": "x" * 2000}], ids=["text", "type", "raw", "size"]
)
@pytest.mark.parametrize("sync", [True, False])
@on_both_loops
async def test_a_result_that_cannot_be_sent_is_an_internal_error(value: Any, sync: bool) -> None:
    reports: Reports = []
    handlers = Handlers()

    async def later(asked: Request) -> Any:
        return value

    handlers.on("r")((lambda asked: value) if sync else later)
    async with agent(handlers, reports, limits=Limits(max_send_frame=1000)) as (conn, peer):
        peer.send(request(1, "r"))
        assert (await peer.line())["error"] == {"code": -32603, "message": "Internal error"}
        assert [type(error) for error, _ in reports] == [UsageError]
        assert conn.stats().open_requests == 0


@on_both_loops
async def test_explicit_answers() -> None:
    handlers = Handlers()
    twice: list[str] = []

    @handlers.on("reply")
    async def reply(asked: Request) -> str:
        assert asked.reply({"by": "reply"}) is True
        with pytest.raises(UsageError, match="answered already") as failure:
            asked.fail(1, "again")
        twice.append(str(failure.value))
        return "not sent"

    @handlers.on("fail")
    def fail(asked: Request) -> None:
        assert asked.fail(7, "no", {"why": 1}) is True
        with pytest.raises(UsageError):
            asked.conn.reply(asked)

    async with agent(handlers) as (_, peer):
        peer.send(request(1, "reply"), request(2, "fail"))
        answers = {line["id"]: line for line in await peer.lines(2)}
        assert answers[1]["result"] == {"by": "reply"}
        assert answers[2]["error"] == {"code": 7, "message": "no", "data": {"why": 1}}
        await turns()
        assert peer.rest() == [] and len(twice) == 1


@pytest.mark.parametrize("arguments", [(None, "x"), (1.5, "x"), (True, "x"), (2**63, "x"), (1, None), (1, "\ud800")])
@on_both_loops
async def test_an_error_answer_must_be_one(arguments: Any) -> None:
    handlers = Handlers()

    @handlers.on("r")
    def serve(asked: Request) -> dict[str, bool]:
        with pytest.raises(UsageError):
            asked.fail(*arguments)
        return {"answered": asked.answered}

    async with agent(handlers) as (_, peer):
        peer.send(request(1, "r"))
        assert await peer.line() == result(1, {"answered": False})


# --- what they raise


SECRET = "what the peer must not see"


class Broken(Exception):
    pass


@pytest.mark.parametrize("sync", [True, False])
@on_both_loops
async def test_what_a_request_handler_raises(sync: bool) -> None:
    reports: Reports = []
    handlers = Handlers()
    errors = {
        "any": Broken(SECRET),
        "remote": RemoteError(-32000, "log in", {"methods": ["x"]}),
        "params": InvalidParams("prompt[0]", "expected object"),
        "bad data": RemoteError(5, "no", object()),
        "bad code": RemoteError("5", "no"),  # type: ignore[arg-type]
        "bad text": RemoteError(5, "\ud800"),
    }

    def raises(asked: Request) -> None:
        raise errors[asked.method]

    async def later(asked: Request) -> None:
        raises(asked)

    for name in errors:
        handlers.on(name)(raises if sync else later)
    async with agent(handlers, reports) as (conn, peer):
        peer.send(*(request(name, name) for name in errors))
        answers = {line["id"]: line["error"] for line in await peer.lines(len(errors))}
        internal = {"code": -32603, "message": "Internal error"}
        assert answers["any"] == internal
        assert answers["remote"] == {"code": -32000, "message": "log in", "data": {"methods": ["x"]}}
        assert answers["params"]["code"] == -32602 and "prompt[0]" in answers["params"]["message"]
        assert answers["bad data"] == answers["bad code"] == answers["bad text"] == internal
        assert SECRET not in str(peer.data)
        assert {type(error) for error, _ in reports} == {Broken, UsageError}
        assert conn.stats().open_requests == 0


@on_both_loops
async def test_an_error_after_the_answer_is_reported_and_changes_nothing() -> None:
    reports: Reports = []
    handlers = Handlers()

    @handlers.on("r")
    async def serve(asked: Request) -> None:
        asked.reply({"fine": True})
        raise RemoteError(1, "too late")

    async with agent(handlers, reports) as (_, peer):
        peer.send(request(1, "r"))
        assert await peer.line() == result(1, {"fine": True})
        await turns()
        assert peer.rest() == [] and [type(error) for error, _ in reports] == [RemoteError]


@pytest.mark.parametrize("sync", [True, False])
@on_both_loops
async def test_a_notification_handler_that_raises_does_not_stop_its_lane(sync: bool) -> None:
    reports: Reports = []
    seen: list[int] = []
    handlers = Handlers()

    def handle(message: Notification) -> None:
        seen.append(message.params["n"])
        raise Broken(message.params["n"])

    async def later(message: Notification) -> None:
        await asyncio.sleep(0)
        handle(message)

    handlers.on("n")(handle if sync else later)
    async with agent(handlers, reports) as (conn, peer):
        peer.send(*(notification("n", n=n, sessionId="a") for n in range(3)))
        while len(reports) < 3:
            await turns(1)
        assert seen == [0, 1, 2] and all(isinstance(error, Broken) for error, _ in reports)
        assert "handle" in reports[0][1] or "later" in reports[0][1]
        await turns()
        assert conn.stats().inbox.used == 0


@on_both_loops
async def test_a_handler_that_raises_a_cancellation_of_its_own_does_not_stop_its_lane() -> None:
    reports: Reports = []
    seen: list[int] = []
    handlers = Handlers()

    @handlers.on("n")
    async def handle(message: Notification) -> None:
        seen.append(message.params["n"])
        raise asyncio.CancelledError

    async with agent(handlers, reports) as (_, peer):
        peer.send(*(notification("n", n=n, sessionId="a") for n in range(3)))
        while len(reports) < 3:
            await turns(1)
        assert seen == [0, 1, 2]


@on_both_loops
async def test_params_that_do_not_fit_their_type() -> None:
    """LOG 37: the answer names the parameter, the channel lives, the handler never sees it."""
    reports: Reports = []
    seen: list[Any] = []
    handlers = Handlers()
    handlers.on(PromptRequest)(seen.append)
    handlers.on(UpdateSessionNotification)(seen.append)
    async with agent(handlers, reports) as (_, peer):
        peer.send(request(1, "session/prompt", sessionId="s1", content=[]), request(2, "missing"))
        bad = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 5}, "messageId": "m"}
        peer.send(notification("session/update", sessionId="s1", update=bad))
        answers = {line["id"]: line["error"] for line in await peer.lines(2)}
        assert answers[1]["code"] == -32602 and "prompt" in answers[1]["message"]
        assert answers[2]["code"] == -32601
        await turns()
        assert seen == [] and [type(error) for error, _ in reports] == [InvalidParams]


@on_both_loops
async def test_without_on_error_the_log_gets_it_and_no_payload(caplog: pytest.LogCaptureFixture) -> None:
    caplog.clear()
    handlers = Handlers()

    @handlers.on("n")
    def handle(message: Notification) -> None:
        raise Broken("the reason")

    def on_error(error: BaseException, context: str) -> None:
        raise LookupError("on_error is broken too")

    for options in ({}, {"on_error": on_error}):
        async with with_peer(handlers, **options) as (_, peer):
            peer.send(notification("n", secret=SECRET))
            await turns()
    records = [record for record in caplog.records if record.name == "acpcore"]
    assert [record.levelno for record in records] == [logging.ERROR] * 3
    text = caplog.text
    assert "the reason" in text and "on_error is broken too" in text and SECRET not in text


@on_both_loops
async def test_noise_is_logged_a_few_times_and_not_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    caplog.clear()
    async with with_peer(Handlers()) as (conn, peer):
        peer.send(*(b"noise\n" for _ in range(500)))
        await peer.until_sent()
        await turns()
        assert conn.stats().bad_frames == 500
    assert 0 < len(caplog.records) < 50


# --- limits


@on_both_loops
async def test_more_requests_at_once_than_the_limit_are_refused() -> None:
    handlers = Handlers()
    gate = asyncio.Event()

    @handlers.on("r")
    async def serve(asked: Request) -> None:
        await gate.wait()

    async with agent(handlers, limits=Limits(max_running=3)) as (_, peer):
        peer.send(*(request(n, "r") for n in range(5)))
        refused = await peer.lines(2)
        assert [(line["id"], line["error"]["code"]) for line in refused] == [(3, -32603), (4, -32603)]
        gate.set()
        assert {line["id"] for line in await peer.lines(3)} == {0, 1, 2}
        peer.send(request(9, "r"))
        assert await peer.line() == result(9)


@on_both_loops
async def test_an_id_is_taken_until_it_is_answered() -> None:
    """LOG 48: the handler ran once, other ids do not wait, and the id may be used again."""
    handlers = Handlers()
    runs: list[Any] = []
    gate = asyncio.Event()

    @handlers.on("r")
    async def serve(asked: Request) -> None:
        runs.append(asked.id)
        if asked.id == 7:
            await gate.wait()

    async with agent(handlers) as (_, peer):
        peer.send(request(7, "r"), request(7, "r"), request(8, "r"))
        answers = await peer.lines(2)
        assert sorted((line["id"], line.get("error", {}).get("code", 0)) for line in answers) == [(7, -32600), (8, 0)]
        gate.set()
        assert await peer.line() == result(7)
        peer.send(request(7, "r"))
        assert await peer.line() == result(7)
        assert runs == [7, 8, 7]


# --- background work


@on_both_loops
async def test_background_work_that_raises_is_reported() -> None:
    reports: Reports = []

    async def work() -> None:
        raise Broken

    async with agent(Handlers(), reports) as (conn, _):
        task = conn.start(work(), name="a turn")
        assert task.get_name() == "a turn"
        await asyncio.wait([task])
        assert [type(error) for error, _ in reports] == [Broken] and "work" in reports[0][1]


@on_both_loops
async def test_background_work_ends_with_the_connection() -> None:
    ended: list[str] = []
    reports: Reports = []

    async def for_ever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async def sends(conn: Any) -> None:
        await asyncio.sleep(0)
        await conn.closed
        await conn.notify("_t/n")  # fails: that is how it learns of the end

    async with agent(Handlers(), reports) as (conn, _):
        conn.start(for_ever())
        await turns(2)
        conn.start(for_ever()).cancel()  # never begins
        conn.start(sends(conn))
    assert ended == ["cancelled"] and reports == []


@on_both_loops
async def test_what_was_sent_before_the_answer_is_on_the_wire_before_it() -> None:
    """LOG 43: a slow writer, a thousand updates, then the result."""
    handlers = Handlers()

    @handlers.on("session/prompt")
    async def prompt(asked: Request) -> dict[str, str]:
        for n in range(1000):
            await asked.conn.notify("session/update", {"sessionId": "s1", "n": n, "pad": "x" * 200})
        return {"stopReason": "end_turn"}

    async with agent(handlers, capacity=5000) as (_, peer):
        peer.send(request(1, "session/prompt", sessionId="s1"))
        lines = await peer.lines(1001)
        assert [line["params"]["n"] for line in lines[:-1]] == list(range(1000))
        assert lines[-1] == result(1, {"stopReason": "end_turn"})


@on_both_loops
async def test_updates_of_a_group_are_messages_of_their_own_to_a_handler() -> None:
    seen: list[Any] = []
    handlers = Handlers()
    handlers.on("session/update")(lambda event: seen.append((text_of(event), event.session_id, event.conn, event.line)))
    async with with_peer(handlers) as (conn, peer):
        lines = [encode(update(text, session)) for text, session in (("1", "a"), ("2", "b"), ("3", "a"))]
        peer.send(*lines)
        await turns()
        assert [(one[0], one[1]) for one in seen] == [("1", "a"), ("2", "b"), ("3", "a")]
        assert [one[3] + b"\n" for one in seen] == lines and all(one[2] is conn for one in seen)
        assert conn.stats().inbox.used == 0
