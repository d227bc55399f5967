"""Terminals whose output may be dropped, because a view that paints slowly must not hold up everything else.

The bytes of such a terminal leave the inbox gate at once, into a ring; the view takes what is there when it paints
and learns what it missed. Snapshots and exits act on the ring in wire order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .errors import InvalidParams, UsageError
from .message import UPDATE_METHOD, Event, Notification, TerminalBytes, Updates
from .ring import Taken
from .schema import TerminalOutputChunk, TerminalUpdate, UpdateSessionNotification, decode
from .terminal_buffer import TerminalBuffer

Key = tuple[str, str]


class TerminalTail:
    """One terminal, newest bytes only. ``buffer`` is what is known of it (``TerminalBuffer``); ``close()`` ends it."""

    def __init__(self, session_id: str, terminal_id: str, ceiling: int, close: Callable[[TerminalTail], None]) -> None:
        self.session_id = session_id
        self.terminal_id = terminal_id
        self.buffer = TerminalBuffer(ceiling)
        self._close = close
        self._changed = asyncio.Event()
        self._ended = False

    def take(self) -> Taken:
        """What came since the last time: ``data``, the bytes ``missed`` before it, whether a snapshot ``replaced``
        all.
        """
        self._changed.clear()
        return self.buffer.take()

    async def changed(self) -> bool:
        """Until there is something new to take or to look at; ``False`` when nothing will follow."""
        if not self._ended:
            await self._changed.wait()
        return not self._ended or self._changed.is_set()

    def apply(self, update: TerminalUpdate | TerminalOutputChunk | TerminalBytes) -> None:
        """Fold what the peer said."""
        self.buffer.apply(update)
        self._changed.set()

    def end(self) -> None:
        """The connection is over."""
        self._ended = True
        self._changed.set()

    def close(self) -> None:
        """From now on the terminal's bytes go where they went before. Idempotent."""
        self.end()
        self._close(self)


class Tails:
    """The tails of one connection."""

    def __init__(self) -> None:
        self._tails: dict[Key, TerminalTail] = {}

    def __bool__(self) -> bool:
        return bool(self._tails)

    def open(self, session_id: str, terminal_id: str, ceiling: int) -> TerminalTail:
        """Begin to keep only the newest ``ceiling`` bytes of a terminal."""
        key = (session_id, terminal_id)
        if key in self._tails:
            raise UsageError("this terminal has a tail already")
        tail = self._tails[key] = TerminalTail(session_id, terminal_id, ceiling, self._closed)
        return tail

    def _closed(self, tail: TerminalTail) -> None:
        self._tails.pop((tail.session_id, tail.terminal_id), None)

    def concerns(self, run: Updates) -> bool:
        """Whether a run may speak of one of these terminals."""
        return b'"terminal_' in run.lines and any(session in run.sessions() for session, _ in self._tails)

    def absorbs(self, event: Event) -> bool:
        """Take output of these terminals; an update of one is folded too, and still goes to whoever else wants it."""
        if isinstance(event, TerminalBytes):
            tail = self._tails.get((event.session_id, event.terminal_id))
            if tail is None:
                return False
            tail.apply(event)
            return True
        if isinstance(event, Notification) and event.method == UPDATE_METHOD:
            return self._absorbs_update(event)
        return False

    def _absorbs_update(self, event: Notification) -> bool:
        if not any(session == event.session_id for session, _ in self._tails):
            return False
        try:
            update = decode(UpdateSessionNotification, event.raw_params).update
        except InvalidParams:
            return False  # whoever handles updates says so
        if not isinstance(update, (TerminalUpdate, TerminalOutputChunk)):
            return False
        tail = self._tails.get((event.session_id or "", update.terminal_id))
        if tail is None:
            return False
        tail.apply(update)
        return isinstance(update, TerminalOutputChunk)

    def end(self) -> None:
        """The connection is over: views take what is left."""
        for tail in self._tails.values():
            tail.end()
