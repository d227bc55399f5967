"""The vectors under ``vectors/``: what C and Python, and every binding after them, must agree on."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acpcore._native import ffi, lib
from acpcore.flow import Gate

VECTORS = Path(__file__).resolve().parent / "vectors"
FLOW = json.loads((VECTORS / "flow.json").read_text(encoding="utf-8"))
BASE64 = json.loads((VECTORS / "base64.json").read_text(encoding="utf-8"))

Step = Callable[[str, int], "tuple[str, int, int, int, bool]"]

# --- gates: result, used, peak, shuts, shut after each step

RESULTS = {
    lib.ACP_OK: "ok",
    lib.ACP_SHUT: "shut",
    lib.ACP_OPENED: "opened",
    lib.ACP_E_OVERRUN: "overrun",
    lib.ACP_E_ARGUMENT: "argument",
}


def native_gate(high: int, low: int, hard: int) -> Step:
    gate = ffi.new("acp_gate *")
    assert lib.acp_gate_init(gate, high, low, hard) == lib.ACP_OK

    def step(operation: str, size: int) -> tuple[str, int, int, int, bool]:
        status = (lib.acp_gate_add if operation == "add" else lib.acp_gate_sub)(gate, size)
        return RESULTS[status], gate.used, gate.peak, gate.shuts, bool(gate.shut)

    return step


def python_gate(high: int, low: int, hard: int) -> Step:
    gate = Gate(high, low, hard, clock=lambda: 0.0)

    def step(operation: str, size: int) -> tuple[str, int, int, int, bool]:
        was_shut, result = gate.shut, "ok"
        if operation == "sub":
            gate.sub(size)
        elif gate.admits(size):
            gate.add(size)
        else:
            result = "overrun"
        if gate.shut != was_shut:
            result = "shut" if gate.shut else "opened"
        return result, gate.used, gate.peak, gate.times, gate.shut

    return step


GATES = pytest.mark.parametrize("make", [native_gate, python_gate])


@GATES
@pytest.mark.parametrize("script", FLOW["scripts"], ids=lambda script: script["name"])
def test_a_gate_follows_its_script(make: Callable[[int, int, int], Step], script: dict[str, Any]) -> None:
    step = make(script["high"], script["low"], script["hard"])
    for operation, size, *expected in script["steps"]:
        assert list(step(operation, size)) == expected, (operation, size)


def test_the_gates_in_c_refuse_marks_that_do_not_rise() -> None:
    for high, low, hard in FLOW["misuse"]["marks that do not rise"]:
        assert lib.acp_gate_init(ffi.new("acp_gate *"), high, low, hard) == lib.ACP_E_ARGUMENT


def test_the_gates_in_c_do_not_go_below_nothing() -> None:
    for script in FLOW["misuse"]["more is done than waits"]:
        step = native_gate(script["high"], script["low"], script["hard"])
        *before, last = script["operations"]
        state = [("ok", 0, 0, 0, False), *(step(*operation) for operation in before)][-1]
        assert step(*last) == ("argument", *state[1:])


SIZES = st.integers(0, 300)


@given(st.lists(SIZES, min_size=3, max_size=3).map(sorted), st.lists(st.tuples(st.booleans(), SIZES)))
def test_the_gates_of_c_and_python_are_one(marks: list[int], operations: list[tuple[bool, int]]) -> None:
    low, high, hard = marks
    native, python = native_gate(high, low, hard), python_gate(high, low, hard)
    used = 0
    for adds, size in operations:
        step = ("add", size) if adds else ("sub", min(size, used))
        result = native(*step)
        assert result == python(*step)
        used = result[1]


# --- base64


def native_encode(raw: bytes) -> bytes:
    size = lib.acp_base64_size(len(raw))
    room = ffi.new("uint8_t[]", size)
    assert lib.acp_base64_encode(room, size, raw, len(raw)) == size
    return bytes(ffi.buffer(room))


def native_decode(text: bytes) -> bytes | None:
    """The bytes, or None if the text is refused. What lies behind the bytes must stay as it was."""
    room = ffi.new("uint8_t[]", b"\xaa" * (len(text) + 32))
    size = lib.acp_base64_decode(room, len(text), text, len(text))
    assert size >= 0 or size == lib.ACP_E_BASE64
    assert bytes(ffi.buffer(room))[len(text) :] == b"\xaa" * 32 + b"\0"
    return bytes(ffi.buffer(room, size)) if size >= 0 else None


def terminal_decode(body: bytes) -> bytes | None:
    """The same for the inside of a JSON string."""
    size = lib.acp_terminal_size(body, len(body))
    room, used = ffi.new("uint8_t[]", size), ffi.new("uint32_t *")
    size = lib.acp_terminal_data(room, size, body, len(body), used)
    assert size == lib.ACP_E_BASE64 or used[0] == len(body)
    return bytes(ffi.buffer(room, size)) if size >= 0 else None


def strict_decode(text: bytes) -> bytes | None:
    """The standard library's, held to the letter: what decodes must encode to the same text."""
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error:
        return None
    return raw if base64.b64encode(raw) == text else None


def scanned_decode(text: bytes) -> bytes | None:
    """What a scan makes of a terminal's chunk with this data; None if it stays undecoded.

    No byte of the text is special in JSON.
    """
    head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    head += b'{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"'
    line = head + text + b'"}}}\n'
    scanner, frame, group = ffi.new("acp_scanner *"), ffi.new("acp_frame[1]"), ffi.new("acp_group[1]")
    arena, taken = ffi.new("uint8_t[]", len(text) + 1), ffi.new("acp_taken *")
    lib.acp_scanner_init(scanner, len(line), lib.ACP_HOT)
    lib.acp_scan(scanner, line, len(line), 0, frame, 1, group, 1, arena, len(text) + 1, taken)
    assert (taken.frames, frame[0].kind) == (1, lib.ACP_NOTIFICATION)
    if not frame[0].flags & lib.ACP_F_DECODED:
        assert (frame[0].data.off, frame[0].data.len) == (len(head), len(text))
        return None
    assert frame[0].data.len == taken.arena == group[0].data.len
    return bytes(ffi.buffer(arena, taken.arena))


def is_plain(text: bytes) -> bool:
    """Whether a JSON string may hold these bytes as they are."""
    return text.isascii() and min(text, default=32) >= 32 and not set(text) & set(b'"\\')


@pytest.mark.parametrize(("raw", "text"), [(bytes.fromhex(raw), text.encode()) for raw, text in BASE64["valid"]])
def test_valid_base64(raw: bytes, text: bytes) -> None:
    assert native_encode(raw) == text
    assert native_decode(text) == terminal_decode(text) == scanned_decode(text) == strict_decode(text) == raw
    assert terminal_decode(text.replace(b"/", rb"\/")) == raw
    assert terminal_decode(b"".join(b"\\u%04x" % byte for byte in text)) == raw


@pytest.mark.parametrize(("reason", "text"), [(reason, text.encode()) for reason, text in BASE64["invalid"]])
def test_invalid_base64(reason: str, text: bytes) -> None:
    assert (reason == "length") == (len(text) % 4 != 0)
    assert native_decode(text) is None
    assert strict_decode(text) is None
    if b"\\" not in text:
        assert terminal_decode(text) is None
    if is_plain(text):
        assert scanned_decode(text) is None


RAW = st.binary(max_size=64) | st.binary(min_size=64, max_size=400)


@given(RAW)
def test_encoding_is_that_of_python(raw: bytes) -> None:
    assert native_encode(raw) == base64.b64encode(raw)


@st.composite
def hostile(draw: st.DrawFn) -> bytes:
    """Base64 with a few bytes replaced, removed or added."""
    text = bytearray(base64.b64encode(draw(RAW)))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        fresh = draw(st.sampled_from([b"", b"=", b"==", b"-", b"_", b" ", b"\n", b"A", b"/"]) | st.binary(max_size=2))
        text[at : at + draw(st.integers(0, 2))] = fresh
    return bytes(text)


@given(hostile() | st.binary(max_size=200))
@example(b"A" * 31 + b"=")
@example(b"A" * 32 + b"=A==")
def test_decoding_is_that_of_python_but_strict(text: bytes) -> None:
    expected = strict_decode(text)
    assert native_decode(text) == expected
    if b"\\" not in text:
        assert terminal_decode(text) == expected
    if is_plain(text):
        assert scanned_decode(text) == expected
