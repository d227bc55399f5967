"""The first exchange of a connection.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from ..model import JsonObject, Model, Request, UInt16
from .auth import AuthMethod
from .capabilities import AgentCapabilities, ClientCapabilities

__all__ = [
    "Implementation",
    "InitializeRequest",
    "InitializeResponse",
    "ProtocolVersion",
]

#: A major version of ACP, 16 bits.
ProtocolVersion: TypeAlias = UInt16


class Implementation(Model, kw_only=True):
    """Name and version of a program; ``title`` is for people.

    https://agentclientprotocol.com/protocol/v2/draft/schema#implementation
    """

    name: str
    version: str
    title: str | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("title", "meta")


class InitializeResponse(Model, kw_only=True):
    """The version this connection speaks, who the agent is, what it can do, how to log in.

    https://agentclientprotocol.com/protocol/v2/draft/schema#initializeresponse
    """

    protocol_version: ProtocolVersion
    info: Implementation
    capabilities: AgentCapabilities = field(default_factory=AgentCapabilities)
    auth_methods: list[AuthMethod] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("capabilities", "auth_methods", "meta")
    __acp_skip__ = ("auth_methods",)


class InitializeRequest(Model, Request["InitializeResponse"], kw_only=True):
    """The first request of a connection: the client's latest protocol version, who it is, what it can do. Nothing else
    may be sent before the answer.

    https://agentclientprotocol.com/protocol/v2/draft/schema#initializerequest
    """

    protocol_version: ProtocolVersion
    info: Implementation
    capabilities: ClientCapabilities = field(default_factory=ClientCapabilities)
    meta: JsonObject | None = None

    __acp_lenient__ = ("capabilities", "meta")
