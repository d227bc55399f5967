"""Terminal bytes that are not in the outbox yet: at most one chunk a terminal.

Under pressure many small writes become one message; on an idle link a write leaves at the end of the loop turn.
Anything else that is sent for the session moves the staged bytes out first, so what a reader sees keeps its order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .engine import Engine
from .message import TerminalHead
from .sending import Sender


class Stage:
    """The bytes one terminal writer holds back. ``chunk_size``: the most that one message carries, in bytes."""

    __slots__ = (
        "_check",
        "_chunk_size",
        "_data",
        "_engine",
        "_head",
        "_loop",
        "_scheduled",
        "_sender",
        "_session_id",
        "_ticket",
    )

    def __init__(
        self,
        sender: Sender,
        engine: Engine,
        loop: asyncio.AbstractEventLoop,
        session_id: str,
        head: TerminalHead,
        chunk_size: int,
        check: Callable[[], None],
    ) -> None:
        self._check = check  # raises when nothing can be sent any more
        self._sender = sender
        self._engine = engine
        self._loop = loop
        self._session_id = session_id
        self._head = head
        self._chunk_size = chunk_size
        self._data = bytearray()
        self._scheduled = False
        self._ticket: asyncio.Future[object] | None = None  # our place at the bulk door

    def __len__(self) -> int:
        return len(self._data)

    def take(self, raw: memoryview) -> memoryview:
        """Take what needs no waiting; returns the rest, which belongs to :meth:`write`. ``ConnectionClosed``."""
        self._check()
        self._engine.outward.count_write(merged=len(self._data) > 0)
        return self._take(raw)

    async def write(self, rest: memoryview) -> None:
        """Wait until the rest is admitted or staged too. Cancelled, what is not staged yet is not taken."""
        while len(rest):
            await self._until_empty()
            rest = self._take(rest)

    async def flush(self) -> None:
        """Until nothing is staged."""
        while self._data:
            await self._until_empty()

    # --- in

    def _take(self, raw: memoryview) -> memoryview:
        size = self._chunk_size
        while len(raw):
            if not self._data and len(raw) >= size and self._direct(raw[:size]):
                raw = raw[size:]
                continue
            room = size - len(self._data)
            if not room:
                break
            self._hold(raw[:room])
            raw = raw[room:]
        return raw

    def _direct(self, piece: memoryview) -> bool:
        """A full chunk needs no stage when it is admitted at once."""
        return self._is_open() and self._sender.try_line(self._head.line(piece), True, self._session_id)

    def _is_open(self) -> bool:
        """Whether a line would be admitted now, behind nobody: only then is it worth making."""
        return not len(self._sender.bulk) and self._engine.outward.bulk_open

    def _hold(self, piece: memoryview) -> None:
        if not self._data:
            self._engine.outward.hold(self._session_id, self._move_out)
        self._data += piece
        if len(self._data) >= self._chunk_size and self._is_open() and self._leave():
            return
        if not self._scheduled and not self._at_door():
            self._scheduled = True
            self._loop.call_soon(self._end_of_turn)

    async def _until_empty(self) -> None:
        self._check()
        self._stand_at_door()
        if self._ticket is not None:
            await asyncio.shield(self._ticket)  # the place at the door is the stage's, not this write's

    def _at_door(self) -> bool:
        return self._ticket is not None and not self._ticket.done()

    # --- out

    def _end_of_turn(self) -> None:
        self._scheduled = False
        if self._data and not self._at_door():
            self._stand_at_door()

    def _stand_at_door(self) -> None:
        """Leave now, or wait behind what came earlier."""
        if self._at_door():
            return
        self._ticket = None
        if self._data and not (self._is_open() and self._leave()):
            self._ticket = self._sender.bulk.enter(self._leave)

    def _leave(self) -> bool:
        """Into the outbox, if it takes the line now."""
        if not self._data:
            return True
        if not self._engine.outward.bulk_open:
            return False
        self._send(self._head.line(self._data))
        return True

    def _move_out(self) -> None:
        """Into the outbox whatever the gate says: something else for this session follows."""
        if self._data:
            self._send(self._head.line(self._data))

    def _send(self, line: bytes) -> None:
        self._data.clear()
        self._engine.outward.push_held(line, self._session_id, self._move_out)
        self._sender.wake()
