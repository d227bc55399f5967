"""An own call and who waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypedDict

from .errors import AcpError, ProtocolError, RemoteError, RequestCancelled
from .message import REQUEST_CANCELLED, Call, Response

Decoder = Callable[[Any], Any]


class CallOptions(TypedDict, total=False):
    """Options of a call, for type checkers; ``Connection.request`` says what they mean."""

    timeout: float | None
    ordered: bool
    on_result: Callable[[Any], None] | None
    bulk: bool


class Pending:
    """One call: its future, how its result is decoded, and whether its answer keeps its place in the stream."""

    __slots__ = ("call", "decoder", "entered", "future", "on_result", "ordered", "run", "timer")

    def __init__(
        self,
        future: asyncio.Future[Any],
        decoder: Decoder | None,
        on_result: Callable[[Any], None] | None,
        ordered: bool,
    ) -> None:
        self.future = future
        self.decoder = decoder
        self.on_result = on_result
        self.ordered = ordered
        self.call: Call | None = None
        self.run: Any = None  # the handler that made it, while it has not returned
        self.entered: asyncio.Future[Any] | None = None  # done when it left its door
        self.timer: asyncio.TimerHandle | None = None

    def deliver(self, response: Response) -> bool:
        """Settle the call; returns whether a task will go on because of it: that is let run first."""
        if self.future.done():
            return False
        try:
            result = self._read(response)
            if self.on_result is not None:
                self.on_result(result)
        except Exception as error:
            self.fail(error)
        else:
            self._succeed(result)
        return True

    def _succeed(self, result: Any) -> None:
        if not self.future.done():  # on_result may have given the call up
            self.future.set_result(result)

    def _read(self, response: Response) -> Any:
        error = response.error
        if response.broken:
            raise ProtocolError(error.message if error is not None else "the answer was lost")
        if error is not None:
            kind = RequestCancelled if error.code == REQUEST_CANCELLED else RemoteError
            raise kind(error.code, error.message, error.data)
        if self.decoder is not None:
            return self.decoder(response.raw_result)
        return response.result

    def fail(self, error: AcpError | Exception) -> None:
        """End the call with an error."""
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()  # mark as seen: the task that waited may have been cancelled meanwhile
