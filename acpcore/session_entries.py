"""The entries of a session: messages, tool calls, terminals. Each folds the updates with its id.

https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from .message import TerminalBytes
from .schema import (
    UNSET,
    AgentMessage,
    AgentThought,
    ContentBlock,
    ContentChunk,
    TerminalOutput,
    TerminalOutputChunk,
    TerminalUpdate,
    TextContent,
    ToolCallContent,
    ToolCallContentChunk,
    ToolCallLocation,
    ToolCallPatch,
    ToolCallStatus,
    ToolCallUpdate,
    ToolKind,
    UnsetType,
    UserMessage,
)
from .schema.model import JsonObject
from .session_bounds import Blocks, Fields, Newest, ViewLimits, text_size
from .terminal_buffer import TerminalBuffer

__all__ = ["FINISHED", "Message", "SessionTerminal", "Speaker", "ToolCall"]

#: Who speaks: ``thought`` is the agent too.
Speaker: TypeAlias = Literal["user", "agent", "thought"]
WholeMessage: TypeAlias = "UserMessage | AgentMessage | AgentThought"

_WHOLE: Final[dict[Speaker, type[WholeMessage]]] = {"user": UserMessage, "agent": AgentMessage, "thought": AgentThought}

#: The statuses of a tool call after which nothing is expected.
FINISHED: Final = frozenset({"completed", "failed", "cancelled"})


class Message:
    """A message or a thought, as its updates and chunks left it. Two are equal if they show the same.

    https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle
    """

    __slots__ = ("_blocks", "_fields", "id", "role")

    def __init__(self, role: Speaker, id: str, limits: ViewLimits) -> None:
        self.role: Speaker = role
        self.id = id
        self._blocks = Blocks(limits.max_message)
        self._fields = Fields(limits.max_field)

    def apply(self, update: WholeMessage | ContentChunk) -> None:
        """Take in one update: a chunk is appended; content that is sent whole replaces everything before it."""
        if isinstance(update, ContentChunk):
            self._blocks.append(update.content)
            return
        if update.content is not UNSET:
            self._blocks.replace(update.content or ())
        self._fields.patch(meta=update.meta)

    @property
    def content(self) -> list[ContentBlock]:
        """What it says. Plain texts that follow each other are one block, however they came."""
        return self._blocks.read()

    @property
    def text(self) -> str:
        """Its texts, joined."""
        return "".join([block.text for block in self._blocks.read() if isinstance(block, TextContent)])

    @property
    def meta(self) -> JsonObject | None:
        """Its ``_meta``."""
        meta: JsonObject | None = self._fields.get("meta")
        return meta

    @property
    def size(self) -> int:
        """Bytes that are kept of it."""
        return text_size(self.id) + self._blocks.size + self._fields.size

    @property
    def dropped(self) -> int:
        """Bytes it has beyond the limits: the beginning of the content, or its ``_meta``."""
        return self._blocks.dropped + self._fields.dropped

    def update(self) -> WholeMessage:
        """One update that makes it anew."""
        return _WHOLE[self.role](message_id=self.id, content=self.content, meta=_or_unset(self.meta))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self._facts() == other._facts()

    def _facts(self) -> tuple[Any, ...]:
        return self.role, self.id, self._fields, self.content

    def __repr__(self) -> str:
        return f"<Message {self.role} {self.id!r} {self.size} bytes>"


class ToolCall:
    """A tool call, as its updates left it. Two are equal if they show the same.

    https://agentclientprotocol.com/protocol/v2/draft/tool-calls
    """

    __slots__ = ("_fields", "_items", "id")

    def __init__(self, id: str, limits: ViewLimits) -> None:
        self.id = id
        self._items: Newest[ToolCallContent] = Newest(limits.max_tool_call)
        self._fields = Fields(limits.max_field)

    def apply(self, update: ToolCallPatch | ToolCallContentChunk) -> None:
        """Take in one update: a chunk is appended, content that is sent whole replaces, other members are patched."""
        if isinstance(update, ToolCallContentChunk):
            self._items.append(update.content)
            return
        if update.content is not UNSET:
            self._items.replace(update.content or ())
        self._fields.patch(
            name=update.name,
            title=update.title,
            kind=update.kind,
            status=update.status,
            locations=update.locations if update.locations is UNSET else update.locations or None,
            raw_input=update.raw_input,
            raw_output=update.raw_output,
            meta=update.meta,
        )

    def cancel(self) -> bool:
        """Count it as cancelled unless it is over already; says whether it was not. A later update still decides.

        https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle#cancellation
        """
        if self.finished:
            return False
        self._fields.patch(status="cancelled")
        return True

    @property
    def name(self) -> str | None:
        """The tool's name for programs."""
        name: str | None = self._fields.get("name")
        return name

    @property
    def title(self) -> str | None:
        """What it does, for people."""
        title: str | None = self._fields.get("title")
        return title

    @property
    def kind(self) -> ToolKind:
        """What sort of tool; ``other`` unless told."""
        kind: ToolKind | None = self._fields.get("kind")
        return "other" if kind is None else kind

    @property
    def status(self) -> ToolCallStatus:
        """How far it has come; ``pending`` unless told."""
        status: ToolCallStatus | None = self._fields.get("status")
        return "pending" if status is None else status

    @property
    def finished(self) -> bool:
        """Whether it completed, failed or was cancelled. A status nobody knows is none of these."""
        return self.status in FINISHED

    @property
    def content(self) -> list[ToolCallContent]:
        """What it produced. A ``Terminal`` in it is a place to show ``SessionView.terminals[terminal_id]``."""
        return self._items.read()

    @property
    def locations(self) -> list[ToolCallLocation]:
        """The files it works on."""
        return list(self._fields.get("locations") or ())

    @property
    def raw_input(self) -> Any:
        """What the tool was given (decoded JSON)."""
        return self._fields.get("raw_input")

    @property
    def raw_output(self) -> Any:
        """What the tool returned (decoded JSON)."""
        return self._fields.get("raw_output")

    @property
    def meta(self) -> JsonObject | None:
        """Its ``_meta``."""
        meta: JsonObject | None = self._fields.get("meta")
        return meta

    @property
    def size(self) -> int:
        """Bytes that are kept of it."""
        return text_size(self.id) + self._items.size + self._fields.size

    @property
    def dropped(self) -> int:
        """Bytes it has beyond the limits: the first items of the content, or other members."""
        return self._items.dropped + self._fields.dropped

    def update(self) -> ToolCallUpdate:
        """One update that makes it anew."""
        return ToolCallUpdate(tool_call_id=self.id, content=self.content or UNSET, **self._fields.known())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolCall) and self._facts() == other._facts()

    def _facts(self) -> tuple[Any, ...]:
        words = self.id, self.name, self.title, self.kind, self.status
        return words, self.locations, self.raw_input, self.raw_output, self.meta, self.content

    def __repr__(self) -> str:
        return f"<ToolCall {self.id!r} {self.status} {self.size} bytes>"


class SessionTerminal(TerminalBuffer):
    """A terminal of a session: a ``TerminalBuffer`` whose other members have ceilings too. Two are equal if they show
    the same.

    https://agentclientprotocol.com/protocol/v2/draft/tool-calls
    """

    __slots__ = ("_fields", "id")

    def __init__(self, id: str, limits: ViewLimits) -> None:
        super().__init__(limits.max_terminal)
        self.id = id
        self._fields = Fields(limits.max_field)

    def apply(self, update: TerminalUpdate | TerminalOutputChunk | TerminalBytes) -> None:
        """Take in one update: see ``TerminalBuffer``."""
        super().apply(update)
        if isinstance(update, TerminalUpdate):
            self._bound(update)

    def _bound(self, update: TerminalUpdate) -> None:
        fields = self._fields
        fields.patch(command=update.command, cwd=update.cwd, exit_status=update.exit_status, meta=update.meta)
        self.command, self.cwd = fields.get("command"), fields.get("cwd")
        self.exit_status, self.meta = fields.get("exit_status"), fields.get("meta")

    @property
    def size(self) -> int:
        """Bytes that are kept of it."""
        return text_size(self.id) + self.total - self.dropped + self._fields.size

    def update(self) -> TerminalUpdate:
        """One update that makes it anew, with a snapshot of the output that is kept."""
        return TerminalUpdate(
            terminal_id=self.id,
            command=_or_unset(self.command),
            cwd=_or_unset(self.cwd),
            output=TerminalOutput(data=self.bytes) if self.total else UNSET,
            exit_status=_or_unset(self.exit_status),
            meta=_or_unset(self.meta),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SessionTerminal) and self._facts() == other._facts()

    def _facts(self) -> tuple[Any, ...]:
        return self.id, self._fields, self.bytes

    def __repr__(self) -> str:
        return f"<SessionTerminal {self.id!r} {self.size} bytes>"


def _or_unset(value: Any) -> Any | UnsetType:
    return UNSET if value is None else value
