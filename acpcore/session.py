"""What a session looks like after its updates.

    view = SessionView(reply.session_id)
    async for event in conn.session(view.session_id):
        view.apply(event)
        for key in view.take_changes():
            paint(key, view.get(key))       # None: it is gone

Replayed and live updates give the same view; so does any other way to tell the same: in pieces, whole, as patches.
https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from . import schema as s
from .errors import UsageError
from .message import Event, Notification, TerminalBytes, Updates
from .session_bounds import Fields, ViewLimits, json_size
from .session_entries import Message, SessionTerminal, Speaker, ToolCall
from .session_feed import updates_of
from .session_store import Changes, Dropped, Entry, Key, Spoken, Store

__all__ = ["Dropped", "Entry", "Key", "Message", "SessionTerminal", "SessionView", "Spoken", "ToolCall", "ViewLimits"]

T = TypeVar("T")

#: Results that say what the configuration options are.
Options: TypeAlias = (
    "s.NewSessionResponse | s.ResumeSessionResponse | s.ForkSessionResponse | s.SetSessionConfigOptionResponse"
)
#: What a view takes in.
Applicable: TypeAlias = "Event | s.UpdateSessionNotification | s.SessionUpdate | s.ToolCallPatch | Options"

COMMANDS, OPTIONS, INFO, USAGE, STATE = map(Key, ("commands", "config_options", "info", "usage", "state"))


class SessionView:
    """Folds the updates of one session into what there is to show, within ``limits``.

    What is too much is thrown away: within an entry the oldest content (``entry.dropped`` says how much), of the
    entries those that have not changed for the longest time (``dropped`` counts them); news of one of these begins it
    anew. Views are equal if they show the same. Lists and mappings that are handed out are not to be changed.
    """

    def __init__(self, session_id: str, *, limits: ViewLimits | None = None) -> None:
        self.session_id = session_id
        self.limits = ViewLimits() if limits is None else limits
        self._changes = Changes()
        self._clear()

    def _clear(self) -> None:
        self._store = Store(self.limits, self._changes)
        self._info = Fields(self.limits.max_field)
        self._others = 0
        self.commands: list[s.AvailableCommand] = []
        self.config_options: list[s.SessionConfigOption] = []
        self.usage: s.UsageUpdate | None = None
        self.state_update: s.StateUpdate | s.OtherStateUpdate | None = None

    # --- taking in

    def apply(self, news: Applicable) -> bool:
        """Take in an update, in any form, or a result that tells the configuration options.

        An update is a ``SessionUpdate`` (or the ``ToolCallPatch`` of a permission request), an
        ``UpdateSessionNotification``, or an event of a connection. Returns whether there was something for this
        session in it: another session's notifications and events are left alone, so a host may offer all it has.

        Raises ``InvalidParams`` for an event with an update that is none (after the others in it were taken in), and
        ``UsageError`` for what is not an update at all.
        """
        fold = _FOLDS.get(type(news)) or _fold_of(type(news))
        return fold(self, news) is not False

    def reset(self) -> None:
        """Forget everything, before a replay (``session/resume`` with ``replay_from``) tells it again.

        https://agentclientprotocol.com/protocol/v2/draft/session-setup
        """
        for key in (*self._store.keys(), COMMANDS, OPTIONS, INFO, USAGE, STATE):
            self._changes.gone(key)
        self._clear()

    def mark_cancelled(self) -> list[Key]:
        """What a client shows as soon as it sends ``session/cancel``: tool calls that are not over are cancelled.

        Later updates still decide. Returns the keys of these tool calls. The pending permission requests have to be
        answered with ``cancelled`` besides.
        https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#cancellation
        """
        marked = [call for call in self.tool_calls.values() if call.cancel()]
        for call in marked:
            self._store.resize(Key("tool_call", call.id), call.size)
        return [Key("tool_call", call.id) for call in marked]

    # --- reading

    @property
    def transcript(self) -> Mapping[Key, Spoken]:
        """Messages, thoughts, tool calls and unknown updates by key, in the order in which they first appeared."""
        return MappingProxyType(self._store.transcript)

    @property
    def messages(self) -> list[Message]:
        """The messages and thoughts, in the same order."""
        return [entry for entry in self._store.transcript.values() if isinstance(entry, Message)]

    @property
    def tool_calls(self) -> Mapping[str, ToolCall]:
        """The tool calls by id, in the same order."""
        return MappingProxyType(self._store.tool_calls)

    @property
    def terminals(self) -> Mapping[str, SessionTerminal]:
        """The terminals by id; ``Terminal`` in the content of a tool call says where one is to be shown.

        https://agentclientprotocol.com/protocol/v2/draft/tool-calls
        """
        return MappingProxyType(self._store.terminals)

    @property
    def plans(self) -> Mapping[str, s.PlanUpdateContent]:
        """The plans by id.  https://agentclientprotocol.com/protocol/v2/draft/agent-plan"""
        return MappingProxyType(self._store.plans)

    @property
    def unknown(self) -> list[s.OtherSessionUpdate]:
        """The updates this version does not know, as they came; they stand in the transcript too."""
        return [entry for entry in self._store.transcript.values() if isinstance(entry, s.OtherSessionUpdate)]

    @property
    def title(self) -> str | None:
        """What the session is called."""
        title: str | None = self._info.get("title")
        return title

    @property
    def updated_at(self) -> str | None:
        """When something last happened in it (RFC 3339)."""
        updated_at: str | None = self._info.get("updated_at")
        return updated_at

    @property
    def meta(self) -> dict[str, Any] | None:
        """The ``_meta`` of the session's info."""
        meta: dict[str, Any] | None = self._info.get("meta")
        return meta

    @property
    def state(self) -> str | None:
        """``running``, ``idle``, ``requires_action``, a state of a later ACP, or ``None`` before the first."""
        update = self.state_update
        return update.tag if isinstance(update, s.OtherStateUpdate) else update.state if update else None

    @property
    def stop_reason(self) -> str | None:
        """Why the last work ended, while the session is idle and if the agent said so."""
        return self.state_update.stop_reason if isinstance(self.state_update, s.IdleStateUpdate) else None

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return self._store.size

    @property
    def dropped(self) -> Dropped:
        """Entries that were thrown away whole, or not taken for their size, and the bytes they had."""
        return self._store.dropped

    def get(self, key: Key) -> Entry | None:
        """The entry of a key; ``None`` if it is gone (or never was, or is nothing that has entries: ``usage`` ...)."""
        return self._store.get(key)

    def changes(self) -> tuple[Key, ...]:
        """Keys of what changed since the last ``take_changes``, in the order of their first change since then."""
        return self._changes.peek()

    def take_changes(self) -> tuple[Key, ...]:
        """The same, and from now on only what changes now."""
        return self._changes.take()

    def updates(self) -> list[s.SessionUpdate]:
        """The updates that make an equal view out of an empty one: what an agent replays, or a snapshot to store.

        https://agentclientprotocol.com/protocol/v2/draft/session-setup
        """
        entries = (*self._store.transcript.values(), *self._store.terminals.values())
        told: list[s.SessionUpdate] = [
            entry if isinstance(entry, s.OtherSessionUpdate) else entry.update() for entry in entries
        ]
        told += [s.PlanUpdate(plan=plan) for plan in self._store.plans.values()]
        if self.commands:
            told.append(s.AvailableCommandsUpdate(available_commands=self.commands))
        if self.config_options:
            told.append(s.ConfigOptionUpdate(config_options=self.config_options))
        if self._info.known():
            told.append(s.SessionInfoUpdate(**self._info.known()))
        return told + [update for update in (self.usage, self.state_update) if update is not None]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SessionView) and self._facts() == other._facts()

    def _facts(self) -> tuple[Any, ...]:
        lists = list(self._store.transcript.values()), self.commands, self.config_options
        return *lists, self._store.terminals, self._store.plans, self._info, self.usage, self.state_update

    def __repr__(self) -> str:
        return (
            f"<SessionView {self.session_id!r} {self.state} {len(self._store.transcript)} entries, {self.size} bytes>"
        )

    # --- folding

    def _notification(self, note: s.UpdateSessionNotification) -> bool:
        return note.session_id == self.session_id and self.apply(note.update)

    def _event(self, event: Notification | Updates) -> bool:
        updates, fault = updates_of(event, self.session_id)
        for update in updates:
            self.apply(update)
        if fault is not None:
            raise fault
        return bool(updates)

    def _message(self, update: Any, role: Speaker) -> None:
        entry = self._store.message(role, update.message_id)
        entry.apply(update)
        self._store.hold(Key(role, entry.id), entry.size)

    def _tool_call(self, update: s.ToolCallPatch | s.ToolCallContentChunk) -> None:
        entry = self._store.tool_call(update.tool_call_id)
        entry.apply(update)
        self._store.hold(Key("tool_call", entry.id), entry.size)

    def _terminal(self, update: s.TerminalUpdate | s.TerminalOutputChunk | TerminalBytes) -> bool:
        if isinstance(update, TerminalBytes) and update.session_id != self.session_id:
            return False
        entry = self._store.terminal(update.terminal_id)
        entry.apply(update)
        self._store.hold(Key("terminal", entry.id), entry.size)
        return True

    def _plan(self, update: s.PlanUpdate) -> None:
        plan = update.plan
        id = plan.members["planId"] if isinstance(plan, s.OtherPlanUpdateContent) else plan.plan_id
        self._store.put_plan(id, plan)

    def _plan_removed(self, update: s.PlanRemoved) -> None:
        self._store.forget(Key("plan", update.plan_id))

    def _other(self, update: s.OtherSessionUpdate) -> None:
        self._store.put_unknown(self._others, update)
        self._others += 1

    def _commands(self, update: s.AvailableCommandsUpdate) -> None:
        self.commands = self._listed(COMMANDS, update.available_commands)

    def _options(self, update: s.ConfigOptionUpdate | s.SetSessionConfigOptionResponse) -> None:
        self.config_options = self._listed(OPTIONS, update.config_options)

    def _listed(self, key: Key, items: list[T]) -> list[T]:
        fits = self._store.single(key, json_size(items) if items else 0)
        return list(items) if fits else []

    def _opened(self, result: s.NewSessionResponse | s.ResumeSessionResponse | s.ForkSessionResponse) -> None:
        if result.config_options:  # left out, it takes nothing back of what updates have told
            self._options(s.ConfigOptionUpdate(config_options=result.config_options))

    def _session_info(self, update: s.SessionInfoUpdate) -> None:
        self._info.patch(title=update.title, updated_at=update.updated_at, meta=update.meta)
        self._store.account(INFO, self._info.size)

    def _usage(self, update: s.UsageUpdate) -> None:
        fits = self._store.single(USAGE, json_size(update))
        self.usage = update if fits else s.UsageUpdate(used=update.used, size=update.size)

    def _state(self, update: s.StateUpdate | s.OtherStateUpdate) -> None:
        if self._store.single(STATE, json_size(update)):
            self.state_update = update
        else:
            self.state_update = s.StateUpdate(state=update.state) if isinstance(update, s.StateUpdate) else None


# --- what folds what

Fold: TypeAlias = "Callable[[SessionView, Any], object]"  # ``False``: there was nothing in it for this session


def _nothing(view: SessionView, event: Event) -> bool:
    return False


_View = SessionView
_FOLDS: Final[dict[type, Fold]] = {
    s.UserMessage: partial(_View._message, role="user"),
    s.UserMessageChunk: partial(_View._message, role="user"),
    s.AgentMessage: partial(_View._message, role="agent"),
    s.AgentMessageChunk: partial(_View._message, role="agent"),
    s.AgentThought: partial(_View._message, role="thought"),
    s.AgentThoughtChunk: partial(_View._message, role="thought"),
    s.StateUpdate: _View._state,
    s.OtherStateUpdate: _View._state,
    s.ToolCallPatch: _View._tool_call,
    s.ToolCallContentChunk: _View._tool_call,
    s.TerminalUpdate: _View._terminal,
    s.TerminalOutputChunk: _View._terminal,
    TerminalBytes: _View._terminal,
    s.PlanUpdate: _View._plan,
    s.PlanRemoved: _View._plan_removed,
    s.AvailableCommandsUpdate: _View._commands,
    s.ConfigOptionUpdate: _View._options,
    s.SetSessionConfigOptionResponse: _View._options,
    s.NewSessionResponse: _View._opened,
    s.ResumeSessionResponse: _View._opened,
    s.ForkSessionResponse: _View._opened,
    s.SessionInfoUpdate: _View._session_info,
    s.UsageUpdate: _View._usage,
    s.OtherSessionUpdate: _View._other,
    s.UpdateSessionNotification: _View._notification,
    Notification: _View._event,
    Updates: _View._event,
    Event: _nothing,
}


def _fold_of(kind: type) -> Fold:
    """The fold of a class or, the first time, of the nearest class it is derived from."""
    for base in kind.__mro__:
        if base in _FOLDS:
            _FOLDS[kind] = _FOLDS[base]
            return _FOLDS[kind]
    raise UsageError(f"{kind.__name__} is no update of a session")
