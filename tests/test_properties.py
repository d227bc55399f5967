"""Any bytes, cut anywhere, mean what ``oracle.py`` says: for the C scan at every level, with any room to write to."""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import oracle
import strategies
from hypothesis import given
from hypothesis import strategies as st
from oracle import ABSENT, Event
from strategies import EVERYWHERE, Stream, cut, expected, streams

from acpcore._native import ffi, lib

KINDS = ("none", "request", "notification", "result", "error", "array", "line", "skipped", "bad")
REASONS = (
    *(
        "none",
        "too_large",
        "truncated",
        "utf8",
        "json",
        "surrogate",
        "depth",
        "not_object",
        "version",
        "id",
        "method",
        "params",
    ),
    *("response", "empty_array"),
)
PARSE = ("utf8", "json", "surrogate", "depth")
MESSAGES = ("request", "notification", "result", "error")
ENTITIES = {"terminal": "terminalId", "tool_call": "toolCallId", "user_": "messageId", "agent_": "messageId"}


class Room(NamedTuple):
    """How much the scan may write in one call."""

    frames: int = 256
    groups: int = 256
    arena: int = 1 << 16


WIDE = Room()


class Frame(NamedTuple):
    """One frame with its spans taken out; ``at`` and ``wrong`` are offsets in the stream and in the line."""

    kind: str
    reason: str
    tag: int
    flags: int
    method_id: int
    id_type: int
    at: int
    line: bytes
    wrong: int
    id: bytes
    method: bytes
    body: bytes
    session: bytes
    entity: bytes
    data: bytes


class Group(NamedTuple):
    kind: int
    tag: int
    wire: bytes
    session: bytes
    entity: bytes
    data: bytes
    frames: list[Frame]


class Host:
    """Feeds a scanner as an embedding program would: what was not consumed comes again, before what follows."""

    def __init__(self, level: int, stream: Stream, room: Room = WIDE) -> None:
        self.scanner = ffi.new("acp_scanner *")
        options = level | (0 if stream.arrays else lib.ACP_NO_ARRAYS)
        assert lib.acp_scanner_init(self.scanner, stream.max_frame, options) == lib.ACP_OK
        self.frames, self.groups = ffi.new("acp_frame[]", room.frames), ffi.new("acp_group[]", room.groups)
        self.arena, self.taken = ffi.new("uint8_t[]", room.arena), ffi.new("acp_taken *")
        self.room, self.rest, self.found = room, b"", list[Frame | list[Frame]]()
        self.grouped = list[Group]()

    def feed(self, chunk: bytes, flags: int = 0) -> None:
        data, status = self.rest + chunk, lib.ACP_MORE
        while status == lib.ACP_MORE:
            position = self.scanner.position
            status = lib.acp_scan(
                *(self.scanner, ffi.from_buffer(data), len(data), flags, self.frames, self.room.frames),
                *(self.groups, self.room.groups, self.arena, self.room.arena, self.taken),
            )
            assert status in (lib.ACP_OK, lib.ACP_MORE)
            assert self.scanner.position == position + self.taken.consumed
            assert status == lib.ACP_OK or self.taken.consumed > 0, "no progress"
            self._take(data, position)
            data = data[self.taken.consumed :]
        assert self.taken.want == 0 or self.taken.want > len(data) or flags, "wants no more than it has"
        self.rest = data

    def _take(self, data: bytes, position: int) -> None:
        taken = self.taken
        assert taken.frames <= self.room.frames and taken.groups <= self.room.groups and taken.arena <= self.room.arena
        fresh = [self._frame(self.frames[i], data, position) for i in range(taken.frames)]
        for frame, raw in zip(fresh, self.frames[0 : taken.frames], strict=True):
            self.found.append([frame, *self._entries(raw, data, position)] if frame.kind == "array" else frame)
        first, wire = 0, 0
        for group in self.groups[0 : taken.groups]:
            assert (
                group.first == first
                and group.count > 0
                and wire <= group.off <= group.off + group.len <= taken.consumed
            )
            first, wire = first + group.count, group.off + group.len
            self.grouped.append(self._group(group, data, fresh[group.first : first]))
        assert first == taken.frames, "groups partition the frames"

    def _frame(self, raw: Any, data: bytes, position: int, inside: tuple[int, int] | None = None) -> Frame:
        kind, reason = KINDS[raw.kind], REASONS[raw.reason]
        low, high = inside or (0, max(self.taken.consumed, 0))
        assert low <= raw.off <= raw.off + raw.len <= high
        bounds = (low, high) if reason == "too_large" else (raw.off, raw.off + raw.len)
        tail = bytes(self.scanner.tail)
        cut = partial(_slice, data, bounds)
        decoded = raw.flags & lib.ACP_F_DECODED
        return Frame(
            *(kind, reason, raw.tag, raw.flags & ~lib.ACP_F_DECODED, raw.method_id, raw.id_type),
            *(position + raw.off, data[raw.off : raw.off + raw.len], raw.body.off - raw.off if kind == "bad" else 0),
            _slice(tail, (0, self.scanner.tail_len), raw.id) if kind == "skipped" else cut(raw.id),
            *(cut(raw.method), b"" if kind == "bad" else cut(raw.body), cut(raw.session), cut(raw.entity)),
            self._arena(raw.data) if decoded else _terminal(cut(raw.data), raw),
        )

    def _arena(self, span: Any) -> bytes:
        assert span.off + span.len <= self.taken.arena
        return bytes(ffi.buffer(self.arena, self.room.arena)[span.off : span.off + span.len])

    def _entries(self, array: Any, data: bytes, position: int) -> list[Frame]:
        cursor, room, out = ffi.new("uint32_t *", 0), ffi.new("acp_frame[]", 2), list[Frame]()
        inside = (array.off, array.off + array.len)
        while (
            count := lib.acp_entries(self.scanner, ffi.from_buffer(data), ffi.addressof(array), cursor, room, 2)
        ) > 0:
            out += [self._frame(room[i], data, position, inside) for i in range(count)]
        assert count == 0
        return out

    def _group(self, group: Any, data: bytes, frames: list[Frame]) -> Group:
        wire = data[group.off : group.off + group.len]
        cut = partial(_slice, data, (group.off, group.off + group.len))
        terminal = group.kind == lib.ACP_G_TERMINAL
        names = (cut(group.session), cut(group.entity), self._arena(group.data)) if terminal else (b"", b"", b"")
        return Group(group.kind, group.tag, wire, *names, frames)


def _slice(data: bytes, bounds: tuple[int, int], span: Any) -> bytes:
    if span.len == 0:
        return b""
    assert bounds[0] <= span.off <= span.off + span.len <= bounds[1], "a span lies inside its line"
    return data[span.off : span.off + span.len]


def _terminal(text: bytes, raw: Any) -> bytes:
    """Terminal data that did not fit the arena, decoded by the other function, a few bytes at a time."""
    if raw.tag != lib.ACP_T_TERMINAL_OUTPUT_CHUNK or not raw.flags & lib.ACP_F_EXACT:
        return text
    out, rest, room, used = b"", text, ffi.new("uint8_t[]", 7), ffi.new("uint32_t *")
    while rest:
        count = lib.acp_terminal_data(room, 7, ffi.from_buffer(rest), len(rest), used)
        if count < 0:
            return text
        out, rest = out + bytes(ffi.buffer(room, count)), rest[used[0] :]
    return out


def scan(stream: Stream, level: int, chunks: list[bytes] | None = None, room: Room = WIDE) -> Host:
    host = Host(level, stream, room)
    for chunk in stream.chunks() if chunks is None else chunks:
        host.feed(chunk)
    if stream.eof:
        host.feed(b"", lib.ACP_EOF)
        assert host.rest == b""
    return host


def flat(found: list[Any]) -> list[Frame]:
    return [frame for entry in found for frame in (entry if isinstance(entry, list) else [entry])]


def event(frame: Frame) -> Event:
    """A frame as the oracle would put it. What a line that is no JSON may still show of its id is left out."""
    ident = ABSENT if frame.id_type == lib.ACP_ID_NONE else json.loads(frame.id)
    if frame.kind in ("array", "skipped"):
        return Event(frame.kind, ident)
    method = (
        json.loads(b'"' + frame.method + b'"') if frame.method or frame.kind in ("request", "notification") else None
    )
    if frame.kind != "bad":
        return Event(frame.kind, ident, method)
    if frame.reason in PARSE:
        return Event("bad", error="parse", reason="parse")
    if frame.reason == "truncated":
        return Event("bad", error="truncated", reason="truncated")
    error = frame.reason if frame.reason == "too_large" else "invalid"
    return Event("bad", ident, method, error, frame.reason, not frame.flags & lib.ACP_F_RESPONSE)


def unnamed(events: list[Event]) -> list[Event]:
    """An empty method span cannot say whether a bad message had an empty name or none."""
    return [event._replace(method=event.method or None) if event.kind == "bad" else event for event in events]


rooms = st.builds(
    Room, st.sampled_from([1, 2, 3, 256]), st.sampled_from([1, 2, 256]), st.sampled_from([0, 8, 64, 1 << 16])
)


@given(streams(), rooms, EVERYWHERE)
def test_frames_equal_the_oracle_for_any_cuts(stream: Stream, room: Room, how: str) -> None:
    for level in (lib.ACP_ROUTE, lib.ACP_HOT):
        host = scan(stream, level, cut(stream, how), room)
        assert unnamed([event(frame) for frame in flat(host.found)]) == unnamed(expected(stream))


@given(streams(), rooms, EVERYWHERE)
def test_frames_do_not_depend_on_cuts_or_room(stream: Stream, room: Room, how: str) -> None:
    for level in (lib.ACP_LINES, lib.ACP_ROUTE, lib.ACP_HOT):
        whole, pieces = scan(stream, level, [stream.data]), scan(stream, level, cut(stream, how), room)
        assert whole.found == pieces.found
        assert (whole.scanner.frames, whole.scanner.bad) == (pieces.scanner.frames, pieces.scanner.bad)
        assert whole.rest == pieces.rest
        counted = [frame for frame in map(_head, whole.found) if frame.kind != "skipped"]
        assert (len(counted), sum(frame.kind == "bad" for frame in counted)) == (
            whole.scanner.frames,
            whole.scanner.bad,
        )


def _head(found: Any) -> Frame:
    return found[0] if isinstance(found, list) else found  # type: ignore[no-any-return]


@given(streams())
def test_levels_agree(stream: Stream) -> None:
    lines, route, hot = (scan(stream, level) for level in (lib.ACP_LINES, lib.ACP_ROUTE, lib.ACP_HOT))
    assert [(frame.at, frame.line) for frame in map(_head, lines.found)] == [
        (frame.at, frame.line) for frame in map(_head, hot.found)
    ]
    shared = [
        [(f.kind, f.reason, f.id_type, f.id, f.method, f.method_id, f.session, f.body) for f in flat(host.found)]
        for host in (route, hot)
    ]
    assert shared[0] == shared[1]


@given(streams())
def test_a_line_alone_is_the_line_in_the_stream(stream: Stream) -> None:
    for frame in map(_head, scan(stream, lib.ACP_HOT, [stream.data]).found):
        if frame.kind == "skipped" or frame.reason in ("too_large", "truncated"):
            continue
        alone, raw = Host(lib.ACP_HOT, stream), ffi.new("acp_frame *")
        flags = lib.ACP_HOT | (0 if stream.arrays else lib.ACP_NO_ARRAYS)
        line = frame.line + b"\r\n"
        assert lib.acp_message(ffi.from_buffer(line), len(line), flags, raw) == lib.ACP_OK
        alone.taken.consumed = len(line)
        assert alone._frame(raw, line, frame.at)._replace(at=0) == frame._replace(at=0)


@given(streams())
def test_spans_hold_what_json_says(stream: Stream) -> None:
    check_spans(stream)


def check_spans(stream: Stream) -> None:
    for frame in flat(scan(stream, lib.ACP_HOT).found):
        if frame.kind in MESSAGES:
            check_envelope(frame, oracle.members(oracle.parse(frame.line)))


def check_envelope(frame: Frame, top: dict[str, Any]) -> None:
    assert not frame.flags & lib.ACP_F_RESPONSE, "a mark of bad lines only"
    member = {"result": "result", "error": "error"}.get(frame.kind, "params")
    assert (member in top) == bool(frame.body)
    if member in top:
        assert oracle.parse(frame.body) == top[member]
    session = oracle.members(top.get(member)).get("sessionId") if member != "error" else None
    assert string(frame.session) == (session if type(session) is str else "")
    known = lib.acp_method_id(top["method"].encode(), len(top["method"].encode())) if "method" in top else 0
    assert frame.method_id == known
    pairs = oracle.parse(frame.line)
    twice = repeated(pairs) or (member != "error" and repeated(top.get(member)))
    if frame.kind == "notification" and top["method"] == "session/update":
        inside = top.get("params")
        check_update(frame, pairs, inside, oracle.members(inside).get("update"))
    else:
        assert bool(frame.flags & lib.ACP_F_REPEATED) == twice
        assert (frame.tag, frame.entity, frame.data) == (lib.ACP_T_NONE, b"", b"")


def check_update(frame: Frame, pairs: Any, inside: Any, change: Any) -> None:
    named = oracle.members(change).get("sessionUpdate")
    tag = named if isinstance(change, oracle.Members) and type(named) is str else None
    assert frame.tag == (lib.ACP_T_NONE if tag is None else lib.acp_tag_id(tag.encode(), len(tag.encode())))
    meta = any("_meta" in oracle.members(part) for part in (inside, change))
    twice = repeated(pairs) or repeated(inside) or repeated(change)
    assert bool(frame.flags & lib.ACP_F_REPEATED) == twice
    assert bool(frame.flags & lib.ACP_F_META) == (meta and isinstance(change, oracle.Members))
    entity = next(
        (name for start, name in ENTITIES.items() if tag and frame.tag != lib.ACP_T_OTHER and tag.startswith(start)), ""
    )
    value = oracle.members(change).get(entity)
    assert string(frame.entity) == (value if type(value) is str else "")
    escaped = any(b"\\" in name for name in (frame.method, frame.session, frame.entity))
    assert bool(frame.flags & lib.ACP_F_ESCAPED) == escaped
    check_exact(frame, pairs, inside, change, entity)
    check_data(frame, change)


def check_exact(frame: Frame, pairs: Any, inside: Any, change: Any, entity: str) -> None:
    payload = "data" if frame.tag == lib.ACP_T_TERMINAL_OUTPUT_CHUNK else "content"
    allowed = [{"jsonrpc", "method", "params"}, {"sessionId", "update"}, {"sessionUpdate", entity, payload} - {""}]
    found = (
        [[name for name, _ in part or ()] for part in (pairs, inside, change)]
        if isinstance(change, oracle.Members)
        else []
    )
    once = all(len(names) == len(set(names)) for names in found)
    if frame.flags & lib.ACP_F_EXACT:
        assert found and once and all(set(names) <= known for names, known in zip(found, allowed, strict=True))
    elif found and once and frame.tag > lib.ACP_T_OTHER and frame.session and frame.entity and frame.data:
        assert not all(set(names) == known for names, known in zip(found, allowed, strict=True))


def check_data(frame: Frame, change: Any) -> None:
    values = oracle.members(change)
    if frame.tag == lib.ACP_T_TERMINAL_OUTPUT_CHUNK and type(values.get("data")) is str:
        plain = terminal_bytes(values["data"]) if frame.flags & lib.ACP_F_EXACT else None
        assert frame.data == plain if plain is not None else string(frame.data) == values["data"]
    elif frame.data:
        assert oracle.parse(frame.data) == values["content"]
    else:
        assert frame.tag == lib.ACP_T_NONE or "content" not in values or frame.tag == lib.ACP_T_OTHER


def string(body: bytes) -> str:
    return json.loads(b'"' + body + b'"')  # type: ignore[no-any-return]


def repeated(value: Any) -> bool:
    names = [name for name, _ in value] if isinstance(value, oracle.Members) else []
    return len(names) != len(set(names))


def terminal_bytes(text: str) -> bytes | None:
    """Strict base64: the alphabet, the padding, and zero bits behind the last byte."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if base64.b64encode(raw) == text.encode() else None


@given(streams(), rooms, EVERYWHERE)
def test_groups_hold_neighbours_that_qualify(stream: Stream, room: Room, how: str) -> None:
    check_groups(stream, room, how)


def check_groups(stream: Stream, room: Room, how: str) -> None:
    for group in scan(stream, lib.ACP_HOT, cut(stream, how), room).grouped:
        if group.kind == lib.ACP_G_TERMINAL:
            check_terminal_group(group)
        elif group.kind == lib.ACP_G_UPDATES:
            assert len(group.frames) <= lib.ACP_MAX_RUN
            assert all(mergeable(frame) and not terminal(frame) for frame in group.frames)
            tags = {frame.tag for frame in group.frames}
            assert group.tag == (tags.pop() if len(tags) == 1 else lib.ACP_T_OTHER)
        else:
            assert group.kind == lib.ACP_G_ONE and len(group.frames) == 1
    for group in scan(stream, lib.ACP_ROUTE, cut(stream, how), room).grouped:
        assert group.kind == lib.ACP_G_ONE and len(group.frames) == 1


@given(streams())
def test_groups_are_as_long_as_they_may_be(stream: Stream) -> None:
    check_longest_groups(stream)


def check_longest_groups(stream: Stream) -> None:
    groups = scan(stream, lib.ACP_HOT, [stream.data]).grouped if not stream.eof else []
    for frame in (group.frames[0] for group in groups if group.kind == lib.ACP_G_ONE):
        unreadable = frame.tag == lib.ACP_T_TERMINAL_OUTPUT_CHUNK  # left alone, so that the typed layer reports it
        assert not terminal(frame)
        assert unreadable or not mergeable(frame)
    for one, two in pairwise(groups):
        if one.kind == two.kind == lib.ACP_G_UPDATES:
            assert len(one.frames) == lib.ACP_MAX_RUN
        if one.kind == two.kind == lib.ACP_G_TERMINAL:
            assert (one.session, one.entity) != (two.session, two.entity)


def check_terminal_group(group: Group) -> None:
    assert all(terminal(frame) for frame in group.frames)
    assert {(frame.session, frame.entity) for frame in group.frames} == {(group.session, group.entity)}
    texts = [
        oracle.members(oracle.members(oracle.members(oracle.parse(f.line))["params"])["update"])["data"]
        for f in group.frames
    ]
    assert group.data == b"".join(base64.b64decode(text, validate=True) for text in texts)
    lines = [line for line in group.wire.split(b"\n") if line.strip(b" \t\r")]
    assert [line.removesuffix(b"\r").removeprefix(strategies.BOM) for line in lines] == [
        frame.line for frame in group.frames
    ]


def mergeable(frame: Frame) -> bool:
    spoiled = frame.flags & (lib.ACP_F_ESCAPED | lib.ACP_F_REPEATED)
    return frame.kind == "notification" and frame.tag > lib.ACP_T_OTHER and not spoiled


def terminal(frame: Frame) -> bool:
    if not mergeable(frame) or frame.tag != lib.ACP_T_TERMINAL_OUTPUT_CHUNK or frame.flags & lib.ACP_F_META:
        return False
    values = oracle.members(oracle.members(oracle.members(oracle.parse(frame.line))["params"])["update"])
    exact = frame.flags & lib.ACP_F_EXACT and type(values.get("data")) is str
    return bool(exact) and terminal_bytes(values["data"]) is not None


# --- functions on one text


json_like = st.builds(
    lambda kind, seed: kind(Random(seed)), st.sampled_from(strategies.KINDS), st.integers(0, 2**32 - 1)
)
base64_like = st.text("QUJDab+/=09-_ \\n\u00e9", max_size=9) | st.binary(max_size=80).map(
    lambda raw: base64.b64encode(raw).decode()
)


@given(json_like | st.binary(max_size=30))
def test_check_accepts_what_json_is(text: bytes) -> None:
    at, reason = ffi.new("uint32_t *"), ffi.new("uint32_t *")
    status = lib.acp_check(ffi.from_buffer(text), len(text), at, reason)
    try:
        oracle.parse(text)
    except ValueError:
        assert (status, REASONS[reason[0]] in PARSE) == (lib.ACP_E_JSON, True)
        assert at[0] <= len(text)
    else:
        assert status == lib.ACP_OK


@given(st.text(max_size=40), st.integers(0, 7))
def test_string_gives_the_text_back(value: str, seed: int) -> None:
    body = strategies.text(Random(seed), value)[1:-1].encode()
    out = ffi.new("uint8_t[]", len(value.encode()) + 1)
    size = lib.acp_string(out, len(value.encode()), ffi.from_buffer(body), len(body))
    assert bytes(ffi.buffer(out, size)).decode() == value
    if value:
        assert lib.acp_string(out, len(value.encode()) - 1, ffi.from_buffer(body), len(body)) == lib.ACP_E_ROOM


@given(base64_like, st.integers(3, 40), st.booleans())
def test_terminal_data_in_pieces_is_strict_base64(value: str, room: int, escaped: bool) -> None:
    body = (
        json.dumps(value)[1:-1].replace("/", "\\/") if escaped else json.dumps(value, ensure_ascii=False)[1:-1]
    ).encode()
    out, used, got, rest = ffi.new("uint8_t[]", room), ffi.new("uint32_t *"), b"", body
    while rest:
        count = lib.acp_terminal_data(out, room, ffi.from_buffer(rest), len(rest), used)
        if count < 0:
            assert (count, terminal_bytes(value)) == (lib.ACP_E_BASE64, None)
            return
        assert used[0] > 0, "no progress"
        got, rest = got + bytes(ffi.buffer(out, count)), rest[used[0] :]
    assert got == terminal_bytes(value)
    assert len(got) <= lib.acp_terminal_size(ffi.from_buffer(body), len(body))


# --- what the streams reach


def test_the_strategy_reaches_everything() -> None:
    """A seeded run of the builders: every reason often enough, and most streams are not only noise."""
    rng, reasons, kinds, good, total = Random(20), Counter[str](), Counter[str](), 0, 1500
    for _ in range(total):
        stream = strategies.random_stream(rng)
        found = flat(scan(stream, lib.ACP_HOT).found)
        assert unnamed([event(frame) for frame in found]) == unnamed(expected(stream))
        check_spans(stream)
        check_groups(stream, WIDE, "drawn")
        check_longest_groups(stream)
        kinds.update(frame.kind for frame in found)
        reasons.update(frame.reason for frame in found if frame.kind == "bad")
        good += sum(frame.kind in MESSAGES for frame in found) >= 2
    print(f"\n{total} streams, {good} with two messages or more\n{dict(kinds)}\n{dict(reasons)}")
    assert good >= 0.4 * total
    assert all(reasons[reason] >= 50 for reason in REASONS[1:]), reasons


def test_bad_lines_have_their_exact_reason() -> None:
    """The oracle knows only that a line is no JSON; these lines have one thing wrong with them, and one name for it."""
    makers = {"utf8": strategies.bad_utf8, "json": strategies.bad_json, "surrogate": strategies.lone_surrogate}
    for reason, maker in makers.items():
        for seed in range(300):
            data = maker(Random(seed)) + b"\n"
            assert [(f.reason, f.kind) for f in flat(scan(Stream(data), lib.ACP_HOT).found)] == [(reason, "bad")], data
    for depth, reason in ((127, "none"), (128, "depth"), (100_000, "depth")):
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
            data = b'{"jsonrpc":"2.0","method":"_x","params":' + opening * depth + b"1" + closing * depth + b"}\n"
            assert [f.reason for f in flat(scan(Stream(data), lib.ACP_HOT).found)] == [reason]
