"""ACP v2 types: mcp.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, Union

from msgspec import field

from ..model import JsonObject, Model, Notification, Request
from ..other import Other
from .ids import AbsolutePath, McpConnectionId, McpServerAcpId

#: ACP ``MessageMcpResponse``.
MessageMcpResponse: TypeAlias = Any


class ConnectMcpRequest(Model, Request["ConnectMcpResponse"], kw_only=True):
    """ACP ``ConnectMcpRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#connectmcprequest
    """

    server_id: McpServerAcpId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class MessageMcpRequest(Model, Request["MessageMcpResponse"], kw_only=True):
    """ACP ``MessageMcpRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcprequest
    """

    connection_id: McpConnectionId
    method: str
    params: JsonObject | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DisconnectMcpRequest(Model, Request["DisconnectMcpResponse"], kw_only=True):
    """ACP ``DisconnectMcpRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#disconnectmcprequest
    """

    connection_id: McpConnectionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class EnvVariable(Model, kw_only=True):
    """ACP ``EnvVariable``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#envvariable
    """

    name: str
    value: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class MessageMcpNotification(Model, Notification, kw_only=True):
    """ACP ``MessageMcpNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#messagemcpnotification
    """

    connection_id: McpConnectionId
    method: str
    params: JsonObject | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("params", "meta")


class OtherMcpServer(Other):
    """A McpServer of a kind this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"acp", "http", "stdio"})


class HttpHeader(Model, kw_only=True):
    """ACP ``HttpHeader``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#httpheader
    """

    name: str
    value: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class McpServerHttp(Model, tag_field="type", tag="http", kw_only=True):
    """ACP ``McpServerHttp``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#mcpserverhttp
    """

    name: str
    url: str
    headers: list[HttpHeader] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherMcpServer


class McpServerAcp(Model, tag_field="type", tag="acp", kw_only=True):
    """ACP ``McpServerAcp``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#mcpserveracp
    """

    name: str
    server_id: McpServerAcpId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherMcpServer


class McpServerStdio(Model, tag_field="type", tag="stdio", kw_only=True):
    """ACP ``McpServerStdio``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#mcpserverstdio
    """

    name: str
    command: AbsolutePath
    args: list[str] = field(default_factory=list)
    env: list[EnvVariable] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherMcpServer


#: ACP ``McpServer``.
if TYPE_CHECKING:
    McpServer: TypeAlias = McpServerHttp | McpServerAcp | McpServerStdio | OtherMcpServer
else:
    McpServer = Union[McpServerHttp, McpServerAcp, McpServerStdio]


class ConnectMcpResponse(Model, kw_only=True):
    """ACP ``ConnectMcpResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#connectmcpresponse
    """

    connection_id: McpConnectionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DisconnectMcpResponse(Model, kw_only=True):
    """ACP ``DisconnectMcpResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#disconnectmcpresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
