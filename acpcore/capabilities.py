"""Which version is spoken, and what may be sent: the first exchange, and the rules that its capabilities make.

https://agentclientprotocol.com/protocol/v2/draft/initialization
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, Literal, TypeAlias

import msgspec

from . import schema as s
from .capability_rules import LESSONS, Known, Role, forbidden_by_gate, forbidden_by_params, forbidden_by_result, typed
from .errors import InvalidParams, ProtocolError, UsageError

__all__ = ["SUPPORTED", "Role", "Rules", "check_initialize_result", "negotiate"]

#: The versions whose types this package has.
SUPPORTED: Final = (2,)
HIGHEST: Final = 2**16 - 1

_CANCEL: Final = "$/cancel_request"
_VERSION_1: Final = frozenset({"agentCapabilities", "agentInfo"})

Json: TypeAlias = "bytes | bytearray | memoryview | msgspec.Raw"
#: A method's name, or typed params, which know their method.
Call: TypeAlias = "str | s.Request[Any] | s.Notification"
#: Typed, as Python objects, or as JSON.
Payload: TypeAlias = "Json | dict[str, Any] | msgspec.Struct | s.Other | None"


# --- versions


def negotiate(requested: int, supported: Collection[int] = SUPPORTED) -> int:
    """The version an agent answers with: the requested one if it supports that, else the latest it does.

    Raises ``InvalidParams`` for what is no version (16 bits), ``UsageError`` if nothing is supported.
    https://agentclientprotocol.com/protocol/v2/draft/initialization#version-negotiation
    """
    if not supported:
        raise UsageError("an agent supports at least one version")
    if isinstance(requested, bool) or not isinstance(requested, int) or not 0 <= requested <= HIGHEST:
        raise InvalidParams("protocolVersion", f"expected an integer from 0 to {HIGHEST}")
    return requested if requested in supported else max(supported)


class Versioned(msgspec.Struct):
    """What the params and the result of ``initialize`` have in every version."""

    protocolVersion: int


def check_initialize_result(
    result: Json | dict[str, Any] | s.InitializeResponse,
    offered: int = SUPPORTED[-1],
    *,
    supported: Collection[int] = (),
    profile: s.Profile = s.ALPHA2,
) -> s.InitializeResponse:
    """The answer to ``initialize``, if it is one of a version this client speaks: ``offered``, or one of
    ``supported``.

    The number does not suffice: some agents repeat whatever version was offered and go on in their own. Raises
    ``ProtocolError``, after which the connection is best closed: the text says whether it is the version or the shape.
    https://agentclientprotocol.com/protocol/v2/draft/initialization#version-negotiation
    """
    raw = result if isinstance(result, (bytes, bytearray, memoryview, msgspec.Raw)) else s.encode(result)
    try:
        version = s.decode(Versioned, raw).protocolVersion
    except InvalidParams as fault:
        raise ProtocolError(f"the answer to initialize has no protocol version: {fault}") from None
    if version != offered and version not in supported:
        raise ProtocolError(f"the agent speaks protocol version {version}, this client offered {offered}")
    try:
        return s.decode(s.InitializeResponse, raw, profile)
    except InvalidParams as fault:
        raise ProtocolError(_wrong_shape(version, raw, fault)) from None


def _wrong_shape(version: int, raw: Json, fault: InvalidParams) -> str:
    text = f"the agent answered protocol version {version}, but not in its shape: {fault}"
    names = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    return f"{text} (its members are those of version 1)" if _VERSION_1 & names.keys() else text


# --- rules


class Rules:
    """What may be sent on one connection, by either side, and which rule forbids the rest.

    ``role`` is one's own. A connection tells it of the first exchange by :meth:`asked` and :meth:`answered` (or
    :meth:`refused`); until then nothing but ``initialize`` may be sent. Given both at once, ``capabilities`` and
    ``result``, it is beyond that. For rules that depend on earlier calls see :meth:`learn`. What these rules cannot
    know, as methods, content or servers of kinds this version does not have, they do not forbid.

    https://agentclientprotocol.com/protocol/v2/draft/initialization
    """

    __slots__ = ("_gates", "_known", "_phase", "role")

    def __init__(
        self,
        role: Role,
        capabilities: s.ClientCapabilities | None = None,
        result: s.InitializeResponse | None = None,
    ) -> None:
        self.role: Role = role
        self._known = Known()
        self._phase: Literal["new", "asked", "ready"] = "new"
        self._gates: dict[tuple[Role, str], str | None] = {}
        if capabilities is not None:
            self.asked(capabilities)
        if result is not None:
            self.answered(result)

    @property
    def ready(self) -> bool:
        """Whether ``initialize`` was answered."""
        return self._phase == "ready"

    @property
    def peer(self) -> Role:
        """The other side's role."""
        return "agent" if self.role == "client" else "client"

    def asked(self, request: s.InitializeRequest | s.ClientCapabilities) -> None:
        """``initialize`` was sent (or received), with these capabilities of the client."""
        self._known.client = request.capabilities if isinstance(request, s.InitializeRequest) else request
        self._phase = "asked"

    def answered(self, result: s.InitializeResponse) -> None:
        """It was answered, with these of the agent."""
        self._known.agent = result.capabilities
        self._known.auth_methods = result.auth_methods
        self._gates.clear()
        self._phase = "ready"

    def refused(self) -> None:
        """It was answered with an error, and may be asked again."""
        if self._phase == "asked":
            self._phase = "new"

    def forbids(self, call: Call, params: Payload = None, *, by: Role | None = None) -> str | None:
        """Which rule forbids a call, in one sentence; ``None`` if none does.

        ``call`` is typed params; or a method's name with ``params`` in any form, or without, which asks about the
        method alone. ``by`` is who sends it: oneself, unless told. The sentence quotes no payload and may be sent.
        """
        method, value = _taken_apart(call, params)
        sender = self.role if by is None else by
        if self._phase != "ready" or method == "initialize":
            return self._forbidden_early(sender, method)
        try:
            found = self._gates[sender, method]
        except KeyError:
            found = forbidden_by_gate(self._known, sender, method)
            if s.methods.find(method) is not None:  # names the peer makes up are not worth remembering
                self._gates[sender, method] = found
        return found if found or value is None else forbidden_by_params(self._known, method, value)

    def forbids_peer(self, call: Call, params: Payload = None) -> str | None:
        """The same for a call of the peer."""
        return self.forbids(call, params, by=self.peer)

    def forbids_result(self, result: s.InitializeResponse | s.SuggestNesResponse) -> str | None:
        """Which rule forbids a result of the agent: a kind of login, an encoding or a kind of suggestion that the
        client did not declare. Other results are free.
        """
        return forbidden_by_result(self._known, result)

    def learn(self, call: Call, params: Payload = None, result: Payload = None) -> None:
        """Take note of a call of either side that was made, and of its result, for the rules that depend on it.

        These are ``session/new``, ``session/resume``, ``session/fork`` (MCP servers of type ``acp``, configuration
        options), ``session/set_config_option``, ``session/update`` with a ``config_option_update`` (needed if the
        results before are learned too), ``session/close``, ``session/delete`` and ``providers/list``. Others are
        ignored. What was never learned is not held against anyone.
        """
        method, value = _taken_apart(call, params)
        lesson, found = LESSONS.get(method), s.methods.find(method)
        if lesson is not None and found is not None:
            answer = None if result is None else typed(found.result, result)
            lesson(self._known, typed(found.params, value), answer)

    def _forbidden_early(self, sender: Role, method: str) -> str | None:
        if method == _CANCEL:
            return None
        if method != "initialize":
            return f"{method}: nothing but initialize may be sent before its answer"
        if sender == "agent":
            return "initialize: only a client sends it"
        told = {"new": None, "asked": "it waits for its answer", "ready": "it has been answered"}[self._phase]
        return told and f"initialize: {told}"


def _taken_apart(call: Call, params: Payload) -> tuple[str, Any]:
    if isinstance(call, str):
        return call, params
    try:
        return s.methods.of(type(call)).name, call
    except LookupError as error:
        raise UsageError(str(error)) from None
