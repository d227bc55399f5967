"""The answers of one received batch: gathered, and sent as one array when the last is there.

https://agentclientprotocol.com/protocol/v2/draft/transports
"""

from __future__ import annotations

from .outward import Outward


class AnswerBatch:
    """Answers wait here as bytes and stand in the outbox gate from the moment they are given."""

    __slots__ = ("_complete", "_outward", "_parts", "_reserved", "_waiting")

    def __init__(self, outward: Outward) -> None:
        self._outward = outward
        self._parts: list[bytes] = []
        self._reserved = 0
        self._waiting = 0
        self._complete = False

    def expect(self) -> None:
        """One more entry is a request."""
        self._waiting += 1

    def add(self, line: bytes) -> None:
        """The answer to an entry that is not a message."""
        self._parts.append(line[:-1])
        self._reserved += len(line)
        self._outward.outbox.gate.add(len(line))

    def answer(self, line: bytes) -> None:
        """The answer to a request of this batch."""
        self.add(line)
        self._waiting -= 1
        self._send_when_whole()

    def complete(self) -> None:
        """Every entry was seen. A batch of notifications has nothing to answer and sends nothing."""
        self._complete = True
        self._send_when_whole()

    def _send_when_whole(self) -> None:
        if self._complete and not self._waiting and self._parts:
            line = b"[" + b",".join(self._parts) + b"]\n"
            self._parts.clear()
            self._outward.push_reserved(line, self._reserved)
