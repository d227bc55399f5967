"""ACP v2 types: prompt.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from ..model import JsonObject, Model, Request
from .content import ContentBlock
from .ids import SessionId


class PromptResponse(Model, kw_only=True):
    """ACP ``PromptResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#promptresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class PromptRequest(Model, Request["PromptResponse"], kw_only=True):
    """ACP ``PromptRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#promptrequest
    """

    session_id: SessionId
    prompt: list[ContentBlock]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
