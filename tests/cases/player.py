"""Feeds an ``Engine`` as a small host does and writes down what it saw, one plain record a message.

The host answers ``_t/echo``, ``_t/cheap`` and ``_t/costly`` with ``{}`` at once, ``_t/slow`` when it is told to, and
anything else with ``-32601``; params that cannot be decoded get ``-32602``. A ``typed`` host also decodes the params of
ACP's own methods and answers those requests with ``{}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any, Literal, NamedTuple

from acpcore import schema
from acpcore.engine import Engine
from acpcore.errors import InvalidParams
from acpcore.message import (
    BadFrame,
    Closed,
    Event,
    FrameTooLarge,
    Message,
    Notification,
    Request,
    Response,
    Truncated,
    expand,
)

Role = Literal["client", "agent"]
ECHO = ("_t/echo", "_t/cheap", "_t/costly")


class Seen(NamedTuple):
    """One event. Members that do not belong to its kind keep their defaults."""

    kind: str
    id: Any = ...
    method: str | None = None
    params: Any = None
    session: str | None = None
    value: Any = None  # of a response: the result, or (code, message, data); of a closed stream: the ids of open calls
    matched: bool = False
    reason: str | None = None
    offset: int = 0
    column: int = 0
    preview: str = ""
    hint: str | None = None
    call: Any = None  # the id of the own call that fails because of a bad frame
    size: int = 0


class Player:
    """An engine, its host and the record of both directions."""

    def __init__(
        self, role: Role, *, pending: Iterable[Any] = (), answer: bool = True, typed: bool = False, **options: Any
    ) -> None:
        self.engine = Engine(role, **options)
        for ident in pending:
            self.engine.expect(ident)
        self.answer = answer
        self.typed = typed
        self.decoded: list[Any] = []  # params as types, or the InvalidParams they raised
        self.seen: list[Seen] = []
        self.sent: list[Any] = []  # decoded lines
        self.wire = b""
        self.lines: list[bytes] = []  # of messages, as they came
        self.slow: list[Request] = []

    def feed(self, *chunks: bytes) -> Player:
        for chunk in chunks:
            self.take(self.engine.receive_data(chunk))
        return self

    def eof(self) -> Player:
        self.take(self.engine.receive_eof())
        return self

    def take(self, events: Sequence[Event]) -> None:
        for event in events:
            for one in expand([event]):
                self.seen.append(record(one))
                if isinstance(one, Message):
                    self.lines.append(bytes(one.line))
                    self.decode(one)
                if isinstance(one, Request) and self.answer:
                    self.serve(one)
            self.engine.done(event)
        self.drain()

    def decode(self, message: Message) -> None:
        method = schema.methods.find(message.method) if self.typed else None
        if method is not None:
            try:
                self.decoded.append(message.decode(partial(schema.decode, method.params)))
            except InvalidParams as error:
                self.decoded.append(error)

    def serve(self, request: Request) -> None:
        if request.method == "_t/slow":
            self.slow.append(request)
        elif request.method not in ECHO and not (self.typed and schema.methods.find(request.method)):
            request.fail(-32601, "method not found")
        else:
            try:
                _ = request.params
            except InvalidParams as error:
                request.fail(-32602, str(error))
            else:
                request.reply({})

    def answer_slow(self) -> Player:
        for request in self.slow:
            request.reply({})
        self.slow.clear()
        self.drain()
        return self

    def drain(self) -> None:
        while buffers := self.engine.data_to_send():
            data = b"".join(buffers)
            self.wire += data
            self.engine.data_sent(len(data))
            assert data.endswith(b"\n")
            self.sent += [json.loads(line, parse_constant=_refuse) for line in data.split(b"\n")[:-1]]

    def of(self, kind: str) -> list[Seen]:
        return [seen for seen in self.seen if seen.kind == kind]

    @property
    def kinds(self) -> list[str]:
        return [seen.kind for seen in self.seen]

    @property
    def texts(self) -> list[str]:
        """The texts of all message chunks."""
        return [seen.params["update"]["content"]["text"] for seen in self.of("notification")]

    @property
    def results(self) -> dict[Any, Any]:
        """What own calls got, by id."""
        return {seen.id: seen.value for seen in self.of("result") if seen.matched}

    @property
    def failed(self) -> list[Any]:
        """Ids of own calls that failed because of what the peer sent."""
        return [seen.call for seen in self.seen if seen.call is not None]

    @property
    def open(self) -> list[Any]:
        """Ids of own calls that were still waiting at the end of the stream."""
        return [ident for seen in self.of("closed") for ident in seen.value]


def record(event: Event) -> Seen:
    at = {"offset": event.offset}
    if isinstance(event, Message):
        kind, ident = ("request", event.id) if isinstance(event, Request) else ("notification", ...)
        assert isinstance(event, (Request, Notification))
        return Seen(kind, ident, event.method, _params(event), event.session_id, size=event.size, **at)
    if isinstance(event, Response):
        failure = event.error and (event.error.code, event.error.message, event.error.data)
        raw = event.raw_result
        assert (raw is None) == (failure is not None)
        value = failure if raw is None else json.loads(bytes(raw))
        return Seen(
            "error" if failure else "result", event.id, value=value, matched=event.matched, size=event.size, **at
        )
    if isinstance(event, BadFrame):
        seen = Seen(
            "bad", event.id, reason=event.reason, column=event.column, preview=event.preview, hint=event.hint, **at
        )
        return seen._replace(call=event.call and event.call.id)
    if isinstance(event, FrameTooLarge):
        return Seen("bad", event.id, event.method, reason="too_large", call=event.call and event.call.id, **at)
    if isinstance(event, Truncated):
        return Seen("bad", reason="truncated", size=event.size, **at)
    assert isinstance(event, Closed), event
    return Seen("closed", value=[call.id for call in event.calls])


def _params(message: Message) -> Any:
    raw = message.raw_params
    return None if raw is None else json.loads(bytes(raw))


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} on the wire")


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def random_pieces(data: bytes, seed: int) -> list[bytes]:
    """Cuts at random places: mostly small reads for small data, up to some hundred KiB for large."""
    rng, edges = Random(seed), [0]
    while edges[-1] < len(data):
        edges.append(edges[-1] + rng.randrange(1, max(2, len(data) // rng.choice([2, 9, 50]))))
    return [data[a:b] for a, b in pairwise(edges)]
