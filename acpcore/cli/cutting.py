"""Cuts recorded bytes: as the user wishes, and further where the order of answers would depend on the user's cut."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

_READ_SIZE: Final = 256 * 1024
_RANDOM_SIZES: Final = (2, 16, 256, 4096, 65536)


def read_chunks(file: BinaryIO, spec: str) -> Iterator[bytes]:
    """The bytes of ``file``: ``""`` as they come, ``"N"`` in pieces of N, ``"random:SEED"`` of random sizes.

    ``ValueError`` for another ``spec``.
    """
    size = _sizes(spec)
    read = file.read1 if not spec and hasattr(file, "read1") else file.read
    while chunk := read(size()):
        yield chunk


def _sizes(spec: str) -> Callable[[], int]:
    if not spec:
        return lambda: _READ_SIZE
    if spec.startswith("random:"):
        rng = random.Random(spec.removeprefix("random:"))
        return lambda: rng.randrange(1, rng.choice(_RANDOM_SIZES))
    size = int(spec) if spec.isdecimal() else 0
    if size < 1:
        raise ValueError("--chunk is a number from 1 on or random:SEED")
    return lambda: size


class LineCutter:
    """Cuts chunks at line ends, so that a host which answers at once has answered before the next line is looked at.

    Otherwise it would depend on the chunks whether an id is free again when it comes a second time, and where answers
    stand. Lines nobody can answer stay together, for the engine to group: with ``updates_together`` that is what cannot
    be anything but ``session/update`` notifications.
    """

    def __init__(self, updates_together: bool) -> None:
        self._updates_together = updates_together
        self._inside = False  # a line has begun in an earlier chunk

    def cut(self, chunk: bytes) -> Iterator[bytes]:
        """The pieces of a chunk."""
        begin = at = 0
        while end := chunk.find(b"\n", at) + 1:
            if self._inside or not self._is_quiet(chunk[at:end]):
                if begin < at:
                    yield chunk[begin:at]
                yield chunk[at:end]
                begin = end
            self._inside = False
            at = end
        if begin < at:
            yield chunk[begin:at]
        if at < len(chunk):
            self._inside = True
            yield chunk[at:]

    def _is_quiet(self, line: bytes) -> bool:
        """Whether it cannot have an id: as a name "id" is spelled so, or with \\u escapes."""
        return self._updates_together and b'"session/update"' in line and b'"id"' not in line and b"\\u" not in line
