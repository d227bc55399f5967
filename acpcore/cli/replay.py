"""``acpcore replay``: feed recorded bytes to an engine and print what it makes of them."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import Any, BinaryIO, Final, Literal

import msgspec

from acpcore import Engine, Event, Limits, UsageError, expand

from .cutting import LineCutter, read_chunks
from .exits import READER_GONE
from .host import Host
from .records import record
from .report import say

_SLOW: Final = 0.05  # seconds that ``_t/slow`` takes


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """As on the command line: ``pending`` ids as JSON values, ``chunk`` a number or ``random:SEED``."""

    file: str
    role: Literal["client", "agent"] = "client"
    pending: str = ""
    max_frame: int = 64 * 1024 * 1024
    chunk: str = ""
    salvage: bool = False


class Replay:
    """An engine, the host behind it, and where lines are printed.

    Time is virtual: a recording takes none, it passes when the input has ended. ``ValueError`` for bad options.
    """

    def __init__(self, options: Options, out: BinaryIO) -> None:
        self._out = out
        self._now = 0.0
        limits = Limits(max_frame=options.max_frame)
        self._engine = Engine(options.role, limits=limits, clock=lambda: self._now, salvage=options.salvage)
        self._host = Host(options.role, self._engine)
        # An agent answers noise too, a client only what has an id.
        self._cutter = LineCutter(updates_together=options.role == "client")
        for ident in read_pending(options.pending):
            self._engine.expect(ident)

    def feed(self, chunk: bytes) -> None:
        """Some bytes came."""
        for piece in self._cutter.cut(chunk):
            self._take(self._engine.receive_data(piece))

    def end(self) -> None:
        """The input ended: its last line counts if it is whole, what is slow is answered, then the engine closes."""
        *events, closed = self._engine.receive_eof()
        self._take(events)
        self._now += _SLOW
        self._host.answer_slow()
        self._print_sent()
        self._take([closed])

    def _take(self, events: list[Event]) -> None:
        for group in events:
            for event in expand([group]):
                fault = self._host.judge(event)
                self._print(record(event, fault))
                self._host.answer(event, fault)
            self._engine.done(group)
        self._print_sent()

    def _print_sent(self) -> None:
        while buffers := self._engine.data_to_send():
            data = b"".join(buffers)
            self._engine.data_sent(len(data))
            for line in data.split(b"\n")[:-1]:
                self._print({"send": msgspec.Raw(line)})

    def _print(self, value: object) -> None:
        self._out.write(msgspec.json.encode(value) + b"\n")


def read_pending(text: str) -> list[Any]:
    """``1,"1",2`` as ids. ``ValueError`` for anything else."""
    try:
        return msgspec.json.decode(f"[{text}]", type=list[int | str])
    except msgspec.DecodeError:
        raise ValueError('--pending takes ids as JSON values: 1,"1",2') from None


def main(options: Options) -> int:
    """Replay a file; returns the exit status. ``ValueError`` for bad options."""
    try:
        return _replay(options)
    except BrokenPipeError:
        with contextlib.suppress(OSError):  # else the interpreter would complain when it flushes
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except OSError as error:
        say(f"acpcore: {options.file}: {error.strerror}")
        return 1


def _replay(options: Options) -> int:
    if sys.stdout is None or (options.file == "-" and sys.stdin is None):
        raise OSError(errno.EBADF, "stdin or stdout is not open")
    out = sys.stdout.buffer
    replay = _make(options, out)
    with sys.stdin.buffer if options.file == "-" else open(options.file, "rb") as file:
        for chunk in read_chunks(file, options.chunk):
            replay.feed(chunk)
            if options.file == "-":
                out.flush()
    replay.end()
    out.flush()
    return 0


def _make(options: Options, out: BinaryIO) -> Replay:
    try:
        return Replay(options, out)
    except UsageError as error:
        raise ValueError(str(error)) from None
