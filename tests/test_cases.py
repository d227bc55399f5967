"""Bytes that broke other programs (``cases/``), each fed whole, one byte at a time and at random cuts.

A case says what a client and what an agent must see and send; that no cut changes any of it is asked of all of them.
After each file the connection must still work: call 0 of a client is answered, an agent answers one more request.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cases.large import RULES, message, result
from cases.player import Player, Role, pieces, random_pieces

from acpcore import schema
from acpcore.errors import InvalidParams
from acpcore.flow import Limits
from acpcore.schema import UNSET

CASES = Path(__file__).parent / "cases"
PENDING = (0, 1, 2, 3, 4, 5)
PARSE, INVALID = -32700, -32600
PATCH = ("command", "cwd", "output", "exit_status")
SESSION = {"sessionId": "s1"}
CANARY = {"client": result(0), "agent": b'{"jsonrpc":"2.0","id":"canary","method":"_t/echo"}\n'}


class Case(NamedTuple):
    name: str
    role: Role
    check: Callable[[Player], None]
    pending: tuple[Any, ...] = PENDING
    options: dict[str, Any] = {}  # noqa: RUF012  a NamedTuple's default, never changed

    @property
    def label(self) -> str:
        return f"{self.name}-{self.role}{'-' + '-'.join(self.options) if self.options else ''}"


TABLE: list[Case] = []


def case(
    name: str, *roles: Role, pending: tuple[Any, ...] = PENDING, **options: Any
) -> Callable[..., Callable[[Player], None]]:
    """Register the decorated function as what a case must come to."""

    def register(check: Callable[[Player], None]) -> Callable[[Player], None]:
        TABLE.extend(Case(name, role, check, pending if role == "client" else (), options) for role in roles)
        return check

    return register


def load(case: Case) -> bytes:
    if case.name in RULES:
        return RULES[case.name]()
    return next(CASES.glob(f"{case.name}*.bin")).read_bytes()


def play(case: Case, chunks: list[bytes], **options: Any) -> Player:
    """Feed the chunks, ask for a sign of life if the last line was whole, answer what was slow, end."""
    player = Player(case.role, pending=case.pending, **{**case.options, **options})
    player.feed(*chunks)
    if b"".join(chunks[-1:]).endswith(b"\n"):
        player.feed(CANARY[case.role])
        if case.role == "agent":
            assert player.sent.pop() == {"jsonrpc": "2.0", "id": "canary", "result": {}}
        else:
            assert 0 in player.results or 0 not in case.pending
        del player.seen[-1:]
    return player.answer_slow().eof()


def cuttings(case: Case, data: bytes) -> list[list[bytes]]:
    small = [7, 64, 4096] if case.name == "10" else []
    fine = 4096 if case.name in RULES else 1
    return [
        *(pieces(data, size) for size in [fine, *small]),
        *(random_pieces(data, seed) for seed in range(2 if case.name in RULES else 12)),
    ]


def ids(player: Player) -> list[Any]:
    return [reply["id"] for reply in player.sent]


def codes(player: Player) -> list[tuple[Any, int | None]]:
    """Id and error code (None: a result) of each reply."""
    return [(reply["id"], reply["error"]["code"] if "error" in reply else None) for reply in player.sent]


def bad(player: Player) -> list[str | None]:
    return [seen.reason for seen in player.of("bad")]


def silent(player: Player) -> None:
    assert player.sent == []


@case("01-line-over-64k", "client")
def line_over_64k(player: Player) -> None:
    assert player.texts == ["a" * 70_000]
    assert player.results == {1: {}}


@case("02-line-2mib", "client")
def line_2mib(player: Player) -> None:
    assert len(player.results[1]["data"]) == 2_097_152
    assert player.results[2] == {}


@case("03-many-medium-lines", "client", limits=Limits(max_frame=10 << 20))
def many_medium_lines(player: Player) -> None:
    assert player.texts == ["b" * 65_536] * 300
    assert player.results == {1: {}}


@case("05a", "client")
def final_line_without_newline(player: Player) -> None:
    assert player.texts == ["one"]
    assert player.results == {1: SESSION}
    assert player.kinds == ["notification", "result", "closed"]


@case("05b", "client")
def final_line_truncated(player: Player) -> None:
    assert player.texts == ["one"]
    assert [(seen.reason, seen.size) for seen in player.of("bad")] == [("truncated", 28)]
    assert player.kinds == ["notification", "bad", "closed"]
    assert 1 in player.open


@case("06", "client")
def crlf_and_blank_lines(player: Player) -> None:
    assert player.texts == ["a\r\nb inside stays"]
    assert player.results == {1: SESSION}
    assert player.kinds == ["notification", "result", "closed"]


@case("07", "client")
def byte_order_mark_first_and_later(player: Player) -> None:
    assert player.texts == ["first"]
    assert bad(player) == ["json"]
    assert 1 in player.open


@case("08", "client")
def utf8_multibyte(player: Player) -> None:
    assert player.texts == ["naïve 界面 🙂 👨\u200d👩\u200d👧 e\u0301 end"]
    assert player.results == {1: SESSION}


@case("09", "client")
def invalid_utf8(player: Player) -> None:
    assert player.kinds == ["bad"] * 4 + ["result", "closed"]
    assert bad(player) == ["utf8"] * 4
    assert player.results == {1: SESSION}
    silent(player)


@case("09", "agent")
def invalid_utf8_is_answered(player: Player) -> None:
    assert player.kinds == ["bad"] * 4 + ["result", "closed"]
    assert codes(player) == [(None, PARSE)] * 4


@case("10", "client")
def odd_chunks(player: Player) -> None:
    assert player.texts == ["A" * 37, "B" * 113]
    assert player.results == {1: SESSION}


@case("11", "agent")
def content_length_header(player: Player) -> None:
    assert codes(player) == [(None, PARSE), (None, PARSE), (2, -32601)]
    assert all("Content-Length" in (seen.hint or "") for seen in player.of("bad"))
    assert [seen.method for seen in player.of("request")] == ["session/list"]


@case("12", "client")
def noise_lines(player: Player) -> None:
    assert bad(player) == ["json", "json", "not_object", "not_object", "not_object", "not_object", "version", "json"]
    assert all(0 < len(seen.preview) <= 80 for seen in player.of("bad"))
    assert player.results == {1: SESSION}
    silent(player)


@case("12", "agent")
def noise_lines_are_answered(player: Player) -> None:
    assert codes(player) == [(None, PARSE)] * 2 + [(None, INVALID)] * 5 + [(None, PARSE)]


@case("13", "client")
def escape_before_json(player: Player) -> None:
    assert [(seen.column, seen.offset) for seen in player.of("bad")] == [(23, 23)]
    assert 1 in player.open
    assert player.texts == ["after"]


@case("13", "client", salvage=True)
def escape_before_json_salvaged(player: Player) -> None:
    assert player.results == {1: SESSION}
    assert [seen.column for seen in player.of("bad")] == [23]
    assert player.texts == ["after"]


@case("14", "client", "agent")
def error_without_id(player: Player) -> None:
    assert player.kinds == ["error", "bad", "result", "closed"]
    assert bad(player) == ["id"]
    assert [seen.matched for seen in player.of("error")] == [False]
    silent(player)


@case("14", "client")
def error_without_id_harms_nothing(player: Player) -> None:
    assert player.results == {1: SESSION}
    assert player.failed == []


@case("15", "client")
def two_messages_on_one_line(player: Player) -> None:
    assert [(seen.column, seen.reason) for seen in player.of("bad")] == [(52, "json")]
    assert {1, 2} <= set(player.open)
    assert player.results == {3: {}}


@case("19", "client", "agent")
def nul_bytes(player: Player) -> None:
    assert bad(player) == ["json", "json"]
    assert [(seen.method, seen.params) for seen in player.of("notification")] == [("_t/esc", {"t": "a\0b"})]
    assert player.kinds == ["bad", "bad", "notification", "result", "closed"]
    assert [seen.value for seen in player.of("result")] == [SESSION]


@case("20", "client")
def pretty_printed(player: Player) -> None:
    assert bad(player) == ["json"] * 7
    assert 1 in player.open
    assert player.results == {2: {}}


@case("22a", "agent")
def request_id_types(player: Player) -> None:
    assert [(type(ident), ident) for ident in ids(player)] == [
        *((int, 1), (str, "1"), (int, 0), (int, -1), (str, ""), (str, "a/b é"), (type(None), None)),
    ]
    assert all(reply["result"] == {} for reply in player.sent)


@case("22b", "client", pending=(0, 1, "1"))
def response_id_types(player: Player) -> None:
    assert player.results == {"1": {"for": "string"}, 1: {"for": "int"}}


@case("22b", "client", pending=(0, 1))
def response_with_unknown_id_type(player: Player) -> None:
    assert player.results == {1: {"for": "int"}}
    assert [(seen.id, seen.matched) for seen in player.of("result")] == [("1", False), (1, True)]


@case("23", "agent")
def large_and_fractional_ids(player: Player) -> None:
    exact = [2147483648, 9007199254740992, 9007199254740993, 9223372036854775807, -9223372036854775808]
    assert sorted(codes(player), key=str) == sorted([(i, None) for i in exact] + [(None, INVALID)] * 4, key=str)
    assert bad(player) == ["id"] * 4
    assert all(str(ident).encode() in player.wire for ident in exact)


@case("24", "agent")
def unparsable_request(player: Player) -> None:
    assert codes(player) == [(None, PARSE), (0, None)]


@case("25", "client")
def bad_escape_in_a_response(player: Player) -> None:
    assert player.results == {1: {"n": 1}, 3: {"n": 3}}
    assert bad(player) == ["json"]
    assert 2 in player.open or player.failed == [2]
    silent(player)


@case("26", "client", "agent")
def lone_surrogates(player: Player) -> None:
    assert bad(player) == ["surrogate", "surrogate"]
    assert [(seen.method, seen.params) for seen in player.of("notification")] == [("_t/pair", {"t": "😀"})]
    assert [seen.value for seen in player.of("result")] == [SESSION]


@case("26", "agent")
def lone_surrogates_are_answered(player: Player) -> None:
    assert codes(player) == [(None, PARSE), (None, PARSE)]


@case("27", "agent")
def nan_and_infinity(player: Player) -> None:
    assert codes(player)[:3] == [(None, PARSE)] * 3
    ident, code = codes(player)[3]
    assert ident in (4, None) and code is not None
    assert codes(player)[4:] == [(5, None), (6, None)]
    assert b"NaN" not in player.wire and b"Infinity" not in player.wire


@case("28-deep-nesting", "client", "agent")
def deep_nesting(player: Player) -> None:
    assert bad(player) == ["depth", "depth"]
    assert [seen.value for seen in player.of("result")] == [{}]


@case("29", "client")
def latin1_byte(player: Player) -> None:
    assert bad(player) == ["utf8"]
    assert 1 in player.open or player.failed == [1]
    assert player.results == {2: {"ok": True}}


@case("30", "client")
def unknown_variants(player: Player) -> None:
    assert player.kinds == ["notification"] * 4 + ["closed"]
    updates = [seen.params["update"] for seen in player.seen[:4]]
    assert [change["sessionUpdate"] for change in updates[:2]] == ["future_thing", "_vendor.example/heat"]
    assert updates[0]["alpha"] == [1, None, {"b": 2}]
    assert (updates[2]["status"], updates[2]["kind"], updates[2]["content"]) == (
        "_paused",
        "teleport",
        [{"type": "hologram", "z": 1}],
    )
    assert player.lines == load_lines("30")


@case("31", "client")
def malformed_known_variants_are_still_messages(player: Player) -> None:
    assert player.kinds == ["notification"] * 5 + ["closed"]
    assert player.seen[4].params["update"]["content"]["text"] == "still alive"


@case("31", "client", typed=True)
def malformed_known_variants(player: Player) -> None:
    assert player.kinds == ["notification"] * 5 + ["closed"]
    assert [isinstance(params, InvalidParams) for params in player.decoded] == [True] * 4 + [False]
    assert player.decoded[4].update.content.text == "still alive"


@case("32", "client", typed=True)
def omitted_null_and_value(player: Player) -> None:
    terminal, content, states = dict[str, Any](), None, list[Any]()
    for update in (params.update for params in player.decoded):
        if isinstance(update, schema.TerminalUpdate):
            terminal |= {name: getattr(update, name) for name in PATCH if getattr(update, name) is not UNSET}
            states.append([terminal.get(name) for name in PATCH])
        else:
            content = content if update.content is UNSET else update.content
            states.append(content)
    output, status = schema.TerminalOutput(data=b"abc"), schema.TerminalExitStatus(exit_code=3221225786)
    first = [["make", "/w", output, None], ["make", "/w", output, status], [None, "/w", output, status]]
    assert states == [*first, [None, "/w", None, None], [], [], None]


@case("33", "agent")
def duplicate_keys(player: Player) -> None:
    requests = [(seen.id, seen.method, seen.params) for seen in player.of("request")]
    assert requests == [(2, "_t/costly", {"a": 2}), (3, "_t/echo", {"k": 3})]
    assert codes(player) == [(2, None), (3, None)]
    assert [(seen.id, seen.value, seen.matched) for seen in player.of("result")] == [(4, {"x": 1}, False)]


@case("34", "client")
def unknown_fields_to_forward(player: Player) -> None:
    assert player.lines == load_lines("34")
    assert player.of("notification")[0].params["update"]["toolCallId"] == "c1"


@case("35", "agent")
def envelope_members_in_any_order(player: Player) -> None:
    assert [(seen.id, seen.method) for seen in player.of("request")] == [
        (1, "initialize"),
        (2, "session/list"),
        (3, "session/list"),
    ]
    assert bad(player) == []


@case("36", "client")
def missing_or_wrong_version(player: Player) -> None:
    assert bad(player) == ["version"] * 4
    assert player.failed == [1, 2, 3]
    assert player.results == {4: {"n": 4}}
    silent(player)


@case("37", "agent", typed=True)
def wrong_params_name(player: Player) -> None:
    assert codes(player) == [(1, -32602), (2, None)]
    assert "prompt" in player.sent[0]["error"]["message"]


@case("38", "agent", typed=True)
def protocol_version_as_string(player: Player) -> None:
    assert codes(player) == [(1, -32602), (2, None)]


@case("39a", "agent")
def batch_mixed(player: Player) -> None:
    batch, last = player.sent
    answers = sorted((reply["id"] is None, str(reply["id"]), reply.get("error", {}).get("code")) for reply in batch)
    assert answers == [(False, "1", None), (False, "x", -32601), (True, "None", INVALID)]
    assert [seen.method for seen in player.of("notification")] == ["_t/note"]
    assert last["id"] == 9


@case("39b", "agent")
def batch_empty(player: Player) -> None:
    assert codes(player) == [(None, INVALID), (9, None)]
    assert bad(player) == ["empty_array"]


@case("39c", "agent")
def batch_of_no_messages(player: Player) -> None:
    batch, last = player.sent
    assert [(reply["id"], reply["error"]["code"]) for reply in batch] == [(None, INVALID)] * 3
    assert bad(player) == ["not_object"] * 3
    assert last["id"] == 9


@case("39d", "agent")
def batch_of_notifications(player: Player) -> None:
    assert [seen.method for seen in player.of("notification")] == ["_t/a", "_t/b"]
    assert codes(player) == [(9, None)]


@case("39e", "client")
def batch_of_responses(player: Player) -> None:
    assert player.results == {1: {"n": 1}, 2: {"n": 2}, 3: {"n": 3}}
    assert player.texts == ["in batch"]
    assert player.kinds == ["result", "result", "notification", "result", "closed"]
    silent(player)


@case("39f", "agent")
def batch_cut_short(player: Player) -> None:
    assert codes(player) == [(None, PARSE), (9, None)]
    assert [seen.id for seen in player.of("request")] == [9]


@case("39a", "agent", arrays=False)
@case("39c", "agent", arrays=False)
def batch_refused(player: Player) -> None:
    assert codes(player) == [(None, INVALID), (9, None)]
    assert bad(player) == ["not_object"]
    assert [seen.id for seen in player.of("request")] == [9]


@case("40", "client")
def bad_response_envelopes(player: Player) -> None:
    assert player.failed == [1, 2, 3]
    assert bad(player) == ["response"] * 3
    assert player.results == {4: None}
    assert [(seen.id, seen.value, seen.matched) for seen in player.of("error")] == [
        (5, (-32800, "cancelled", {"k": [1]}), True)
    ]
    silent(player)


@case("42", "client")
def wire_order(player: Player) -> None:
    order = [
        seen.id if seen.kind == "result" else seen.params["update"]["content"]["text"] for seen in player.seen[:-1]
    ]
    assert order == ["1", 1, "2", "3", 2]


@case("44", "client")
def updates_before_their_session(player: Player) -> None:
    assert player.kinds == ["notification", "notification", "result", "notification", "closed"]
    assert [seen.session for seen in player.of("notification")] == ["s-new"] * 3
    assert player.results == {1: {"sessionId": "s-new"}}


@case("48", "agent")
def duplicate_ids_in_flight(player: Player) -> None:
    assert [(seen.id, seen.params) for seen in player.of("request")] == [(7, {"n": 1}), (8, {})]
    assert sorted(codes(player), key=str) == sorted([(7, None), (7, INVALID), (8, None)], key=str)
    assert ids(player).index(8) < codes(player).index((7, None))


@case("49", "client")
def unknown_and_repeated_responses(player: Player) -> None:
    assert player.results == {1: {"first": True}, 2: {}}
    assert [seen.id for seen in player.of("result") if not seen.matched] == [999, "nope", 1]


@case("53-notification-burst", "client")
def notification_burst(player: Player) -> None:
    assert player.texts == [f"{n:06d}" for n in range(20_000)]
    assert player.kinds[-2:] == ["result", "closed"]


@case("82", "client")
def escape_sequence_over_chunks(player: Player) -> None:
    assert terminal_bytes(player) == {"t1": b"A\x1b[38;2;1;2;3mB\x1b]0;title\x1b\\C\x1b[0m\r\n"}


@case("83", "client")
def utf8_over_chunks_of_two_terminals(player: Player) -> None:
    assert terminal_bytes(player) == {"t1": b"x\xe7\x95\x8cy", "t2": b"\xf0\x9f\x99\x82\xff"}


@case("85-cumulative-output", "client")
def cumulative_output(player: Player) -> None:
    assert terminal_bytes(player) == {"t1": b"".join(b"line %d\n" % n for n in range(35_001))}
    assert player.engine.stats().bytes_looked < 3 * len(load(Case("85-cumulative-output", "client", cumulative_output)))


def load_lines(name: str) -> list[bytes]:
    return next(CASES.glob(f"{name}*.bin")).read_bytes().splitlines()


def terminal_bytes(player: Player) -> dict[str, bytes]:
    out: dict[str, bytes] = {}
    for seen in player.of("notification"):
        change = seen.params["update"]
        out[change["terminalId"]] = out.get(change["terminalId"], b"") + b64decode(change["data"], validate=True)
    return out


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.label)
def test_case(case: Case) -> None:
    data = load(case)
    whole = play(case, [data])
    case.check(whole)
    others = [play(case, chunks) for chunks in cuttings(case, data)]
    for other in [*others, play(case, [data], grouped=False)]:
        assert other.seen == whole.seen
        assert replies(other) == replies(whole)


def replies(player: Player) -> list[str]:
    """What was sent, in any order: the engine answers noise itself, before a host that takes many events at once."""
    groups = [sorted(map(json.dumps, reply)) if isinstance(reply, list) else reply for reply in player.sent]
    return sorted(map(json.dumps, groups))


def test_every_file_is_a_case() -> None:
    known = {case.name for case in TABLE}
    assert [path.name for path in CASES.glob("*.bin") if not any(path.name.startswith(name) for name in known)] == []


PAD = {"pad": "x" * 500}
ASK, ANSWER = {"id": 7, "method": "_t/echo", "params": PAD}, {"id": 7, "result": PAD}


ORDERS = ["id method params", "method id params", "method params id", "params method id", "id params method"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", [1, 50, 5000])
def test_a_request_that_is_too_large_is_answered(order: str, size: int) -> None:
    """Its id stands at the beginning of the line or at its end; own calls of that id are another matter."""
    player = Player("agent", pending=[7], limits=Limits(max_frame=300))
    player.feed(*pieces(message({"jsonrpc": "2.0", **{name: ASK[name] for name in order.split()}}), size))
    assert bad(player) == ["too_large"]
    assert codes(player) == [(7, INVALID)]
    assert player.feed(result(7)).results == {7: {}}


@pytest.mark.parametrize("order", ["id result", "result id"])
@pytest.mark.parametrize("size", [1, 50, 5000])
def test_a_response_that_is_too_large_fails_its_call(order: str, size: int) -> None:
    player = Player("client", pending=[7, 8], limits=Limits(max_frame=300))
    player.feed(*pieces(message({"jsonrpc": "2.0", **{name: ANSWER[name] for name in order.split()}}), size))
    assert bad(player) == ["too_large"]
    assert player.engine.stats().pending_calls == 1
    assert player.feed(result(7), result(8)).results.keys() - {7} == {8}
    silent(player)


def test_a_batch_has_a_limit() -> None:
    ask = b'{"jsonrpc":"2.0","id":%d,"method":"_t/echo"}'
    for count, replies in ((1024, 1024), (1025, 0)):
        player = Player("agent").feed(b"[" + b",".join(ask % n for n in range(count)) + b"]\n")
        assert len(player.of("request")) == replies
        [sent] = player.sent
        assert [reply["id"] for reply in sent] == list(range(1024)) if replies else codes(player) == [(None, INVALID)]
    player.feed(CANARY["agent"])
    assert player.sent[-1]["id"] == "canary"


def test_noise_is_not_answered_without_end() -> None:
    """Answers to noise are counted and dropped while the outbox is above its high mark."""
    player = Player("agent").feed(b"x\n" * 5000)
    stats = player.engine.stats()
    assert bad(player) == ["json"] * 5000
    assert len(player.sent) + stats.dropped_answers == 5000
    assert stats.dropped_answers > 0
    assert stats.outbox.peak < player.engine.limits.outbox_high + 1024
