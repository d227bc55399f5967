"""ACP v2 types: ids.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TypeAlias

#: ACP ``SessionId``.
SessionId: TypeAlias = str

#: ACP ``PermissionOptionId``.
PermissionOptionId: TypeAlias = str

#: ACP ``ToolCallId``.
ToolCallId: TypeAlias = str

#: ACP ``MediaType``.
MediaType: TypeAlias = str

#: ACP ``AbsolutePath``.
AbsolutePath: TypeAlias = str

#: ACP ``TerminalId``.
TerminalId: TypeAlias = str

#: ACP ``ElicitationId``.
ElicitationId: TypeAlias = str

#: ACP ``McpServerAcpId``.
McpServerAcpId: TypeAlias = str

#: ACP ``McpConnectionId``.
McpConnectionId: TypeAlias = str

#: ACP ``AuthMethodId``.
AuthMethodId: TypeAlias = str

#: ACP ``ProviderId``.
ProviderId: TypeAlias = str

#: ACP ``SessionConfigValueId``.
SessionConfigValueId: TypeAlias = str

#: ACP ``SessionConfigGroupId``.
SessionConfigGroupId: TypeAlias = str

#: ACP ``SessionConfigId``.
SessionConfigId: TypeAlias = str

#: ACP ``SessionListCursor``.
SessionListCursor: TypeAlias = str

#: ACP ``NesSuggestionId``.
NesSuggestionId: TypeAlias = str

#: ACP ``MessageId``.
MessageId: TypeAlias = str

#: ACP ``PlanId``.
PlanId: TypeAlias = str
