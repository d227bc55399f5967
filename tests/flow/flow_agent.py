"""An agent that floods, run as a program: over stdio, or with ``--tcp`` over a port that it prints on stderr.

    python flow_agent.py [--loop asyncio|uvloop] [--tcp] [--noise BYTES] [--unbounded]

``_t/flood`` is answered when the flood is sent, ``_t/start`` at once, ``session/cancel`` ends a flood with an idle
update that says how many bytes were sent. ``_t/echo`` answers, after ``delay`` seconds if it says so. ``_t/report``
tells of memory and gates. ``--noise``: so many bytes go to stderr before each message that is handled.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from typing import Any

from flow_scale import MIB, forget_peak, memory

from acpcore import Connection, Handlers, Limits, RemoteError, run, serve, stdio

SESSION = "s1"
_ALL = 1024 * MIB
UNBOUNDED = Limits(inbox_low=0, inbox_high=_ALL, inbox_hard=_ALL, outbox_low=0, outbox_high=_ALL, outbox_hard=_ALL)
TERMINAL = "t1"


def pattern(start: int, size: int) -> bytes:
    """``size`` bytes of the terminal's output from ``start`` on; its period is no power of two."""
    start %= 251
    return _PATTERN[start : start + size]


_PATTERN = bytes(range(251)) * 8400  # longer than one read, a period longer than anything asked for


class Flood:
    """What is sent, and how much of it there was so far (bytes of output or text)."""

    def __init__(self, conn: Connection, params: dict[str, Any]) -> None:
        self.conn = conn
        self.kind: str = params.get("kind", "terminal")
        self.size: int = params["size"]
        self.chunk: int = params.get("chunk", 32 * 1024)
        self.sent = 0
        self.stopped = False

    async def run(self) -> int:
        if self.kind == "terminal":
            async with self.conn.terminal(SESSION, TERMINAL, chunk_size=min(self.chunk, 32 * 1024)) as terminal:
                while self._goes_on():
                    await terminal.write(pattern(self.sent, self._take()))
        else:
            while self._goes_on():
                await self.conn.notify("session/update", text_update(self._take()))
        return self.sent

    def _goes_on(self) -> bool:
        return self.sent < self.size and not self.stopped

    def _take(self) -> int:
        """The size of the next piece. It counts when it is handed to the connection."""
        size = min(self.chunk, self.size - self.sent)
        self.sent += size
        return size


def text_update(size: int) -> dict[str, Any]:
    content = {"type": "text", "text": "x" * size}
    update = {"sessionUpdate": "agent_message_chunk", "messageId": "m1", "content": content}
    return {"sessionId": SESSION, "update": update}


class FloodingAgent:
    """The handlers."""

    def __init__(self, noise: int) -> None:
        self.handlers = Handlers()
        self.floods: list[Flood] = []
        self._noise = b"n" * noise
        self._base = 0
        on = self.handlers.on
        on("_t/flood")(self._flood)
        on("_t/start")(self._start)
        on("_t/echo")(self._echo)
        on("_t/report")(self._report)
        on("_t/ask")(self._ask)
        on("session/cancel")(self._cancel)
        on("session/update")(self._updated)
        self._updates = 0

    def _say(self) -> None:
        if self._noise:
            os.write(2, self._noise)

    async def _flood(self, request: Any) -> Any:
        self._say()
        self._base = forget_peak()
        return {"sent": await self._begin(request).run()}

    def _begin(self, request: Any) -> Flood:
        flood = Flood(request.conn, request.params)
        self.floods.append(flood)
        return flood

    def _start(self, request: Any) -> Any:
        request.conn.start(self._turn(request.conn, self._begin(request)))
        return {}

    async def _turn(self, conn: Connection, flood: Flood) -> None:
        await flood.run()
        idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "cancelled"}
        idle["_meta"] = {"sent": flood.sent}  # type: ignore[assignment]
        await conn.notify("session/update", {"sessionId": SESSION, "update": idle})

    def _cancel(self, notification: Any) -> None:
        for flood in self.floods:
            flood.stopped = True

    async def _echo(self, request: Any) -> Any:
        self._say()
        if request.params and "delay" in request.params:
            await asyncio.sleep(request.params["delay"])
        return request.params

    async def _ask(self, request: Any) -> Any:
        """Ask back before answering."""
        self._say()
        return await request.conn.request("_t/back", request.params)

    async def _updated(self, notification: Any) -> None:
        """An update of the client: answered by one of our own now and then, and by a question."""
        self._updates += 1
        if self._updates % 8 == 0:
            await notification.conn.notify("session/update", text_update(1000))
        if self._updates % 64 == 0:
            await notification.conn.request("_t/back", {"n": self._updates})

    def _report(self, request: Any) -> Any:
        stats = request.conn.stats()
        if not self.floods:
            raise RemoteError(-32000, "nothing was sent")
        return {
            "sent": self.floods[-1].sent,
            "growth": memory() - self._base,
            "outbox_peak": stats.outbox.peak,
            "outbox_times": stats.outbox.times,
            "outbox_seconds": stats.outbox.seconds,
            "updates": self._updates,
        }


async def main(options: argparse.Namespace) -> None:
    agent = FloodingAgent(options.noise)
    if not options.tcp:
        limits = UNBOUNDED if options.unbounded else None
        async with stdio(agent.handlers, limits=limits) as conn:
            await conn.closed
        return
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait(conn: Connection) -> None:
        await conn.closed
        over.set_result(None)

    tasks: list[asyncio.Task[None]] = []
    server = serve(agent.handlers, port=0, on_connect=lambda conn: tasks.append(asyncio.ensure_future(wait(conn))))
    async with server:
        print(json.dumps({"port": server.addresses[0][1]}), file=sys.stderr, flush=True)
        await over


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--loop", default="asyncio")
    parser.add_argument("--tcp", action="store_true")
    parser.add_argument("--unbounded", action="store_true")
    parser.add_argument("--noise", type=int, default=0)
    given = parser.parse_args()
    run(main(given), uvloop=given.loop == "uvloop")
