"""Next edit suggestions.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta

from ..model import Int64, JsonObject, Model, Notification, Request, UInt32, UInt64, check_uint64
from ..other import Other
from .document import Position, Range, WorkspaceFolder
from .ids import NesSuggestionId, SessionId

__all__ = [
    "NES_DIAGNOSTIC_SEVERITY_VALUES",
    "NES_REJECT_REASON_VALUES",
    "NES_TRIGGER_KIND_VALUES",
    "AcceptNesNotification",
    "CloseNesRequest",
    "CloseNesResponse",
    "NesDiagnostic",
    "NesDiagnosticSeverity",
    "NesEditHistoryEntry",
    "NesEditSuggestion",
    "NesExcerpt",
    "NesJumpSuggestion",
    "NesOpenFile",
    "NesRecentFile",
    "NesRejectReason",
    "NesRelatedSnippet",
    "NesRenameSuggestion",
    "NesRepository",
    "NesSearchAndReplaceSuggestion",
    "NesSuggestContext",
    "NesSuggestion",
    "NesTextEdit",
    "NesTriggerKind",
    "NesUserAction",
    "OtherNesSuggestion",
    "RejectNesNotification",
    "StartNesRequest",
    "StartNesResponse",
    "SuggestNesRequest",
    "SuggestNesResponse",
]

#: What made the editor ask.
if TYPE_CHECKING:
    NesTriggerKind: TypeAlias = Literal["automatic", "diagnostic", "manual"] | str
else:
    NesTriggerKind = str
NES_TRIGGER_KIND_VALUES: Final = ("automatic", "diagnostic", "manual")

#: How bad a diagnostic is.
if TYPE_CHECKING:
    NesDiagnosticSeverity: TypeAlias = Literal["error", "warning", "information", "hint"] | str
else:
    NesDiagnosticSeverity = str
NES_DIAGNOSTIC_SEVERITY_VALUES: Final = ("error", "warning", "information", "hint")

#: Why a suggestion was not taken.
if TYPE_CHECKING:
    NesRejectReason: TypeAlias = Literal["rejected", "ignored", "replaced", "cancelled"] | str
else:
    NesRejectReason = str
NES_REJECT_REASON_VALUES: Final = ("rejected", "ignored", "replaced", "cancelled")


class StartNesResponse(Model, kw_only=True):
    """The session for suggestions.

    https://agentclientprotocol.com/protocol/v2/draft/schema#startnesresponse
    """

    session_id: SessionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class OtherNesSuggestion(Other):
    """A ``NesSuggestion`` whose ``kind`` this version does not know."""

    __slots__ = ()
    tag_field = "kind"
    known = frozenset({"edit", "jump", "rename", "searchAndReplace"})
    required = ("suggestionId",)


class NesTextEdit(Model, kw_only=True):
    """New text for a range.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nestextedit
    """

    range: Range
    new_text: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesEditSuggestion(Model, tag_field="kind", tag="edit", kw_only=True):
    """Edits to make in one file (at least one), and where the cursor should be afterwards.

    https://agentclientprotocol.com/protocol/v2/draft/schema#neseditsuggestion
    """

    suggestion_id: NesSuggestionId
    uri: str
    edits: Annotated[list[NesTextEdit], Meta(min_length=1)]
    cursor_position: Position | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("cursor_position", "meta")
    __acp_other__ = OtherNesSuggestion


class NesJumpSuggestion(Model, tag_field="kind", tag="jump", kw_only=True):
    """A place to go to.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesjumpsuggestion
    """

    suggestion_id: NesSuggestionId
    uri: str
    position: Position
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherNesSuggestion


class NesRenameSuggestion(Model, tag_field="kind", tag="rename", kw_only=True):
    """A new name for the symbol at a place.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesrenamesuggestion
    """

    suggestion_id: NesSuggestionId
    uri: str
    position: Position
    new_name: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherNesSuggestion


class NesSearchAndReplaceSuggestion(Model, tag_field="kind", tag="searchAndReplace", kw_only=True):
    """Text (or a regular expression) to replace throughout a file.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nessearchandreplacesuggestion
    """

    suggestion_id: NesSuggestionId
    uri: str
    search: str
    replace: str
    is_regex: bool | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherNesSuggestion


#: One suggestion: an edit, a jump, a rename, or a search and replace.
if TYPE_CHECKING:
    NesSuggestion: TypeAlias = (
        NesEditSuggestion | NesJumpSuggestion | NesRenameSuggestion | NesSearchAndReplaceSuggestion | OtherNesSuggestion
    )
else:
    NesSuggestion = NesEditSuggestion | NesJumpSuggestion | NesRenameSuggestion | NesSearchAndReplaceSuggestion


class SuggestNesResponse(Model, kw_only=True):
    """The suggestions, perhaps none.

    https://agentclientprotocol.com/protocol/v2/draft/schema#suggestnesresponse
    """

    suggestions: list[NesSuggestion]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class CloseNesResponse(Model, kw_only=True):
    """The session of suggestions has ended.

    https://agentclientprotocol.com/protocol/v2/draft/schema#closenesresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesRepository(Model, kw_only=True):
    """The repository a workspace belongs to.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesrepository
    """

    name: str
    owner: str
    remote_url: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class StartNesRequest(Model, Request["StartNesResponse"], kw_only=True):
    """Begins a session of next edit suggestions for a workspace.

    https://agentclientprotocol.com/protocol/v2/draft/schema#startnesrequest
    """

    workspace_uri: str | None = None
    workspace_folders: list[WorkspaceFolder] | None = None
    repository: NesRepository | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("workspace_uri", "repository", "meta")


class NesRecentFile(Model, kw_only=True):
    """A file that was looked at lately, with its text.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesrecentfile
    """

    uri: str
    language_id: str
    text: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesExcerpt(Model, kw_only=True):
    """A part of a file by its first and last line, counted from 0.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesexcerpt
    """

    start_line: UInt32
    end_line: UInt32
    text: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesRelatedSnippet(Model, kw_only=True):
    """Parts of another file that have to do with this one.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesrelatedsnippet
    """

    uri: str
    excerpts: list[NesExcerpt]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesEditHistoryEntry(Model, kw_only=True):
    """An edit made before, as a diff.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesedithistoryentry
    """

    uri: str
    diff: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesUserAction(Model, kw_only=True):
    """Something the user did, at ``timestamp_ms`` (milliseconds since 1970).

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesuseraction
    """

    action: str
    uri: str
    position: Position
    timestamp_ms: UInt64
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)

    def __post_init__(self) -> None:
        check_uint64(self.timestamp_ms)


class NesOpenFile(Model, kw_only=True):
    """A file that is open, and when it last had the focus (milliseconds since 1970).

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesopenfile
    """

    uri: str
    language_id: str
    visible_range: Range | None = None
    last_focused_ms: UInt64 | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("visible_range", "last_focused_ms", "meta")

    def __post_init__(self) -> None:
        check_uint64(self.last_focused_ms)


class NesDiagnostic(Model, kw_only=True):
    """A message of a compiler or linter about a place in a file.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesdiagnostic
    """

    uri: str
    range: Range
    severity: NesDiagnosticSeverity
    message: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesSuggestContext(Model, kw_only=True):
    """What the editor knows that may help; every part is optional.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nessuggestcontext
    """

    recent_files: list[NesRecentFile] | None = None
    related_snippets: list[NesRelatedSnippet] | None = None
    edit_history: list[NesEditHistoryEntry] | None = None
    user_actions: list[NesUserAction] | None = None
    open_files: list[NesOpenFile] | None = None
    diagnostics: list[NesDiagnostic] | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class SuggestNesRequest(Model, Request["SuggestNesResponse"], kw_only=True):
    """What might the user edit next, at this place in this document?

    https://agentclientprotocol.com/protocol/v2/draft/schema#suggestnesrequest
    """

    session_id: SessionId
    uri: str
    version: Int64
    position: Position
    trigger_kind: NesTriggerKind
    selection: Range | None = None
    context: NesSuggestContext | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class CloseNesRequest(Model, Request["CloseNesResponse"], kw_only=True):
    """Ends a session of suggestions; what runs in it is cancelled.

    https://agentclientprotocol.com/protocol/v2/draft/schema#closenesrequest
    """

    session_id: SessionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class AcceptNesNotification(Model, Notification, kw_only=True):
    """The user took a suggestion.

    https://agentclientprotocol.com/protocol/v2/draft/schema#acceptnesnotification
    """

    session_id: SessionId
    suggestion_id: NesSuggestionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class RejectNesNotification(Model, Notification, kw_only=True):
    """The user did not take a suggestion, and perhaps why.

    https://agentclientprotocol.com/protocol/v2/draft/schema#rejectnesnotification
    """

    session_id: SessionId
    suggestion_id: NesSuggestionId
    reason: NesRejectReason | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("reason", "meta")
