"""An engine on a process transport: any bytes can be sent, and what comes can be seen as it came."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import msgspec

from acpcore import Engine, Event, Response
from acpcore.transports.process import ProcessTransport

NOTE = {"jsonrpc": "2.0", "method": "_interop/note", "params": {}}


def request(id: Any, method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {} if params is None else params}


def initialize_params(version: Any) -> dict[str, Any]:
    return {"protocolVersion": version, "info": {"name": "interop", "version": "1"}, "capabilities": {}}


class RawClient:
    """The client's engine; ``lines`` are the lines that came, ``events`` what the engine made of them."""

    def __init__(self, argv: Sequence[str]) -> None:
        self.engine = Engine("client", grouped=False)
        self.events: list[Event] = []
        self.noise = bytearray()
        self.transport = ProcessTransport(argv, on_stderr=self._heard)
        self._received = bytearray()
        self._queue: deque[memoryview] = deque()
        self._changed = asyncio.Event()

    async def __aenter__(self) -> RawClient:
        self.transport.start(self, asyncio.get_running_loop())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.transport.close()
        await self.transport.wait_closed()

    def send(self, *messages: Any) -> None:
        """Send lines: bytes as they are, anything else as JSON."""
        for message in messages:
            line = message if isinstance(message, bytes) else msgspec.json.encode(message)
            self._queue.append(memoryview(line + b"\n"))
        self.transport.wake()

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Waits as long as it takes; what runs it has a time limit."""
        while not (found := condition()):
            self._changed.clear()
            await self._changed.wait()
        return found

    async def until_lines(self, count: int) -> list[Any]:
        """The first ``count`` lines, decoded."""
        await self.until(lambda: len(self.lines) >= count)
        return self.lines[:count]

    async def call(self, id: Any, method: str, params: Any = None) -> Response:
        """A request with an id of our choice, and its answer."""
        (response,) = await self.calls(request(id, method, params))
        return response

    async def calls(self, *requests: dict[str, Any]) -> list[Response]:
        """Requests that leave in one write, and their answers in the same order."""
        calls = [self.engine.expect(request["id"], request["method"]) for request in requests]
        self.send(*requests)
        return [await self.until(lambda call=call: self._answer(call)) for call in calls]

    def _answer(self, call: Any) -> Response | None:
        return next((event for event in self.events if isinstance(event, Response) and event.call is call), None)

    async def initialize(self, version: Any = 2) -> Response:
        return await self.call("init", "initialize", initialize_params(version))

    @property
    def lines(self) -> list[Any]:
        """What came, decoded by another decoder than the engine's."""
        return [msgspec.json.decode(line) for line in self._received.split(b"\n")[:-1]]

    # --- Link

    def get_buffer(self) -> memoryview:
        self._buffer = self.engine.get_buffer()
        return self._buffer

    def buffer_updated(self, size: int) -> None:
        self._received += self._buffer[:size]
        events = self.engine.buffer_updated(size)
        self.events += events
        for event in events:
            self.engine.done(event)
        self._changed.set()

    def eof_received(self) -> None:
        self.events += self.engine.receive_eof()
        self._changed.set()

    def data_to_send(self) -> list[memoryview]:
        return list(self._queue)

    def data_sent(self, size: int) -> None:
        while size:
            first = self._queue.popleft()
            if len(first) > size:
                self._queue.appendleft(first[size:])
            size -= min(size, len(first))

    def connection_lost(self, error: BaseException | None) -> None:
        self._changed.set()

    def _heard(self, data: bytes) -> None:
        self.noise += data
        self._changed.set()
