"""The single rules that capabilities make: by method, by what is in the params, by what is in a result.

Each answers with a sentence that says what is missing, or ``None``. Nothing a peer sent is quoted in it.
https://agentclientprotocol.com/protocol/v2/draft/initialization
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeAlias

import msgspec

from . import schema as s
from .errors import InvalidParams

__all__ = [
    "LESSONS",
    "Known",
    "Role",
    "forbidden_by_gate",
    "forbidden_by_params",
    "forbidden_by_result",
    "settled_by_name",
    "typed",
]

Role: TypeAlias = Literal["client", "agent"]

MANY: Final = 10_000  # ids; beyond, a set of them no longer tells
_CAPITAL: Final = re.compile("[A-Z]")


class Seen:
    """Ids that came by. One that stands in it surely did; beyond ``MANY`` of them nothing is sure to be missing."""

    __slots__ = ("_full", "_ids")

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._full = False

    def add(self, id: str) -> None:
        """It came by."""
        if len(self._ids) < MANY:
            self._ids.add(id)
        else:
            self._full = True

    def discard(self, id: str) -> None:
        """It is of no interest any more."""
        self._ids.discard(id)

    def has(self, id: str) -> bool:
        """Whether it surely came by."""
        return id in self._ids

    def lacks(self, id: str) -> bool:
        """Whether it surely did not."""
        return not self._full and id not in self._ids


class Known:
    """What both sides said of themselves, and what their calls have shown since."""

    __slots__ = ("agent", "auth_methods", "client", "opened", "options", "required", "servers", "servers_told")

    def __init__(self) -> None:
        self.client = s.ClientCapabilities()
        self.agent = s.AgentCapabilities()
        self.auth_methods: list[s.AuthMethod] = []
        self.opened = Seen()  # sessions
        self.options = Seen()  # sessions that reported configuration options
        self.required = Seen()  # providers
        self.servers = Seen()  # MCP servers of type acp
        self.servers_told = False  # whether anything was learned of servers at all


def typed(kind: Any, value: Any) -> Any:
    """A value as what it should be: it may be that already, Python objects, or JSON. ``None`` if it does not fit."""
    if kind is None or isinstance(value, kind):
        return value
    try:
        raw = value if isinstance(value, (bytes, bytearray, memoryview, msgspec.Raw)) else s.encode(value)
        return s.decode(kind, raw)
    except (InvalidParams, TypeError, ValueError, RuntimeError):  # what is wrong with it is for others to say
        return None


# --- by method


def _advertised(known: Known, path: str) -> bool:
    """Whether a capability is there: ``session.delete`` is one of the agent, ``elicitation.form`` one of the client."""
    value: Any = known.client if path.startswith("elicitation") else known.agent
    for name in path.split("."):
        value = getattr(value, _CAPITAL.sub(lambda match: "_" + match[0].lower(), name), None)
        if value is None:
            return False
    return True


def _needs(known: Known, path: str, what: str = "") -> str | None:
    if _advertised(known, path):
        return None
    side = "client" if path.startswith("elicitation") else "agent"
    return f"the {side} does not advertise {path}" + (f", which {what} need" if what else "")


def _login(known: Known) -> str | None:
    return None if known.auth_methods else "the agent offers no authMethods"


def _any_elicitation(known: Known) -> str | None:
    if _advertised(known, "elicitation.form") or _advertised(known, "elicitation.url"):
        return None
    return "the client does not advertise elicitation.form or elicitation.url"


_WORDS: Final[dict[str, Callable[[Known], str | None]]] = {
    "": lambda known: None,
    "authMethods not empty": _login,
    "configOptions were reported": lambda known: _needs(known, "session"),
    "elicitation.form or elicitation.url": _any_elicitation,
    "session.mcp.acp and an MCP server of type acp": lambda known: _needs(known, "session.mcp.acp"),
}
# They belong to a session, which an agent without this capability does not have.
_OF_A_SESSION: Final = frozenset({"session/update", "session/request_permission"})


def forbidden_by_gate(known: Known, sender: Role, name: str) -> str | None:
    """What forbids a method, whatever its params are."""
    method = s.methods.find(name)
    if method is None:
        return None
    if method.side == sender:
        return f"{name}: only the other side sends it, a {sender} handles it"
    gate = "session" if name in _OF_A_SESSION else method.gate
    found = _WORDS[gate](known) if gate in _WORDS else _needs(known, gate)
    return found and f"{name}: {found}"


# --- by params


def _prompt(known: Known, params: s.PromptRequest) -> str | None:
    for block in params.prompt:
        if isinstance(block, s.ImageContent):
            found = _needs(known, "session.prompt.image", "images")
        elif isinstance(block, s.AudioContent):
            found = _needs(known, "session.prompt.audio", "sounds")
        elif isinstance(block, s.EmbeddedResource):
            found = _needs(known, "session.prompt.embeddedContext", "embedded resources")
        else:
            found = None
        if found:
            return found
    return None


_SERVERS: Final = {s.McpServerStdio: "stdio", s.McpServerHttp: "http", s.McpServerAcp: "acp"}
Opening: TypeAlias = "s.NewSessionRequest | s.ResumeSessionRequest | s.ForkSessionRequest"


def _opening(known: Known, params: Opening) -> str | None:
    for server in params.mcp_servers:
        kind = next((kind for base, kind in _SERVERS.items() if isinstance(server, base)), None)
        if kind and (found := _needs(known, f"session.mcp.{kind}", f"MCP servers of type {kind}")):
            return found
    return _needs(known, "session.additionalDirectories") if params.additional_directories else None


def _login_by(known: Known, params: s.LoginAuthRequest) -> str | None:
    offered = {
        method.members["methodId"] if isinstance(method, s.OtherAuthMethod) else method.method_id
        for method in known.auth_methods
    }
    return None if params.method_id in offered else "methodId is none of the authMethods the agent offers"


def _set_option(known: Known, params: Any) -> str | None:
    session = params.members["sessionId"] if isinstance(params, s.Other) else params.session_id
    silent = known.opened.has(session) and known.options.lacks(session)
    return "this session reported no configuration options" if silent else None


def _disable(known: Known, params: s.DisableProviderRequest) -> str | None:
    return "a required provider cannot be disabled" if known.required.has(params.provider_id) else None


def _did_change(known: Known, params: s.DidChangeDocumentNotification) -> str | None:
    nes = known.agent.nes
    wish = nes and nes.events and nes.events.document and nes.events.document.did_change
    if wish and wish.sync_kind == "full" and any(change.range is not None for change in params.content_changes):
        return "the agent wants whole documents (syncKind full), not changed ranges"
    return None


def _suggest(known: Known, params: s.SuggestNesRequest) -> str | None:
    wishes = (known.agent.nes and known.agent.nes.context) or s.NesContextCapabilities()
    names = ("recent_files", "related_snippets", "edit_history", "user_actions", "open_files", "diagnostics")
    for name in names if params.context else ():
        items, wish = getattr(params.context, name), getattr(wishes, name)
        if items and (found := _unwanted(name, len(items), wish)):
            return found
    return None


def _unwanted(name: str, count: int, wish: Any) -> str | None:
    wire = re.sub("_(.)", lambda match: match[1].upper(), name)
    if wish is None:
        return f"the agent does not advertise nes.context.{wire}"
    most = getattr(wish, "max_count", None)
    return f"the agent wants at most {most} items of nes.context.{wire}" if most is not None and count > most else None


def _connect(known: Known, params: s.ConnectMcpRequest) -> str | None:
    unheard = known.servers_told and known.servers.lacks(params.server_id)
    return "the client declared no MCP server of type acp with this id" if unheard else None


def _elicit(known: Known, params: Any) -> str | None:
    if isinstance(params, s.ElicitationFormMode):
        return _needs(known, "elicitation.form")
    return _needs(known, "elicitation.url") if isinstance(params, s.ElicitationUrlMode) else None


_CHECKS: Final[dict[str, Callable[[Known, Any], str | None]]] = {
    "session/prompt": _prompt,
    "session/new": _opening,
    "session/resume": _opening,
    "session/fork": _opening,
    "auth/login": _login_by,
    "session/set_config_option": _set_option,
    "providers/disable": _disable,
    "document/didChange": _did_change,
    "nes/suggest": _suggest,
    "mcp/connect": _connect,
    "elicitation/create": _elicit,
}


def forbidden_by_params(known: Known, name: str, value: Any) -> str | None:
    """What forbids these params of a method that is allowed."""
    method = s.methods.find(name)
    if name not in _CHECKS or method is None:
        return None
    params = typed(method.params, value)
    found = None if params is None else _CHECKS[name](known, params)
    return found and f"{name}: {found}"


def settled_by_name(name: str) -> bool:
    """Whether no params of a method can change what :func:`forbidden_by_gate` says of it. Names this version does not
    have are not: there is no end to them.
    """
    return name not in _CHECKS and s.methods.find(name) is not None


# --- by result


def forbidden_by_result(known: Known, result: Any) -> str | None:
    """What forbids a result of the agent."""
    if isinstance(result, s.InitializeResponse):
        found = _offer(known.client, result)
        return found and f"initialize: {found}"
    if isinstance(result, s.SuggestNesResponse):
        found = _suggestions(known.client.nes or s.ClientNesCapabilities(), result.suggestions)
        return found and f"nes/suggest: {found}"
    return None


def _offer(client: s.ClientCapabilities, result: s.InitializeResponse) -> str | None:
    terminal = client.auth is not None and client.auth.terminal is not None
    if not terminal and any(isinstance(method, s.AuthMethodTerminal) for method in result.auth_methods):
        return "the client does not advertise auth.terminal, which authMethods of type terminal need"
    encoding = result.capabilities.position_encoding
    if encoding not in (None, "utf-16", *client.position_encodings):
        return "positionEncoding is none of the client's positionEncodings"
    return None


def _suggestions(client: s.ClientNesCapabilities, suggestions: Iterable[s.NesSuggestion]) -> str | None:
    kinds: tuple[tuple[type, str, object], ...] = (
        (s.NesJumpSuggestion, "jump", client.jump),
        (s.NesRenameSuggestion, "rename", client.rename),
        (s.NesSearchAndReplaceSuggestion, "searchAndReplace", client.search_and_replace),
    )
    for suggestion in suggestions:
        for kind, name, declared in kinds:
            if declared is None and isinstance(suggestion, kind):
                return f"the client does not advertise nes.{name}"
    return None


# --- what calls teach


def _opened(known: Known, params: Opening | None, result: Any) -> None:
    if params is None:
        return
    known.servers_told = True
    for server in params.mcp_servers:
        if isinstance(server, s.McpServerAcp):
            known.servers.add(server.server_id)
    if result is not None:
        session = params.session_id if isinstance(params, s.ResumeSessionRequest) else result.session_id
        known.opened.add(session)
        _reported(known, session, result.config_options)


def _reported(known: Known, session: str, options: list[s.SessionConfigOption]) -> None:
    if options:
        known.options.add(session)


def _was_set(known: Known, params: Any, result: s.SetSessionConfigOptionResponse | None) -> None:
    if params is not None and result is not None:
        session = params.members["sessionId"] if isinstance(params, s.Other) else params.session_id
        _reported(known, session, result.config_options)


def _updated(known: Known, params: s.UpdateSessionNotification | None, result: None) -> None:
    if params is not None and isinstance(params.update, s.ConfigOptionUpdate):
        _reported(known, params.session_id, params.update.config_options)


def _closed(known: Known, params: s.CloseSessionRequest | s.DeleteSessionRequest | None, result: Any) -> None:
    if params is not None and result is not None:
        known.opened.discard(params.session_id)
        known.options.discard(params.session_id)


def _providers(known: Known, params: Any, result: s.ListProvidersResponse | None) -> None:
    if result is not None:
        known.required = Seen()
        for provider in result.providers:
            if provider.required:
                known.required.add(provider.provider_id)


#: What is to be learned of a call: the typed params and result, ``None`` for what is not there or does not fit.
LESSONS: Final[dict[str, Callable[[Known, Any, Any], None]]] = {
    "session/new": _opened,
    "session/resume": _opened,
    "session/fork": _opened,
    "session/set_config_option": _was_set,
    "session/update": _updated,
    "session/close": _closed,
    "session/delete": _closed,
    "providers/list": _providers,
}
