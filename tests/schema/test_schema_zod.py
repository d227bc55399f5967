"""What is accepted, and as what: the same as by the zod schemas of npm's ``@agentclientprotocol/sdk@1.3.0``, over many
mutations of valid instances, but for the differences that ``zod_differences`` lists and RULES.md decides."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import alpha2
import instances
import msgspec
import pytest
import zod_differences
from mutations import Mutation, Mutator, valid
from zod_differences import Case, Verdict

from acpcore import schema
from acpcore.schema import InvalidParams, v2

sys.path.append(str(Path(__file__).resolve().parents[1] / "interop"))
import peers

JUDGE = Path(__file__).resolve().with_name("zod_judge.mjs")
FULL = os.environ.get("ACPCORE_FULL") == "1"
COUNT = 100_000 if FULL else 25_000


@pytest.mark.slow
def test_mutations_are_judged_as_zod_does(capsys: pytest.CaptureFixture[str]) -> None:
    definitions = alpha2.definitions()
    peers.install_sdks()
    good = valid(definitions, each=40 if FULL else 12)
    cases = [Mutation(instances.whole_name(name), "none", value) for name, values in good.items() for value in values]
    cases += Mutator(definitions).mutations(good, COUNT)
    kinds = Counter(kind for _, kind, _ in cases)
    made = judged([(name, value) for name, _, value in cases])
    differing = [case for case in made if case.difference]
    rules, unexplained = zod_differences.explained(differing, judged)
    with capsys.disabled():
        print(f" {len(cases) - kinds['none']} mutations of {kinds['none']} instances of {len(good)} definitions")
        print(", ".join(f"{kind}: {count}" for kind, count in kinds.items() if kind != "none"))
        taken = sum(case.ours.accepted for case in made), sum(case.zod.accepted for case in made)
        print(f"accepted by us {taken[0]}, by zod {taken[1]}, refused by us {len(made) - taken[0]}")
        print(f"differences {len(differing)}, unexplained {len(unexplained)}, by rule (some need two):")
        for rule in zod_differences.RULES:
            print(f"{rules[rule.name]:6} {rule.name}; RULES.md {rule.rests_on}")
    assert not unexplained, "\n\n".join(map(str, unexplained[:20]))
    assert len(cases) - kinds["none"] >= COUNT


def test_each_rule_has_a_difference_of_its_own() -> None:
    alpha2.definitions()
    peers.install_sdks()
    assert len(zod_differences.RULES) <= zod_differences.MOST_RULES
    examples = judged([rule.example for rule in zod_differences.RULES])
    for rule, case in zip(zod_differences.RULES, examples, strict=True):
        assert case.difference in rule.differences, str(case)
        rules, unexplained = zod_differences.explained([case], judged)
        assert (unexplained, rules) == ([], {rule.name: 1})


# --- the verdicts


def judged(asked: list[tuple[str, Any]]) -> list[Case]:
    """Both verdicts on each value of a definition."""
    theirs = zod(asked)
    return [Case(name, value, ours(name, value), verdict) for (name, value), verdict in zip(asked, theirs, strict=True)]


def ours(name: str, value: Any) -> Verdict:
    kind = getattr(v2, name)
    try:
        made = schema.decode(kind, json.dumps(value).encode())
    except InvalidParams as fault:
        return Verdict(False, None, str(fault))
    back = json.loads(schema.encode(made))
    return Verdict(True, comparable(instances.untagged(back, value, made), patched(name)))


def zod(asked: list[tuple[str, Any]]) -> list[Verdict]:
    lines = "".join(json.dumps({"definition": name, "value": value}) + "\n" for name, value in asked)
    command = ["node", str(JUDGE)]
    done = subprocess.run(command, input=lines.encode(), capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    verdicts = []
    for line, (name, _) in zip(done.stdout.splitlines(), asked, strict=True):
        answer = json.loads(line)
        assert answer["accept"] is not None, f"no schema for {name}"
        value = comparable(answer.get("value"), patched(name)) if answer["accept"] else None
        verdicts.append(Verdict(answer["accept"], value, "; ".join(answer.get("why", ()))))
    return verdicts


@cache
def patched(name: str) -> frozenset[str]:
    """The members of which absent and ``null`` are not the same."""
    kind = getattr(v2, name)
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return frozenset()
    fields = msgspec.structs.fields(kind)
    return frozenset(field.encode_name for field in fields if field.default is msgspec.UNSET)


def comparable(value: Any, exact: frozenset[str] = frozenset()) -> Any:
    """The value without what says nothing (null, empty, a default), and with numbers of one kind."""
    if isinstance(value, dict):
        made = {name: comparable(member) for name, member in value.items()}
        return {name: one for name, one in made.items() if name in exact or not instances.says_nothing(name, one)}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return value
