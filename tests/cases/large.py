"""The cases that are too large to keep: each is a list of parts to be fed one after the other."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any


def message(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def update(change: dict[str, Any]) -> bytes:
    return message({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": change}})


def chunk(text: str) -> bytes:
    content = {"type": "text", "text": text}
    return update({"sessionUpdate": "agent_message_chunk", "messageId": "m1", "content": content})


def terminal(raw: bytes) -> bytes:
    data = base64.b64encode(raw).decode()
    return update({"sessionUpdate": "terminal_output_chunk", "terminalId": "t1", "data": data})


def result(ident: Any, value: Any = None) -> bytes:
    return message({"jsonrpc": "2.0", "id": ident, "result": {} if value is None else value})


def deep(method: str, opening: str, inside: str, closing: str) -> bytes:
    text = f'{{"jsonrpc":"2.0","method":"{method}","params":{{"a":{opening * 100_000}{inside}{closing * 100_000}}}}}\n'
    return text.encode()


RULES: dict[str, Callable[[], bytes]] = {
    "01-line-over-64k": lambda: chunk("a" * 70_000) + result(1),
    "02-line-2mib": lambda: result(1, {"data": "QUJD" * (512 * 1024)}) + result(2),
    "03-many-medium-lines": lambda: chunk("b" * 65_536) * 300 + result(1),
    "28-deep-nesting": lambda: deep("_t/x", "[", "", "]") + deep("_t/y", '{"a":', "1", "}") + result(1),
    "53-notification-burst": lambda: b"".join(chunk(f"{n:06d}") for n in range(20_000)) + result(1),
    "85-cumulative-output": lambda: b"".join(terminal(b"line %d\n" % n) for n in range(35_001)) + result(1),
}
