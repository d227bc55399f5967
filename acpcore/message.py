"""JSON-RPC 2.0: what a connection says to its host (events) and how messages are written.

Events hold their wire bytes and are decoded when they are asked for: decoded JSON is 7 to 24 times its wire size, so
what waits, waits as bytes.  https://agentclientprotocol.com/protocol/v2/draft/overview
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from ._native import ffi, lib
from .errors import InvalidParams, UsageError

RequestId: TypeAlias = "int | str | None"
Bytes: TypeAlias = "bytes | memoryview"

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800
AUTH_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002

CANCEL_METHOD: Final = "$/cancel_request"
UPDATE_METHOD: Final = "session/update"

REASONS: Final = (
    "none",
    "too_large",
    "truncated",
    "utf8",
    "json",
    "surrogate",
    "depth",
    "not_object",
    "version",
    "id",
    "method",
    "params",
    "response",
    "empty_array",
)
PARSE_REASONS: Final = frozenset({"utf8", "json", "surrogate", "depth"})

NO_DATA: Final = msgspec.UNSET


def _as_it_came(value: Any) -> Any:
    """A value that keeps its own JSON (``raw``, with a ``tag``: an unknown variant) goes out as it came in."""
    raw = getattr(value, "raw", None)
    if isinstance(raw, bytes) and hasattr(value, "tag"):
        return msgspec.Raw(_checked(raw))
    raise TypeError(f"{type(value).__name__} is not JSON")


_encoder = msgspec.json.Encoder(enc_hook=_as_it_came)
_any_decoder = msgspec.json.Decoder()
_UNDECODED: Final = object()
_MARKER_TEXT: Final = 200  # characters of an error that a marker keeps
_TOO_LARGE_COUNTS: Final = 1024  # bytes that a line counts of which nothing is kept


class ErrorObject(msgspec.Struct, frozen=True):
    """The ``error`` member of a response: ``code`` (int), ``message``, and ``data`` as decoded JSON or ``None``."""

    code: int
    message: str
    data: Any = None


_error_decoder = msgspec.json.Decoder(ErrorObject)


class Event:
    """Something that came from the peer. ``size`` is its share of the wire in bytes, ``offset`` where it began in
    the stream.
    """

    __slots__ = ("counted", "offset", "size")

    def __init__(self, offset: int, size: int) -> None:
        self.offset = offset
        self.size = size
        self.counted = False  # whether its bytes stand in the inbox gate


class Message(Event):
    """A request or a notification.

    ``method`` is its name, ``session_id`` the ``sessionId`` of its params if that is a string, ``line`` the whole
    message as it came (bytes, or a memoryview of a buffer of its own when it is very large), ready to be forwarded
    unchanged.
    """

    __slots__ = ("_decoder", "_end", "_params", "_start", "conn", "line", "method", "session_id")

    def __init__(
        self, method: str, session_id: str | None, line: Bytes, start: int, end: int, offset: int, size: int
    ) -> None:
        self.method = method
        self.session_id = session_id
        self.line = line
        self.offset = offset
        self.size = size
        self.counted = False
        self.conn: Any = None
        self._start = start
        self._end = end
        self._params: Any = _UNDECODED
        self._decoder: Any = None

    @property
    def raw_params(self) -> Bytes | None:
        """The JSON text of the params as it stood on the wire; ``None`` when the message had none."""
        if self._start == self._end:
            return None
        return self.line[self._start : self._end]

    @property
    def params(self) -> Any:
        """The params: of the type the handler was registered with, else plain Python objects. Raises
        ``InvalidParams``.
        """
        if self._params is _UNDECODED:
            raw = self.raw_params
            if self._decoder is not None:
                self._params = self._decoder(b"{}" if raw is None else raw)
            else:
                self._params = None if raw is None else decode_json(raw)
        return self._params

    def decode(self, decoder: Any) -> Any:
        """Decode the params with ``decoder(raw bytes)`` from now on, and once now."""
        self._decoder = decoder
        self._params = _UNDECODED
        return self.params

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.method} session={self.session_id!r} size={self.size}>"


class Notification(Message):
    """A message that expects no answer."""

    __slots__ = ()


class Answerer(Protocol):
    """Who sends the answer to a request: its engine, or the connection around it."""

    def reply(self, request: Request, result: Any = None) -> bool:
        """Answer with a result; ``False``: not now."""
        ...

    def fail(self, request: Request, code: int, message: str, data: Any = msgspec.UNSET) -> bool:
        """Answer with an error; ``False``: not now."""
        ...


class Request(Message):
    """A message that has to be answered exactly once, by :meth:`reply` or :meth:`fail`.

    ``id`` is the peer's id (int, str or ``None``); ``id_token`` the same as it stood on the wire, which is how it is
    echoed. ``cancelled`` turns true when the peer no longer wants the result; the request must still be answered.
    https://agentclientprotocol.com/protocol/v2/draft/cancellation
    """

    __slots__ = ("answered", "batch", "cancelled", "engine", "id", "id_token", "started")

    id: RequestId
    id_token: bytes
    engine: Answerer
    batch: Any
    answered: bool
    cancelled: bool
    started: bool

    def reply(self, result: Any = None) -> bool:
        """Answer with ``result``: a struct, plain objects or raw JSON bytes; ``None`` is sent as ``{}``.

        Returns whether it was sent now; ``False`` means that the outbox is at its hard cap: try again later.
        """
        return self._sender.reply(self, result)

    def fail(self, code: int, message: str, data: Any = msgspec.UNSET) -> bool:
        """Answer with an error. ``data`` is left out unless it is given."""
        return self._sender.fail(self, code, message, data)

    @property
    def _sender(self) -> Answerer:
        sender: Answerer = self.engine if self.conn is None else self.conn
        return sender

    def __repr__(self) -> str:
        return f"<Request {self.method} id={self.id!r} session={self.session_id!r} size={self.size}>"


class Group(Event):
    """Neighbouring messages of one kind in one event; ``expand()`` gives one event a message."""

    __slots__ = ()

    def expand(self) -> list[Notification]:
        """One event a message, equal to what an ungrouped engine gives. Each kind of group has its own way."""
        raise NotImplementedError

    def split(self) -> list[Notification]:
        """The same, to be used in place of the group: each message takes its share of the group's bytes with it."""
        messages = self.expand()
        rest = self.size
        for message in messages:
            message.size = min(message.size, rest)
            message.counted = self.counted
            rest -= message.size
        messages[-1].size += rest
        self.counted = False
        return messages


class Updates(Group):
    """A run of neighbouring ``session/update`` notifications of known kinds, kept as their lines.

    ``lines`` (bytes) are the messages with their newlines, ``count`` says how many, ``expand()`` gives one
    ``Notification`` each. Runs hold at most 32 messages and may mix sessions.
    """

    __slots__ = ("_base", "_frames", "count", "lines")

    def __init__(self, lines: bytes, count: int, frames: bytes, base: int, offset: int) -> None:
        self.lines = lines
        self.count = count
        self._frames = frames
        self._base = base
        self.offset = offset
        self.size = len(lines)
        self.counted = False

    def expand(self) -> list[Notification]:
        """One event a message, equal to what an ungrouped engine gives."""
        base = self._base
        result = []
        for words in frame_words(self._frames):
            start, size = words[0] - base, words[1]
            line = self.lines[start : start + size]
            body = words[BODY] - words[0]
            session = None
            if words[SESSION]:  # its text may be empty
                at = words[SESSION] - base
                session = decode_text(self.lines[at : at + words[SESSION + 1]])
            result.append(
                Notification(UPDATE_METHOD, session, line, body, body + words[BODY + 1], self.offset + start, size + 1)
            )
        return result

    def sessions(self) -> set[str | None]:
        """The sessions this run touches."""
        return {message.session_id for message in self.expand()}

    def __repr__(self) -> str:
        return f"<Updates count={self.count} size={self.size}>"


class TerminalBytes(Group):
    """Neighbouring output chunks of one terminal, decoded and joined.

    ``data`` are the terminal's bytes (bytes), ``session_id`` and ``terminal_id`` say whose, ``sizes`` how many bytes
    each chunk had. https://agentclientprotocol.com/protocol/v2/draft/tool-calls
    """

    __slots__ = ("_frames", "data", "session_id", "terminal_id")

    def __init__(self, session_id: str, terminal_id: str, data: bytes, frames: bytes, offset: int, size: int) -> None:
        self.session_id = session_id
        self.terminal_id = terminal_id
        self.data = data
        self._frames = frames
        self.offset = offset
        self.size = size
        self.counted = False

    @property
    def sizes(self) -> list[int]:
        """Bytes of each chunk, in order."""
        return [words[DATA + 1] for words in frame_words(self._frames)]

    def expand(self) -> list[Notification]:
        """One ``session/update`` a chunk. The lines are written anew: the members are those that came, their order
        may not be.
        """
        result = []
        at = 0
        first = None
        for words in frame_words(self._frames):
            first = words[0] if first is None else first
            piece = self.data[at : at + words[DATA + 1]]
            at += len(piece)
            line, start, end = terminal_line(self.session_id, self.terminal_id, piece)
            result.append(
                Notification(
                    UPDATE_METHOD, self.session_id, line, start, end, self.offset + words[0] - first, words[1] + 1
                )
            )
        return result

    def __repr__(self) -> str:
        return f"<TerminalBytes {self.terminal_id!r} session={self.session_id!r} {len(self.data)} bytes>"


class Response(Event):
    """An answer. ``matched`` tells whether it answered an own call (then ``call`` is that call).

    ``raw_result`` is the JSON text of a result, ``error`` an ``ErrorObject``; exactly one of them is not ``None``.
    ``broken``: the peer did not say so, its answer was lost (it was larger than the limit).
    """

    __slots__ = ("broken", "call", "error", "id", "line", "raw_result", "session_id")

    def __init__(
        self,
        id: RequestId,
        call: Call | None,
        raw_result: Bytes | None,
        error: ErrorObject | None,
        session_id: str | None,
        line: Bytes,
        offset: int,
        size: int,
    ) -> None:
        self.id = id
        self.call = call
        self.raw_result = raw_result
        self.error = error
        self.session_id = session_id
        self.line = line
        self.offset = offset
        self.size = size
        self.counted = False
        self.broken = False

    def marker(self) -> Response:
        """A small event for the answer's place in the stream, once its call has the payload: no result, no data."""
        error = None if self.error is None else ErrorObject(self.error.code, self.error.message[:_MARKER_TEXT])
        return Response(self.id, self.call, None, error, self.session_id, b"", self.offset, self.size)

    @property
    def matched(self) -> bool:
        """Whether it answered a call that was pending."""
        return self.call is not None

    @property
    def result(self) -> Any:
        """The result as plain Python objects; ``None`` for an error."""
        return None if self.raw_result is None else decode_json(self.raw_result)

    def __repr__(self) -> str:
        kind = "error" if self.error is not None else "result"
        return f"<Response {kind} id={self.id!r} matched={self.matched}>"


class BadFrame(Event):
    """A line that is not a message.

    ``reason`` is one of the names in ``REASONS`` (or ``duplicate_id``: the id of a request that is not answered
    yet), ``offset`` where in the stream it went wrong (bytes; for noise before JSON: where the JSON may begin),
    ``column`` the same within the line, ``preview`` at most 80 bytes of the line as text, ``call`` the own call that
    fails because of it, ``answerable`` whether it may be answered at all, ``hint`` a likely cause for known faults.
    """

    __slots__ = ("answerable", "call", "column", "hint", "id", "length", "preview", "reason", "salvaged")

    def __init__(
        self, reason: str, offset: int, size: int, *, column: int, length: int, preview: str, answerable: bool
    ) -> None:
        super().__init__(offset, size)
        self.reason = reason
        self.column = column
        self.length = length
        self.preview = preview
        self.answerable = answerable
        self.salvaged = False
        self.hint: str | None = None
        self.call: Call | None = None
        self.id: RequestId = None

    def __repr__(self) -> str:
        return f"<BadFrame {self.reason} offset={self.offset} preview={self.preview!r}>"


class FrameTooLarge(Event):
    """A line beyond the limit, told as soon as it passed it; the rest of it is thrown away and the next line is
    read.

    ``limit`` is the limit (bytes), ``id`` and ``method`` what the line's beginning shows, ``call`` the own call it
    answered.
    """

    __slots__ = ("call", "id", "limit", "method")

    def __init__(self, offset: int, limit: int, id: RequestId, method: str | None, call: Call | None) -> None:
        super().__init__(offset, min(limit, _TOO_LARGE_COUNTS))
        self.limit = limit
        self.id = id
        self.method = method
        self.call = call

    def __repr__(self) -> str:
        return f"<FrameTooLarge offset={self.offset} limit={self.limit}>"


class Truncated(Event):
    """The input ended inside a line: ``size`` bytes of it had come."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Truncated offset={self.offset} size={self.size}>"


class Closed(Event):
    """The end. ``reason`` is a short sentence, ``calls`` the own calls that can no longer be answered."""

    __slots__ = ("calls", "reason")

    def __init__(self, offset: int, reason: str, calls: list[Call]) -> None:
        super().__init__(offset, 0)
        self.reason = reason
        self.calls = calls

    def __repr__(self) -> str:
        return f"<Closed {self.reason!r}>"


class Call:
    """An own request that waits for its answer: ``id`` (int or str), ``method``, ``session_id`` of its params."""

    __slots__ = ("id", "method", "session_id", "tag")

    def __init__(self, id: RequestId, method: str, session_id: str | None) -> None:
        self.id = id
        self.method = method
        self.session_id = session_id
        self.tag: Any = None  # whatever the engine's host ties to it

    def __repr__(self) -> str:
        return f"<Call {self.method} id={self.id!r}>"


def expand(events: Iterable[Event]) -> Iterator[Event]:
    """One event a message: groups are taken apart, the rest passes."""
    for event in events:
        if isinstance(event, Group):
            yield from event.expand()
        else:
            yield event


# --- words of a frame: acp_frame read as 32-bit words (see acpcore.h)

OFF, LEN, KINDS, IDS, ID, METHOD, BODY, SESSION, ENTITY, DATA = 0, 1, 2, 3, 4, 6, 8, 10, 12, 14
FRAME_WORDS: Final = 16
if sys.byteorder == "little":
    KIND_SHIFT, REASON_SHIFT, TAG_SHIFT, FLAGS_SHIFT, ID_TYPE_SHIFT = 0, 8, 16, 24, 16
else:
    KIND_SHIFT, REASON_SHIFT, TAG_SHIFT, FLAGS_SHIFT, ID_TYPE_SHIFT = 24, 16, 8, 0, 8


def frame_words(frames: bytes) -> list[list[int]]:
    """The words of each frame in a copy of some frames."""
    words = memoryview(frames).cast("I").tolist()
    return [words[i : i + FRAME_WORDS] for i in range(0, len(words), FRAME_WORDS)]


# --- reading


def decode_json(raw: Bytes) -> Any:
    """Plain Python objects of JSON that the scan has accepted. ``InvalidParams`` for numbers no float or int can
    hold.
    """
    try:
        return _any_decoder.decode(raw)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise InvalidParams("", f"cannot be decoded: {_cause(error)}") from None


def _cause(error: BaseException) -> str:
    return str(error) if isinstance(error, msgspec.MsgspecError) else type(error).__name__


def decode_error(raw: Bytes) -> ErrorObject:
    """The error member of a response; unreadable ``data`` is dropped, for the code and text must arrive."""
    try:
        return _error_decoder.decode(raw)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        pass
    try:
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        return ErrorObject(int(bytes(fields["code"])), msgspec.json.decode(fields["message"], type=str))
    except (msgspec.MsgspecError, KeyError, ValueError):
        return ErrorObject(INTERNAL_ERROR, "unreadable error")


class _Agreed(msgspec.Struct):
    protocolVersion: int


class _AgreedLine(msgspec.Struct):
    result: _Agreed


_version_decoder = msgspec.json.Decoder(_AgreedLine)


def agreed_version(line: Bytes) -> int | None:
    """The protocol version in an answer to ``initialize``, if there is one.

    https://agentclientprotocol.com/protocol/v2/draft/initialization
    """
    try:
        return _version_decoder.decode(line).result.protocolVersion
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None


def decode_id(token: bytes) -> RequestId:
    """An id token of the wire: ``1`` is an int, ``"1"`` a str, ``null`` is ``None``."""
    first = token[:1]
    if first == b'"':
        return decode_text(token[1:-1])
    if first == b"n":
        return None
    return int(token)


def decode_text(body: bytes) -> str:
    """The inside of a JSON string that the scan has accepted."""
    if b"\\" not in body:
        return body.decode("utf-8")
    text = ffi.new("uint8_t[]", len(body))
    size = lib.acp_string(text, len(body), ffi.from_buffer(body), len(body))
    if size < 0:
        raise UsageError("not the inside of a JSON string")
    return bytes(ffi.buffer(text, size)).decode("utf-8")


# --- writing


def encode_json(value: Any) -> bytes:
    """JSON of a value, on one line. ``msgspec.Raw`` anywhere in it is checked, and line breaks between its tokens
    become spaces.

    ``UsageError`` when the value cannot be JSON (a lone surrogate, an unknown type, bad raw JSON, nested too deep for
    any peer); NaN and infinities become ``null``.
    """
    try:
        encoded = _encoder.encode(value)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise UsageError(f"cannot be written as JSON: {error}") from None
    # Only what a host's raw JSON brings in can be wrong, and only that can hold a line break.
    if b"\n" in encoded or not _is_trusted(type(value)):
        return _checked(encoded)
    return encoded


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def _is_trusted(kind: type) -> bool:
    """Whether values of a type hold no raw JSON of a host's own, apart from what it hides in free-form members."""
    return kind in _SCALARS or kind.__module__.startswith("acpcore.")


def encode_id(id: RequestId) -> bytes:
    """The token of an id that acpcore sends."""
    if isinstance(id, bool) or not isinstance(id, (int, str)):
        raise UsageError("an id is an int or a str")
    if isinstance(id, int) and not -(2**63) <= id < 2**63:
        raise UsageError("an id must fit into 64 bits")
    return encode_json(id)


_METHOD_MEMBERS: dict[str, bytes] = {}


def _method_member(method: str) -> bytes:
    if not isinstance(method, str):
        raise UsageError("a method is a str")
    member = _METHOD_MEMBERS.get(method)
    if member is None:
        member = b'"method":' + encode_json(method)
        if len(_METHOD_MEMBERS) < 256:
            _METHOD_MEMBERS[method] = member
    return member


def _body(value: Any) -> bytes:
    """JSON of a host's value; raw bytes are checked in C, since nobody else has looked at them."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _checked(bytes(value))
    if isinstance(value, msgspec.Raw):
        return _checked(bytes(value))
    return encode_json(value)


def _checked(raw: bytes) -> bytes:
    """Raw JSON from a host: one value, on one line."""
    at = ffi.new("uint32_t[2]")
    if len(raw) > lib.ACP_MAX_SIZE or lib.acp_check(raw, len(raw), at, at + 1) != lib.ACP_OK:
        raise UsageError(f"raw JSON is not one value that a peer would take: {REASONS[at[1]]} at byte {at[0]}")
    if b"\n" in raw or b"\r" in raw:  # valid JSON has raw line breaks between its tokens only
        raw = raw.replace(b"\n", b" ").replace(b"\r", b" ")
    return raw


def request_line(id_token: bytes, method: str, params: Any) -> bytes:
    """A request with its newline. ``params`` ``None``: left out."""
    head = b'{"jsonrpc":"2.0","id":' + id_token + b"," + _method_member(method)
    return head + b"}\n" if params is None else head + b',"params":' + encode_params(method, params) + b"}\n"


def notification_line(method: str, params: Any) -> bytes:
    """A notification with its newline."""
    head = b'{"jsonrpc":"2.0",' + _method_member(method)
    return head + b"}\n" if params is None else head + b',"params":' + encode_params(method, params) + b"}\n"


def encode_params(method: str, params: Any) -> bytes:
    """JSON of params. What a peer would refuse, and never answer since it refuses it without an id, is not sent."""
    body = _body(params)
    if body[:1] not in (b"{", b"[") and not method.startswith("_") and body.lstrip()[:1] not in (b"{", b"[", b"n"):
        raise UsageError(f"params of {method} are an object or an array")
    return body


def result_line(id_token: bytes, result: Any) -> bytes:
    """A successful answer; ``None`` becomes ``{}``, as every result of ACP is an object."""
    body = b"{}" if result is None else _body(result)
    return b'{"jsonrpc":"2.0","id":' + id_token + b',"result":' + body + b"}\n"


def error_line(id_token: bytes, code: int, message: str, data: Any = msgspec.UNSET) -> bytes:
    """An answer that says what went wrong. ``UsageError`` unless ``code`` is a 64-bit int and ``message`` a str."""
    if isinstance(code, bool) or not isinstance(code, int) or not -(2**63) <= code < 2**63:
        raise UsageError("an error code is an int of 64 bits")
    if not isinstance(message, str):
        raise UsageError("an error message is a str")
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not msgspec.UNSET:
        error["data"] = msgspec.Raw(_body(data))
    return b'{"jsonrpc":"2.0","id":' + id_token + b',"error":' + encode_json(error) + b"}\n"


def terminal_line(session_id: str, terminal_id: str, data: bytes) -> tuple[bytes, int, int]:
    """A terminal chunk written in C, without its newline, and where its params lie."""
    line = TerminalHead(session_id, terminal_id).line(data)
    start = line.index(b'"params":') + 9
    return line[:-1], start, len(line) - 2


class TerminalHead:
    """The constant beginning of one terminal's chunk lines.

    https://agentclientprotocol.com/protocol/v2/draft/tool-calls#terminals
    """

    __slots__ = ("_head", "_size")

    def __init__(self, session_id: str, terminal_id: str) -> None:
        session, terminal = _utf8(session_id), _utf8(terminal_id)
        room = 256 + 6 * (len(session) + len(terminal))
        self._head = ffi.new("uint8_t[]", room)
        self._size = lib.acp_terminal_head(self._head, room, session, len(session), terminal, len(terminal))
        if self._size < 0:
            raise UsageError("session and terminal ids must be text")

    def line(self, data: Bytes | bytearray) -> bytes:
        """One ``terminal_output_chunk`` with these bytes, newline included."""
        size = len(data)
        room = self._size + lib.acp_base64_size(size) + 8
        line = bytearray(room)
        used = lib.acp_terminal_chunk(ffi.from_buffer(line), room, self._head, self._size, ffi.from_buffer(data), size)
        if used < 0:
            raise UsageError("chunk is too large")
        return bytes(memoryview(line)[:used])


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError("text holds a lone surrogate") from None
