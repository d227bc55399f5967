"""``acpcore agent``: the example agent. It runs the command of each prompt on a terminal that the client sees."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from typing import Any, Final

from acpcore import Connection, ConnectionClosed, Handlers, InvalidParams, RemoteError, __version__, run, stdio

from ..message import INVALID_REQUEST, RESOURCE_NOT_FOUND
from ..schema import (
    AgentCapabilities,
    CancelSessionNotification,
    CloseSessionRequest,
    CloseSessionResponse,
    Implementation,
    ListSessionsRequest,
    ListSessionsResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    ReplayFromStart,
    ResumeSessionRequest,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionInfo,
    later,
)
from .conversation import Session
from .turn import Turn

_INFO: Final = Implementation(name="acpcore-agent", title="acpcore example agent", version=__version__)
_GRACE: Final = 2.0  # seconds for what still runs when the client is gone


class ExampleAgent:
    """Sessions, and the handlers that serve them."""

    def __init__(self) -> None:
        self.handlers = Handlers()
        self._sessions: dict[str, Session] = {}
        self._turns: dict[str, Turn] = {}
        self._register()

    def _register(self) -> None:
        self.handlers.initialize(_INFO, AgentCapabilities(session=SessionCapabilities()))
        on = self.handlers.on
        on(NewSessionRequest)(self._new)
        on(ListSessionsRequest)(self._list)
        on(ResumeSessionRequest)(self._resume)
        on(CloseSessionRequest)(self._close)
        on(PromptRequest)(self._prompt)
        on(CancelSessionNotification)(self._cancel)

    # --- sessions

    def _new(self, request: Any) -> NewSessionResponse:
        _check_absolute(request.params.cwd)
        session_id = secrets.token_hex(8)
        self._sessions[session_id] = Session(session_id, request.params.cwd)
        return NewSessionResponse(session_id=session_id)

    def _list(self, request: Any) -> ListSessionsResponse:
        params: ListSessionsRequest = request.params
        if params.cursor is not None:
            raise InvalidParams("cursor", "unknown")
        found = [s for s in self._sessions.values() if params.cwd in (None, s.cwd)]
        return ListSessionsResponse(
            sessions=[SessionInfo(session_id=s.session_id, cwd=s.cwd, title=s.title) for s in found]
        )

    async def _resume(self, request: Any) -> ResumeSessionResponse:
        params: ResumeSessionRequest = request.params
        _check_absolute(params.cwd)
        session = self._find(params.session_id)
        if isinstance(params.replay_from, ReplayFromStart):
            await session.replay(request.conn)
        elif params.replay_from is not None:
            raise InvalidParams("replayFrom", "unknown kind")
        return ResumeSessionResponse()

    async def _close(self, request: Any) -> CloseSessionResponse:
        session = self._find(request.params.session_id)
        self._stop(session.session_id)
        if session.turn is not None:
            await asyncio.wait([session.turn])
        self._sessions.pop(session.session_id, None)
        self._turns.pop(session.session_id, None)
        return CloseSessionResponse()

    # --- turns

    def _prompt(self, request: Any) -> PromptResponse:
        """A prompt is answered when it is accepted; the turn goes on beside it. The answer names the message it became,
        which later drafts require and this one ignores.

        https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle
        """
        session = self._find(request.params.session_id)
        if session.busy:
            raise RemoteError(INVALID_REQUEST, "a turn is running in this session")
        turn = Turn(request.conn, session, request.params)
        session.title = session.title or turn.title
        self._turns[session.session_id] = turn
        session.turn = request.conn.start(turn.run(), name=f"turn in {session.session_id}")
        return later.PromptResponse(message_id=turn.message_id)

    def _cancel(self, notification: Any) -> None:
        self._stop(notification.params.session_id)

    def _stop(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is not None and session.busy:
            self._turns[session_id].cancel()

    def _find(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise RemoteError(RESOURCE_NOT_FOUND, "there is no such session")
        return session


def _check_absolute(path: str) -> None:
    if not os.path.isabs(path):
        raise InvalidParams("cwd", "must be an absolute path")


async def _serve() -> ConnectionClosed:
    async with stdio(ExampleAgent().handlers, grace=_GRACE) as conn:
        _heed_signals(conn)
        return await conn.closed


def _heed_signals(conn: Connection) -> None:
    """Asked to go: what runs for the client goes too."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            name = signal.Signals(number).name
            asyncio.get_running_loop().add_signal_handler(number, conn.abort, f"ended by {name}")


def main() -> None:
    """Serve the client at stdin and stdout until it goes."""
    run(_serve())
