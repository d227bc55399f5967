"""Asking the user for permission.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta

from ..model import JsonObject, Model, Request, plain
from ..other import Other
from .ids import AbsolutePath, PermissionOptionId, SessionId, TerminalId, ToolCallId
from .tools import ToolCallPatch

__all__ = [
    "PERMISSION_OPTION_KIND_VALUES",
    "CancelledPermissionOutcome",
    "CommandPermissionSubject",
    "OtherRequestPermissionOutcome",
    "OtherRequestPermissionSubject",
    "PermissionOption",
    "PermissionOptionKind",
    "RequestPermissionOutcome",
    "RequestPermissionRequest",
    "RequestPermissionResponse",
    "RequestPermissionSubject",
    "SelectedPermissionOutcome",
    "ToolCallPermissionSubject",
]

#: What a choice means, for looks and for remembering it.
if TYPE_CHECKING:
    PermissionOptionKind: TypeAlias = Literal["allow_once", "allow_always", "reject_once", "reject_always"] | str
else:
    PermissionOptionKind = str
PERMISSION_OPTION_KIND_VALUES: Final = ("allow_once", "allow_always", "reject_once", "reject_always")


class PermissionOption(Model, kw_only=True):
    """A choice to offer the user.

    https://agentclientprotocol.com/protocol/v2/draft/schema#permissionoption
    """

    option_id: PermissionOptionId
    name: str
    kind: PermissionOptionKind
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class OtherRequestPermissionSubject(Other):
    """A ``RequestPermissionSubject`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"command", "tool_call"})


class ToolCallPermissionSubject(Model, tag_field="type", tag="tool_call", kw_only=True):
    """Permission for a tool call, with what is new about it.

    https://agentclientprotocol.com/protocol/v2/draft/schema#toolcallpermissionsubject
    """

    tool_call: ToolCallPatch

    __acp_other__ = OtherRequestPermissionSubject

    def __post_init__(self) -> None:
        self.tool_call = plain(self.tool_call, ToolCallPatch)


class CommandPermissionSubject(Model, tag_field="type", tag="command", kw_only=True):
    """Permission to run a command line in the absolute directory ``cwd``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#commandpermissionsubject
    """

    command: str
    cwd: AbsolutePath
    tool_call_id: ToolCallId | None = None
    terminal_id: TerminalId | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("tool_call_id", "terminal_id", "meta")
    __acp_other__ = OtherRequestPermissionSubject


#: What permission is asked for.
if TYPE_CHECKING:
    RequestPermissionSubject: TypeAlias = (
        ToolCallPermissionSubject | CommandPermissionSubject | OtherRequestPermissionSubject
    )
else:
    RequestPermissionSubject = ToolCallPermissionSubject | CommandPermissionSubject


class RequestPermissionRequest(Model, Request["RequestPermissionResponse"], kw_only=True):
    """May this be done? Asks the user to pick one of ``options`` (at least one).

    https://agentclientprotocol.com/protocol/v2/draft/schema#requestpermissionrequest
    """

    session_id: SessionId
    title: str
    options: Annotated[list[PermissionOption], Meta(min_length=1)]
    description: str | None = None
    subject: RequestPermissionSubject | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("description", "meta")


class OtherRequestPermissionOutcome(Other):
    """A ``RequestPermissionOutcome`` whose ``outcome`` this version does not know."""

    __slots__ = ()
    tag_field = "outcome"
    known = frozenset({"cancelled", "selected"})


class CancelledPermissionOutcome(Model, tag_field="outcome", tag="cancelled", kw_only=True):
    """Nothing was chosen: the turn was cancelled. Not an approval.

    https://agentclientprotocol.com/protocol/v2/draft/schema#cancelledpermissionoutcome
    """

    __acp_other__ = OtherRequestPermissionOutcome


class SelectedPermissionOutcome(Model, tag_field="outcome", tag="selected", kw_only=True):
    """The user chose ``option_id``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#selectedpermissionoutcome
    """

    option_id: PermissionOptionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherRequestPermissionOutcome


#: How asking ended. Only ``SelectedPermissionOutcome`` with an allowing option that was offered is an approval.
if TYPE_CHECKING:
    RequestPermissionOutcome: TypeAlias = (
        CancelledPermissionOutcome | SelectedPermissionOutcome | OtherRequestPermissionOutcome
    )
else:
    RequestPermissionOutcome = CancelledPermissionOutcome | SelectedPermissionOutcome


class RequestPermissionResponse(Model, kw_only=True):
    """What the user chose.

    https://agentclientprotocol.com/protocol/v2/draft/schema#requestpermissionresponse
    """

    outcome: RequestPermissionOutcome
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
