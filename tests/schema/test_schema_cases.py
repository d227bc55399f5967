"""The wire cases that are about types: unknown and malformed variants, patches, wrong params."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from acpcore import schema
from acpcore.schema import UNSET, InvalidParams, methods, v2

CASES = Path(__file__).resolve().parents[1] / "cases"


def params(name: str) -> list[tuple[Any, bytes]]:
    """Type and JSON text of the params of each line of a case."""
    found = []
    for line in (CASES / f"{name}.bin").read_bytes().splitlines():
        message = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        method = methods.find(json.loads(bytes(message["method"])))
        assert method is not None
        found.append((method.params, bytes(message["params"])))
    return found


def test_30_unknown_variants() -> None:
    lines = params("30-unknown-variants")
    future, vendor, tool, chunk = (schema.decode(kind, text).update for kind, text in lines)
    assert isinstance(future, v2.OtherSessionUpdate) and future.tag == "future_thing"
    assert future.raw == b'{"sessionUpdate":"future_thing","alpha":[1,null,{"b":2}],"messageId":"m1"}'
    assert isinstance(vendor, v2.OtherSessionUpdate) and vendor.tag == "_vendor.example/heat"
    assert (tool.status, tool.kind) == ("_paused", "teleport")
    assert [(type(item), item.raw) for item in tool.content] == [
        (v2.OtherToolCallContent, b'{"type":"hologram","z":1}')
    ]
    assert chunk == v2.AgentMessageChunk(message_id="m1", content=v2.TextContent(text="known"))
    for kind, text in lines:
        assert json.loads(schema.encode(schema.decode(kind, text))) == json.loads(text)


def test_31_malformed_known_variants() -> None:
    *bad, good = params("31-malformed-known-variants")
    paths = []
    for kind, text in bad:
        with pytest.raises(InvalidParams) as fault:
            schema.decode(kind, text)
        paths.append(fault.value.path)
    assert paths == ["update.content", "update.data", "update.data", "update.sessionUpdate"]
    assert schema.decode(*good).update.content.text == "still alive"


def test_32_omitted_null_value() -> None:
    lines = params("32-omitted-null-value")
    first, exit_, command, gone, empty, unchanged, cleared = (schema.decode(*line).update for line in lines)
    assert (first.command, first.cwd, first.output.data, first.exit_status) == ("make", "/w", b"abc", UNSET)
    assert (exit_.command, exit_.exit_status) == (UNSET, v2.TerminalExitStatus(exit_code=3221225786))
    assert (command.command, command.cwd, command.output) == (None, UNSET, UNSET)
    assert (gone.command, gone.output, gone.exit_status) == (UNSET, None, None)
    assert (empty.content, unchanged.content, cleared.content) == ([], UNSET, None)
    for kind, text in lines:
        again = json.loads(schema.encode(schema.decode(kind, text)))
        sent = json.loads(text)
        sent["update"].get("exitStatus") and sent["update"]["exitStatus"].pop("signal", None)  # null there says nothing
        assert again == sent


def test_34_unknown_fields_to_forward() -> None:
    ((kind, text),) = params("34-unknown-fields-to-forward")
    kept = schema.encode(schema.decode(kind, text, keep_unknown=True), keep_unknown=True)
    assert json.loads(kept) == json.loads(text)
    assert b'"futureField":{"b":1,"a":[1.50,1E2,null]}' in kept and b"9007199254740993" in kept


def test_37_wrong_params_name() -> None:
    bad, good = params("37-wrong-params-name")
    with pytest.raises(InvalidParams, match=r"^prompt: required member is missing$"):
        schema.decode(*bad)
    assert schema.decode(*good) == v2.ListSessionsRequest()


def test_38_protocol_version_as_string() -> None:
    bad, good = params("38-protocol-version-as-string")
    with pytest.raises(InvalidParams, match=r"^protocolVersion: expected an integer from 0 to 65535$"):
        schema.decode(*bad)
    assert schema.decode(*good).protocol_version == 2
