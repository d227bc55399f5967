"""What a stream of bytes means, said once more with the standard library only: slow, short, judge of the fast path.

``events(stream, ...)`` lists what a receiver must see, in wire order. It knows nothing of chunks, spans or groups.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

ABSENT: Any = ...
MAX_DEPTH = 128
TAIL = 64
BOM = b"\xef\xbb\xbf"
BLANK = b" \t\r"
PARSE = ("parse", "utf8", "json", "surrogate", "depth")
FRAMING = ("too_large", "truncated")
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]')
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}
_TAIL_ID = re.compile(rb'[,{][ \t\r]*"id"[ \t\r]*:[ \t\r]*(-?(?:0|[1-9][0-9]*)|"[^"\\]*")[ \t\r]*}[ \t\r]*\Z')


class Event(NamedTuple):
    """``kind``: request, notification, result, error, array, skipped, bad. ``error``: parse, invalid or the reason.

    ``id`` is an int, a str, None for null, or ABSENT; ``reason`` the exact word where the class is not ``parse``;
    ``answerable`` is false for what looks like a response: it must never be answered.
    """

    kind: str
    id: Any = ABSENT
    method: str | None = None
    error: str | None = None
    reason: str | None = None
    answerable: bool = True


class Members(list[Any]):
    """The members of an object in order, repeated ones included: pairs of name and value."""


def events(stream: bytes, *, eof: bool = False, max_frame: int = 1 << 26, arrays: bool = True) -> list[Event]:
    """The events of a whole stream; an array is a marker followed by its entries."""
    out: list[Event] = []
    *lines, rest = stream.split(b"\n")
    first = True
    for line, ended in [*((line, True) for line in lines), (rest, False)]:
        if len(line) > max_frame:
            out.append(_too_large(line[:max_frame], first))
            out += [Event("skipped", _tail_id(line))] if ended else []
        elif line.strip(BLANK):
            body = line.removeprefix(BOM) if first else line
            if ended or eof:
                out += judge(body, arrays) if ended else _unterminated(body, arrays)
        else:
            continue
        first = False
    return out


def judge(line: bytes, arrays: bool = True) -> list[Event]:
    """One line without its newline: nothing if it is blank, one event, or an array's marker and entries."""
    if not line.strip(BLANK):
        return []
    try:
        value = parse(line)
    except ValueError:
        return [Event("bad", error="parse", reason="parse")]
    if value == [] and not isinstance(value, Members):
        return [_bad("empty_array")]
    return [Event("array"), *map(_message, value)] if arrays and type(value) is list else [_message(value)]


def parse(line: bytes) -> Any:
    """Strict JSON of at most 128 levels; objects become Members. Raises ValueError."""
    text = line.decode("utf-8", "strict")
    if _too_deep(text) is not None:
        raise ValueError("nested too deeply")
    value = json.loads(text, object_pairs_hook=Members, parse_constant=_refuse, parse_int=_integer)
    json.dumps(value, ensure_ascii=False).encode("utf-8", "strict")  # a lone surrogate has no UTF-8
    return value


def error_class(reason: str) -> str:
    """parse, invalid, or the word itself of a fault in the framing."""
    return "parse" if reason in PARSE else reason if reason in FRAMING else "invalid"


def members(value: Any) -> dict[str, Any]:
    """The members of an object as a mapping in which the last of repeated ones has won; nothing for anything else."""
    return dict(value) if isinstance(value, Members) else {}


def _message(value: Any) -> Event:
    if not isinstance(value, Members):
        return _bad("not_object")
    top = members(value)
    ident, method = top.get("id", ABSENT), top.get("method")
    response = "result" in top or "error" in top
    reason = _fault(top, response)
    if reason:
        return _bad(reason, top)
    if "method" in top:
        return Event("notification" if ident is ABSENT else "request", ident, method)
    return Event("result" if "result" in top else "error", ident)


def _fault(top: dict[str, Any], response: bool) -> str | None:
    if top.get("jsonrpc") != "2.0":
        return "version"
    if "id" in top and not _is_id(top["id"]):
        return "id"
    if "method" in top:
        if type(top["method"]) is not str:
            return "method"
        return "response" if response else None if _params_fit(top) else "params"
    if not response:
        return "response" if "id" in top else "method"
    if "result" in top and "error" in top:
        return "response"
    if "id" not in top:
        return "id"
    return None if "result" in top or _is_error(members(top["error"])) else "response"


def _bad(reason: str, top: dict[str, Any] | None = None) -> Event:
    top = top or {}
    answerable = not ("result" in top or "error" in top or ("id" in top and "method" not in top))
    ident, method = top.get("id", ABSENT), top.get("method")
    shown = (ident if _is_id(ident) else ABSENT, method if type(method) is str else None)
    return Event("bad", *shown, error_class(reason), reason, answerable)


def _is_id(value: Any) -> bool:
    return value is None or type(value) is str or (type(value) is int and -(2**63) <= value < 2**63)


def _params_fit(top: dict[str, Any]) -> bool:
    return top["method"].startswith("_") or top.get("params") is None or isinstance(top["params"], list)


def _is_error(error: dict[str, Any]) -> bool:
    return type(error.get("code")) is int and _is_id(error["code"]) and type(error.get("message")) is str


def _unterminated(line: bytes, arrays: bool) -> list[Event]:
    found = judge(line, arrays)
    return found if not found or found[0].kind != "bad" else [Event("bad", error="truncated", reason="truncated")]


def _too_large(start: bytes, first: bool) -> Event:
    """What a line shows before it is cut; what its missing part may hold does not make it a response."""
    top = _beginning(start.removeprefix(BOM) if first else start)
    return _bad("too_large", top)._replace(answerable="result" not in top and "error" not in top)


def _beginning(start: bytes) -> dict[str, Any]:
    """The top-level members that the beginning of a line shows; one whose value is cut has the value ABSENT."""
    text = _valid_text(start)
    found: dict[str, Any] = {}
    at = _skip(text, 0)
    separator = "{"
    while text[at : at + 1] == separator:
        try:
            key, at = _value(text, _skip(text, at + 1))
        except ValueError:
            break
        at = _skip(text, at)
        if type(key) is not str or text[at : at + 1] != ":":
            break
        found[key] = ABSENT
        try:
            found[key], at = _value(text, _skip(text, at + 1))
        except ValueError:
            break
        at, separator = _skip(text, at), ","
    return found


def _value(text: str, at: int) -> tuple[Any, int]:
    """The value that begins at ``at`` and where it ends; a number at the very end may be cut."""
    value, end = _DECODER.raw_decode(text, at)
    parse(text[at:end].encode("utf-8", "strict"))
    if end == len(text) and text[end - 1].isdigit():
        raise ValueError("may go on")
    return value, end


def _valid_text(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        text = data[: error.start].decode()
    return text[: _too_deep(text)]


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\r"):
        at += 1
    return at


def _tail_id(line: bytes) -> Any:
    match = _TAIL_ID.search(line[-TAIL:])
    try:
        ident = parse(match[1]) if match else ABSENT
    except ValueError:
        return ABSENT
    return ident if _is_id(ident) else ABSENT


def _too_deep(text: str) -> int | None:
    """Where the nesting passes the limit, strings left out; None if it does not."""
    depth = 0
    for match in _TOKENS.finditer(text):
        depth += _STEP.get(match[0], 0)
        if depth > MAX_DEPTH:
            return match.start()
    return None


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _integer(token: str) -> int:
    return (
        int(token) if len(token) < 32 else 1 << 99
    )  # beyond any id, and beyond the digits int() accepts at some length


_DECODER = json.JSONDecoder(object_pairs_hook=Members, parse_constant=_refuse, parse_int=_integer)
