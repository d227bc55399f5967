"""The receive buffer and the C scan: bytes in, frames and groups out.

Reads go straight into a buffer that lives on; one call into C per read finds everything. An engine owns a buffer
only while it holds part of a line: otherwise all engines of a thread share one, so that an idle connection costs
nothing.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Iterator
from typing import Final

from ._native import ffi, lib
from .errors import UsageError
from .flow import KIB

_FRAMES: Final = 2048
_GROUPS: Final = 2048
_ARENA: Final = 512 * KIB
_MIN_ROOM: Final = 32 * KIB
_POOLED: Final = 4  # buffers a thread keeps
HANDED_OVER: Final = 512 * KIB  # lines from this size on keep their buffer instead of being copied


class Buffer:
    """Anonymous memory: pages that were never touched cost nothing."""

    __slots__ = ("memory", "pointer", "size", "view")

    def __init__(self, size: int) -> None:
        self.size = size
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        self.memory = mmap.mmap(-1, size, flags=flags)
        self.view = memoryview(self.memory)
        self.pointer = ffi.from_buffer("uint8_t[]", self.memory)


class Scratch(threading.local):
    """What the engines of one thread share: the arrays C writes into, and spare buffers."""

    def __init__(self) -> None:
        self.frames = ffi.new("acp_frame[]", _FRAMES)
        self.groups = ffi.new("acp_group[]", _GROUPS)
        self.arena = Buffer(_ARENA)
        self.taken = ffi.new("acp_taken *")
        self.frame_bytes = memoryview(ffi.buffer(self.frames))
        self.group_words = memoryview(ffi.buffer(self.groups)).cast("B").cast("I")
        self.taken_words = memoryview(ffi.buffer(self.taken)).cast("B").cast("I")
        self.spare: dict[int, list[Buffer]] = {}

    def acquire(self, size: int) -> Buffer:
        """A buffer of ``size`` bytes."""
        spare = self.spare.get(size)
        return spare.pop() if spare else Buffer(size)

    def release(self, buffer: Buffer) -> None:
        """Give a buffer back for the next read of any engine."""
        spare = self.spare.setdefault(buffer.size, [])
        if len(spare) < _POOLED:
            spare.append(buffer)


scratch = Scratch()


class Batch:
    """What one call of the scan found. Valid until the next one: copy what is kept."""

    __slots__ = ("arena", "buffer", "frame_bytes", "groups", "memory", "offset", "start")

    memory: memoryview  # the scanned bytes, from the first of them
    arena: memoryview
    frame_bytes: memoryview
    groups: list[int]  # 12 words a group
    offset: int  # where in the stream ``memory`` begins
    buffer: Buffer
    start: int


class Framer:
    """Finds the lines of one stream. ``flags``: an ``ACP_`` level and options; ``max_frame`` and ``read_size`` in
    bytes.
    """

    __slots__ = (
        "_batch",
        "_buffer",
        "_busy",
        "_end",
        "_flags",
        "_kept",
        "_max_frame",
        "_pool_size",
        "_read_size",
        "_room",
        "_scanner",
        "_start",
        "moved",
    )

    def __init__(self, max_frame: int, flags: int, read_size: int) -> None:
        self._scanner = ffi.new("acp_scanner *")
        if lib.acp_scanner_init(self._scanner, max_frame, flags) != lib.ACP_OK:
            raise UsageError("max_frame or flags are out of range")
        self._max_frame = max_frame
        self._read_size = read_size
        self._pool_size = read_size + _MIN_ROOM
        self._buffer: Buffer | None = None
        self._start = 0
        self._end = 0
        self._room = 0
        self._busy = False
        self._kept = False
        self._batch = Batch()
        self.moved = 0  # bytes copied from one place of the receive buffer to another

    # --- in

    def get_buffer(self) -> memoryview:
        """Room for the next read, to be asked for before each of them."""
        if self._busy:
            raise UsageError("the engine is handing out events: it cannot be fed from inside")
        buffer = self._buffer
        if buffer is None:
            buffer = self._buffer = scratch.acquire(self._pool_size)
        elif buffer.size - self._end < _MIN_ROOM:
            buffer = self._make_room(buffer)
        self._room = min(buffer.size - self._end, self._read_size)
        return buffer.view[self._end : self._end + self._room]

    def _make_room(self, buffer: Buffer) -> Buffer:
        """Move the unfinished line to the front, or, when it fills half of the buffer, to one that holds the longest
        line.

        Either way at least as many bytes have been read since the last move as are moved now: the work stays linear.
        """
        held = self._end - self._start
        target = buffer
        if held > buffer.size // 2:
            target = Buffer(self._max_frame + self._read_size + 2 * _MIN_ROOM)
        target.view[:held] = buffer.view[self._start : self._end]
        self.moved += held
        if target is not buffer:
            self._give_back(buffer)
            self._buffer = target
        self._start, self._end = 0, held
        return target

    def _give_back(self, buffer: Buffer) -> None:
        if buffer.size == self._pool_size:
            scratch.release(buffer)

    def received(self, size: int) -> None:
        """``size`` bytes were read into the last buffer."""
        if not 0 <= size <= self._room:
            raise UsageError("more bytes than the buffer had room for")
        self._room = 0
        self._end += size

    # --- out

    def scan(self, eof: bool = False) -> Iterator[Batch]:
        """The frames of what was received, in batches. Each is valid until the next is asked for."""
        if self._busy:
            raise UsageError("the engine is handing out events: it cannot be fed from inside")
        self._busy = True
        try:
            status = lib.ACP_MORE
            while status == lib.ACP_MORE:
                status, batch = self._scan_once(lib.ACP_EOF if eof else 0)
                if batch is not None:
                    yield batch
        finally:
            self._busy = False
            self._settle()

    def _scan_once(self, flags: int) -> tuple[int, Batch | None]:
        s = scratch
        buffer = self._buffer
        if buffer is None:
            if not flags:
                return lib.ACP_OK, None
            buffer = self._buffer = s.acquire(self._pool_size)
        offset = self._scanner.position
        status = lib.acp_scan(
            self._scanner,
            buffer.pointer + self._start,
            self._end - self._start,
            flags,
            s.frames,
            _FRAMES,
            s.groups,
            _GROUPS,
            s.arena.pointer,
            _ARENA,
            s.taken,
        )
        if status < 0:
            raise UsageError(f"scan refused its arguments ({status})")
        consumed, _, groups = s.taken_words[:3].tolist()
        start = self._start
        self._start += consumed
        if not groups:
            return status, None
        batch = self._batch
        batch.memory = buffer.view[start : self._start]
        batch.buffer = buffer
        batch.start = start
        batch.offset = offset
        batch.arena = s.arena.view
        batch.frame_bytes = s.frame_bytes
        batch.groups = s.group_words[: groups * 12].tolist()
        return status, batch

    def keep(self) -> None:
        """The bytes of the last batch stay with an event: read on into another buffer after this scan."""
        self._kept = True

    def _settle(self) -> None:
        """After a scan: nothing held gives the buffer back, a handed-over buffer stays with its event."""
        buffer = self._buffer
        if buffer is None:
            return
        held = self._end - self._start
        if self._kept:
            self._kept = False
            self._buffer = None
            rest = bytes(buffer.view[self._start : self._end])
            self._start = self._end = 0
            if rest:
                self._hold(rest)
        elif not held:
            self._give_back(buffer)
            self._buffer = None
            self._start = self._end = 0

    def _hold(self, rest: bytes) -> None:
        buffer = self._buffer = scratch.acquire(self._pool_size)
        buffer.view[: len(rest)] = rest
        self.moved += len(rest)
        self._end = len(rest)

    # --- what happened so far

    def tail(self, offset: int, size: int) -> bytes:
        """Bytes of the end of a line that was skipped (a span of an ``ACP_SKIPPED`` frame)."""
        return bytes(ffi.buffer(self._scanner.tail))[offset : offset + size]

    def entries(self, batch: Batch, frame: int, most: int) -> list[list[int]]:
        """The words of the entries of the array ``frame`` of ``batch``, ``most`` + 1 of them at the most."""
        s = scratch
        found = ffi.new("acp_frame[]", most + 1)
        cursor = ffi.new("uint32_t *")
        data = batch.buffer.pointer + batch.start
        count = lib.acp_entries(self._scanner, data, s.frames + frame, cursor, found, most + 1)
        if count < 0:
            raise UsageError("not an array")
        words = memoryview(ffi.buffer(found)).cast("B").cast("I")[: count * 16].tolist()
        return [words[i : i + 16] for i in range(0, len(words), 16)]

    @property
    def looked(self) -> int:
        """Bytes examined in all."""
        return int(self._scanner.looked)

    @property
    def frames(self) -> int:
        """Lines that were events."""
        return int(self._scanner.frames)

    @property
    def bad(self) -> int:
        """Those of them that were no message."""
        return int(self._scanner.bad)

    @property
    def position(self) -> int:
        """Bytes consumed as whole lines in all."""
        return int(self._scanner.position)

    @property
    def held(self) -> int:
        """Bytes of the line that is not finished."""
        return self._end - self._start
