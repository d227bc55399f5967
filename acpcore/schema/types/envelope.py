"""ACP v2 types: envelope.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from ..model import Int32, Int64, JsonObject, Model, Notification, check_either

#: ACP ``RequestId``.
RequestId: TypeAlias = Int64 | str | None

#: ACP ``ExtRequest``.
ExtRequest: TypeAlias = Any

#: ACP ``ExtResponse``.
ExtResponse: TypeAlias = Any

#: ACP ``ExtNotification``.
ExtNotification: TypeAlias = Any

#: ACP ``ErrorCode``.
if TYPE_CHECKING:
    ErrorCode: TypeAlias = Literal[-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002] | int
else:
    ErrorCode = Int32
ERROR_CODE_VALUES: Final = (-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002)


class AgentRequest(Model, kw_only=True):
    """ACP ``AgentRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#agentrequest
    """

    id: RequestId
    method: str
    params: Any = None


class Error(Model, kw_only=True):
    """ACP ``Error``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#error
    """

    code: ErrorCode
    message: str
    data: Any = None

    __acp_lenient__ = ("data",)


class AgentResponse(Model, kw_only=True):
    """ACP ``AgentResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#agentresponse
    """

    id: RequestId
    result: Any | UnsetType = UNSET
    error: Error | UnsetType = UNSET

    __acp_either__ = ("result", "error")

    def __post_init__(self) -> None:
        check_either(self)


class AgentNotification(Model, kw_only=True):
    """ACP ``AgentNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#agentnotification
    """

    method: str
    params: Any = None


class ClientRequest(Model, kw_only=True):
    """ACP ``ClientRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#clientrequest
    """

    id: RequestId
    method: str
    params: Any = None


class ClientResponse(Model, kw_only=True):
    """ACP ``ClientResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#clientresponse
    """

    id: RequestId
    result: Any | UnsetType = UNSET
    error: Error | UnsetType = UNSET

    __acp_either__ = ("result", "error")

    def __post_init__(self) -> None:
        check_either(self)


class ClientNotification(Model, kw_only=True):
    """ACP ``ClientNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#clientnotification
    """

    method: str
    params: Any = None


class ProtocolLevelNotification(Model, kw_only=True):
    """ACP ``ProtocolLevelNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#protocollevelnotification
    """

    method: str
    params: Any = None


class CancelRequestNotification(Model, Notification, kw_only=True):
    """ACP ``CancelRequestNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#cancelrequestnotification
    """

    request_id: RequestId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
