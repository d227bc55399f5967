"""What a transport owes a connection, and the other way round.

A transport moves bytes and knows nothing of messages. It reads straight into a buffer that its link offers and writes
what the link has to send, so that no byte is copied on the way. The link (a ``Connection``) decides when to read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

import msgspec


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a transport ended.

    ``exit_code`` and ``signal`` (its name, as ``"SIGTERM"``) belong to a child process, ``stderr_tail`` is the last
    part of what it wrote to stderr (bytes), ``error`` the exception that broke the link, if one did.
    """

    exit_code: int | None = None
    signal: str | None = None
    stderr_tail: bytes = b""
    error: BaseException | None = None


class Link(Protocol):
    """The connection's side, as a transport sees it. All calls come on the loop's thread; none of them raises."""

    def get_buffer(self) -> memoryview:
        """Room for the next read, never empty. Asked for again before each read, filled at once."""
        ...

    def buffer_updated(self, size: int) -> None:
        """``size`` bytes (more than 0) were read into the last buffer."""
        ...

    def eof_received(self) -> None:
        """No byte will follow. Called once at most, before :meth:`connection_lost`."""
        ...

    def data_to_send(self) -> Sequence[bytes | memoryview]:
        """The next buffers to write, in order; empty when there is nothing."""
        ...

    def data_sent(self, size: int) -> None:
        """``size`` bytes of them were taken by the operating system. May make :meth:`data_to_send` return more."""
        ...

    def connection_lost(self, error: BaseException | None) -> None:
        """The write side is broken or the transport is wholly closed. Called exactly once."""
        ...


class Transport(Protocol):
    """One end of a byte stream. ``start`` binds it to a loop; from then on every call is made on that loop's thread."""

    def start(self, link: Link, loop: asyncio.AbstractEventLoop) -> None:
        """Begin reading. May raise ``UsageError`` or ``OSError`` when the descriptors cannot be used."""
        ...

    def pause_reading(self) -> None:
        """Stop reading; idempotent. After it returns ``buffer_updated`` is not called until :meth:`resume_reading`."""
        ...

    def resume_reading(self) -> None:
        """Read again; idempotent, and harmless once the stream ended."""
        ...

    def wake(self) -> None:
        """The link has something to send: write now what the operating system takes, the rest when it can."""
        ...

    def close(self) -> None:
        """End the write side (the peer sees end of input) and stop reading; then :meth:`wait_closed` does the rest.

        Bytes that :meth:`wake` could not write yet are dropped: the link flushes first. Idempotent.
        """
        ...

    def abort(self) -> None:
        """Give up at once: close descriptors, kill a child. Idempotent; ``connection_lost`` follows on a later turn."""
        ...

    async def wait_closed(self) -> Outcome:
        """Until everything is released (for a process: the ladder of its options), safe to call twice and to cancel."""
        ...
