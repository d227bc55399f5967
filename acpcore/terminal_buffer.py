"""What one terminal has printed: bytes to keep, safe cuts, text.

Chunks may be cut anywhere, in a character and in an escape sequence, and need not be UTF-8 at all: bytes are kept as
they came, and whoever reads them as text keeps state.  https://agentclientprotocol.com/protocol/v2/draft/tool-calls

Escape sequences here: ``ESC [`` up to a final byte (CSI); ``ESC ]``, ``ESC P``, ``ESC _``, ``ESC ^``, ``ESC X`` up to
BEL or ``ESC \\`` (OSC, DCS, APC, PM, SOS); ``ESC``, bytes from space to slash, and one byte more (the others). CAN and
SUB end any of them. A byte that cannot belong to a sequence ends it and stands for itself, as after a program that was
killed while it wrote. C1 controls of one byte (0x80 to 0x9F) begin none: in UTF-8 these bytes continue characters.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from .errors import UsageError
from .message import TerminalBytes
from .ring import Data, Ring, Taken
from .schema import UNSET, TerminalExitStatus, TerminalOutputChunk, TerminalUpdate
from .schema.model import JsonObject

__all__ = ["CEILING", "LONGEST", "Escapes", "SafeCut", "TerminalBuffer", "TextDecoder"]

CEILING: Final = 1 << 20  # bytes kept of a terminal when the host names no other number
LONGEST: Final = 1 << 20  # bytes; an escape sequence that is not over by then is given up
LEAST: Final = 64  # bytes; what LONGEST may be at least

Bytes: TypeAlias = "bytes"  # the buffer has a property named so
Chunk: TypeAlias = "bytes | bytearray"

ESC, CAN = b"\x1b", b"\x18"

# --- escape sequences

GROUND, ESCAPE, MIDDLE, CSI, STRING = range(5)
_REST: Final = (
    re.compile(rb""),
    re.compile(rb"(?P<csi>\[)|(?P<string>[P\]X^_])|(?P<middle>[ -/])|(?P<end>[0-~\x18\x1a])|"),
    re.compile(rb"[ -/]*(?:(?P<end>[0-~\x18\x1a])|(?P<middle>\Z)|)"),
    re.compile(rb"[ -?]*(?:(?P<end>[@-~\x18\x1a])|(?P<csi>\Z)|)"),
    re.compile(rb"[^\x07\x18\x1a\x1b]*(?:(?P<end>[\x07\x18\x1a])|(?P<escape>\x1b)|(?P<string>\Z))"),
)
_NEXT: Final = {"escape": ESCAPE, "middle": MIDDLE, "csi": CSI, "string": STRING, "end": GROUND, None: GROUND}


class Escapes:
    """Knows whether the bytes so far end inside an escape sequence.

    A sequence of more than ``longest`` bytes is given up there: what follows counts as text, so one that never ends
    hides no more than that. ``UsageError`` for less than 64. ``looked`` counts the bytes it had to look at.
    """

    __slots__ = ("_left", "longest", "looked", "state")

    def __init__(self, longest: int = LONGEST) -> None:
        if longest < LEAST:
            raise UsageError(f"the longest escape sequence has at least {LEAST} bytes")
        self.longest = longest
        self.looked = 0
        self.reset()

    def reset(self) -> None:
        """Outside of any sequence."""
        self.state = GROUND
        self._left = 0

    def enter(self) -> None:
        """An ESC was passed: wherever it stands, a sequence begins."""
        self.state = ESCAPE
        self._left = self.longest - 1

    def step(self, data: Chunk, start: int, stop: int) -> int:
        """Go on inside a sequence, to its end or a change of state; where that is (``stop`` at the latest)."""
        limit = min(stop, start + self._left)
        match = _REST[self.state].match(data, start, limit)
        if match is None:  # no pattern fails
            raise AssertionError(self.state)
        end = match.end()
        self.looked += end - start + 1
        if match.lastgroup == "escape":
            self.enter()
            return end
        self._left -= end - start
        self.state = _NEXT[match.lastgroup] if self._left else GROUND
        return end

    def leave(self, data: Chunk, start: int, stop: int) -> int:
        """Go on to the end of the sequence; ``stop`` if it is not over there."""
        while self.state != GROUND and start < stop:
            start = self.step(data, start, stop)
        return start

    def passed(self, data: Chunk, start: int, stop: int) -> None:
        """Go over bytes of which only the state at their end matters: an ESC makes all before it irrelevant."""
        last = data.rfind(ESC, start, stop)
        self.looked += stop - max(last, start)
        if last >= 0:
            self.enter()
            start = last + 1
        self.leave(data, start, stop)


# --- the cut

# A character as far as it is well formed; what follows is the beginning of another one.
_CHARACTER: Final = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]?|\xe0(?:[\xa0-\xbf][\x80-\xbf]?)?|\xed(?:[\x80-\x9f][\x80-\xbf]?)?|[\xe1-\xef][\x80-\xbf]{0,2}"
    rb"|\xf0(?:[\x90-\xbf][\x80-\xbf]{0,2})?|[\xf1-\xf3][\x80-\xbf]{0,3}|\xf4(?:[\x80-\x8f][\x80-\xbf]{0,2})?"
)
_LAST_CHARACTER: Final = re.compile(rb"[\xc2-\xf4][\x80-\xbf]{0,2}\Z")


def rest_of_character(before: bytes, after: bytes) -> int:
    """How many bytes of ``after`` belong to the UTF-8 character at the end of ``before`` (3 bytes of each suffice)."""
    last = _LAST_CHARACTER.search(before)
    if last is None:
        return 0
    whole = _CHARACTER.match(last.group() + after)
    return max(0, whole.end() - len(last.group())) if whole else 0


class SafeCut:
    """A ``Cut`` after which no half UTF-8 character and no half escape sequence begins what is kept.

    It looks at bytes that fall out, and at the rest of what the cut went through, which falls out too: at most
    ``longest`` bytes for a sequence, 3 for a character. A string that another sequence breaks off goes with that one.
    Bytes that are not UTF-8 are cut as they are. ``looked`` counts the bytes looked at.
    """

    __slots__ = ("_before", "_escapes")

    def __init__(self, longest: int = LONGEST) -> None:
        self._escapes = Escapes(longest)
        self._before = b""  # the last 3 bytes that fell out

    @property
    def looked(self) -> int:
        """Bytes looked at so far."""
        return self._escapes.looked

    def reset(self) -> None:
        """A new stream begins."""
        self._escapes.reset()
        self._before = b""

    def passed(self, data: Chunk, start: int, stop: int) -> None:
        """``data[start:stop]`` fell out."""
        self._escapes.passed(data, start, stop)
        self._remember(data, start, stop)

    def align(self, data: Chunk, start: int) -> int:
        """Where in ``data`` kept bytes may begin, from ``start`` on; ``len(data)``: not in here."""
        end = self._escapes.leave(data, start, len(data))
        self._remember(data, start, end)
        size = rest_of_character(self._before, bytes(data[end : end + 3]))
        self._remember(data, end, end + size)
        return end + size

    def _remember(self, data: Chunk, start: int, stop: int) -> None:
        self._before = (self._before + data[max(start, stop - 3) : stop])[-3:]


# --- text

_SHORT_CSI: Final = re.compile(rb"\x1b\[[ -?]{0,48}[@-~]")
_SILENT: Final = bytes(byte if 8 <= byte <= 13 or 32 <= byte != 127 else CAN[0] for byte in range(256))
_C1: Final = re.compile("[\x80-\x9f]")
_LINE_END: Final = re.compile("\r+(\n?)")


def unix_lines(text: str) -> str:
    """CR LF as newline, also after more than one CR; other runs of CR as one."""
    text = text.replace("\r\n", "\n")
    return _LINE_END.sub(lambda match: match.group(1) or "\r", text) if "\r" in text else text


class TextDecoder:
    """Terminal bytes to text, whatever the chunks: one for each terminal.

    UTF-8; bad bytes become U+FFFD. With ``clean`` it is a transcript that is safe to print and to read: without escape
    sequences and control characters (but BS, TAB, LF, VT, FF, CR), and with CR LF as newline. Work is in proportion to
    the bytes.
    """

    __slots__ = ("_clean", "_escapes", "_held", "_utf8")

    def __init__(self, *, clean: bool = False, longest: int = LONGEST) -> None:
        self._clean = clean
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._escapes = Escapes(longest)
        self._held = ""  # a CR that may be half a line end

    def reset(self) -> None:
        """What comes next has nothing to do with what came before: after a gap or a snapshot."""
        self._utf8.reset()
        self._escapes.reset()
        self._held = ""

    def decode(self, data: Data, final: bool = False) -> str:
        """The text these bytes complete. ``final``: what is incomplete is shown too, and a new text begins."""
        text = self.decode_raw(data)
        if self._clean:
            text = unix_lines(self._held + text)
            self._held = "\r" if text.endswith("\r") else ""
            text = text[: len(text) - len(self._held)]
        if final:
            text += self._held + self.incomplete
            self.reset()
        return text

    def decode_raw(self, data: Data) -> str:
        """The same, but line ends stay as they came."""
        data = bytes(data)
        if not self._clean:
            return self._utf8.decode(data)
        text = self._utf8.decode(self._strip(data).translate(_SILENT)).replace("\x18", "")
        return text if text.isascii() else _C1.sub("", text)

    @property
    def incomplete(self) -> str:
        """U+FFFD if the bytes so far end inside a character, else nothing."""
        return self._utf8.getstate()[0].decode("utf-8", "replace")

    def _strip(self, data: bytes) -> bytes:
        """CAN in place of each escape sequence: it parts the characters on both sides and is removed after decoding."""
        data = _SHORT_CSI.sub(CAN, data)
        parts: list[bytes] = []
        at = 0
        while True:
            at = self._escapes.leave(data, at, len(data))
            escape = data.find(ESC, at)
            if escape < 0:
                break
            parts += data[at:escape], CAN
            self._escapes.enter()
            at = escape + 1
        parts.append(data[at:])
        return b"".join(parts)


class _Shown:
    """The text of what a ring keeps: decoded in pieces when it is first asked for, forgotten as the ring forgets."""

    __slots__ = ("_decoder", "_make", "_pieces", "_read", "_start", "looked")

    PIECE: Final = 16384  # bytes; what is decoded again at most when the ring has dropped something

    def __init__(self, make: Callable[[], TextDecoder]) -> None:
        self._make = make
        self.looked = 0
        self.forget(0)

    def forget(self, start: int) -> None:
        """Begin anew at an offset of the ring."""
        self._decoder = self._make()
        self._pieces: deque[tuple[int, str]] = deque()  # how many bytes, and the text they completed
        self._start = self._read = start

    def text(self, ring: Ring, ended: bool) -> str:
        if ring.dropped >= self._read:
            self.forget(ring.dropped)
        elif ring.dropped > self._start:
            self._trim(ring)
        self._go_on(ring)
        text = "".join([text for _, text in self._pieces])
        return text + self._decoder.incomplete if ended else text

    def _go_on(self, ring: Ring) -> None:
        data = ring.since(self._read)
        for at in range(0, len(data), self.PIECE):
            piece = data[at : at + self.PIECE]
            self._read += len(piece)
            self._add(len(piece), self._decode(self._decoder, piece))

    def _add(self, size: int, text: str) -> None:
        """Small pieces become one: an object for each would outweigh the text."""
        if self._pieces and self._pieces[-1][0] + size <= self.PIECE:
            last_size, last = self._pieces.pop()
            size, text = last_size + size, last + text
        self._pieces.append((size, text))

    def _trim(self, ring: Ring) -> None:
        """Drop pieces; the first one left is decoded again from where the ring begins, as if nothing were before it."""
        gone = ring.dropped - self._start
        while self._pieces[0][0] <= gone:
            gone -= self._pieces.popleft()[0]
        size = self._pieces.popleft()[0] - gone
        self._start = ring.dropped
        self._pieces.appendleft((size, self._decode(self._make(), ring.oldest(size))))

    def _decode(self, decoder: TextDecoder, data: bytes) -> str:
        self.looked += len(data)
        return decoder.decode_raw(data)


# --- the buffer


class TerminalBuffer:
    """Folds one terminal's updates into the bytes to keep: the newest, at most ``ceiling`` of them (bytes, 0 or more).

    Nothing is cut below the ceiling. After a cut they begin with a whole character and outside of escape sequences, so
    the rest of a character or a sequence may be missing besides; a sequence that does not end within ``longest`` bytes
    is given up and counts as text. ``total == dropped + len(bytes)``, counted since the last snapshot.

    Memory: see ``Ring``. A text that was asked for is held beside it, at 1 to 4 bytes a character.
    """

    __slots__ = ("_clean", "_cut", "_finished", "_plain", "_ring", "command", "cwd", "exit_status", "meta")

    def __init__(self, ceiling: int = CEILING, *, longest: int = LONGEST) -> None:
        self._cut = SafeCut(longest)
        self._ring = Ring(ceiling, self._cut)
        self._plain = _Shown(lambda: TextDecoder(longest=longest))
        self._clean = _Shown(lambda: TextDecoder(clean=True, longest=longest))
        self._finished = False
        self.command: str | None = None
        self.cwd: str | None = None
        self.exit_status: TerminalExitStatus | None = None
        self.meta: JsonObject | None = None

    # --- writing

    def apply(self, update: TerminalUpdate | TerminalOutputChunk | TerminalBytes) -> None:
        """Take in one update of this terminal: what it omits stays, ``null`` clears, a value replaces.

        An ``output`` replaces all bytes; chunks append to it. An exit neither needs nor ends output.
        """
        if isinstance(update, TerminalUpdate):
            self._patch(update)
        else:
            self.append(update.data)

    def append(self, data: Data) -> None:
        """Add output (raw bytes) at the end."""
        self._ring.append(data)

    def replace(self, data: Data = b"") -> None:
        """A snapshot: these are all bytes now."""
        self._ring.replace(data)
        self._plain.forget(0)
        self._clean.forget(0)

    def finish(self) -> None:
        """No output will come any more: text shows an incomplete character at the end. An exit status does so too."""
        self._finished = True

    def _patch(self, update: TerminalUpdate) -> None:
        if update.command is not UNSET:
            self.command = update.command
        if update.cwd is not UNSET:
            self.cwd = update.cwd
        if update.output is not UNSET:
            self.replace(b"" if update.output is None else update.output.data)
        if update.exit_status is not UNSET:
            self.exit_status = update.exit_status
        if update.meta is not UNSET:
            self.meta = update.meta

    # --- reading

    @property
    def ceiling(self) -> int:
        """How many bytes are kept at most."""
        return self._ring.ceiling

    @property
    def bytes(self) -> Bytes:
        """What is kept. It is put together anew for each call."""
        return self._ring.since(self.dropped)

    @property
    def total(self) -> int:
        """Bytes of the output as it stands: the last snapshot and all chunks after it."""
        return self._ring.total

    @property
    def dropped(self) -> int:
        """How many of them, from the beginning, are not kept."""
        return self._ring.dropped

    @property
    def truncated(self) -> bool:
        """Whether the beginning of the output is missing."""
        return self._ring.dropped > 0

    @property
    def exited(self) -> bool:
        """Whether the command has exited; an exit status may say nothing more."""
        return self.exit_status is not None

    def take(self) -> Taken:
        """The bytes since the last ``take``, for a view that paints now and then; what it missed is counted.

        After a gap they begin at a safe place; the view's own parser has to begin anew there.
        """
        return self._ring.take()

    def text(self) -> str:
        """What is kept, as UTF-8 text with U+FFFD for bad bytes; an incomplete character at the end waits for its rest.

        Each byte is decoded when it is first asked for; a later call decodes at most 16 KiB of them again, and that
        only after a cut. (It still puts the pieces together, as ``bytes`` does: a view that paints often decodes what
        :meth:`take` gives with a ``TextDecoder`` of its own.)
        """
        return self._plain.text(self._ring, self._finished or self.exited)

    def clean_text(self) -> str:
        """The same without escape sequences and control characters, and with CR LF as newline: see ``TextDecoder``."""
        return unix_lines(self._clean.text(self._ring, self._finished or self.exited))
