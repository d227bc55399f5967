"""Identifiers and other names that travel as plain strings.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TypeAlias

__all__ = [
    "AbsolutePath",
    "AuthMethodId",
    "ElicitationId",
    "McpConnectionId",
    "McpServerAcpId",
    "MediaType",
    "MessageId",
    "NesSuggestionId",
    "PermissionOptionId",
    "PlanId",
    "ProviderId",
    "SessionConfigGroupId",
    "SessionConfigId",
    "SessionConfigValueId",
    "SessionId",
    "SessionListCursor",
    "TerminalId",
    "ToolCallId",
]

#: Names a session.
SessionId: TypeAlias = str

#: Names one of the choices of a permission request.
PermissionOptionId: TypeAlias = str

#: Names a tool call of a session.
ToolCallId: TypeAlias = str

#: A media type such as ``text/plain``.
MediaType: TypeAlias = str

#: A file path that must be absolute. Receivers take any string; check before use.
AbsolutePath: TypeAlias = str

#: Names a terminal of a session; it has nothing to do with a tool call's id.
TerminalId: TypeAlias = str

#: Names an elicitation by link, so that its end can be told.
ElicitationId: TypeAlias = str

#: Names an MCP server that the client offers through the ACP connection.
McpServerAcpId: TypeAlias = str

#: Names one connection to such an MCP server.
McpConnectionId: TypeAlias = str

#: Names a way to log in.
AuthMethodId: TypeAlias = str

#: Names a language model provider.
ProviderId: TypeAlias = str

#: Names one value of a configuration option.
SessionConfigValueId: TypeAlias = str

#: Names a group of values of a configuration option.
SessionConfigGroupId: TypeAlias = str

#: Names a configuration option.
SessionConfigId: TypeAlias = str

#: Where a page of sessions begins. Opaque: pass it back as it came, never store it.
SessionListCursor: TypeAlias = str

#: Names a next edit suggestion.
NesSuggestionId: TypeAlias = str

#: Names a message of a session; the agent picks it, nobody looks inside.
MessageId: TypeAlias = str

#: Names a plan of a session.
PlanId: TypeAlias = str
