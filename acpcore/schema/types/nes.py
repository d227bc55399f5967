"""ACP v2 types: nes.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, Union

from msgspec import Meta

from ..model import Int64, JsonObject, Model, Notification, Request, UInt32, UInt64, check_uint64
from ..other import Other
from .document import Position, Range, WorkspaceFolder
from .ids import NesSuggestionId, SessionId

#: ACP ``NesTriggerKind``.
if TYPE_CHECKING:
    NesTriggerKind: TypeAlias = Literal["automatic", "diagnostic", "manual"] | str
else:
    NesTriggerKind = str
NES_TRIGGER_KIND_VALUES: Final = ("automatic", "diagnostic", "manual")

#: ACP ``NesDiagnosticSeverity``.
if TYPE_CHECKING:
    NesDiagnosticSeverity: TypeAlias = Literal["error", "warning", "information", "hint"] | str
else:
    NesDiagnosticSeverity = str
NES_DIAGNOSTIC_SEVERITY_VALUES: Final = ("error", "warning", "information", "hint")

#: ACP ``NesRejectReason``.
if TYPE_CHECKING:
    NesRejectReason: TypeAlias = Literal["rejected", "ignored", "replaced", "cancelled"] | str
else:
    NesRejectReason = str
NES_REJECT_REASON_VALUES: Final = ("rejected", "ignored", "replaced", "cancelled")


class StartNesResponse(Model, kw_only=True):
    """ACP ``StartNesResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#startnesresponse
    """

    session_id: SessionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class OtherNesSuggestion(Other):
    """A NesSuggestion of a kind this version does not know."""

    __slots__ = ()
    tag_field = "kind"
    known = frozenset({"edit", "jump", "rename", "searchAndReplace"})
    required = ("suggestionId",)


class NesTextEdit(Model, kw_only=True):
    """ACP ``NesTextEdit``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nestextedit
    """

    range: Range
    new_text: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesEditSuggestion(Model, tag_field="kind", tag="edit", kw_only=True):
    """ACP ``NesEditSuggestion``.

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
    """ACP ``NesJumpSuggestion``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesjumpsuggestion
    """

    suggestion_id: NesSuggestionId
    uri: str
    position: Position
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherNesSuggestion


class NesRenameSuggestion(Model, tag_field="kind", tag="rename", kw_only=True):
    """ACP ``NesRenameSuggestion``.

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
    """ACP ``NesSearchAndReplaceSuggestion``.

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


#: ACP ``NesSuggestion``.
if TYPE_CHECKING:
    NesSuggestion: TypeAlias = (
        NesEditSuggestion | NesJumpSuggestion | NesRenameSuggestion | NesSearchAndReplaceSuggestion | OtherNesSuggestion
    )
else:
    NesSuggestion = Union[NesEditSuggestion, NesJumpSuggestion, NesRenameSuggestion, NesSearchAndReplaceSuggestion]


class SuggestNesResponse(Model, kw_only=True):
    """ACP ``SuggestNesResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#suggestnesresponse
    """

    suggestions: list[NesSuggestion]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class CloseNesResponse(Model, kw_only=True):
    """ACP ``CloseNesResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#closenesresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesRepository(Model, kw_only=True):
    """ACP ``NesRepository``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesrepository
    """

    name: str
    owner: str
    remote_url: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class StartNesRequest(Model, Request["StartNesResponse"], kw_only=True):
    """ACP ``StartNesRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#startnesrequest
    """

    workspace_uri: str | None = None
    workspace_folders: list[WorkspaceFolder] | None = None
    repository: NesRepository | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("workspace_uri", "repository", "meta")


class NesRecentFile(Model, kw_only=True):
    """ACP ``NesRecentFile``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesrecentfile
    """

    uri: str
    language_id: str
    text: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesExcerpt(Model, kw_only=True):
    """ACP ``NesExcerpt``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesexcerpt
    """

    start_line: UInt32
    end_line: UInt32
    text: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesRelatedSnippet(Model, kw_only=True):
    """ACP ``NesRelatedSnippet``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesrelatedsnippet
    """

    uri: str
    excerpts: list[NesExcerpt]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesEditHistoryEntry(Model, kw_only=True):
    """ACP ``NesEditHistoryEntry``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesedithistoryentry
    """

    uri: str
    diff: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesUserAction(Model, kw_only=True):
    """ACP ``NesUserAction``.

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
    """ACP ``NesOpenFile``.

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
    """ACP ``NesDiagnostic``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesdiagnostic
    """

    uri: str
    range: Range
    severity: NesDiagnosticSeverity
    message: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesSuggestContext(Model, kw_only=True):
    """ACP ``NesSuggestContext``.

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
    """ACP ``SuggestNesRequest``.

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
    """ACP ``CloseNesRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#closenesrequest
    """

    session_id: SessionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class AcceptNesNotification(Model, Notification, kw_only=True):
    """ACP ``AcceptNesNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#acceptnesnotification
    """

    session_id: SessionId
    suggestion_id: NesSuggestionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class RejectNesNotification(Model, Notification, kw_only=True):
    """ACP ``RejectNesNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#rejectnesnotification
    """

    session_id: SessionId
    suggestion_id: NesSuggestionId
    reason: NesRejectReason | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("reason", "meta")
