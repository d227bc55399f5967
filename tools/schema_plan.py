"""What the JSON schema does not say: where each definition lives, how variants are called, which fields are patches."""

from __future__ import annotations

import re

# First match wins. A module imports only from modules above it here.
TOPICS: tuple[tuple[str, str], ...] = (
    ("envelope", r"(Agent|Client)(Request|Response|Notification)|ProtocolLevelNotification|RequestId|Error|ErrorCode"
                 r"|Ext(Request|Response|Notification)|CancelRequestNotification"),
    ("ids", r"(Session|Message|ToolCall|Terminal|Plan|PermissionOption|AuthMethod|SessionConfig|SessionConfigValue"
            r"|SessionConfigGroup|Elicitation|McpServerAcp|McpConnection|Provider|NesSuggestion)Id"
            r"|AbsolutePath|MediaType|SessionListCursor"),
    ("content", r"ContentBlock|Annotations|Role|TextContent|ImageContent|AudioContent|Icon|IconTheme|ResourceLink"
                r"|EmbeddedResource(Resource)?|(Text|Blob)ResourceContents|ContentChunk"),
    ("tools", r"ToolCall(Update|Kind|Status|Content|ContentChunk|Location)|ToolKind|Content|Diff.*|Terminal"),
    ("permission", r"RequestPermission.*|PermissionOption.*|.*PermissionSubject|.*PermissionOutcome"),
    ("terminal", r"Terminal(Update|Output|OutputChunk|ExitStatus)"),
    ("document", r"Did.*DocumentNotification|TextDocument.*|Position(EncodingKind)?|Range|WorkspaceFolder"),
    ("capabilities", r".*Capabilities"),
    ("elicitation", r"(Create|Complete)?Elicitation.*|.*PropertySchema|.*MultiSelectItems|StringFormat|EnumOption"),
    ("nes", r".*Nes.*"),
    ("config", r"SessionConfig.*|SetSessionConfig.*|ConfigOptionUpdate"),
    ("mcp", r".*Mcp.*|HttpHeader|EnvVariable"),
    ("auth", r".*Auth.*"),
    ("providers", r".*Provider.*|LlmProtocol"),
    ("initialize", r"Initialize.*|Implementation|ProtocolVersion"),
    ("plan", r"Plan.*"),
    ("updates", r"UpdateSessionNotification|SessionUpdate|UserMessage|AgentMessage|AgentThought|.*StateUpdate"
                r"|StopReason|AvailableCommand.*|TextCommandInput|SessionInfoUpdate|Usage|UsageUpdate|Cost"),
    ("session", r".*Session.*|ReplayFrom.*"),
    ("prompt", r"Prompt.*"),
)  # fmt: skip


def topic_of(name: str) -> str:
    """The module a definition belongs to."""
    for topic, pattern in TOPICS:
        if re.fullmatch(pattern, name):
            return topic
    raise SystemExit(f"no topic for {name}")


# Classes of variants that share a definition or have none. A variant with its own definition bears its name.
VARIANTS: dict[tuple[str, str], str] = {
    ("SessionUpdate", "user_message_chunk"): "UserMessageChunk",
    ("SessionUpdate", "agent_message_chunk"): "AgentMessageChunk",
    ("SessionUpdate", "agent_thought_chunk"): "AgentThoughtChunk",
    ("DiffChange", "add"): "DiffAdd",
    ("DiffChange", "delete"): "DiffDelete",
    ("DiffChange", "modify"): "DiffModify",
    ("DiffChange", "move"): "DiffMove",
    ("DiffChange", "copy"): "DiffCopy",
    ("RequestPermissionOutcome", "cancelled"): "CancelledPermissionOutcome",
    ("SetSessionConfigOptionRequest", "id"): "SetSessionConfigValueRequest",
    ("SetSessionConfigOptionRequest", "boolean"): "SetSessionConfigBooleanRequest",
    ("CreateElicitationResponse", "decline"): "ElicitationDeclineAction",
    ("CreateElicitationResponse", "cancel"): "ElicitationCancelAction",
}

# Definitions used both as a variant and by themselves: the plain one needs a name of its own.
PLAIN: dict[str, str] = {"ToolCallUpdate": "ToolCallPatch"}

# Fields with three states (omitted, null, value), from the rules of the prompt lifecycle; every one is lenient.
PATCHES: dict[str, tuple[str, ...]] = {
    "UserMessage": ("content", "_meta"),
    "AgentMessage": ("content", "_meta"),
    "AgentThought": ("content", "_meta"),
    "ToolCallUpdate": ("name", "title", "kind", "status", "content", "locations", "rawInput", "rawOutput", "_meta"),
    "TerminalUpdate": ("command", "cwd", "output", "exitStatus", "_meta"),
    "SessionInfoUpdate": ("title", "updatedAt", "_meta"),
}

# Unions whose own name is a class, because a method takes or returns them.
PARAMS_UNIONS = ("SetSessionConfigOptionRequest", "CreateElicitationRequest", "CreateElicitationResponse")

BASE64_FIELDS = (("TerminalOutput", "data"), ("TerminalOutputChunk", "data"))
