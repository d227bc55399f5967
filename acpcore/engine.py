"""The machine without I/O: bytes in, events out; messages in, bytes out.

It knows ids, answers, cancels, batches and pressure. It has no loop, and its clock is given to it. The peer cannot
make it raise: what the peer does is an event, and only a caller's mistake is an error (``UsageError``).
"""

from __future__ import annotations

import time
from typing import Any, Literal

import msgspec

from . import message as m
from ._native import lib
from .errors import UsageError
from .flow import Budget, Clock, Gate, GateStats, Limits, Outbox
from .framing import Framer
from .ledger import Ledger
from .message import Call, Closed, Event, Notification, Request, RequestId
from .outward import Outward, is_bulk, session_of
from .reader import Reader

Role = Literal["client", "agent"]


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine has done so far. Sizes in bytes.

    ``frames`` are lines that were events, ``bad_frames`` those of them that were no message, ``dropped_answers``
    error answers to noise that were not sent because the outbox was shut, ``merged_writes`` those of the
    ``terminal_writes`` that share a message with others, ``unhandled`` notifications that nobody had a handler for,
    ``bytes_looked`` and ``bytes_moved`` the work of the scan: both grow in proportion to ``bytes_in``.
    """

    inbox: GateStats
    outbox: GateStats
    bytes_in: int
    bytes_out: int
    frames: int
    bad_frames: int
    frames_out: int
    terminal_writes: int
    merged_writes: int
    dropped_answers: int
    bytes_looked: int
    bytes_moved: int
    pending_calls: int
    open_requests: int
    unhandled: int = 0


class Engine:
    """One end of a connection, without I/O.

    ``role`` decides two defaults: an agent answers noise with an error and reads on past the inbox's high mark, a
    client does neither. ``arrays`` accepts JSON-RPC batches, ``null_ids`` requests whose id is ``null``, ``salvage``
    skips noise glued in front of a message on its line, ``grouped`` joins neighbouring updates and terminal chunks
    into one event.
    """

    def __init__(
        self,
        role: Role,
        *,
        limits: Limits | None = None,
        budget: Budget | None = None,
        clock: Clock = time.monotonic,
        arrays: bool = True,
        null_ids: bool = True,
        answer_noise: bool | None = None,
        salvage: bool = False,
        grouped: bool = True,
        observer: Any = None,
    ) -> None:
        if role not in ("client", "agent"):
            raise UsageError("role is 'client' or 'agent'")
        self.role = role
        self.limits = limits = Limits.interactive() if limits is None else limits
        self.inbox = Gate(limits.inbox_high, limits.inbox_low, limits.inbox_hard, clock, budget)
        self.outbox = Outbox(Gate(limits.outbox_high, limits.outbox_low, limits.outbox_hard, clock))
        self.outward = Outward(self.outbox, limits.max_send_frame, self, observer)
        level = lib.ACP_HOT if grouped else lib.ACP_ROUTE
        self._framer = Framer(limits.max_frame, level | (0 if arrays else lib.ACP_NO_ARRAYS), limits.read_size)
        self._ledger = Ledger()
        self._reader = Reader(
            self._framer,
            self._ledger,
            self.inbox,
            self.outward,
            limits,
            answers_noise=role == "agent" if answer_noise is None else answer_noise,
            salvage=salvage,
            null_ids=null_ids,
        )
        self.finished = 0  # bytes the host has finished with in all
        self._bytes_in = 0
        self._eof = False
        self._allowance = 0
        self._progress = False

    # --- bytes in

    def get_buffer(self) -> memoryview:
        """Room for the next read. Ask again before each: fill it, then call :meth:`buffer_updated`."""
        return self._framer.get_buffer()

    def buffer_updated(self, size: int) -> list[Event]:
        """``size`` bytes were read into the buffer: the events they complete, in wire order."""
        if self._eof:
            raise UsageError("input after its end")
        self._framer.received(size)
        self._bytes_in += size
        return self._scan(False)

    def receive_data(self, data: bytes | bytearray | memoryview) -> list[Event]:
        """The same for bytes that are already there."""
        rest = memoryview(data).cast("B")
        events: list[Event] = []
        while len(rest):
            room = self.get_buffer()
            size = min(len(room), len(rest))
            room[:size] = rest[:size]
            rest = rest[size:]
            events += self.buffer_updated(size)
        return events

    def receive_eof(self) -> list[Event]:
        """The input ended. The last event is ``Closed`` with the own calls that can no longer be answered."""
        if self._eof:
            return []
        events = self._scan(True)
        self._eof = True
        return [*events, self.close("end of input")]

    def close(self, reason: str) -> Closed:
        """Give up: every own call is handed back in a ``Closed``; open requests may still be answered."""
        self._eof = True
        return Closed(self._framer.position, reason, self._ledger.give_back())

    def _scan(self, eof: bool) -> list[Event]:
        events: list[Event] = []
        for batch in self._framer.scan(eof):
            self._reader.read(batch, events)
        return events

    # --- messages out

    def call(self, method: str, params: Any = None, *, bulk: bool = False) -> Call | None:
        """Send a request. ``None``: it was not admitted (the door is shut); try again when there is room.

        ``params``: a struct, plain objects or raw JSON bytes. The call's answer is a ``Response`` with this
        ``call``. ``UsageError`` after the end of input: nothing can answer it.
        """
        if self._eof:
            raise UsageError("the input has ended: no call can be answered")
        line = m.request_line(b"%d" % self._ledger.next_id, method, params)
        if not self.outward.admits(line, bulk):
            return None
        call = self._ledger.open(method, session_of(params, line))
        self.outward.push(line, call.session_id)
        return call

    def expect(self, id: RequestId, method: str = "") -> Call:
        """Count ``id`` as an own call that was sent by other means (a recording, a test)."""
        return self._ledger.expect(id, method)

    def notify(self, method: str, params: Any = None, *, bulk: bool | None = None) -> bool:
        """Send a notification; ``False``: it was not admitted. Updates and document events wait at the bulk door."""
        line = m.notification_line(method, params)
        session_id = session_of(params, line) if self.outward.stages else None
        return self.send_line(line, bulk=is_bulk(method) if bulk is None else bulk, session_id=session_id)

    def send_line(self, line: bytes, *, bulk: bool, session_id: str | None = None) -> bool:
        """Send one line that acpcore built, newline included; ``False``: it was not admitted."""
        if not self.outward.admits(line, bulk):
            return False
        self.outward.push(line, session_id)
        return True

    def reply(self, request: Request, result: Any = None) -> bool:
        """Answer a request; ``None`` is sent as ``{}``. ``False``: the outbox is at its hard cap, try again later."""
        return self.answer_line(request, m.result_line(request.id_token, result))

    def fail(self, request: Request, code: int, message: str, data: Any = msgspec.UNSET) -> bool:
        """Answer a request with an error; ``False`` as in :meth:`reply`."""
        return self.answer_line(request, m.error_line(request.id_token, code, message, data))

    def check_answer(self, request: Request, line: bytes) -> None:
        """``UsageError`` unless this line can be the answer to this request."""
        if request.answered:
            raise UsageError("this request is answered already")
        if request.engine is not self:
            raise UsageError("this request came over another connection")
        self.outward.check_size(line)

    def answer_line(self, request: Request, line: bytes, *, claimed: bool = False) -> bool:
        """Answer with a line that acpcore built; ``False`` as in :meth:`reply`. ``claimed``: the caller has checked
        the answer and marked the request as answered before.
        """
        if not claimed:
            self.check_answer(request, line)
        if not self.outward.admits(line, False):
            return False
        request.answered = True
        self._ledger.settle(request)
        if request.batch is not None:
            request.batch.answer(line)
        else:
            self.outward.push(line, request.session_id)
        return True

    def cancel(self, call: Call, *, notify: bool = True) -> bool:
        """Give a call up. Its late answer is an unmatched ``Response``; ``notify`` tells the peer by
        ``$/cancel_request``.
        """
        if not self._ledger.forget(call):
            return False
        if notify:
            self.outward.push(m.notification_line(m.CANCEL_METHOD, {"requestId": call.id}), call.session_id)
        return True

    def cancelled_request(self, notification: Notification) -> Request | None:
        """The open request that a ``$/cancel_request`` means; ``None`` if it is answered or was never there."""
        return self._reader.cancelled_request(notification)

    def done(self, event: Event) -> None:
        """The host has finished with an event: its bytes leave the inbox gate. Harmless when said twice."""
        if event.counted:
            event.counted = False
            self.inbox.sub(event.size)
            self.finished += event.size
            self._progress = True
            self._allowance = 0

    # --- bytes out

    def data_to_send(self) -> list[bytes | memoryview]:
        """Buffers for one ``writev``, in order; empty when there is nothing to send."""
        return self.outbox.buffers()

    def data_sent(self, size: int) -> None:
        """``size`` bytes of :meth:`data_to_send` were taken."""
        self.outbox.taken(size)

    # --- pressure

    @property
    def owed(self) -> bool:
        """Whether the peer owes an answer."""
        return self._ledger.owed > 0

    @property
    def inbox_shut(self) -> bool:
        """Whether the inbox stands above its marks, alone or with those it shares a budget with."""
        inbox = self.inbox
        return inbox.shut or (inbox.budget is not None and inbox.budget.shut and inbox.used > 0)

    @property
    def inbox_full(self) -> bool:
        """Whether the inbox is at its hard cap, alone or with those it shares a budget with."""
        inbox = self.inbox
        return inbox.full or (inbox.budget is not None and inbox.budget.full and inbox.used > 0)

    @property
    def want_read(self) -> bool:
        """Whether the host should read on. A client stops at the high mark, an agent only at the hard cap, so that
        one direction always drains; while an answer is owed and the host stands still a client may be granted more.
        """
        if self._eof or self.outbox.gate.full or self.inbox_full:
            return False
        return self.role == "agent" or not self.inbox_shut or self.inbox.used < self._allowance

    @property
    def want_write(self) -> bool:
        """Whether :meth:`data_to_send` has something."""
        return bool(self.outbox)

    @property
    def grants_all(self) -> bool:
        """Whether the inbox may grow to its hard cap for the time being."""
        return self._allowance >= self.inbox.hard

    def host_stands_still(self, *, known: bool = False, unread: bool = False) -> None:
        """Grant the peer more room while an answer is owed: twice as much each time the host finished nothing since
        the last, all of it at once when the running handler is ``known`` to wait for the peer. ``unread``: what the
        host waits for is that the peer reads.
        """
        if known:
            self._allowance = self.inbox.hard
        elif self._progress or not (self.owed or unread):
            self._progress = False
            self._allowance = 0
        else:
            self._allowance = min(self.inbox.hard, 2 * max(self._allowance, self.inbox.high))

    def stats(self) -> Stats:
        """A snapshot of everything that is counted."""
        scanner = self._framer
        return Stats(
            inbox=self.inbox.stats(),
            outbox=self.outbox.gate.stats(),
            bytes_in=self._bytes_in,
            bytes_out=self.outbox.sent,
            frames=scanner.frames,
            bad_frames=scanner.bad,
            frames_out=self.outward.frames,
            terminal_writes=self.outward.writes,
            merged_writes=self.outward.merged,
            dropped_answers=self._reader.dropped_answers,
            bytes_looked=scanner.looked,
            bytes_moved=scanner.moved,
            pending_calls=self._ledger.owed,
            open_requests=self._ledger.owing,
        )

    @property
    def owing(self) -> int:
        """How many requests wait for our answer."""
        return self._ledger.owing

    @property
    def pending_calls(self) -> list[Call]:
        """Own calls that wait for their answer."""
        return self._ledger.calls

    @property
    def open_requests(self) -> list[Request]:
        """Requests that wait for their answer (those with a ``null`` id are not listed)."""
        return self._ledger.requests
