"""MCP servers, and MCP carried over the ACP connection.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import field

from ..model import JsonObject, Model, Notification, Request
from ..other import Other
from .ids import AbsolutePath, McpConnectionId, McpServerAcpId

__all__ = [
    "ConnectMcpRequest",
    "ConnectMcpResponse",
    "DisconnectMcpRequest",
    "DisconnectMcpResponse",
    "EnvVariable",
    "HttpHeader",
    "McpServer",
    "McpServerAcp",
    "McpServerHttp",
    "McpServerStdio",
    "MessageMcpNotification",
    "MessageMcpRequest",
    "MessageMcpResponse",
    "OtherMcpServer",
]

#: The result of an MCP request: any JSON.
MessageMcpResponse: TypeAlias = Any


class ConnectMcpRequest(Model, Request["ConnectMcpResponse"], kw_only=True):
    """Opens a connection to an MCP server of the client.

    https://agentclientprotocol.com/protocol/v2/draft/schema#connectmcprequest
    """

    server_id: McpServerAcpId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class MessageMcpRequest(Model, Request["MessageMcpResponse"], kw_only=True):
    """An MCP request inside ACP, in either direction; the answer is the MCP result.

    https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcprequest
    """

    connection_id: McpConnectionId
    method: str
    params: JsonObject | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DisconnectMcpRequest(Model, Request["DisconnectMcpResponse"], kw_only=True):
    """Closes such a connection.

    https://agentclientprotocol.com/protocol/v2/draft/schema#disconnectmcprequest
    """

    connection_id: McpConnectionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class EnvVariable(Model, kw_only=True):
    """A variable of a process's environment.

    https://agentclientprotocol.com/protocol/v2/draft/schema#envvariable
    """

    name: str
    value: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class MessageMcpNotification(Model, Notification, kw_only=True):
    """An MCP notification inside ACP, in either direction.

    https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcpnotification
    """

    connection_id: McpConnectionId
    method: str
    params: JsonObject | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("params", "meta")


class OtherMcpServer(Other):
    """A ``McpServer`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"acp", "http", "stdio"})


class HttpHeader(Model, kw_only=True):
    """A header of an HTTP request.

    https://agentclientprotocol.com/protocol/v2/draft/schema#httpheader
    """

    name: str
    value: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class McpServerHttp(Model, tag_field="type", tag="http", kw_only=True):
    """An MCP server behind a URL, with headers to send along (they may hold secrets).

    https://agentclientprotocol.com/protocol/v2/draft/schema#mcpserverhttp
    """

    name: str
    url: str
    headers: list[HttpHeader] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherMcpServer


class McpServerAcp(Model, tag_field="type", tag="acp", kw_only=True):
    """An MCP server of the client, reached through the ACP connection.

    https://agentclientprotocol.com/protocol/v2/draft/schema#mcpserveracp
    """

    name: str
    server_id: McpServerAcpId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherMcpServer


class McpServerStdio(Model, tag_field="type", tag="stdio", kw_only=True):
    """An MCP server to start as a child process; ``env`` may hold secrets.

    https://agentclientprotocol.com/protocol/v2/draft/schema#mcpserverstdio
    """

    name: str
    command: AbsolutePath
    args: list[str] = field(default_factory=list)
    env: list[EnvVariable] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherMcpServer


#: An MCP server the agent should connect to.
if TYPE_CHECKING:
    McpServer: TypeAlias = McpServerHttp | McpServerAcp | McpServerStdio | OtherMcpServer
else:
    McpServer = McpServerHttp | McpServerAcp | McpServerStdio


class ConnectMcpResponse(Model, kw_only=True):
    """The connection that was opened.

    https://agentclientprotocol.com/protocol/v2/draft/schema#connectmcpresponse
    """

    connection_id: McpConnectionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DisconnectMcpResponse(Model, kw_only=True):
    """The connection is closed.

    https://agentclientprotocol.com/protocol/v2/draft/schema#disconnectmcpresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
