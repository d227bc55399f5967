"""Notices about open documents, and positions in text.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from ..model import Int64, JsonObject, Model, Notification, UInt32
from .ids import SessionId

__all__ = [
    "POSITION_ENCODING_KIND_VALUES",
    "TEXT_DOCUMENT_SYNC_KIND_VALUES",
    "DidChangeDocumentNotification",
    "DidCloseDocumentNotification",
    "DidFocusDocumentNotification",
    "DidOpenDocumentNotification",
    "DidSaveDocumentNotification",
    "Position",
    "PositionEncodingKind",
    "Range",
    "TextDocumentContentChangeEvent",
    "TextDocumentSyncKind",
    "WorkspaceFolder",
]

#: Whether an edit is told as the whole text or as its changes.
TextDocumentSyncKind: TypeAlias = Literal["full", "incremental"]
TEXT_DOCUMENT_SYNC_KIND_VALUES: Final = ("full", "incremental")

#: The units in which characters of a position are counted.
PositionEncodingKind: TypeAlias = Literal["utf-16", "utf-32", "utf-8"]
POSITION_ENCODING_KIND_VALUES: Final = ("utf-16", "utf-32", "utf-8")


class Position(Model, kw_only=True):
    """A place in a text: ``line`` and ``character`` count from 0, characters in the agreed encoding's units.

    https://agentclientprotocol.com/protocol/v2/draft/schema#position
    """

    line: UInt32
    character: UInt32
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class Range(Model, kw_only=True):
    """The text from ``start`` to just before ``end``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#range
    """

    start: Position
    end: Position
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class WorkspaceFolder(Model, kw_only=True):
    """A folder of the editor's workspace.

    https://agentclientprotocol.com/protocol/v2/draft/schema#workspacefolder
    """

    uri: str
    name: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DidOpenDocumentNotification(Model, Notification, kw_only=True):
    """A document was opened; here is all of it.

    https://agentclientprotocol.com/protocol/v2/draft/schema#didopendocumentnotification
    """

    session_id: SessionId
    uri: str
    language_id: str
    version: Int64
    text: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class TextDocumentContentChangeEvent(Model, kw_only=True):
    """One edit: ``text`` in place of ``range``, or of everything when there is no range.

    https://agentclientprotocol.com/protocol/v2/draft/schema#textdocumentcontentchangeevent
    """

    text: str
    range: Range | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DidChangeDocumentNotification(Model, Notification, kw_only=True):
    """A document was edited; its version is now ``version``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#didchangedocumentnotification
    """

    session_id: SessionId
    uri: str
    version: Int64
    content_changes: list[TextDocumentContentChangeEvent]
    meta: JsonObject | None = None

    __acp_lenient__ = ("content_changes", "meta")
    __acp_skip__ = ("content_changes",)


class DidCloseDocumentNotification(Model, Notification, kw_only=True):
    """A document was closed.

    https://agentclientprotocol.com/protocol/v2/draft/schema#didclosedocumentnotification
    """

    session_id: SessionId
    uri: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DidSaveDocumentNotification(Model, Notification, kw_only=True):
    """A document was saved.

    https://agentclientprotocol.com/protocol/v2/draft/schema#didsavedocumentnotification
    """

    session_id: SessionId
    uri: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DidFocusDocumentNotification(Model, Notification, kw_only=True):
    """A document came to the front, with the cursor and what is visible of it.

    https://agentclientprotocol.com/protocol/v2/draft/schema#didfocusdocumentnotification
    """

    session_id: SessionId
    uri: str
    version: Int64
    position: Position
    visible_range: Range
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
