"""The few shapes of drafts after alpha.2 that the tolerant profile reads, and that a host may send.

Everything else of those drafts is either an unknown variant, which is kept raw, or an unknown member.
"""

from __future__ import annotations

from typing import Any, Final

from .model import Int64
from .types.ids import MessageId
from .types.prompt import PromptResponse as Alpha2PromptResponse
from .types.terminal import TerminalExitStatus as Alpha2TerminalExitStatus

__all__ = ["LATER", "PromptResponse", "TerminalExitStatus"]


class PromptResponse(Alpha2PromptResponse, kw_only=True):
    """The answer to a prompt, with the id of the user message the agent inserted. Later drafts require the id; an
    alpha.2 client ignores it, so an agent that has one does well to send it.

    https://agentclientprotocol.com/protocol/v2/draft/schema#promptresponse
    """

    message_id: MessageId | None = None

    __acp_lenient__ = ("meta", "message_id")  # type: ignore[assignment]


class TerminalExitStatus(Alpha2TerminalExitStatus, kw_only=True):
    """An exit status whose code may be negative or wider than 32 bits.

    https://agentclientprotocol.com/protocol/v2/draft/schema#terminalexitstatus
    """

    exit_code: Int64 | None = None


#: Which class of alpha.2 is read as which later one.
LATER: Final[dict[Any, Any]] = {
    Alpha2PromptResponse: PromptResponse,
    Alpha2TerminalExitStatus: TerminalExitStatus,
}
