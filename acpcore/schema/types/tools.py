"""Tool calls, their content and their diffs.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from ..model import JsonObject, Model, UInt32
from ..other import Other
from .content import ContentBlock
from .ids import AbsolutePath, MediaType, TerminalId, ToolCallId

__all__ = [
    "DIFF_FILE_TYPE_VALUES",
    "DIFF_PATCH_FORMAT_VALUES",
    "TOOL_CALL_STATUS_VALUES",
    "TOOL_KIND_VALUES",
    "Content",
    "Diff",
    "DiffAdd",
    "DiffChange",
    "DiffCopy",
    "DiffDelete",
    "DiffFileType",
    "DiffModify",
    "DiffMove",
    "DiffPatch",
    "DiffPatchFormat",
    "DiffPathChange",
    "DiffPathPairChange",
    "OtherDiffChange",
    "OtherToolCallContent",
    "Terminal",
    "ToolCallContent",
    "ToolCallLocation",
    "ToolCallPatch",
    "ToolCallStatus",
    "ToolKind",
]

#: What a tool call does, for icons and layout.
if TYPE_CHECKING:
    ToolKind: TypeAlias = (
        Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"] | str
    )
else:
    ToolKind = str
TOOL_KIND_VALUES: Final = (
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
)

#: How far a tool call has come.
if TYPE_CHECKING:
    ToolCallStatus: TypeAlias = Literal["pending", "in_progress", "completed", "failed", "cancelled"] | str
else:
    ToolCallStatus = str
TOOL_CALL_STATUS_VALUES: Final = ("pending", "in_progress", "completed", "failed", "cancelled")

#: What kind of file a change is about.
if TYPE_CHECKING:
    DiffFileType: TypeAlias = Literal["text", "binary", "directory", "symlink"] | str
else:
    DiffFileType = str
DIFF_FILE_TYPE_VALUES: Final = ("text", "binary", "directory", "symlink")

#: How the text of a diff is written; ``git_patch`` is made of ``diff --git`` sections with absolute paths.
if TYPE_CHECKING:
    DiffPatchFormat: TypeAlias = Literal["git_patch"] | str
else:
    DiffPatchFormat = str
DIFF_PATCH_FORMAT_VALUES: Final = ("git_patch",)


class OtherToolCallContent(Other):
    """A ``ToolCallContent`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"content", "diff", "terminal"})


class Content(Model, tag_field="type", tag="content", kw_only=True):
    """A content block as the output of a tool call.

    https://agentclientprotocol.com/protocol/v2/draft/schema#content
    """

    content: ContentBlock
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherToolCallContent


class OtherDiffChange(Other):
    """A ``DiffChange`` whose ``operation`` this version does not know."""

    __slots__ = ()
    tag_field = "operation"
    known = frozenset({"add", "copy", "delete", "modify", "move"})


class DiffPathChange(Model, kw_only=True):
    """A change to the file at ``path``; the base of its variants.

    https://agentclientprotocol.com/protocol/v2/draft/schema#diffpathchange
    """

    path: AbsolutePath
    file_type: DiffFileType | None = None
    mime_type: MediaType | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("file_type", "mime_type", "meta")


class DiffAdd(DiffPathChange, tag_field="operation", tag="add", kw_only=True):
    """A new file.

    https://agentclientprotocol.com/protocol/v2/draft/schema#diffpathchange
    """

    __acp_other__ = OtherDiffChange


class DiffDelete(DiffPathChange, tag_field="operation", tag="delete", kw_only=True):
    """A file that goes.

    https://agentclientprotocol.com/protocol/v2/draft/schema#diffpathchange
    """

    __acp_other__ = OtherDiffChange


class DiffModify(DiffPathChange, tag_field="operation", tag="modify", kw_only=True):
    """A file with new contents.

    https://agentclientprotocol.com/protocol/v2/draft/schema#diffpathchange
    """

    __acp_other__ = OtherDiffChange


class DiffPathPairChange(Model, kw_only=True):
    """A change that takes a file from ``old_path`` to ``path``; the base of its variants.

    https://agentclientprotocol.com/protocol/v2/draft/schema#diffpathpairchange
    """

    old_path: AbsolutePath
    path: AbsolutePath
    file_type: DiffFileType | None = None
    mime_type: MediaType | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("file_type", "mime_type", "meta")


class DiffMove(DiffPathPairChange, tag_field="operation", tag="move", kw_only=True):
    """A file that moves from ``old_path`` to ``path``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#diffpathpairchange
    """

    __acp_other__ = OtherDiffChange


class DiffCopy(DiffPathPairChange, tag_field="operation", tag="copy", kw_only=True):
    """A copy of ``old_path`` at ``path``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#diffpathpairchange
    """

    __acp_other__ = OtherDiffChange


#: One file added, deleted, modified, moved or copied.
if TYPE_CHECKING:
    DiffChange: TypeAlias = DiffAdd | DiffDelete | DiffModify | DiffMove | DiffCopy | OtherDiffChange
else:
    DiffChange = DiffAdd | DiffDelete | DiffModify | DiffMove | DiffCopy


class DiffPatch(Model, kw_only=True):
    """The text of a diff.

    https://agentclientprotocol.com/protocol/v2/draft/schema#diffpatch
    """

    format: DiffPatchFormat
    text: str


class Diff(Model, tag_field="type", tag="diff", kw_only=True):
    """Changes to files. ``changes`` decide; ``patch`` shows the same as text.

    https://agentclientprotocol.com/protocol/v2/draft/schema#diff
    """

    changes: list[DiffChange]
    patch: DiffPatch | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("patch", "meta")
    __acp_skip__ = ("changes",)
    __acp_other__ = OtherToolCallContent


class Terminal(Model, tag_field="type", tag="terminal", kw_only=True):
    """The place in a tool call's output where a terminal is to be shown.

    https://agentclientprotocol.com/protocol/v2/draft/schema#terminal
    """

    terminal_id: TerminalId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherToolCallContent


#: One piece of what a tool call produced.
if TYPE_CHECKING:
    ToolCallContent: TypeAlias = Content | Diff | Terminal | OtherToolCallContent
else:
    ToolCallContent = Content | Diff | Terminal


class ToolCallLocation(Model, kw_only=True):
    """A place in a file a tool call works on; ``line`` counts from 1.

    https://agentclientprotocol.com/protocol/v2/draft/schema#toolcalllocation
    """

    path: AbsolutePath
    line: UInt32 | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("line", "meta")


class ToolCallPatch(Model, kw_only=True):
    """What is known anew of a tool call. Omitted fields stay, ``None`` clears, a value (a whole list) replaces. An id
    not seen before begins a call, pending and of kind other unless told.

    https://agentclientprotocol.com/protocol/v2/draft/schema#toolcallupdate
    """

    tool_call_id: ToolCallId
    name: str | None | UnsetType = UNSET
    title: str | None | UnsetType = UNSET
    kind: ToolKind | None | UnsetType = UNSET
    status: ToolCallStatus | None | UnsetType = UNSET
    content: list[ToolCallContent] | None | UnsetType = UNSET
    locations: list[ToolCallLocation] | None | UnsetType = UNSET
    raw_input: Any | UnsetType = UNSET
    raw_output: Any | UnsetType = UNSET
    meta: JsonObject | None | UnsetType = UNSET

    __acp_lenient__ = ("name", "title", "kind", "status", "content", "locations", "raw_input", "raw_output", "meta")
    __acp_skip__ = ("content", "locations")
