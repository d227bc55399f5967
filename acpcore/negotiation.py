"""The first exchange of a connection: which version both speak, and which calls their capabilities allow from then on.

https://agentclientprotocol.com/protocol/v2/draft/initialization
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import msgspec

from . import message as m
from .errors import InvalidParams, ProtocolError, RemoteError, UsageError
from .message import Group, Message, Request

# Whoever never speaks of versions pays for no types: the schema and its rules are imported by those who do.
if TYPE_CHECKING:
    from . import schema as s
    from .capabilities import Rules
    from .connection import Connection

#: Whose calls are held against the capabilities.
Gating: TypeAlias = Literal["own", "both", "off"]
#: Takes name and params of what is about to be sent; raises ``UsageError`` if it may not be.
Gate: TypeAlias = Callable[[str, Any], None]

TYPED: Final = 2  # the version whose types this package has


class Negotiation:
    """What one connection has agreed on. It sets ``rules``, ``protocol_version``, ``peer`` and ``gate`` of its
    connection.

    ``guarding`` says whether the peer's calls are to be asked about (:meth:`refusal`). ``answer`` is the agent's
    answer to ``initialize`` as it came (JSON), for a client that goes on in another version.
    """

    def __init__(self, conn: Connection, gating: Gating) -> None:
        if gating not in get_args(Gating):
            raise UsageError('gating is "own", "both" or "off"')
        self._conn = conn
        self._gating = gating
        self._rules: Rules | None = None
        self._free: set[str] = set()  # own methods that are allowed whatever their params are
        self._granted: set[str] = set()  # the peer's
        self.guarding = gating == "both" and conn.engine.role == "agent"
        self.answer: bytes | None = None

    def _known(self) -> Rules:
        if self._rules is None:
            from .capabilities import Rules

            self._rules = Rules(self._conn.engine.role)
        return self._rules

    # --- the client's side

    async def ask(
        self, info: s.Implementation, capabilities: s.ClientCapabilities | None, version: int, timeout: float | None
    ) -> s.InitializeResponse:
        """Send ``initialize``; nothing else may be sent until it is answered."""
        from .schema import ClientCapabilities, InitializeRequest

        self._check_first(version)
        declared = ClientCapabilities() if capabilities is None else capabilities
        hello = InitializeRequest(protocol_version=version, info=info, capabilities=declared)
        pending = self._conn.begin_call("initialize", hello, timeout=timeout, ordered=False)
        pending.decoder = self._judge
        self._known().asked(hello)
        self._conn.gate = self._check_own
        try:
            result: s.InitializeResponse = await pending.future
            return result
        finally:
            self._conn.end_call(pending, True)
            self._give_up()

    def _check_first(self, version: int) -> None:
        found = self._known().forbids("initialize")
        if found is None and self._conn.protocol_version is not None:
            found = "initialize: it has been answered"
        if found is not None:
            raise UsageError(found)
        if version != TYPED:
            raise UsageError(f"initialize: this package has the types of version {TYPED} only")

    def _judge(self, raw: m.Bytes) -> s.InitializeResponse:
        """The answer, at its place in the stream: what follows it is under its rules already."""
        from .capabilities import check_initialize_result

        self.answer = bytes(raw)
        try:
            result = check_initialize_result(self.answer, TYPED)
        except ProtocolError:
            if self._conn.protocol_version == TYPED:
                self._conn.protocol_version = None  # the number was right, the shape was not
            raise
        self._agree(result, result)
        return result

    def _give_up(self) -> None:
        """The answer did not come, or was none: it may be asked again."""
        if self._rules is not None and not self._rules.ready:
            self._rules.refused()
            self._conn.gate = None

    # --- both sides

    def _agree(self, result: s.InitializeResponse, peer: s.InitializeRequest | s.InitializeResponse | None) -> None:
        rules = self._known()
        rules.answered(result)
        self._free.clear()
        self._granted.clear()
        self._conn.rules, self._conn.peer = rules, peer
        self._conn.protocol_version = result.protocol_version
        self._conn.gate = None if self._gating == "off" else self._check_own
        self.guarding = self._gating == "both"

    def note(self, version: int | None) -> None:
        """``initialize`` was answered, by whichever side and in whatever form."""
        if version is None:
            return
        self._conn.protocol_version = version
        if version != TYPED:
            self._rules = self._conn.rules = None
            self._conn.gate = None if self._gating == "off" else self._check_version
        if self._conn.rules is None:  # it was agreed on in a form that is not known here
            self.guarding = False

    # --- what may be sent

    def _check_own(self, method: str, params: Any) -> None:
        if method in self._free:
            return
        found = self._known().forbids(method, params)
        if found is not None:
            raise UsageError(found)
        self._remember(self._free, method)

    def _check_version(self, method: str, params: Any) -> None:
        if hasattr(type(params), "__acp_method__"):
            version = self._conn.protocol_version
            raise UsageError(f"{method}: version {version} is spoken here, and the types are those of {TYPED}")

    def refusal(self, event: Message | Group) -> tuple[int, str] | None:
        """Why something of the peer is not taken: the error's code and a sentence that may be sent.

        -32600 for what comes too early or again, -32601 for a method that is not there for this peer, -32602 for
        params that it may not use.
        """
        method, params = (event.method, event.raw_params) if isinstance(event, Message) else (m.UPDATE_METHOD, None)
        if method in self._granted:
            return None
        rules = self._known()
        found = rules.forbids_peer(method, params)
        if found is None:
            self._remember(self._granted, method)
            return None
        if not rules.ready or method == "initialize":
            return m.INVALID_REQUEST, found
        return (m.INVALID_PARAMS if rules.forbids_peer(method) is None else m.METHOD_NOT_FOUND), found

    def _remember(self, allowed: set[str], method: str) -> None:
        from .capability_rules import settled_by_name

        if self._known().ready and settled_by_name(method):
            allowed.add(method)

    # --- the agent's side

    def welcome(self, request: Request, welcome: Welcome) -> Any:
        """Answer ``initialize``."""
        if self._conn.rules is not None:
            raise RemoteError(m.INVALID_REQUEST, "initialize: it has been answered")
        from . import schema as s
        from .capabilities import negotiate

        offered, hello = _read(request.raw_params, welcome.profile)
        version = negotiate(offered, {TYPED, *welcome.others})
        if version != TYPED:
            return welcome.others[version](request)
        declared = s.ClientCapabilities() if hello is None else hello.capabilities
        result = welcome.answer(declared)
        self._known().asked(declared)
        self._agree(result, hello)
        return result


class Welcome:
    """How an agent answers ``initialize``: who it is, what it can do, how to log in; ``others`` answer in other
    versions. Made by ``Handlers.initialize``.
    """

    def __init__(
        self,
        info: s.Implementation,
        capabilities: s.AgentCapabilities | None,
        auth_methods: Sequence[s.AuthMethod],
        others: Mapping[int, Callable[[Request], Any]],
        profile: s.Profile | None,
    ) -> None:
        if TYPED in others:
            raise UsageError(f"version {TYPED} is answered already")
        self._info = info
        self._capabilities = capabilities
        self._auth_methods = list(auth_methods)
        self.others = dict(others)
        self.profile = profile

    def __call__(self, request: Request) -> Any:
        """The handler."""
        return request.conn.negotiation.welcome(request, self)

    def answer(self, client: s.ClientCapabilities) -> s.InitializeResponse:
        """The answer to a client of this kind, without what may not be offered to it."""
        from . import schema as s

        terminal = client.auth is not None and client.auth.terminal is not None
        methods = [one for one in self._auth_methods if terminal or not isinstance(one, s.AuthMethodTerminal)]
        capabilities = s.AgentCapabilities() if self._capabilities is None else self._capabilities
        if capabilities.position_encoding not in (None, *client.position_encodings):
            capabilities = msgspec.structs.replace(capabilities, position_encoding=None)
        return s.InitializeResponse(
            protocol_version=TYPED, info=self._info, capabilities=capabilities, auth_methods=methods
        )


def _read(raw: m.Bytes | None, profile: s.Profile | None) -> tuple[int, s.InitializeRequest | None]:
    """The version a client offers, and the rest of it: of another version than ours it need not be readable, for the
    answer is never an error.

    https://agentclientprotocol.com/protocol/v2/draft/initialization#version-negotiation
    """
    from . import schema as s
    from .capabilities import Versioned

    body = b"{}" if raw is None else raw
    try:
        hello = s.decode(s.InitializeRequest, body, s.ALPHA2 if profile is None else profile)
    except InvalidParams:
        version = s.decode(Versioned, body).protocolVersion
        if version == TYPED:
            raise
        return version, None
    return hello.protocol_version, hello
