"""Where acpcore and the zod schemas of ``@agentclientprotocol/sdk@1.3.0`` differ on purpose: one rule for each reason.

A rule is a repair: it puts something else where its reason is at work and nowhere else. It explains a difference if
that is one of those it may lead to and both sides take the repaired value as the same thing. What no rule explains is a
fault of one side.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import alpha2
from instances import RANGES

from acpcore import schema
from acpcore.schema import v2

WE_ACCEPT, ZOD_ACCEPTS, OTHER_VALUE = "only we accept", "only zod accepts", "accepted as different values"
MOST_RULES = 15


class Verdict(NamedTuple):
    accepted: bool
    value: Any
    why: str = ""


class Case(NamedTuple):
    """A value of a definition, and what either side makes of it."""

    definition: str
    value: Any
    ours: Verdict
    zod: Verdict

    @property
    def difference(self) -> str | None:
        if self.ours.accepted != self.zod.accepted:
            return WE_ACCEPT if self.ours.accepted else ZOD_ACCEPTS
        # As text, for True == 1.
        return None if _text(self.ours.value) == _text(self.zod.value) else OTHER_VALUE

    def __str__(self) -> str:
        lines = [f"{self.definition}: {self.difference}", _text(self.value)]
        for side, verdict in (("ours", self.ours), ("zod", self.zod)):
            lines.append(f"  {side}: {_text(verdict.value) if verdict.accepted else verdict.why}")
        return "\n".join(lines)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


# --- looking into values by the schema


class Place(NamedTuple):
    """A value as ``holder[key]``, and a schema it stands under there."""

    holder: Any
    key: Any
    schema: dict[str, Any]

    @property
    def value(self) -> Any:
        return self.holder[self.key]


def places(place: Place) -> Iterator[Place]:
    """All places in a value, the outermost first, as far as the schema describes it; one for each part of a schema."""
    found = place.schema
    if "$ref" in found:
        found = alpha2.definitions()[found["$ref"].rpartition("/")[2]]
    yield place._replace(schema=found)
    for part in (*found.get("allOf", ()), *found.get("anyOf", ())):
        if _may_be(part, place.value):
            yield from places(place._replace(schema=part))
    if isinstance(place.value, dict):
        named, rest = found.get("properties", {}), found.get("additionalProperties")
        for name in place.value:
            inner = named.get(name, rest)
            if isinstance(inner, dict):
                yield from places(Place(place.value, name, inner))
    elif isinstance(place.value, list) and "items" in found:
        for index in range(len(place.value)):
            yield from places(Place(place.value, index, found["items"]))


def _may_be(variant: dict[str, Any], value: Any) -> bool:
    """Whether the tags are those of a variant."""
    tags = {name: found["const"] for name, found in variant.get("properties", {}).items() if "const" in found}
    return not isinstance(value, dict) or all(value.get(name) == tag for name, tag in tags.items())


# --- repairs: each works on what is in a box


Repair = Callable[[str, list[Any]], None]


def replacing(bad: Callable[[Place], bool], good: Any) -> Repair:
    """``good`` wherever something is bad."""

    def repair(definition: str, box: list[Any]) -> None:
        for place in everywhere(definition, box):
            if bad(place):
                place.holder[place.key] = good

    return repair


def everywhere(definition: str, box: list[Any]) -> list[Place]:
    return list(places(Place(box, 0, {"$ref": f"#/$defs/{definition}"})))


def text_unlike(note: str, value: str, form: str) -> Callable[[Place], bool]:
    """Text that is noted to be of a format and is not."""

    def bad(place: Place) -> bool:
        noted = place.schema.get(note) == value and isinstance(place.value, str)
        return noted and not re.match(form, place.value)

    return bad


#: Integers beside those that RULES lists as of 64 bits; all are in forms.
IN_FORMS = ("minimum", "maximum", "default", "minItems", "maxItems")


def no_integer(in_forms: bool) -> Callable[[Place], bool]:
    """A number that is no integer, or takes more than the 64 bits it should have."""

    def bad(place: Place) -> bool:
        value, form = place.value, place.schema.get("format")
        if form not in ("int64", "uint64") or isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        low, high = RANGES[form]
        return (place.key in IN_FORMS) == in_forms and not (value == int(value) and low <= value <= high)

    return bad


def with_params(definition: str, box: list[Any]) -> None:
    if box[0] is None and issubclass(getattr(v2, definition), schema.Request):
        box[0] = {}


def without_cargo(definition: str, box: list[Any]) -> None:
    """Requests, notifications and responses with nothing in them."""
    for name in ("params", "result"):
        if definition in ENVELOPES and name in box[0]:
            box[0][name] = 7


def with_known_params(definition: str, box: list[Any]) -> None:
    if definition == "ProtocolLevelNotification":
        box[0]["params"] = {"requestId": 1}


def without_lenient(definition: str, box: list[Any]) -> None:
    """Unknown variants without the members that are lenient in known ones."""
    every = everywhere(definition, box)
    unknown = [place.value for place in every if is_unknown(place)]
    for place in every:
        if any(place.holder is one for one in unknown) and place.schema.get("x-deserialize-default-on-error"):
            place.holder.pop(place.key, None)


def is_unknown(place: Place) -> bool:
    if "not" not in place.schema or not isinstance(place.value, dict):
        return False
    return not any(_may_be(known, place.value) for known in place.schema["not"]["anyOf"])


def without_idle_members(definition: str, box: list[Any]) -> None:
    for place in everywhere(definition, box):
        state = place.schema.get("properties", {}).get("state", {}).get("const")
        if state in ("running", "requires_action") and isinstance(place.value, dict):
            place.value.pop("stopReason", None)
            place.value.pop("usage", None)


ENVELOPES = {f"{side}{kind}" for side in ("Agent", "Client") for kind in ("Request", "Response", "Notification")}


# --- the table


class Rule(NamedTuple):
    name: str
    #: Where RULES.md decides it, and how.
    rests_on: str
    #: What it may lead to.
    differences: tuple[str, ...]
    repair: Repair
    #: A definition, and a value that is nothing but such a difference.
    example: tuple[str, Any]

    def repaired(self, definition: str, value: Any) -> Any:
        """The value without the reason for a difference; as it is if the reason is not in it."""
        box = [copy.deepcopy(value)]
        self.repair(definition, box)
        return box[0]


RULES = (
    Rule(
        "a URI may be any text",
        "Appendix A: `uri: string [uri]`, a string with a note; 5.1: the reference validates no kinds of strings",
        (WE_ACCEPT, OTHER_VALUE),
        replacing(text_unlike("format", "uri", r"[a-z]+:"), "https://example.com"),
        ("PlanFile", {"planId": "p", "uri": "not one"}),
    ),
    Rule(
        "a time may be any text",
        "Appendix A: `updatedAt: string [date-time]`, a string with a note; 5.1: as above",
        (OTHER_VALUE,),
        replacing(text_unlike("format", "date-time", r"\d{4}-\d\d-\d\dT"), "2026-01-02T03:04:05Z"),
        ("SessionInfoUpdate", {"updatedAt": "yesterday"}),
    ),
    Rule(
        "terminal data is base64",
        "3.12 TO5: each chunk is RFC 4648 base64 by itself, to be decoded by itself",
        (ZOD_ACCEPTS, OTHER_VALUE),
        replacing(text_unlike("contentEncoding", "base64", r"([\w+/]{4})*([\w+/]{3}=|[\w+/]{2}==)?\Z"), "YWJj"),
        ("TerminalOutputChunk", {"terminalId": "t", "data": "YQ"}),
    ),
    Rule(
        "64 bits are 64 bits",
        "5.4: ids, token counts, sizes, versions, times are int64 or uint64; JavaScript rounds above 2^53",
        (ZOD_ACCEPTS, OTHER_VALUE),
        replacing(no_integer(in_forms=False), 1),
        ("UsageUpdate", {"used": 1.5, "size": 2**64 - 1}),
    ),
    Rule(
        "integers in forms are integers",
        "5.3: all constraints of elicitation forms are strict; 5.4: JavaScript rounds above 2^53",
        (ZOD_ACCEPTS, OTHER_VALUE),
        replacing(no_integer(in_forms=True), 1),
        ("IntegerPropertySchema", {"minimum": 0.5}),
    ),
    Rule(
        "no params at all",
        "3.3 J2: params are an object, null or absent",
        (WE_ACCEPT,),
        with_params,
        ("ListProvidersRequest", None),
    ),
    Rule(
        "an envelope does not look into its cargo",
        "3.3 J2: params of extensions are any JSON, so it is the method that says what params are, not their shape",
        (OTHER_VALUE,),
        without_cargo,
        ("ClientRequest", {"id": 1, "method": "session/prompt", "params": {"sessionId": "s"}}),
    ),
    Rule(
        "notifications of the protocol level are open",
        "3.3 J8: what begins with $/ depends on the implementation, and a receiver may ignore it",
        (WE_ACCEPT, OTHER_VALUE),
        with_known_params,
        ("ProtocolLevelNotification", {"method": "$/progress", "params": {"done": 1}}),
    ),
    Rule(
        "an unknown variant is kept as it came",
        "5.1: the raw other keeps all fields; 3.14 X5: raw payloads should be preserved",
        (OTHER_VALUE,),
        without_lenient,
        ("ReplayFrom", {"type": "_custom", "_meta": "text"}),
    ),
    Rule(
        "a state has one struct",
        "5.3: state_update is flattened twice; extra keys on known objects are ignored",
        (OTHER_VALUE,),
        without_idle_members,
        ("StateUpdate", {"state": "running", "stopReason": "end_turn"}),
    ),
)


Judges = Callable[[list[tuple[str, Any]]], list[Case]]


def explained(cases: list[Case], judged: Judges) -> tuple[Counter[str], list[Case]]:
    """How many of these differences each rule explains, and those none does."""
    tried = [(case, rules, value) for case in cases for rules, value in _explanations(case)]
    counts: Counter[str] = Counter()
    done: set[int] = set()
    verdicts = judged([(case.definition, value) for case, _, value in tried])
    for (case, rules, _), after in zip(tried, verdicts, strict=True):
        if id(case) not in done and after.difference is None and after.ours.accepted:
            done.add(id(case))
            counts.update(rule.name for rule in rules)
    return counts, [case for case in cases if id(case) not in done]


def _explanations(case: Case) -> Iterator[tuple[list[Rule], Any]]:
    """Rules, and the value repaired by them: first each that may lead to such a difference, then those together with
    whatever else is found in the value."""
    found = [rule for rule in RULES if _text(rule.repaired(case.definition, case.value)) != _text(case.value)]
    leading = [rule for rule in found if case.difference in rule.differences]
    for rule in leading:
        yield [rule], rule.repaired(case.definition, case.value)
    if leading and len(found) > 1:
        value = case.value
        for rule in found:
            value = rule.repaired(case.definition, value)
        yield found, value
