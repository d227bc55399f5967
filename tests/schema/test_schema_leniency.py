"""Which bad values are forgiven and which are not, for every member of every definition, after the marks in the schema.

https://agentclientprotocol.com/protocol/v2/draft/schema
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import alpha2
import instances
import msgspec
import pytest

from acpcore import schema
from acpcore.schema import InvalidParams, Other, v2

# The four definitions that are only a part of a union's objects, by that union.
FOLDED = {
    "ElicitationFormMode": "CreateElicitationRequest",
    "ElicitationUrlMode": "CreateElicitationRequest",
    "SessionConfigSelect": "SessionConfigOption",
    "SessionConfigBoolean": "SessionConfigOption",
}
SCOPES = {"sessionId", "requestId", "toolCallId"}


def objects() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each object definition with a type of its own: name, schema, smallest instance."""
    definitions = alpha2.definitions()
    least = instances.Least(definitions)
    for name, found in definitions.items():
        if found.get("type") == "object" and not alpha2.tag_of(found) and name not in ENVELOPES:
            instance = least.of(name)
            if name in FOLDED:
                union = definitions[FOLDED[name]]
                instance |= least.object({**union, "anyOf": []})
            yield name, found, instance


ENVELOPES = ("AgentRequest", "AgentNotification", "ClientRequest", "ClientNotification", "ProtocolLevelNotification")


def members() -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    for name, found, instance in objects():
        for wire, member in found["properties"].items():
            yield name, wire, member, instance


def decode(name: str, instance: Any, **options: Any) -> Any:
    return schema.decode(getattr(v2, name), json.dumps(instance).encode(), **options)


def value_of(made: Any, wire: str) -> Any:
    field = next(field for field in msgspec.structs.fields(made) if field.encode_name == wire)
    return getattr(made, field.name)


def default_of(name: str, wire: str) -> Any:
    field = next(field for field in msgspec.structs.fields(getattr(v2, name)) if field.encode_name == wire)
    if field.required:
        return []
    return field.default if field.default is not msgspec.NODEFAULT else field.default_factory()


def test_the_smallest_instances_are_taken() -> None:
    assert [name for name, _, instance in objects() if not decode(name, instance, profile=schema.STRICT)] == []


def test_a_bad_value_becomes_the_default_where_the_schema_says_so() -> None:
    checked = 0
    for name, wire, member, instance in members():
        if member.get("x-deserialize-default-on-error"):
            for bad in instances.bad_values(member, alpha2.definitions()):
                if isinstance(bad, list) and member.get("x-deserialize-skip-invalid-items"):
                    continue
                told: list[tuple[str, str]] = []
                made = decode(name, {**instance, wire: bad}, on_dropped=lambda *what, told=told: told.append(what))
                assert value_of(made, wire) == default_of(name, wire), (name, wire, bad)
                assert [path for path, _ in told] == [wire], (name, wire, bad)
                with pytest.raises(InvalidParams) as fault:
                    decode(name, {**instance, wire: bad}, profile=schema.STRICT)
                assert fault.value.path.split(".")[0].split("[")[0] == wire, (name, wire, bad)
                checked += 1
    assert checked > 500


def test_a_bad_value_fails_elsewhere() -> None:
    checked = 0
    for name, wire, member, instance in members():
        if not member.get("x-deserialize-default-on-error"):
            for bad in instances.bad_values(member, alpha2.definitions()):
                with pytest.raises(InvalidParams) as fault:
                    decode(name, {**instance, wire: bad})
                assert fault.value.path.split(".")[0].split("[")[0] == wire, (name, wire, bad)
                checked += 1
    assert checked > 500


def test_a_missing_member_fails_if_it_is_required() -> None:
    for name, found, instance in objects():
        for wire in found.get("required", ()):
            with pytest.raises(InvalidParams) as fault:
                decode(name, {key: value for key, value in instance.items() if key != wire})
            assert (fault.value.path, fault.value.reason) == (wire, "required member is missing")


def test_bad_items_are_dropped_where_the_schema_says_so() -> None:
    checked = 0
    least = instances.Least(alpha2.definitions())
    for name, wire, member, instance in members():
        if alpha2.without_null(member)[0].get("type") != "array":
            continue
        good = least.schema(member["items"])
        sent = {**instance, wire: [good, [7], good]}
        told: list[tuple[str, str]] = []
        if member.get("x-deserialize-skip-invalid-items"):
            made = decode(name, sent, on_dropped=lambda *what, told=told: told.append(what))
            assert len(value_of(made, wire)) == 2 and [path for path, _ in told] == [f"{wire}[1]"], (name, wire)
        elif member.get("x-deserialize-default-on-error"):
            assert value_of(decode(name, sent), wire) == default_of(name, wire)
        else:
            with pytest.raises(InvalidParams, match=rf"^{wire}\[1\]"):
                decode(name, sent)
        with pytest.raises(InvalidParams, match=rf"^{wire}\[1\]"):
            decode(name, sent, profile=schema.STRICT)
        checked += 1
    assert checked > 50


# --- tagged unions


def unions() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, found in alpha2.definitions().items():
        tag = alpha2.tag_of(found)
        if tag:
            yield name, tag, found


def common(found: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """What even an unknown variant must have."""
    least = instances.Least(alpha2.definitions())
    made = least.object({**found, "anyOf": []})
    return made | least.object({**other, "properties": {**other["properties"]}}) | {}


def test_an_unknown_variant_is_kept_byte_for_byte() -> None:
    for name, tag, found in unions():
        other = next(option for option in found["anyOf"] if option.get("title") == "other")
        for value in ("_vendor/thing", "future", ""):
            instance = {**common(found, other), tag: value, "more": [1.50, {"é": None}]}
            text = json.dumps(instance, indent=1, ensure_ascii=False).replace("\n", " ").replace("1.5", "1.50").encode()
            made = schema.decode(getattr(v2, name), b"  " + text + b" ")
            assert type(made) is getattr(v2, f"Other{name}") and isinstance(made, Other)
            assert (made.tag, made.raw, schema.encode(made)) == (value, text, text)
            assert schema.encode({"deep": [made]}) == b'{"deep":[' + text + b"]}"
            assert made.members == instance
            for profile in schema.PROFILES.values():
                assert schema.decode(getattr(v2, name), text, profile=profile, keep_unknown=True) == made


def test_an_unknown_variant_still_needs_what_its_union_asks_for() -> None:
    checked = 0
    for name, tag, found in unions():
        other = next(option for option in found["anyOf"] if option.get("title") == "other")
        instance = {**common(found, other), tag: "_x"}
        for wire in instance.keys() - {tag}:
            less = {key: value for key, value in instance.items() if key != wire}
            assert not taken(name, less), (name, wire)
            assert taken(name, {**instance, wire: 7}) == (wire == "value"), (name, wire)
            checked += 1
    assert checked >= 10


def taken(name: str, instance: Any) -> bool:
    try:
        decode(name, instance)
    except InvalidParams:
        return False
    return True


def test_a_known_variant_with_a_bad_payload_is_an_error() -> None:
    checked = 0
    least = instances.Least(alpha2.definitions())
    for name, tag, found in unions():
        for value, option in alpha2.tag_values(found).items():
            instance = least.object({**found, "anyOf": [option]})
            assert not isinstance(decode(name, instance, profile=schema.STRICT), Other)
            needed = instance.keys() - {tag} - (SCOPES if name == "CreateElicitationRequest" else set())
            for wire in needed:
                less = {key: member for key, member in instance.items() if key != wire}
                with pytest.raises(InvalidParams) as fault:
                    decode(name, less)
                assert fault.value.path == wire, (name, value, wire)
                checked += 1
    assert checked > 60


def test_a_tag_that_is_absent_or_no_string_is_an_error() -> None:
    least = instances.Least(alpha2.definitions())
    for name, tag, found in unions():
        for option in alpha2.tag_values(found).values():
            instance = least.object({**found, "anyOf": [option]})
            for bad in (
                {key: value for key, value in instance.items() if key != tag},
                {**instance, tag: 7},
                {**instance, tag: None},
                7,
                [],
            ):
                assert not taken(name, bad), (name, bad)


def test_of_repeated_members_the_last_one_counts() -> None:
    text = b'{"type":"image","type":"text","text":5,"text":"a","text":"b","_meta":{"a":1,"a":2}}'
    assert schema.decode(v2.ContentBlock, text) == v2.TextContent(text="b", meta={"a": 2})
    assert schema.decode(v2.ContentBlock, b'{"type":"text","text":"a","t\\u0079pe":"_x"}').tag == "_x"
    with pytest.raises(InvalidParams, match=r"^type: "):
        schema.decode(v2.ContentBlock, b'{"type":"text","text":"a","type":5}')
    with pytest.raises(InvalidParams, match=r"^text: "):
        schema.decode(v2.ContentBlock, b'{"type":"text","text":"a","text":5}')
