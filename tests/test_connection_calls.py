"""Calls: each gets its own answer, or fails with the error that says why, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from ends import (
    error,
    notification,
    on_both_loops,
    pair,
    request,
    result,
    run_often,
    socket_pair,
    turns,
    until,
    with_peer,
    within,
)
from hypothesis import given
from hypothesis import strategies as st
from loops import LOOPS, run

from acpcore import (
    Connection,
    ConnectionClosed,
    Handlers,
    Limits,
    ProtocolError,
    RemoteError,
    RequestCancelled,
    Response,
    UsageError,
)
from acpcore.errors import InvalidParams
from acpcore.schema import CancelSessionNotification, CloseSessionRequest, NewSessionRequest, NewSessionResponse


@on_both_loops
async def test_a_hundred_calls_answered_in_random_order_get_their_own_answers() -> None:
    async with with_peer() as (conn, peer):
        calls = [asyncio.create_task(conn.request("_t/echo", {"n": n})) for n in range(100)]
        asked = await peer.lines(100)
        random.Random(5).shuffle(asked)
        for one in asked:
            peer.send(result(one["id"], one["params"]))
        assert await within(asyncio.gather(*calls)) == [{"n": n} for n in range(100)]
        assert conn.stats().pending_calls == 0


@pytest.mark.parametrize("kind", LOOPS)
@given(order=st.permutations(range(8)), gone=st.sets(st.integers(0, 7)))
def test_any_order_of_answers_and_any_calls_given_up(kind: str, order: list[int], gone: set[int]) -> None:
    async def main() -> None:
        async with with_peer() as (conn, peer):
            calls = [asyncio.create_task(conn.request("_t/echo", {"n": n})) for n in range(8)]
            asked = await peer.lines(8)
            for n in gone:
                calls[n].cancel()
            await turns(3)
            for n in order:
                peer.send(result(asked[n]["id"], n))
            answers = await within(asyncio.gather(*calls, return_exceptions=True))
            for n, answer in enumerate(answers):
                assert isinstance(answer, asyncio.CancelledError) if n in gone else answer == n
            assert conn.stats().pending_calls == 0

    run_often(kind, main)


@on_both_loops
async def test_ids_are_never_used_twice() -> None:
    async with with_peer() as (conn, peer):
        seen: list[int] = []
        for n in range(30):
            call = asyncio.create_task(conn.request("_t/echo"))
            seen.append((await peer.line())["id"])
            if n % 3 == 0:
                call.cancel()
                assert (await peer.line())["method"] == "$/cancel_request"
            else:
                peer.send(result(seen[-1]))
            await asyncio.wait([call])
        assert len(set(seen)) == 30


# --- types


@on_both_loops
async def test_a_typed_call_gives_its_typed_result() -> None:
    async with with_peer() as (conn, peer):
        call = asyncio.create_task(conn.request(NewSessionRequest(cwd="/w", mcp_servers=[])))
        asked = await peer.answer({"sessionId": "s1"})
        assert asked["method"] == "session/new" and asked["params"]["cwd"] == "/w"
        reply = await within(call)
        assert isinstance(reply, NewSessionResponse) and reply.session_id == "s1"


@on_both_loops
async def test_a_name_gives_plain_objects_or_the_type_that_is_asked_for() -> None:
    class Reply(msgspec.Struct):
        n: int

    async with with_peer() as (conn, peer):
        call = asyncio.create_task(conn.request("_t/n"))
        await peer.answer({"n": 1})
        assert await within(call) == {"n": 1}
        call = asyncio.create_task(conn.request("_t/n", result=Reply))
        await peer.answer({"n": 1})
        assert await within(call) == Reply(1)


@on_both_loops
async def test_a_result_that_is_not_of_its_type_is_the_peers_error() -> None:
    async with with_peer() as (conn, peer):
        call = asyncio.create_task(conn.request(NewSessionRequest(cwd="/w", mcp_servers=[])))
        await peer.answer({"sessionId": 5})
        with pytest.raises(InvalidParams, match="sessionId"):
            await within(call)


@on_both_loops
async def test_params_may_be_raw_json_and_end_up_on_one_line() -> None:
    async with with_peer() as (conn, peer):
        call = asyncio.create_task(conn.request("_t/echo", b' {"a":\r\n [1.50, 1E2]}'))
        await until(lambda: b"\n" in peer.data)
        assert bytes(peer.data) == b'{"jsonrpc":"2.0","id":0,"method":"_t/echo","params": {"a":   [1.50, 1E2]}}\n'
        await peer.answer()
        await within(call)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("_t/echo", b'{"a":'),
        ("_t/echo", b"{} {}"),
        ("_t/echo", {"a": "\ud800"}),
        ("_t/echo", {"a": msgspec.Raw(b"{")}),
        ("_t/echo", {"a": object()}),
        ("t/echo", 5),
        ("t/echo", b'"text"'),
        (5, {}),
        (NewSessionRequest(cwd="/w", mcp_servers=[]), {}),
        ("_t/echo", {"a": "x" * 2000}),  # beyond max_send_frame
    ],
)
@on_both_loops
async def test_what_cannot_be_sent_is_a_usage_error_before_a_byte_leaves(method: Any, params: Any) -> None:
    async with with_peer(limits=Limits(max_send_frame=1000)) as (conn, peer):
        with pytest.raises(UsageError):
            await conn.request(method, params)
        with pytest.raises(UsageError):
            await conn.notify(method, params)
        await conn.flush()
        assert (conn.stats().bytes_out, conn.stats().pending_calls) == (0, 0)
        assert peer.rest() == []


@on_both_loops
async def test_the_version_that_both_agreed_on_is_known_to_both() -> None:
    handlers = Handlers()
    handlers.on("initialize")(lambda request: {"protocolVersion": request.params["protocolVersion"]})
    async with pair(None, handlers) as (client, agent):
        assert client.protocol_version is agent.protocol_version is None
        await within(client.request("initialize", {"protocolVersion": 2}))
        assert client.protocol_version == agent.protocol_version == 2


# --- errors


@on_both_loops
async def test_error_answers() -> None:
    async with with_peer() as (conn, peer):
        call = asyncio.create_task(conn.request("_t/echo"))
        peer.send(error((await peer.line())["id"], -32000, "log in first", data={"k": [1]}))
        with pytest.raises(RemoteError) as failure:
            await within(call)
        assert (failure.value.code, failure.value.message, failure.value.data) == (-32000, "log in first", {"k": [1]})
        assert not isinstance(failure.value, RequestCancelled)
        call = asyncio.create_task(conn.request("_t/echo"))
        peer.send(error((await peer.line())["id"], -32800, "Request cancelled"))
        with pytest.raises(RequestCancelled):
            await within(call)


@pytest.mark.parametrize(
    "answer",
    [
        b'{"jsonrpc":"2.0","id":0}\n',
        b'{"jsonrpc":"2.0","id":0,"result":{},"error":{"code":1,"message":"x"}}\n',
        b'{"jsonrpc":"2.0","id":0,"error":"text"}\n',
        b'{"jsonrpc":"2.0","id":0,"error":{"code":"1","message":"x"}}\n',
        b'{"id":0,"result":{}}\n',
        b'{"jsonrpc":"1.0","id":0,"result":{}}\n',
        b'{"jsonrpc":"2.0","id":0,"result":{"text":"' + b"x" * 5000 + b'"}}\n',
        b'{"jsonrpc":"2.0","result":{"text":"' + b"x" * 5000 + b'"},"id":0}\n',
        b'{"jsonrpc":"2.0","id":0,"result":{"huge":1e999}}\n',
    ],
    ids=[
        "neither",
        "both",
        "error text",
        "error code",
        "version missing",
        "version",
        "large",
        "large, id last",
        "huge",
    ],
)
@on_both_loops
async def test_a_broken_answer_fails_its_call_and_nothing_else(answer: bytes) -> None:
    """LOG 36 and 40: not pending for ever, not taken for a success."""
    async with with_peer(limits=Limits(max_frame=2000)) as (conn, peer):
        call, other = (asyncio.create_task(conn.request("_t/echo")) for _ in range(2))
        await peer.lines(2)
        peer.send(answer, result(1, {"fine": True}))
        with pytest.raises(ProtocolError):
            await within(call)
        assert await within(other) == {"fine": True}
        await turns()
        assert peer.rest() == []


@on_both_loops
async def test_every_call_fails_with_a_closed_of_its_own() -> None:
    async with with_peer() as (conn, peer):
        calls = [asyncio.create_task(conn.request("_t/echo")) for _ in range(3)]
        await peer.lines(3)
        peer.end()
        failures = await within(asyncio.gather(*calls, return_exceptions=True))
        assert all(isinstance(one, ConnectionClosed) and one.reason == "end of input" for one in failures)
        assert len(set(map(id, failures))) == 3


@on_both_loops
async def test_calls_after_the_end_fail_at_once() -> None:
    async with with_peer() as (conn, peer):
        peer.end()
        await within(conn.closed)
        for _ in range(2):
            with pytest.raises(ConnectionClosed, match="end of input"):
                await conn.request("_t/echo")
            with pytest.raises(ConnectionClosed, match="end of input"):
                await conn.notify("_t/n")
            with pytest.raises(ConnectionClosed):
                conn.try_notify("_t/n")
            with pytest.raises(ConnectionClosed):
                await conn.flush()
        assert peer.rest() == []


# --- giving up


@on_both_loops
async def test_cancelling_the_task_ends_the_wait_and_tells_the_peer() -> None:
    async with with_peer() as (conn, peer):
        call = asyncio.create_task(conn.request("_t/slow"))
        asked = await peer.line()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert conn.stats().pending_calls == 0
        assert await peer.line() == notification("$/cancel_request", requestId=asked["id"])


@on_both_loops
async def test_the_peer_need_not_be_told() -> None:
    async with with_peer() as (conn, peer):
        call = asyncio.create_task(conn.request("_t/slow", tell=False))
        await peer.line()
        call.cancel()
        await asyncio.wait([call])
        await conn.flush()
        await turns()
        assert peer.rest() == [] and conn.stats().pending_calls == 0


@on_both_loops
async def test_a_late_answer_is_an_event() -> None:
    late: list[Response] = []
    handlers = Handlers()
    handlers.on(Response)(late.append)
    async with with_peer(handlers) as (conn, peer):
        with pytest.raises(TimeoutError):
            await conn.request("_t/slow", timeout=0.01)
        peer.send(result(0, {"late": 1}), result("nope"), error(None, -32700))
        call = asyncio.create_task(conn.request("_t/echo"))
        await peer.lines(2)
        await peer.answer()
        await within(call)
        assert [(one.id, one.matched) for one in late] == [(0, False), ("nope", False), (None, False)]


@on_both_loops
async def test_ten_thousand_timed_out_calls_leave_nothing() -> None:
    async with with_peer() as (conn, peer):
        for _ in range(20):
            calls = [conn.request("_t/slow", {"n": n}, timeout=0.001) for n in range(500)]
            failures = await asyncio.gather(*calls, return_exceptions=True)
            assert all(type(one) in (TimeoutError, asyncio.TimeoutError) for one in failures)
        stats = conn.stats()
        assert stats.pending_calls == 0
        await conn.flush()
        await turns(200)
        methods = [line["method"] for line in peer.rest()]
        assert methods.count("_t/slow") == methods.count("$/cancel_request") == 10_000


@on_both_loops
async def test_a_timeout_covers_sending_to_a_peer_that_never_reads() -> None:
    """LOG 51: what was not admitted is dropped whole, and nothing of it is kept at the door."""
    limits = Limits(outbox_low=100, outbox_high=200, outbox_hard=4000, stall_timeout=60)
    async with with_peer(limits=limits, capacity=1000) as (conn, peer):
        peer.stop_reading()
        for size in (100, 900, 900, 900, 900, 900, 900):
            with pytest.raises(TimeoutError):
                await conn.request("_t/slow", {"pad": "x" * size}, timeout=0.1 if size == 100 else 0.02)
        await turns(2)
        assert not conn.control_waits
        assert conn.stats().pending_calls == 0
        peer.read_on()
        await conn.flush()
        await turns()
        lines = peer.rest()
        sent = [line["id"] for line in lines if line["method"] == "_t/slow"]
        assert 0 < len(sent) < 7
        assert sent == [line["params"]["requestId"] for line in lines if line["method"] == "$/cancel_request"]


@pytest.mark.parametrize("bulk", [True, False])
@on_both_loops
async def test_a_call_that_is_cancelled_at_the_door_is_dropped(bulk: bool) -> None:
    limits = Limits(outbox_low=100, outbox_high=1000, outbox_hard=3000, stall_timeout=60)
    async with with_peer(limits=limits, capacity=10) as (conn, peer):
        peer.stop_reading()
        await conn.notify("_t/first", {"pad": "x" * (1500 if bulk else 2900)})
        calls = [asyncio.create_task(conn.request("_t/echo", {"n": n, "pad": "x" * 200}, bulk=bulk)) for n in range(3)]
        await turns()
        assert conn.stats().pending_calls == 0
        calls[1].cancel()
        await turns()
        peer.read_on()
        assert (await peer.line())["method"] == "_t/first"
        for n in (0, 2):
            assert (await peer.answer())["params"]["n"] == n
        await within(asyncio.wait(calls))
        assert peer.rest() == []


@on_both_loops
async def test_params_at_the_door_are_those_of_the_moment_of_the_call() -> None:
    limits = Limits(outbox_low=10, outbox_high=100, outbox_hard=300, stall_timeout=60)
    async with with_peer(limits=limits, capacity=10) as (conn, peer):
        peer.stop_reading()
        await conn.notify("_t/first", {"pad": "x" * 250})
        params = {"n": 1, "pad": "x" * 200}
        call = asyncio.create_task(conn.request("_t/echo", params))
        await turns()
        params["n"] = 2
        peer.read_on()
        await peer.line()
        assert (await peer.answer())["params"]["n"] == 1
        await within(call)


# --- a peer that is very fast


class Instant:
    """A transport whose peer answers inside the write call."""

    def __init__(self) -> None:
        self.link: Any = None
        self.done = asyncio.Event()

    def start(self, link: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.link = link

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def wake(self) -> None:
        while buffers := self.link.data_to_send():
            data = b"".join(buffers)
            self.link.data_sent(len(data))
            for line in data.splitlines():
                self.hear(msgspec.json.decode(line))

    def hear(self, message: dict[str, Any]) -> None:
        if "method" in message and "id" in message:
            line = msgspec.json.encode(result(message["id"], message["params"])) + b"\n"
            self.link.get_buffer()[: len(line)] = line
            self.link.buffer_updated(len(line))

    def close(self) -> None:
        if not self.done.is_set():
            self.done.set()
            asyncio.get_running_loop().call_soon(self.link.connection_lost, None)

    abort = close

    async def wait_closed(self) -> Any:
        from acpcore.transports.base import Outcome

        await self.done.wait()
        return Outcome()


@pytest.mark.parametrize("handlers", [None, Handlers()], ids=["pulling", "handlers"])
@on_both_loops
async def test_a_peer_that_answers_inside_the_write_call(handlers: Handlers | None) -> None:
    """LOG 51: the call is known before its first byte leaves."""
    async with Connection(Instant(), handlers) as conn:
        assert await within(conn.request("_t/echo", {"n": 1})) == {"n": 1}
        answers = await within(asyncio.gather(*(conn.request("_t/echo", {"n": n}) for n in range(50))))
        assert [one["n"] for one in answers] == list(range(50))


@on_both_loops
async def test_one_short_line_is_delivered_at_once() -> None:
    """LOG 17: a read returns what is there."""
    transport, there = socket_pair()
    with there:
        async with Connection(transport) as conn:
            there.send(b'{"jsonrpc":"2.0","method":"_t/n","params":{"pad":"' + b"x" * 140 + b'"}}\n')
            [event] = await within(conn.receive())
            assert event.method == "_t/n"
            there.close()


@on_both_loops
async def test_use_that_is_wrong_before_anything_happens() -> None:
    async with with_peer() as (conn, _):
        with pytest.raises(UsageError, match="open already"):
            await conn.open()
        with pytest.raises(UsageError):
            await conn.request(CancelSessionNotification(session_id="s1"), {})
        with pytest.raises(UsageError, match="neither a method name"):
            await conn.request(object())
    closed: Sequence[Any] = (CloseSessionRequest(session_id="s1"), "_t/echo")
    fresh = Connection(Instant())
    for what in closed:
        with pytest.raises(UsageError, match="not open"):
            await fresh.request(what)
    with pytest.raises(UsageError, match="not open"):
        _ = fresh.threadsafe
    with pytest.raises(UsageError, match="not open"):
        await fresh.close()


@on_both_loops
async def test_answers_and_requests_of_both_sides_cross_with_equal_ids() -> None:
    """The two directions have id spaces of their own."""
    handlers = Handlers()

    @handlers.on("_t/ask")
    async def ask(asked: Any) -> Any:
        return {"id": asked.id, "back": await asked.conn.request("_t/back", {"id": asked.id})}

    @handlers.on("_t/back")
    def back(asked: Any) -> Any:
        return asked.params

    async with pair(handlers, handlers) as (client, agent):
        both = [side.request("_t/ask") for _ in range(20) for side in (client, agent)]
        for reply in await within(asyncio.gather(*both)):
            assert reply["back"] == {"id": reply["id"]}


@on_both_loops
async def test_a_request_named_like_the_cancel_notification_is_answered() -> None:
    async with with_peer(Handlers(), role="agent") as (_, peer):
        peer.send(request(7, "$/cancel_request", requestId=7))
        assert (await peer.line())["error"]["code"] == -32601


def test_the_peer_helper_sees_a_missing_line() -> None:
    """A test that waits for a line which never comes fails instead of hanging."""

    async def main() -> None:
        async with with_peer() as (conn, peer):
            await conn.close()
            await peer.until_end()
            with pytest.raises(AssertionError, match="no line follows"):
                await peer.line()

    run("asyncio", main)
