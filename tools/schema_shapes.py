"""Turns the definitions into shapes to write, in an order in which Python can execute them."""

from __future__ import annotations

from typing import Any

import schema_plan as plan
from schema_source import Field, Shape, fields_of, ref_of

#: Unions without a tag on every variant; ``schema_write`` has their text.
UNTAGGED = ("EmbeddedResourceResource", "SessionConfigSelectOptions", "ElicitationContentValue", "MultiSelectItems")
RESPONSES = ("AgentResponse", "ClientResponse")
STATE = "StateUpdate"
SCOPED = ("ElicitationFormMode", "ElicitationUrlMode")
#: Fields of which one must be there.
EITHER = dict.fromkeys(RESPONSES, ("result", "error")) | dict.fromkeys(SCOPED, ("session_id", "request_id"))

PLAIN_TYPES = {"string": "str", "integer": "UInt16"}

Defs = dict[str, Any]


def discriminator(schema: dict[str, Any]) -> str:
    """The tag of a tagged union, or ``""``."""
    for option in schema.get("anyOf", ()):
        for wire, prop in option.get("properties", {}).items():
            if "const" in prop:
                return str(wire)
    return ""


def variants(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any], str | None]]:
    """Known variants of a tagged union: tag value, option, definition."""
    tag = discriminator(schema)
    found = []
    for option in schema["anyOf"]:
        value = option.get("properties", {}).get(tag, {}).get("const")
        if value is not None:
            found.append((value, option, ref_of(option["allOf"][0]) if "allOf" in option else None))
    return found


def uses(defs: Defs) -> dict[str, list[tuple[str, str]]]:
    """For each definition the variants (union, tag value) made of it."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, schema in defs.items():
        if discriminator(schema):
            for value, _, definition in variants(schema):
                if definition:
                    found.setdefault(definition, []).append((name, value))
    return found


def shapes(defs: Defs) -> list[Shape]:
    """Every class and alias, dependencies first."""
    made: list[Shape] = []
    used = uses(defs)
    for name, schema in defs.items():
        made += _shapes_of(name, schema, defs, used)
    return _ordered(made)


def _shapes_of(name: str, schema: dict[str, Any], defs: Defs, used: dict[str, list[tuple[str, str]]]) -> list[Shape]:
    if name == STATE:
        return _state(schema, defs)
    if name in UNTAGGED:
        return _untagged(name, schema, defs, used)
    if name in RESPONSES:
        return [Shape("struct", name, name, _response_fields())]
    if discriminator(schema):
        return _union(name, schema, defs, used)
    if ("anyOf" in schema and schema.get("type") != "object") or "oneOf" in schema:
        return [_enum(name, schema)]
    if schema.get("type") != "object":
        return [
            Shape("alias", name, name, type={"string": "str", "integer": "UInt16"}.get(schema.get("type", ""), "Any"))
        ]
    if name in used and not _plain_too(name):
        return _shared(name, schema, defs, used) if len(used[name]) > 1 else []
    return [Shape("struct", plan.PLAIN.get(name, name), name, _sorted(_object_fields(name, schema)))]


def _plain_too(name: str) -> bool:
    return name in plan.PLAIN


def _object_fields(name: str, schema: dict[str, Any]) -> list[Field]:
    made = fields_of(schema, name)
    for one in made:
        if len(one.refs) == 1 and one.wire == "params" and "JsonObject" not in one.type:
            one.type, one.refs = "Any", []
    if name in SCOPED:
        made += _scope_fields()
    return made


def _scope_fields() -> list[Field]:
    session = Field("sessionId", "SessionId", ["SessionId"], patch=False, default="UNSET")
    tool = Field("toolCallId", "ToolCallId", ["ToolCallId"], nullable=True, default="None", lenient=True)
    request = Field("requestId", "RequestId", ["RequestId"], default="UNSET")
    return [session, tool, request]


def _response_fields() -> list[Field]:
    return [
        Field("id", "RequestId", ["RequestId"]),
        Field("result", "Any", [], default="UNSET"),
        Field("error", "Error", ["Error"], default="UNSET"),
    ]


def _sorted(fields: list[Field]) -> list[Field]:
    return sorted(fields, key=lambda one: (bool(one.default), one.wire == "_meta"))


def _common(union: str, schema: dict[str, Any]) -> list[Field]:
    return fields_of(schema, union)


def _shared(name: str, schema: dict[str, Any], defs: Defs, used: dict[str, list[tuple[str, str]]]) -> list[Shape]:
    union = used[name][0][0]
    fields = _object_fields(name, schema) + _common(union, defs[union])
    return [Shape("struct", name, name, _sorted(fields), union=union)]


def _union(name: str, schema: dict[str, Any], defs: Defs, used: dict[str, list[tuple[str, str]]]) -> list[Shape]:
    tag = discriminator(schema)
    other = _other(name, schema, tag)
    made = [other]
    members = []
    for value, option, definition in variants(schema):
        cls = plan.VARIANTS.get((name, value), definition or "")
        members.append(cls)
        if definition == STATE:
            continue
        made.append(_variant(cls, name, tag, value, option, definition, defs, used))
    union = Shape("union", name, name, members=members, needs=[*members, other.name], tag=(tag, ""))
    if name not in plan.PARAMS_UNIONS:
        return [*made, union]
    union.kind, union.name = "bind", f"{name} union"
    for one in made:
        one.needs.append(name)
    return [Shape("mixin", name, name), *made, union]


def _variant(
    cls: str, union: str, tag: str, value: str, option: dict[str, Any], definition: str | None, defs: Defs, used: Any
) -> Shape:
    shape = Shape("struct", cls, definition or cls, tag=(tag, value), union=union, needs=[f"Other{union}"])
    if definition and (_plain_too(definition) or len(used[definition]) > 1):
        shape.base = plan.PLAIN.get(definition, definition)
        shape.needs.append(shape.base)
        return shape
    fields = fields_of(option, union, skip=tag)
    if definition:
        fields += _object_fields(definition, defs[definition])
    shape.fields = _sorted(fields + [one for one in _common(union, defs[union]) if one.wire not in _wires(fields)])
    return shape


def _wires(fields: list[Field]) -> set[str]:
    return {one.wire for one in fields}


def _other(union: str, schema: dict[str, Any], tag: str) -> Shape:
    known = [value for value, _, _ in variants(schema)]
    option = next(one for one in schema["anyOf"] if one.get("title") == "other")
    required = [*option.get("required", ()), *schema.get("required", ())]
    shape = Shape("other", f"Other{union}", union, tag=(tag, ""), values=known, union=union)
    shape.required = [wire for wire in dict.fromkeys(required) if wire != tag]
    return shape


def _state(schema: dict[str, Any], defs: Defs) -> list[Shape]:
    other = _other(STATE, schema, discriminator(schema))
    fields = [
        Field("state", 'Literal["running", "idle", "requires_action"]', []),
        *_object_fields("IdleStateUpdate", defs["IdleStateUpdate"]),
    ]
    base = Shape("struct", STATE, STATE, fields, tag=("sessionUpdate", "state_update"), union="SessionUpdate")
    base.needs = [other.name, "OtherSessionUpdate"]
    made = [other, base]
    for value, _, definition in variants(schema):
        assert definition
        state = Field("state", f'Literal["{value}"]', [], default=f'constant("{value}")')
        made.append(Shape("struct", definition, definition, [state], base=STATE, needs=[STATE], union="SessionUpdate"))
    return made


def _untagged(name: str, schema: dict[str, Any], defs: Defs, used: Any) -> list[Shape]:
    needs = {
        "EmbeddedResourceResource": ["TextResourceContents", "BlobResourceContents"],
        "SessionConfigSelectOptions": ["SessionConfigSelectOption", "SessionConfigSelectGroup"],
        "MultiSelectItems": ["OtherMultiSelectItems", "StringMultiSelectItems", "TitledMultiSelectItems"],
    }.get(name, [])
    made = [Shape("untagged", name, name, needs=needs)]
    tag = discriminator(schema)
    if tag:
        made += [_other(name, schema, tag)]
        made += [_variant(d or "", name, tag, value, option, d, defs, used) for value, option, d in variants(schema)]
    return made


def _enum(name: str, schema: dict[str, Any]) -> Shape:
    options = schema.get("anyOf") or schema["oneOf"]
    values = [option["const"] for option in options if "const" in option]
    if not values:
        return Shape("alias", name, name, type="Int64 | str | None")
    shape = Shape("enum", name, name, values=values)
    shape.type = "closed" if len(values) == len(options) else "open"
    return shape


def _ordered(made: list[Shape]) -> list[Shape]:
    by_name = {shape.name: shape for shape in made}
    done: dict[str, Shape] = {}

    def place(shape: Shape) -> None:
        if shape.name in done:
            return
        for need in [*shape.needs, *(ref for one in shape.fields for ref in one.refs)]:
            if need in by_name and need != shape.name:
                place(by_name[need])
        done[shape.name] = shape

    for shape in made:
        place(shape)
    return list(done.values())
