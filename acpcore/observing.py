"""What an observer sees of a connection: every line, in both directions."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from . import message as m
from ._native import ffi, lib
from .message import BadFrame, Event, Notification, Request, Response


class Observation(msgspec.Struct, frozen=True):
    """One line. ``direction`` is ``"in"`` or ``"out"``, ``line`` its bytes without the newline.

    ``kind`` is ``request``, ``notification``, ``result``, ``error``, ``batch`` or ``bad``; ``method`` and ``id`` are
    those of the envelope, ``session_id`` the ``sessionId`` of its params or result, each ``None`` where there is
    none.
    """

    direction: Literal["in", "out"]
    line: bytes
    kind: str
    method: str | None = None
    id: m.RequestId = None
    session_id: str | None = None


_KINDS = {
    lib.ACP_REQUEST: "request",
    lib.ACP_NOTIFICATION: "notification",
    lib.ACP_RESULT: "result",
    lib.ACP_ERROR: "error",
    lib.ACP_ARRAY: "batch",
}


def observe_line(direction: Any, line: Any, event: Event | None) -> Observation:
    """The observation of a line: from its event, or, for own lines, from a look at the envelope."""
    raw = bytes(line).rstrip(b"\r\n")
    if isinstance(event, Request):
        return Observation(direction, raw, "request", event.method, event.id, event.session_id)
    if isinstance(event, Notification):
        return Observation(direction, raw, "notification", event.method, None, event.session_id)
    if isinstance(event, Response):
        kind = "result" if event.error is None else "error"
        return Observation(direction, raw, kind, None, event.id, event.session_id)
    if isinstance(event, BadFrame):
        return Observation(direction, raw, "bad", None, event.id)
    return _look(direction, raw)


def _look(direction: Any, raw: bytes) -> Observation:
    frame = ffi.new("acp_frame *")
    lib.acp_message(ffi.from_buffer(raw), len(raw), lib.ACP_ROUTE, frame)

    def text(span: Any) -> bytes:
        return raw[span.off : span.off + span.len]

    return Observation(
        direction,
        raw,
        _KINDS.get(frame.kind, "bad"),
        m.decode_text(text(frame.method)) if frame.method.off else None,
        m.decode_id(text(frame.id)) if frame.id.len else None,
        m.decode_text(text(frame.session)) if frame.session.off else None,
    )
