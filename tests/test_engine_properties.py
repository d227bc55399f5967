"""The engine gives the oracle's events for any bytes and any cuts, and no conversation leaves anything behind."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import oracle
import pytest
from cases.large import chunk, result, terminal
from cases.player import Player, Role, Seen, pieces, record
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from oracle import Event
from strategies import EVERYWHERE, Stream, cut, expected, streams

from acpcore.engine import Engine
from acpcore.errors import UsageError
from acpcore.flow import Limits
from acpcore.message import Call, Closed, Request, expand


def play(stream: Stream, chunks: list[bytes], role: Role, **options: Any) -> Player:
    """Nothing is answered, so that an id is taken from its first request on, wherever the stream is cut."""
    limits = Limits(max_frame=stream.max_frame)
    player = Player(role, answer=False, limits=limits, arrays=stream.arrays, **options).feed(*chunks)
    return player.eof() if stream.eof else player


def from_engine(seen: Seen) -> tuple[Any, ...]:
    if seen.kind == "bad":
        return ("bad", oracle.error_class(seen.reason or ""))
    return (seen.kind, type(seen.id), seen.id, seen.method)


def for_engine(events: list[Event]) -> list[tuple[Any, ...]]:
    """The oracle's events as an engine gives them: no markers, and an id that is not answered yet is refused."""
    out, taken = list[tuple[Any, ...]](), set[Any]()
    for event in events:
        if event.kind == "request" and event.id in taken:
            out.append(("bad", "invalid"))
        elif event.kind == "bad":
            out.append(("bad", event.error))
        elif event.kind not in ("array", "skipped"):
            out.append((event.kind, type(event.id), event.id, event.method))
            taken.update([event.id] if event.kind == "request" and event.id is not None else [])
    return out


roles = st.sampled_from(["client", "agent"])


@given(streams(), EVERYWHERE, roles, st.booleans())
def test_engine_gives_the_events_of_the_oracle(stream: Stream, how: str, role: Role, grouped: bool) -> None:
    player = play(stream, cut(stream, how), role, grouped=grouped)
    assert [from_engine(seen) for seen in player.seen if seen.kind != "closed"] == for_engine(expected(stream))
    assert player.kinds[-1:] == ["closed"] or not stream.eof


@given(streams(), roles)
def test_engine_gives_the_same_however_it_is_fed(stream: Stream, role: Role) -> None:
    whole = play(stream, [stream.data], role)
    for other in (play(stream, cut(stream, "bytes"), role), play(stream, stream.chunks(), role, grouped=False)):
        assert other.seen == whole.seen
        assert other.wire == whole.wire


@given(streams(), st.integers(1, 64))
def test_engine_reads_its_own_buffer_as_it_reads_bytes(stream: Stream, size: int) -> None:
    """``get_buffer`` and ``buffer_updated``, as a transport uses them, against ``receive_data``."""
    player, data = (
        Player("client", answer=False, limits=Limits(max_frame=stream.max_frame), arrays=stream.arrays),
        stream.data,
    )
    while data:
        room = player.engine.get_buffer()
        step = min(size, len(room), len(data))
        room[:step] = data[:step]
        player.take(player.engine.buffer_updated(step))
        data = data[step:]
    assert player.seen == play(stream._replace(eof=False), [stream.data], "client").seen


@given(streams())
def test_events_outlive_the_buffer_they_came_from(stream: Stream) -> None:
    engine = Engine("client", limits=Limits(max_frame=stream.max_frame), arrays=stream.arrays)
    events = [event for chunk in stream.chunks() for event in engine.receive_data(chunk)]
    assert list(map(record, expand(events))) == play(stream._replace(eof=False), [stream.data], "client").seen


@pytest.mark.parametrize("read", [4096, 100_000, 1 << 20])
def test_large_lines_outlive_the_buffer_they_came_from(read: int) -> None:
    """Lines from some size on keep the receive buffer: what is read later must not overwrite them."""
    rows = [
        chunk(str(n) * size) for n, size in enumerate([9, 600_000, 50, 50, 530_000, 700_000, 1, 740_000, 600_000, 7])
    ]
    rows[5:5] = [result(1, {"t": "r" * 600_000}), terminal(bytes(range(256)) * 2110), terminal(b"small")]
    engine = Engine("client", limits=Limits(max_frame=760_000))  # a buffer that is soon full
    events = [event for piece in pieces(b"".join(rows), read) for event in engine.receive_data(piece)]
    seen = list(map(record, expand(events)))
    assert seen == Player("client", grouped=False).feed(*rows).seen
    assert [row.params or row.value for row in seen] == [
        json.loads(row).get("params") or json.loads(row)["result"] for row in rows
    ]


@given(streams(), st.sampled_from([b"\x1b]0;t\x07", b"warn: ", "é".encode(), b"\x00", b" x"]))
def test_salvage_gives_what_follows_the_noise(stream: Stream, noise: bytes) -> None:
    """One message behind noise on its line is the message itself and one event for the noise; all else is as before."""
    for line in (row.strip(b" \t\r") for row in stream.data.split(b"\n")):
        [*plain] = Player("client", answer=False).feed(line + b"\n").seen
        glued = Player("client", answer=False, salvage=True).feed(noise + line + b"\n").seen
        if len(plain) == 1 and plain[0].kind != "bad" and line.startswith(b"{"):
            assert (glued[0].kind, glued[0].column) == ("bad", len(noise))
            [message] = glued[1:]
            assert message._replace(offset=message.offset - len(noise)) == plain[0]
        else:
            assert [seen.kind for seen in glued if b"{" not in line] == ["bad"] * (b"{" not in line)


class Conversation(RuleBasedStateMachine):
    """Two sides that may do anything at any time: every own call ends once, every request is answered once."""

    @initialize(role=roles)
    def begin(self, role: Role) -> None:
        limits = Limits(max_frame=400, outbox_high=600, outbox_low=200, outbox_hard=1500)
        self.engine = Engine(role, limits=limits)
        self.calls: dict[Any, Call] = {}
        self.ended: list[Any] = []
        self.requests: list[Request] = []
        self.asked = self.answers = 0
        self.peer_id = 100
        self.wire = b""
        self.closed = False

    # what the peer does

    def hear(self, *values: Any, cut: int = 1 << 30, raw: bytes = b"") -> None:
        data = raw or b"".join(json.dumps(value).encode() + b"\n" for value in values)
        if not self.closed:
            self.take(self.engine.receive_data(data[:cut]))
            self.take(self.engine.receive_data(data[cut:]))

    def take(self, events: list[Any]) -> None:
        for event in expand(events):
            if isinstance(event, Request):
                self.requests.append(event)
            call = getattr(event, "call", None)
            for ended in event.calls if isinstance(event, Closed) else [call] if call is not None else []:
                assert self.calls.pop(ended.id) is ended, "an own call ends once"
                self.ended.append(ended.id)
        for event in events:
            self.engine.done(event)
            self.engine.done(event)

    def some_id(self, data: st.DataObject, own: bool) -> Any:
        known = (
            [*self.calls, *self.ended[-3:]]
            if own
            else [request.id for request in self.requests if request.id is not None]
        )
        return data.draw(st.sampled_from([*known, "stranger"]))

    @rule(
        data=st.data(),
        body=st.sampled_from(["result", "error", "broken", "both", "late", "array"]),
        cut=st.integers(1, 60),
    )
    def peer_answers(self, data: st.DataObject, body: str, cut: int) -> None:
        ident = self.some_id(data, own=True)
        head = {"jsonrpc": "2.0", "id": ident}
        answer = {**head, "result": {"a": 1}}
        values: dict[str, Any] = {
            "result": [answer],
            "error": [{**head, "error": {"code": -32000, "message": "no"}}],
            "broken": [{"id": ident, "result": 1}],
            "both": [{**head, "result": 1, "error": {"code": 1, "message": ""}}],
            "late": [answer, answer],
            "array": [[answer, 1, {"jsonrpc": "2.0", "method": "x"}]],
        }
        self.hear(*values[body], cut=cut)

    @rule(data=st.data(), first=st.booleans(), cut=st.integers(1, 700))
    def peer_answers_with_too_much(self, data: st.DataObject, first: bool, cut: int) -> None:
        ident, much = self.some_id(data, own=True), {"result": "x" * 500}
        value = {"jsonrpc": "2.0", "id": ident, **much} if first else {"jsonrpc": "2.0", **much, "id": ident}
        self.hear(value, cut=cut)
        assert self.closed or ident not in self.calls, "an answer that is too large fails its call"

    @rule(ident=st.sampled_from([0, 0, 0, None]), batch=st.booleans(), again=st.booleans(), cut=st.integers(1, 60))
    def peer_asks(self, ident: int | None, batch: bool, again: bool, cut: int) -> None:
        self.peer_id += 1
        ask = {"jsonrpc": "2.0", "id": None if ident is None else self.peer_id, "method": "_t/a"}
        values = [ask, ask] if again else [ask]
        self.asked += 0 if self.closed or ident is None else len(values)
        self.hear(*([values] if batch else values), cut=cut)

    @rule(data=st.data())
    def peer_cancels(self, data: st.DataObject) -> None:
        ident = self.some_id(data, own=False)
        self.hear({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": ident}})
        assert self.closed or all(request.cancelled for request in self.requests if request.id == ident)

    @rule(raw=st.sampled_from([b"noise\n", b"[]\n", b"\n", b"[1]\n", b'{"jsonrpc":"2.0","method":"_n"}\n']))
    def peer_says_something_else(self, raw: bytes) -> None:
        self.hear(raw=raw)

    @rule()
    def peer_ends(self) -> None:
        self.take(self.engine.receive_eof())
        self.closed = True

    # what this side does

    @rule(bulk=st.booleans(), size=st.sampled_from([0, 300]))
    def call(self, bulk: bool, size: int) -> None:
        try:
            call = self.engine.call("_t/a", {"pad": "x" * size}, bulk=bulk)
        except UsageError:
            assert self.closed
            return
        if call is not None:
            assert not self.closed, "nothing can answer this call"
            assert call.id not in self.calls and call.id not in self.ended, "own ids are never used twice"
            self.calls[call.id] = call

    @precondition(lambda self: self.calls)
    @rule(data=st.data(), quiet=st.booleans())
    def cancel(self, data: st.DataObject, quiet: bool) -> None:
        call = data.draw(st.sampled_from(list(self.calls.values())))
        assert self.engine.cancel(call, notify=not quiet)
        assert not self.engine.cancel(call)
        del self.calls[call.id]
        self.ended.append(call.id)

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), good=st.booleans())
    def answer(self, data: st.DataObject, good: bool) -> None:
        request = data.draw(st.sampled_from(self.requests))
        if request.reply({"pad": "x" * 100}) if good else request.fail(-32603, "no"):
            self.requests.remove(request)
            with pytest.raises(UsageError):
                request.reply()

    @rule()
    def notify(self) -> None:
        self.engine.notify("session/update", {"sessionId": "s", "update": {"sessionUpdate": "x", "pad": "y" * 80}})

    @rule(size=st.sampled_from([1, 17, 10_000]))
    def write(self, size: int) -> None:
        data = b"".join(self.engine.data_to_send())[:size]
        self.engine.data_sent(len(data))
        self.wire += data

    @rule()
    def close(self) -> None:
        if not self.closed:
            self.take([self.engine.close("enough")])
            self.closed = True

    @invariant()
    def counted(self) -> None:
        if hasattr(self, "engine"):
            stats = self.engine.stats()
            assert stats.pending_calls == len(self.calls)
            assert stats.open_requests == len(self.requests)
            assert stats.inbox.used == 0
            assert self.engine.want_write == (b"".join(self.engine.data_to_send()) != b"")

    def teardown(self) -> None:
        if not hasattr(self, "engine"):
            return
        self.peer_ends()
        assert self.calls == {}
        while self.requests:
            if self.requests[0].reply():
                del self.requests[0]
            else:
                assert self.engine.want_write, "an answer waits for room that nothing can make"
                self.write(10_000)
        while self.engine.want_write:
            self.write(10_000)
        stats = self.engine.stats()
        assert (stats.pending_calls, stats.open_requests, stats.outbox.used) == (0, 0, 0)
        self.check_wire(stats.dropped_answers)

    def check_wire(self, dropped: int) -> None:
        lines = [json.loads(line) for line in self.wire.split(b"\n")[:-1]]
        assert self.wire.endswith(b"\n") or not lines
        replies = [
            reply for line in lines for reply in (line if isinstance(line, list) else [line]) if "method" not in reply
        ]
        answered = Counter(reply["id"] for reply in replies if isinstance(reply["id"], int))
        once = self.asked - dropped if self.engine.role == "client" else self.asked
        assert set(answered) <= set(range(101, self.peer_id + 1))
        assert once - dropped <= answered.total() <= self.asked
        assert all(count <= 2 for count in answered.values())


TestConversation = Conversation.TestCase
TestConversation.settings = settings(max_examples=max(100, settings().max_examples // 3))
