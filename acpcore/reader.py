"""From what the scan found to events: the way in.

Order is wire order. What is bad becomes an event and, where that is asked for, an error answer; nothing here raises
because of what the peer sent.
"""

from __future__ import annotations

import sys
from typing import Final, Literal

import msgspec

from . import message as m
from ._native import ffi, lib
from .batch import AnswerBatch
from .flow import Gate, Limits
from .framing import HANDED_OVER, Batch, Framer
from .ledger import Ledger
from .message import (
    BadFrame,
    Bytes,
    Event,
    FrameTooLarge,
    Message,
    Notification,
    Request,
    Response,
    TerminalBytes,
    Truncated,
    Updates,
)
from .outward import Outward

_PREVIEW: Final = 80
_NAMES: Final = 1024  # method and session names whose text is remembered


class Reader:
    """Makes the events of one stream. ``dropped_answers`` counts error answers to noise that were not sent."""

    def __init__(
        self,
        framer: Framer,
        ledger: Ledger,
        inbox: Gate,
        outward: Outward,
        limits: Limits,
        *,
        answers_noise: bool,
        salvage: bool,
        null_ids: bool,
    ) -> None:
        self._framer = framer
        self._ledger = ledger
        self._inbox = inbox
        self._outward = outward
        self._limits = limits
        self._answers_noise = answers_noise
        self._salvage = salvage
        self._null_ids = null_ids
        self._names: dict[bytes, str] = {}
        self._skipping: tuple[FrameTooLarge, int] | None = None  # a line whose end may show its id, with its flags
        self.dropped_answers = 0

    def read(self, batch: Batch, events: list[Event]) -> None:
        """Append the events of a batch, in wire order."""
        groups = batch.groups
        for i in range(0, len(groups), 12):
            kind = groups[i + 4]
            if kind == lib.ACP_G_ONE:
                self._read_frame(batch, groups[i], events)
            elif kind == lib.ACP_G_UPDATES and groups[i + 3] >= HANDED_OVER:
                for frame in range(groups[i], groups[i] + groups[i + 1]):  # a large line is not copied into a run
                    self._read_frame(batch, frame, events)
            else:
                event = self._terminal(batch, groups, i) if kind == lib.ACP_G_TERMINAL else self._run(batch, groups, i)
                if self._outward.observer is not None:
                    self._observe_group(batch, groups, i)
                self._take_in(event, events)

    def _observe_group(self, batch: Batch, groups: list[int], i: int) -> None:
        """An observer sees lines, whatever they are joined to."""
        first, count = groups[i : i + 2]
        for words in m.frame_words(bytes(batch.frame_bytes[first * 64 : (first + count) * 64])):
            self._outward.observe("in", batch.memory[words[0] : words[0] + words[1]], None)

    def _take_in(self, event: Event, events: list[Event]) -> None:
        """What the peer may send at will counts until the host is done with it; answers to own calls do not."""
        event.counted = True
        self._inbox.add(event.size)
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
                self._observe_raw(batch, words, None)
                self._take_in(event, events)
                return
        notification = Notification.__new__(Notification)
        self._fill(notification, batch, words, ending)
        if notification.method == m.CANCEL_METHOD:
            request = self.cancelled_request(notification)
            if request is not None:
                request.cancelled = True
        if ending:
            self._outward.observe("in", notification.line, notification)
        self._take_in(notification, events)

    def _large_chunk(self, batch: Batch, words: list[int]) -> TerminalBytes | None:
        """A chunk that did not fit into the arena. Anything irregular stays a notification for the typed layer to
        judge.
        """
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
        request.engine = self._outward.answerer
        request.batch = answers
        request.answered = request.cancelled = request.started = False
        if ending:
            self._outward.observe("in", request.line, request)
        if request.id is None and not self._null_ids:
            self._refuse_id(request, "id", "An id must be a string or an integer", b"null", events)
            return
        if not self._ledger.claim(request):
            text = "The id belongs to a request that is not answered yet"
            self._refuse_id(request, "duplicate_id", text, request.id_token, events)
            return
        if answers is not None:
            answers.expect()
        self._take_in(request, events)

    def _refuse_id(self, request: Request, reason: str, text: str, token: bytes, events: list[Event]) -> None:
        """A request that never runs: its id is taken until the earlier one is answered, or is no id here."""
        event = BadFrame(
            reason,
            request.offset,
            request.size,
            column=0,
            length=len(request.line),
            preview=_preview(request.line),
            answerable=True,
        )
        event.id = request.id
        self._answer_noise(m.error_line(token, m.INVALID_REQUEST, text), request.batch)
        self._take_in(event, events)

    def _response(self, batch: Batch, words: list[int], events: list[Event], ending: int) -> None:
        kind = words[m.KINDS] >> m.KIND_SHIFT & 0xFF
        line = self._line(batch, words)
        start = words[m.BODY] - words[0]
        body = line[start : start + words[m.BODY + 1]]
        id = m.decode_id(self._token(batch, words))
        failed = kind == lib.ACP_ERROR
        event = Response(
            id,
            self._ledger.match(id),
            None if failed else body,
            m.decode_error(body) if failed else None,
            self._session(batch, words),
            line,
            batch.offset + words[0],
            words[1] + ending,
        )
        if ending:
            self._outward.observe("in", line, event)
        if event.matched:
            events.append(event)
        else:
            self._take_in(event, events)

    # --- arrays

    def _read_array(self, batch: Batch, index: int, words: list[int], events: list[Event]) -> None:
        """Entries run as if they had come on lines of their own; their answers leave as one array.

        https://agentclientprotocol.com/protocol/v2/draft/transports
        """
        most = self._limits.max_batch
        entries = self._framer.entries(batch, index, most)
        if len(entries) > most:
            self._report_bad(batch, words, "params", events, f"more than {most} entries in a batch")
            return
        self._observe_raw(batch, words, None)
        answers = AnswerBatch(self._outward)
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
            self._observe_raw(batch, words, None)
            events.append(Truncated(batch.offset + words[0], words[1]))
        elif not (self._salvage and reason in m.PARSE_REASONS and self._salvaged(batch, words, reason, events)):
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
        if event.answerable and self._answers_noise:
            code = m.PARSE_ERROR if reason in m.PARSE_REASONS else m.INVALID_REQUEST
            self._answer_noise(m.error_line(b"null", code, text or _reason_text(reason)), answers)
        if answers is None:
            self._observe_raw(batch, words, event)
        self._take_in(event, events)
        return event

    def _observe_raw(self, batch: Batch, words: list[int], event: Event | None) -> None:
        if self._outward.observer is not None:
            self._outward.observe("in", batch.memory[words[0] : words[0] + words[1]], event)

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
                event.call = self._ledger.match(event.id)
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
        """An answer to something that was no request; dropped and counted while the outbox is shut."""
        if answers is not None:
            answers.add(line)
        elif not self._outward.send_if_open(line):
            self.dropped_answers += 1

    def _too_large(self, batch: Batch, words: list[int], events: list[Event]) -> None:
        token = self._token(batch, words)
        id = m.decode_id(token) if token else None
        at, size = words[m.METHOD], words[m.METHOD + 1]
        method = self._name(batch.memory[at : at + size]) if size else None
        flags = words[m.KINDS] >> m.FLAGS_SHIFT & 0xFF
        call = self._ledger.match(id) if flags & lib.ACP_F_RESPONSE else None
        event = FrameTooLarge(batch.offset + words[0], self._limits.max_frame, id, method, call)
        self._skipping = None if token else (event, flags)
        if token and flags & lib.ACP_F_CALL:
            self._refuse_large(token)
        self._take_in(event, events)

    def _skipped(self, words: list[int], events: list[Event]) -> None:
        """The end of a line that was too large: its last bytes may show the id that its beginning did not."""
        skipping, self._skipping = self._skipping, None
        if skipping is None or not words[m.ID + 1]:
            return
        event, flags = skipping
        token = self._framer.tail(words[m.ID], words[m.ID + 1])
        if flags & lib.ACP_F_CALL:
            self._refuse_large(token)
        elif flags & lib.ACP_F_RESPONSE:
            self._fail_large(m.decode_id(token), event, events)

    def _fail_large(self, id: m.RequestId, event: FrameTooLarge, events: list[Event]) -> None:
        call = self._ledger.match(id)
        if call is not None:
            error = m.ErrorObject(m.INVALID_REQUEST, "the answer was larger than max_frame")
            failure = Response(id, call, None, error, None, b"", event.offset, 0)
            failure.broken = True
            events.append(failure)

    def _refuse_large(self, token: bytes) -> None:
        text = f"The message is larger than {self._limits.max_frame} bytes"
        self._outward.push(m.error_line(token, m.INVALID_REQUEST, text))

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
        return self._ledger.find(id)


class _Cancel(msgspec.Struct):
    requestId: int | str


_cancel_decoder = msgspec.json.Decoder(_Cancel)
_BYTE_ORDER: Final[Literal["little", "big"]] = sys.byteorder


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
    """A frame's words with every span moved that is there."""
    for at in (m.OFF, m.ID, m.METHOD, m.BODY, m.SESSION, m.ENTITY, m.DATA):
        if words[at] or words[at + 1]:
            words[at] += by
    return words
