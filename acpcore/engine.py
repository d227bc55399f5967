"""The machine without I/O: bytes in, events out; messages in, bytes out.

It knows ids, answers, cancels, batches and pressure. It has no loop, and its clock is given to it. The peer cannot make
it raise: what the peer does is an event, and only a caller's mistake is an error (``UsageError``).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from . import message as m
from ._native import ffi, lib
from .batch import AnswerBatch
from .errors import UsageError
from .flow import Clock, Gate, GateStats, Limits, Outbox
from .framing import HANDED_OVER, Batch, Framer
from .message import (
    BadFrame,
    Bytes,
    Call,
    Closed,
    Event,
    FrameTooLarge,
    Message,
    Notification,
    Request,
    RequestId,
    Response,
    TerminalBytes,
    Truncated,
    Updates,
)

Role = Literal["client", "agent"]

_PREVIEW: Final = 80
_NAMES: Final = 1024  # method and session names whose text is remembered


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine has done so far. Sizes in bytes.

    ``frames`` are lines that were events, ``bad_frames`` those of them that were no message, ``dropped_answers`` error
    answers to noise that were not sent because the outbox was shut, ``bytes_looked`` and ``bytes_moved`` the work of the
    scan: both grow in proportion to ``bytes_in``.
    """

    inbox: GateStats
    outbox: GateStats
    bytes_in: int
    bytes_out: int
    frames: int
    bad_frames: int
    frames_out: int
    dropped_answers: int
    bytes_looked: int
    bytes_moved: int
    pending_calls: int
    open_requests: int


def is_bulk(method: str) -> bool:
    """Whether a message of this method waits at the bulk door unless the caller says otherwise."""
    return method == m.UPDATE_METHOD or method.startswith("document/")


class Engine:
    """One end of a connection, without I/O.

    ``role`` decides two defaults: an agent answers noise with an error and reads on past the inbox's high mark, a client
    does neither. ``arrays`` accepts JSON-RPC batches, ``salvage`` skips noise glued in front of a message on its line,
    ``grouped`` joins neighbouring updates and terminal chunks into one event.
    """

    def __init__(
        self,
        role: Role,
        *,
        limits: Limits | None = None,
        clock: Clock = time.monotonic,
        arrays: bool = True,
        answer_noise: bool | None = None,
        salvage: bool = False,
        grouped: bool = True,
        observer: Any = None,
    ) -> None:
        if role not in ("client", "agent"):
            raise UsageError("role is 'client' or 'agent'")
        self.role = role
        self.limits = limits = Limits.interactive() if limits is None else limits
        self.clock = clock
        self.answers_noise = role == "agent" if answer_noise is None else answer_noise
        self.salvage = salvage
        self.observer = observer
        self.inbox = Gate(limits.inbox_high, limits.inbox_low, limits.inbox_hard, clock)
        self.outbox = Outbox(Gate(limits.outbox_high, limits.outbox_low, limits.outbox_hard, clock))
        level = lib.ACP_HOT if grouped and observer is None else lib.ACP_ROUTE
        self._framer = Framer(limits.max_frame, level | (0 if arrays else lib.ACP_NO_ARRAYS), limits.read_size)
        self._calls: dict[RequestId, Call] = {}
        self._requests: dict[RequestId, Request] = {}
        self._nulls = 0  # open requests whose id is null: they cannot be told apart
        self._next_id = 0
        self._names: dict[bytes, str] = {}
        self._skipping: FrameTooLarge | None = None
        self._skip_is_response = False
        self._eof = False
        self._closed = False
        self._allowance = 0
        self._progress = False
        self.finished = 0  # bytes the host has finished with in all
        self._bytes_in = self._frames_out = self._dropped = 0

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
        calls = list(self._calls.values())
        self._calls.clear()
        return Closed(self._framer.position, reason, calls)

    def _scan(self, eof: bool) -> list[Event]:
        events: list[Event] = []
        for batch in self._framer.scan(eof):
            self._read_groups(batch, events)
        return events

    def _read_groups(self, batch: Batch, events: list[Event]) -> None:
        groups = batch.groups
        for i in range(0, len(groups), 12):
            kind = groups[i + 4]
            if kind == lib.ACP_G_ONE:
                self._read_frame(batch, groups[i], events)
            else:
                event = self._terminal(batch, groups, i) if kind == lib.ACP_G_TERMINAL else self._run(batch, groups, i)
                self._take_in(event, events)

    def _take_in(self, event: Event, events: list[Event]) -> None:
        event.counted = True
        self.inbox.add(event.size)
        events.append(event)

    def _terminal(self, batch: Batch, groups: list[int], i: int) -> TerminalBytes:
        first, count, off, size = groups[i : i + 4]
        session, session_len, entity, entity_len, data, data_len = groups[i + 6 : i + 12]
        memory = batch.memory
        return TerminalBytes(
            self._name(memory[session : session + session_len]),
            self._name(memory[entity : entity + entity_len]),
            bytes(batch.arena[data : data + data_len]),
            bytes(batch.frame_bytes[first * 64 : (first + count) * 64]),
            batch.offset + off,
            size,
        )

    def _run(self, batch: Batch, groups: list[int], i: int) -> Updates:
        first, count, off, size = groups[i : i + 4]
        frames = bytes(batch.frame_bytes[first * 64 : (first + count) * 64])
        return Updates(bytes(batch.memory[off : off + size]), count, frames, off, batch.offset + off)

    def _name(self, body: memoryview) -> str:
        key = bytes(body)
        name = self._names.get(key)
        if name is None:
            name = m.decode_text(key)
            if len(self._names) >= _NAMES:
                self._names.clear()
            self._names[key] = name
        return name

    # --- one frame

    def _read_frame(self, batch: Batch, index: int, events: list[Event]) -> None:
        words = batch.frame_bytes[index * 64 : index * 64 + 64].cast("I").tolist()
        kind = words[m.KINDS] >> m.KIND_SHIFT & 0xFF
        if kind == lib.ACP_ARRAY:
            self._read_array(batch, index, words, events)
        elif kind == lib.ACP_BAD:
            self._bad(batch, words, events)
        elif kind == lib.ACP_SKIPPED:
            self._skipped(words, events)
        else:
            self._read_message(batch, words, kind, events, None, 1)

    def _read_message(
        self,
        batch: Batch,
        words: list[int],
        kind: int,
        events: list[Event],
        answers: AnswerBatch | None,
        ending: int,
    ) -> None:
        if kind == lib.ACP_NOTIFICATION:
            self._notification(batch, words, events, ending)
        elif kind == lib.ACP_REQUEST:
            self._request(batch, words, events, answers, ending)
        else:
            self._response(batch, words, events, ending)

    def _line(self, batch: Batch, words: list[int]) -> Bytes:
        off, size = words[0], words[1]
        if size >= HANDED_OVER:
            self._framer.keep()
            return batch.memory[off : off + size]
        return bytes(batch.memory[off : off + size])

    def _fill(self, event: Message, batch: Batch, words: list[int], ending: int) -> None:
        off, memory = words[0], batch.memory
        at, size = words[m.METHOD], words[m.METHOD + 1]
        event.method = self._name(memory[at : at + size])
        event.session_id = self._session(batch, words)
        event.line = self._line(batch, words)
        event._start = words[m.BODY] - off if words[m.BODY + 1] else 0
        event._end = event._start + words[m.BODY + 1]
        event.offset = batch.offset + off
        event.size = words[1] + ending
        event.conn = None
        event._params = m._UNDECODED
        event._decoder = None

    def _session(self, batch: Batch, words: list[int]) -> str | None:
        at, size = words[m.SESSION], words[m.SESSION + 1]
        if not at and not size:
            return None
        return self._name(batch.memory[at : at + size])

    def _notification(self, batch: Batch, words: list[int], events: list[Event], ending: int) -> None:
        if words[m.KINDS] >> m.TAG_SHIFT & 0xFF == lib.ACP_T_TERMINAL_OUTPUT_CHUNK:
            event = self._large_chunk(batch, words)
            if event is not None:
                self._take_in(event, events)
                return
        notification = Notification.__new__(Notification)
        self._fill(notification, batch, words, ending)
        if notification.method == m.CANCEL_METHOD:
            self._note_cancel(notification)
        self._observe("in", notification.line, notification)
        self._take_in(notification, events)

    def _large_chunk(self, batch: Batch, words: list[int]) -> TerminalBytes | None:
        """A chunk that did not fit into the arena. Anything irregular stays a notification for the typed layer to judge."""
        flags = words[m.KINDS] >> m.FLAGS_SHIFT
        unusual = lib.ACP_F_META | lib.ACP_F_ESCAPED | lib.ACP_F_REPEATED | lib.ACP_F_DECODED
        if not flags & lib.ACP_F_EXACT or flags & unusual or words[m.DATA + 1] < HANDED_OVER:
            return None
        at, size = words[m.DATA], words[m.DATA + 1]
        pointer = batch.buffer.pointer + batch.start + at
        room = lib.acp_terminal_size(pointer, size)
        data = bytearray(room)
        used = ffi.new("uint32_t *")
        got = lib.acp_terminal_data(ffi.from_buffer(data), room, pointer, size, used)
        if got < 0 or used[0] != size:
            return None
        del data[got:]
        words[m.DATA + 1] = got
        return TerminalBytes(
            self._session(batch, words) or "",
            self._name(batch.memory[words[m.ENTITY] : words[m.ENTITY] + words[m.ENTITY + 1]]),
            data,  # type: ignore[arg-type]
            b"".join(word.to_bytes(4, _BYTE_ORDER) for word in words),
            batch.offset + words[0],
            words[1] + 1,
        )

    def _token(self, batch: Batch, words: list[int]) -> bytes:
        return bytes(batch.memory[words[m.ID] : words[m.ID] + words[m.ID + 1]])

    def _request(
        self, batch: Batch, words: list[int], events: list[Event], answers: AnswerBatch | None, ending: int
    ) -> None:
        request = Request.__new__(Request)
        self._fill(request, batch, words, ending)
        request.id_token = self._token(batch, words)
        request.id = m.decode_id(request.id_token)
        request.engine = self
        request.batch = answers
        request.answered = request.cancelled = request.started = False
        self._observe("in", request.line, request)
        if request.id is None:
            self._nulls += 1
        elif request.id in self._requests:
            self._refuse_duplicate(request, events)
            return
        else:
            self._requests[request.id] = request
        if answers is not None:
            answers.expect()
        self._take_in(request, events)

    def _refuse_duplicate(self, request: Request, events: list[Event]) -> None:
        """An id is taken until it is answered: the second request with it never runs."""
        event = BadFrame(
            "duplicate_id",
            request.offset,
            request.size,
            column=0,
            length=len(request.line),
            preview=_preview(request.line),
            answerable=True,
        )
        event.id = request.id
        line = m.error_line(request.id_token, m.INVALID_REQUEST, "The id belongs to a request that is not answered yet")
        self._answer_noise(line, request.batch)
        events.append(event)

    def _response(self, batch: Batch, words: list[int], events: list[Event], ending: int) -> None:
        kind = words[m.KINDS] >> m.KIND_SHIFT & 0xFF
        line = self._line(batch, words)
        start = words[m.BODY] - words[0]
        body = line[start : start + words[m.BODY + 1]]
        id = m.decode_id(self._token(batch, words))
        failed = kind == lib.ACP_ERROR
        event = Response(
            id,
            self._calls.pop(id, None) if id is not None else None,
            None if failed else body,
            m.decode_error(body) if failed else None,
            self._session(batch, words),
            line,
            batch.offset + words[0],
            words[1] + ending,
        )
        self._observe("in", line, event)
        events.append(event)

    def _note_cancel(self, notification: Notification) -> None:
        request = self.cancelled_request(notification)
        if request is not None:
            request.cancelled = True

    def cancelled_request(self, notification: Notification) -> Request | None:
        """The open request that a ``$/cancel_request`` means; ``None`` if it is answered or was never there.

        https://agentclientprotocol.com/protocol/v2/draft/cancellation
        """
        raw = notification.raw_params
        if raw is None:
            return None
        try:
            id = _cancel_decoder.decode(raw).requestId
        except (msgspec.MsgspecError, RecursionError, ValueError):
            return None
        return self._requests.get(id)

    # --- arrays

    def _read_array(self, batch: Batch, index: int, words: list[int], events: list[Event]) -> None:
        """Entries run as if they had come on lines of their own; their answers leave as one array.

        https://agentclientprotocol.com/protocol/v2/draft/transports
        """
        most = self.limits.max_batch
        entries = self._framer.entries(batch, index, most)
        if len(entries) > most:
            self._report_bad(batch, words, "params", events, f"more than {most} entries in a batch")
            return
        answers = AnswerBatch(self)
        for entry in entries:
            kind = entry[m.KINDS] >> m.KIND_SHIFT & 0xFF
            if kind == lib.ACP_BAD:
                self._bad(batch, entry, events, answers)
            else:
                self._read_message(batch, entry, kind, events, answers, 0)
        answers.complete()

    # --- bad lines

    def _bad(self, batch: Batch, words: list[int], events: list[Event], answers: AnswerBatch | None = None) -> None:
        reason = m.REASONS[words[m.KINDS] >> m.REASON_SHIFT & 0xFF]
        if reason == "too_large":
            self._too_large(batch, words, events)
        elif reason == "truncated":
            events.append(Truncated(batch.offset + words[0], words[1]))
        elif not (self.salvage and reason in m.PARSE_REASONS and self._salvaged(batch, words, reason, events)):
            self._report_bad(batch, words, reason, events, None, answers)

    def _report_bad(
        self,
        batch: Batch,
        words: list[int],
        reason: str,
        events: list[Event],
        text: str | None = None,
        answers: AnswerBatch | None = None,
    ) -> BadFrame:
        event = self._bad_event(batch, words, reason)
        if event.answerable and self.answers_noise:
            code = m.PARSE_ERROR if reason in m.PARSE_REASONS else m.INVALID_REQUEST
            self._answer_noise(m.error_line(b"null", code, text or _reason_text(reason)), answers)
        if self.observer is not None:
            self._observe("in", bytes(batch.memory[words[0] : words[0] + words[1]]), event)
        events.append(event)
        return event

    def _bad_event(self, batch: Batch, words: list[int], reason: str) -> BadFrame:
        off, size = words[0], words[1]
        response = bool(words[m.KINDS] >> m.FLAGS_SHIFT & lib.ACP_F_RESPONSE)
        event = BadFrame(
            reason,
            batch.offset + words[m.BODY],
            size + 1,
            column=words[m.BODY] - off,
            length=size,
            preview=_preview(batch.memory[off : off + min(size, _PREVIEW + 1)]),
            answerable=not response,
        )
        if words[m.ID + 1]:
            event.id = m.decode_id(self._token(batch, words))
            if response and not words[m.METHOD + 1]:
                event.call = self._calls.pop(event.id, None)
        if reason in m.PARSE_REASONS and _mentions_headers(batch.memory, off, size):
            event.hint = "the peer seems to use Content-Length framing; ACP sends one message a line"
        return event

    def _salvaged(self, batch: Batch, words: list[int], reason: str, events: list[Event]) -> bool:
        """Noise glued in front of a message: deliver what follows the first ``{`` if that is a whole message."""
        at, end = words[m.BODY], words[0] + words[1]
        if at <= words[0] or bytes(batch.memory[at : at + 1]) != b"{":
            return False
        frame = ffi.new("acp_frame *")
        pointer = batch.buffer.pointer + batch.start + at
        lib.acp_message(pointer, end - at, lib.ACP_ROUTE, frame)
        if frame.kind in (lib.ACP_BAD, lib.ACP_NONE, lib.ACP_ARRAY):
            return False
        inner = _shifted(memoryview(ffi.buffer(frame)).cast("B").cast("I").tolist(), at)
        event = self._bad_event(batch, words, reason)
        event.salvaged = True
        events.append(event)
        self._read_message(batch, inner, frame.kind, events, None, 1)
        return True

    def _answer_noise(self, line: bytes, answers: AnswerBatch | None) -> None:
        if answers is not None:
            answers.add(line)
        elif self.outbox.gate.shut:
            self._dropped += 1
        else:
            self._push(line)

    def _too_large(self, batch: Batch, words: list[int], events: list[Event]) -> None:
        id = m.decode_id(self._token(batch, words)) if words[m.ID + 1] else None
        at, size = words[m.METHOD], words[m.METHOD + 1]
        method = self._name(batch.memory[at : at + size]) if size else None
        self._skip_is_response = bool(words[m.KINDS] >> m.FLAGS_SHIFT & lib.ACP_F_RESPONSE) and method is None
        call = self._calls.pop(id, None) if id is not None and self._skip_is_response else None
        event = FrameTooLarge(batch.offset + words[0], self.limits.max_frame, id, method, call)
        self._skipping = event
        if id is not None and method is not None:
            self._refuse_large(self._token(batch, words))
        events.append(event)

    def _skipped(self, words: list[int], events: list[Event]) -> None:
        """The end of a line that was too large: its last bytes may show the id that its beginning did not."""
        event, self._skipping = self._skipping, None
        if event is None or event.id is not None or not words[m.ID + 1]:
            return
        token = self._framer.tail(words[m.ID], words[m.ID + 1])
        if event.method is not None:
            self._refuse_large(token)
        elif self._skip_is_response:
            id = m.decode_id(token)
            call = self._calls.pop(id, None)
            if call is not None:
                error = m.ErrorObject(m.INVALID_REQUEST, "the answer was larger than max_frame")
                failure = Response(id, call, None, error, None, b"", event.offset, 0)
                failure.broken = True
                events.append(failure)

    def _refuse_large(self, token: bytes) -> None:
        text = f"The message is larger than {self.limits.max_frame} bytes"
        self._push(m.error_line(token, m.INVALID_REQUEST, text))

    # --- messages out

    def call(self, method: str, params: Any = None, *, bulk: bool = False) -> Call | None:
        """Send a request. ``None``: it was not admitted (the door is shut); try again when there is room.

        ``params``: a struct, plain objects or raw JSON bytes. The call's answer is a ``Response`` with this ``call``.
        """
        id = self._next_id
        line = m.request_line(b"%d" % id, method, params)
        if not self._admit(line, bulk):
            return None
        self._next_id += 1
        call = Call(id, method, session_of(params, line))
        self._calls[id] = call
        self._push(line)
        return call

    def expect(self, id: RequestId, method: str = "") -> Call:
        """Count ``id`` as an own call that was sent by other means (a recording, a test)."""
        m.encode_id(id)
        if id in self._calls:
            raise UsageError("this id is pending already")
        call = self._calls[id] = Call(id, method, None)
        if isinstance(id, int) and id >= self._next_id:
            self._next_id = id + 1
        return call

    def notify(self, method: str, params: Any = None, *, bulk: bool | None = None) -> bool:
        """Send a notification; ``False``: it was not admitted. Updates and document events wait at the bulk door."""
        line = m.notification_line(method, params)
        return self.send_line(line, bulk=is_bulk(method) if bulk is None else bulk)

    def send_line(self, line: bytes, *, bulk: bool) -> bool:
        """Send one line that acpcore built, newline included; ``False``: it was not admitted."""
        if not self._admit(line, bulk):
            return False
        self._push(line)
        return True

    def reply(self, request: Request, result: Any = None) -> bool:
        """Answer a request; ``None`` is sent as ``{}``. ``False``: the outbox is at its hard cap, try again later."""
        return self.answer_line(request, m.result_line(request.id_token, result))

    def fail(self, request: Request, code: int, message: str, data: Any = msgspec.UNSET) -> bool:
        """Answer a request with an error; ``False`` as in :meth:`reply`."""
        return self.answer_line(request, m.error_line(request.id_token, code, message, data))

    def _check_open(self, request: Request) -> None:
        if request.answered:
            raise UsageError("this request is answered already")
        if request.engine is not self:
            raise UsageError("this request came over another connection")

    def answer_line(self, request: Request, line: bytes) -> bool:
        """Answer with a line that acpcore built; ``False`` as in :meth:`reply`."""
        self._check_open(request)
        if not self._admit(line, False):
            return False
        request.answered = True
        if request.id is None:
            self._nulls -= 1
        else:
            self._requests.pop(request.id, None)
        if request.batch is not None:
            request.batch.answer(line)
        else:
            self._push(line)
        return True

    def cancel(self, call: Call, *, notify: bool = True) -> bool:
        """Give a call up. Its late answer is an unmatched ``Response``; ``notify`` tells the peer by ``$/cancel_request``."""
        if self._calls.get(call.id) is not call:
            return False
        del self._calls[call.id]
        if notify:
            self._push(m.notification_line(m.CANCEL_METHOD, {"requestId": call.id}))
        return True

    def done(self, event: Event) -> None:
        """The host has finished with an event: its bytes leave the inbox gate. Harmless when said twice."""
        if event.counted:
            event.counted = False
            self.inbox.sub(event.size)
            self.finished += event.size
            self._progress = True
            self._allowance = 0

    def _admit(self, line: bytes, bulk: bool) -> bool:
        if len(line) > self.limits.max_send_frame:
            raise UsageError(f"message of {len(line)} bytes is larger than max_send_frame ({self.limits.max_send_frame})")
        gate = self.outbox.gate
        return not gate.shut if bulk and gate.used else gate.admits(len(line))

    def _push(self, line: bytes) -> None:
        self._frames_out += 1
        self.outbox.push(line)
        if self.observer is not None:
            self._observe("out", line, None)

    def _observe(self, direction: str, line: Bytes, event: Event | None) -> None:
        if self.observer is not None:
            self.observer(direction, line, event)

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
        return bool(self._calls)

    @property
    def want_read(self) -> bool:
        """Whether the host should read on. A client stops at the high mark, an agent only at the hard cap, so that one
        direction always drains; while an answer is owed and the host stands still a client may be granted more."""
        if self._eof or self.outbox.gate.full:
            return False
        inbox = self.inbox
        if not inbox.shut:
            return True
        return inbox.used < (inbox.hard if self.role == "agent" else self._allowance)

    @property
    def want_write(self) -> bool:
        """Whether :meth:`data_to_send` has something."""
        return bool(self.outbox)

    def host_stands_still(self, *, known: bool = False) -> None:
        """Grant the peer more room while an answer is owed: twice as much each time the host finished nothing since the
        last, all of it at once when the running handler is ``known`` to wait for the peer."""
        if known:
            self._allowance = self.inbox.hard
        elif self._progress or not self.owed:
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
            frames_out=self._frames_out,
            dropped_answers=self._dropped,
            bytes_looked=scanner.looked,
            bytes_moved=scanner.moved,
            pending_calls=len(self._calls),
            open_requests=len(self._requests) + self._nulls,
        )

    @property
    def pending_calls(self) -> list[Call]:
        """Own calls that wait for their answer."""
        return list(self._calls.values())

    @property
    def open_requests(self) -> Sequence[Request]:
        """Requests that wait for their answer (those with a ``null`` id are not listed)."""
        return list(self._requests.values())

    def push_reserved(self, line: bytes, reserved: int) -> None:
        """Send a line of which ``reserved`` bytes stand in the outbox gate already."""
        self._frames_out += 1
        self.outbox.push_reserved(line, reserved)
        self._observe("out", line, None)


class _Cancel(msgspec.Struct):
    requestId: int | str


_cancel_decoder = msgspec.json.Decoder(_Cancel)
_BYTE_ORDER: Final[Literal["little", "big"]] = sys.byteorder


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
    return m.decode_text(line[span.off : span.off + span.len]) if span.off else None


def _preview(line: Bytes) -> str:
    text = bytes(line[: _PREVIEW + 1])
    shown = text[:_PREVIEW].decode("utf-8", "replace")
    return shown + "…" if len(text) > _PREVIEW else shown


def _mentions_headers(memory: memoryview, off: int, size: int) -> bool:
    """Whether LSP-style headers stand in the line: a frequent mistake, worth a name."""
    if size > HANDED_OVER:
        return False
    return b"content-length:" in bytes(memory[off : off + size]).lower()


def _reason_text(reason: str) -> str:
    text = ffi.string(lib.acp_reason_text(m.REASONS.index(reason)))
    assert isinstance(text, bytes)
    return text.decode("ascii")


def _shifted(words: list[int], by: int) -> list[int]:
    """A frame's words with every span moved."""
    for at in (m.OFF, m.ID, m.METHOD, m.BODY, m.SESSION, m.ENTITY, m.DATA):
        words[at] += by
    return words
