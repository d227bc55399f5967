"""What a terminal of the agent shows.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from ..custom import Base64
from ..model import JsonObject, Model, UInt32

__all__ = [
    "TerminalExitStatus",
    "TerminalOutput",
]


class TerminalOutput(Model, kw_only=True):
    """All that a terminal is to show from now on: raw bytes, which replace earlier ones.

    https://agentclientprotocol.com/protocol/v2/draft/schema#terminaloutput
    """

    data: Base64
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class TerminalExitStatus(Model, kw_only=True):
    """How a command ended: an exit code (32 bits) or the name of a signal, if known.

    https://agentclientprotocol.com/protocol/v2/draft/schema#terminalexitstatus
    """

    exit_code: UInt32 | None = None
    signal: str | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("exit_code", "signal", "meta")
