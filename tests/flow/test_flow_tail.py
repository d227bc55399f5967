"""A view that paints slowly, of a terminal that floods: set to tail it holds up nothing, lossless it misses nothing."""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Any

from ends import KIB, within
from flow_agent import SESSION, TERMINAL, pattern
from flow_scale import environment, program, scaled

from acpcore import Connection, Handlers, Notification, TerminalBytes, run, spawn

PAINT = 10_000_000  # bytes a second that the view paints
FLOOD = scaled(0.5, 3.0)  # seconds until the cancel
ROUNDS = scaled(3, 7)
MOST = 0.100  # seconds from the cancel to the idle update
TRIES = 3


class View:
    """Paints what it gets, waits for the idle update, and knows how many bytes the agent says it sent."""

    def __init__(self) -> None:
        self.painted = self.missed = 0
        self.last = b""
        self.sent = 0
        self.idle = asyncio.Event()
        self.since = time.perf_counter()
        self.handlers = Handlers()
        self.handlers.on("session/update")(self.update)

    def update(self, event: Notification) -> None:
        update = event.params["update"]
        if update["sessionUpdate"] == "state_update":
            self.sent = update["_meta"]["sent"]
            self.idle_at = time.perf_counter()
            self.idle.set()

    async def paint(self, data: bytes) -> None:
        self.painted += len(data)
        self.last = data or self.last
        await asyncio.sleep(len(data) / PAINT)

    async def take(self, event: TerminalBytes) -> None:
        await self.paint(event.data)

    async def follow(self, tail: Any) -> None:
        """At most so many bytes between two looks, as a screen shows no more."""
        while True:
            taken = tail.take()
            self.missed += taken.missed
            await self.paint(taken.data)
            if self.idle.is_set() and self.painted + self.missed == self.sent:
                return
            await asyncio.wait([asyncio.ensure_future(tail.changed())], timeout=0.05)


async def cancel_in_the_middle(conn: Connection, view: View) -> float:
    """Seconds from the cancel to the idle update."""
    await conn.request("_t/start", {"size": 1 << 40, "chunk": 32 * KIB})
    await asyncio.sleep(FLOOD)
    begin = time.perf_counter()
    await conn.notify("session/cancel", {"sessionId": SESSION})
    await within(view.idle.wait(), 60)
    return view.idle_at - begin


async def tailed() -> dict[str, float]:
    view = View()
    async with spawn(program("flow_agent.py", "--loop", "uvloop"), view.handlers, env=environment()) as conn:
        tail = conn.tail(SESSION, TERMINAL, ceiling=256 * KIB)
        painting = asyncio.ensure_future(view.follow(tail))
        seconds = await cancel_in_the_middle(conn, view)
        await within(painting)
        peak = conn.stats().inbox.peak
        end = tail.buffer.bytes
    assert view.painted + view.missed == view.sent, "what was missed is counted to the byte"
    assert view.last and end.endswith(view.last[-1000:])
    assert end[-1000:] == pattern(view.sent - 1000, 1000), "the view's last bytes are the terminal's last bytes"
    return {"seconds": seconds, "sent": view.sent, "painted": view.painted, "missed": view.missed, "inbox": peak}


async def lossless() -> dict[str, float]:
    view = View()
    view.handlers.on(TerminalBytes)(view.take)
    async with spawn(program("flow_agent.py", "--loop", "uvloop"), view.handlers, env=environment()) as conn:
        seconds = await cancel_in_the_middle(conn, view)
        assert view.painted == view.sent, "the idle update comes behind all bytes"
        peak = conn.stats().inbox.peak
    assert view.last[-1000:] == pattern(view.sent - len(view.last[-1000:]), 1000)
    return {"seconds": seconds, "sent": view.sent, "painted": view.painted, "missed": 0, "inbox": peak}


def rounds(one: Any) -> list[dict[str, float]]:
    return [run(one()) for _ in range(ROUNDS)]


def told(name: str, found: list[dict[str, float]]) -> float:
    median = statistics.median(one["seconds"] for one in found)
    rate = statistics.median(one["sent"] / FLOOD / 1e6 for one in found)
    print(f"{name}: idle after {median * 1e3:.1f} ms, {rate:.0f} MB/s, last round {found[-1]}")
    return median


def test_a_flood_into_a_slow_view() -> None:
    median = 0.0
    for _ in range(TRIES):
        median = told("tail", rounds(tailed))
        if median <= MOST:
            break
    told("lossless", [run(lossless())])
    assert median <= MOST
