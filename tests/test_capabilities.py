"""Which version is spoken, and which rule forbids what: every gate, for own calls and for the peer's."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpcore import schema as s
from acpcore.capabilities import SUPPORTED, Role, Rules, check_initialize_result, negotiate
from acpcore.capability_rules import LESSONS, MANY
from acpcore.errors import InvalidParams, ProtocolError, UsageError
from acpcore.schema.methods import METHODS

INFO = s.Implementation(name="agent", version="1")


def client(**members: Any) -> s.ClientCapabilities:
    return s.decode(s.ClientCapabilities, json.dumps(members).encode())


def agent(*auth: Any, **members: Any) -> s.InitializeResponse:
    """An answer with these capabilities (JSON) and ways to log in."""
    capabilities = s.decode(s.AgentCapabilities, json.dumps(members).encode())
    return s.InitializeResponse(protocol_version=2, info=INFO, capabilities=capabilities, auth_methods=list(auth))


def rules(role: Role = "client", declared: Any = None, answer: Any = None) -> Rules:
    return Rules(role, declared or client(), answer or agent())


# --- versions


@pytest.mark.parametrize(
    ("requested", "supported", "answered"),
    [
        *((requested, (2,), 2) for requested in (0, 1, 2, 3, 65535)),
        *((requested, (1, 2), answered) for requested, answered in [(0, 2), (1, 1), (2, 2), (3, 2)]),
        (2, {1, 3}, 3),
        (0, (0, 1), 0),
    ],
)
def test_the_agent_answers_the_version_or_its_latest(requested: int, supported: Any, answered: int) -> None:
    assert negotiate(requested, supported) == answered


@given(st.integers(0, 65535), st.sets(st.integers(0, 65535), min_size=1))
def test_the_answer_is_always_one_the_agent_speaks(requested: int, supported: set[int]) -> None:
    assert negotiate(requested, supported) in supported
    assert negotiate(requested, supported | {requested}) == requested


@pytest.mark.parametrize("wrong", [-1, 65536, "2", 2.0, True, None])
def test_what_is_no_version(wrong: Any) -> None:
    with pytest.raises(InvalidParams, match="protocolVersion"):
        negotiate(wrong)


def test_an_agent_that_speaks_nothing() -> None:
    with pytest.raises(UsageError):
        negotiate(2, ())


GOOD = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {"session": {}}}
FALSE_2 = {
    "protocolVersion": 2,
    "agentCapabilities": {"loadSession": True, "promptCapabilities": {"image": True}},
    "agentInfo": {"name": "a", "version": "1"},
    "authMethods": [{"id": "login", "name": "Log in", "description": "..."}],
}


@pytest.mark.parametrize("form", [json.dumps(GOOD).encode(), bytearray(json.dumps(GOOD).encode()), GOOD])
def test_a_good_answer_in_any_form(form: Any) -> None:
    answer = check_initialize_result(form, 2)
    assert answer.capabilities.session == s.SessionCapabilities()
    assert check_initialize_result(answer) == answer
    assert check_initialize_result(memoryview(s.encode(answer))) == answer
    assert check_initialize_result(msgspec.Raw(s.encode(answer)), profile=s.STRICT) == answer


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (FALSE_2, "answered protocol version 2, but not in its shape: info: .*those of version 1"),
        ({"protocolVersion": 2}, r"not in its shape: info: required member is missing$"),
        ({"protocolVersion": 2, "agentCapabilities": {}}, "those of version 1"),
        ({**GOOD, "info": {"name": "a"}}, "not in its shape: info.version"),
        ({**GOOD, "info": None}, "not in its shape: info"),
        ({**FALSE_2, "protocolVersion": 1}, "speaks protocol version 1, this client offered 2"),
        ({**GOOD, "protocolVersion": 3}, "speaks protocol version 3"),
        ({**GOOD, "protocolVersion": "2"}, "has no protocol version"),
        ({**GOOD, "protocolVersion": None}, "has no protocol version"),
        ({"info": GOOD["info"]}, "has no protocol version"),
        ([], "has no protocol version"),
        (None, "has no protocol version"),
        ("2", "has no protocol version"),
    ],
)
def test_an_answer_that_is_none_of_the_offered_version(answer: Any, told: str) -> None:
    with pytest.raises(ProtocolError, match=told) as found:
        check_initialize_result(json.dumps(answer).encode())
    assert type(found.value) is ProtocolError


def test_other_versions_a_client_speaks() -> None:
    with pytest.raises(ProtocolError, match="offered 3"):
        check_initialize_result(GOOD, 3)
    assert check_initialize_result(GOOD, 3, supported=(2, 3)).protocol_version == 2
    assert SUPPORTED == (2,)


def test_a_strict_client_forgives_nothing() -> None:
    answer = {**GOOD, "capabilities": {"session": True}}
    assert check_initialize_result(answer).capabilities.session is None
    with pytest.raises(ProtocolError, match=r"capabilities\.session"):
        check_initialize_result(answer, profile=s.STRICT)


# --- the first exchange

ALL_AGENT = agent(
    s.AuthMethodAgent(method_id="login", name="Log in"),
    session={
        "prompt": {"image": {}, "audio": {}, "embeddedContext": {}},
        "mcp": {"stdio": {}, "http": {}, "acp": {}},
        "delete": {},
        "additionalDirectories": {},
        "fork": {},
    },
    providers={},
    nes={"events": {"document": {f"did{x}": {} for x in ("Open", "Close", "Save", "Focus")}}, "context": {}},
)
assert ALL_AGENT.capabilities.nes is not None
assert ALL_AGENT.capabilities.nes.events is not None
assert ALL_AGENT.capabilities.nes.events.document is not None
ALL_AGENT.capabilities.nes.events.document.did_change = s.NesDocumentDidChangeCapabilities(sync_kind="incremental")
ALL_CLIENT = client(elicitation={"form": {}, "url": {}}, auth={"terminal": {}})
ROLES: tuple[Role, Role] = ("client", "agent")
NAMES = [*dict.fromkeys(method.name for method in METHODS), "_ext/x", "later/method"]


def test_before_the_answer_nothing_but_initialize() -> None:
    for role in ROLES:
        for state in (Rules(role), Rules(role, client())):
            allowed = {(by, name) for by in ROLES for name in NAMES if state.forbids(name, by=by) is None}
            first = {("client", "initialize")} if state.forbids("initialize", by="client") is None else set()
            assert allowed == {("client", "$/cancel_request"), ("agent", "$/cancel_request")} | first
            assert not state.ready
        assert Rules(role).forbids("initialize", by="client") is None
        assert "waits for its answer" in (Rules(role, client()).forbids("initialize", by="client") or "")


def test_the_first_exchange_step_by_step() -> None:
    request = s.InitializeRequest(protocol_version=2, info=INFO, capabilities=ALL_CLIENT)
    state = Rules("agent")
    assert state.forbids_peer(request) is None
    state.asked(request)
    assert state.forbids_peer(s.ListSessionsRequest()) == (
        "session/list: nothing but initialize may be sent before its answer"
    )
    state.refused()
    assert state.forbids_peer(request) is None
    state.asked(request)
    state.answered(ALL_AGENT)
    state.refused()  # of a second one, which is refused
    assert state.ready
    assert state.forbids_peer(s.ListSessionsRequest()) is None
    assert state.forbids_peer(request) == "initialize: it has been answered"
    assert state.forbids(request) == "initialize: only a client sends it"
    assert state.forbids(s.ElicitationUrlMode(elicitation_id="e", url="u", message="m", session_id="s")) is None


# --- methods

BASE = {
    ("client", "initialize"),
    *((role, name) for role in ROLES for name in ("$/cancel_request", "_ext/x", "later/method")),
}
SESSION = {
    ("client", f"session/{x}") for x in ("new", "list", "resume", "close", "prompt", "cancel", "set_config_option")
}
SESSION |= {("agent", "session/update"), ("agent", "session/request_permission")}
NES = {("client", f"nes/{x}") for x in ("start", "suggest", "close", "accept", "reject")}
MCP = {("client", "mcp/message"), *(("agent", f"mcp/{x}") for x in ("message", "connect", "disconnect"))}
PROVIDERS = {("client", f"providers/{x}") for x in ("list", "set", "disable")}
LOGIN = {("client", "auth/login"), ("client", "auth/logout")}


def document(event: str, **members: Any) -> dict[str, Any]:
    return {"events": {"document": {event: members}}}


METHOD_GATES: list[tuple[Any, Any, set[tuple[str, str]]]] = [
    (client(), agent(), set()),
    (client(), agent(session={}), SESSION),
    (client(), agent(session={"_meta": {"x": 1}}), SESSION),
    (client(), agent(session=None), set()),
    (client(), agent(session=True), set()),
    (client(), agent(session={"delete": {}}), SESSION | {("client", "session/delete")}),
    (client(), agent(session={"delete": None, "fork": None}), SESSION),
    (client(), agent(session={"fork": {}}), SESSION | {("client", "session/fork")}),
    (client(), agent(session={"mcp": {"acp": {}}}), SESSION | MCP),
    (client(), agent(session={"mcp": {"http": {}, "stdio": {}}}), SESSION),
    (client(), agent(providers={}), PROVIDERS),
    (client(), agent(auth={}), set()),
    (client(auth={"terminal": {}}), agent(), set()),
    (client(), agent(s.AuthMethodAgent(method_id="a", name="A")), LOGIN),
    (client(), agent(nes={}), NES),
    (client(), agent(nes=document("didOpen")), NES | {("client", "document/didOpen")}),
    (client(), agent(nes=document("didChange", syncKind="full")), NES | {("client", "document/didChange")}),
    (client(), agent(nes=document("didChange")), NES),
    (client(), agent(nes=document("didClose")), NES | {("client", "document/didClose")}),
    (client(), agent(nes=document("didSave")), NES | {("client", "document/didSave")}),
    (client(), agent(nes=document("didFocus")), NES | {("client", "document/didFocus")}),
    (client(elicitation={}), agent(), set()),
    (client(elicitation={"form": {}}), agent(), {("agent", "elicitation/create")}),
    (client(elicitation={"url": {}}), agent(), {("agent", "elicitation/create"), ("agent", "elicitation/complete")}),
]


@pytest.mark.parametrize(("declared", "answer", "opened"), METHOD_GATES)
@pytest.mark.parametrize("role", ROLES)
def test_what_each_capability_opens(role: Role, declared: Any, answer: Any, opened: set[tuple[str, str]]) -> None:
    state = rules(role, declared, answer)
    allowed = {(by, name) for by in ROLES for name in NAMES if state.forbids(name, by=by) is None}
    assert allowed == (BASE | opened) - {("client", "initialize")}
    own = {name for name in NAMES if state.forbids(name) is None}
    assert own == {name for by, name in allowed if by == role}
    assert {name for name in NAMES if state.forbids_peer(name) is None} == {n for by, n in allowed if by != role}


def test_every_gate_of_the_table_is_tried() -> None:
    opened = set().union(*(opened for _, _, opened in METHOD_GATES)) | BASE
    table = {(by, method.name) for method in METHODS for by in ROLES if method.side in ("both", *(set(ROLES) - {by}))}
    assert table <= opened
    assert {name for _, name in opened} == set(NAMES)


@pytest.mark.parametrize("method", [method for method in METHODS if method.name != "initialize"], ids=repr)
def test_a_refusal_names_the_method_and_what_is_missing(method: s.Method) -> None:
    told = rules().forbids(method.name, by="agent" if method.side == "client" else "client")
    if method.name == "$/cancel_request":
        assert told is None
    else:
        gate = method.gate.split(" ")[0] or "session"
        assert told is not None
        assert told.startswith(f"{method.name}: the ")
        assert ("session" if gate == "configOptions" else gate) in told
    backwards = rules("agent", ALL_CLIENT, ALL_AGENT).forbids(
        method.name, by="client" if method.side == "client" else "agent"
    )
    assert (backwards is None) == (method.side == "both")


# --- what is in the params

TEXT = s.TextContent(text="x")
RANGE = s.Range(start=s.Position(line=0, character=0), end=s.Position(line=0, character=1))
RECENT = s.NesRecentFile(uri="u", language_id="py", text="x")
FIELDS: dict[str, Any] = {
    "recent_files": [RECENT],
    "related_snippets": [s.NesRelatedSnippet(uri="u", excerpts=[])],
    "edit_history": [s.NesEditHistoryEntry(uri="u", diff="")],
    "user_actions": [s.NesUserAction(action="a", uri="u", position=RANGE.start, timestamp_ms=1)],
    "open_files": [s.NesOpenFile(uri="u", language_id="py")],
    "diagnostics": [s.NesDiagnostic(uri="u", range=RANGE, severity="error", message="m")],
}
WIRE = {"recent_files": "recentFiles", "related_snippets": "relatedSnippets", "edit_history": "editHistory"}
WIRE |= {"user_actions": "userActions", "open_files": "openFiles", "diagnostics": "diagnostics"}


def prompt(*blocks: Any) -> s.PromptRequest:
    return s.PromptRequest(session_id="s", prompt=[TEXT, *blocks])


def suggest(**context: Any) -> s.SuggestNesRequest:
    return s.SuggestNesRequest(
        session_id="s",
        uri="u",
        version=1,
        position=RANGE.start,
        trigger_kind="manual",
        context=s.NesSuggestContext(**context),
    )


def change(*ranges: Any) -> s.DidChangeDocumentNotification:
    changes = [s.TextDocumentContentChangeEvent(text="x", range=range) for range in ranges]
    return s.DidChangeDocumentNotification(session_id="s", uri="u", version=1, content_changes=changes)


def opening(kind: str, **members: Any) -> Any:
    if kind == "new":
        return s.NewSessionRequest(cwd="/w", **members)
    return {"resume": s.ResumeSessionRequest, "fork": s.ForkSessionRequest}[kind](session_id="s", cwd="/w", **members)


def form(**members: Any) -> s.ElicitationFormMode:
    return s.ElicitationFormMode(requested_schema=s.ElicitationSchema(), message="m", session_id="s", **members)


IMAGE = s.ImageContent(data="", mime_type="image/png")
AUDIO = s.AudioContent(data="", mime_type="audio/wav")
RESOURCE = s.EmbeddedResource(resource=s.TextResourceContents(text="x", uri="u"))
LINK = s.ResourceLink(name="n", uri="u")
STDIO = s.McpServerStdio(name="n", command="/c")
HTTP = s.McpServerHttp(name="n", url="u")
ACP = s.McpServerAcp(name="n", server_id="a")
UNKNOWN_BLOCK = s.OtherContentBlock.of({"type": "_hologram"})
UNKNOWN_SERVER = s.OtherMcpServer.of({"type": "_pipe"})
UNKNOWN_LOGIN = s.OtherAuthMethod.of({"type": "_sso", "methodId": "sso", "name": "SSO"})
URL = s.ElicitationUrlMode(elicitation_id="e", url="u", message="m", session_id="s")
UNKNOWN_MODE = s.OtherCreateElicitationRequest.of({"mode": "_voice", "message": "m", "sessionId": "s"})
FORM_CLIENT, URL_CLIENT = client(elicitation={"form": {}}), client(elicitation={"url": {}})

#: Params; capabilities with which they are forbidden; those with which they are not; what is missing.
PARAM_GATES: list[tuple[Any, Any, Any, str]] = [
    (prompt(IMAGE), agent(session={"prompt": {"audio": {}}}), agent(session={"prompt": {"image": {}}}), "prompt.image"),
    (prompt(AUDIO), agent(session={"prompt": {"image": {}}}), agent(session={"prompt": {"audio": {}}}), "prompt.audio"),
    (
        prompt(LINK, RESOURCE),
        agent(session={"prompt": {"image": {}}}),
        agent(session={"prompt": {"embeddedContext": {}}}),
        "prompt.embeddedContext",
    ),
    (prompt(LINK, UNKNOWN_BLOCK), agent(), agent(session={}), "session"),
    *(
        (
            opening(kind, mcp_servers=[UNKNOWN_SERVER, server]),
            agent(session=base),
            agent(session={**base, "mcp": {name: {}}}),
            f"mcp.{name}",
        )
        for kind in ("new", "resume", "fork")
        for base in [{"fork": {}}]
        for name, server in {"stdio": STDIO, "http": HTTP, "acp": ACP}.items()
    ),
    *(
        (
            opening(kind, additional_directories=["/x"]),
            agent(session={"fork": {}}),
            agent(session={"fork": {}, "additionalDirectories": {}}),
            "session.additionalDirectories",
        )
        for kind in ("new", "resume", "fork")
    ),
    (opening("new", mcp_servers=[UNKNOWN_SERVER], additional_directories=[]), agent(), agent(session={}), "session"),
    (
        s.LoginAuthRequest(method_id="sso"),
        agent(s.AuthMethodAgent(method_id="other", name="O")),
        agent(s.AuthMethodAgent(method_id="other", name="O"), UNKNOWN_LOGIN),
        "methodId",
    ),
    (s.LoginAuthRequest(method_id="t"), agent(), agent(s.AuthMethodTerminal(method_id="t", name="T")), "authMethods"),
    (
        change(None, RANGE),
        agent(nes=document("didChange", syncKind="full")),
        agent(nes=document("didChange", syncKind="incremental")),
        "syncKind full",
    ),
    (change(None), agent(nes={}), agent(nes=document("didChange", syncKind="full")), "didChange"),
    *(
        (suggest(**{name: items}), agent(nes={"context": {}}), agent(nes={"context": {WIRE[name]: {}}}), WIRE[name])
        for name, items in FIELDS.items()
    ),
    (
        suggest(recent_files=[RECENT] * 3),
        agent(nes={"context": {"recentFiles": {"maxCount": 2}}}),
        agent(nes={"context": {"recentFiles": {"maxCount": 3}}}),
        "at most 2",
    ),
    (suggest(recent_files=[]), agent(), agent(nes={}), "nes"),
]


@pytest.mark.parametrize(("params", "without", "with_it", "missing"), PARAM_GATES)
def test_what_is_in_the_params(params: Any, without: Any, with_it: Any, missing: str) -> None:
    name = s.methods.of(type(params)).name
    for role in ROLES:
        for form in (params, s.encode(params), msgspec.Raw(s.encode(params)), json.loads(s.encode(params))):
            call = (form,) if form is params else (name, form)
            told = rules(role, None, without).forbids(*call, by="client")
            assert told is not None
            assert told.startswith(f"{name}: ")
            assert missing in told
            assert rules(role, None, with_it).forbids(*call, by="client") is None


@pytest.mark.parametrize(
    ("params", "without", "with_it", "missing"),
    [
        (form(), URL_CLIENT, FORM_CLIENT, "elicitation.form"),
        (URL, FORM_CLIENT, URL_CLIENT, "elicitation.url"),
        (UNKNOWN_MODE, client(elicitation={}), FORM_CLIENT, "elicitation.form or elicitation.url"),
        (s.CompleteElicitationNotification(elicitation_id="e"), FORM_CLIENT, URL_CLIENT, "elicitation.url"),
    ],
)
def test_ways_to_ask_the_user(params: Any, without: Any, with_it: Any, missing: str) -> None:
    assert missing in (rules("agent", without).forbids(params) or "")
    assert rules("agent", with_it).forbids(params) is None
    name = s.methods.of(type(params)).name
    assert missing in (rules("client", without).forbids_peer(name, s.encode(params)) or "")
    assert rules("client", with_it).forbids_peer(name, s.encode(params)) is None


def test_params_that_do_not_fit_are_for_others_to_refuse() -> None:
    state = rules("client", None, agent(session={}))
    for wrong in (b"[]", b"{}", {"prompt": 1}, {"prompt": object()}, msgspec.Raw(b'{"sessionId":"s"}')):
        assert state.forbids("session/prompt", wrong) is None
    assert state.forbids("session/prompt") is None
    assert state.forbids("_ext", b"1") is None


def test_what_is_no_call() -> None:
    with pytest.raises(UsageError, match="not the params of a method"):
        rules().forbids(s.PromptResponse())  # type: ignore[arg-type]


# --- results


@pytest.mark.parametrize(
    ("result", "declared", "missing"),
    [
        (agent(s.AuthMethodTerminal(method_id="t", name="T")), client(auth={"terminal": {}}), "auth.terminal"),
        (agent(positionEncoding="utf-8"), client(positionEncodings=["utf-32", "utf-8"]), "positionEncoding"),
        *(
            (s.SuggestNesResponse(suggestions=[suggestion]), client(nes={name: {}}), f"nes.{name}")
            for name, suggestion in {
                "jump": s.NesJumpSuggestion(suggestion_id="1", uri="u", position=RANGE.start),
                "rename": s.NesRenameSuggestion(suggestion_id="1", uri="u", position=RANGE.start, new_name="n"),
                "searchAndReplace": s.NesSearchAndReplaceSuggestion(
                    suggestion_id="1", uri="u", search="a", replace="b"
                ),
            }.items()
        ),
    ],
)
def test_results_the_client_did_not_declare(result: Any, declared: Any, missing: str) -> None:
    for role in ROLES:
        told = Rules(role, client()).forbids_result(result)
        assert told is not None
        assert missing in told
        assert Rules(role, declared).forbids_result(result) is None


def test_results_that_need_nothing() -> None:
    edit = s.NesEditSuggestion(suggestion_id="1", uri="u", edits=[s.NesTextEdit(range=RANGE, new_text="x")])
    unknown = s.OtherNesSuggestion.of({"kind": "_odd", "suggestionId": "1"})
    free = [
        agent(UNKNOWN_LOGIN, s.AuthMethodAgent(method_id="a", name="A"), positionEncoding="utf-16"),
        s.SuggestNesResponse(suggestions=[edit, unknown]),
        s.PromptResponse(),
    ]
    for result in free:
        assert Rules("agent", client()).forbids_result(result) is None  # type: ignore[arg-type]


# --- what earlier calls have shown

OPTIONS = [s.SessionConfigBoolean(config_id="c", name="C", current_value=True)]
SET = s.SetSessionConfigBooleanRequest(session_id="s", config_id="c", value=True)
UNKNOWN_SET = s.OtherSetSessionConfigOptionRequest.of({"type": "_x", "sessionId": "s", "configId": "c", "value": 1})


@pytest.mark.parametrize("request_", [SET, UNKNOWN_SET])
def test_options_can_be_set_where_some_were_reported(request_: Any) -> None:
    state = rules("client", None, ALL_AGENT)
    assert state.forbids(request_) is None  # nothing was learned of this session
    state.learn(s.NewSessionRequest(cwd="/w"), result=s.NewSessionResponse(session_id="s"))
    assert state.forbids(request_) == "session/set_config_option: this session reported no configuration options"
    update = s.UpdateSessionNotification(session_id="s", update=s.ConfigOptionUpdate(config_options=OPTIONS))
    state.learn("session/update", s.encode(update))
    assert state.forbids(request_) is None
    state.learn(s.CloseSessionRequest(session_id="s"), result=b"{}")
    state.learn("session/resume", {"sessionId": "s", "cwd": "/w"}, {})
    assert state.forbids(request_) is not None
    state.learn(SET, result=s.SetSessionConfigOptionResponse(config_options=OPTIONS))
    assert state.forbids(request_) is None


@pytest.mark.parametrize("kind", ["new", "resume", "fork"])
def test_every_opening_may_report_options(kind: str) -> None:
    results: dict[str, Any] = {
        "new": s.NewSessionResponse(session_id="s", config_options=OPTIONS),
        "resume": s.ResumeSessionResponse(config_options=OPTIONS),
        "fork": s.ForkSessionResponse(session_id="s", config_options=OPTIONS),
    }
    state = rules("agent", None, ALL_AGENT)
    state.learn(opening(kind), result=results[kind])
    assert state.forbids_peer(SET) is None
    assert state.forbids_peer(s.SetSessionConfigValueRequest(session_id="s", config_id="c", value="v")) is None


def test_options_told_during_a_replay_count() -> None:
    state = rules("client", None, ALL_AGENT)
    update = s.UpdateSessionNotification(session_id="s", update=s.ConfigOptionUpdate(config_options=OPTIONS))
    state.learn(update)
    state.learn(opening("resume"), result=s.ResumeSessionResponse())
    assert state.forbids(SET) is None


def test_only_declared_servers_are_connected_to() -> None:
    connect = s.ConnectMcpRequest(server_id="a")
    for role in ROLES:
        state = rules(role, None, ALL_AGENT)
        assert state.forbids(connect, by="agent") is None  # nothing was learned
        state.learn(opening("new", mcp_servers=[STDIO]))
        told = state.forbids(connect, by="agent")
        assert told == "mcp/connect: the client declared no MCP server of type acp with this id"
        state.learn("session/fork", s.encode(opening("fork", mcp_servers=[ACP])))
        assert state.forbids(connect, by="agent") is None
        assert state.forbids(s.ConnectMcpRequest(server_id="b"), by="agent") is not None


def test_a_required_provider_stays() -> None:
    def provider(id: str, required: bool) -> s.ProviderInfo:
        return s.ProviderInfo(provider_id=id, supported=["openai"], required=required)

    state = rules("client", None, ALL_AGENT)
    disable = s.DisableProviderRequest(provider_id="a")
    assert state.forbids(disable) is None
    listed = s.ListProvidersResponse(providers=[provider("a", True), provider("b", False)])
    state.learn("providers/list", None, s.encode(listed))
    assert state.forbids(disable) == "providers/disable: a required provider cannot be disabled"
    assert state.forbids(s.DisableProviderRequest(provider_id="b")) is None
    state.learn(s.ListProvidersRequest(), result=s.ListProvidersResponse(providers=[provider("a", False)]))
    assert state.forbids(disable) is None


def test_what_does_not_fit_teaches_nothing() -> None:
    state = rules("client", None, ALL_AGENT)
    for name in LESSONS:
        for params in (None, b"{}", b"[1]", {"cwd": 5}):
            for result in (None, b"5", {"x": 1}):
                state.learn(name, params, result)
    state.learn("_ext/x", b"1", b"2")
    state.learn(prompt(), result=s.PromptResponse())
    assert state.forbids(SET) is None
    assert state.forbids(s.ConnectMcpRequest(server_id="a"), by="agent") is None


def test_beyond_many_ids_nothing_is_held_against_anyone() -> None:
    state = rules("agent", None, ALL_AGENT)
    connect = s.ConnectMcpRequest(server_id="missing")
    state.learn(opening("new", mcp_servers=[s.McpServerAcp(name="n", server_id=str(n)) for n in range(MANY)]))
    assert state.forbids(connect) is not None
    state.learn(opening("new", mcp_servers=[ACP]))
    assert state.forbids(connect) is None
