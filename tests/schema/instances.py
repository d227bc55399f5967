"""Instances of definitions, made from the JSON schema by hypothesis."""

from __future__ import annotations

import base64
import json
from typing import Any

import alpha2
from hypothesis import strategies as st

RANGES = {
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
TEXT = st.one_of(st.sampled_from(["", "a", "/w", "é", "\U0001f600", '"\\/\n', "\x00"]), st.text(max_size=6))
NAMES = st.sampled_from(["example.com/x", "_more", "z", "é"])
NUMBERS = st.one_of(st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False))
ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(NAMES, inner, max_size=2)),
    max_leaves=4,
)
OBJECT = st.dictionaries(NAMES, ANY, max_size=2)
#: Definitions that only exist as a part of a union's objects; their types have the union's own members too.
FOLDED = {
    "ElicitationFormMode": ("CreateElicitationRequest", "mode", "form"),
    "ElicitationUrlMode": ("CreateElicitationRequest", "mode", "url"),
    "SessionConfigSelect": ("SessionConfigOption", "type", "select"),
    "SessionConfigBoolean": ("SessionConfigOption", "type", "boolean"),
}
#: The defaults that are neither null nor empty.
DEFAULTS = {"secret": True, "optional": False, "type": "object"}
#: Leaves of a type that can be told from any other value: what unknown members are made of.
BASE64 = st.binary(max_size=9).map(lambda data: base64.b64encode(data).decode())


class Instances:
    """Strategies by definition; ``extra`` puts unknown members into objects of known types."""

    def __init__(self, definitions: dict[str, Any], extra: bool = False) -> None:
        self.definitions = definitions
        self.extra = extra
        self._made: dict[str, st.SearchStrategy[Any]] = {}

    def of(self, name: str) -> st.SearchStrategy[Any]:
        if name not in self._made:
            self._made[name] = st.deferred(lambda: self.schema(self.definitions[name]))
        return self._made[name]

    def schema(self, found: dict[str, Any]) -> st.SearchStrategy[Any]:
        target = alpha2.ref(found)
        if target:
            return self.of(target)
        if found.get("type") == "object" or "properties" in found or "allOf" in found:
            return self.object(found)
        if "anyOf" in found or "oneOf" in found:
            return st.one_of([self.schema(option) for option in found.get("anyOf") or found["oneOf"]])
        if "const" in found:
            return st.just(found["const"])
        return self.plain(*alpha2.without_null(found))

    def plain(self, found: dict[str, Any], nullable: bool) -> st.SearchStrategy[Any]:
        made = self.typed(found)
        return st.one_of(st.none(), made) if nullable else made

    def typed(self, found: dict[str, Any]) -> st.SearchStrategy[Any]:
        kind = found.get("type")
        if kind == "string":
            return self.string(found)
        if kind == "integer":
            low, high = RANGES[found["format"]]
            small = st.integers(max(low, -9), 9).map(float)  # 1.0 is an integer too
            return st.one_of(st.integers(low, high), st.sampled_from([low, high]), small)
        if kind == "number":
            return st.floats(found.get("minimum", -1e300), found.get("maximum", 1e300))
        if kind == "array":
            return st.lists(self.schema(found["items"]), min_size=found.get("minItems", 0), max_size=2)
        if kind == "object":
            return self.object(found)
        return {"boolean": st.booleans(), "null": st.none()}.get(kind or "", ANY)

    def string(self, found: dict[str, Any]) -> st.SearchStrategy[str]:
        if "pattern" in found:
            return st.from_regex(found["pattern"].replace("$", r"\Z"))
        return BASE64 if found.get("contentEncoding") == "base64" else TEXT

    # --- objects

    def object(self, found: dict[str, Any]) -> st.SearchStrategy[Any]:
        if "properties" not in found and "anyOf" not in found and "allOf" not in found:
            values = found.get("additionalProperties", True)
            return OBJECT if values is True else st.dictionaries(NAMES, self.schema(values), max_size=2)
        parts = [self.schema(part) for part in found.get("allOf", ())]
        if "anyOf" in found:
            parts.append(st.one_of([self.schema(option) for option in found["anyOf"]]))
        parts.append(self.members(found))
        return st.tuples(*parts).map(merged)

    def members(self, found: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
        required = found.get("required", ())
        fields = {name: self.schema(member) for name, member in found.get("properties", {}).items()}
        if "not" in found:  # an unknown variant: any tag but the known ones, and whatever else
            tag = found["not"]["anyOf"][0]["required"][0]
            known = {option["properties"][tag]["const"] for option in found["not"]["anyOf"]}
            fields[tag] = st.one_of(st.just("_custom"), TEXT.filter(lambda text: text not in known))
            required = [*required, tag]
        made = st.fixed_dictionaries(
            {name: made for name, made in fields.items() if name in required},
            optional={name: made for name, made in fields.items() if name not in required},
        )
        if "not" in found or self.extra:
            more = st.dictionaries(st.sampled_from(["unknown1", "unknown2"]), ANY, max_size=2)
            return st.tuples(more, made).map(merged)
        return made


def merged(parts: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}


def text_of(instance: Any) -> bytes:
    return json.dumps(instance, ensure_ascii=False).encode()


def whole_name(name: str) -> str:
    """The definition to decode instances of ``name`` as: some only exist as a part of a union's objects."""
    return FOLDED[name][0] if name in FOLDED else name


def whole(maker: Instances, name: str) -> st.SearchStrategy[Any]:
    """Instances of ``whole_name(name)`` that have ``name`` in them."""
    if name not in FOLDED:
        return maker.of(name)
    union, tag, value = FOLDED[name]
    return maker.of(union).filter(lambda instance: instance[tag] == value)


def says_nothing(name: str, value: Any) -> bool:
    return (
        value is None
        or value == []
        or value == {}
        or (name in DEFAULTS and value == DEFAULTS[name] and type(value) is type(DEFAULTS[name]))
    )


def untagged(back: Any, instance: Any, value: Any) -> Any:
    """A class of a union writes its tags, also where its definition stands alone and has none."""
    tag = getattr(getattr(value, "__struct_config__", None), "tag_field", None)
    added = {tag, "state"} - instance.keys() if tag else set()
    return {name: member for name, member in back.items() if name not in added} if added else back


class Least:
    """One small instance of each definition: what is required, nothing else."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions

    def of(self, name: str) -> Any:
        return self.schema(self.definitions[name])

    def schema(self, found: dict[str, Any]) -> Any:
        target = alpha2.ref(found)
        if target:
            return self.of(target)
        if found.get("type") == "object" or "properties" in found:
            return self.object(found)
        if "const" in found:
            return found["const"]
        if "anyOf" in found or "oneOf" in found:
            return self.schema((found.get("anyOf") or found["oneOf"])[0])
        return self.plain(alpha2.without_null(found)[0])

    def object(self, found: dict[str, Any]) -> dict[str, Any]:
        parts = [*found.get("allOf", ()), *found.get("anyOf", ())[:1]]
        made = merged(tuple(self.schema(part) for part in parts))
        return made | {name: self.schema(found["properties"][name]) for name in found.get("required", ())}

    def plain(self, found: dict[str, Any]) -> Any:
        if found.get("type") == "array":
            return [self.schema(found["items"])] * found.get("minItems", 0)
        if "pattern" in found:
            return "EUR"
        return {"string": "YWJj", "integer": 1, "number": 1, "boolean": True}.get(found.get("type", ""))


def bad_values(found: dict[str, Any], definitions: dict[str, Any]) -> list[Any]:
    """Values of a wrong type for a member; null too where it is not allowed."""
    inner, nullable = alpha2.without_null(found)
    target = alpha2.ref(inner)
    while target:
        inner, more = alpha2.without_null(definitions[target])
        nullable, target = nullable or more, alpha2.ref(inner)
    kinds = {inner.get("type")} | {option.get("type") for option in inner.get("anyOf", ())} | {
        type(option["const"]).__name__.replace("str", "string") for option in inner.get("oneOf", ())
    }  # fmt: skip
    if kinds == {None}:
        return []
    wrong = {"string": "x", "integer": 7, "array": [7], "object": {}, "boolean": True}
    fit = kinds | ({"integer"} if "number" in kinds else set())
    return [value for kind, value in wrong.items() if kind not in fit and kind != "object"] + (
        [] if nullable else [None]
    )
