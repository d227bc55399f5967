"""ACP v2 types: initialize.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from ..model import JsonObject, Model, Request, UInt16
from .auth import AuthMethod
from .capabilities import AgentCapabilities, ClientCapabilities

#: ACP ``ProtocolVersion``.
ProtocolVersion: TypeAlias = UInt16


class Implementation(Model, kw_only=True):
    """ACP ``Implementation``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#implementation
    """

    name: str
    version: str
    title: str | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("title", "meta")


class InitializeResponse(Model, kw_only=True):
    """ACP ``InitializeResponse``.

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
    """ACP ``InitializeRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#initializerequest
    """

    protocol_version: ProtocolVersion
    info: Implementation
    capabilities: ClientCapabilities = field(default_factory=ClientCapabilities)
    meta: JsonObject | None = None

    __acp_lenient__ = ("capabilities", "meta")
