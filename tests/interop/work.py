"""What a "work" turn of every agent here carries: the same updates, and the same bytes cut at the same places."""

from __future__ import annotations

CUTS = [1, 2, 3, 1000, 4096, 65536]
TEXTS = ["Counted", " ", "ünïcödé 🎉\u2028"]
KINDS = [
    "user_message",
    "state_update",
    "tool_call_update",
    "terminal_update",
    "tool_call_update",
    *["terminal_output_chunk"] * len(CUTS),
    "terminal_update",
    "tool_call_update",
    *["agent_message_chunk"] * len(TEXTS),
    "state_update",
]


def pattern(size: int, start: int = 0) -> bytes:
    """Bytes ``start`` to ``start + size`` of a stream that any language computes alike."""
    return bytes(i * (i + 7) % 251 for i in range(start, start + size))


def chunks() -> list[bytes]:
    """The terminal's output."""
    return [pattern(size, sum(CUTS[:i])) for i, size in enumerate(CUTS)]
