"""The updates of one session in the events of a connection."""

from __future__ import annotations

import msgspec

from .errors import InvalidParams
from .message import UPDATE_METHOD, Notification, Updates
from .schema import SessionUpdate, UpdateSessionNotification, decode, decoder

__all__ = ["updates_of"]


class _Line(msgspec.Struct, gc=False):
    params: UpdateSessionNotification


_lines = decoder(_Line).decode_lines


def updates_of(event: Notification | Updates, session_id: str) -> tuple[list[SessionUpdate], InvalidParams | None]:
    """The updates of a session in an event, and the first fault there was in one of them."""
    if isinstance(event, Updates):
        try:
            notes = [line.params for line in _lines(event.lines)]
        except (msgspec.DecodeError, UnicodeError):  # one by one: leniency, unknown variants, and which is at fault
            return _one_by_one(event.expand(), session_id)
        return [note.update for note in notes if note.session_id == session_id], None
    return _one_by_one([event], session_id)


def _one_by_one(messages: list[Notification], session_id: str) -> tuple[list[SessionUpdate], InvalidParams | None]:
    updates: list[SessionUpdate] = []
    fault: InvalidParams | None = None
    for message in messages:
        if message.method == UPDATE_METHOD and message.session_id == session_id:
            try:
                updates.append(decode(UpdateSessionNotification, message.raw_params).update)
            except InvalidParams as error:
                fault = fault or error
    return updates, fault
