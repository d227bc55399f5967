"""Events as JSON objects."""

from __future__ import annotations

from typing import Any

from acpcore import (
    BadFrame,
    Call,
    Closed,
    Event,
    FrameTooLarge,
    InvalidParams,
    Notification,
    Request,
    Response,
    Truncated,
)

from ..message import Message

Record = dict[str, Any]


def record(event: Event, fault: str | None = None) -> Record:
    """What is printed of one event; ``fault`` says what is wrong with a message's params."""
    if isinstance(event, Message):
        return _message(event, fault)
    if isinstance(event, Response):
        return _response(event)
    if isinstance(event, BadFrame):
        return _bad(event)
    if isinstance(event, FrameTooLarge):
        known = {"offset": event.offset, "limit": event.limit, "id": event.id, "method": event.method}
        return {"event": "frame_too_large", **known, **_failed(event.call)}
    if isinstance(event, Truncated):
        return {"event": "truncated", "offset": event.offset, "size": event.size}
    assert isinstance(event, Closed)
    return {"event": "closed", "reason": event.reason, "pending": [call.id for call in event.calls]}


def _message(event: Message, fault: str | None) -> Record:
    if isinstance(event, Notification) and fault is not None:
        return {"event": "invalid_params", "method": event.method, "error": fault}
    head: Record = {"event": "notification", "method": event.method}
    if isinstance(event, Request):
        head = {"event": "request", "id": event.id, "method": event.method}
    try:
        params = {"params": event.params}
    except InvalidParams:
        params = {"params": None}
    return {**head, **params} if fault is None else {**head, **params, "invalid": fault}


def _response(event: Response) -> Record:
    found: Record = {"event": "response", "id": event.id, "matched": event.matched}
    if event.broken:
        found["broken"] = True
    if event.error is not None:
        data = {} if event.error.data is None else {"data": event.error.data}
        return {**found, "error": {"code": event.error.code, "message": event.error.message, **data}}
    try:
        return {**found, "result": event.result}
    except InvalidParams as error:
        return {**found, "result": None, "invalid": str(error)}


def _bad(event: BadFrame) -> Record:
    found: Record = {"event": "bad_frame", "reason": event.reason, "offset": event.offset, "column": event.column}
    found["preview"] = event.preview
    if event.hint is not None:
        found["hint"] = event.hint
    if event.id is not None:
        found["id"] = event.id
    if event.salvaged:
        found["salvaged"] = True
    return {**found, **_failed(event.call)}


def _failed(call: Call | None) -> Record:
    return {} if call is None else {"failed": call.id}
