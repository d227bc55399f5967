"""Sending a prompt.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from ..model import JsonObject, Model, Request
from .content import ContentBlock
from .ids import SessionId

__all__ = [
    "PromptRequest",
    "PromptResponse",
]


class PromptResponse(Model, kw_only=True):
    """The prompt was taken; the work is told by updates.

    https://agentclientprotocol.com/protocol/v2/draft/schema#promptresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class PromptRequest(Model, Request["PromptResponse"], kw_only=True):
    """What the user asks of the agent in this session.

    https://agentclientprotocol.com/protocol/v2/draft/schema#promptrequest
    """

    session_id: SessionId
    prompt: list[ContentBlock]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
