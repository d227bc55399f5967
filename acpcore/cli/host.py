"""The host behind a replayed engine: it answers, and says which params do not fit their method."""

from __future__ import annotations

from typing import Any, Final, Literal

from acpcore import Engine, Event, InvalidParams, Notification, Request, __version__

from ..message import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, REQUEST_CANCELLED, Message
from ..schema import Method, decode, methods

ECHO: Final = "_t/echo"
SLOW: Final = "_t/slow"

#: The least that is a valid result; ``{}`` for methods that are not here.
RESULTS: Final[dict[str, Any]] = {
    "initialize": {
        "protocolVersion": 2,
        "info": {"name": "acpcore-replay", "version": __version__},
        "capabilities": {"session": {}},
    },
    "session/new": {"sessionId": "s1"},
    "session/fork": {"sessionId": "s2"},
    "session/list": {"sessions": []},
    "session/set_config_option": {"configOptions": []},
    "providers/list": {"providers": []},
    "nes/start": {"sessionId": "n1"},
    "nes/suggest": {"suggestions": []},
    "session/request_permission": {"outcome": {"outcome": "cancelled"}},
    "elicitation/create": {"action": "cancel"},
    "mcp/connect": {"connectionId": "m1"},
}


class Host:
    """Answers what ``role`` can be asked with the least that is valid; an agent also ``_t/echo`` and ``_t/slow``."""

    def __init__(self, role: Literal["client", "agent"], engine: Engine) -> None:
        self._role = role
        self._engine = engine
        self._slow: list[Request] = []

    def judge(self, event: Event) -> str | None:
        """What is wrong with the params of a message; ``None``: nothing, or it is no message with params."""
        if not isinstance(event, Message):
            return None
        try:
            _ = event.params
            method = self._method(event)
            if method is not None:
                decode(method.params, event.raw_params)
        except InvalidParams as error:
            return str(error)
        return None

    def answer(self, event: Event, fault: str | None) -> None:
        """Do what has to be done about an event; ``fault`` is what :meth:`judge` said."""
        if isinstance(event, Request):
            self._serve(event, fault)
        elif isinstance(event, Notification):
            cancelled = self._engine.cancelled_request(event)
            if cancelled in self._slow:
                self._slow.remove(cancelled)
                cancelled.fail(REQUEST_CANCELLED, "Request cancelled")

    def _serve(self, request: Request, fault: str | None) -> None:
        if fault is not None:
            request.fail(INVALID_PARAMS, f"Invalid params: {fault}")
        elif self._role == "agent" and request.method == SLOW:
            self._serve_later(request)
        elif self._knows(request):
            request.reply(RESULTS.get(request.method, {}))
        else:
            request.fail(METHOD_NOT_FOUND, "Method not found")

    def _serve_later(self, request: Request) -> None:
        if len(self._slow) < self._engine.limits.max_running:
            self._slow.append(request)
        else:
            request.fail(INTERNAL_ERROR, "Too many requests run at once")

    def answer_slow(self) -> None:
        """Time has passed."""
        slow, self._slow = self._slow, []
        for request in slow:
            request.reply({})

    def _knows(self, request: Request) -> bool:
        return self._method(request) is not None or (self._role == "agent" and request.method == ECHO)

    def _method(self, message: Message) -> Method | None:
        kind: Literal["request", "notification"] = "request" if isinstance(message, Request) else "notification"
        method = methods.find(message.method, kind)
        return method if method is not None and method.side in (self._role, "both") else None
