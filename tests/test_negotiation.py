"""``conn.initialize``, ``Handlers.initialize``, and what may be sent between them from then on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from ends import error, notification, on_both_loops, pair, request, result, turns, with_peer, within

from acpcore import Connection, Handlers, Notification, ProtocolError, RemoteError, UsageError
from acpcore import schema as s
from acpcore.capabilities import SUPPORTED
from acpcore.negotiation import TYPED

EDITOR = s.Implementation(name="editor", version="1")
AGENT = s.Implementation(name="agent", version="1")
SESSIONS = s.AgentCapabilities(session=s.SessionCapabilities())
GOOD = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {"session": {}}}
V1 = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}, "agentInfo": {"name": "a", "version": "1"}}
HELLO = {"protocolVersion": 2, "info": {"name": "e", "version": "1"}}
FORMS = s.ClientCapabilities(elicitation=s.ElicitationCapabilities(form=s.ElicitationFormCapabilities()))


class Host:
    """An agent, and what is reported on either side."""

    def __init__(self, capabilities: s.AgentCapabilities | None = SESSIONS, **options: Any) -> None:
        self.handlers = Handlers()
        self.handlers.initialize(AGENT, capabilities, **options)
        self.handlers.on("*")(self.serve)
        self.served: list[str] = []
        self.errors: list[str] = []

    def serve(self, message: Any) -> Any:
        self.served.append(message.method)
        return {"sessionId": "s1"}

    def on_error(self, fault: BaseException, context: str) -> None:
        assert isinstance(fault, ProtocolError)
        self.errors.append(f"{context}: {fault}")


def test_there_is_one_version_with_types() -> None:
    assert (TYPED,) == SUPPORTED


# --- agreeing


@on_both_loops
async def test_both_sides_know_each_other() -> None:
    host = Host()
    async with pair(None, host.handlers) as (client, agent):
        assert client.rules is client.peer is client.protocol_version is None
        answer = await client.initialize(EDITOR, FORMS)
        assert (answer.info, answer.capabilities) == (AGENT, SESSIONS)
        assert (client.peer, client.protocol_version) == (answer, 2)
        assert isinstance(agent.peer, s.InitializeRequest)
        assert (agent.peer.info, agent.peer.capabilities, agent.protocol_version) == (EDITOR, FORMS, 2)
        assert client.rules is not None and agent.rules is not None
        assert (client.rules.role, agent.rules.role) == ("client", "agent")
        assert (await client.request(s.NewSessionRequest(cwd="/"))).session_id == "s1"


@pytest.mark.parametrize(("offered", "version"), [(0, 2), (1, 1), (2, 2), (3, 2), (65535, 2)])
@on_both_loops
async def test_the_agent_answers_in_a_version_it_has(offered: int, version: int) -> None:
    """A client of another version cannot be read, but it is answered."""
    host = Host(others={1: lambda _: V1})
    async with pair(None, host.handlers) as (client, agent):
        info = {"info": {"name": "e", "version": "1"}} if offered == 2 else {}
        answer = await client.request("initialize", {"protocolVersion": offered, "clientCapabilities": {}, **info})
        assert answer["protocolVersion"] == client.protocol_version == agent.protocol_version == version
        assert (agent.rules is None) == (version == 1)
        assert (agent.peer is None) == (offered != 2)


@pytest.mark.parametrize(
    ("params", "member"),
    [
        ({"protocolVersion": 2}, "info"),
        ({"protocolVersion": "2", "info": {"name": "e", "version": "1"}}, "protocolVersion"),
        ({"protocolVersion": 65536}, "protocolVersion"),
        ({"protocolVersion": -1}, "protocolVersion"),
        ({}, "protocolVersion"),
        (None, "protocolVersion"),
    ],
)
@on_both_loops
async def test_an_offer_that_is_none(params: Any, member: str) -> None:
    host = Host()
    async with pair(None, host.handlers) as (client, agent):
        with pytest.raises(RemoteError, match=member) as refused:
            await client.request("initialize", params)
        assert refused.value.code == -32602
        assert agent.rules is agent.protocol_version is None
        assert (await client.initialize(EDITOR)).info == AGENT


@on_both_loops
async def test_what_a_client_does_not_know_is_not_offered() -> None:
    terminal = s.AuthMethodTerminal(method_id="t", name="T")
    plain = s.AuthMethodAgent(method_id="a", name="A")
    knowing = s.ClientCapabilities(
        auth=s.AuthCapabilities(terminal=s.TerminalAuthCapabilities()), position_encodings=["utf-8"]
    )
    host = Host(s.AgentCapabilities(position_encoding="utf-8"), auth_methods=[terminal, plain])
    for declared, methods, encoding in ((None, [plain], None), (knowing, [terminal, plain], "utf-8")):
        async with pair(None, host.handlers) as (client, _):
            answer = await client.initialize(EDITOR, declared)
            assert (answer.auth_methods, answer.capabilities.position_encoding) == (methods, encoding)


@on_both_loops
async def test_once_is_enough() -> None:
    host = Host()
    async with pair(None, host.handlers, client={"gating": "off"}) as (client, _):
        await client.initialize(EDITOR)
        with pytest.raises(UsageError, match="initialize: it has been answered"):
            await client.initialize(EDITOR)
        with pytest.raises(RemoteError, match="it has been answered") as refused:
            await client.request(s.InitializeRequest(protocol_version=2, info=EDITOR))
        assert refused.value.code == -32600


@on_both_loops
async def test_what_cannot_be_asked() -> None:
    async with pair(None, Host().handlers) as (client, agent):
        with pytest.raises(UsageError, match="only a client sends it"):
            await agent.initialize(EDITOR)
        with pytest.raises(UsageError, match="the types of version 2 only"):
            await client.initialize(EDITOR, version=3)
    with pytest.raises(UsageError, match="version 2 is answered already"):
        Host(others={2: lambda _: None})
    async with pair() as (conn, _):
        with pytest.raises(UsageError, match="gating is"):
            Connection(conn.transport, gating="some")  # type: ignore[arg-type]


# --- answers in the wrong shape

# What agents that repeat the number and go on in version 1 answer.
FALSE_2: list[dict[str, Any]] = [
    V1 | {"protocolVersion": 2},
    {"protocolVersion": 2, "agentCapabilities": {"promptCapabilities": {"image": True}}, "authMethods": []},
    {"protocolVersion": 2, "agentCapabilities": {}, "authMethods": [{"id": "login", "name": "Log in"}]},
    {"protocolVersion": 2, "agentInfo": {"name": "a", "title": "A", "version": "1"}},
    {"protocolVersion": 2, "agentCapabilities": {"mcpCapabilities": {"http": True}}, "_meta": {}},
]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        *((false, "not in its shape: info: .*those of version 1") for false in FALSE_2),
        ({"protocolVersion": 2}, "not in its shape: info"),
        ({"protocolVersion": 2, "info": {"name": "a"}}, "not in its shape: info.version"),
        ({"protocolVersion": "2", "info": GOOD["info"]}, "no protocol version"),
        ({}, "no protocol version"),
        ([], "no protocol version"),
    ],
)
@on_both_loops
async def test_the_number_alone_does_not_do(answer: Any, told: str) -> None:
    """The connection stays open and knows nothing: it may be closed, or asked again."""
    async with with_peer() as (conn, peer):
        asked = asyncio.ensure_future(conn.initialize(EDITOR))
        assert (await peer.answer(answer))["params"]["protocolVersion"] == 2
        with pytest.raises(ProtocolError, match=told):
            await asked
        assert conn.rules is conn.peer is conn.protocol_version is conn.gate is None
        again = asyncio.ensure_future(conn.initialize(EDITOR))
        await peer.answer(GOOD)
        assert (await again).capabilities.session is not None


@on_both_loops
async def test_an_agent_of_version_1_can_be_spoken_to_without_types() -> None:
    async with with_peer() as (conn, peer):
        asked = asyncio.ensure_future(conn.initialize(EDITOR))
        await peer.answer(V1)
        with pytest.raises(ProtocolError, match="speaks protocol version 1, this client offered 2"):
            await asked
        assert (conn.protocol_version, conn.rules) == (1, None)
        assert s.decode(dict, conn.negotiation.answer) == V1
        with pytest.raises(UsageError, match="session/new: version 1 is spoken here"):
            await conn.request(s.NewSessionRequest(cwd="/"))
        with pytest.raises(UsageError, match="it has been answered"):
            await conn.initialize(EDITOR)
        loaded = asyncio.ensure_future(conn.request("session/load", {"sessionId": "s1", "cwd": "/", "mcpServers": []}))
        assert (await peer.answer({}))["method"] == "session/load"
        assert await loaded == {}


@on_both_loops
async def test_a_version_agreed_on_without_types_gates_nothing() -> None:
    for version, gated in ((1, True), (2, False)):
        async with with_peer(gating="both") as (conn, peer):
            asked = asyncio.ensure_future(conn.request("initialize", {"protocolVersion": version}))
            await peer.answer({"protocolVersion": version})
            await asked
            assert (conn.protocol_version, conn.rules) == (version, None)
            assert (conn.gate is not None) == gated
            await conn.notify("session/cancel", {"sessionId": "s1"})
            assert (await peer.line())["method"] == "session/cancel"


# --- nothing beside it


@on_both_loops
async def test_nothing_is_sent_before_the_answer() -> None:
    """Also with gating off: this is not about capabilities."""
    for gating in ("own", "off"):
        async with with_peer(gating=gating) as (conn, peer):
            asked = asyncio.ensure_future(conn.initialize(EDITOR))
            hello = await peer.line()
            with pytest.raises(UsageError, match="initialize: it waits for its answer"):
                await conn.initialize(EDITOR)
            told = "nothing but initialize may be sent before its answer"
            with pytest.raises(UsageError, match=f"session/new: {told}"):
                await conn.request(s.NewSessionRequest(cwd="/"))
            with pytest.raises(UsageError, match=f"_x: {told}"):
                await conn.notify("_x")
            with pytest.raises(UsageError, match=f"_x: {told}"):
                conn.try_notify("_x")
            with pytest.raises(UsageError, match=f"_x: {told}"):
                conn.threadsafe.notify("_x")
            with pytest.raises(UsageError, match=f"_x: {told}"):
                await asyncio.wrap_future(conn.threadsafe.request("_x"))
            await turns()
            assert peer.rest() == []
            peer.send(result(hello["id"], GOOD))
            await asked
            await conn.notify("_x")
            assert (await peer.line())["method"] == "_x"


@on_both_loops
async def test_the_rules_stand_when_the_answer_was_read() -> None:
    """What comes with it in one read is under them already."""
    met: list[Any] = []
    handlers = Handlers()
    handlers.on("session/update")(lambda update: met.append((update.conn.protocol_version, update.conn.rules)))
    async with with_peer(handlers) as (conn, peer):
        asked = asyncio.ensure_future(conn.initialize(EDITOR))
        hello = await peer.line()
        peer.send(result(hello["id"], GOOD), notification("session/update", sessionId="s1"))
        await asked
        await turns()
        assert met == [(2, conn.rules)] and conn.rules is not None


@on_both_loops
async def test_it_may_be_asked_again_after_an_error_or_in_vain() -> None:
    async with with_peer() as (conn, peer):
        asked = asyncio.ensure_future(conn.initialize(EDITOR))
        peer.send(error((await peer.line())["id"], -32000, "Not today"))
        with pytest.raises(RemoteError, match="Not today"):
            await asked
        with pytest.raises(TimeoutError, match="initialize was not answered"):
            await conn.initialize(EDITOR, timeout=0.01)
        given_up = asyncio.ensure_future(conn.initialize(EDITOR))
        await turns()
        given_up.cancel()
        await asyncio.wait([given_up])
        first, cancel, second, cancel_too = await peer.lines(4)
        assert [first["method"], second["method"]] == ["initialize"] * 2
        assert cancel["params"] == {"requestId": first["id"]} and cancel_too["method"] == "$/cancel_request"
        peer.send(result(second["id"], GOOD))  # too late
        await turns()
        assert conn.gate is conn.rules is None
        asked = asyncio.ensure_future(conn.initialize(EDITOR))
        await peer.answer(GOOD)
        assert await within(asked) == conn.peer


# --- own calls


FORBIDDEN = [
    (s.DeleteSessionRequest(session_id="s1"), "session/delete: the agent does not advertise session.delete"),
    (s.ListProvidersRequest(), "providers/list: the agent does not advertise providers"),
    (s.LoginAuthRequest(method_id="x"), "auth/login: the agent offers no authMethods"),
    (s.UpdateSessionNotification(session_id="s1", update=s.IdleStateUpdate()), "session/update: only the other side"),
    (
        s.PromptRequest(session_id="s1", prompt=[s.ImageContent(data=b"x", mime_type="image/png")]),
        "session/prompt: .* session.prompt.image",
    ),
    (s.NewSessionRequest(cwd="/", additional_directories=["/x"]), "session/new: .* session.additionalDirectories"),
    (
        s.NewSessionRequest(cwd="/", mcp_servers=[s.McpServerHttp(name="m", url="http://x")]),
        "session/new: .* session.mcp.http",
    ),
    (s.DidSaveDocumentNotification(session_id="s1", uri="file:///x"), "document/didSave: .* nes.events"),
]


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize(("params", "rule"), FORBIDDEN)
@on_both_loops
async def test_what_the_agent_does_not_offer_is_not_sent(params: Any, rule: str, raw: bool) -> None:
    method = params.__acp_method__
    call = (method.name, s.encode(params)) if raw else (params,)
    async with with_peer() as (conn, peer):
        await agree(conn, peer)
        send = conn.request if method.kind == "request" else conn.notify
        for _ in range(2):
            with pytest.raises(UsageError, match=rule):
                await send(*call)
        if method.kind == "notification":
            with pytest.raises(UsageError, match=rule):
                conn.try_notify(*call)
            with pytest.raises(UsageError, match=rule):
                conn.threadsafe.notify(*call)
        await turns()
        assert (peer.rest(), conn.stats().pending_calls) == ([], 0)


async def agree(conn: Connection, peer: Any, **capabilities: Any) -> None:
    asked = asyncio.ensure_future(conn.initialize(EDITOR))
    await peer.answer(GOOD | {"capabilities": {"session": {}} | capabilities})
    await asked


@on_both_loops
async def test_what_is_offered_or_nobody_s_business_is_sent() -> None:
    async with with_peer() as (conn, peer):
        await agree(conn, peer, providers={}, session={"delete": {}, "prompt": {"image": {}}})
        calls: list[Any] = [
            s.DeleteSessionRequest(session_id="s1"),
            s.ListProvidersRequest(),
            s.PromptRequest(session_id="s1", prompt=[s.ImageContent(data=b"x", mime_type="image/png")]),
        ]
        for call in calls:
            asked = asyncio.ensure_future(conn.request(call))
            assert (await peer.answer({"providers": []}))["method"] == call.__acp_method__.name
            await asked
        for name in ("_of/ours", "later/method", "session/cancel", "session/cancel"):
            await conn.notify(name, {"sessionId": "s1"})
            assert (await peer.line())["method"] == name


@on_both_loops
async def test_with_gating_off_everything_is_sent() -> None:
    async with with_peer(gating="off") as (conn, peer):
        await agree(conn, peer)
        assert conn.gate is None
        assert conn.rules is not None and conn.rules.forbids("session/delete") is not None
        asked = asyncio.ensure_future(conn.request(s.DeleteSessionRequest(session_id="s1")))
        assert (await peer.answer({}))["method"] == "session/delete"
        await asked


@on_both_loops
async def test_an_agent_s_own_calls() -> None:
    async with pair(None, Host(s.AgentCapabilities()).handlers) as (client, agent):
        await client.initialize(EDITOR, FORMS)
        with pytest.raises(UsageError, match=r"elicitation/complete: the client does not advertise elicitation.url"):
            await agent.notify(s.CompleteElicitationNotification(elicitation_id="e"))
        with pytest.raises(UsageError, match="session/update: the agent does not advertise session"):
            agent.terminal("s1", "t1")
        with pytest.raises(UsageError, match="session/new: only the other side sends it"):
            await agent.request(s.NewSessionRequest(cwd="/"))


# --- the peer's calls


@on_both_loops
async def test_a_client_is_held_to_the_rules_if_that_is_wanted() -> None:
    host = Host()
    async with with_peer(host.handlers, role="agent", gating="both", on_error=host.on_error) as (_, peer):
        image = {"type": "image", "data": "", "mimeType": "image/png"}
        for number, (method, params, answer) in enumerate(
            [
                ("session/new", {"cwd": "/"}, -32600),
                ("initialize", HELLO, None),
                ("initialize", HELLO, -32600),
                ("session/new", {"cwd": "/"}, None),
                ("session/new", {"cwd": "/", "additionalDirectories": ["/x"]}, -32602),
                ("session/prompt", {"sessionId": "s1", "prompt": [image]}, -32602),
                ("session/prompt", {"sessionId": "s1", "prompt": []}, None),
                ("session/delete", {"sessionId": "s1"}, -32601),
                ("session/update", {"sessionId": "s1"}, -32601),
                ("_x", {}, None),
            ]
        ):
            peer.send(request(number, method, **params))
            said = await peer.line()
            assert (said["id"], said.get("error", {}).get("code")) == (number, answer), method
        peer.send(notification("document/didSave", sessionId="s1", uri="file:///x"))
        peer.send(notification("session/cancel", sessionId="s1"), request("last", "_x"))
        await peer.line()
        assert host.served == ["session/new", "session/prompt", "_x", "session/cancel", "_x"]
        assert len(host.errors) == 7
        assert host.errors[0] == (
            "a message of the peer: session/new: nothing but initialize may be sent before its answer"
        )
        assert host.errors[-1].endswith("the agent does not advertise nes.events.document.didSave")


@on_both_loops
async def test_an_agent_is_held_to_the_rules_if_that_is_wanted() -> None:
    """Updates come in groups; those of an agent without sessions go no further, and leave the inbox."""
    host = Host()
    async with with_peer(gating="both", on_error=host.on_error) as (conn, peer):
        asked = asyncio.ensure_future(conn.initialize(EDITOR))
        await peer.answer(GOOD | {"capabilities": {}})
        await asked
        chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "t"}}
        peer.send(*[notification("session/update", sessionId="s1", update=chunk)] * 3)
        peer.send(notification("session/update", sessionId="s1"), request(1, "elicitation/create", mode="form"))
        assert (await peer.line())["error"]["code"] == -32601
        peer.send(notification("_x"))
        events = [await within(conn.pull()) for _ in range(2)]
        assert [type(event).__name__ for event in events] == ["Response", "Notification"]
        assert isinstance(events[1], Notification) and events[1].method == "_x"
        await conn.receive(max_wait=0)
        assert conn.stats().inbox.used == 0
        assert {text.split(": ", 1)[1] for text in host.errors} == {
            "session/update: the agent does not advertise session",
            "elicitation/create: the client does not advertise elicitation.form or elicitation.url",
        }


@on_both_loops
async def test_by_default_the_peer_may_send_what_it_likes() -> None:
    host = Host()
    async with with_peer(host.handlers, role="agent", on_error=host.on_error) as (_, peer):
        peer.send(request(1, "session/delete", sessionId="s1"), request(2, "initialize", **HELLO))
        peer.send(request(3, "session/delete", sessionId="s1"))
        assert {line["id"] for line in await peer.lines(3) if "result" in line} == {1, 2, 3}
        assert host.errors == []
