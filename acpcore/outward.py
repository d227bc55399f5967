"""Lines on their way out: admission at the doors, the outbox, and who is told of each line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ._native import ffi, lib
from .errors import UsageError
from .flow import Outbox
from .message import UPDATE_METHOD, Answerer, Bytes, Event, decode_text

Observe = Callable[[str, Bytes, "Event | None"], None]


def is_bulk(method: str) -> bool:
    """Whether a message of this method waits at the bulk door unless the caller says otherwise."""
    return method == UPDATE_METHOD or method.startswith("document/")


class Outward:
    """One queue out, two doors in: bulk is admitted while the gate is open, control up to the hard cap.

    ``frames`` counts the lines that were admitted, ``answerer`` is who answers requests, ``observer`` sees every
    line.
    """

    def __init__(self, outbox: Outbox, max_send_frame: int, answerer: Answerer, observer: Observe | None) -> None:
        self.outbox = outbox
        self.answerer = answerer
        self.observer = observer
        self.frames = 0
        self.stages: dict[str, list[Callable[[], None]]] = {}  # session: who holds bytes back for it
        self._max = max_send_frame

    def admits(self, line: bytes, bulk: bool) -> bool:
        """Whether a line would be admitted now. ``UsageError`` for one that is larger than ``max_send_frame``."""
        if len(line) > self._max:
            raise UsageError(f"message of {len(line)} bytes is larger than max_send_frame ({self._max})")
        gate = self.outbox.gate
        return not gate.shut if bulk and gate.used else gate.admits(len(line))

    def push(self, line: bytes, session_id: str | None = None) -> None:
        """Admit a line; what is held back for its session goes first."""
        if session_id is not None and self.stages:
            for let_go in self.stages.pop(session_id, ()):
                let_go()
        self.frames += 1
        self.outbox.push(line)
        self.observe("out", line, None)

    def push_reserved(self, line: bytes, reserved: int) -> None:
        """Admit a line of which ``reserved`` bytes stand in the gate already."""
        self.frames += 1
        self.outbox.push_reserved(line, reserved)
        self.observe("out", line, None)

    def send_if_open(self, line: bytes) -> bool:
        """Admit a line that is not worth waiting for; ``False`` while the gate is shut."""
        if self.outbox.gate.shut:
            return False
        self.push(line)
        return True

    def observe(self, direction: str, line: Any, event: Event | None) -> None:
        """Tell the observer."""
        if self.observer is not None:
            self.observer(direction, line, event)


def session_of(params: Any, line: bytes) -> str | None:
    """The ``sessionId`` of own params, whatever form the host gave them in."""
    if params is None:
        return None
    if isinstance(params, dict):
        found = params.get("sessionId")
    elif isinstance(params, msgspec.Struct):
        found = getattr(params, "session_id", None)
    else:
        return _session_in_line(line)
    return found if isinstance(found, str) else None


def _session_in_line(line: bytes) -> str | None:
    frame = ffi.new("acp_frame *")
    lib.acp_message(ffi.from_buffer(line), len(line) - 1, lib.ACP_ROUTE, frame)
    span = frame.session
    return decode_text(line[span.off : span.off + span.len]) if span.off else None
