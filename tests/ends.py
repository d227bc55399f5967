"""What the tests of connections share: both loops, two connections on one pipe, and a peer that speaks plain lines."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import inspect
import json
import os
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any

import pytest
from loops import LOOPS, new_loop, run

from acpcore import Connection, Handlers, Limits, Notification
from acpcore.transports.memory import MemoryTransport, memory_pair
from acpcore.transports.socket import SocketTransport

Main = Callable[..., Coroutine[Any, Any, None]]
KIB = 1024
LONG = 20.0  # seconds that no test needs; what takes longer hangs
#: Marks that a few messages reach.
SMALL = Limits(
    inbox_low=2 * KIB,
    inbox_high=8 * KIB,
    inbox_hard=256 * KIB,
    outbox_low=2 * KIB,
    outbox_high=8 * KIB,
    outbox_hard=64 * KIB,
    read_size=4 * KIB,
    stall_timeout=60,
)

gc.collect()
gc.freeze()  # each test looks through all garbage: not through all that was imported, too


def descriptors() -> int:
    """How many descriptors this process has open."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


@functools.cache
def warm_up(kind: str) -> None:
    """The first loop of a kind opens descriptors that stay open."""
    run(kind, turns)


def on_both_loops(main: Main) -> Callable[..., None]:
    """A coroutine function as a test on each kind of loop. No task and no descriptor is left behind."""

    def test(kind: str, **options: Any) -> None:
        warm_up(kind)
        before = descriptors()
        run(kind, functools.partial(main, **options), timeout=60.0)
        assert descriptors() == before

    test.__name__ = test.__qualname__ = main.__name__
    test.__doc__, test.__module__ = main.__doc__, main.__module__
    test.pytestmark = [*getattr(main, "pytestmark", []), pytest.mark.parametrize("kind", LOOPS).mark]  # type: ignore[attr-defined]
    kind = inspect.Parameter("kind", inspect.Parameter.KEYWORD_ONLY)
    parameters = [*inspect.signature(main).parameters.values(), kind]
    test.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return test


def run_often(kind: str, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """``loops.run`` for the many examples of a property: without the slow look through all garbage."""
    loop = new_loop(kind)
    reports: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: reports.append(context))
    try:
        loop.run_until_complete(asyncio.wait_for(main(), 60.0))
        loop.run_until_complete(asyncio.sleep(0))
        assert not asyncio.all_tasks(loop)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    assert not reports, f"reported to the loop: {reports}"


async def turns(count: int = 30) -> None:
    """Let the loop go round, as far as anything can happen without time passing."""
    for _ in range(count):
        await asyncio.sleep(0)


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that no event tells; the test's own limit ends it."""
    while not condition():  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.002)


def within(awaitable: Any, seconds: float = LONG) -> Any:
    """Fails instead of hanging."""
    return asyncio.wait_for(awaitable, seconds)


# --- messages


def encode(*messages: Any) -> bytes:
    """Each message on its line; bytes pass as they are."""
    return b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in messages)


def request(ident: Any, method: str = "_t/echo", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def update(text: str, session: str = "s1") -> dict[str, Any]:
    """A chunk of an agent's message: many of them in a row come as one group."""
    content = {"type": "text", "text": text}
    inner = {"sessionUpdate": "agent_message_chunk", "messageId": "m1", "content": content}
    return notification("session/update", sessionId=session, update=inner)


def terminal(data: str, session: str = "s1", ident: str = "t1") -> dict[str, Any]:
    """A chunk of a terminal's output, base64."""
    inner = {"sessionUpdate": "terminal_output_chunk", "terminalId": ident, "data": data}
    return notification("session/update", sessionId=session, update=inner)


def result(ident: Any, value: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "result": {} if value is None else value}


def error(ident: Any, code: int, message: str = "no", **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": message, **more}}


def cancel(ident: Any) -> dict[str, Any]:
    return notification("$/cancel_request", requestId=ident)


def text_of(event: Any) -> str:
    """The text of an update."""
    assert isinstance(event, Notification)
    text: str = event.params["update"]["content"]["text"]
    return text


# --- ends


@contextlib.asynccontextmanager
async def pair(
    client_handlers: Handlers | None = None,
    agent_handlers: Handlers | None = None,
    *,
    capacity: int = 64 * KIB,
    client: dict[str, Any] | None = None,
    agent: dict[str, Any] | None = None,
) -> AsyncIterator[tuple[Connection, Connection]]:
    """A client and an agent that are each other's peer."""
    here, there = memory_pair(capacity=capacity)
    one = Connection(here, client_handlers, role="client", **(client or {}))
    async with one, Connection(there, agent_handlers, role="agent", **(agent or {})) as other:
        yield one, other


class Peer:
    """The other end of a connection, without an acpcore of its own: sends what it is told, keeps what comes."""

    def __init__(self, transport: MemoryTransport) -> None:
        self.transport = transport
        self.data = bytearray()  # everything that came
        self.ended = False
        self.lost = False
        self._read = 0  # of it, what ``line`` has given
        self._out: deque[memoryview] = deque()
        self._buffer = memoryview(bytearray(64 * KIB))
        self._changed = asyncio.Event()

    # --- for tests

    def send(self, *messages: Any) -> None:
        self._out.append(memoryview(encode(*messages)))
        self.transport.wake()

    async def line(self) -> Any:
        """The next line, decoded."""
        while (end := self.data.find(b"\n", self._read)) < 0:
            assert not self.ended, "no line follows"
            self._changed.clear()
            await within(self._changed.wait())
        line = bytes(self.data[self._read : end])
        self._read = end + 1
        return json.loads(line)

    async def lines(self, count: int) -> list[Any]:
        return [await self.line() for _ in range(count)]

    def rest(self) -> list[Any]:
        """What came and was not asked for; only whole lines."""
        rest = bytes(self.data[self._read :])
        assert rest == b"" or rest.endswith(b"\n")
        return [json.loads(line) for line in rest.splitlines()]

    async def answer(self, value: Any = None) -> Any:
        """Read a request and answer it."""
        asked = await self.line()
        self.send(result(asked["id"], value))
        return asked

    def stop_reading(self) -> None:
        self.transport.pause_reading()

    def read_on(self) -> None:
        self.transport.resume_reading()

    def end(self) -> None:
        """End the output only: the connection sees end of input."""
        self.transport.write_eof()

    async def until_sent(self) -> None:
        while self._out:
            self._changed.clear()
            await within(self._changed.wait())

    async def until_end(self) -> None:
        """Until the connection has ended its output."""
        while not self.ended:
            self._changed.clear()
            await within(self._changed.wait())

    # --- Link

    def get_buffer(self) -> memoryview:
        return self._buffer

    def buffer_updated(self, size: int) -> None:
        self.data += self._buffer[:size]
        self._changed.set()

    def eof_received(self) -> None:
        self.ended = True
        self._changed.set()

    def data_to_send(self) -> Sequence[memoryview]:
        return list(self._out)

    def data_sent(self, size: int) -> None:
        while size:
            first = self._out.popleft()
            if len(first) > size:
                self._out.appendleft(first[size:])
            size -= min(size, len(first))
        self._changed.set()

    def connection_lost(self, error: BaseException | None) -> None:
        self.lost = self.ended = True
        self._changed.set()


@contextlib.asynccontextmanager
async def with_peer(
    handlers: Handlers | None = None, *, role: Any = "client", capacity: int = 64 * KIB, **options: Any
) -> AsyncIterator[tuple[Connection, Peer]]:
    """A connection and the peer it talks to. Leaving closes both."""
    here, there = memory_pair(capacity=capacity)
    peer = Peer(there)
    async with Connection(here, handlers, role=role, **options) as conn:
        there.start(peer, asyncio.get_running_loop())
        try:
            yield conn, peer
        finally:
            peer.read_on()
            there.close()
    await there.wait_closed()


def socket_pair(size: int | None = None) -> tuple[SocketTransport, socket.socket]:
    """A transport over one end of a socket pair, and the other end, which does not block."""
    here, there = socket.socketpair()
    for sock in (here, there):
        if size is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
    there.setblocking(False)
    return SocketTransport(here), there
