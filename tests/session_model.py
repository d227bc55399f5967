"""The fold of ``session/update`` on plain JSON, word for word after the rules, and a view in the same form."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

from acpcore import schema as s
from acpcore.session import Message, SessionTerminal, SessionView, ToolCall


class Model:
    """The same fold on plain JSON, word for word after the rules."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], Any] = {}
        self.singles: dict[str, Any] = {"info": {}}
        self.others = 0

    def apply(self, update: dict[str, Any]) -> None:
        update = dict(update)
        tag = update.pop("sessionUpdate")
        if tag.endswith("_chunk"):
            self.chunk(tag.removesuffix("_chunk"), update)
        elif tag in ("user_message", "agent_message", "agent_thought"):
            self.patch(tag, "messageId", update)
        elif tag in ("tool_call_update", "terminal_update"):
            self.patch(tag.removesuffix("_update"), tag[: tag.index("_", 5)].replace("_c", "C") + "Id", update)
        elif tag == "session_info_update":
            self.merge(self.singles["info"], update)
        elif tag == "plan_update":
            self.entries["plan", update["plan"]["planId"]] = update["plan"]
        elif tag == "plan_removed":
            self.entries.pop(("plan", update["planId"]), None)
        elif tag in ("state_update", "usage_update", "available_commands_update", "config_option_update"):
            self.singles[tag] = update
        else:
            self.entries["other", str(self.others)] = {"sessionUpdate": tag, **update}
            self.others += 1

    def merge(self, known: dict[str, Any], update: dict[str, Any]) -> None:
        for name, value in update.items():
            if value is None or (value == [] and name in ("content", "locations")):
                known.pop(name, None)
            else:
                known[name] = value

    def patch(self, kind: str, key: str, update: dict[str, Any]) -> None:
        known = self.entries.setdefault((kind, update.pop(key)), {})
        if isinstance(update.get("output"), dict):
            update["output"] = b64decode(update["output"]["data"])
        self.merge(known, update)

    def chunk(self, kind: str, update: dict[str, Any]) -> None:
        if kind == "terminal_output":
            known = self.entries.setdefault(("terminal", update["terminalId"]), {})
            known["output"] = known.get("output", b"") + b64decode(update["data"])
            return
        kind, key = ("tool_call", "toolCallId") if kind == "tool_call_content" else (kind, "messageId")
        known = self.entries.setdefault((kind, update[key]), {})
        known["content"] = [*known.get("content", []), update["content"]]

    def shape(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"transcript": [], "terminal": {}, "plan": {}, **self.singles}
        for (kind, id), entry in self.entries.items():
            if kind in ("terminal", "plan"):
                entry = {**entry, "output": entry.get("output", b"").hex()} if kind == "terminal" else entry
                shown[kind][id] = entry
            elif kind == "tool_call":
                shown["transcript"].append([kind, id, {"kind": "other", "status": "pending", "content": [], **entry}])
            elif kind == "other":
                shown["transcript"].append([kind, "", entry])
            else:
                shown["transcript"].append([kind, id, {**entry, "content": joined(entry.get("content", []))}])
        return shown


def joined(blocks: list[Any]) -> list[Any]:
    result: list[Any] = []
    for block in blocks:
        if result and block.keys() == result[-1].keys() == {"type", "text"}:
            result[-1] = {"type": "text", "text": result[-1]["text"] + block["text"]}
        else:
            result.append(block)
    return result


def plain(value: Any) -> Any:
    return json.loads(s.encode(value))


def known(**members: Any) -> dict[str, Any]:
    return {name.replace("meta", "_meta"): plain(value) for name, value in members.items() if value not in (None, [])}


TAGS = {"user": "user_message", "agent": "agent_message", "thought": "agent_thought"}


def shape_of(entry: Any) -> list[Any]:
    if isinstance(entry, Message):
        meta = {} if entry.meta is None else {"_meta": entry.meta}
        return [TAGS[entry.role], entry.id, {**meta, "content": plain(entry.content)}]
    if isinstance(entry, ToolCall):
        members = {"kind": entry.kind, "status": entry.status, "content": plain(entry.content)}
        texts = {"name": entry.name, "title": entry.title, "_meta": entry.meta}
        raws = {"rawInput": entry.raw_input, "rawOutput": entry.raw_output}
        members |= {name: value for name, value in {**texts, **raws}.items() if value is not None}
        return ["tool_call", entry.id, members | ({"locations": plain(entry.locations)} if entry.locations else {})]
    return ["other", "", plain(entry)]


def shape_of_terminal(entry: SessionTerminal) -> dict[str, Any]:
    members = {"command": entry.command, "cwd": entry.cwd, "_meta": entry.meta}
    members |= {"exitStatus": None if entry.exit_status is None else plain(entry.exit_status)}
    return {name: value for name, value in members.items() if value is not None} | {"output": entry.bytes.hex()}


def untagged(update: Any) -> dict[str, Any]:
    members = plain(update)
    del members["sessionUpdate"]
    return members


def shape(view: SessionView) -> dict[str, Any]:
    info = {"title": view.title, "updatedAt": view.updated_at, "_meta": view.meta}
    shown: dict[str, Any] = {
        "transcript": [shape_of(entry) for entry in view.transcript.values()],
        "terminal": {id: shape_of_terminal(entry) for id, entry in view.terminals.items()},
        "plan": {id: plain(plan) for id, plan in view.plans.items()},
        "info": {name: value for name, value in info.items() if value is not None},
        "available_commands_update": {"availableCommands": plain(view.commands)},
        "config_option_update": {"configOptions": plain(view.config_options)},
    }
    if view.usage is not None:
        shown["usage_update"] = untagged(view.usage)
    if view.state_update is not None:
        shown["state_update"] = untagged(view.state_update)
    return shown
