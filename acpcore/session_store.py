"""What a view holds: its entries by key, how large they are, which one goes first, and what changed."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple, TypeAlias

from .schema import OtherSessionUpdate, PlanUpdateContent
from .session_bounds import ViewLimits, json_size
from .session_entries import Message, SessionTerminal, Speaker, ToolCall

__all__ = ["Changes", "Dropped", "Entry", "Holdings", "Key", "Spoken", "Store"]

#: What stands in a transcript.
Spoken: TypeAlias = "Message | ToolCall | OtherSessionUpdate"
Entry: TypeAlias = "Spoken | SessionTerminal | PlanUpdateContent"


class Key(NamedTuple):
    """What part of a session: its ``kind`` and its ``id``.

    Kinds: ``user``, ``agent``, ``thought`` (with a message id), ``tool_call``, ``terminal``, ``plan``, ``other`` (an
    unknown update, with a number); and, with an empty id, ``commands``, ``config_options``, ``info``, ``usage``,
    ``state``.
    """

    kind: str
    id: str = ""


class Dropped(NamedTuple):
    """What is not kept: how many ``entries`` as a whole, and how many ``bytes`` they had."""

    entries: int
    bytes: int


class Holdings:
    """How large everything is, and which entry has not changed for the longest time."""

    __slots__ = ("_limits", "_singles", "_sizes", "total")

    def __init__(self, limits: ViewLimits) -> None:
        self._limits = limits
        self._sizes: OrderedDict[Key, int] = OrderedDict()
        self._singles: dict[str, int] = {}
        self.total = 0

    def put(self, key: Key, size: int) -> None:
        """An entry has this size now, and is the one that changed last."""
        self.total += size - self._sizes.get(key, 0)
        self._sizes[key] = size
        self._sizes.move_to_end(key)

    def resize(self, key: Key, size: int) -> None:
        """An entry has this size now, by nobody's news."""
        self.total += size - self._sizes[key]
        self._sizes[key] = size

    def put_single(self, kind: str, size: int) -> None:
        """The same for what exists once and is never thrown away."""
        self.total += size - self._singles.get(kind, 0)
        self._singles[kind] = size

    def remove(self, key: Key) -> int:
        """An entry is gone; the size it had."""
        size = self._sizes.pop(key)
        self.total -= size
        return size

    def excess(self) -> Key | None:
        """An entry to be thrown away because a limit is passed."""
        if len(self._sizes) > self._limits.max_entries or self.total > self._limits.max_total:
            return next(iter(self._sizes), None)
        return None


class Changes:
    """The keys of what changed since the last look, each once, in the order of their first change since then.

    What came and went in between does not show, so nobody has to look for this to stay bounded.
    """

    __slots__ = ("_keys", "_new")

    def __init__(self) -> None:
        self._keys: dict[Key, None] = {}
        self._new: set[Key] = set()

    def born(self, key: Key) -> None:
        """Something is there that was not."""
        if key not in self._keys:
            self._new.add(key)
            self._keys[key] = None

    def changed(self, key: Key) -> None:
        """Something is different."""
        self._keys[key] = None

    def gone(self, key: Key) -> None:
        """Something is no longer there."""
        if key in self._new:
            self._new.remove(key)
            del self._keys[key]
        else:
            self._keys[key] = None

    def peek(self) -> tuple[Key, ...]:
        """Look without taking."""
        return tuple(self._keys)

    def take(self) -> tuple[Key, ...]:
        """Look, and begin anew."""
        keys = tuple(self._keys)
        self._keys.clear()
        self._new.clear()
        return keys


class Store:
    """The entries of a session within ``limits``, each in the order in which it first appeared."""

    __slots__ = ("_holdings", "changes", "dropped", "limits", "plans", "terminals", "tool_calls", "transcript")

    def __init__(self, limits: ViewLimits, changes: Changes) -> None:
        self.limits = limits
        self.changes = changes
        self._holdings = Holdings(limits)
        self.dropped = Dropped(0, 0)
        self.transcript: dict[Key, Spoken] = {}
        self.tool_calls: dict[str, ToolCall] = {}
        self.terminals: dict[str, SessionTerminal] = {}
        self.plans: dict[str, PlanUpdateContent] = {}

    @property
    def size(self) -> int:
        """Bytes of everything."""
        return self._holdings.total

    def keys(self) -> list[Key]:
        """The keys of all entries."""
        terminals = [Key("terminal", id) for id in self.terminals]
        return [*self.transcript, *terminals, *(Key("plan", id) for id in self.plans)]

    def get(self, key: Key) -> Entry | None:
        """An entry, if it is there."""
        if key.kind == "terminal":
            return self.terminals.get(key.id)
        return self.plans.get(key.id) if key.kind == "plan" else self.transcript.get(key)

    # --- entries that fold

    def message(self, role: Speaker, id: str) -> Message:
        """The message of an id, begun now if there is none."""
        key = Key(role, id)
        entry = self.transcript.get(key)
        if not isinstance(entry, Message):
            entry = self.transcript[key] = Message(role, id, self.limits)
            self.changes.born(key)
        return entry

    def tool_call(self, id: str) -> ToolCall:
        """The tool call of an id, begun now if there is none."""
        entry = self.tool_calls.get(id)
        if entry is None:
            key = Key("tool_call", id)
            entry = self.tool_calls[id] = self.transcript[key] = ToolCall(id, self.limits)
            self.changes.born(key)
        return entry

    def terminal(self, id: str) -> SessionTerminal:
        """The terminal of an id, begun now if there is none."""
        entry = self.terminals.get(id)
        if entry is None:
            entry = self.terminals[id] = SessionTerminal(id, self.limits)
            self.changes.born(Key("terminal", id))
        return entry

    # --- entries that are kept or not

    def put_plan(self, id: str, plan: PlanUpdateContent) -> None:
        """A plan in place of what it was."""
        key, size = Key("plan", id), json_size(plan)
        if size > self.limits.max_message:
            self._lose(size)
            self.forget(key)
            return
        if id not in self.plans:
            self.changes.born(key)
        self.plans[id] = plan
        self.hold(key, size)

    def put_unknown(self, number: int, update: OtherSessionUpdate) -> None:
        """An update nobody knows."""
        key, size = Key("other", str(number)), len(update.raw)
        if size > self.limits.max_message:
            self._lose(size)
            return
        self.transcript[key] = update
        self.changes.born(key)
        self.hold(key, size)

    # --- within the limits

    def hold(self, key: Key, size: int) -> None:
        """There was news of an entry, and this is how large it is."""
        self._holdings.put(key, size)
        self.changes.changed(key)
        self._make_room()

    def resize(self, key: Key, size: int) -> None:
        """An entry that is still there changed by nobody's news."""
        if self.get(key) is not None:
            self._holdings.resize(key, size)
            self.changes.changed(key)
            self._make_room()

    def single(self, key: Key, size: int) -> bool:
        """Account for what exists once; says whether it is small enough to be kept."""
        fits = size <= self.limits.max_field
        if not fits:
            self._lose(size)
        self.account(key, size if fits else 0)
        return fits

    def account(self, key: Key, size: int) -> None:
        """The same for what keeps to the limits by itself."""
        self._holdings.put_single(key.kind, size)
        self.changes.changed(key)
        self._make_room()

    def forget(self, key: Key) -> int:
        """An entry is gone; the bytes it had."""
        if key.kind == "terminal":
            gone: Any = self.terminals.pop(key.id, None)
        elif key.kind == "plan":
            gone = self.plans.pop(key.id, None)
        else:
            gone = self.transcript.pop(key, None)
        if key.kind == "tool_call":
            self.tool_calls.pop(key.id, None)
        if gone is None:
            return 0
        self.changes.gone(key)
        return self._holdings.remove(key)

    def _make_room(self) -> None:
        while (key := self._holdings.excess()) is not None:
            self._lose(self.forget(key))

    def _lose(self, size: int) -> None:
        self.dropped = Dropped(self.dropped.entries + 1, self.dropped.bytes + size)
