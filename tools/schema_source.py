"""Reads the JSON schema into the few shapes the generator writes: aliases, enums, structs, unions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import schema_plan as plan

LINK = "https://agentclientprotocol.com/protocol/v2/draft/schema#"


@dataclass
class Field:
    """A member of an object: ``type`` is the annotation without ``None``, ``default`` is source text or ``""``."""

    wire: str
    type: str
    refs: list[str]
    nullable: bool = False
    patch: bool = False
    default: str = ""
    lenient: bool = False
    skip: bool = False

    @property
    def name(self) -> str:
        """The Python name."""
        return "meta" if self.wire == "_meta" else re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", self.wire).lower()


@dataclass
class Shape:
    """A class or alias to write: ``kind`` is alias, enum, struct, union or other."""

    kind: str
    name: str
    definition: str
    fields: list[Field] = field(default_factory=list)
    base: str = ""
    tag: tuple[str, str] | None = None
    union: str = ""
    values: list[Any] = field(default_factory=list)
    type: str = ""
    members: list[str] = field(default_factory=list)
    required: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    """Names that must be written before this one."""


def load(path: Path) -> dict[str, Any]:
    """The definitions by name."""
    defs: dict[str, Any] = json.loads(path.read_text("utf-8"))["$defs"]
    return defs


def ref_of(schema: dict[str, Any]) -> str | None:
    """The one definition a schema points to, if that is all it does."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if len(schema.get("allOf", ())) == 1 and "properties" not in schema:
        return ref_of(schema["allOf"][0])
    return None


def is_null(schema: dict[str, Any]) -> bool:
    """Whether a schema takes ``null`` alone."""
    return schema.get("type") == "null"


SCALARS = {
    ("integer", "uint16"): "UInt16",
    ("integer", "uint32"): "UInt32",
    ("integer", "uint64"): "UInt64",
    ("integer", "int32"): "Int32",
    ("integer", "int64"): "Int64",
    ("number", "double"): "Double",
}


def annotation(schema: dict[str, Any]) -> tuple[str, list[str], bool]:
    """Python annotation, definitions it names, whether null is allowed."""
    ref = ref_of(schema)
    if ref:
        return plan.PLAIN.get(ref, ref), [ref], False
    if "anyOf" in schema and any(map(is_null, schema["anyOf"])):
        rest = [option for option in schema["anyOf"] if not is_null(option)]
        text, refs, _ = annotation(rest[0])
        return text, refs, True
    kinds = schema.get("type")
    if kinds is None:
        return "Any", [], False
    nullable = isinstance(kinds, list) and "null" in kinds
    kind = next(one for one in kinds if one != "null") if isinstance(kinds, list) else kinds
    text, refs = _typed(kind, schema)
    return text, refs, nullable


def _typed(kind: str, schema: dict[str, Any]) -> tuple[str, list[str]]:
    if kind == "array":
        item, refs, _ = annotation(schema["items"])
        bound = schema.get("minItems")
        return (f"Annotated[list[{item}], Meta(min_length={bound})]" if bound else f"list[{item}]"), refs
    if kind == "object":
        values = schema.get("additionalProperties", True)
        if values is True:
            return "JsonObject", []
        item, refs, _ = annotation(values)
        return f"dict[str, {item}]", refs
    if kind == "string" and "pattern" in schema:
        return f'Annotated[str, Meta(pattern=r"{python_pattern(schema["pattern"])}")]', []
    if kind == "number" and "minimum" in schema:
        return f"Annotated[float, Meta(ge={schema['minimum']}, le={schema['maximum']})]", []
    return SCALARS.get((kind, schema.get("format", "")), {"string": "str", "boolean": "bool"}.get(kind, kind)), []


def python_pattern(pattern: str) -> str:
    """``$`` of JSON Schema is the very end; Python's also matches before a last line feed."""
    return pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern


def fields_of(schema: dict[str, Any], owner: str, skip: str = "") -> list[Field]:
    """The members of an object schema, without the discriminator ``skip``."""
    required = schema.get("required", ())
    return [
        _field(wire, prop, owner, wire in required)
        for wire, prop in schema.get("properties", {}).items()
        if wire != skip
    ]


def _field(wire: str, prop: dict[str, Any], owner: str, required: bool) -> Field:
    text, refs, nullable = annotation(prop)
    if (owner, wire) in plan.BASE64_FIELDS:
        text = "Base64"
    made = Field(wire, text, refs, nullable)
    made.lenient = bool(prop.get("x-deserialize-default-on-error"))
    made.skip = bool(prop.get("x-deserialize-skip-invalid-items"))
    made.patch = wire in plan.PATCHES.get(owner, ())
    if not required:
        made.default = _default(made, prop)
    return made


def _default(made: Field, prop: dict[str, Any]) -> str:
    if made.patch:
        return "UNSET"
    if made.nullable or made.type == "Any":
        return "None"
    if "default" in prop and prop["default"] != {}:
        return repr(prop["default"]).replace("'", '"')
    factory = made.type.split("[")[0]
    return f"field(default_factory={factory})"
