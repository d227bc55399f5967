"""Two transports that are each other's peer, on one loop: for tests, and for hosts that run both ends.

Every step is a ``call_soon``, so a run is the same each time.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Sequence

from ..errors import UsageError
from .base import Link, Outcome


def memory_pair(*, capacity: int = 65536) -> tuple[MemoryTransport, MemoryTransport]:
    """Two connected ends; each direction holds at most ``capacity`` bytes, more wait at the sender's link."""
    if capacity < 1:
        raise UsageError("the capacity must be at least one byte")
    there, back = _Pipe(capacity), _Pipe(capacity)
    return MemoryTransport(back, there), MemoryTransport(there, back)


class _Pipe:
    """One direction: what was written and not yet read, and what each side knows of the other."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.data = bytearray()
        self.ended = False
        """The writer closed: after ``data`` comes end of input."""
        self.broken = False
        """The reader closed: nothing can be written."""
        self.reset = False
        """The writer went and left input of its own unread: after ``data`` comes an error."""
        self.changed_for_reader: Callable[[], None] = _nothing
        self.changed_for_writer: Callable[[], None] = _nothing


class MemoryTransport:
    """One end of :func:`memory_pair`. It behaves as a socket does."""

    def __init__(self, incoming: _Pipe, outgoing: _Pipe) -> None:
        self._in = incoming
        self._out = outgoing
        self._link: Link | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reading = True
        self._read_turn: asyncio.Handle | None = None
        self._write_turn: asyncio.Handle | None = None
        self._writing = False
        self._eof = False
        self._error: OSError | None = None
        self._finished = False
        self._closed = asyncio.Event()

    @property
    def outcome(self) -> Outcome:
        """What is known so far of how the transport ended."""
        return Outcome(error=self._error)

    def start(self, link: Link, loop: asyncio.AbstractEventLoop) -> None:
        """Begin reading. ``UsageError`` at a second call."""
        if self._link is not None or self._finished:
            raise UsageError("a transport can be started once")
        self._link = link
        self._loop = loop
        self._in.changed_for_reader = self._look
        self._out.changed_for_writer = self._write_later
        self._look()

    def pause_reading(self) -> None:
        """Stop reading; idempotent."""
        self._reading = False
        if self._read_turn is not None:
            self._read_turn.cancel()
            self._read_turn = None

    def resume_reading(self) -> None:
        """Read again; idempotent."""
        self._reading = True
        self._look()

    def wake(self) -> None:
        """Write what the link has to send, as far as there is room."""
        if self._link is not None and not self._writing and not self._finished:
            self._writing = True
            self._write(self._link)
            self._writing = False

    def write_eof(self) -> None:
        """End the write side only; idempotent."""
        self._out.ended = True
        self._out.changed_for_reader()
        self._finish_if_both_ended()

    def close(self) -> None:
        """End both sides: the peer reads what is there, then end of input; what it writes fails. Idempotent."""
        self._finish(None)

    def abort(self) -> None:
        """The same, but unread input makes it a connection reset for the peer."""
        self._out.reset = self._out.reset or bool(self._in.data and not self._finished)
        self._finish(None)

    async def wait_closed(self) -> Outcome:
        """Until it is over. ``UsageError`` if the transport was neither started nor closed."""
        if self._link is None and not self._finished:
            raise UsageError("the transport was not started")
        await self._closed.wait()
        return self.outcome

    # -- reading ----------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Something may be there to read: do it on the next turn."""
        wanted = self._reading and not self._eof and not self._finished
        if wanted and (self._in.data or self._in.ended) and self._read_turn is None and self._loop is not None:
            self._read_turn = self._loop.call_soon(self._read)

    def _read(self) -> None:
        self._read_turn = None
        if self._link is None:
            return
        if self._in.data:
            self._take(self._link)
            self._look()
        else:
            self._end_of_input(self._link)

    def _take(self, link: Link) -> None:
        buffer = link.get_buffer()
        size = min(len(buffer), len(self._in.data))
        buffer[:size] = self._in.data[:size]
        del self._in.data[:size]
        self._in.changed_for_writer()
        link.buffer_updated(size)

    def _end_of_input(self, link: Link) -> None:
        self._eof = True
        link.eof_received()
        if self._in.reset:
            self._finish(_error(errno.ECONNRESET))
        elif self._error is not None:
            self._finish(self._error)
        else:
            self._finish_if_both_ended()

    # -- writing ----------------------------------------------------------------------------------------------------

    def _write_later(self) -> None:
        if self._write_turn is None and self._loop is not None and not self._finished:
            self._write_turn = self._loop.call_soon(self._write_again)

    def _write_again(self) -> None:
        self._write_turn = None
        self.wake()

    def _write(self, link: Link) -> None:
        out = self._out
        while not out.ended and self._error is None:
            buffers = link.data_to_send()
            if not any(buffers):
                return
            if out.broken:
                self._write_failed()
                return
            taken = _fill(out.data, buffers, out.capacity - len(out.data))
            if taken == 0:
                return
            out.changed_for_reader()
            link.data_sent(taken)

    def _write_failed(self) -> None:
        """The peer does not read any more; what it wrote before is still delivered."""
        self._error = _error(errno.EPIPE)
        if self._eof:
            self._finish(self._error)
        else:
            self._look()

    # -- the end ----------------------------------------------------------------------------------------------------

    def _finish_if_both_ended(self) -> None:
        if self._eof and self._out.ended:
            self._finish(None)

    def _finish(self, error: OSError | None) -> None:
        if self._finished:
            return
        self._finished = True
        self._error = self._error or error
        self._out.ended = True
        self._in.broken = True
        self._in.data.clear()
        self.pause_reading()
        if self._write_turn is not None:
            self._write_turn.cancel()
        self._in.changed_for_writer()
        self._out.changed_for_reader()
        if self._loop is None:
            self._closed.set()
        else:
            self._loop.call_soon(self._report)

    def _report(self) -> None:
        self._in.changed_for_reader = self._out.changed_for_writer = _nothing
        if self._link is not None:
            self._link.connection_lost(self._error)
        self._closed.set()


def _nothing() -> None:
    pass


def _error(code: int) -> OSError:
    return OSError(code, os.strerror(code))


def _fill(data: bytearray, buffers: Sequence[bytes | memoryview], room: int) -> int:
    """Append at most ``room`` bytes of ``buffers`` to ``data``; how many it were."""
    before = len(data)
    for buffer in buffers:
        part = memoryview(buffer)[:room]
        data += part
        room -= len(part)
        if room == 0:
            break
    return len(data) - before
