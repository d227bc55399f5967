"""Who handles what: a table from methods, schema types and event kinds to functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .errors import UsageError
from .message import BadFrame, Event, FrameTooLarge, Request, Response, TerminalBytes, Truncated
from .negotiation import Welcome

if TYPE_CHECKING:
    from . import schema as s

F = TypeVar("F", bound=Callable[..., Any])
Decoder = Callable[[Any], Any]

EVENTS: Final = (TerminalBytes, BadFrame, FrameTooLarge, Truncated, Response)
ANY: Final = "*"


class Handler:
    """A function and how to call it: ``decoder`` turns raw params into what the function expects."""

    __slots__ = ("decoder", "function", "is_async", "name")

    def __init__(self, function: Callable[..., Any], decoder: Decoder | None) -> None:
        self.function = function
        self.decoder = decoder
        self.is_async = _is_coroutine_function(function)
        self.name = getattr(function, "__qualname__", None) or repr(function)


class Handlers:
    """The handlers of one connection, or of many. ``profile`` says how typed params are decoded (see
    ``acpcore.schema``).
    """

    def __init__(self, *, profile: Any = None) -> None:
        self._requests: dict[str, Handler] = {}
        self._notifications: dict[str, Handler] = {}
        self._events: dict[type[Event], Handler] = {}
        self._profile = profile

    def on(self, what: Any, *, decode: Decoder | None = None) -> Callable[[F], F]:
        """Register a function (``def`` or ``async def``), as a decorator.

        ``what`` is a schema type (which knows its method and whether it is a request), a method name, ``"*"`` for
        every method that has no handler of its own, or an event kind: ``TerminalBytes`` (then chunks of terminal
        output come decoded and joined), ``BadFrame``, ``FrameTooLarge``, ``Truncated``, ``Response`` (answers to no
        call).

        The function gets the ``Request``, ``Notification`` or event. What a request's handler returns is the result;
        ``decode`` makes ``params`` of the raw JSON (bytes) when ``what`` is a name.
        """

        def register(function: F) -> F:
            self._register(what, function, decode, request=True, notification=True)
            return function

        return register

    def request(self, what: Any, *, decode: Decoder | None = None) -> Callable[[F], F]:
        """Like :meth:`on`, for a name or type that may come both with and without an id: only those with one."""

        def register(function: F) -> F:
            self._register(what, function, decode, request=True, notification=False)
            return function

        return register

    def notification(self, what: Any, *, decode: Decoder | None = None) -> Callable[[F], F]:
        """Like :meth:`request`: only those without an id."""

        def register(function: F) -> F:
            self._register(what, function, decode, request=False, notification=True)
            return function

        return register

    def initialize(
        self,
        info: s.Implementation,
        capabilities: s.AgentCapabilities | None = None,
        *,
        auth_methods: Sequence[s.AuthMethod] = (),
        others: Mapping[int, Callable[[Request], Any]] | None = None,
    ) -> None:
        """Answer ``initialize`` as an agent: who it is, what it can do, how to log in. From then on the connection
        knows the rules.

        It is answered in version 2, unless the client asks for one of ``others``: their functions get the request
        and return the result. A client that does not declare ``auth.terminal`` or the position encoding is not
        offered it. https://agentclientprotocol.com/protocol/v2/draft/initialization
        """
        self._register(
            "initialize",
            Welcome(info, capabilities, auth_methods, others or {}, self._profile),
            None,
            request=True,
            notification=False,
        )

    def _register(
        self, what: Any, function: Callable[..., Any], decode: Decoder | None, *, request: bool, notification: bool
    ) -> None:
        if not callable(function):
            raise UsageError("a handler is a function")
        if isinstance(what, type) and issubclass(what, Event):
            if what not in EVENTS:
                raise UsageError(f"{what.__name__} events have no handler; register a method or a type")
            self._events[what] = Handler(function, None)
            return
        name = what
        if not isinstance(what, str):
            method = method_of(what)
            name, decode = method.name, decode or self._typed(what)
            request = request and method.kind == "request"
            notification = notification and method.kind == "notification"
            if not request and not notification:
                raise UsageError(f"{what.__name__} is a {method.kind}")
        handler = Handler(function, decode)
        if request:
            self._requests[name] = handler
        if notification:
            self._notifications[name] = handler

    def _typed(self, type_: Any) -> Decoder:
        return _decoder(type_, self._profile)

    def for_request(self, method: str) -> Handler | None:
        """The handler of requests of this method."""
        return self._requests.get(method) or self._requests.get(ANY)

    def for_notification(self, method: str) -> Handler | None:
        """The handler of notifications of this method."""
        return self._notifications.get(method) or self._notifications.get(ANY)

    def for_event(self, kind: type[Event]) -> Handler | None:
        """The handler of an event kind."""
        return self._events.get(kind)


def method_of(type_: Any) -> Any:
    """The method a schema type or instance belongs to (``name``, ``kind``, ``result``)."""
    method = getattr(type_, "__acp_method__", None)
    if method is None:
        raise UsageError(f"{type_!r} is neither a method name nor the params type of a method")
    return method


def call_parts(method: Any, params: Any, result: Any, profile: Any = None) -> tuple[str, Any, Decoder | None]:
    """Name, params and result decoder of a call."""
    if isinstance(method, str):
        return method, params, None if result is None else _decoder(result, profile)
    described = method_of(method)
    if params is not None:
        raise UsageError("a params struct is given alone")
    result = described.result if result is None else result
    return described.name, method, None if result is None else _decoder(result, profile)


def notification_parts(method: Any, params: Any) -> tuple[str, Any]:
    """Name and params of a notification."""
    if isinstance(method, str):
        return method, params
    if params is not None:
        raise UsageError("a params struct is given alone")
    return method_of(method).name, method


def _decoder(type_: Any, profile: Any) -> Decoder:
    from .schema import decode

    if profile is None:
        return lambda raw: decode(type_, raw)
    return lambda raw: decode(type_, raw, profile=profile)


def _is_coroutine_function(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
