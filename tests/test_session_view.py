"""What a session looks like: the same however it is told, as a naive model of the rules has it, within its limits."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from session_model import Model, joined, plain, shape
from session_stories import Target, crumbs, is_plain, some, some_block, some_item, some_updates, text

from acpcore import schema as s
from acpcore.engine import Engine
from acpcore.errors import InvalidParams, UsageError
from acpcore.message import Event, Notification, TerminalBytes, Updates
from acpcore.schema import UNSET
from acpcore.session import Key, SessionView, ViewLimits

CAPTURES = Path(__file__).parent / "captures"
SESSION = "s1"
KIB = 1 << 10
RANDOM = st.randoms(use_true_random=True)


def view_of(updates: list[Any], limits: ViewLimits | None = None) -> SessionView:
    view = SessionView(SESSION, limits=limits)
    for update in updates:
        assert view.apply(update)
    return view


# --- one target, many streams


@given(RANDOM)
def test_every_way_to_tell_a_session_gives_the_same_view(random: Random) -> None:
    target = Target(random)
    first = view_of(target.tell(random))
    for _ in range(3):
        assert view_of(target.tell(random)) == first


@given(RANDOM)
def test_a_view_tells_itself(random: Random) -> None:
    view = view_of(Target(random).tell(random))
    again = view_of(view.updates())
    assert again == view
    assert again.size == view.size
    assert view_of([s.decode(s.SessionUpdate, s.encode(update)) for update in view.updates()]) == view


@given(RANDOM)
def test_different_targets_differ(random: Random) -> None:
    one, other = Target(random).tell(random), Target(random).tell(random)
    shown = [json.dumps(shape(view_of(updates)), sort_keys=True) for updates in (one, other)]
    assert (shown[0] == shown[1]) == (view_of(one) == view_of(other))


@given(RANDOM)
def test_one_more_update_shows_unless_it_says_nothing_new(random: Random) -> None:
    updates = Target(random).tell(random)
    view, other = view_of(updates), view_of(updates)
    other.apply(s.AgentMessageChunk(message_id="last", content=text("x")))
    assert view != other
    assert view != "a view"


def lines(updates: list[Any], random: Random) -> bytes:
    """Updates on the wire, between those of another session."""
    rows = []
    for update in updates:
        if random.random() < 0.2:
            rows.append(("s2", s.AgentMessageChunk(message_id="m0", content=text("not mine"))))
        rows.append((SESSION, update))
    head = {"jsonrpc": "2.0", "method": "session/update"}
    return b"".join(
        s.encode({**head, "params": s.UpdateSessionNotification(session_id=session, update=update)}) + b"\n"
        for session, update in rows
    )


def events(data: bytes, random: Random, grouped: bool = True) -> Iterator[Event]:
    engine = Engine("client", grouped=grouped)
    while data:
        size = random.randint(1, 4000)
        for event in engine.receive_data(data[:size]):
            yield event
            engine.done(event)
        data = data[size:]


@settings(max_examples=100)
@given(RANDOM)
def test_events_of_a_connection_give_the_same_view(random: Random) -> None:
    updates = [
        update for update in Target(random).tell(random) if not isinstance(update, s.SetSessionConfigOptionResponse)
    ]
    expected = view_of(updates)
    data = lines(updates, random)
    for grouped in (True, False):
        view = SessionView(SESSION)
        for event in events(data, random, grouped):
            view.apply(event)
        assert view == expected


@pytest.mark.parametrize("recording", ["ts-sdk-dual-version-agent-1.9.0", "ts-sdk-dual-version-agent-2.4.0"])
def test_what_a_real_agent_replays_gives_the_view_of_the_live_run(recording: str) -> None:
    rows = [json.loads(row) for row in (CAPTURES / recording / "v2-flow/trace.jsonl").read_text("utf-8").splitlines()]
    resumed = next(at for at, row in enumerate(rows) if row["dir"] == "in" and "session/resume" in row["data"])
    views = []
    for part in (rows[:resumed], rows[resumed:]):
        data = "".join(row["data"] for row in part if row["dir"] == "out").encode()
        found = [event for event in events(data, Random(1), grouped=False) if isinstance(event, Notification)]
        view = SessionView(found[0].session_id or "")
        assert [view.apply(event) for event in found] == [True] * len(found)
        views.append(view)
    assert views[0] == views[1]
    assert [message.role for message in views[0].messages] == ["user", "agent", "user"]
    assert views[0].stop_reason == "cancelled"


# --- a naive model of the rules


@given(RANDOM)
def test_folding_is_what_the_rules_say(random: Random) -> None:
    model, view = Model(), SessionView(SESSION)
    model.singles |= {
        "available_commands_update": {"availableCommands": []},
        "config_option_update": {"configOptions": []},
    }
    for update in some_updates(random):
        if isinstance(update, s.SetSessionConfigOptionResponse):
            continue
        assert view.apply(update)
        model.apply(plain(update))
        assert shape(view) == model.shape()


# --- three states

ENTRY: list[tuple[type, str, str, str, Any, Any]] = [
    (s.UserMessage, "message_id", "user", "content", [text("x")], []),
    (s.AgentMessage, "message_id", "agent", "content", [text("x")], []),
    (s.AgentThought, "message_id", "thought", "content", [text("x")], []),
    *((kind, "message_id", role, "meta", {"k": 1}, None) for kind, role in [(s.UserMessage, "user")]),
    (s.AgentMessage, "message_id", "agent", "meta", {"k": 1}, None),
    (s.AgentThought, "message_id", "thought", "meta", {"k": 1}, None),
    (s.ToolCallUpdate, "tool_call_id", "tool_call", "name", "grep", None),
    (s.ToolCallUpdate, "tool_call_id", "tool_call", "title", "Search", None),
    (s.ToolCallUpdate, "tool_call_id", "tool_call", "kind", "search", "other"),
    (s.ToolCallUpdate, "tool_call_id", "tool_call", "status", "failed", "pending"),
    (s.ToolCallUpdate, "tool_call_id", "tool_call", "content", [s.Terminal(terminal_id="t")], []),
    (s.ToolCallUpdate, "tool_call_id", "tool_call", "locations", [s.ToolCallLocation(path="/a")], []),
    (s.ToolCallUpdate, "tool_call_id", "tool_call", "raw_input", {"a": [1]}, None),
    (s.ToolCallUpdate, "tool_call_id", "tool_call", "raw_output", [0], None),
    (s.ToolCallUpdate, "tool_call_id", "tool_call", "meta", {"k": 1}, None),
    (s.TerminalUpdate, "terminal_id", "terminal", "command", "make", None),
    (s.TerminalUpdate, "terminal_id", "terminal", "cwd", "/w", None),
    (s.TerminalUpdate, "terminal_id", "terminal", "exit_status", s.TerminalExitStatus(), None),
    (s.TerminalUpdate, "terminal_id", "terminal", "meta", {"k": 1}, None),
]


@pytest.mark.parametrize(("update", "id", "kind", "name", "value", "cleared"), ENTRY)
def test_omitted_stays_null_clears_a_value_replaces(
    update: Any, id: str, kind: str, name: str, value: Any, cleared: Any
) -> None:
    view = SessionView(SESSION)

    def told(new: Any) -> Any:
        view.apply(s.decode(s.SessionUpdate, s.encode(update(**{id: "x", name: new}))))
        return getattr(view.get(Key(kind, "x")), name)

    assert told(UNSET) == cleared
    assert told(value) == value
    assert told(UNSET) == value
    assert told(None) == cleared
    assert told(value) == value
    if name in ("content", "locations"):
        assert told([]) == cleared


@pytest.mark.parametrize(("name", "value"), [("title", "T"), ("updated_at", "2026"), ("meta", {"k": 1})])
def test_session_info_is_patched(name: str, value: Any) -> None:
    view = SessionView(SESSION)
    for told, seen in [(UNSET, None), (value, value), (UNSET, value), (None, None)]:
        view.apply(s.SessionInfoUpdate(**{name: told}))
        assert getattr(view, name) == seen


def test_terminal_output_is_a_snapshot_and_chunks_after_it() -> None:
    view = SessionView(SESSION)
    view.apply(s.TerminalOutputChunk(terminal_id="t", data=b"one "))
    view.apply(s.TerminalUpdate(terminal_id="t", command="ls"))
    assert view.terminals["t"].bytes == b"one "
    view.apply(s.TerminalUpdate(terminal_id="t", output=s.TerminalOutput(data=b"two ")))
    view.apply(s.TerminalOutputChunk(terminal_id="t", data=b"three"))
    assert view.terminals["t"].text() == "two three"
    view.apply(s.TerminalUpdate(terminal_id="t", output=None))
    assert view.terminals["t"].bytes == b""
    assert view.terminals["t"].command == "ls"


# --- single rules


def test_the_defaults_of_a_tool_call_that_is_seen_first() -> None:
    view = view_of([s.ToolCallContentChunk(tool_call_id="c", content=s.Terminal(terminal_id="t"))])
    call = view.tool_calls["c"]
    assert (call.status, call.kind, call.title, call.finished) == ("pending", "other", None, False)
    assert view.terminals == {}
    assert list(view.transcript) == [Key("tool_call", "c")]


def test_messages_of_different_speakers_do_not_mix() -> None:
    chunks: list[Any] = [s.UserMessageChunk, s.AgentThoughtChunk, s.AgentMessageChunk]
    view = view_of([chunk(message_id="m", content=text(word)) for word in "ab" for chunk in chunks])
    assert [(message.role, message.text) for message in view.messages] == [
        ("user", "ab"),
        ("thought", "ab"),
        ("agent", "ab"),
    ]


def test_texts_with_something_of_their_own_stay_blocks_of_their_own() -> None:
    noted = s.TextContent(text="b", annotations=s.Annotations(priority=1))
    kept = s.decode(s.ContentBlock, b'{"type":"text","text":"c","colour":"red"}', keep_unknown=True)
    view = view_of([s.AgentMessage(message_id="m", content=[text("a"), text("a"), noted, text("a"), kept, text("")])])
    assert view.messages[0].content == [text("aa"), noted, text("a"), kept, text("")]
    assert view.messages[0].text == "aabac"


def test_state_and_stop_reason() -> None:
    view = SessionView(SESSION)
    assert (view.state, view.stop_reason) == (None, None)
    view.apply(s.IdleStateUpdate(stop_reason="refusal"))
    assert (view.state, view.stop_reason) == ("idle", "refusal")
    view.apply(s.RunningStateUpdate())
    assert (view.state, view.stop_reason) == ("running", None)
    view.apply(s.OtherStateUpdate.of({"sessionUpdate": "state_update", "state": "unknown", "x": 1}))
    assert (view.state, view.stop_reason) == ("unknown", None)


def test_plans_are_replaced_and_removed() -> None:
    def entry(words: str) -> s.PlanEntry:
        return s.PlanEntry(content=words, priority="high", status="pending")

    items = s.PlanItems(plan_id="p", entries=[entry("a"), entry("b")])
    view = view_of([s.PlanUpdate(plan=items), s.PlanUpdate(plan=s.PlanItems(plan_id="p", entries=[entry("c")]))])
    assert view.plans == {"p": s.PlanItems(plan_id="p", entries=[entry("c")])}
    assert view.get(Key("plan", "p")) == view.plans["p"]
    view.apply(s.PlanRemoved(plan_id="p"))
    assert (view.plans, view.get(Key("plan", "p")), view.dropped.entries) == ({}, None, 0)


def test_results_tell_configuration_options() -> None:
    on = [s.SessionConfigBoolean(config_id="x", name="X", current_value=True)]
    off = [s.SessionConfigBoolean(config_id="x", name="X", current_value=False)]
    view = view_of([s.NewSessionResponse(session_id=SESSION, config_options=on)])
    assert view.config_options == on
    view.apply(s.SetSessionConfigOptionResponse(config_options=off))
    view.apply(s.ResumeSessionResponse())
    assert view.config_options == off
    view.apply(s.SetSessionConfigOptionResponse(config_options=[]))
    assert view.config_options == []


def test_the_tool_call_of_a_permission_request_is_news_of_it() -> None:
    subject = s.ToolCallPermissionSubject(tool_call=s.ToolCallPatch(tool_call_id="c", title="Delete"))
    view = view_of([s.ToolCallUpdate(tool_call_id="c", status="in_progress"), subject.tool_call])
    assert (view.tool_calls["c"].title, view.tool_calls["c"].status) == ("Delete", "in_progress")


def test_unknown_updates_keep_their_place() -> None:
    notes = [s.OtherSessionUpdate.of({"sessionUpdate": "_note", "n": n}) for n in (1, 1, 2)]
    chunk = s.UserMessageChunk(message_id="m", content=text("a"))
    view = view_of([notes[0], chunk, *notes[1:]])
    assert view.unknown == notes
    assert [key.kind for key in view.transcript] == ["other", "user", "other", "other"]
    assert view.get(list(view.transcript)[-1]) is notes[2]


def test_cancelling_marks_what_is_not_over_and_later_updates_win() -> None:
    statuses = [None, "pending", "in_progress", "_waiting", "completed", "failed", "cancelled"]
    view = view_of([s.ToolCallUpdate(tool_call_id=str(n), status=status) for n, status in enumerate(statuses)])
    view.take_changes()
    marked = view.mark_cancelled()
    assert marked == [Key("tool_call", str(n)) for n in range(4)]
    assert view.changes() == tuple(marked)
    assert [call.status for call in view.tool_calls.values()] == ["cancelled"] * 4 + [
        "completed",
        "failed",
        "cancelled",
    ]
    view.apply(s.ToolCallUpdate(tool_call_id="0", title="still here"))
    view.apply(s.ToolCallUpdate(tool_call_id="1", status="completed"))
    assert [view.tool_calls[id].status for id in "01"] == ["cancelled", "completed"]
    assert view.mark_cancelled() == []
    assert view.size == weight(view)


def test_what_is_not_for_this_session_is_left_alone() -> None:
    view = SessionView(SESSION)
    chunk = s.AgentMessageChunk(message_id="m", content=text("x"))
    assert not view.apply(s.UpdateSessionNotification(session_id="s2", update=chunk))
    other = s.encode({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"sessionId": SESSION}}) + b"\n"
    for event in [*events(lines([], Random(1)) + other, Random(1)), *events(b"{bad\n", Random(1))]:
        assert not view.apply(event)
    assert view == SessionView(SESSION)
    assert view.apply(s.UpdateSessionNotification(session_id=SESSION, update=chunk))
    assert "m" in repr(view.messages[0])


@pytest.mark.parametrize("wrong", [s.PromptResponse(), {"sessionUpdate": "plan_removed"}, None])
def test_what_is_no_update_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="no update"):
        SessionView(SESSION).apply(wrong)


def test_one_bad_update_among_many_harms_no_other() -> None:
    good = lines([s.AgentMessageChunk(message_id="m", content=text(word)) for word in "abc"], Random(5)).splitlines(
        True
    )
    bad = good[0].replace(b'"messageId":"m",', b"")
    group = next(events(b"".join([good[0], bad, *good[1:]]), Random(7)))
    for event in Engine("client").receive_data(b"".join([good[0], bad, *good[1:]])):
        view = SessionView(SESSION)
        assert isinstance(event, Updates)
        with pytest.raises(InvalidParams, match="messageId"):
            view.apply(event)
        assert view.messages[0].text == "abc"
    assert group


# --- changes


@given(RANDOM)
def test_who_looks_at_changes_alone_sees_everything(random: Random) -> None:
    limits = ViewLimits(max_entries=random.choice([3, 6, 1000]), max_field=KIB, max_total=random.choice([8, 64]) * KIB)
    view, shadow = SessionView(SESSION, limits=limits), {}
    singles = ("commands", "config_options", "title", "meta", "usage", "state_update")
    seen: dict[str, Any] = {}
    for update in some_updates(random, 60):
        view.apply(update)
        if random.random() < 0.2:
            view.mark_cancelled()
        if random.random() < 0.05:
            view.reset()
        if random.random() < 0.3:
            keys = view.changes()
            assert keys == view.take_changes()
            assert view.changes() == ()
            assert len(set(keys)) == len(keys)
            shadow.update({key: view.get(key) for key in keys if key.id})
            shadow = {key: entry for key, entry in shadow.items() if entry is not None}
            entries = {key: view.get(key) for key in everything(view)}
            assert shadow == entries
            names = {"info": ("title", "meta"), "state": ("state_update",)}
            fresh = {name for key in keys if not key.id for name in names.get(key.kind, (key.kind,))}
            seen.update({name: getattr(view, name) for name in fresh})
            assert {name: seen.get(name) or None for name in singles} == {n: getattr(view, n) or None for n in singles}


def everything(view: SessionView) -> list[Key]:
    beside = [Key("terminal", id) for id in view.terminals] + [Key("plan", id) for id in view.plans]
    return [*view.transcript, *beside]


def test_changes_come_in_the_order_of_their_first_change() -> None:
    def chunk(id: str) -> Any:
        return s.AgentMessageChunk(message_id=id, content=text("x"))

    view = view_of([chunk("b"), chunk("a"), s.StateUpdate(state="running"), chunk("b")])
    assert view.take_changes() == (Key("agent", "b"), Key("agent", "a"), Key("state"))
    view.apply(chunk("a"))
    view.apply(s.PlanUpdate(plan=s.PlanMarkdown(plan_id="p", content="x")))
    view.apply(s.PlanRemoved(plan_id="p"))
    assert view.take_changes() == (Key("agent", "a"),)


def test_nobody_has_to_look() -> None:
    view = SessionView(SESSION, limits=ViewLimits(max_entries=10))
    for n in range(1000):
        view.apply(s.PlanUpdate(plan=s.PlanMarkdown(plan_id=str(n), content="x")))
    assert len(view.changes()) == 10
    view.take_changes()
    for n in range(1000, 2000):
        view.apply(s.PlanUpdate(plan=s.PlanMarkdown(plan_id=str(n), content="x")))
    assert len(view.changes()) == 20


# --- ceilings


def weight(view: SessionView) -> int:
    """What the parts of a view have, counted anew."""
    entries = [view.get(key) for key in everything(view)]
    sizes = [entry.size if hasattr(entry, "size") else len(s.encode(entry)) for entry in entries]
    lists = [len(s.encode(part)) for part in (view.commands, view.config_options) if part]
    info = [len(view.title or ""), len(view.updated_at or ""), len(s.encode(view.meta)) if view.meta is not None else 0]
    snapshots = [len(s.encode(part)) for part in (view.usage, view.state_update) if part is not None]
    return sum(sizes + lists + info + snapshots)


def suffix(items: list[Any], ceiling: int) -> tuple[list[Any], int]:
    """The newest items that fit, by looking at all of them; texts at bytes."""
    kept: list[Any] = []
    room = ceiling
    sizes = [len(s.encode(item)) if not is_plain(item) else len(item.text.encode()) for item in items]
    for item, size in zip(reversed(items), reversed(sizes), strict=True):
        if size > room:
            if is_plain(item) and room:
                kept.append(text(item.text.encode()[-room:].decode("utf-8", "ignore")))
                room = 0
            break
        kept.append(item)
        room -= size
    return kept[::-1], sum(sizes) - (ceiling - room)


@given(RANDOM, st.integers(0, 200))
def test_an_entry_keeps_its_newest_content(random: Random, ceiling: int) -> None:
    limits = ViewLimits(max_message=ceiling, max_tool_call=ceiling)
    blocks = [block for block in some(random, some_block, 8) if not is_plain(block) or block.text]
    whole = [s.decode(s.ContentBlock, s.encode(block)) for block in joined(plain(blocks))]
    pieces = crumbs(random, blocks)
    view = view_of([s.AgentMessageChunk(message_id="m", content=block) for block in pieces], limits)
    if pieces:
        assert (view.messages[0].content, view.messages[0].dropped) == suffix(whole, ceiling)
        view.apply(s.AgentMessage(message_id="m", content=blocks))
        assert (view.messages[0].content, view.messages[0].dropped) == suffix(whole, ceiling)
    items = some(random, some_item, 8)
    view.apply(s.ToolCallUpdate(tool_call_id="c"))
    for item in items:
        view.apply(s.ToolCallContentChunk(tool_call_id="c", content=item))
    assert (view.tool_calls["c"].content, view.tool_calls["c"].dropped) == suffix(items, ceiling)


@given(RANDOM)
def test_every_way_gives_the_same_view_when_entries_are_cut(random: Random) -> None:
    limits = ViewLimits(max_message=40, max_tool_call=80, max_terminal=20, max_field=14)
    target = Target(random)
    first, second = (view_of(target.tell(random), limits) for _ in range(2))
    assert first == second
    cuts = [[getattr(entry, "dropped", 0) for entry in view.transcript.values()] for view in (first, second)]
    assert cuts[0] == cuts[1]
    assert first.size == second.size


@given(RANDOM)
def test_nothing_grows_beyond_its_limit(random: Random) -> None:
    limits = ViewLimits(
        max_entries=random.randint(1, 6),
        max_message=random.choice([0, 50, KIB]),
        max_tool_call=random.choice([0, 50, KIB]),
        max_terminal=random.choice([0, 8, KIB]),
        max_field=random.choice([0, 10, 40]),
        max_total=random.choice([320, 500, 100 * KIB]),
    )
    view = SessionView(SESSION, limits=limits)
    for update in some_updates(random, 60):
        before = view.dropped
        view.apply(update)
        assert view.size <= limits.max_total
        assert len(everything(view)) <= limits.max_entries
        assert view.dropped.entries >= before.entries
        assert view.dropped.bytes >= before.bytes
    roomy = ViewLimits(max_field=40, max_total=limits.max_total)
    if limits.max_field == roomy.max_field:  # what is too large is left out of the sum that is made here
        state = view.state_update is not None and len(s.encode(view.state_update)) > limits.max_field
        usage = view.usage is not None and len(s.encode(view.usage)) > limits.max_field
        bare = sum(len(s.encode(u)) for u, left in ((view.state_update, state), (view.usage, usage)) if left)
        assert view.size == weight(view) - bare


def test_what_changed_last_stays() -> None:
    view = SessionView(SESSION, limits=ViewLimits(max_entries=3))
    view.apply(s.TerminalUpdate(terminal_id="server", command="serve"))
    for n in range(5):
        view.apply(s.UserMessage(message_id=str(n), content=[text("x")]))
        view.apply(s.TerminalOutputChunk(terminal_id="server", data=b"tick "))
    assert view.terminals["server"].command == "serve"
    assert [message.id for message in view.messages] == ["3", "4"]
    assert view.dropped == (3, 6)
    assert view.get(Key("user", "0")) is None


def test_what_is_too_large_is_told() -> None:
    limits = ViewLimits(max_message=30, max_field=30, max_total=KIB)
    view = SessionView(SESSION, limits=limits)
    view.apply(s.PlanUpdate(plan=s.PlanMarkdown(plan_id="p", content="x" * 40)))
    assert view.dropped.entries == 1
    view.apply(s.OtherSessionUpdate.of({"sessionUpdate": "_large", "x": "x" * 40}))
    view.apply(s.AvailableCommandsUpdate(available_commands=[s.AvailableCommand(name="x" * 40, description="")]))
    view.apply(
        s.ConfigOptionUpdate(config_options=[s.SessionConfigBoolean(config_id="x", name="x", current_value=True)])
    )
    view.apply(s.UsageUpdate(used=1, size=2, meta={"k": "x" * 40}))
    view.apply(s.IdleStateUpdate(stop_reason="_" + "x" * 40))
    assert view.dropped.entries == 6
    assert (view.plans, view.unknown, view.commands, view.config_options) == ({}, [], [], [])
    assert view.usage == s.UsageUpdate(used=1, size=2)
    assert (view.state, view.stop_reason) == ("idle", None)
    view.apply(s.OtherStateUpdate.of({"sessionUpdate": "state_update", "state": "x" * 40}))
    assert view.state is None
    view.apply(s.ToolCallUpdate(tool_call_id="c", title="x" * 31, raw_input="x" * 30))
    assert (view.tool_calls["c"].title, view.tool_calls["c"].raw_input) == (None, "x" * 30)
    assert view.tool_calls["c"].dropped == 31
    view.apply(s.ToolCallUpdate(tool_call_id="c", title="x"))
    assert view.tool_calls["c"].dropped == 0
    view.apply(s.TerminalUpdate(terminal_id="t", command="x" * 31, cwd="/w"))
    assert (view.terminals["t"].command, view.terminals["t"].cwd) == (None, "/w")


@pytest.mark.parametrize("wrong", [{"max_entries": 0}, {"max_field": -1}, {"max_field": 9 << 20}, {"max_message": -1}])
def test_limits_that_cannot_be(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="max_"):
        ViewLimits(**wrong)


def test_a_text_of_many_pieces_takes_little_more_than_the_text() -> None:
    view = SessionView(SESSION)
    chunk = s.AgentMessageChunk(message_id="m", content=text("é"))
    tracemalloc.start()
    try:
        for _ in range(100_000):
            view.apply(chunk)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert view.messages[0].text == "é" * 100_000
    assert held < 300_000


def test_a_flood_of_terminal_bytes_stays_below_the_ceiling() -> None:
    view = SessionView(SESSION, limits=ViewLimits(max_terminal=100))
    data = lines([s.TerminalOutputChunk(terminal_id="t", data=b"0123456789") for _ in range(50)], Random(2))
    for event in events(data, Random(3)):
        assert view.apply(event) or not isinstance(event, TerminalBytes)
    assert view.terminals["t"].bytes == b"0123456789" * 10
    assert view.terminals["t"].dropped == 400
    assert view.size == 101


def test_a_reset_view_is_as_new_and_says_so() -> None:
    view = view_of([s.UserMessage(message_id="m", content=[text("x")]), s.StateUpdate(state="running")])
    view.take_changes()
    view.reset()
    assert view == SessionView(SESSION)
    assert set(view.take_changes()) >= {Key("user", "m"), Key("state")}
    assert view.size == 0
