"""The methods of ACP v2 as data.

https://agentclientprotocol.com/protocol/v2/draft/schema
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import msgspec

from . import v2

__all__ = ["METHODS", "Kind", "Method", "Side", "find", "handled_by", "of"]

#: Who handles a method: ``both`` may be sent in either direction.
Side: TypeAlias = Literal["agent", "client", "both"]
Kind: TypeAlias = Literal["request", "notification"]


class Method(msgspec.Struct, frozen=True, kw_only=True):
    """A method: its wire ``name``, the ``side`` that handles it, its ``kind``, the type of its ``params`` and of its
    ``result`` (``None`` for a notification, ``Any`` for free JSON), whether it is ``stable`` in the draft, and the
    capability or condition that gates it (``gate``, a dotted path or words; empty when it is always allowed)."""

    name: str
    side: Side
    kind: Kind
    params: Any
    result: Any = None
    stable: bool = True
    gate: str = ""

    def __repr__(self) -> str:
        return f"<Method {self.name} ({self.kind}, {self.side})>"


def _request(side: Side, name: str, params: Any, result: Any, gate: str = "", *, stable: bool = True) -> Method:
    return Method(name=name, side=side, kind="request", params=params, result=result, gate=gate, stable=stable)


def _notification(side: Side, name: str, params: Any, gate: str = "", *, stable: bool = True) -> Method:
    return Method(name=name, side=side, kind="notification", params=params, gate=gate, stable=stable)


_ACP_SERVERS: Final = "session.mcp.acp and an MCP server of type acp"

# fmt: off
#: Every method, one entry for each name and kind.
METHODS: Final[tuple[Method, ...]] = (
    _request("agent", "initialize", v2.InitializeRequest, v2.InitializeResponse),
    _request("agent", "auth/login", v2.LoginAuthRequest, v2.LoginAuthResponse, "authMethods not empty"),
    _request("agent", "auth/logout", v2.LogoutAuthRequest, v2.LogoutAuthResponse, "authMethods not empty"),
    _request("agent", "session/new", v2.NewSessionRequest, v2.NewSessionResponse, "session"),
    _request("agent", "session/list", v2.ListSessionsRequest, v2.ListSessionsResponse, "session"),
    _request("agent", "session/resume", v2.ResumeSessionRequest, v2.ResumeSessionResponse, "session"),
    _request("agent", "session/close", v2.CloseSessionRequest, v2.CloseSessionResponse, "session"),
    _request("agent", "session/prompt", v2.PromptRequest, v2.PromptResponse, "session"),
    _notification("agent", "session/cancel", v2.CancelSessionNotification, "session"),
    _request("agent", "session/set_config_option", v2.SetSessionConfigOptionRequest, v2.SetSessionConfigOptionResponse,
             "configOptions were reported"),
    _request("agent", "session/delete", v2.DeleteSessionRequest, v2.DeleteSessionResponse, "session.delete"),
    _request("agent", "session/fork", v2.ForkSessionRequest, v2.ForkSessionResponse, "session.fork", stable=False),
    _request("agent", "providers/list", v2.ListProvidersRequest, v2.ListProvidersResponse, "providers", stable=False),
    _request("agent", "providers/set", v2.SetProviderRequest, v2.SetProviderResponse, "providers", stable=False),
    _request("agent", "providers/disable", v2.DisableProviderRequest, v2.DisableProviderResponse, "providers",
             stable=False),
    _request("agent", "nes/start", v2.StartNesRequest, v2.StartNesResponse, "nes", stable=False),
    _request("agent", "nes/suggest", v2.SuggestNesRequest, v2.SuggestNesResponse, "nes", stable=False),
    _request("agent", "nes/close", v2.CloseNesRequest, v2.CloseNesResponse, "nes", stable=False),
    _notification("agent", "nes/accept", v2.AcceptNesNotification, "nes", stable=False),
    _notification("agent", "nes/reject", v2.RejectNesNotification, "nes", stable=False),
    _notification("agent", "document/didOpen", v2.DidOpenDocumentNotification, "nes.events.document.didOpen",
                  stable=False),
    _notification("agent", "document/didChange", v2.DidChangeDocumentNotification, "nes.events.document.didChange",
                  stable=False),
    _notification("agent", "document/didClose", v2.DidCloseDocumentNotification, "nes.events.document.didClose",
                  stable=False),
    _notification("agent", "document/didSave", v2.DidSaveDocumentNotification, "nes.events.document.didSave",
                  stable=False),
    _notification("agent", "document/didFocus", v2.DidFocusDocumentNotification, "nes.events.document.didFocus",
                  stable=False),
    _request("both", "mcp/message", v2.MessageMcpRequest, Any, _ACP_SERVERS, stable=False),
    _notification("both", "mcp/message", v2.MessageMcpNotification, _ACP_SERVERS, stable=False),
    _request("client", "session/request_permission", v2.RequestPermissionRequest, v2.RequestPermissionResponse),
    _notification("client", "session/update", v2.UpdateSessionNotification),
    _request("client", "elicitation/create", v2.CreateElicitationRequest, v2.CreateElicitationResponse,
             "elicitation.form or elicitation.url", stable=False),
    _notification("client", "elicitation/complete", v2.CompleteElicitationNotification, "elicitation.url",
                  stable=False),
    _request("client", "mcp/connect", v2.ConnectMcpRequest, v2.ConnectMcpResponse, _ACP_SERVERS, stable=False),
    _request("client", "mcp/disconnect", v2.DisconnectMcpRequest, v2.DisconnectMcpResponse, _ACP_SERVERS,
             stable=False),
    _notification("both", "$/cancel_request", v2.CancelRequestNotification),
)
# fmt: on

_by_key: Final = {(method.name, method.kind): method for method in METHODS}

for _method in METHODS:
    _method.params.__acp_method__ = _method


def find(name: str, kind: Kind | None = None) -> Method | None:
    """The method of a wire name, or ``None`` (``_extension`` methods are never here). ``kind`` tells the two
    ``mcp/message`` apart; without it the request comes first."""
    if kind is not None:
        return _by_key.get((name, kind))
    return _by_key.get((name, "request")) or _by_key.get((name, "notification"))


def of(kind: type) -> Method:
    """The method a params type belongs to. Raises ``LookupError`` for any other type."""
    found: Method | None = getattr(kind, "__acp_method__", None)
    if found is None:
        raise LookupError(f"{kind.__name__} is not the params of a method")
    return found


def handled_by(side: Literal["agent", "client"]) -> tuple[Method, ...]:
    """Every method a side may receive, ``mcp/message`` and ``$/cancel_request`` included."""
    return tuple(method for method in METHODS if method.side in (side, "both"))
