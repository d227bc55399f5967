"""What came from the peer, on its way to whoever it is for: a waiting call, a handler, a session's stream, a tail,
the pull.

Answers and cancels act here, in the read callback; everything else may have to wait for its turn.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from . import message as m
from .errors import ProtocolError
from .message import (
    BadFrame,
    Call,
    Event,
    FrameTooLarge,
    Group,
    Message,
    Notification,
    Request,
    Response,
    Updates,
)
from .pending import Pending
from .pull import EventQueue
from .runner import Answer, Runner
from .sessions import SessionStream, SessionStreams

if TYPE_CHECKING:
    from .connection import Connection
    from .tails import Tails

logger = logging.getLogger("acpcore")

_BAD_LINES_LOGGED = 20  # a peer that sends nothing but noise should not fill the log


class Incoming:
    """The way in of one connection. ``runner`` calls handlers, if there are any; else ``events`` are pulled."""

    def __init__(self, conn: Connection, loop: asyncio.AbstractEventLoop) -> None:
        self._conn = conn
        self._loop = loop
        self.runner = Runner(conn, conn.handlers, loop) if conn.handlers is not None else None
        self.events = EventQueue(loop, conn.done)
        self.sessions = SessionStreams(loop, conn.done, conn.check, conn.engine.limits.inbox_low)
        self.tails: Tails | None = None  # made when the first is asked for
        self._bad_logged = 0

    def dispatch(self, events: list[Event]) -> None:
        """Hand on what one read completed."""
        runner = self.runner
        if runner is not None:
            runner.begin()
        for event in events:
            self._take(event)
        if runner is not None:
            runner.pump()

    def open_session(self, session_id: str) -> SessionStream:
        """Pull one session from now on, and what came for it a moment ago."""
        stream = self.sessions.open(session_id)
        if self.runner is None:
            for event in self.events.extract(session_id, self._parts):
                stream.put(event)
        return stream

    def end(self) -> None:
        """Nothing more will come."""
        self.sessions.end()
        self.events.end()
        if self.tails is not None:
            self.tails.end()

    @property
    def unhandled(self) -> int:
        """Notifications that nobody wanted."""
        return self.sessions.dropped + (0 if self.runner is None else self.runner.dropped)

    # --- one event

    def _take(self, event: Event) -> None:
        if isinstance(event, Response):
            self._take_response(event)
            return
        if self._conn.negotiation.guarding and isinstance(event, (Message, Group)) and self._refused(event):
            return
        if isinstance(event, Message):
            event.conn = self._conn
            if event.method == m.CANCEL_METHOD and self._take_cancel(event):
                return
        elif isinstance(event, (BadFrame, FrameTooLarge)):
            self._take_bad(event)
        if self.tails is not None and self._tailed(self.tails, event):
            return
        if isinstance(event, Request) or not self.sessions.claims(event):
            self._hand_on(event)
        elif isinstance(event, Updates):
            for part in self._parts(event):
                self._take(part)
        else:
            self.sessions.put(event)

    def _refused(self, event: Message | Group) -> bool:
        """What the peer may not send is answered, if it is a request, reported, and goes no further."""
        refusal = self._conn.negotiation.refusal(event)
        if refusal is None:
            return False
        code, text = refusal
        self._conn.done(event)
        if isinstance(event, Request):
            self._conn.answer_later(event, code, text)
        self._conn.report(ProtocolError(text), "a message of the peer", event)
        return True

    def _tailed(self, tails: Tails, event: Event) -> bool:
        """Output of a terminal whose view may miss some of it leaves the inbox at once."""
        if isinstance(event, Updates) and tails.concerns(event):
            for part in self._parts(event):
                self._take(part)
            return True
        if tails.absorbs(event):
            self._conn.done(event)
            return True
        return False

    def _parts(self, event: Group) -> list[Notification]:
        """The messages of a group, in its place."""
        parts = event.split()
        for part in parts:
            part.conn = self._conn
        return parts

    def _hand_on(self, event: Event) -> None:
        if self.runner is not None:
            self.runner.take(event)
        else:
            self.events.put(event)

    def _take_response(self, event: Response) -> None:
        call = event.call
        if call is None:
            self._hand_on(event)
            return
        pending, call.tag = call.tag, None
        if call.method == "initialize" and event.raw_result is not None:
            self._conn.negotiation.note(m.agreed_version(event.line))
        if self.runner is None:
            _deliver(pending, event)
            self.events.mark(event.marker())
        elif isinstance(pending, Pending) and pending.ordered:
            self._answer_in_order(self.runner, call, pending, event)
        else:
            _deliver(pending, event)

    def _answer_in_order(self, runner: Runner, call: Call, pending: Pending, event: Response) -> None:
        key = call.session_id if call.session_id is not None else event.session_id
        runner.answer(Answer(call.method, event, pending.deliver, self._loop.time()), key)
        if runner.waiting_answers:
            self._conn.watch()

    def _take_cancel(self, event: Message) -> bool:
        """A cancel acts in the read callback, whatever waits in front of it."""
        if not isinstance(event, Notification):
            return False
        request = self._conn.engine.cancelled_request(event)
        if self.runner is None:
            if request is not None and not request.started and not request.answered:
                self._conn.answer_later(request, m.REQUEST_CANCELLED, "Request cancelled")
            return False
        if request is not None:
            self.runner.cancel(request)
        self._conn.done(event)
        return True

    def _take_bad(self, event: BadFrame | FrameTooLarge) -> None:
        call = event.call
        if call is not None and isinstance(call.tag, Pending):
            call.tag.fail(ProtocolError(f"the answer to {call.method} is broken: {event!r}"))
        if self._bad_logged < _BAD_LINES_LOGGED:
            self._bad_logged += 1
            hint = event.hint if isinstance(event, BadFrame) else None
            logger.warning("%r%s", event, f" ({hint})" if hint else "")

    def unclaimed(self, event: Notification | Group) -> None:
        """An update nobody has a handler for: kept for a moment, for a session that is about to be opened."""
        for part in self._parts(event) if isinstance(event, Updates) else [event]:
            self._conn.done(part)
            self.sessions.keep(part)


def _deliver(pending: object, event: Response) -> None:
    if isinstance(pending, Pending):
        pending.deliver(event)
