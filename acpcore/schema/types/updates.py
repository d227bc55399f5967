"""Everything ``session/update`` can say.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from ..custom import Base64
from ..model import STATES, Double, JsonObject, Model, Never, Notification, UInt64, become, check_uint64, constant
from ..other import Other
from .config import SessionConfigOption
from .content import ContentBlock, ContentChunk
from .ids import AbsolutePath, MessageId, PlanId, SessionId, TerminalId, ToolCallId
from .plan import PlanUpdateContent
from .terminal import TerminalExitStatus, TerminalOutput
from .tools import ToolCallContent, ToolCallPatch

__all__ = [
    "STOP_REASON_VALUES",
    "AgentMessage",
    "AgentMessageChunk",
    "AgentThought",
    "AgentThoughtChunk",
    "AvailableCommand",
    "AvailableCommandInput",
    "AvailableCommandsUpdate",
    "ConfigOptionUpdate",
    "Cost",
    "IdleStateUpdate",
    "OtherAvailableCommandInput",
    "OtherSessionUpdate",
    "OtherStateUpdate",
    "PlanRemoved",
    "PlanUpdate",
    "RequiresActionStateUpdate",
    "RunningStateUpdate",
    "SessionInfoUpdate",
    "SessionUpdate",
    "StateUpdate",
    "StopReason",
    "TerminalOutputChunk",
    "TerminalUpdate",
    "TextCommandInput",
    "ToolCallContentChunk",
    "ToolCallUpdate",
    "UpdateSessionNotification",
    "Usage",
    "UsageUpdate",
    "UserMessage",
    "UserMessageChunk",
]

#: Why the foreground work ended.
if TYPE_CHECKING:
    StopReason: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"] | str
else:
    StopReason = str
STOP_REASON_VALUES: Final = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")


class OtherSessionUpdate(Other):
    """A ``SessionUpdate`` whose ``sessionUpdate`` this version does not know."""

    __slots__ = ()
    tag_field = "sessionUpdate"
    known = frozenset(
        {
            "agent_message",
            "agent_message_chunk",
            "agent_thought",
            "agent_thought_chunk",
            "available_commands_update",
            "config_option_update",
            "plan_removed",
            "plan_update",
            "session_info_update",
            "state_update",
            "terminal_output_chunk",
            "terminal_update",
            "tool_call_content_chunk",
            "tool_call_update",
            "usage_update",
            "user_message",
            "user_message_chunk",
        }
    )


class ToolCallUpdate(ToolCallPatch, tag_field="sessionUpdate", tag="tool_call_update", kw_only=True):
    """News of a tool call, as a session update. In a permission request its plain form ``ToolCallPatch`` is used.

    https://agentclientprotocol.com/protocol/v2/draft/schema#toolcallupdate
    """

    __acp_other__ = OtherSessionUpdate


class UserMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="user_message_chunk", kw_only=True):
    """One more piece of a message of the user.

    https://agentclientprotocol.com/protocol/v2/draft/schema#contentchunk
    """

    __acp_other__ = OtherSessionUpdate


class UserMessage(Model, tag_field="sessionUpdate", tag="user_message", kw_only=True):
    """What is known anew of a message of the user. Omitted fields stay, ``None`` clears, content replaces.

    https://agentclientprotocol.com/protocol/v2/draft/schema#usermessage
    """

    message_id: MessageId
    content: list[ContentBlock] | None | UnsetType = UNSET
    meta: JsonObject | None | UnsetType = UNSET

    __acp_lenient__ = ("content", "meta")
    __acp_skip__ = ("content",)
    __acp_other__ = OtherSessionUpdate


class AgentMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_message_chunk", kw_only=True):
    """One more piece of what the agent says.

    https://agentclientprotocol.com/protocol/v2/draft/schema#contentchunk
    """

    __acp_other__ = OtherSessionUpdate


class AgentMessage(Model, tag_field="sessionUpdate", tag="agent_message", kw_only=True):
    """What is known anew of a message of the agent. Omitted fields stay, ``None`` clears, content replaces.

    https://agentclientprotocol.com/protocol/v2/draft/schema#agentmessage
    """

    message_id: MessageId
    content: list[ContentBlock] | None | UnsetType = UNSET
    meta: JsonObject | None | UnsetType = UNSET

    __acp_lenient__ = ("content", "meta")
    __acp_skip__ = ("content",)
    __acp_other__ = OtherSessionUpdate


class AgentThoughtChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_thought_chunk", kw_only=True):
    """One more piece of what the agent thinks.

    https://agentclientprotocol.com/protocol/v2/draft/schema#contentchunk
    """

    __acp_other__ = OtherSessionUpdate


class AgentThought(Model, tag_field="sessionUpdate", tag="agent_thought", kw_only=True):
    """What is known anew of a thought of the agent. Omitted fields stay, ``None`` clears, content replaces.

    https://agentclientprotocol.com/protocol/v2/draft/schema#agentthought
    """

    message_id: MessageId
    content: list[ContentBlock] | None | UnsetType = UNSET
    meta: JsonObject | None | UnsetType = UNSET

    __acp_lenient__ = ("content", "meta")
    __acp_skip__ = ("content",)
    __acp_other__ = OtherSessionUpdate


class OtherStateUpdate(Other):
    """A ``StateUpdate`` whose ``state`` this version does not know."""

    __slots__ = ()
    tag_field = "state"
    known = frozenset({"idle", "requires_action", "running"})


class Usage(Model, kw_only=True):
    """Tokens used by the work that ended.

    https://agentclientprotocol.com/protocol/v2/draft/schema#usage
    """

    total_tokens: UInt64
    input_tokens: UInt64
    output_tokens: UInt64
    thought_tokens: UInt64 | None = None
    cached_read_tokens: UInt64 | None = None
    cached_write_tokens: UInt64 | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("thought_tokens", "cached_read_tokens", "cached_write_tokens", "meta")

    def __post_init__(self) -> None:
        check_uint64(
            self.total_tokens,
            self.input_tokens,
            self.output_tokens,
            self.thought_tokens,
            self.cached_read_tokens,
            self.cached_write_tokens,
        )


class StateUpdate(Model, tag_field="sessionUpdate", tag="state_update", kw_only=True):
    """The state of the foreground work. Made with a known ``state`` it becomes the class of that state.

    https://agentclientprotocol.com/protocol/v2/draft/schema#stateupdate
    """

    state: Literal["running", "idle", "requires_action"]
    stop_reason: StopReason | None = None
    usage: Usage | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("stop_reason", "usage", "meta")
    __acp_other__ = OtherSessionUpdate
    __acp_inner__ = OtherStateUpdate

    def __post_init__(self) -> None:
        if type(self) is StateUpdate:
            become(self, STATES[self.state])


class ToolCallContentChunk(Model, tag_field="sessionUpdate", tag="tool_call_content_chunk", kw_only=True):
    """One more piece for tool call ``tool_call_id``, to be appended to its content.

    https://agentclientprotocol.com/protocol/v2/draft/schema#toolcallcontentchunk
    """

    tool_call_id: ToolCallId
    content: ToolCallContent
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherSessionUpdate


class TerminalUpdate(Model, tag_field="sessionUpdate", tag="terminal_update", kw_only=True):
    """What is known anew of a terminal. Omitted fields stay, ``None`` clears, a value replaces; an ``exit_status`` of
    any content means that the command ended.

    https://agentclientprotocol.com/protocol/v2/draft/schema#terminalupdate
    """

    terminal_id: TerminalId
    command: str | None | UnsetType = UNSET
    cwd: AbsolutePath | None | UnsetType = UNSET
    output: TerminalOutput | None | UnsetType = UNSET
    exit_status: TerminalExitStatus | None | UnsetType = UNSET
    meta: JsonObject | None | UnsetType = UNSET

    __acp_lenient__ = ("command", "cwd", "output", "exit_status", "meta")
    __acp_other__ = OtherSessionUpdate


class TerminalOutputChunk(Model, tag_field="sessionUpdate", tag="terminal_output_chunk", kw_only=True):
    """Bytes to append to a terminal. They may end inside a character or an escape sequence.

    https://agentclientprotocol.com/protocol/v2/draft/schema#terminaloutputchunk
    """

    terminal_id: TerminalId
    data: Base64
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherSessionUpdate


class PlanUpdate(Model, tag_field="sessionUpdate", tag="plan_update", kw_only=True):
    """A plan as it is now; it replaces the one of the same id.

    https://agentclientprotocol.com/protocol/v2/draft/schema#planupdate
    """

    plan: PlanUpdateContent
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherSessionUpdate


class PlanRemoved(Model, tag_field="sessionUpdate", tag="plan_removed", kw_only=True):
    """A plan that is gone.

    https://agentclientprotocol.com/protocol/v2/draft/schema#planremoved
    """

    plan_id: PlanId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherSessionUpdate


class OtherAvailableCommandInput(Other):
    """A ``AvailableCommandInput`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"text"})


class TextCommandInput(Model, tag_field="type", tag="text", kw_only=True):
    """Free text; ``hint`` is shown while there is none.

    https://agentclientprotocol.com/protocol/v2/draft/schema#textcommandinput
    """

    hint: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherAvailableCommandInput


#: What a command wants after its name.
if TYPE_CHECKING:
    AvailableCommandInput: TypeAlias = TextCommandInput | OtherAvailableCommandInput
else:
    AvailableCommandInput = TextCommandInput | Never


class AvailableCommand(Model, kw_only=True):
    """A slash command.

    https://agentclientprotocol.com/protocol/v2/draft/schema#availablecommand
    """

    name: str
    description: str
    input: AvailableCommandInput | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("input", "meta")


class AvailableCommandsUpdate(Model, tag_field="sessionUpdate", tag="available_commands_update", kw_only=True):
    """All slash commands there are now.

    https://agentclientprotocol.com/protocol/v2/draft/schema#availablecommandsupdate
    """

    available_commands: list[AvailableCommand]
    meta: JsonObject | None = None

    __acp_lenient__ = ("available_commands", "meta")
    __acp_skip__ = ("available_commands",)
    __acp_other__ = OtherSessionUpdate


class ConfigOptionUpdate(Model, tag_field="sessionUpdate", tag="config_option_update", kw_only=True):
    """All options of the session, complete.

    https://agentclientprotocol.com/protocol/v2/draft/schema#configoptionupdate
    """

    config_options: list[SessionConfigOption]
    meta: JsonObject | None = None

    __acp_lenient__ = ("config_options", "meta")
    __acp_skip__ = ("config_options",)
    __acp_other__ = OtherSessionUpdate


class SessionInfoUpdate(Model, tag_field="sessionUpdate", tag="session_info_update", kw_only=True):
    """What is known anew of the session itself. Omitted fields stay, ``None`` clears.

    https://agentclientprotocol.com/protocol/v2/draft/schema#sessioninfoupdate
    """

    title: str | None | UnsetType = UNSET
    updated_at: str | None | UnsetType = UNSET
    meta: JsonObject | None | UnsetType = UNSET

    __acp_lenient__ = ("title", "updated_at", "meta")
    __acp_other__ = OtherSessionUpdate


class Cost(Model, kw_only=True):
    """An amount of money; ``currency`` is three capital letters (ISO 4217).

    https://agentclientprotocol.com/protocol/v2/draft/schema#cost
    """

    amount: Double
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}\Z")]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class UsageUpdate(Model, tag_field="sessionUpdate", tag="usage_update", kw_only=True):
    """How full the context window is (tokens), and what the session has cost.

    https://agentclientprotocol.com/protocol/v2/draft/schema#usageupdate
    """

    used: UInt64
    size: UInt64
    cost: Cost | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("cost", "meta")
    __acp_other__ = OtherSessionUpdate

    def __post_init__(self) -> None:
        check_uint64(self.used, self.size)


#: What happened in a session.
if TYPE_CHECKING:
    SessionUpdate: TypeAlias = (
        UserMessageChunk
        | UserMessage
        | AgentMessageChunk
        | AgentMessage
        | AgentThoughtChunk
        | AgentThought
        | StateUpdate
        | OtherStateUpdate
        | ToolCallContentChunk
        | ToolCallUpdate
        | TerminalUpdate
        | TerminalOutputChunk
        | PlanUpdate
        | PlanRemoved
        | AvailableCommandsUpdate
        | ConfigOptionUpdate
        | SessionInfoUpdate
        | UsageUpdate
        | OtherSessionUpdate
    )
else:
    SessionUpdate = (
        UserMessageChunk
        | UserMessage
        | AgentMessageChunk
        | AgentMessage
        | AgentThoughtChunk
        | AgentThought
        | StateUpdate
        | ToolCallContentChunk
        | ToolCallUpdate
        | TerminalUpdate
        | TerminalOutputChunk
        | PlanUpdate
        | PlanRemoved
        | AvailableCommandsUpdate
        | ConfigOptionUpdate
        | SessionInfoUpdate
        | UsageUpdate
    )


class UpdateSessionNotification(Model, Notification, kw_only=True):
    """``session/update``: something happened in a session.

    https://agentclientprotocol.com/protocol/v2/draft/schema#updatesessionnotification
    """

    session_id: SessionId
    update: SessionUpdate
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class RunningStateUpdate(StateUpdate, kw_only=True):
    """The agent is at work. ``stop_reason`` and ``usage`` mean nothing here.

    https://agentclientprotocol.com/protocol/v2/draft/schema#runningstateupdate
    """

    state: Literal["running"] = constant("running")  # pyright: ignore[reportIncompatibleVariableOverride]


STATES["running"] = RunningStateUpdate


class IdleStateUpdate(StateUpdate, kw_only=True):
    """The agent waits for a prompt; ``stop_reason`` says how the work before ended.

    https://agentclientprotocol.com/protocol/v2/draft/schema#idlestateupdate
    """

    state: Literal["idle"] = constant("idle")  # pyright: ignore[reportIncompatibleVariableOverride]


STATES["idle"] = IdleStateUpdate


class RequiresActionStateUpdate(StateUpdate, kw_only=True):
    """The agent waits for the user. ``stop_reason`` and ``usage`` mean nothing here.

    https://agentclientprotocol.com/protocol/v2/draft/schema#requiresactionstateupdate
    """

    state: Literal["requires_action"] = constant("requires_action")  # pyright: ignore[reportIncompatibleVariableOverride]


STATES["requires_action"] = RequiresActionStateUpdate
