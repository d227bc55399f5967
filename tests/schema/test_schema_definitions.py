"""Every definition of the JSON schema against the type of that name: members, required flags, types, enum values, tags,
defaults, ranges, leniency marks. Nothing here uses the generator.
"""

from __future__ import annotations

import copy
import json
import types
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Union, get_args, get_origin

import alpha2
import msgspec
import pytest

from acpcore import schema
from acpcore.schema import InvalidParams, Other, v2
from acpcore.schema.custom import Base64, Custom
from acpcore.schema.model import Model, Never

# What the schema writes as prose: fields of which "omitted" and "null" mean different things.
PATCHES = {
    "UserMessage": {"content", "_meta"},
    "AgentMessage": {"content", "_meta"},
    "AgentThought": {"content", "_meta"},
    "ToolCallUpdate": {"name", "title", "kind", "status", "content", "locations", "rawInput", "rawOutput", "_meta"},
    "TerminalUpdate": {"command", "cwd", "output", "exitStatus", "_meta"},
    "SessionInfoUpdate": {"title", "updatedAt", "_meta"},
}
# Members of the flattened scopes and of the two shapes of a response: not given is not null.
EITHER = {"sessionId", "requestId", "result", "error"}
STATES = ("RunningStateUpdate", "IdleStateUpdate", "RequiresActionStateUpdate")
ENVELOPES = {"AgentRequest", "AgentNotification", "ClientRequest", "ClientNotification", "ProtocolLevelNotification"}

RANGES = {
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}


# A small instance of each object that holds 64-bit numbers.
PLACE = {"line": 0, "character": 0}
HOLDERS: dict[str, dict[str, Any]] = {
    "Usage": {"totalTokens": 1, "inputTokens": 1, "outputTokens": 1},
    "UsageUpdate": {"used": 1, "size": 1},
    "MultiSelectPropertySchema": {"items": {"type": "string", "enum": ["a"]}},
    "NesUserAction": {"action": "a", "uri": "u", "position": PLACE, "timestampMs": 1},
    "NesOpenFile": {"uri": "u", "languageId": "l"},
}


def accepts(kind: Any, text: bytes, **options: Any) -> bool:
    try:
        schema.decode(kind, text, **options)
    except InvalidParams:
        return False
    return True


class Checker:
    """Compares definitions with types and remembers which it saw."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions
        self.seen: set[str] = set()

    def definition(self, name: str) -> None:
        assert hasattr(v2, name), f"{name} is missing"
        if name not in self.seen:
            self.seen.add(name)
            self._definition(name, self.definitions[name])

    def _definition(self, name: str, found: dict[str, Any]) -> None:
        kind = getattr(v2, name)
        if name in STATES:
            return self.state(name, kind)
        if name in ("AgentResponse", "ClientResponse"):
            return self.response(kind, found)
        if alpha2.tag_of(found):
            return self.union(name, found)
        if "anyOf" in found and found.get("type") != "object":
            return self.choice(name, kind, found["anyOf"])
        if "oneOf" in found:
            return self.choice(name, kind, found["oneOf"])
        if found.get("type") == "object":
            return self.object(name, kind, found)
        return self.type(kind, found, name)

    # --- objects

    def object(self, name: str, kind: Any, found: dict[str, Any]) -> None:
        kind = v2.ToolCallPatch if name == "ToolCallUpdate" else kind
        union = next((u for u, s in self.definitions.items() if alpha2.tag_of(s) and self.variants_of(u, name)), None)
        common = self.definitions[union].get("properties", {}) if union else {}
        required = set(found.get("required", ())) | set(self.definitions[union].get("required", ()) if union else ())
        members = {**common, **found["properties"]}
        if "anyOf" in found:  # the flattened scopes
            for scope in found["anyOf"]:
                members |= self.definitions[alpha2.ref(scope) or ""]["properties"]
        self.fields(name, kind, members, required)

    def variants_of(self, union: str, definition: str) -> list[str]:
        options = alpha2.tag_values(self.definitions[union]).items()
        return [
            tag for tag, option in options if any(alpha2.ref(part) == definition for part in option.get("allOf", ()))
        ]

    def fields(self, name: str, kind: Any, members: dict[str, Any], required: set[str]) -> None:
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        assert fields.keys() == members.keys(), name
        lenient, skipped = set(kind.__acp_lenient__), set(kind.__acp_skip__)
        for wire, member in members.items():
            field, place = fields[wire], f"{name}.{wire}"
            assert field.name == python_name(wire), place
            assert field.required == (wire in required), place
            assert (field.name in lenient) == bool(member.get("x-deserialize-default-on-error")), place
            assert (field.name in skipped) == bool(member.get("x-deserialize-skip-invalid-items")), place
            self.field(place, field, member, patch=wire in PATCHES.get(name, ()))

    def field(self, place: str, field: msgspec.structs.FieldInfo, member: dict[str, Any], patch: bool) -> None:
        inner, nullable = alpha2.without_null(member)
        kind, takes_null, takes_unset = peeled(field.type)
        either = place.split(".")[1] in EITHER and not field.required
        assert takes_unset == (patch or (either and place.split(".")[0] in self.scoped())), place
        if kind is not Any:
            assert takes_null == (nullable or alpha2.ref(inner) == "RequestId"), place
        self.default(place, field, inner, patch or takes_unset, nullable)
        if place.split(".")[0] in ENVELOPES and place.endswith("params"):
            assert kind is Any
        else:
            self.type(kind, inner, place)

    def scoped(self) -> set[str]:
        return {"ElicitationFormMode", "ElicitationUrlMode", "AgentResponse", "ClientResponse"}

    def default(self, place: str, field: Any, member: dict[str, Any], unset: bool, nullable: bool) -> None:
        if field.required:
            return
        value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
        if unset:
            assert value is msgspec.UNSET, place
        elif "default" in member:
            assert msgspec.to_builtins(value) == member["default"], place
        elif nullable or not member.keys() & {"type", "$ref", "allOf"}:
            assert value is None, place
        else:
            assert value == {"array": [], "object": {}}[member["type"]], place

    # --- types of members

    def type(self, kind: Any, found: dict[str, Any], place: str) -> None:
        target = alpha2.ref(found)
        if target:
            self.definition(target)
            expected = v2.ToolCallPatch if place == "ToolCallPermissionSubject.toolCall" else getattr(v2, target)
            assert kind == peeled(expected)[0], place
        elif found.get("type") == "array":
            self.array(kind, found, place)
        elif found.get("type") == "object":
            assert get_origin(kind) is dict, place
            values = found.get("additionalProperties")
            if values is True:
                assert get_args(kind) == (str, Any), place
            else:
                self.type(get_args(kind)[1], values, place)
        elif "type" in found:
            self.scalar(kind, found, place)
        else:
            assert kind is Any, place

    def array(self, kind: Any, found: dict[str, Any], place: str) -> None:
        if get_origin(kind) is Annotated:
            assert kind.__metadata__[0].min_length == found["minItems"], place
            kind = kind.__origin__
        else:
            assert "minItems" not in found, place
        assert get_origin(kind) is list, place
        self.type(get_args(kind)[0], found["items"], place)

    def scalar(self, kind: Any, found: dict[str, Any], place: str) -> None:
        name = found["type"]
        samples = {"string": b'"YWJj"', "integer": b"1", "number": b"0.5", "boolean": b"true"}
        if "pattern" in found:
            samples["string"] = b'"EUR"'
            assert not any(accepts(kind, text) for text in (b'"eur"', b'"EURO"', b'"EUR\\n"', b'" EUR"')), place
        for other, sample in {**samples, "null": b"null", "array": b"[]", "object": b"{}"}.items():
            fits = other == name or (name, other) == ("number", "integer")
            assert accepts(kind, sample) == fits, (place, sample)
        if name == "integer":
            self.integer(kind, found, place)
        if name == "number":
            low, high = found.get("minimum", -1e300), found.get("maximum", 1e300)
            assert accepts(kind, str(low).encode()) and accepts(kind, str(high).encode()), place
            if "minimum" in found:
                assert not accepts(kind, str(low - 0.01).encode()) and not accepts(kind, str(high + 0.01).encode()), (
                    place
                )
        if found.get("contentEncoding") == "base64":
            assert kind is (Base64 if place in ("TerminalOutput.data", "TerminalOutputChunk.data") else str), place

    def integer(self, kind: Any, found: dict[str, Any], place: str) -> None:
        low, high = RANGES[found["format"]]
        assert found.get("minimum", low) == low and found.get("maximum", high) == high, place
        for value, fits in ((low, True), (high, True), (low - 1, False), (high + 1, False)):
            taken = self.in_owner(place, value) if found["format"] == "uint64" else accepts(kind, str(value).encode())
            assert taken == fits, (place, value)
        assert accepts(kind, b"7.0") and accepts(kind, b"7e1") and not accepts(kind, b"7.5"), place

    def in_owner(self, place: str, value: int) -> bool:
        # The upper bound is looked after by the object that holds the number.
        owner, wire = place.split(".")
        instance = {**HOLDERS[owner], wire: value}
        text = json.dumps(instance).encode()
        return accepts(getattr(v2, owner), text, profile=schema.STRICT)

    # --- unions and enums

    def union(self, name: str, found: dict[str, Any]) -> None:
        tag, known = alpha2.tag_of(found), alpha2.tag_values(found)
        classes = {kind.__struct_config__.tag: kind for kind in union_classes(getattr(v2, name)) if kind is not Never}
        if name == "StateUpdate":
            return self.states(known)
        assert classes.keys() == known.keys(), name
        other: type[Other] = getattr(v2, f"Other{name}")
        assert (other.tag_field, other.known) == (tag, frozenset(known)), name
        self.other(name, other, found)
        for value, option in known.items():
            self.variant(name, value, option, classes[value], other)
        return None

    def variant(self, union: str, value: str, option: dict[str, Any], kind: type[Model], other: type[Other]) -> None:
        assert kind.__struct_config__.tag_field == alpha2.tag_of(self.definitions[union])
        assert kind.__acp_other__ is other
        targets = [alpha2.ref(part) or "" for part in option.get("allOf", ())]
        for target in targets:
            self.definition(target)
            assert issubclass(kind, v2.ToolCallPatch if target == "ToolCallUpdate" else getattr(v2, target))
        if not targets:
            own = {name: prop for name, prop in option["properties"].items() if "const" not in prop}
            common = self.definitions[union].get("properties", {})
            required = set(option["required"]) | set(self.definitions[union].get("required", ()))
            self.fields(kind.__name__, kind, {**common, **own}, required)

    def other(self, name: str, kind: type[Other], found: dict[str, Any]) -> None:
        option = next(one for one in found["anyOf"] if one.get("title") == "other")
        required = {*option["required"], *found.get("required", ())} - {kind.tag_field}
        assert required == {*kind.required, *kind.present}, name
        assert kind.scoped == ("anyOf" in option), name

    def states(self, known: dict[str, Any]) -> None:
        assert v2.OtherStateUpdate.known == frozenset(known) and v2.OtherStateUpdate.tag_field == "state"
        for state, option in known.items():
            made = schema.decode(v2.StateUpdate, f'{{"state":"{state}"}}'.encode())
            assert type(made) is getattr(v2, alpha2.ref(option["allOf"][0]) or "")
            self.definition(type(made).__name__)
        self.other("StateUpdate", v2.OtherStateUpdate, self.definitions["StateUpdate"])

    def state(self, name: str, kind: type[Model]) -> None:
        # The three share one layout, that of idle; ``state`` is their tag.
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        idle = self.definitions["IdleStateUpdate"]["properties"]
        assert fields.keys() == {"state", *idle}
        assert self.definitions[name]["properties"].keys() <= idle.keys()
        for wire, member in idle.items():
            self.field(f"{name}.{wire}", fields[wire], member, patch=False)
        assert set(kind.__acp_lenient__) == {python_name(wire) for wire in idle}

    def response(self, kind: type[Model], found: dict[str, Any]) -> None:
        members = {name: prop for option in found["anyOf"] for name, prop in option["properties"].items()}
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        assert fields.keys() == members.keys() == {"id", "result", "error"}
        assert fields["id"].required and peeled(fields["error"].type) == (v2.Error, False, True)
        assert not accepts(kind, b'{"id":1}') and accepts(kind, b'{"id":1,"result":5}')

    def choice(self, name: str, kind: Any, options: list[dict[str, Any]]) -> None:
        consts = [option["const"] for option in options if "const" in option]
        if consts:
            return self.enum(name, kind, consts, is_open=len(consts) < len(options))
        if isinstance(kind, type) and issubclass(kind, Custom):
            assert len(kind.alternatives) == len(options), name
            for alternative, option in zip(kind.alternatives, options, strict=True):
                self.type(alternative, option, name)
            return None
        assert {*get_args(kind)} in (
            {v2.RequestId, *get_args(v2.RequestId)} - {v2.RequestId},
            {str, int, float, bool, list[str]},
        )
        for option in options:
            low, high = RANGES.get(option.get("format", ""), (1, 1))
            samples = {"string": '"x"', "null": "null", "boolean": "true", "array": '["x"]', "number": "0.5"}
            sample = str(low) if option["type"] == "integer" else samples[option["type"]]
            assert accepts(kind, sample.encode()), (name, option)
            assert high >= low
        return None

    def enum(self, name: str, kind: Any, values: list[Any], is_open: bool) -> None:
        constant = "".join("_" + c if c.isupper() and i else c for i, c in enumerate(name)).upper() + "_VALUES"
        assert getattr(v2, constant) == tuple(values), name
        foreign = b'"_x"' if isinstance(values[0], str) else b"-7"
        assert accepts(kind, foreign) == is_open, name
        assert all(accepts(kind, msgspec.json.encode(value)) for value in values), name
        assert not accepts(kind, b"7" if isinstance(values[0], str) else b'"x"') and not accepts(kind, b"null"), name


def python_name(wire: str) -> str:
    if wire == "_meta":
        return "meta"
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in wire)


def peeled(kind: Any) -> tuple[Any, bool, bool]:
    """A type without ``None`` and ``UNSET``, and whether it had them."""
    if get_origin(kind) not in (Union, types.UnionType):
        return kind, False, False
    options = get_args(kind)
    rest = tuple(option for option in options if option not in (type(None), msgspec.UnsetType))
    left = rest[0] if len(rest) == 1 else Union[rest]  # noqa: UP007
    return left, type(None) in options, msgspec.UnsetType in options


def union_classes(kind: Any) -> Iterator[Any]:
    if isinstance(kind, type):
        union = vars(kind).get("__acp_union__") or next(iter(getattr(kind, "alternatives", ())), kind)
        return iter(get_args(union) or (union,))
    return iter(get_args(kind))


def test_every_definition_is_the_type_of_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    definitions = alpha2.definitions()
    seen = check_all(definitions)
    assert seen == definitions.keys()
    with capsys.disabled():
        print(f" {len(seen)} of {len(definitions)} definitions checked", end="")


def test_every_type_says_what_it_is() -> None:
    for name in alpha2.definitions():
        kind = getattr(v2, name)
        if isinstance(kind, type) and issubclass(kind, Model):
            assert kind.__doc__ and f"/schema#{name.lower()}" in kind.__doc__


def test_no_docstring_is_the_schemas() -> None:
    theirs = {
        sentence.strip()
        for found in alpha2.definitions().values()
        for sentence in str(found.get("description", "")).replace("\n", " ").split(". ")
        if len(sentence.split()) > 4
    }
    for name in alpha2.definitions():
        doc = getattr(getattr(v2, name), "__doc__", "") or ""
        ours = {" ".join(sentence.split()).rstrip(".") for sentence in doc.split(". ")}
        assert not ours & {sentence.rstrip(".") for sentence in theirs}, name


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(definitions: dict[str, Any]) -> None:
        *way, last = path.split("/")
        place: Any = definitions
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place[step]
        place[last] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("TextContent/required", []),
        _set("TextContent/properties/text/type", "integer"),
        _set("TextContent/properties/more", {"type": "string"}),
        _set("TextContent/properties/annotations/x-deserialize-default-on-error", False),
        _set("UserMessage/properties/content/x-deserialize-skip-invalid-items", False),
        _set("AuthEnvVar/properties/secret/default", False),
        _set("ToolCallLocation/properties/line/format", "uint64"),
        _set("Annotations/properties/priority/maximum", 2),
        _set("RequestPermissionRequest/properties/options/minItems", 2),
        _set("ToolKind/anyOf/0/const", "peruse"),
        _set("TextDocumentSyncKind/oneOf", [{"const": "full"}]),
        _set("ContentBlock/anyOf/1/properties/type/const", "picture"),
        _set("McpServer/anyOf/2/allOf", [{"$ref": "#/$defs/McpServerHttp"}]),
        _set("SessionConfigOption/required", ["configId"]),
        _set("StateUpdate/anyOf/0/properties/state/const", "walking"),
        _set("NewDefinition", {"type": "string"}),
    ],
)
def test_the_comparison_sees_a_difference(change: Callable[[dict[str, Any]], None]) -> None:
    definitions = copy.deepcopy(alpha2.definitions())
    change(definitions)
    with pytest.raises((AssertionError, AttributeError, KeyError)):
        check_all(definitions)


def check_all(definitions: dict[str, Any]) -> set[str]:
    checker = Checker(definitions)
    for name in definitions:
        checker.definition(name)
    return checker.seen
