"""Any sequence of sends, receives, cancels and closes leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import Callable
from typing import Any

import pytest
from ends import (
    KIB,
    Peer,
    cancel,
    request,
    result,
    run_often,
    turns,
    update,
    with_peer,
    within,
)
from hypothesis import given
from hypothesis import strategies as st
from loops import LOOPS

from acpcore import (
    Connection,
    ConnectionClosed,
    Handlers,
    Limits,
    Overrun,
    UsageError,
)

LINE = 1 * KIB  # no line is longer here, but where a test says so


# --- everything at once


Step = tuple[str, int]
ACTIONS = [
    *("notify", "update", "call", "give_up", "ask", "withdraw", "tell", "answer", "noise", "turns", "pull"),
    *("stop", "resume", "stream", "start", "end", "close", "abort", "vanish"),
]
everything = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 300)), max_size=30)


class Chaos:
    """A connection, its peer, and a host that does what it is told, in any order."""

    def __init__(self, conn: Connection, peer: Peer, pulled: bool) -> None:
        self.conn = conn
        self.peer = peer
        self.pulled = pulled
        self.tasks: list[asyncio.Task[Any]] = []
        self.asked = 0

    def spawn(self, work: Any) -> None:
        self.tasks.append(asyncio.ensure_future(work))

    def step(self, what: str, size: int) -> None:
        actions: dict[str, Callable[[int], object]] = {
            "notify": lambda n: self.spawn(self.conn.notify("n", {"pad": "x" * n})),
            "update": lambda n: self.spawn(self.conn.notify("session/update", {"sessionId": "s1", "pad": "x" * n})),
            "call": lambda n: self.spawn(self.conn.request("q", {"sessionId": "s1", "pad": "x" * n})),
            "give_up": lambda n: self.tasks and self.tasks[n % len(self.tasks)].cancel(),
            "ask": self.ask,
            "withdraw": lambda n: self.peer.send(cancel(n % 7)),
            "tell": lambda n: self.peer.send(*(update("x" * n) for _ in range(3))),
            "answer": lambda n: self.peer.send(result(n % 7)),
            "noise": lambda n: self.peer.send(b"x" * n + b"\n"),
            "stop": lambda n: self.peer.stop_reading(),
            "resume": lambda n: self.peer.read_on(),
            "pull": lambda n: self.spawn(self.conn.receive(1 + n)),
            "stream": lambda n: self.spawn(self.conn.session("s1").receive(1 + n)),
            "start": lambda n: self.conn.start(asyncio.sleep(n)),
            "end": lambda n: self.peer.end(),
            "close": lambda n: self.spawn(self.conn.close(0.01)),
            "abort": lambda n: self.conn.abort(),
            "vanish": lambda n: self.peer.transport.abort(),
        }
        with contextlib.suppress(UsageError, ConnectionClosed):
            actions[what](size)

    def ask(self, size: int) -> None:
        self.peer.send(request(size % 7, "r", sessionId="s1"))

    async def finish(self) -> None:
        self.peer.read_on()
        await within(self.conn.close(0.01))
        if self.tasks:
            await within(asyncio.wait(self.tasks))
        for task in self.tasks:
            error = None if task.cancelled() else task.exception()
            assert error is None or isinstance(error, (ConnectionClosed, UsageError, Overrun)), error


@pytest.mark.parametrize("kind", LOOPS)
@given(steps=everything, pulled=st.booleans(), role=st.sampled_from(["client", "agent"]), capacity=st.integers(1, 400))
def test_any_sequence_of_sends_receives_cancels_and_closes_leaves_nothing(
    kind: str, steps: list[Step], pulled: bool, role: str, capacity: int
) -> None:
    handlers = Handlers()

    async def serve(asked: Any) -> None:
        await asyncio.sleep(0)
        with contextlib.suppress(ConnectionClosed):
            await asked.conn.notify("session/update", {"sessionId": "s1", "pad": "x" * 100})

    handlers.on("*")(serve)
    limits = Limits(
        inbox_low=200,
        inbox_high=600,
        inbox_hard=3000,
        outbox_low=100,
        outbox_high=300,
        outbox_hard=1500,
        stall_timeout=60,
        read_size=4096,
    )

    async def main() -> None:
        closes: list[ConnectionClosed] = []
        async with with_peer(
            None if pulled else handlers,
            role=role,
            capacity=capacity,
            limits=limits,
            grace=0.01,
            on_close=closes.append,
            on_error=lambda *_: None,
        ) as (conn, peer):
            chaos = Chaos(conn, peer, pulled)
            for what, size in steps:
                if what == "turns":
                    await turns(size % 6)
                else:
                    chaos.step(what, size)
            await chaos.finish()
            stats = conn.stats()
            assert stats.pending_calls == 0 and stats.outbox.used >= 0
            assert len(conn.sender.bulk) == len(conn.sender.control) == 0
            assert conn.tasks == set() and len(closes) == 1
            while await conn.receive() if pulled else False:
                pass
            if pulled and conn.stats().inbox.used:  # a stream that nobody refers to is told of in a later turn
                chaos.tasks.clear()
                gc.collect()
                await turns(3)
            assert not pulled or conn.stats().inbox.used == 0
            assert stats.inbox.peak < limits.inbox_hard + 4096 + LINE

    run_often(kind, main)
