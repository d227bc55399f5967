"""A trace of what handlers do and when, for tests of order."""

from __future__ import annotations

import asyncio
from typing import Any

from ends import (
    notification,
    request,
    within,
)

from acpcore import Connection, Handlers


class Trace:
    """Handlers that write down when they begin and end, and go on when the test lets them."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.changed = asyncio.Event()

    def note(self, text: str) -> None:
        self.log.append(text)
        self.changed.set()

    async def has(self, text: str) -> None:
        while text not in self.log:
            self.changed.clear()
            await within(self.changed.wait())

    def gate(self, name: str) -> asyncio.Event:
        return self.gates.setdefault(name, asyncio.Event())

    def handlers(self, *, sync: bool = False) -> Handlers:
        """``n`` notifications and ``r`` requests, each with a ``name``; coroutines wait at the gate of that name."""
        handlers = Handlers()

        async def slow(message: Any) -> None:
            name = message.params["name"]
            self.note(f"+{name}")
            await self.gate(name).wait()
            self.note(f"-{name}")

        def quick(message: Any) -> None:
            self.note(message.params["name"])

        handlers.on("n")(quick if sync else slow)
        handlers.on("r")(quick if sync else slow)
        return handlers

    async def call(self, conn: Connection, name: str, session: str | None = "a", **options: Any) -> Any:
        """A call that notes its answer when it goes on."""
        params = {} if session is None else {"sessionId": session}
        value = await conn.request("_t/call", params, **options)
        self.note(f"={name}")
        return value


def n(name: str, session: str | None = "a") -> dict[str, Any]:
    return notification("n", name=name, **({} if session is None else {"sessionId": session}))


def r(ident: Any, name: str, session: str | None = "a") -> dict[str, Any]:
    return request(ident, "r", name=name, **({} if session is None else {"sessionId": session}))
