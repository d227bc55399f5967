"""JSON-RPC as ACP uses it: ids, errors, and the outer objects of messages.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from ..model import Int32, Int64, JsonObject, Model, Notification, check_either

__all__ = [
    "ERROR_CODE_VALUES",
    "AgentNotification",
    "AgentRequest",
    "AgentResponse",
    "CancelRequestNotification",
    "ClientNotification",
    "ClientRequest",
    "ClientResponse",
    "Error",
    "ErrorCode",
    "ExtNotification",
    "ExtRequest",
    "ExtResponse",
    "ProtocolLevelNotification",
    "RequestId",
]

#: The id of a request: a 64-bit integer, a string, or (seldom wise) null. ``1`` and ``"1"`` differ.
RequestId: TypeAlias = Int64 | str | None

#: Params of a request whose method begins with ``_``: any JSON.
ExtRequest: TypeAlias = Any

#: Result of a request whose method begins with ``_``: any JSON.
ExtResponse: TypeAlias = Any

#: Params of a notification whose method begins with ``_``: any JSON.
ExtNotification: TypeAlias = Any

#: A JSON-RPC or ACP error code, 32 bits wide; codes outside the known ones are allowed.
if TYPE_CHECKING:
    ErrorCode: TypeAlias = Literal[-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002] | int
else:
    ErrorCode = Int32
ERROR_CODE_VALUES: Final = (-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002)


class AgentRequest(Model, kw_only=True):
    """A request as an agent sends it; ``params`` depend on ``method``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#agentrequest
    """

    id: RequestId
    method: str
    params: Any = None


class Error(Model, kw_only=True):
    """Why a request failed: ``code``, one sentence, and data of any shape.

    https://agentclientprotocol.com/protocol/v2/draft/schema#error
    """

    code: ErrorCode
    message: str
    data: Any = None

    __acp_lenient__ = ("data",)


class AgentResponse(Model, kw_only=True):
    """An agent's answer: ``result`` or ``error``, under the id of the request.

    https://agentclientprotocol.com/protocol/v2/draft/schema#agentresponse
    """

    id: RequestId
    result: Any | UnsetType = UNSET
    error: Error | UnsetType = UNSET

    __acp_either__ = ("result", "error")

    def __post_init__(self) -> None:
        check_either(self)


class AgentNotification(Model, kw_only=True):
    """A notification as an agent sends it; it has no id and gets no answer.

    https://agentclientprotocol.com/protocol/v2/draft/schema#agentnotification
    """

    method: str
    params: Any = None


class ClientRequest(Model, kw_only=True):
    """A request as a client sends it; ``params`` depend on ``method``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#clientrequest
    """

    id: RequestId
    method: str
    params: Any = None


class ClientResponse(Model, kw_only=True):
    """A client's answer: ``result`` or ``error``, under the id of the request.

    https://agentclientprotocol.com/protocol/v2/draft/schema#clientresponse
    """

    id: RequestId
    result: Any | UnsetType = UNSET
    error: Error | UnsetType = UNSET

    __acp_either__ = ("result", "error")

    def __post_init__(self) -> None:
        check_either(self)


class ClientNotification(Model, kw_only=True):
    """A notification as a client sends it; it has no id and gets no answer.

    https://agentclientprotocol.com/protocol/v2/draft/schema#clientnotification
    """

    method: str
    params: Any = None


class ProtocolLevelNotification(Model, kw_only=True):
    """A notification about the connection itself, from either side; its method begins with ``$/``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#protocollevelnotification
    """

    method: str
    params: Any = None


class CancelRequestNotification(Model, Notification, kw_only=True):
    """``$/cancel_request``: the sender of request ``request_id`` gives up on it. It is still answered once.

    https://agentclientprotocol.com/protocol/v2/draft/schema#cancelrequestnotification
    """

    request_id: RequestId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
