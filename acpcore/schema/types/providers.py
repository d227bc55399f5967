"""Language model providers.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import field

from ..model import JsonObject, Model, Request
from .ids import ProviderId

__all__ = [
    "LLM_PROTOCOL_VALUES",
    "DisableProviderRequest",
    "DisableProviderResponse",
    "ListProvidersRequest",
    "ListProvidersResponse",
    "LlmProtocol",
    "ProviderCurrentConfig",
    "ProviderInfo",
    "SetProviderRequest",
    "SetProviderResponse",
]

#: The API a provider speaks.
if TYPE_CHECKING:
    LlmProtocol: TypeAlias = Literal["anthropic", "openai", "azure", "vertex", "bedrock"] | str
else:
    LlmProtocol = str
LLM_PROTOCOL_VALUES: Final = ("anthropic", "openai", "azure", "vertex", "bedrock")


class ProviderCurrentConfig(Model, kw_only=True):
    """Protocol and address a provider is used with.

    https://agentclientprotocol.com/protocol/v2/draft/schema#providercurrentconfig
    """

    api_type: LlmProtocol
    base_url: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class ProviderInfo(Model, kw_only=True):
    """A provider, the protocols it supports, and how it is set up now (``None``: switched off).

    https://agentclientprotocol.com/protocol/v2/draft/schema#providerinfo
    """

    provider_id: ProviderId
    supported: list[LlmProtocol]
    required: bool
    current: ProviderCurrentConfig | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("supported", "meta")
    __acp_skip__ = ("supported",)


class ListProvidersResponse(Model, kw_only=True):
    """The providers.

    https://agentclientprotocol.com/protocol/v2/draft/schema#listprovidersresponse
    """

    providers: list[ProviderInfo]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class SetProviderResponse(Model, kw_only=True):
    """The provider is set up.

    https://agentclientprotocol.com/protocol/v2/draft/schema#setproviderresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DisableProviderResponse(Model, kw_only=True):
    """The provider is off.

    https://agentclientprotocol.com/protocol/v2/draft/schema#disableproviderresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class ListProvidersRequest(Model, Request["ListProvidersResponse"], kw_only=True):
    """Which providers are there?

    https://agentclientprotocol.com/protocol/v2/draft/schema#listprovidersrequest
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class SetProviderRequest(Model, Request["SetProviderResponse"], kw_only=True):
    """Sets a provider up anew; headers may hold secrets.

    https://agentclientprotocol.com/protocol/v2/draft/schema#setproviderrequest
    """

    provider_id: ProviderId
    api_type: LlmProtocol
    base_url: str
    headers: dict[str, str] = field(default_factory=dict)
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DisableProviderRequest(Model, Request["DisableProviderResponse"], kw_only=True):
    """Switches a provider off. A required one cannot be.

    https://agentclientprotocol.com/protocol/v2/draft/schema#disableproviderrequest
    """

    provider_id: ProviderId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
