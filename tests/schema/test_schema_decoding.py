"""Decoding and encoding by hand-picked examples: three states, states, base64, numbers, errors, profiles."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpcore import schema
from acpcore.errors import ProtocolError
from acpcore.schema import UNSET, InvalidParams, Other, v2


def update(**members: Any) -> bytes:
    return json.dumps({"sessionId": "s", "update": members}).encode()


def told(kind: Any, text: bytes) -> tuple[Any, list[tuple[str, str]]]:
    dropped: list[tuple[str, str]] = []
    return schema.decode(kind, text, on_dropped=lambda path, reason: dropped.append((path, reason))), dropped


# --- three states

PATCHES: list[tuple[type[Any], dict[str, Any], dict[str, Any]]] = [
    (v2.UserMessage, {"messageId": "m"}, {"content": [{"type": "text", "text": "t"}], "_meta": {"a": 1}}),
    (v2.AgentMessage, {"messageId": "m"}, {"content": [], "_meta": {}}),
    (v2.AgentThought, {"messageId": "m"}, {"content": [{"type": "_x", "y": [1,  2]}], "_meta": {"a": None}}),
    (
        v2.ToolCallPatch,
        {"toolCallId": "c"},
        {
            "name": "n", "title": "", "kind": "read", "status": "_paused", "content": [], "locations": [{"path": "/a"}],
            "rawInput": [None], "rawOutput": False, "_meta": {},
        },
    ),
    (
        v2.TerminalUpdate,
        {"terminalId": "t"},
        {"command": "c", "cwd": "/", "output": {"data": ""}, "exitStatus": {}, "_meta": {"x": {}}},
    ),
    (v2.SessionInfoUpdate, {}, {"title": "t", "updatedAt": "2026-07-21T00:00:00Z", "_meta": {}}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "base", "fields"), PATCHES)
def test_a_patch_field_keeps_omitted_null_and_value_apart(
    kind: type[Any], base: dict[str, Any], fields: dict[str, Any]
) -> None:
    names = {field.encode_name: field.name for field in msgspec.structs.fields(kind)}
    tag = {} if kind.__struct_config__.tag is None else {"sessionUpdate": kind.__struct_config__.tag}
    assert set(names) == {*base, *fields}
    for wire, value in fields.items():
        for sent, expected in ((base, UNSET), (base | {wire: None}, None), (base | {wire: value}, value)):
            made = schema.decode(kind, json.dumps(sent).encode())
            got = getattr(made, names[wire])
            assert got is expected if expected in (UNSET, None) else json.loads(schema.encode(got)) == value
            assert json.loads(schema.encode(made)) == tag | sent


def test_a_patch_field_of_a_wrong_type_counts_as_omitted() -> None:
    made, dropped = told(
        v2.UpdateSessionNotification,
        update(sessionUpdate="terminal_update", terminalId="t", command=5, exitStatus=[], output={"data": "@"}),
    )
    assert made.update == v2.TerminalUpdate(terminal_id="t")
    assert [path for path, _ in dropped] == ["update.command", "update.output", "update.exitStatus"]
    assert dropped[1][1] == "data: invalid base64"


def test_free_json_is_never_malformed() -> None:
    text = b'{"toolCallId":"c","rawInput":1e400,"rawOutput":[1e-400,-0.0,123456789012345678901234567890]}'
    made = schema.decode(v2.ToolCallPatch, text)
    assert made.raw_input == 10**400
    assert made.raw_output == [0.0, -0.0, 123456789012345678901234567890]
    assert json.loads(schema.encode(made))["rawInput"] == 10**400
    made, dropped = told(v2.ToolCallPatch, b'{"toolCallId":"c","rawInput":[1e999999999]}')
    assert made.raw_input is UNSET and dropped == [("rawInput", "holds a number out of range")]


# --- the doubly tagged state


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("running", v2.RunningStateUpdate),
        ("idle", v2.IdleStateUpdate),
        ("requires_action", v2.RequiresActionStateUpdate),
    ],
)
def test_a_state_update_is_of_the_class_of_its_state(state: str, kind: type[v2.StateUpdate]) -> None:
    text = update(sessionUpdate="state_update", state=state, _meta={"a": 1})
    for options in ({}, {"keep_unknown": True}, {"profile": schema.TOLERANT}):
        made = schema.decode(v2.UpdateSessionNotification, text, **options).update
        assert isinstance(made, kind) and (made.state, made.meta) == (state, {"a": 1})
    assert json.loads(schema.encode(made)) == json.loads(text)["update"]
    assert type(v2.StateUpdate(state=state)) is kind  # type: ignore[arg-type]
    assert kind() == v2.StateUpdate(state=state)  # type: ignore[arg-type]
    assert json.loads(schema.encode(kind())) == {"sessionUpdate": "state_update", "state": state}


def test_a_state_nobody_knows_is_kept() -> None:
    text = b'{"sessionUpdate":"state_update","state":"_napping","until": 5 }'
    made = schema.decode(v2.SessionUpdate, text)
    assert isinstance(made, v2.OtherStateUpdate) and made.tag == "_napping"
    assert schema.encode(made) == text
    for bad in (b"5", b"null", b"[]"):
        with pytest.raises(InvalidParams, match=r"^state: "):
            schema.decode(v2.SessionUpdate, b'{"sessionUpdate":"state_update","state":' + bad + b"}")
    with pytest.raises(InvalidParams, match=r"^state: required member is missing$"):
        schema.decode(v2.SessionUpdate, b'{"sessionUpdate":"state_update"}')


# --- base64


def is_canonical(text: str) -> bool:
    """The standard library's opinion, by its own decoder and encoder."""
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)).decode() == text
    except (binascii.Error, ValueError):
        return False


@given(
    st.one_of(
        st.binary(max_size=40).map(lambda data: base64.b64encode(data).decode()),
        st.text("AQgwz059+/=-_ \n", max_size=9),
        st.text(max_size=5),
    )
)
def test_only_canonical_base64_is_taken(text: str) -> None:
    sent = json.dumps({"terminalId": "t", "data": text}).encode()
    if is_canonical(text):
        made = schema.decode(v2.TerminalOutputChunk, sent)
        assert type(made.data) is bytes and made.data == base64.b64decode(text)
        assert json.loads(schema.encode(made))["data"] == text
        assert schema.decode(v2.TerminalOutputChunk, sent.replace(b"/", b"\\/").replace(b"A", b"\\u0041")) == made
    else:
        with pytest.raises(InvalidParams, match=r"^data: invalid base64$"):
            schema.decode(v2.TerminalOutputChunk, sent)
        with pytest.raises(msgspec.ValidationError):
            schema.decoder(v2.TerminalOutputChunk).decode(sent)


@pytest.mark.parametrize(
    "text", ["YR==", "YWK=", "YQ", "YQ=", "YQ===", "Y", "=", "YQ==YQ==", "YW=j", "YQ== ", "YWJj\n", "YW-_"]
)
def test_base64_that_is_not_canonical(text: str) -> None:
    assert not is_canonical(text)
    with pytest.raises(InvalidParams, match=r"^output\.data: invalid base64$"):
        schema.decode(
            v2.TerminalUpdate,
            json.dumps({"terminalId": "t", "output": {"data": text}}).encode(),
            profile=schema.STRICT,
        )


def test_bytes_of_any_kind_are_written_as_base64() -> None:
    for data in (b"abc", bytearray(b"abc"), memoryview(b"abc"), type("B", (bytes,), {})(b"abc")):
        assert schema.encode(v2.TerminalOutput(data=data)) == b'{"data":"YWJj"}'


# --- numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7), ("7.0", 7), ("70e-1", 7), ("0.7E+1", 7), ("-0", 0), ("-0.0", 0),
        ("4294967295.0", 2**32 - 1), ("4.294967295e9", 2**32 - 1),
    ],
)  # fmt: skip
def test_a_number_without_a_fraction_is_an_integer(text: str, value: int) -> None:
    made = schema.decode(v2.Position, f'{{"line":{text},"character":0}}'.encode())
    assert type(made.line) is int and made.line == value


@pytest.mark.parametrize(
    "text", ["7.5", "-1", "-1.0", "4294967296", "4294967296.0", "1e99999999999", "1e-1", '"7"', "true", "null"]
)
def test_other_numbers_are_no_uint32(text: str) -> None:
    with pytest.raises(InvalidParams, match=r"^line: expected an integer from 0 to 4294967295$"):
        schema.decode(v2.Position, f'{{"line":{text},"character":0}}'.encode())


def test_large_numbers_stay_exact() -> None:
    made = schema.decode(v2.UsageUpdate, b'{"used":18446744073709551615,"size":9007199254740993}')
    assert (made.used, made.size) == (2**64 - 1, 2**53 + 1)
    assert b"18446744073709551615" in schema.encode(made)
    assert schema.decode(v2.CancelRequestNotification, b'{"requestId":-9223372036854775808}').request_id == -(2**63)
    assert schema.decode(v2.CancelRequestNotification, b'{"requestId":"1"}').request_id == "1"
    assert schema.decode(v2.CancelRequestNotification, b'{"requestId":null}').request_id is None
    for bad in (b"1.5", b"9223372036854775808", b"true", b"[]"):
        with pytest.raises(InvalidParams, match=r"^requestId: "):
            schema.decode(v2.CancelRequestNotification, b'{"requestId":' + bad + b"}")


def test_python_values_out_of_64_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="64 bits"):
        v2.UsageUpdate(used=2**64, size=0)


@pytest.mark.parametrize("text", ["5e-1", "0", "1", "1.0", "0.25"])
def test_priority(text: str) -> None:
    assert schema.decode(v2.Annotations, f'{{"priority":{text}}}'.encode()).priority == float(text)
    assert schema.decode(v2.Annotations, f'{{"priority":{float(text) + 1.5}}}'.encode()).priority is None


# --- untagged unions


def test_a_resource_is_text_or_bytes() -> None:
    text = b'{"type":"resource","resource":{"uri":"u","text":"t","blob":"YQ=="}}'
    assert schema.decode(v2.ContentBlock, text).resource == v2.TextResourceContents(text="t", uri="u")
    blob = b'{"type":"resource","resource":{"uri":"u","text":5,"blob":"YQ==","mimeType":5}}'
    assert schema.decode(v2.ContentBlock, blob).resource == v2.BlobResourceContents(blob="YQ==", uri="u")
    with pytest.raises(InvalidParams, match=r"^resource\.blob: expected a string$"):
        schema.decode(v2.ContentBlock, b'{"type":"resource","resource":{"uri":"u","blob":5}}')


def test_select_options_are_a_list_or_groups() -> None:
    option = '{"value":"v","name":"n"}'
    made = schema.decode(v2.SessionConfigSelectOptions, f"[{option}]".encode())
    assert made == [v2.SessionConfigSelectOption(value="v", name="n")]
    groups, dropped = told(
        v2.SessionConfigSelectOptions, f'[{{"groupId":"g","name":"n","options":[{option},5],"_meta":5}}]'.encode()
    )
    assert groups == [v2.SessionConfigSelectGroup(group_id="g", name="n", options=made)]
    assert [path for path, _ in dropped] == ["[0].options[1]", "[0]._meta"]
    assert schema.decode(v2.SessionConfigSelectOptions, b"[]") == []
    for bad in (f'[{option},{{"groupId":"g","name":"n","options":[]}}]', "{}", "[5]"):
        with pytest.raises(InvalidParams):
            schema.decode(v2.SessionConfigSelectOptions, bad.encode())


def test_choices_of_a_form_are_told_by_their_keys() -> None:
    titled = '"anyOf":[{"const":"c","title":"t"}]'
    kinds = {
        '{"type":"string","enum":["a"]}': v2.StringMultiSelectItems,
        f"{{{titled}}}": v2.TitledMultiSelectItems,
        f'{{"type":"string",{titled}}}': v2.TitledMultiSelectItems,
        f'{{"type":"_x",{titled}}}': v2.OtherMultiSelectItems,
    }
    for text, kind in kinds.items():
        for field in ("", ' , "title" : 5'):  # the second takes the slow way
            made = schema.decode(v2.MultiSelectPropertySchema, f'{{"items":{text}{field}}}'.encode())
            assert type(made.items) is kind
            assert json.loads(schema.encode(made.items)).items() <= json.loads(text).items()
    with pytest.raises(InvalidParams, match=r"^items\.enum: expected at least 1 item$"):
        schema.decode(v2.MultiSelectPropertySchema, b'{"items":{"type":"string","enum":[]}}')


def test_a_question_needs_a_scope() -> None:
    base = '"message":"m","mode":"url","elicitationId":"e","url":"u"'
    session = schema.decode(v2.CreateElicitationRequest, f'{{{base},"sessionId":"s","requestId":{{}}}}'.encode())
    assert isinstance(session, v2.ElicitationUrlMode) and session.session_id == "s" and session.request_id is UNSET
    request = schema.decode(v2.CreateElicitationRequest, f'{{{base},"sessionId":5,"requestId":null}}'.encode())
    assert isinstance(request, v2.ElicitationUrlMode) and request.session_id is UNSET and request.request_id is None
    assert json.loads(schema.encode(request))["requestId"] is None
    other = schema.decode(v2.CreateElicitationRequest, b'{"message":"m","mode":"_x","requestId":1.0}')
    assert isinstance(other, v2.OtherCreateElicitationRequest)
    for scope in ("", ',"toolCallId":"c"', ',"sessionId":5', ',"requestId":1.5'):
        for mode in (base, '"message":"m","mode":"_x"'):
            with pytest.raises(InvalidParams):
                schema.decode(v2.CreateElicitationRequest, f"{{{mode}{scope}}}".encode())
    with pytest.raises(ValueError, match="needs sessionId or requestId"):
        v2.ElicitationUrlMode(message="m", elicitation_id="e", url="u")


def test_a_class_that_stands_for_a_union() -> None:
    made = schema.decode(
        v2.SetSessionConfigOptionRequest, b'{"type":"boolean","value":true,"sessionId":"s","configId":"c"}'
    )
    assert made == v2.SetSessionConfigBooleanRequest(value=True, session_id="s", config_id="c")
    assert isinstance(made, v2.SetSessionConfigOptionRequest)
    other = schema.decode(
        v2.SetSessionConfigOptionRequest, b'{"type":"_x","value":null,"sessionId":"s","configId":"c"}'
    )
    assert isinstance(other, v2.SetSessionConfigOptionRequest) and isinstance(other, Other)
    accept = schema.decode(
        v2.CreateElicitationResponse, b'{"action":"accept","content":{"a":1,"b":1.5,"c":["x"],"d":true}}'
    )
    assert isinstance(accept, v2.ElicitationAcceptAction) and accept.content == {
        "a": 1,
        "b": 1.5,
        "c": ["x"],
        "d": True,
    }
    assert not isinstance(
        schema.decode(v2.CreateElicitationResponse, b'{"action":"agree"}'), v2.ElicitationAcceptAction
    )


# --- unknown variants in Python


def test_an_unknown_variant_made_in_python() -> None:
    made = v2.OtherContentBlock.of({"type": "_x", "a": [1]})
    assert (made.tag, made.raw, made.members) == ("_x", b'{"type":"_x","a":[1]}', {"type": "_x", "a": [1]})
    request = v2.PromptRequest(session_id="s", prompt=[made])
    assert schema.encode(request) == b'{"sessionId":"s","prompt":[{"type":"_x","a":[1]}]}'
    assert schema.decode(v2.PromptRequest, schema.encode(request)) == request
    assert {made} == {v2.OtherContentBlock("_x", made.raw)} and made != v2.OtherMcpServer("_x", made.raw)
    assert "a" not in repr(made).replace("tag", "").split("(")[1]
    for wrong in ({"type": "text"}, {"type": 5}, {}):
        with pytest.raises(ValueError, match="type must be a string"):
            v2.OtherContentBlock.of(wrong)


# --- errors


def test_errors_name_the_place_and_never_the_payload() -> None:
    secret = "hunter2"
    bad: list[tuple[Any, Any, str]] = [
        (v2.NewSessionRequest, {"cwd": [secret]}, "cwd"),
        (
            v2.PromptRequest,
            {"sessionId": "s", "prompt": [{"type": "text", "text": {secret: secret}}]},
            "prompt[0].text",
        ),
        (
            v2.SetProviderRequest,
            {"providerId": "p", "apiType": "a", "baseUrl": "u", "headers": {secret: 5}},
            "headers.*",
        ),
        (v2.ElicitationAcceptAction, {"content": {secret: None}}, "content.*"),
        (v2.SuggestNesRequest, {"sessionId": "s", "uri": "u", "version": secret}, "version"),
        (v2.NesDocumentDidChangeCapabilities, {"syncKind": secret}, "syncKind"),
        (v2.Cost, {"amount": 1, "currency": secret}, "currency"),
        (v2.TerminalOutput, {"data": secret}, "data"),
        (v2.CancelRequestNotification, {"requestId": [secret]}, "requestId"),
    ]
    for kind, instance, path in bad:
        with pytest.raises(InvalidParams) as fault:
            schema.decode(kind, json.dumps(instance).encode())
        assert isinstance(fault.value, ProtocolError) and fault.value.code == -32602
        assert fault.value.path == path and str(fault.value) == f"{path}: {fault.value.reason}"
        assert secret not in str(fault.value)
        assert fault.value.__cause__ is None and fault.value.__suppress_context__


def test_the_whole_value_is_wrong() -> None:
    for text in (b"5", b"[]", b'"x"', b"null", b"true"):
        with pytest.raises(InvalidParams) as fault:
            schema.decode(v2.TextContent, text)
        assert (fault.value.path, str(fault.value)) == ("", "expected an object")
    for text in (b"", b"{", b"{}x", b"\xff", b'"\xff"', b'{"text":"\xff"}'):
        with pytest.raises(InvalidParams, match=r"^not valid JSON$|^text: |^expected an object$"):
            schema.decode(v2.TextContent, text)


def test_absent_params_are_empty_ones() -> None:
    assert schema.decode(v2.ListSessionsRequest, None) == v2.ListSessionsRequest()
    assert schema.decode(v2.ListSessionsRequest, b" null ") == v2.ListSessionsRequest()
    for text in (None, b"null"):
        with pytest.raises(InvalidParams, match=r"^sessionId: required member is missing$"):
            schema.decode(v2.PromptRequest, text)
    with pytest.raises(InvalidParams, match=r"^expected an object$"):
        schema.decode(v2.PromptResponse, b"null")


def test_any_buffer_is_taken_and_none_is_kept() -> None:
    text = b'{"sessionUpdate":"_x","a":"b"}'
    for make in (bytes, bytearray, memoryview, msgspec.Raw):
        assert schema.decode(v2.SessionUpdate, make(text)).raw == text
    buffer = bytearray(text)
    made = schema.decode(v2.SessionUpdate, memoryview(buffer))
    buffer[:] = b"?" * len(buffer)
    assert made.raw == text
    with pytest.raises(TypeError):
        schema.decode(v2.SessionUpdate, 5)  # type: ignore[arg-type]


# --- profiles, later drafts, unknown members


def test_the_tolerant_profile_reads_later_drafts() -> None:
    made = schema.decode(v2.PromptResponse, b'{"messageId":"m"}', profile=schema.TOLERANT)
    assert isinstance(made, schema.later.PromptResponse) and isinstance(made, v2.PromptResponse)
    assert made.message_id == "m" and schema.encode(made) == b'{"messageId":"m"}'
    assert schema.decode(v2.PromptResponse, b'{"messageId":5}', profile=schema.TOLERANT).message_id is None
    assert schema.encode(schema.decode(v2.PromptResponse, b'{"messageId":"m"}')) == b"{}"
    text = update(sessionUpdate="terminal_update", terminalId="t", exitStatus={"exitCode": -1})
    assert schema.decode(v2.UpdateSessionNotification, text, profile=schema.TOLERANT).update.exit_status.exit_code == -1
    assert schema.decode(v2.UpdateSessionNotification, text).update.exit_status.exit_code is None
    assert not schema.TOLERANT.batches and schema.ALPHA2.batches


def test_strict_forgives_nothing_but_takes_what_is_unknown() -> None:
    text = b'{"cwd":"/","mcpServers":[{"type":"_x"}],"additionalDirectories":["/a"],"more":1}'
    assert len(schema.decode(v2.NewSessionRequest, text, profile=schema.STRICT).mcp_servers) == 1
    with pytest.raises(InvalidParams, match=r"^additionalDirectories: expected an array$"):
        schema.decode(v2.NewSessionRequest, b'{"cwd":"/","additionalDirectories":null}', profile=schema.STRICT)


def test_unknown_members_come_back_as_they_were() -> None:
    text = (
        b'{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","content":'
        b'[{"type":"content","content":{"type":"text","text":"t","x":[1.50,1E2, null]},"y":{}}]},"z":"\\u00e9"}'
    )
    made = schema.decode(v2.UpdateSessionNotification, text, keep_unknown=True)
    assert schema.encode(made, keep_unknown=True) == text
    assert schema.kept_members(made) == {"z": b'"\\u00e9"'}
    assert schema.kept_members(made.update.content[0].content) == {"x": b"[1.50,1E2, null]"}
    assert isinstance(made.update, v2.ToolCallUpdate) and schema.kept_members(made.update) == {}
    plain = schema.decode(v2.UpdateSessionNotification, text)
    assert schema.encode(plain) == schema.encode(made) and b"1.50" not in schema.encode(plain)
    made.update.content[0].content.text = "u"
    assert b'"text":"u","x":[1.50' in schema.encode(made, keep_unknown=True)
    assert schema.encode(v2.IdleStateUpdate(), keep_unknown=True) == schema.encode(v2.IdleStateUpdate())


def test_decode_is_bare_msgspec_on_the_happy_path() -> None:
    text = update(sessionUpdate="agent_message_chunk", messageId="m", content={"type": "text", "text": "t"})
    made = schema.decode(v2.UpdateSessionNotification, text)
    assert made == schema.decoder(v2.UpdateSessionNotification).decode(text)
    lines = schema.decoder(v2.UpdateSessionNotification).decode_lines(text + b"\n" + text)
    assert lines == [made, made]
    assert schema.decoder(v2.UpdateSessionNotification) is schema.decoder(v2.UpdateSessionNotification)


class Line(msgspec.Struct):
    """An envelope of a host."""

    method: str
    params: v2.UpdateSessionNotification


def test_structs_of_the_host_may_hold_ours() -> None:
    text = b'{"method":"m","params":' + update(sessionUpdate="_x") + b"}"
    made = schema.decode(Line, text)
    assert isinstance(made.params.update, v2.OtherSessionUpdate)
    assert json.loads(schema.encode(made)) == json.loads(text)
    with pytest.raises(InvalidParams, match=r"^params\.update\.sessionUpdate: expected a string$"):
        schema.decode(Line, b'{"method":"m","params":' + update(sessionUpdate=5) + b"}")


def test_a_tool_call_in_a_permission_request_has_no_tag() -> None:
    call = v2.ToolCallUpdate(tool_call_id="c", kind="delete", title=None)
    subject = v2.ToolCallPermissionSubject(tool_call=call)
    assert json.loads(schema.encode(subject)) == {
        "type": "tool_call",
        "toolCall": {"toolCallId": "c", "kind": "delete", "title": None},
    }
    assert type(call) is v2.ToolCallUpdate and type(subject.tool_call) is v2.ToolCallPatch
    assert schema.decode(v2.RequestPermissionSubject, schema.encode(subject)) == subject
