"""Conversations to be told in updates, and many ways to tell the same: in pieces, whole, after detours, mixed up."""

from __future__ import annotations

from random import Random
from typing import Any

from acpcore import schema as s
from acpcore.schema import UNSET

WORDS = ["a", "Hello ", "naïve", "界面", "🙂\n", "x" * 30, "é" * 9]
METAS: list[Any] = [None, None, {}, {"k": 1}, {"k": [None, "é"]}]
JSONS: list[Any] = [None, 0, "", False, [], {"path": "/a"}, [1, {"b": None}]]


def text(words: str) -> s.TextContent:
    return s.TextContent(text=words)


def some_text(random: Random) -> str:
    return "".join(random.choices(WORDS, k=random.randint(1, 4)))


def some_block(random: Random) -> Any:
    return random.choice(
        [
            text(some_text(random)),
            text(some_text(random)),
            s.TextContent(text=some_text(random), annotations=s.Annotations(priority=0.5)),
            s.TextContent(text="m", meta={"k": 1}),
            s.ImageContent(data="aGk=", mime_type="image/png"),
            s.ResourceLink(name="n", uri="file:///" + some_text(random)),
            s.OtherContentBlock.of({"type": "_chart", "points": [1, 2]}),
        ]
    )


def some_item(random: Random) -> Any:
    return random.choice(
        [
            s.Content(content=some_block(random)),
            s.Diff(changes=[s.DiffAdd(path="/a"), s.DiffMove(path="/b", old_path="/c")]),
            s.Terminal(terminal_id=random.choice("tu")),
            s.OtherToolCallContent.of({"type": "later", "x": some_text(random)}),
        ]
    )


def is_plain(block: Any) -> bool:
    return isinstance(block, s.TextContent) and block.annotations is None and block.meta is None


def some(random: Random, make: Any, most: int = 4) -> list[Any]:
    return [make(random) for _ in range(random.randint(0, most))]


def pieces(random: Random, words: str) -> list[str]:
    """A text, cut somewhere; none of the pieces is empty unless all is."""
    cuts = sorted(random.sample(range(1, len(words)), k=min(len(words) - 1, random.randint(0, 3)))) if words else []
    return [words[a:b] for a, b in zip([0, *cuts], [*cuts, len(words)], strict=True)]


def crumbs(random: Random, blocks: list[Any]) -> list[Any]:
    """The same blocks with their plain texts cut into pieces."""
    told: list[Any] = []
    for block in blocks:
        told += map(text, pieces(random, block.text)) if is_plain(block) else [block]
    return told


def tell_list(random: Random, items: list[Any], whole: Any, chunk: Any, junk: Any) -> list[Any]:
    """Updates after which the content is ``items``: chunks alone, or a whole content and chunks for the rest."""
    told: list[Any] = []
    if random.random() < 0.5:  # what was there before does not matter
        told += [*map(chunk, junk()), whole(junk()), *map(chunk, junk())]
        at = random.randint(0, len(items))
        told.append(whole(items[:at] or random.choice([None, []])))
    else:
        at = 0
        told += [whole(UNSET)] if random.random() < 0.3 or not items else []
    return told + [chunk(item) for item in items[at:]]


def tell_fields(random: Random, patch: Any, values: dict[str, Any], junk: dict[str, Any]) -> list[Any]:
    """Updates after which the members have these values: in any order, in any grouping, also after others."""
    told = []
    names = random.sample(list(values), k=len(values))
    for name in names:
        if random.random() < 0.5 or junk[name] is None:
            told.append({name: values[name] if values[name] is not None or random.random() < 0.5 else UNSET})
        else:
            told += [{name: junk[name]}, {name: values[name]}]
    merged: list[dict[str, Any]] = []
    for members in told:
        if merged and not merged[-1].keys() & members.keys() and random.random() < 0.6:
            merged[-1].update(members)
        else:
            merged.append(members)
    return [patch(**members) for members in merged]


def braid(random: Random, *strands: list[Any]) -> list[Any]:
    """One list out of several, each in its order."""
    ahead = [list(strand) for strand in strands if strand]
    woven = []
    while ahead:
        strand = random.choice(ahead)
        woven.append(strand.pop(0))
        ahead = [strand for strand in ahead if strand]
    return woven


class Target:
    """What is to be told: entries in the order of their first appearance, and everything else."""

    def __init__(self, random: Random) -> None:
        makers = [self.message, self.message, self.tool_call, self.unknown]
        self.spoken = [random.choice(makers)(random, number) for number in range(random.randint(0, 6))]
        beside = [self.terminal, self.plan, self.removed_plan, self.info]
        self.beside = [random.choice(beside)(random, number) for number in range(random.randint(0, 4))]
        self.snapshots = [self.commands(random), self.options(random), self.usage(random), self.state(random)]

    def tell(self, random: Random) -> list[Any]:
        """A stream of updates for it."""
        started: list[list[Any]] = []
        woven = []
        waiting = [strand(random) for strand in self.spoken]
        while started or waiting:
            if waiting and (not started or random.random() < 0.4):
                strand = waiting.pop(0)
                started.append(strand)  # and its first update comes now, to keep the order of first appearance
            else:
                strand = random.choice(started)
            woven.append(strand.pop(0))
            started = [strand for strand in started if strand]
        return braid(random, woven, *(strand(random) for strand in self.beside + self.snapshots))

    @staticmethod
    def message(random: Random, number: int) -> Any:
        kinds: list[tuple[Any, Any]] = [
            (s.UserMessage, s.UserMessageChunk),
            (s.AgentMessage, s.AgentMessageChunk),
            (s.AgentThought, s.AgentThoughtChunk),
        ]
        whole, chunk = random.choice(kinds)
        id, blocks = random.choice([f"m{number}", "same"]) if number == 0 else f"m{number}", some(random, some_block)
        values, junk = {"meta": random.choice(METAS)}, {"meta": random.choice(METAS)}

        def tell(random: Random) -> list[Any]:
            content = tell_list(
                random,
                crumbs(random, blocks),
                lambda items: whole(message_id=id, content=items),
                lambda block: chunk(message_id=id, content=block, meta=random.choice(METAS)),
                lambda: some(random, some_block, 2),
            )
            return braid(random, content, tell_fields(random, lambda **m: whole(message_id=id, **m), values, junk))

        return tell

    @staticmethod
    def tool_call(random: Random, number: int) -> Any:
        id, items = f"c{number}", some(random, some_item)

        def members() -> dict[str, Any]:
            return {
                "name": random.choice([None, "read"]),
                "title": random.choice([None, "Read", ""]),
                "kind": random.choice([None, "read", "_mine"]),
                "status": random.choice([None, "in_progress", "completed", "_odd"]),
                "locations": random.choice([None, [], [s.ToolCallLocation(path="/a", line=3)]]),
                "raw_input": random.choice(JSONS),
                "raw_output": random.choice(JSONS),
                "meta": random.choice(METAS),
            }

        values, junk = members(), members()

        def tell(random: Random) -> list[Any]:
            content = tell_list(
                random,
                items,
                lambda items: s.ToolCallUpdate(tool_call_id=id, content=items),
                lambda item: s.ToolCallContentChunk(tool_call_id=id, content=item),
                lambda: some(random, some_item, 2),
            )
            fields = tell_fields(random, lambda **m: s.ToolCallUpdate(tool_call_id=id, **m), values, junk)
            return braid(random, content, fields)

        return tell

    @staticmethod
    def unknown(random: Random, number: int) -> Any:
        update = s.OtherSessionUpdate.of(
            {"sessionUpdate": random.choice(["notice", "_mine"]), "text": some_text(random)}
        )
        return lambda random: [update]

    @staticmethod
    def terminal(random: Random, number: int) -> Any:
        id, data = f"t{number}", some_text(random).encode()

        def members() -> dict[str, Any]:
            return {
                "command": random.choice([None, "ls", "make"]),
                "cwd": random.choice([None, "/w"]),
                "exit_status": random.choice([None, s.TerminalExitStatus(), s.TerminalExitStatus(exit_code=2)]),
                "meta": random.choice(METAS),
            }

        values, junk = members(), members()

        def tell(random: Random) -> list[Any]:
            def whole(parts: Any) -> Any:
                output = s.TerminalOutput(data=b"".join(parts)) if parts else parts
                return s.TerminalUpdate(terminal_id=id, output=None if output == [] else output)

            content = tell_list(
                random,
                [data[at : at + 5] for at in range(0, len(data), 5)],
                whole,
                lambda part: s.TerminalOutputChunk(terminal_id=id, data=part),
                lambda: [b"junk\x1b[", b"\xff"][: random.randint(0, 2)],
            )
            fields = tell_fields(random, lambda **m: s.TerminalUpdate(terminal_id=id, **m), values, junk)
            return braid(random, content, fields)

        return tell

    @staticmethod
    def plan(random: Random, number: int) -> Any:
        id = f"p{number}"

        def make(random: Random) -> Any:
            entries = [s.PlanEntry(content=some_text(random), priority="low", status="pending")]
            return random.choice(
                [
                    s.PlanItems(plan_id=id, entries=entries * random.randint(0, 2)),
                    s.PlanMarkdown(plan_id=id, content=some_text(random)),
                    s.PlanFile(plan_id=id, uri="file:///p"),
                    s.OtherPlanUpdateContent.of({"type": "_tree", "planId": id, "x": 1}),
                ]
            )

        final = make(random)
        return lambda random: [s.PlanUpdate(plan=plan) for plan in [*some(random, make, 2), final]]

    @staticmethod
    def removed_plan(random: Random, number: int) -> Any:
        plan = s.PlanUpdate(plan=s.PlanMarkdown(plan_id=f"gone{number}", content="x"))
        removed = s.PlanRemoved(plan_id=f"gone{number}")
        return lambda random: random.choice([[plan, removed], [removed], []])

    @staticmethod
    def info(random: Random, number: int) -> Any:
        if number:  # there is but one
            return lambda random: []

        def members() -> dict[str, Any]:
            return {
                "title": random.choice([None, "One", ""]),
                "updated_at": random.choice([None, "2026-01-01T00:00:00Z"]),
                "meta": random.choice(METAS),
            }

        values, junk = members(), members()
        return lambda random: tell_fields(random, s.SessionInfoUpdate, values, junk)

    @staticmethod
    def last_of(random: Random, make: Any) -> Any:
        if random.random() < 0.3:
            return lambda random: []
        final = make(random)
        return lambda random: [*some(random, make, 2), final]

    def commands(self, random: Random) -> Any:
        return self.last_of(
            random,
            lambda random: s.AvailableCommandsUpdate(
                available_commands=some(random, lambda r: s.AvailableCommand(name=some_text(r), description="d"))
            ),
        )

    def options(self, random: Random) -> Any:
        def option(random: Random) -> Any:
            return s.SessionConfigBoolean(config_id=some_text(random), name="n", current_value=random.random() < 0.5)

        kinds: list[Any] = [s.ConfigOptionUpdate, s.SetSessionConfigOptionResponse]
        return self.last_of(random, lambda random: random.choice(kinds)(config_options=some(random, option)))

    def usage(self, random: Random) -> Any:
        return self.last_of(random, lambda random: s.UsageUpdate(used=random.randint(0, 9), size=9))

    def state(self, random: Random) -> Any:
        return self.last_of(
            random,
            lambda random: random.choice(
                [
                    s.StateUpdate(state="running"),
                    s.IdleStateUpdate(stop_reason=random.choice([None, "end_turn", "_odd"])),
                    s.RequiresActionStateUpdate(),
                    s.OtherStateUpdate.of({"sessionUpdate": "state_update", "state": "unknown"}),
                ]
            ),
        )


def some_updates(random: Random, most: int = 40) -> list[Any]:
    """Updates that touch the same few ids again and again: what three conversations have to say, mixed up."""
    told = [update for _ in range(3) for update in Target(random).tell(random)]
    random.shuffle(told)
    return told[:most]
