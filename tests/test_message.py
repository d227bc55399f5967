"""Messages: reading ids, errors and texts, writing lines that any peer takes."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpcore import Engine, InvalidParams, Notification, Request, Response, TerminalBytes, UsageError, expand
from acpcore import message as m
from acpcore._native import lib
from acpcore.message import ErrorObject, TerminalHead

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ids = st.one_of(st.integers(-(2**63), 2**63 - 1), texts)
json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=False, allow_infinity=False, width=32),
        texts,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=10,
)
params = st.one_of(st.dictionaries(texts, json_values, max_size=4), st.lists(json_values, max_size=4))
space = st.text(" \t\r\n", max_size=3)


def read(line: bytes, role: Any = "agent") -> Any:
    """The one event a line is."""
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    [event] = expand(Engine(role, answer_noise=False).receive_data(line))
    return event


# --- ids


@given(ids)
def test_an_id_is_written_as_it_is_read(ident: Any) -> None:
    token = m.encode_id(ident)
    back = m.decode_id(token)
    assert back == ident and type(back) is type(ident)
    assert json.loads(token) == ident


@pytest.mark.parametrize(
    ("token", "ident"),
    [
        (b"0", 0),
        (b"-0", 0),
        (b"-1", -1),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b'"1"', "1"),
        (b'""', ""),
        (b'"a\\/b \\u00e9 \\ud83d\\ude42"', "a/b é 🙂"),
        (b"null", None),
    ],
)
def test_id_tokens(token: bytes, ident: Any) -> None:
    assert m.decode_id(token) == ident
    request = read(b'{"jsonrpc":"2.0","id":' + token + b',"method":"m"}\n')
    assert isinstance(request, Request) and request.id == ident
    assert request.id_token == token, "it is echoed as it came"


@pytest.mark.parametrize("ident", [None, True, False, 1.0, 2**63, -(2**63) - 1, b"1", [], "\ud800"])
def test_ids_that_are_never_sent(ident: Any) -> None:
    with pytest.raises(UsageError):
        m.encode_id(ident)


@given(st.sampled_from([b"1", b'"a\\u0062"', b"null", b'"\\/"']), json_values)
def test_an_answer_echoes_the_id_byte_for_byte(token: bytes, value: Any) -> None:
    engine = Engine("agent")
    [request] = engine.receive_data(b'{"jsonrpc":"2.0","method":"m","id": ' + token + b" }\n")
    assert isinstance(request, Request)
    request.reply([value])
    assert b"".join(engine.data_to_send()).startswith(b'{"jsonrpc":"2.0","id":' + token + b',"result":[')


# --- lines


@given(ids, texts, st.none() | params)
def test_a_request_is_read_as_it_was_written(ident: Any, name: str, value: Any) -> None:
    line = m.request_line(m.encode_id(ident), name, value)
    event = read(line)
    assert isinstance(event, Request)
    assert (event.id, event.method, event.line) == (ident, name, line[:-1])
    assert json.loads(line) == {"jsonrpc": "2.0", "id": ident, "method": name} | (
        {} if value is None else {"params": value}
    )


@given(texts, st.none() | params)
def test_a_notification_is_read_as_it_was_written(name: str, value: Any) -> None:
    event = read(m.notification_line(name, value))
    assert isinstance(event, Notification) and event.method == name
    assert event.raw_params == (None if value is None else msgspec.json.encode(value))


@given(ids, json_values)
def test_a_result_is_read_as_it_was_written(ident: Any, value: Any) -> None:
    event = read(m.result_line(m.encode_id(ident), value))
    assert isinstance(event, Response) and event.id == ident and event.error is None
    assert event.raw_result == (b"{}" if value is None else msgspec.json.encode(value))


@given(ids, st.integers(-(2**63), 2**63 - 1), texts, json_values)
def test_an_error_is_read_as_it_was_written(ident: Any, code: int, text: str, data: Any) -> None:
    event = read(m.error_line(m.encode_id(ident), code, text, data))
    assert isinstance(event, Response) and event.raw_result is None
    assert event.error is not None and (event.error.code, event.error.message) == (code, text)
    bare = read(m.error_line(m.encode_id(ident), code, text))
    assert bare.error == ErrorObject(code, text) and b"data" not in bare.line.replace(text.encode(), b"")


@given(params, space, space)
def test_raw_params_keep_their_tokens_and_lose_their_line_breaks(value: Any, before: str, after: str) -> None:
    """``1.50`` stays ``1.50``: whoever forwards JSON forwards it as it is."""
    raw = (before + json.dumps(value, indent=1, ensure_ascii=False) + after).encode()
    for body in (raw, bytearray(raw), memoryview(raw), msgspec.Raw(raw)):
        event = read(m.notification_line("n", body))
        assert isinstance(event, Notification) and event.raw_params is not None
        assert bytes(event.raw_params).split() == raw.split()
        assert json.loads(bytes(event.raw_params)) == value


@pytest.mark.parametrize("raw", [b'{"a":\n1}', b"[1,\r\n2]", b"\n{}\n", b'{"a":"\\n"}'])
def test_raw_json_inside_a_value_stays_on_its_line(raw: bytes) -> None:
    for value in ({"x": msgspec.Raw(raw)}, [msgspec.Raw(raw), {"deep": [msgspec.Raw(raw)]}]):
        event = read(m.notification_line("n", value))
        assert isinstance(event, Notification)
        inner = event.params["x"] if isinstance(value, dict) else event.params[0]
        assert inner == json.loads(raw)


BAD_RAW = [
    b"",
    b" ",
    b"{",
    b"{}{}",
    b"{} x",
    b"{'a':1}",
    b'{"a":NaN}',
    b'{"a":"\xff"}',
    b'{"a":"\\ud800"}',
    b'{"a":"\n"}',
]
BAD_RAW += [b"[" * 129 + b"]" * 129, b'{"a":"\x00"}', "{\u00a0}".encode()]


@pytest.mark.parametrize("raw", BAD_RAW, ids=lambda raw: repr(raw[:12]))
def test_bad_raw_json_is_refused_before_a_byte_leaves(raw: bytes) -> None:
    engine = Engine("client")
    bodies = [raw, msgspec.Raw(raw), {"x": msgspec.Raw(raw)}, [1, msgspec.Raw(raw)]]
    for body in bodies:
        for send in (engine.call, engine.notify):
            with pytest.raises(UsageError):
                send("m", body)
        with pytest.raises(UsageError):
            m.result_line(b"1", body)
        with pytest.raises(UsageError):
            m.error_line(b"1", 5, "text", body)
    assert engine.data_to_send() == [] and engine.stats().pending_calls == 0


class Node:
    pass


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [{"a": "\ud800"}, {"\udc00": 1}, {"a": Node()}, {"a": {1, Node()}}, {"a": 1 + 2j}, nested(200), nested(100_000)],
    ids=["surrogate", "key", "object", "set", "complex", "too deep", "far too deep"],
)
def test_values_that_are_not_json(value: Any) -> None:
    with pytest.raises(UsageError):
        m.notification_line("n", value)
    with pytest.raises(UsageError):
        m.result_line(b"1", value)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_json_does_not_know_become_null(number: float) -> None:
    assert m.notification_line("n", [number]) == b'{"jsonrpc":"2.0","method":"n","params":[null]}\n'


@pytest.mark.parametrize("value", [5, "text", True, 1.5, b"5", b' "text"', msgspec.Raw(b"true")])
def test_params_are_an_object_or_an_array(value: Any) -> None:
    """A peer refuses anything else, without an id: the call would never end. Extensions may differ."""
    for build in (lambda: m.notification_line("n", value), lambda: m.request_line(b"1", "n", value)):
        with pytest.raises(UsageError, match="object or an array"):
            build()
    assert isinstance(read(m.notification_line("_n", value)), Notification)


@pytest.mark.parametrize("method", [5, None, b"n", ["n"], "\ud800"])
def test_a_method_is_a_text(method: Any) -> None:
    with pytest.raises(UsageError):
        m.notification_line(method, None)
    with pytest.raises(UsageError):
        m.request_line(b"1", method, None)


@pytest.mark.parametrize(
    ("code", "text"), [(None, "x"), ("5", "x"), (5.0, "x"), (True, "x"), (2**63, "x"), (5, None), (5, b"x")]
)
def test_an_error_has_a_code_and_a_text(code: Any, text: Any) -> None:
    with pytest.raises(UsageError):
        m.error_line(b"1", code, text)


def test_no_message_is_longer_than_the_scan_can_take() -> None:
    assert lib.ACP_MAX_SIZE > 2**30


# --- reading


@pytest.mark.parametrize("raw", [b"1e999", b'{"a":-1e400}'])
def test_a_number_no_float_can_hold(raw: bytes) -> None:
    with pytest.raises(InvalidParams):
        m.decode_json(raw)


def test_params_are_decoded_when_asked_for_and_once() -> None:
    event = read(b'{"jsonrpc":"2.0","method":"n","params":{"a":1}}\n')
    assert event.params == {"a": 1} and event.params is event.params
    calls: list[bytes] = []
    assert event.decode(lambda raw: calls.append(bytes(raw)) or "typed") == "typed"
    assert event.params == "typed" and calls == [b'{"a":1}']
    bare = read(b'{"jsonrpc":"2.0","method":"n"}\n')
    assert bare.params is None and bare.raw_params is None
    assert bare.decode(bytes) == b"{}", "a typed handler sees an empty object"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b'{"code":1,"message":"m","data":{"a":[1]}}', ErrorObject(1, "m", {"a": [1]})),
        (b'{"code":1,"message":"m","data":1e999}', ErrorObject(1, "m")),
        (b'{"code":1,"message":"m","more":1}', ErrorObject(1, "m")),
        (b'{"code":-32800,"message":""}', ErrorObject(-32800, "")),
    ],
)
def test_error_members(body: bytes, error: ErrorObject) -> None:
    assert m.decode_error(body) == error
    event = read(b'{"jsonrpc":"2.0","id":1,"error":' + body + b"}\n")
    assert event.error == error


@given(texts)
def test_the_inside_of_a_string(text: str) -> None:
    for ensure in (True, False):
        assert m.decode_text(json.dumps(text, ensure_ascii=ensure)[1:-1].encode()) == text


def test_text_that_is_no_string() -> None:
    with pytest.raises(UsageError):
        m.decode_text(b"\\x")


@pytest.mark.parametrize(
    ("line", "version"),
    [
        (b'{"id":1,"result":{"protocolVersion":2,"x":{}}}', 2),
        (b'{"id":1,"result":{"protocolVersion":1}}', 1),
        (b'{"id":1,"result":{"protocolVersion":"2"}}', None),
        (b'{"id":1,"result":{}}', None),
        (b'{"id":1,"error":{"code":1,"message":"m"}}', None),
    ],
)
def test_the_agreed_version(line: bytes, version: int | None) -> None:
    assert m.agreed_version(line) == version


def test_a_marker_is_small() -> None:
    answer = read(b'{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","big":"' + b"x" * 100_000 + b'"}}\n')
    marker = answer.marker()
    assert (marker.id, marker.session_id, marker.offset, marker.size) == (1, "s", 0, answer.size)
    assert (marker.raw_result, marker.line, marker.error) == (None, b"", None)
    failed = read(m.error_line(b"1", 5, "t" * 10_000, {"big": "x" * 10_000})).marker()
    assert failed.error.code == 5 and len(failed.error.message) < 1000 and failed.error.data is None


# --- terminal chunks


@given(texts, texts, st.binary(max_size=300))
def test_a_chunk_is_the_line_python_would_write(session: str, terminal: str, data: bytes) -> None:
    line = TerminalHead(session, terminal).line(data)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    update = {"sessionUpdate": "terminal_output_chunk", "terminalId": terminal, "data": base64.b64encode(data).decode()}
    expected = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}
    assert json.loads(line) == expected
    [event] = Engine("client").receive_data(line)
    if isinstance(event, Notification):
        assert b"\\" in line and event.params == expected["params"], "escaped names take the plain road"
        return
    assert isinstance(event, TerminalBytes)
    assert (event.session_id, event.terminal_id, event.data, event.sizes) == (session, terminal, data, [len(data)])


@given(st.lists(st.binary(max_size=50), min_size=1, max_size=10), st.sampled_from([bytes, bytearray, memoryview]))
def test_chunks_are_joined_and_taken_apart_again(pieces: list[bytes], kind: Any) -> None:
    head = TerminalHead("s", "t")
    lines = [head.line(kind(piece)) for piece in pieces]
    [event] = Engine("client").receive_data(b"".join(lines))
    assert isinstance(event, TerminalBytes) and event.data == b"".join(pieces)
    assert [bytes(one.line) for one in event.expand()] == [line[:-1] for line in lines]
    parts = event.split()
    assert sum(one.size for one in parts) == event.size and all(one.counted for one in parts) and not event.counted


@pytest.mark.parametrize("size", [0, 1, 2, 3, 47, 48, 49, 32_768, 1_000_003])
def test_chunks_of_any_size(size: int) -> None:
    data = bytes(i * 7 % 256 for i in range(size))
    event, *_ = Engine("client").receive_data(TerminalHead("s", "t").line(data))
    assert isinstance(event, TerminalBytes) and event.data == data


@pytest.mark.parametrize("names", [("\ud800", "t"), ("s", "\udfff")])
def test_names_of_terminals_are_text(names: tuple[str, str]) -> None:
    with pytest.raises(UsageError):
        TerminalHead(*names)
