"""What the transport sees of a connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .connection import Connection


class Link:
    """Hands on what the transport tells."""

    __slots__ = ("_conn", "get_buffer")

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self.get_buffer = conn.engine.get_buffer

    def buffer_updated(self, size: int) -> None:
        """Bytes came."""
        self._conn.received(size)

    def eof_received(self) -> None:
        """No more will."""
        self._conn.ended()

    def data_to_send(self) -> Sequence[bytes | memoryview]:
        """What is to be written now."""
        return self._conn.engine.data_to_send()

    def data_sent(self, size: int) -> None:
        """So much of it was."""
        self._conn.sent(size)

    def connection_lost(self, error: BaseException | None) -> None:
        """Nothing can be written any more."""
        self._conn.lost(error)
