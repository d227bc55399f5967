"""ACP v2 types: terminal.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from ..custom import Base64
from ..model import JsonObject, Model, UInt32


class TerminalOutput(Model, kw_only=True):
    """ACP ``TerminalOutput``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#terminaloutput
    """

    data: Base64
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class TerminalExitStatus(Model, kw_only=True):
    """ACP ``TerminalExitStatus``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#terminalexitstatus
    """

    exit_code: UInt32 | None = None
    signal: str | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("exit_code", "signal", "meta")
