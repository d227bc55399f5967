"""Making, listing, resuming, forking, closing and deleting sessions.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import field

from ..model import JsonObject, Model, Never, Notification, Request
from ..other import Other
from .config import SessionConfigOption
from .ids import AbsolutePath, SessionId, SessionListCursor
from .mcp import McpServer

__all__ = [
    "CancelSessionNotification",
    "CloseSessionRequest",
    "CloseSessionResponse",
    "DeleteSessionRequest",
    "DeleteSessionResponse",
    "ForkSessionRequest",
    "ForkSessionResponse",
    "ListSessionsRequest",
    "ListSessionsResponse",
    "NewSessionRequest",
    "NewSessionResponse",
    "OtherReplayFrom",
    "ReplayFrom",
    "ReplayFromStart",
    "ResumeSessionRequest",
    "ResumeSessionResponse",
    "SessionInfo",
]


class NewSessionResponse(Model, kw_only=True):
    """The new session.

    https://agentclientprotocol.com/protocol/v2/draft/schema#newsessionresponse
    """

    session_id: SessionId
    config_options: list[SessionConfigOption] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("config_options", "meta")
    __acp_skip__ = ("config_options",)


class SessionInfo(Model, kw_only=True):
    """A session in a list; ``updated_at`` as RFC 3339.

    https://agentclientprotocol.com/protocol/v2/draft/schema#sessioninfo
    """

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: list[AbsolutePath] = field(default_factory=list)
    title: str | None = None
    updated_at: str | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("additional_directories", "title", "updated_at", "meta")
    __acp_skip__ = ("additional_directories",)


class ListSessionsResponse(Model, kw_only=True):
    """A page of sessions; without ``next_cursor`` it is the last.

    https://agentclientprotocol.com/protocol/v2/draft/schema#listsessionsresponse
    """

    sessions: list[SessionInfo]
    next_cursor: SessionListCursor | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("sessions", "next_cursor", "meta")
    __acp_skip__ = ("sessions",)


class DeleteSessionResponse(Model, kw_only=True):
    """The session is gone.

    https://agentclientprotocol.com/protocol/v2/draft/schema#deletesessionresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class ForkSessionResponse(Model, kw_only=True):
    """The copy.

    https://agentclientprotocol.com/protocol/v2/draft/schema#forksessionresponse
    """

    session_id: SessionId
    config_options: list[SessionConfigOption] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("config_options", "meta")
    __acp_skip__ = ("config_options",)


class ResumeSessionResponse(Model, kw_only=True):
    """The session goes on.

    https://agentclientprotocol.com/protocol/v2/draft/schema#resumesessionresponse
    """

    config_options: list[SessionConfigOption] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("config_options", "meta")
    __acp_skip__ = ("config_options",)


class CloseSessionResponse(Model, kw_only=True):
    """The session is closed.

    https://agentclientprotocol.com/protocol/v2/draft/schema#closesessionresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NewSessionRequest(Model, Request["NewSessionResponse"], kw_only=True):
    """Makes a session in the absolute directory ``cwd``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#newsessionrequest
    """

    cwd: AbsolutePath
    additional_directories: list[AbsolutePath] = field(default_factory=list)
    mcp_servers: list[McpServer] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("additional_directories", "mcp_servers", "meta")
    __acp_skip__ = ("additional_directories", "mcp_servers")


class ListSessionsRequest(Model, Request["ListSessionsResponse"], kw_only=True):
    """Which sessions are there? By directory, page by page.

    https://agentclientprotocol.com/protocol/v2/draft/schema#listsessionsrequest
    """

    cwd: AbsolutePath | None = None
    cursor: SessionListCursor | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DeleteSessionRequest(Model, Request["DeleteSessionResponse"], kw_only=True):
    """Takes a session off the list. One that is not there is no error.

    https://agentclientprotocol.com/protocol/v2/draft/schema#deletesessionrequest
    """

    session_id: SessionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class ForkSessionRequest(Model, Request["ForkSessionResponse"], kw_only=True):
    """Makes a new session out of a copy of another.

    https://agentclientprotocol.com/protocol/v2/draft/schema#forksessionrequest
    """

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: list[AbsolutePath] = field(default_factory=list)
    mcp_servers: list[McpServer] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("additional_directories", "mcp_servers", "meta")
    __acp_skip__ = ("additional_directories", "mcp_servers")


class OtherReplayFrom(Other):
    """A ``ReplayFrom`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"start"})


class ReplayFromStart(Model, tag_field="type", tag="start", kw_only=True):
    """All of the history.

    https://agentclientprotocol.com/protocol/v2/draft/schema#replayfromstart
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherReplayFrom


#: From where history is to be told. Do not guess at an unknown one: refuse it.
if TYPE_CHECKING:
    ReplayFrom: TypeAlias = ReplayFromStart | OtherReplayFrom
else:
    ReplayFrom = ReplayFromStart | Never


class ResumeSessionRequest(Model, Request["ResumeSessionResponse"], kw_only=True):
    """Goes on with an earlier session. Its history is told again only if ``replay_from`` asks for it, and then before
    the answer.

    https://agentclientprotocol.com/protocol/v2/draft/schema#resumesessionrequest
    """

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: list[AbsolutePath] = field(default_factory=list)
    mcp_servers: list[McpServer] = field(default_factory=list)
    replay_from: ReplayFrom | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("additional_directories", "mcp_servers", "replay_from", "meta")
    __acp_skip__ = ("additional_directories", "mcp_servers")


class CloseSessionRequest(Model, Request["CloseSessionResponse"], kw_only=True):
    """Cancels what runs in a session and frees it; it can be resumed.

    https://agentclientprotocol.com/protocol/v2/draft/schema#closesessionrequest
    """

    session_id: SessionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class CancelSessionNotification(Model, Notification, kw_only=True):
    """Stop what runs in this session. The agent confirms by going idle with ``cancelled``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#cancelsessionnotification
    """

    session_id: SessionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
