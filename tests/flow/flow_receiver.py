"""A client that is slow, run as a program: takes a flood at a given rate and prints what it cost, as JSON.

    python flow_receiver.py HOW LOOP TRANSPORT SIZE RATE OWED

``HOW``: handlers or pull; ``LOOP``: asyncio or uvloop; ``TRANSPORT``: pipe, socketpair or tcp; ``SIZE`` in bytes of
output, ``RATE`` in bytes a second; ``OWED``: 1 if a call is owed for the whole stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

from flow_agent import pattern
from flow_scale import MIB, environment, forget_peak, memory, program

from acpcore import Connection, Handlers, TerminalBytes, connect, run, spawn

WARM = 1 * MIB


class Consumer:
    """Takes so many bytes a second, looks at each, and asks the agent now and then how far it is."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.count = 0
        self.since = time.monotonic()
        self.leads: list[int] = []
        self.right = True
        self.done = asyncio.Event()
        self.wanted = WARM
        self._asked = 0

    def begin(self, wanted: int, rate: float) -> None:
        self.count, self.wanted, self.rate, self.since = 0, wanted, rate, time.monotonic()
        self._asked = 0
        self.done.clear()

    async def take(self, event: TerminalBytes) -> None:
        data = event.data
        self.right = self.right and data == pattern(self.count, len(data))
        before = self.count
        self.count += len(data)
        ahead = self.since + self.count / self.rate - time.monotonic()
        if ahead > 0:
            await asyncio.sleep(ahead)
        if self.count >= self.wanted:
            self.done.set()
        elif self.wanted != WARM and self.count - self._asked > self.wanted // 16 and before:
            self._asked = self.count
            self.asking = asyncio.ensure_future(self.ask(event))

    async def ask(self, event: TerminalBytes) -> None:
        """How far the sender was ahead of what was handled when it answered."""
        report = await self.conn.request("_t/report", ordered=False)
        self.leads.append(report["sent"] - self.count)

    conn: Connection


@contextlib.asynccontextmanager
async def connection(transport: str, kind: str, handlers: Handlers | None) -> AsyncIterator[Connection]:
    if transport != "tcp":
        stdio: Any = transport
        agent = program("flow_agent.py", "--loop", kind)
        async with spawn(agent, handlers, stdio=stdio, stderr=None, env=environment()) as conn:
            yield conn
        return
    agent = program("flow_agent.py", "--loop", kind, "--tcp")
    process = subprocess.Popen(agent, stderr=subprocess.PIPE, env=environment())  # noqa: ASYNC220 - nothing runs yet
    try:
        assert process.stderr is not None
        port = json.loads(process.stderr.readline())["port"]
        async with connect(port=port, handlers=handlers) as conn:
            yield conn
    finally:
        process.wait(10)


async def stream(consumer: Consumer, how: str, owed: bool, size: int) -> None:
    """One flood, to its last byte."""
    conn = consumer.conn
    method = "_t/flood" if owed else "_t/start"
    call = asyncio.ensure_future(conn.request(method, {"size": size, "chunk": 32 * 1024}))
    if how == "pull":
        async for event in conn:
            if isinstance(event, TerminalBytes):
                await consumer.take(event)
            if consumer.done.is_set():
                break
    await consumer.done.wait()
    await call


async def main(how: str, kind: str, transport: str, size: int, rate: float, owed: bool) -> None:
    consumer = Consumer(1e12)
    handlers = Handlers()
    handlers.on(TerminalBytes)(consumer.take)
    async with connection(transport, kind, handlers if how == "handlers" else None) as conn:
        consumer.conn = conn
        await stream(consumer, how, True, WARM)
        base = forget_peak()
        consumer.begin(size, rate)
        begin = time.monotonic()
        await stream(consumer, how, owed, size)
        seconds = time.monotonic() - begin
        grown = memory() - base
        report = await conn.request("_t/report")
        stats = conn.stats()
    answer = {
        "count": consumer.count,
        "right": consumer.right,
        "growth": grown,
        "seconds": seconds,
        "lead": max(consumer.leads, default=0),
        "inbox_peak": stats.inbox.peak,
        "inbox_times": stats.inbox.times,
        "sender": report,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    how, kind, transport, size, rate, owed = sys.argv[1:]
    run(main(how, kind, transport, int(size), float(rate), owed == "1"), uvloop=kind == "uvloop")
