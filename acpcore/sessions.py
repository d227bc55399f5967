"""Pulling the notifications of one session, beside handlers or the pull of everything."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections import deque
from collections.abc import Callable

from .errors import UsageError
from .message import Event, Message, Notification, TerminalBytes, Updates
from .pull import EventQueue


class SessionStream:
    """The notifications of one session, in wire order, as an async iterator. ``close()`` gives them back to others."""

    __slots__ = ("__weakref__", "_queue", "_streams", "session_id")

    def __init__(self, session_id: str, queue: EventQueue, streams: SessionStreams) -> None:
        self.session_id = session_id
        self._queue = queue
        self._streams = streams

    def __aiter__(self) -> SessionStream:
        return self

    async def __anext__(self) -> Event:
        self._streams.check()
        event = await self._queue.get()
        if event is None:
            raise StopAsyncIteration
        return event

    async def receive(self, max_events: int = 200, max_wait: float | None = None) -> list[Event]:
        """Up to ``max_events`` of them, as ``Connection.receive`` does it."""
        self._streams.check()
        return await self._queue.get_batch(max_events, max_wait)

    def close(self) -> None:
        """Stop pulling: what is queued is dropped, what follows goes where it went before. Idempotent."""
        self._streams.check()
        self._streams.close(self.session_id, self._queue)

    async def aclose(self) -> None:
        """The same, for ``contextlib.aclosing``."""
        self.close()

    def put(self, event: Event) -> None:
        """Append an event."""
        self._queue.put(event)


class SessionStreams:
    """The open streams of a connection, and a little of what nobody has claimed.

    A session's first updates may come before the answer that names it: updates without a handler are kept, newest
    last, up to ``keep`` bytes, for a stream that is opened soon. They do not stand in the inbox gate.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, done: Callable[[Event], None], check: Callable[[], object], keep: int
    ) -> None:
        self._loop = loop
        self._done = done
        self.check = check
        self._queues: dict[str, EventQueue] = {}
        self._kept: deque[Event] = deque()
        self._kept_size = 0
        self._keep = keep
        self._ended = False
        self.dropped = 0  # updates that nobody wanted

    def open(self, session_id: str) -> SessionStream:
        """Begin to pull a session."""
        if session_id in self._queues:
            raise UsageError("this session is being pulled already")
        queue = self._queues[session_id] = EventQueue(self._loop, self._done)
        stream = SessionStream(session_id, queue, self)
        weakref.finalize(stream, self._abandoned, session_id, queue).atexit = False
        for event in self._take_kept(session_id):
            queue.put(event)
        if self._ended:
            queue.end()
        return stream

    def _abandoned(self, session_id: str, queue: EventQueue) -> None:
        """Nobody can pull it any more. This may be told on any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self.close, session_id, queue)

    def close(self, session_id: str, queue: EventQueue) -> None:
        """Stop pulling a session."""
        if self._queues.get(session_id) is queue:
            del self._queues[session_id]
        queue.clear()
        queue.end()

    def claims(self, event: Event) -> bool:
        """Whether some stream wants (part of) this event."""
        if not self._queues:
            return False
        if isinstance(event, Updates):
            return not self._queues.keys().isdisjoint(event.sessions())
        return isinstance(event, (Message, TerminalBytes)) and event.session_id in self._queues

    def put(self, event: Event) -> None:
        """Queue an event that was claimed whole."""
        assert isinstance(event, (Message, TerminalBytes))
        assert event.session_id is not None
        self._queues[event.session_id].put(event)

    def keep(self, event: Event) -> None:
        """Nobody wants it now. The oldest of these go first when there is too much of them."""
        self._kept.append(event)
        self._kept_size += event.size
        while self._kept_size > self._keep and self._kept:
            self._kept_size -= self._kept.popleft().size
            self.dropped += 1

    def _take_kept(self, session_id: str) -> list[Event]:
        mine: list[Event] = []
        others: deque[Event] = deque()
        for event in self._kept:
            wanted = isinstance(event, (Notification, TerminalBytes)) and event.session_id == session_id
            (mine if wanted else others).append(event)
        self._kept = others
        self._kept_size -= sum(event.size for event in mine)
        return mine

    def end(self) -> None:
        """The connection ended: streams end when they are read empty."""
        self._ended = True
        for queue in self._queues.values():
            queue.end()
