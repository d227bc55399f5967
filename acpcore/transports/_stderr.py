"""What becomes of a child's stderr: the last part is kept, all of it is shown to the host."""

from __future__ import annotations

import logging
from collections.abc import Callable

_log = logging.getLogger("acpcore")


class StderrTail:
    """A sink that keeps the last ``limit`` bytes and hands every piece to ``show`` (bytes as they come, not lines)."""

    def __init__(self, limit: int, show: Callable[[bytes], object] | None) -> None:
        self._limit = limit
        self._show = show
        self._failed = False
        self._kept = bytearray()
        self._buffer = memoryview(bytearray(65536))

    @property
    def tail(self) -> bytes:
        """The last bytes, at most ``limit``."""
        return bytes(self._kept[max(0, len(self._kept) - self._limit) :])

    def get_buffer(self) -> memoryview:
        """Room for the next read."""
        return self._buffer

    def buffer_updated(self, size: int) -> None:
        """Keep and show what was read."""
        data = bytes(self._buffer[:size])
        self._kept += data
        if len(self._kept) > 2 * self._limit:  # not each time: moving the rest costs
            del self._kept[: len(self._kept) - self._limit]
        if self._show is not None:
            self._hand_over(self._show, data)

    def _hand_over(self, show: Callable[[bytes], object], data: bytes) -> None:
        try:
            show(data)
        except Exception:
            if not self._failed:
                self._failed = True
                _log.exception("the stderr callback failed; further failures are not reported")
