"""A peer as it is often written: one loop reads a message, handles it, and waits until what it sends is on its way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

Handler = Callable[["Naive", Any], Awaitable[Any]]


class Naive:
    """Speaks JSON-RPC over a stream. ``moved`` counts messages, in and out."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handlers: dict[str, Handler]
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._handlers = handlers
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self.moved = 0
        self.reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        while line := await self._reader.readline():
            self.moved += 1
            message = json.loads(line)
            if "method" not in message:
                self._calls.pop(message["id"]).set_result(message["result"])
                continue
            result = await self._handlers[message["method"]](self, message.get("params"))
            if "id" in message:
                await self._send({"id": message["id"], "result": result})

    async def _send(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self._writer.drain()
        self.moved += 1

    async def notify(self, method: str, params: Any) -> None:
        await self._send({"method": method, "params": params})

    async def request(self, method: str, params: Any = None) -> Any:
        call = self._calls[len(self._calls)] = asyncio.get_running_loop().create_future()
        await self._send({"id": len(self._calls) - 1, "method": method, "params": params})
        return await call

    async def stop(self) -> None:
        self.reading.cancel()
        await asyncio.gather(self.reading, return_exceptions=True)
        self._writer.transport.abort()
