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
        self.writes = 0  # terminal writes, and those of them that joined others in one message
        self.merged = 0
        self.stages: dict[str, list[Callable[[], None]]] = {}  # session: who holds bytes back for it
        self._max = max_send_frame

    @property
    def bulk_open(self) -> bool:
        """Whether the bulk door is open: the gate is, or nothing waits to be written."""
        return not self.outbox.gate.shut or not self.outbox

    def admits(self, line: bytes, bulk: bool) -> bool:
        """Whether a line would be admitted now. ``UsageError`` for one that is larger than ``max_send_frame``.

        Answers that wait for the rest of their batch keep bulk out only while something is there to be written: a
        handler of that batch may be the one that waits at the door.
        """
        self.check_size(line)
        gate = self.outbox.gate
        return not gate.shut if bulk and self.outbox else gate.admits(len(line))

    def check_size(self, line: bytes) -> None:
        """``UsageError`` for a line that is larger than ``max_send_frame``."""
        if len(line) > self._max:
            raise UsageError(f"message of {len(line)} bytes is larger than max_send_frame ({self._max})")

    def push(self, line: bytes, session_id: str | None = None) -> None:
        """Admit a line; what is held back for its session goes first."""
        if session_id is not None and self.stages:
            for move_out in self.stages.pop(session_id, ()):
                move_out()
        self._push(line)

    def push_held(self, line: bytes, session_id: str, move_out: Callable[[], None]) -> None:
        """Admit what ``move_out`` held back: what was held back before it goes first, what came later stays."""
        waiting = self.stages.get(session_id, ())
        while waiting and move_out in waiting and waiting[0] != move_out:
            waiting[0]()
        self.let_go(session_id, move_out)
        self._push(line)

    def _push(self, line: bytes) -> None:
        self.frames += 1
        self.outbox.push(line)
        self.observe("out", line, None)

    def push_reserved(self, line: bytes, reserved: int) -> None:
        """Admit a line of which ``reserved`` bytes stand in the gate already."""
        self.frames += 1
        self.outbox.push_reserved(line, reserved)
        self.observe("out", line, None)

    # --- bytes that are held back

    def count_write(self, *, merged: bool) -> None:
        """A terminal write began."""
        self.writes += 1
        self.merged += merged

    def hold(self, session_id: str, move_out: Callable[[], None]) -> None:
        """Somebody holds bytes back: ``move_out()`` sends them, before anything else of this session."""
        self.stages.setdefault(session_id, []).append(move_out)

    def let_go(self, session_id: str, move_out: Callable[[], None]) -> None:
        """They hold nothing any more."""
        waiting = self.stages.get(session_id)
        if waiting is not None and move_out in waiting:
            waiting.remove(move_out)
            if not waiting:
                del self.stages[session_id]

    def move_all_out(self) -> None:
        """Send everything that is held back: the end comes."""
        for session_id in list(self.stages):
            for move_out in self.stages.pop(session_id, ()):
                move_out()

    # --- what needs no door

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
