"""How a stream went: numbers for people and for programs."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from acpcore import Stats


class Summary(msgspec.Struct, kw_only=True):
    """``bytes`` of the terminal that were written, ``seconds`` of the turn, ``mb_per_s`` (millions of bytes a second).

    Of the connection: ``frames``, ``bad_frames``, ``bytes_in``, and both gates (``used`` and ``peak`` in bytes,
    ``times`` and ``seconds`` shut). ``error`` says why it broke off, if the command was not the reason.
    """

    bytes: int = 0
    seconds: float = 0.0
    mb_per_s: float = 0.0
    frames: int = 0
    bad_frames: int = 0
    bytes_in: int = 0
    inbox: Any = None
    outbox: Any = None
    stop_reason: str | None = None
    exit_status: int = 0
    error: str | None = None

    def line(self) -> str:
        """One line for people."""
        inbox, outbox = (
            f"{name} {_size(gate.used)} (peak {_size(gate.peak)})" if gate is not None else ""
            for name, gate in (("inbox", self.inbox), ("outbox", self.outbox))
        )
        rate = f"{self.mb_per_s:,.1f} MB/s"
        return f"{_size(self.bytes)}  {self.seconds:.1f} s  {rate}  {self.frames:,} frames  {inbox}  {outbox}"

    def json(self) -> str:
        """One line for programs."""
        return msgspec.json.encode(self).decode()


class Meter:
    """Counts time and bytes of one stream."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._end: float | None = None

    def start(self) -> None:
        """The prompt goes out now."""
        self._begin = time.monotonic()

    def stop(self) -> None:
        """The turn is over: time stands still."""
        self._end = time.monotonic()

    def read(self, count: int, stats: Stats | None) -> Summary:
        """The numbers now, for ``count`` bytes."""
        seconds = (self._end or time.monotonic()) - self._begin
        summary = Summary(bytes=count, seconds=round(seconds, 3), mb_per_s=round(count / 1e6 / max(seconds, 1e-6), 1))
        if stats is not None:
            summary.frames, summary.bad_frames, summary.bytes_in = stats.frames, stats.bad_frames, stats.bytes_in
            summary.inbox, summary.outbox = stats.inbox, stats.outbox
        return summary


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    for unit in ("kB", "MB", "GB"):
        count_in_unit = count / {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
        if count_in_unit < 1000:
            break
    return f"{count_in_unit:,.1f} {unit}"
