"""An observer sees every line of both directions with its envelope, and changes nothing."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from ends import (
    encode,
    error,
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

from acpcore import Handlers, Limits, Observation, Request, TerminalBytes, expand

LINES: list[Any] = [
    (request(7, "r", sessionId="a"), ("request", "r", 7, "a")),
    (request("x y", "r"), ("request", "r", "x y", None)),
    (notification("n", sessionId='quote " here'), ("notification", "n", None, 'quote " here')),
    (update("1", "a"), ("notification", "session/update", None, "a")),
    (update("2", "b"), ("notification", "session/update", None, "b")),
    (terminal("YQ==", "a"), ("notification", "session/update", None, "a")),
    (terminal("Yg==", "a"), ("notification", "session/update", None, "a")),
    (terminal("QUJD" * 300_000, "a"), ("notification", "session/update", None, "a")),
    (result(99, {"sessionId": "a"}), ("result", None, 99, "a")),
    (error(98, 5), ("error", None, 98, None)),
    (notification("$/cancel_request", requestId=4), ("notification", "$/cancel_request", None, None)),
    ([request(8, "r"), notification("n"), 5], ("batch", None, None, None)),
    (b"noise\n", ("bad", None, None, None)),
    (b"[]\n", ("bad", None, None, None)),
    (request(7, "r"), ("request", "r", 7, None)),  # refused: its id is taken
]


def seen_of(observations: list[Observation], direction: str) -> list[Any]:
    return [one for one in observations if one.direction == direction]


def envelope(one: Observation) -> tuple[Any, ...]:
    return one.kind, one.method, one.id, one.session_id


@pytest.mark.parametrize("pulled", [True, False])
@on_both_loops
async def test_every_line_that_comes_is_seen_as_it_came(pulled: bool) -> None:
    observations: list[Observation] = []
    gate = asyncio.Event()
    handlers = Handlers()

    async def wait(message: Any) -> None:
        await gate.wait()

    handlers.on("*")(wait)
    async with with_peer(None if pulled else handlers, role="agent", observer=observations.append) as (conn, peer):
        lines = [encode(one) for one, _ in LINES]
        peer.send(*lines, b'{"cut')
        await peer.until_sent()
        peer.end()
        await turns(50)
        gate.set()
        got = seen_of(observations, "in")
        assert [one.line + b"\n" for one in got[:-1]] == lines
        assert [envelope(one) for one in got[:-1]] == [expected for _, expected in LINES]
        assert (got[-1].kind, got[-1].line) == ("bad", b'{"cut')
        if pulled:
            conn.abort()


@on_both_loops
async def test_every_line_that_goes_is_seen() -> None:
    observations: list[Observation] = []
    handlers = Handlers()
    handlers.on("r")(lambda asked: {"sessionId": "a"})
    handlers.on("fails")(lambda asked: asked.fail(5, "no"))
    async with with_peer(handlers, role="agent", observer=observations.append) as (conn, peer):
        peer.send(request(1, "r"), request(2, "fails"), encode([request(3, "r"), request(4, "r")]))
        await peer.lines(3)
        await conn.notify("session/update", {"sessionId": "a"})
        call = asyncio.create_task(conn.request("q", {"sessionId": "b"}))
        await peer.lines(2)
        call.cancel()
        await peer.line()
        got = seen_of(observations, "out")
        assert b"".join(one.line + b"\n" for one in got) == bytes(peer.data)
        assert [envelope(one) for one in got] == [
            ("result", None, 1, "a"),
            ("error", None, 2, None),
            ("batch", None, None, None),
            ("notification", "session/update", None, "a"),
            ("request", "q", 0, "b"),
            ("notification", "$/cancel_request", None, None),
        ]


@on_both_loops
async def test_an_observer_does_not_change_what_handlers_get() -> None:
    """The fast path stays the fast path: whoever asks for terminal bytes gets them."""
    seen: dict[bool, list[Any]] = {}
    for observed in (True, False):
        handlers = Handlers()
        log = seen.setdefault(observed, [])
        handlers.on(TerminalBytes)(lambda event, log=log: log.append((event.data, event.sizes)))
        handlers.on("session/update")(lambda event, log=log: log.append(text_of(event)))
        options = {"observer": lambda one: None} if observed else {}
        async with with_peer(handlers, **options) as (_, peer):
            lines = [update("1"), terminal("YQ=="), terminal("Yg=="), terminal("QUJD" * 300_000), update("2")]
            peer.send(*lines)
            await peer.until_sent()
            await turns()
    assert seen[True] == seen[False]
    assert [type(one) for one in seen[True]] == [str, tuple, tuple, str]


@on_both_loops
async def test_an_observer_does_not_change_what_is_pulled() -> None:
    pulled: dict[bool, list[Any]] = {}
    for observed in (True, False):
        options = {"observer": lambda one: None} if observed else {}
        async with with_peer(**options) as (conn, peer):
            peer.send(*(line for line, _ in LINES if not isinstance(line, list)))
            await peer.until_sent()
            await turns()
            events = expand(await within(conn.receive()))
            pulled[observed] = [(type(event), event.offset, event.size) for event in events]
    assert pulled[True] == pulled[False] and len(pulled[True]) > 10


@on_both_loops
async def test_what_an_observer_raises_is_reported_and_stops_nothing() -> None:
    reports: list[tuple[BaseException, str]] = []

    def observer(one: Observation) -> None:
        raise LookupError(one.direction)

    handlers = Handlers()
    handlers.on("r")(lambda asked: asked.params)
    options = {"observer": observer, "on_error": lambda error, context: reports.append((error, context))}
    async with with_peer(handlers, role="agent", **options) as (_, peer):
        peer.send(request(1, "r", a=1), b"noise\n", encode([request(2, "r")]))
        answers = await peer.lines(3)
        assert result(1, {"a": 1}) in answers
        assert [str(error) for error, _ in reports].count("in") == 3
        assert {context for _, context in reports} == {"observer"}


@on_both_loops
async def test_both_ends_see_the_same_conversation() -> None:
    """A recording made at either end is the recording of the other, directions swapped."""
    here: list[Observation] = []
    there: list[Observation] = []
    handlers = Handlers()

    @handlers.on("r")
    async def serve(asked: Request) -> Any:
        await asked.conn.notify("session/update", json.loads(encode(update("1")))["params"])
        return {"n": await asked.conn.request("n") if asked.params.get("back") else 0}

    handlers.on("n")(lambda asked: {"n": 1})
    limits = Limits(max_frame=10_000)
    options = {"limits": limits}
    async with pair(
        handlers, handlers, client={**options, "observer": here.append}, agent={**options, "observer": there.append}
    ) as (client, _):
        for back in (True, False):
            await within(client.request("r", {"back": back}))
        await turns()
        for ours, theirs in (("in", "out"), ("out", "in")):
            mine = [(one.line, envelope(one)) for one in seen_of(here, ours)]
            assert mine == [(one.line, envelope(one)) for one in seen_of(there, theirs)] and mine
