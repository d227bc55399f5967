"""Streams to feed: messages, noise, broken lines, batches and long lines, all built from seeds.

hypothesis draws which kinds of line follow each other, a seed for each, edits of the bytes and where to cut; the same
builders serve a plain seeded run (``random_stream``). Shrinking goes to the first kinds of ``KINDS``, the simplest.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import oracle
from hypothesis import strategies as st

TEXTS = [
    "",
    "a",
    "one two",
    "naïve 界面",
    "🙂",
    'quote " and \\',
    "tab\tnul\x00",
    "\u2028\x7f",
    "x" * 40,
    "é" * 9,
    "{}[],:",
]
SESSIONS = ["s1", "s1", "s1", "s2", "sess-é", "a/b", ""]
IDS: list[Any] = [0, 1, 1, 2, 7, -1, "1", "", "x", "é", None, 2**53 + 1, 2**63 - 1, -(2**63)]
METHODS = ["session/update", "session/prompt", "session/new", "_t/echo", "_x", "$/cancel_request", "é", "", "_", "a\\b"]
TAGS = [
    *(
        "user_message_chunk",
        "user_message",
        "agent_message_chunk",
        "agent_message",
        "agent_thought_chunk",
        "agent_thought",
    ),
    *("state_update", "tool_call_content_chunk", "tool_call_update", "terminal_update", "terminal_output_chunk"),
    *(
        "plan_update",
        "plan_removed",
        "available_commands_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
    ),
]
BOM = b"\xef\xbb\xbf"


class Stream(NamedTuple):
    """Bytes to feed and how: ``cuts`` are the offsets between reads."""

    data: bytes
    eof: bool = True
    max_frame: int = 1 << 26
    arrays: bool = True
    cuts: tuple[int, ...] = ()

    def chunks(self) -> list[bytes]:
        edges = [0, *sorted(cut for cut in self.cuts if cut < len(self.data)), len(self.data)]
        return [self.data[a:b] for a, b in pairwise(edges)]


EVERYWHERE = st.sampled_from(["drawn", "bytes", "whole"])


def cut(stream: Stream, how: str) -> list[bytes]:
    """The reads of a stream: at its drawn cuts, of one byte each, or one read for all."""
    if how == "bytes":
        return [stream.data[i : i + 1] for i in range(len(stream.data))]
    return stream.chunks() if how == "drawn" else [stream.data]


def expected(stream: Stream) -> list[oracle.Event]:
    return oracle.events(stream.data, eof=stream.eof, max_frame=stream.max_frame, arrays=stream.arrays)


# --- writing JSON in every legal way


def text(rng: Random, value: str) -> str:
    """A JSON string: raw UTF-8, all escaped, or some characters escaped for no reason."""
    style = rng.randrange(8)
    if style == 0:
        return json.dumps(value)
    plain = json.dumps(value, ensure_ascii=False)
    if style == 1:
        return plain.replace("/", "\\/")
    if style == 2 and value and value[0] < "\U00010000" and value[0] not in '"\\':
        return f'"\\u{ord(value[0]):04X}' + json.dumps(value[1:], ensure_ascii=False)[1:]
    return plain


def space(rng: Random) -> str:
    return rng.choice(["", "", "", "", "", " ", "\t", " \r", "  "])


def write(rng: Random, value: Any, spaced: bool = False) -> str:
    """JSON text of a value; a list of pairs inside a tuple is an object with members in that order."""
    gap = (lambda: space(rng)) if spaced else str
    if isinstance(value, dict):
        value = tuple(value.items())
    if isinstance(value, tuple):
        inside = ",".join(f"{gap()}{text(rng, k)}{gap()}:{gap()}{write(rng, v, spaced)}{gap()}" for k, v in value)
        return f"{{{inside}}}"
    if isinstance(value, list):
        return f"[{','.join(gap() + write(rng, entry, spaced) + gap() for entry in value)}]"
    return text(rng, value) if isinstance(value, str) else json.dumps(value)


def line(rng: Random, value: dict[str, Any]) -> bytes:
    """A message as people write it: mostly compact, sometimes spaced, reordered, with unknown or repeated members."""
    pairs = list(value.items())
    style = rng.randrange(12)
    if style == 0:
        rng.shuffle(pairs)
    elif style == 1:
        pairs.insert(
            rng.randrange(len(pairs) + 1),
            (rng.choice(["_meta", "type", "x", "Id"]), rng.choice([None, 1, [], {"id": 9}])),
        )
    elif style == 2:
        pairs.insert(
            rng.randrange(len(pairs)),
            rng.choice([rng.choice(pairs), ("id", 3), ("params", {"sessionId": "no"}), ("x", 1)]),
        )
    return write(rng, tuple(pairs), spaced=style in (2, 3)).encode()


# --- messages


def params(rng: Random) -> Any:
    session = {"sessionId": rng.choice(SESSIONS)}
    twice = (("sessionId", "no"), ("a", 1), (rng.choice(["a", "sessionId"]), rng.choice(SESSIONS)))
    some: list[Any] = [
        twice,
        {},
        session,
        {**session, "prompt": [{"type": "text", "text": rng.choice(TEXTS)}]},
        [1, 2],
        None,
        {"a": nest(rng)},
    ]
    return rng.choice(some)


def nest(rng: Random, depth: int = 3) -> Any:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice([None, True, False, 0, -0.0, 1.5e300, 123456789012345678901234567890, 10**40, *TEXTS])
    if rng.random() < 0.5:
        return [nest(rng, depth - 1) for _ in range(rng.randrange(3))]
    return {rng.choice(TEXTS): nest(rng, depth - 1) for _ in range(rng.randrange(3))}


def request(rng: Random) -> bytes:
    return line(rng, {"jsonrpc": "2.0", "id": rng.choice(IDS), "method": rng.choice(METHODS), "params": params(rng)})


def extension(rng: Random) -> bytes:
    return line(rng, {"jsonrpc": "2.0", "method": "_" + rng.choice(TEXTS), "params": nest(rng)})


def notification(rng: Random) -> bytes:
    value = {"jsonrpc": "2.0", "method": rng.choice(METHODS), "params": params(rng)}
    if rng.random() < 0.2:
        del value["params"]
    return line(rng, value)


def result(rng: Random) -> bytes:
    twice = (("sessionId", rng.choice(SESSIONS)), ("sessionId", rng.choice(SESSIONS)))
    some: list[Any] = [{}, None, {"sessionId": rng.choice(SESSIONS)}, nest(rng), {"sessionId": 5}, twice]
    return line(rng, {"jsonrpc": "2.0", "id": rng.choice(IDS), "result": rng.choice(some)})


def error(rng: Random) -> bytes:
    value = {"code": rng.choice([-32601, 0, 2**40]), "message": rng.choice(TEXTS), "data": nest(rng)}
    return line(rng, {"jsonrpc": "2.0", "id": rng.choice(IDS), "error": value})


def update(rng: Random, change: dict[str, Any] | None = None, session: str | None = None) -> bytes:
    value = change or any_update(rng)
    inside: dict[str, Any] = {"sessionId": session or rng.choice(SESSIONS), "update": value}
    twist = rng.randrange(14)
    if twist < 3:
        rng.choice([inside, value])[rng.choice(["_meta", "extra"])] = {"k": 1}
    elif twist == 3:
        inside = dict(reversed(inside.items()))
    message = {"jsonrpc": "2.0", "method": "session/update", "params": inside}
    if twist == 4:
        del inside[rng.choice(list(inside))]
    if twist == 5:
        return doubled(rng, message)
    return line(rng, message) if twist < 8 else write(rng, message).encode()


def doubled(rng: Random, message: dict[str, Any]) -> bytes:
    """An update with a member of params or of update repeated."""
    change = tuple(message["params"]["update"].items())
    pairs = (("sessionId", message["params"]["sessionId"]), ("update", change))
    style = rng.randrange(4)
    if style == 0:
        pairs = (pairs[0], ("update", (*change, rng.choice(change))))
    elif style == 1:
        pairs = (pairs[0], ("update", ((change[0][0], rng.choice(TAGS)), *change)))
    elif style == 2:
        pairs = (*pairs, ("sessionId", rng.choice(SESSIONS)))
    else:
        pairs = (("update", rng.choice([(("_meta", 1), ("x", 1), ("x", 2)), 7])), *pairs)
    return write(rng, {**message, "params": pairs}).encode()


def any_update(rng: Random) -> dict[str, Any]:
    tag = rng.choice([*TAGS, "future_thing", "_vendor.example/heat", "", "agent_message_chun"])
    value: dict[str, Any] = {"sessionUpdate": tag if rng.random() < 0.95 else 7}
    value |= {
        name: rng.choice(["m1", "c1", "t\u00e9", ""])
        for name in ("messageId", "toolCallId", "terminalId")
        if rng.random() < 0.5
    }
    if rng.random() < 0.7:
        value["content"] = rng.choice([{"type": "text", "text": rng.choice(TEXTS)}, [], None, "plain"])
    if rng.random() < 0.2:
        value["data"] = rng.choice(["QUJD", 5, None])
    return value


def text_chunk(rng: Random) -> bytes:
    content = {"type": "text", "text": rng.choice(TEXTS)}
    tag = rng.choice(["agent_message_chunk", "agent_thought_chunk"])
    return update(rng, {"sessionUpdate": tag, "messageId": rng.choice(["m1", "m2"]), "content": content})


def terminal_chunk(rng: Random) -> bytes:
    raw = rng.randbytes(rng.choice([0, 1, 2, 3, 5, 24, 60]))
    data = base64.b64encode(raw).decode()
    if rng.random() < 0.12:
        data = rng.choice(
            ["@@", "QQ", "QR==", "QUI=Q", data + "=", "=" + data, data[:-1], "QUJ D", "QUJ\u00e9", "\n", "Q===", "Q-_Q"]
        )
    change = {
        "sessionUpdate": "terminal_output_chunk",
        "terminalId": rng.choice(["t1", "t1", "t1", "t2", "t\u00e9", ""]),
        "data": data,
    }
    if rng.random() < 0.1:
        change["data"] = rng.choice([None, 7, {}])
    return update(rng, change, rng.choice(["s1", "s1", "s1", "s2"]))


def plain_run(rng: Random) -> bytes:
    """Neighbouring updates of any kind and session, sometimes more than one group may hold."""
    rows = []
    for _ in range(rng.choice([2, 3, 33, 70])):
        inside = {"sessionId": rng.choice(SESSIONS), "update": {"sessionUpdate": rng.choice(TAGS), "messageId": "m"}}
        rows.append(json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": inside}, ensure_ascii=False))
    return "\n".join(rows).encode()


def plain_chunks(rng: Random) -> bytes:
    """A run of ordinary chunks of one terminal on lines of their own, with blank lines here and there."""
    rows = []
    for _ in range(rng.randrange(2, 6)):
        change = {
            "sessionUpdate": "terminal_output_chunk",
            "terminalId": "t1",
            "data": base64.b64encode(rng.randbytes(rng.randrange(9))).decode(),
        }
        value = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": change}}
        rows.append(
            json.dumps(value, separators=(",", ":")).encode() + rng.choice([b"", b"", b"", b"\r", b"\n", b"\r\n \t"])
        )
    return b"\n".join(rows)


# --- noise and broken lines


def banner(rng: Random) -> bytes:
    some = [
        b"[20:18:05] Using configuration",
        b"Loaded.",
        b"10%\r 99%\r",
        b"Content-Length: 129\r",
        b"\x1b]0;t\x07" + result(rng),
    ]
    return rng.choice(
        [
            *some,
            b"\xef\xbb\xbf",
            b'warn: {"a":1}',
            b"   x",
            b"nul",
            b"truefalse",
            b"'a'",
            b"-",
            b"\x00",
            b"{",
            b"}",
            b'"',
        ]
    )


def scalar(rng: Random) -> bytes:
    return rng.choice([b"42", b'"hello"', b"null", b"true", b"{}", b"-0", b"1e9", b" 7 ", b'"\\u00e9"', b'{"a":{}}'])


def blank(rng: Random) -> bytes:
    return rng.choice([b"", b"\r", b"   ", b"\t\r", b" \t " * 5, b"\r\r"])


def bom(rng: Random) -> bytes:
    return BOM + rng.choice([request, result, blank])(rng)


def two_messages(rng: Random) -> bytes:
    return result(rng) + rng.choice([b"", b" ", b","]) + request(rng)


def pretty(rng: Random) -> bytes:
    return json.dumps(json.loads(plain_request(rng)), indent=2).encode()


def plain_request(rng: Random) -> bytes:
    value = {
        "jsonrpc": "2.0",
        "id": rng.choice(IDS),
        "method": "session/prompt",
        "params": {"sessionId": rng.choice(SESSIONS)},
    }
    return json.dumps(value, separators=(",", ":")).encode()


# fmt: off
NOT_JSON = ["NaN", "-Infinity", "Infinity", "01", "1.", ".5", "+1", "1e", "1e+", "0x1", "tru", "'a'", r'"\x"',
            r'"\u12g4"', r'"\u12', "[1,]", "[,1]", "{,}", '{"a"}', '{"a":}', '{"a":1,}', "{a:1}", '[{"a":}]',
            '[{"a":]', "{1:2}", "[1}", "/**/1", "--1", r"\u0041", "", "[1 2]", '"a\x01b"', '"\x1f"', "\x0b1",
            "1\x0c", "\u00a01"]
NOT_UTF8 = [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xe7\x95", b"\xf4\x90\x80\x80", b"\x80",
            b"\xf0\x80\x80\x80", b"\xe0\x80\x80", b"\xf5\x80\x80\x80", b"\xc3", b"\xc3(", b"\xf0\x9f\x99",
            b"\xe2(\xa1", b"\xc1\x81", b"\xf8\x88\x80\x80\x80", b"\xed\xa0\xbd\xed\xb8\x80"]
LONE = [r"\ud83d", r"\ude00", r"\ud83d\ud83d\ude00", r"\ud83d \ude00", r"\uDBFF\u0041", r"\ud83d\n", r"\udfff\ud800",
        r"\ud800\\udc00"]
ENDS = ['"id":1234567890,"result":{}}', '"id":"abé","method":"m"}', '"id":null}', '"result":true,"id":7}', '"id":-5 }',
        '"id":12}', '"id" : "q" } \r', 'x"id":7}', '["id":7}', '"a":1"id":7}', '"id":07}', '"id":1-5}', r'"id":"a\"b"}',
        '"id":"a\x01b"}', '"id":12\udcff}', r'"a":"\ud83d\ude00","id":1}', '"a":{"id":3}}', '"a":[{"id":3}',
        '"params":{"a":1},"id":9}', '"id":true,"id":4}', '"id":4,"id":tru}', "}"]
# fmt: on


def bad_json(rng: Random) -> bytes:
    """Text that is no JSON for one reason, inside an otherwise good message."""
    return b'{"jsonrpc":"2.0","id":1,"method":"_x","params":' + rng.choice(NOT_JSON).encode() + b"}"


def bad_utf8(rng: Random) -> bytes:
    spot = b"a" * rng.randrange(70) + rng.choice(NOT_UTF8) + b"a" * rng.randrange(40)
    return b'{"jsonrpc":"2.0","method":"_x","params":["' + spot + b'"]}'


def lone_surrogate(rng: Random) -> bytes:
    place = rng.choice(['["%s"]', '{"%s":1}', '{"a":["x","%sxyz"]}', '{"a":1,"a":"%s"}'])
    return b'{"jsonrpc":"2.0","method":"_x","params":' + (place % rng.choice(LONE)).encode() + b"}"


def deep(rng: Random) -> bytes:
    depth = rng.choice([126, 127, 128, 128, 129, 300])
    opening, closing = rng.choice([("[", "]"), ('{"a":', "}")])
    inside = opening * depth + "1" + closing * (depth if rng.random() < 0.7 else 0)
    return b'{"jsonrpc":"2.0","method":"_x","params":' + inside.encode() + b"}"


def bad_envelope(rng: Random) -> bytes:
    """Valid JSON that breaks a rule of the envelope: one member of a good message changed, added or removed."""
    base: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {}}
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {}}
    value = dict(rng.choice([base, answer]))
    odd = rng.choice(["jsonrpc", "id", "id", "method", "method", "method", "params", "result", "error", "bare", "bare"])
    if odd == "bare":
        value = {"jsonrpc": "2.0"}
    elif odd in value and rng.random() < 0.3:
        del value[odd]
    else:
        value[odd] = rng.choice(
            [None, 2.0, 1.5, 1e3, 2**63, -(2**63) - 1, True, [], {}, "1.0", "2.0", 0, {"code": 1, "message": "m"}]
        )
    return line(rng, value)


def bad_id(rng: Random) -> bytes:
    token = rng.choice(
        ["1.5", "1.0", "1e3", "18446744073709551615", "9223372036854775808", "true", "[]", "{}", "1E0", "9" * 5000]
    )
    return f'{{"jsonrpc":"2.0","id":{token},"method":"m"}}'.encode()


def odd_id(rng: Random) -> bytes:
    token = rng.choice(
        ["-0", "0", "9223372036854775807", "-9223372036854775808", '"\\ud83d\\ude00"', '"\\u0031"', '"a\\/b"', "null"]
    )
    return f'{{"jsonrpc":"2.0","id":{token},"method":"m"}}'.encode()


def bad_params(rng: Random) -> bytes:
    method = rng.choice(["m", "session/update", "$/m", "", "x_", "_x", "\\u005fx"])
    ident = rng.choice(['"id":1,', ""])
    return (
        f'{{"jsonrpc":"2.0",{ident}"method":"{method}","params":{rng.choice(["1", "true", json.dumps("x")])}}}'.encode()
    )


def bad_response(rng: Random) -> bytes:
    some = [
        '"result":1,"error":{"code":1,"message":"m"}',
        '"error":"boom"',
        '"error":null',
        '"error":{"code":1}',
        '"error":{"message":"m"}',
    ]
    some += [
        '"error":{"code":1.0,"message":"m"}',
        '"error":{"code":1,"message":7}',
        '"x":1',
        '"result":1,"method":"m"',
        '"error":[]',
    ]
    some += [
        '"error":{"code":"1","code":2,"message":"m"}',
        '"error":{"code":2,"code":"1","message":"m"}',
        '"error":{"code":9223372036854775808,"message":""}',
    ]
    return f'{{"jsonrpc":"2.0","id":{rng.choice(["1", "null", json.dumps("x")])},{rng.choice(some)}}}'.encode()


def batch(rng: Random) -> bytes:
    makers = [
        request,
        notification,
        result,
        error,
        update,
        scalar,
        bad_envelope,
        bad_response,
        bad_params,
        batch,
        terminal_chunk,
    ]
    entries = [rng.choice(makers)(rng) for _ in range(rng.randrange(1, 5))]
    return b"[" + (b" ,\t" if rng.random() < 0.2 else b",").join(entries) + b"]"


def empty_batch(rng: Random) -> bytes:
    return rng.choice([b"[]", b"[ ]", b" [\t]\r", b"[[]]"])


def long_line(rng: Random) -> bytes:
    """Longer than a small max_frame: a message padded before, between or behind its members, or no message at all."""
    pad = rng.choice(["x", "é", "\\u00e9", "1,", "[{", "\ufeff"]) * rng.randrange(80, 400)
    value: list[tuple[str, Any]] = [("jsonrpc", "2.0"), *rng.choice([[("method", "m")], [], [("result", {})]])]
    value.insert(rng.randrange(len(value) + 1), ("params", {"pad": "x" * rng.randrange(300, 700)}))
    value.insert(rng.choice([0, 1, len(value)]), ("id", rng.choice(IDS)))
    whole = write(rng, tuple(value), spaced=rng.random() < 0.2).encode() + rng.choice([b"", b" ", b"\r"])
    return rng.choice(
        [whole, whole, whole, whole[:-1], pad.encode(), b" " * 900, b"x" * 700 + request(rng), b"[" + whole + b"]"]
    )


def edge_line(rng: Random) -> bytes:
    """A line of which a small max_frame ends somewhere in the last members."""
    head = '{"jsonrpc":"2.0",' + rng.choice(["", '"method":"m",', '"params":[],', '"error":1,']) + '"x":"'
    end = rng.choice(ENDS)
    pad = rng.choice([200, 300, 400]) - len(head) - rng.randrange(len(end) + 3)
    return f'{head}{"x" * pad}",{end}'.encode("utf-8", "surrogateescape")


def mutated(rng: Random) -> bytes:
    return mutate(
        rng, bytearray(rng.choice([request, result, error, update, terminal_chunk, batch, notification])(rng))
    )


def mutate(rng: Random, data: bytearray) -> bytes:
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(data) + 1)
        action = rng.randrange(5)
        if action == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif action == 1:
            del data[at:]
        elif action == 2:
            data[at:at] = rng.choice(
                [b"\x00", b'"', b"\\", b"\n", b"\r", b",", b"{", b"]", b" ", b"\xc3", b"\xff", b"\\ud800", BOM]
            )
        elif action == 3:
            del data[at : at + rng.randrange(1, 6)]
        elif at < len(data):
            data[at] = rng.randrange(256)
    return bytes(data)


KINDS: list[Callable[[Random], bytes]] = [
    *(result, request, notification, extension, error, update, text_chunk, terminal_chunk, plain_chunks, plain_run),
    *(odd_id, batch, scalar, blank, banner, two_messages, bom, pretty, bad_json, bad_utf8, lone_surrogate, deep),
    *(bad_envelope, bad_id, bad_params, bad_response, empty_batch, long_line, edge_line, mutated),
]
GOOD = KINDS[:9]


def assemble(rng: Random, rows: list[bytes]) -> bytes:
    data = b"".join(row + rng.choice([b"\n", b"\n", b"\n", b"\r\n"]) for row in rows)
    start = rng.choice([b"", b"", b"", b"", b"", BOM, b"\n \r\n" + BOM])
    end = rng.choice([b"", b"", b"", b"", request(rng), b'{"jsonrpc":"2.0"', b"  ", b"[]", mutated(rng)])
    return start + data + end


def random_stream(rng: Random) -> Stream:
    """A stream without hypothesis: mostly messages, some of everything else."""
    rows = [rng.choice(GOOD if rng.random() < 0.4 else KINDS)(rng) for _ in range(rng.randrange(1, 12))]
    data = assemble(rng, rows)
    if rng.random() < 0.1:
        data = mutate(rng, bytearray(data))
    cuts = tuple(rng.randrange(len(data) + 1) for _ in range(rng.choice([0, 1, 3, 12])))
    return Stream(data, rng.random() < 0.8, rng.choice([1 << 26, 1 << 26, 200, 300, 400]), rng.random() < 0.85, cuts)


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    """A stream of drawn lines, or raw bytes now and then, with drawn cuts and limits."""
    seeds = st.integers(0, 2**32 - 1)
    built = st.builds(lambda kind, seed: kind(Random(seed)), st.sampled_from(KINDS), seeds)
    rows = draw(st.lists(built | built | built | st.binary(max_size=40), max_size=10))
    data = assemble(Random(draw(seeds)), rows)
    cuts = draw(st.lists(st.integers(0, max(len(data), 1)), max_size=12))
    return Stream(
        data, draw(st.booleans()), draw(st.sampled_from([1 << 26, 400, 300, 200, 90])), draw(st.booleans()), tuple(cuts)
    )
