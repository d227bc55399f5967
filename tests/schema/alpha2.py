"""The JSON schema of ACP v2 alpha.2: where it lies, and how to look into it."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = (
    ROOT / "tests/interop/node_modules/@agentclientprotocol/sdk-1.3.0/schema/v2/schema.unstable.json",
    ROOT / "tests/interop/node_modules/sdk-1.3.0/schema/v2/schema.unstable.json",
    ROOT.parent / "shared/spec/schema.v2.unstable.json",
)


def _found() -> Path | None:
    named = os.environ.get("ACPCORE_SCHEMA_JSON")
    return Path(named) if named else next((place for place in PLACES if place.exists()), None)


def is_there() -> bool:
    """Whether there is a file, for the names of test cases."""
    return _found() is not None


def path() -> Path:
    """The file; skips the test (fails it when CI=true) if there is none."""
    found = _found()
    if found is None:
        reason = "the JSON schema is missing: run npm install in tests/interop, or set ACPCORE_SCHEMA_JSON"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@cache
def load(place: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(place.read_text("utf-8"))["$defs"]
    return made


def definitions() -> dict[str, Any]:
    return load(path())


def ref(schema: dict[str, Any]) -> str | None:
    """The definition a schema stands for, if it is nothing else."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if len(schema.get("allOf", ())) == 1 and not schema.keys() & {"properties", "anyOf", "type"}:
        return ref(schema["allOf"][0])
    return None


def without_null(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The schema of the values that are not null, and whether null is one more."""
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        (rest,) = (kind for kind in kinds if kind != "null")
        return {**schema, "type": rest}, True
    options = schema.get("anyOf", ())
    rest_options = [option for option in options if option.get("type") != "null"]
    if len(rest_options) < len(options):
        return (rest_options[0] if len(rest_options) == 1 else {"anyOf": rest_options}), True
    return schema, False


def tag_of(union: dict[str, Any]) -> str | None:
    """The discriminator of a tagged union."""
    names = [
        name
        for option in union.get("anyOf", ())
        for name, prop in option.get("properties", {}).items()
        if "const" in prop
    ]
    return names[0] if names else None


def tag_values(union: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Its known variants."""
    tag = tag_of(union)
    found = {}
    for option in union["anyOf"]:
        prop = option.get("properties", {}).get(tag, {})
        if "const" in prop:
            found[prop["const"]] = option
    return found
