"""ACP v2 types: session.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

from msgspec import field

from ..model import JsonObject, Model, Never, Notification, Request
from ..other import Other
from .config import SessionConfigOption
from .ids import AbsolutePath, SessionId, SessionListCursor
from .mcp import McpServer


class NewSessionResponse(Model, kw_only=True):
    """ACP ``NewSessionResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#newsessionresponse
    """

    session_id: SessionId
    config_options: list[SessionConfigOption] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("config_options", "meta")
    __acp_skip__ = ("config_options",)


class SessionInfo(Model, kw_only=True):
    """ACP ``SessionInfo``.

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
    """ACP ``ListSessionsResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#listsessionsresponse
    """

    sessions: list[SessionInfo]
    next_cursor: SessionListCursor | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("sessions", "next_cursor", "meta")
    __acp_skip__ = ("sessions",)


class DeleteSessionResponse(Model, kw_only=True):
    """ACP ``DeleteSessionResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#deletesessionresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class ForkSessionResponse(Model, kw_only=True):
    """ACP ``ForkSessionResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#forksessionresponse
    """

    session_id: SessionId
    config_options: list[SessionConfigOption] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("config_options", "meta")
    __acp_skip__ = ("config_options",)


class ResumeSessionResponse(Model, kw_only=True):
    """ACP ``ResumeSessionResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#resumesessionresponse
    """

    config_options: list[SessionConfigOption] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("config_options", "meta")
    __acp_skip__ = ("config_options",)


class CloseSessionResponse(Model, kw_only=True):
    """ACP ``CloseSessionResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#closesessionresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NewSessionRequest(Model, Request["NewSessionResponse"], kw_only=True):
    """ACP ``NewSessionRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#newsessionrequest
    """

    cwd: AbsolutePath
    additional_directories: list[AbsolutePath] = field(default_factory=list)
    mcp_servers: list[McpServer] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("additional_directories", "mcp_servers", "meta")
    __acp_skip__ = ("additional_directories", "mcp_servers")


class ListSessionsRequest(Model, Request["ListSessionsResponse"], kw_only=True):
    """ACP ``ListSessionsRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#listsessionsrequest
    """

    cwd: AbsolutePath | None = None
    cursor: SessionListCursor | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class DeleteSessionRequest(Model, Request["DeleteSessionResponse"], kw_only=True):
    """ACP ``DeleteSessionRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#deletesessionrequest
    """

    session_id: SessionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class ForkSessionRequest(Model, Request["ForkSessionResponse"], kw_only=True):
    """ACP ``ForkSessionRequest``.

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
    """A ReplayFrom of a kind this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"start"})


class ReplayFromStart(Model, tag_field="type", tag="start", kw_only=True):
    """ACP ``ReplayFromStart``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#replayfromstart
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherReplayFrom


#: ACP ``ReplayFrom``.
if TYPE_CHECKING:
    ReplayFrom: TypeAlias = ReplayFromStart | OtherReplayFrom
else:
    ReplayFrom = Union[ReplayFromStart, Never]


class ResumeSessionRequest(Model, Request["ResumeSessionResponse"], kw_only=True):
    """ACP ``ResumeSessionRequest``.

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
    """ACP ``CloseSessionRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#closesessionrequest
    """

    session_id: SessionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class CancelSessionNotification(Model, Notification, kw_only=True):
    """ACP ``CancelSessionNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#cancelsessionnotification
    """

    session_id: SessionId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
