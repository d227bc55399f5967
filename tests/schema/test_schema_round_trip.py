"""Whatever the JSON schema allows is decoded, encoded and valid again, and says the same."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

import alpha2
import instances
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings

from acpcore import schema
from acpcore.schema import v2

EXAMPLES = 200 if os.environ.get("ACPCORE_FULL") == "1" else 20
FEW = settings(
    max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=True
)


def names(of_methods: bool = False) -> list[str]:
    """Without the file there is one case, which says so."""
    if not alpha2.is_there():
        return ["(no JSON schema)"]
    return [name for name, found in alpha2.definitions().items() if not of_methods or "x-method" in found]


@cache
def maker(extra: bool) -> instances.Instances:
    return instances.Instances(alpha2.definitions(), extra)


def same(sent: Any, back: Any) -> bool:
    """Equal as JSON, but that what says nothing (null, empty, a default) may be left out or put in."""
    if isinstance(sent, dict) and isinstance(back, dict):
        names = sent.keys() | back.keys()
        return all(
            same(sent[name], back[name])
            if name in sent and name in back
            else instances.says_nothing(name, sent.get(name, back.get(name)))
            for name in names
        )
    if isinstance(sent, list) and isinstance(back, list):
        return len(sent) == len(back) and all(map(same, sent, back))
    return sent == back and (type(sent) is type(back) or (is_number(sent) and is_number(back)))


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@pytest.mark.parametrize("name", names())
def test_round_trip(name: str) -> None:
    definitions = alpha2.definitions()
    root = instances.whole_name(name)
    valid = jsonschema_rs.validator_for({"$ref": f"#/$defs/{root}", "$defs": definitions})
    kind = getattr(v2, name)

    @FEW
    @given(instance=instances.whole(maker(extra=False), name))
    def check(instance: Any) -> None:
        assert valid.is_valid(instance)
        text = instances.text_of(instance)
        dropped: list[tuple[str, str]] = []
        value = schema.decode(kind, text, on_dropped=lambda *what: dropped.append(what))
        assert not dropped
        back = schema.encode(value)
        assert same(instance, instances.untagged(json.loads(back), instance, value)), (text, back)
        valid.validate(json.loads(back))
        assert schema.encode(schema.decode(kind, back)) == back
        assert schema.encode(schema.decode(kind, text, profile=schema.STRICT)) == back

    check()


@pytest.mark.parametrize("name", names(of_methods=True))
def test_unknown_members_are_kept_if_asked(name: str) -> None:
    alpha2.definitions()
    kind = getattr(v2, name)

    @FEW
    @given(instance=instances.whole(maker(extra=True), name))
    def check(instance: Any) -> None:
        text = instances.text_of(instance)
        value = schema.decode(kind, text, keep_unknown=True)
        back = schema.encode(value, keep_unknown=True)
        assert same(instance, instances.untagged(json.loads(back), instance, value)), (text, back)
        assert schema.encode(value) == schema.encode(schema.decode(kind, text))

    check()
