"""The table of methods against the JSON schema, and what the types know of it."""

from __future__ import annotations

from typing import Any

import alpha2
import pytest

from acpcore import schema
from acpcore.schema import methods, v2

CANCEL = "$/cancel_request"


def test_the_table_is_the_schemas() -> None:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for name, definition in alpha2.definitions().items():
        if "x-method" in definition:
            role = next(role for role in ("Request", "Notification", "Response") if name.endswith(role))
            kind = "notification" if role == "Notification" else "request"
            entry = found.setdefault((definition["x-method"], kind), {"side": definition["x-side"]})
            entry["result" if role == "Response" else "params"] = name
            assert entry["side"] == definition["x-side"]
    assert {(method.name, method.kind) for method in schema.METHODS} == found.keys()
    for method in schema.METHODS:
        entry = found[method.name, method.kind]
        assert method.side == {"protocol": "both"}.get(entry["side"], entry["side"])
        assert method.params is getattr(v2, entry["params"])
        assert method.result is (getattr(v2, entry["result"]) if "result" in entry else None)


def test_the_envelopes_name_the_same_params_and_results() -> None:
    definitions = alpha2.definitions()
    for envelope, side, kind in (
        ("ClientRequest", "agent", "request"),
        ("AgentRequest", "client", "request"),
        ("ClientNotification", "agent", "notification"),
        ("AgentNotification", "client", "notification"),
    ):
        refs = {alpha2.ref(option) for option in _options(definitions[envelope]["properties"]["params"])} - {None}
        ours = {
            method.params.__name__
            for method in methods.handled_by(side)
            if method.kind == kind and method.name != CANCEL
        }  # type: ignore[arg-type]
        assert refs - {"ExtRequest", "ExtNotification"} == ours
    for envelope, side in (("AgentResponse", "agent"), ("ClientResponse", "client")):
        result = definitions[envelope]["anyOf"][0]["properties"]["result"]
        refs = {alpha2.ref(option) for option in _options(result)} - {"ExtResponse", None}
        requests = [method for method in methods.handled_by(side) if method.kind == "request"]  # type: ignore[arg-type]
        assert refs == {getattr(method.result, "__name__", "") for method in requests} - {"Any", ""} | {
            "MessageMcpResponse"
        }


def _options(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [inner for option in found["anyOf"] for inner in option.get("anyOf", [option])]


def test_33_methods_by_side_and_the_one_of_the_protocol() -> None:
    agent = {method.name for method in methods.handled_by("agent")} - {CANCEL}
    client = {method.name for method in methods.handled_by("client")} - {CANCEL}
    assert (len(agent), len(client), agent & client) == (26, 7, {"mcp/message"})
    stable = {method.name for method in schema.METHODS if method.stable}
    assert (len(stable & agent), len(stable & client), len(stable)) == (11, 2, 14)
    assert [method.name for method in schema.METHODS if not method.gate] == [
        "initialize", "session/request_permission", "session/update", CANCEL,
    ]  # fmt: skip


def test_looking_up() -> None:
    prompt = methods.find("session/prompt")
    assert prompt is not None and (prompt.params, prompt.result) == (v2.PromptRequest, v2.PromptResponse)
    assert methods.find("session/prompt", "notification") is None
    assert methods.find("_vendor/thing") is None
    request, notification = methods.find("mcp/message"), methods.find("mcp/message", "notification")
    assert request is methods.of(v2.MessageMcpRequest) and request.result is Any
    assert notification is methods.of(v2.MessageMcpNotification) and notification.result is None
    with pytest.raises(LookupError, match="TextContent"):
        methods.of(v2.TextContent)


def test_a_type_knows_its_method() -> None:
    assert v2.PromptRequest.__acp_method__.name == "session/prompt"
    assert v2.PromptRequest(session_id="s", prompt=[]).__acp_method__.result is v2.PromptResponse
    for kind in (v2.ElicitationFormMode, v2.ElicitationUrlMode, v2.OtherCreateElicitationRequest):
        assert kind.__acp_method__ is v2.CreateElicitationRequest.__acp_method__
    assert not hasattr(v2.PromptResponse, "__acp_method__")
    for method in schema.METHODS:
        base = schema.Request if method.kind == "request" else schema.Notification
        assert issubclass(method.params, base)
        assert method.params.__acp_method__ is method


def test_the_table_in_the_docs_is_this_table() -> None:
    text = (alpha2.ROOT / "docs/schema.md").read_text("utf-8")
    for method in schema.METHODS:
        result = {None: "", Any: "any JSON"}.get(method.result, f"`{getattr(method.result, '__name__', '')}`")
        assert f"| `{method.name}` | {method.side} | {method.kind} | `{method.params.__name__}` | {result} |" in text
    assert text.count("| request |") + text.count("| notification |") == len(schema.METHODS)
