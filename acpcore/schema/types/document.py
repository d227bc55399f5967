"""ACP v2 types: document.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from ..model import Int64, JsonObject, Model, Notification, UInt32
from .ids import SessionId

#: ACP ``TextDocumentSyncKind``.
TextDocumentSyncKind: TypeAlias = Literal["full", "incremental"]
TEXT_DOCUMENT_SYNC_KIND_VALUES: Final = ("full", "incremental")

#: ACP ``PositionEncodingKind``.
PositionEncodingKind: TypeAlias = Literal["utf-16", "utf-32", "utf-8"]
POSITION_ENCODING_KIND_VALUES: Final = ("utf-16", "utf-32", "utf-8")


class Position(Model, kw_only=True):
    """ACP ``Position``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#position
    """

    line: UInt32
    character: UInt32
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class Range(Model, kw_only=True):
    """ACP ``Range``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#range
    """

    start: Position
    end: Position
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class WorkspaceFolder(Model, kw_only=True):
    """ACP ``WorkspaceFolder``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#workspacefolder
    """

    uri: str
    name: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DidOpenDocumentNotification(Model, Notification, kw_only=True):
    """ACP ``DidOpenDocumentNotification``.

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
    """ACP ``TextDocumentContentChangeEvent``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#textdocumentcontentchangeevent
    """

    text: str
    range: Range | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DidChangeDocumentNotification(Model, Notification, kw_only=True):
    """ACP ``DidChangeDocumentNotification``.

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
    """ACP ``DidCloseDocumentNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#didclosedocumentnotification
    """

    session_id: SessionId
    uri: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DidSaveDocumentNotification(Model, Notification, kw_only=True):
    """ACP ``DidSaveDocumentNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#didsavedocumentnotification
    """

    session_id: SessionId
    uri: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DidFocusDocumentNotification(Model, Notification, kw_only=True):
    """ACP ``DidFocusDocumentNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#didfocusdocumentnotification
    """

    session_id: SessionId
    uri: str
    version: Int64
    position: Position
    visible_range: Range
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
