"""The newest bytes of a stream, up to a ceiling, for a reader who comes now and then.

A terminal that floods must not hold up everything else: its bytes go into a ring at once, the oldest fall out, and the
reader learns how many it missed. Nothing here looks at kept bytes; only a ``Cut`` looks at those that fall out.
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple, Protocol, TypeAlias

from .errors import UsageError

Data: TypeAlias = "bytes | bytearray | memoryview"

BLOCK: Final = 65536  # bytes; the most that is held beyond the ceiling
SMALL: Final = 4096  # bytes; smaller chunks are gathered, for an object of its own costs about 40 bytes


class Taken(NamedTuple):
    """What a reader gets: ``data`` came since the last time.

    ``missed`` bytes before it fell out unread, so what parses ``data`` starts anew. With ``replaced`` everything that
    was handed out before is void, and ``data`` (after ``missed`` bytes) is all there is.
    """

    data: bytes
    missed: int
    replaced: bool


class Cut(Protocol):
    """Decides where the bytes that are kept may begin."""

    def passed(self, data: bytes | bytearray, start: int, stop: int) -> None:
        """``data[start:stop]`` fell out; it follows what fell out before."""

    def align(self, data: bytes | bytearray, start: int) -> int:
        """The first place from ``start`` on where kept bytes may begin, or ``len(data)``; what is before falls out."""

    def reset(self) -> None:
        """A new stream begins."""


class _Anywhere:
    def passed(self, data: bytes | bytearray, start: int, stop: int) -> None:
        pass

    def align(self, data: bytes | bytearray, start: int) -> int:
        return start

    def reset(self) -> None:
        pass


class Ring:
    """At most ``ceiling`` (bytes, 0 or more) of what was appended, always the newest.

    ``total`` (bytes) is how much came since the last :meth:`replace`, ``dropped`` how much of that is gone,
    ``len(ring)`` what is kept: ``total == dropped + len(ring)``. Without a ``cut`` all that fits is kept; with one the
    kept bytes begin where it allows and may be fewer.

    Appending costs time in proportion to its bytes, however large the chunk. Memory stays below the ceiling and one
    more block (``BLOCK``, or the ceiling if that is smaller) plus 2 % for the objects; no reference to a chunk larger
    than a block is held. ``UsageError`` for a ceiling that is not a size.
    """

    __slots__ = ("_aligned", "_block", "_chunks", "_cut", "_head", "_kept", "_replaced", "_taken", "ceiling", "total")

    def __init__(self, ceiling: int, cut: Cut | None = None) -> None:
        if isinstance(ceiling, bool) or not isinstance(ceiling, int) or ceiling < 0:
            raise UsageError("a ceiling is a number of bytes, 0 or more")
        self.ceiling = ceiling
        self.total = 0
        self._block = min(BLOCK, ceiling)
        self._chunks: deque[bytes | bytearray] = deque()  # the last one may be a bytearray that still grows
        self._head = 0  # bytes of the first chunk that fell out
        self._kept = 0
        self._cut: Cut = _Anywhere() if cut is None else cut
        self._aligned = True
        self._taken = 0
        self._replaced = False

    def __len__(self) -> int:
        return self._kept

    @property
    def dropped(self) -> int:
        """Bytes that fell out since the last :meth:`replace`."""
        return self.total - self._kept

    # --- writing

    def append(self, data: Data) -> None:
        """Add bytes at the end; the oldest fall out. Memory that is not ``bytes`` is copied."""
        data = data if type(data) is bytes else bytes(data)
        self._shed(min(self._kept, self._kept + len(data) - self.ceiling))
        start = max(0, len(data) - self.ceiling)
        if start:
            self._cut.passed(data, 0, start)
            self._aligned = False
        self.total += len(data)
        self._store(data, self._settle(data, start))

    def replace(self, data: Data = b"") -> None:
        """Begin anew with these bytes; all earlier ones are void and freed."""
        self._chunks.clear()
        self._head = self._kept = self.total = self._taken = 0
        self._cut.reset()
        self._aligned = True
        self._replaced = True
        self.append(data)

    def clear(self) -> None:
        """Begin anew with nothing."""
        self.replace()

    # --- reading

    def since(self, offset: int) -> bytes:
        """Kept bytes from ``offset`` (counted like ``total``) on; costs in proportion to what is returned."""
        left = min(self.total - offset, self._kept)
        parts: list[bytes | bytearray] = []
        for chunk in reversed(self._chunks):
            if left <= 0:
                break
            parts.append(chunk if len(chunk) <= left else chunk[len(chunk) - left :])
            left -= len(chunk)
        parts.reverse()
        return b"".join(parts)

    def oldest(self, size: int) -> bytes:
        """The first ``size`` of the kept bytes; costs in proportion to them."""
        parts: list[bytes | bytearray] = []
        head = self._head
        for chunk in self._chunks:
            if size <= 0:
                break
            parts.append(chunk[head : head + size])
            size -= len(parts[-1])
            head = 0
        return b"".join(parts)

    def take(self) -> Taken:
        """What came since the last ``take``, with what was missed in between."""
        start = max(self._taken, self.dropped)
        taken = Taken(self.since(start), start - self._taken, self._replaced)
        self._taken = self.total
        self._replaced = False
        return taken

    # --- inside

    def _shed(self, count: int) -> None:
        """Let the ``count`` oldest bytes fall out."""
        if count <= 0:
            return
        self._kept -= count
        self._aligned = False
        while count:
            chunk = self._chunks[0]
            stop = min(len(chunk), self._head + count)
            self._cut.passed(chunk, self._head, stop)
            count -= stop - self._head
            self._begin(chunk, stop)

    def _begin(self, chunk: bytes | bytearray, head: int) -> None:
        """The first chunk begins at ``head`` from now on."""
        if head == len(chunk):
            self._chunks.popleft()
            head = 0
        self._head = head

    def _settle(self, data: bytes, start: int) -> int:
        """Find the beginning in what is kept, then in ``data``, which is not stored yet; where ``data`` begins."""
        while self._chunks and not self._aligned:
            chunk = self._chunks[0]
            head = self._cut.align(chunk, self._head)
            self._aligned = head < len(chunk)
            self._kept -= head - self._head
            self._begin(chunk, head)
        if not self._aligned:
            start = self._cut.align(data, start)
            self._aligned = start < len(data)
        return start

    def _store(self, data: bytes, start: int) -> None:
        size = len(data) - start
        self._kept += size
        if size >= min(SMALL, self._block):
            self._spread(data, start)
        elif size:
            self._gather(data[start:])

    def _spread(self, data: bytes, start: int) -> None:
        """Blocks of their own; one that is ``data`` itself is not copied."""
        if start < len(data):
            self._seal()
            self._chunks.extend(data[at : at + self._block] for at in range(start, len(data), self._block))

    def _gather(self, piece: bytes) -> None:
        """Small pieces share a block."""
        last = self._chunks[-1] if self._chunks else None
        if isinstance(last, bytearray) and len(last) + len(piece) <= self._block:
            last += piece
        else:
            self._seal()
            self._chunks.append(bytearray(piece))

    def _seal(self) -> None:
        """The last block grows no more: give back the room it had for that."""
        if self._chunks and isinstance(self._chunks[-1], bytearray):
            self._chunks[-1] = bytes(self._chunks[-1])
