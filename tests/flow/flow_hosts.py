"""Hosts that behave in all the ways hosts do, for simulated schedules.

Every update names its source and its number in it, so that a receiver sees whether one is missing or out of place.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Coroutine
from typing import Any

from acpcore import (
    Connection,
    ConnectionClosed,
    Handlers,
    Limits,
    Notification,
    Overrun,
    RemoteError,
    Request,
    expand,
)

LINE = 3000  # bytes; no line of a simulation is longer
UPDATE = "session/update"


def random_limits(rng: random.Random) -> Limits:
    high, out = rng.choice([4_000, 20_000, 200_000]), rng.choice([2_000, 10_000, 60_000])
    return Limits(
        inbox_low=high // rng.choice([2, 4]),
        inbox_high=high,
        inbox_hard=rng.choice([high * 2, 64_000_000]),
        outbox_low=out // rng.choice([2, 4]),
        outbox_high=out,
        outbox_hard=rng.choice([out * 4, 64_000_000]),
        read_size=rng.choice([4096, 65536]),
        stall_timeout=5.0,
    )


class Plan:
    """What one host does. ``every``: it reacts to one update in so many, ``bulk``: updates it sends when asked."""

    def __init__(self, rng: random.Random, scale: float) -> None:
        self.update = rng.choice(["plain", "quick", "slow", "asks", "echoes", "stuck", "mixed"])
        self.ask = rng.choice(["now", "slow", "back", "bulk"])
        self.pulls = rng.random() < 0.3
        self.every = rng.choice([8, 16, 50])
        self.echo = 1
        self.bulk = rng.choice([0, 1, 2])  # at most a quarter of ``every``: what comes dies out
        self.stuck = rng.choice([1.0, 4.0, 7.0, 20.0])
        self.floods = [self._flood(rng, scale) for _ in range(rng.choice([0, 1, 1, 2]))]
        self.calls = rng.choice([0, 1, 5, 20])
        self.sessions = [f"s{n}" for n in range(rng.choice([1, 1, 3]))]
        self.asks = self.update in ("asks", "mixed")
        self.impatient = rng.random() < 0.2  # gives up some calls

    def _flood(self, rng: random.Random, scale: float) -> tuple[str, int, int]:
        """Kind, count and size of its messages."""
        return (
            rng.choice(["updates", "terminal"]),
            max(3, int(rng.choice([10, 100, 400]) * scale)),
            rng.choice([10, 300, 2000]),
        )


class Host:
    """One end: its connection, its handlers or its pull, its floods and calls."""

    def __init__(self, name: str, rng: random.Random, plan: Plan) -> None:
        self.name = name
        self.rng = rng
        self.plan = plan
        self.sent: Counter[str] = Counter()  # by source
        self.seen: Counter[str] = Counter()
        self.written = self.shown = 0  # bytes of terminals
        self.problems: list[str] = []
        self.overruns: list[str] = []
        self.warnings: list[str] = []
        self.finished_calls = self.pulled = 0
        self.was_stuck = False
        # Two hosts whose updates each wait for a request that stands behind the other's updates wait for ever: order
        # comes first, and no buffer changes that.
        self.asks_in_session = True
        self.may_wait = True  # in its pull: not if the peer needs that pull before it can answer
        self.conn: Connection
        self._sources = 0

    # --- the way out

    def source(self) -> str:
        self._sources += 1
        return f"{self.name}{self._sources}"

    async def tell(self, source: str, session: str, size: int) -> None:
        number = self.sent[source]
        self.sent[source] += 1
        try:
            await self.conn.notify(UPDATE, {"sessionId": session, "from": source, "n": number, "pad": "x" * size})
        except BaseException:
            self.sent[source] -= 1  # dropped whole at the door
            raise

    async def flood(self, kind: str, count: int, size: int) -> None:
        session = self.rng.choice(self.plan.sessions)
        if kind == "updates":
            source = self.source()
            for _ in range(count):
                await self.tell(source, session, size)
        else:
            async with self.conn.terminal(session, self.source(), chunk_size=1000) as terminal:
                for _ in range(count):
                    await terminal.write(b"t" * size)
                    self.written += size
        await self.conn.flush()

    async def call_often(self) -> None:
        for _ in range(self.plan.calls):
            session = self.rng.choice([*self.plan.sessions, None])
            params = {"pad": "x" * self.rng.choice([0, 200, 2000])} | ({"sessionId": session} if session else {})
            timeout = 0.5 if self.plan.impatient and self.rng.random() < 0.3 else None
            with contextlib.suppress(asyncio.TimeoutError):
                await self.request("ask", params, timeout)
            if self.rng.random() < 0.3:
                await asyncio.sleep(self.rng.choice([0.001, 0.1]))

    async def request(self, method: str, params: Any, timeout: float | None = None) -> None:
        try:
            await self.conn.request(method, params, timeout=timeout)
            self.finished_calls += 1
        except Overrun as error:
            self.overruns.append(str(error))
        except RemoteError as error:
            if error.code != -32800:
                self.problems.append(f"{self.name}: {error!r}")

    def programs(self) -> list[Coroutine[Any, Any, None]]:
        work: list[Coroutine[Any, Any, None]] = [self.flood(*flood) for flood in self.plan.floods]
        return [*work, self.call_often()] if self.plan.calls else work

    # --- the way in

    def handlers(self) -> Handlers | None:
        if self.plan.pulls:
            return None
        handlers = Handlers()
        handlers.on(UPDATE)(self.note if self.plan.update == "plain" else self.updated)
        handlers.on("ask")(self.asked)
        handlers.on("leaf")(lambda request: {})
        return handlers

    def note(self, event: Notification) -> bool:
        """Check that it is the next of its source; whether it is one to react to."""
        params = event.params
        if "update" in params:
            self.shown += len(params["update"]["data"]) // 4 * 3 - params["update"]["data"].count("=")
            return False
        source, number = params["from"], params["n"]
        if number != self.seen[source]:
            self.problems.append(f"{self.name}: {source} {number} came as {self.seen[source]}")
        self.seen[source] = number + 1
        return sum(self.seen.values()) % self.plan.every == 0

    async def updated(self, event: Notification) -> None:
        if self.note(event):
            await self.react(event.session_id or "s0")

    async def react(self, session: str) -> None:
        how = self.plan.update
        if how == "mixed":
            how = self.rng.choice(["slow", "asks", "echoes", "stuck"])
        if how == "slow":
            await asyncio.sleep(self.rng.choice([0.001, 0.03, 0.2]))
        elif how == "asks":
            asking = self.request("ask", {"sessionId": session} if self.asks_in_session else {})
            await (self.beside(asking) if self.plan.pulls and not self.may_wait else asking)
        elif how == "echoes":
            source = self.source()
            for _ in range(self.plan.echo):
                await self.tell(source, session, 100)
        elif how == "stuck" and not self.was_stuck:
            self.was_stuck = True
            await asyncio.sleep(self.plan.stuck)

    async def beside(self, asking: Coroutine[Any, Any, None]) -> None:
        self.conn.start(asking)

    async def asked(self, request: Request) -> Any:
        how = self.plan.ask
        if how == "slow":
            await asyncio.sleep(self.rng.choice([0.01, 1.0]))
        elif how == "back":
            await self.request("leaf", {"pad": "x" * 500})
        elif how == "bulk":
            source = self.source()
            for _ in range(self.plan.bulk):
                await self.tell(source, request.session_id or "s0", 300)
        return {"pad": "y" * self.rng.choice([0, 1000])}

    async def pull(self) -> None:
        """The host without handlers. It reacts while it pulls: nothing is taken meanwhile."""
        while events := await self.conn.receive(self.rng.choice([1, 10, 200])):
            self.pulled += 1
            for event in expand(events):
                if isinstance(event, Request):
                    self.conn.start(self.answer(event))
                elif isinstance(event, Notification) and event.method == UPDATE and self.note(event):
                    await self.survive(self.react(event.session_id or "s0"))

    async def survive(self, reaction: Coroutine[Any, Any, None]) -> None:
        try:
            await reaction
        except Overrun as error:
            self.overruns.append(str(error))

    async def answer(self, request: Request) -> None:
        result = {} if request.method == "leaf" else await self.asked(request)
        if not request.answered:
            with contextlib.suppress(ConnectionClosed):
                request.reply(result)

    def progress(self) -> tuple[int, ...]:
        """Changes whenever this host gets anywhere."""
        stats = self.conn.stats()
        counts = (stats.bytes_in, stats.bytes_out, self.conn.engine.finished, stats.open_requests, stats.pending_calls)
        return *counts, self.pulled, self.finished_calls, len(self.overruns), sum(self.sent.values()), self.written

    # --- what went wrong

    def report(self, error: BaseException, context: str) -> None:
        if isinstance(error, Overrun):  # a handler that let it pass, or a warning that one stands still
            (self.warnings if "has waited" in str(error) else self.overruns).append(str(error))
        elif not isinstance(error, ConnectionClosed):
            self.problems.append(f"{self.name}: {context}: {error!r}")
