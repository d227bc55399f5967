"""Valid instances of all definitions, and what becomes of them when one thing in them is spoilt. Seeded: the same
numbers give the same mutations (with one release of hypothesis)."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import alpha2
import instances
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

SEED = 20260726
QUIET = list(HealthCheck)
#: Of each JSON type one or two, for places where another type belongs.
WRONG = {
    "string": ["x", ""],
    "number": [7, 1.5],
    "boolean": [True, False],
    "array": [[], [7], ["x"]],
    "object": [{}, {"x": 7}],
}
#: Of the same type, but perhaps too large, too small, too empty or not of the format.
STRANGE = {
    "string": ["", "x", "YQ", "a b", "2026-13-01", "EURO"],
    "number": [-1, 0, 1.5, 2.0, 2**16, 2**31, 2**32, 2**53, 2**63, 2**64, -(2**31) - 1, -(2**63) - 1],
    "array": [[]],
    "object": [{}],
}
UNKNOWN_TAGS = ("_custom", "future", "")


class Mutation(NamedTuple):
    definition: str
    kind: str
    value: Any


class Safe(instances.Instances):
    """Instances the peers have no doubts about: URIs and dates are some, integers fit into a double."""

    def string(self, found: dict[str, Any]) -> st.SearchStrategy[str]:
        if found.get("format") == "uri":
            return st.sampled_from(["https://example.com/x", "file:///w/a.py", "mailto:a@example.com"])
        if found.get("format") == "date-time":
            return st.sampled_from(["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678+02:00"])
        return super().string(found)

    def typed(self, found: dict[str, Any]) -> st.SearchStrategy[Any]:
        if found.get("format") in ("int64", "uint64"):
            return st.integers(0 if found["format"] == "uint64" else -(2**53) + 1, 2**53 - 1)
        return super().typed(found)


def valid(definitions: dict[str, Any], each: int) -> dict[str, list[Any]]:
    """At most ``each`` different instances by definition; of the parts of a union's objects, the union's."""
    maker = Safe(definitions)
    return {name: _drawn(instances.whole(maker, name), each) for name in definitions}


def variants(definitions: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Of each tagged union and each of its known variants an instance that has much in it: union, tag, instance."""
    maker = Safe(definitions)
    for name, found in definitions.items():
        for option in alpha2.tag_values(found).values() if alpha2.tag_of(found) else ():
            drawn = _drawn(maker.schema({**found, "anyOf": [option]}), 4)
            yield name, str(alpha2.tag_of(found)), max(drawn, key=len)


def _drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    found: dict[str, Any] = {}

    @seed(SEED)
    @settings(max_examples=count, phases=[Phase.generate], database=None, deadline=None, suppress_health_check=QUIET)
    @given(strategy)
    def draw(instance: Any) -> None:
        found.setdefault(json.dumps(instance), instance)

    draw()
    return list(found.values())


class Mutator:
    """Spoils instances, those of each definition in turn; nothing comes twice."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions
        self.random = random.Random(SEED)
        self.tags: dict[str, set[str]] = {}
        for found in definitions.values():
            tag = alpha2.tag_of(found)
            if tag:
                self.tags.setdefault(tag, set()).update(alpha2.tag_values(found))
        self.kinds: dict[str, Callable[[Any], Any]] = {
            "a field dropped": self.dropped,
            "wrong type": self.wrong_type,
            "null": self.null,
            "unknown tag": self.unknown_tag,
            "known tag, bad payload": self.bad_payload,
            "bad item in a list": self.bad_item,
            "same type, strange value": self.strange,
        }

    def mutations(self, valid: dict[str, list[Any]], count: int) -> list[Mutation]:
        """``count`` of them: those of a sweep first, then as many of each definition as it has to give."""
        made: dict[str, Mutation] = {}
        for mutation in self.sweep(valid):
            made.setdefault(text_of(mutation), mutation)
        left = dict.fromkeys(valid, 1000)  # fruitless attempts
        while len(made) < count and left:
            for name in list(left):
                drawn = self.one(name, self.random.choice(valid[name]))
                if drawn and text_of(drawn) not in made:
                    made[text_of(drawn)] = drawn
                    continue
                left[name] -= 1
                if not left[name]:
                    del left[name]
        return list(made.values())[:count]

    def sweep(self, valid: dict[str, list[Any]]) -> Iterator[Mutation]:
        """Each member of each definition and of each known variant: dropped, null, of every wrong type, with bad items;
        and each known variant under all other tags."""
        for name, found in self.definitions.items():
            for member in found.get("properties", {}):
                having = [value for value in valid[name] if member in value]
                having.sort(key=lambda value: value[member] is None)
                if having:
                    yield from self.of_member(instances.whole_name(name), having[0], member)

        for name, tag, instance in variants(self.definitions):
            others = set(alpha2.tag_values(self.definitions[name])) - {instance[tag]}
            for other in sorted(others):
                yield Mutation(name, "known tag, bad payload", {**instance, tag: other})
            for unknown in UNKNOWN_TAGS:
                yield Mutation(name, "unknown tag", {**instance, tag: unknown})
            for member in instance:
                for mutation in self.of_member(name, instance, member):
                    yield mutation if member == tag else mutation._replace(kind="known tag, bad payload")

    def of_member(self, name: str, instance: dict[str, Any], member: str) -> Iterator[Mutation]:
        value = instance[member]
        yield Mutation(name, "a field dropped", {key: value for key, value in instance.items() if key != member})
        if value is not None:
            yield Mutation(name, "null", {**instance, member: None})
        for kind, (wrong, *_) in WRONG.items():
            if kind != type_of(value):
                yield Mutation(name, "wrong type", {**instance, member: wrong})
        if isinstance(value, list):
            for bad in (None, 7, "x", {"x": 7}, []):
                yield Mutation(name, "bad item in a list", {**instance, member: [*value, bad]})

    def one(self, name: str, instance: Any) -> Mutation | None:
        """A mutation of a kind that can be had of the instance, of any kind alike; none if it changed nothing."""
        kinds = list(self.kinds)
        self.random.shuffle(kinds)
        box = [copy.deepcopy(instance)]
        for kind in kinds:
            if self.kinds[kind](box):
                changed = json.dumps(box[0]) != json.dumps(instance)
                return Mutation(instances.whole_name(name), kind, box[0]) if changed else None
        return None

    # --- each changes what lies in a box of one item, and says whether it found a place to

    def dropped(self, box: list[Any]) -> bool:
        place = self._place(box, lambda holder, key: isinstance(holder, dict))
        if place:
            del place[0][place[1]]
        return bool(place)

    def wrong_type(self, box: list[Any]) -> bool:
        self.replace(*(self._place(box) or (box, 0)))
        return True

    def null(self, box: list[Any]) -> bool:
        holder, key = self._place(box) or (box, 0)
        holder[key] = None
        return True

    def unknown_tag(self, box: list[Any]) -> bool:
        place = self._place(box, self._is_tag)
        if place:
            place[0][place[1]] = self._any(UNKNOWN_TAGS)
        return bool(place)

    def bad_payload(self, box: list[Any]) -> bool:
        """The tag of another variant over this one's members, or this one's tag and a bad member."""
        place = self._place(box, self._is_tag)
        if not place:
            return False
        holder, tag = place
        others = sorted(name for name in holder if name != tag)
        if others and self.random.random() < 0.6:
            name = self.random.choice(others)
            if self.random.random() < 0.3:
                del holder[name]
            else:
                self.replace(holder, name)
        else:
            holder[tag] = self._any(sorted(self.tags[tag]))
        return True

    def bad_item(self, box: list[Any]) -> bool:
        place = self._place(box, lambda holder, key: isinstance(holder[key], list))
        if place:
            items = place[0][place[1]]
            bad = self._any([*(value for values in WRONG.values() for value in values), None])
            items.insert(self.random.randint(0, len(items)), bad)
        return bool(place)

    def strange(self, box: list[Any]) -> bool:
        place = self._place(box, lambda holder, key: type_of(holder[key]) in STRANGE)
        if place:
            holder, key = place
            holder[key] = self._any(STRANGE[type_of(holder[key])])
        return bool(place)

    def replace(self, holder: Any, key: Any) -> None:
        kind = self.random.choice([kind for kind in WRONG if kind != type_of(holder[key])])
        holder[key] = self._any(WRONG[kind])

    def _is_tag(self, holder: Any, key: Any) -> bool:
        return isinstance(holder, dict) and key in self.tags and isinstance(holder[key], str)

    def _any(self, values: Any) -> Any:
        return copy.deepcopy(self.random.choice(values))

    def _place(self, box: list[Any], fits: Callable[[Any, Any], bool] = lambda holder, key: True) -> Any:
        found = [place for place in places(box) if fits(*place)]
        return self.random.choice(found) if found else None


def places(box: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Wherever a value stands: what holds it, and its key there. What lies in a ``_meta`` is nobody's matter."""
    keys = list(box) if isinstance(box, dict) else range(len(box))
    for key in keys:
        yield box, key
        if key != "_meta" and isinstance(box[key], (dict, list)):
            yield from places(box[key])


def text_of(mutation: Mutation) -> str:
    return f"{mutation.definition} {json.dumps(mutation.value)}"


def type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")
