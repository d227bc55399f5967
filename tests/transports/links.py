"""What the tests of transports share: a link that only remembers, and small peers."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import random
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from acpcore.transports.base import Transport
from acpcore.transports.fd import FdTransport


class FakeLink:
    """Collects what comes, sends what it is told to, and writes down who called it."""

    def __init__(self, buffer_size: int = 65536) -> None:
        self.received = bytearray()
        self.sizes: list[int] = []
        self.calls: list[str] = []
        self.error: BaseException | None = None
        self.asked = 0
        self.transport: Transport | None = None
        self.on_data: Callable[[int], None] = lambda size: None
        self.on_sent: Callable[[int], None] = lambda size: None
        self.on_eof: Callable[[], None] = lambda: None
        self.on_lost: Callable[[], None] = lambda: None
        self.queue: deque[memoryview] = deque()
        self._buffer = memoryview(bytearray(buffer_size))
        self._changed = asyncio.Event()

    @property
    def eof(self) -> bool:
        return "eof" in self.calls

    @property
    def lost(self) -> bool:
        return "lost" in self.calls

    def start(self, transport: Transport) -> FakeLink:
        self.transport = transport
        transport.start(self, asyncio.get_running_loop())
        return self

    def send(self, *buffers: bytes) -> None:
        self.queue.extend(memoryview(buffer) for buffer in buffers)
        assert self.transport is not None
        self.transport.wake()

    async def until(self, condition: Callable[[], object]) -> None:
        """Waits as long as it takes; what runs it has a time limit."""
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def until_received(self, size: int) -> None:
        await self.until(lambda: len(self.received) >= size)

    async def until_sent(self) -> None:
        await self.until(lambda: not self.queue)

    async def until_lost(self) -> None:
        await self.until(lambda: self.lost)

    # -- Link

    def get_buffer(self) -> memoryview:
        self.asked += 1
        return self._buffer

    def buffer_updated(self, size: int) -> None:
        self._call("data")
        self.sizes.append(size)
        self.received += self._buffer[:size]
        self.on_data(size)

    def eof_received(self) -> None:
        self._call("eof")
        self.on_eof()

    def data_to_send(self) -> Sequence[bytes | memoryview]:
        return list(self.queue)

    def data_sent(self, size: int) -> None:
        self._changed.set()
        left = size
        while left:
            first = self.queue.popleft()
            if len(first) > left:
                self.queue.appendleft(first[left:])
            left -= min(left, len(first))
        self.on_sent(size)

    def connection_lost(self, error: BaseException | None) -> None:
        self._call("lost")
        self.error = error
        self.on_lost()

    def _call(self, name: str) -> None:
        assert not self.lost, f"{name} after connection_lost"
        assert name != "data" or not self.eof, "data after eof_received"
        assert name == "data" or name not in self.calls, f"{name} twice"
        if not self.calls or self.calls[-1] != name:
            self.calls.append(name)
        self._changed.set()


def noise(size: int, seed: int = 1) -> bytes:
    """Bytes that repeat nowhere."""
    return random.Random(seed).randbytes(size)


def small_pipe(size: int = 4096) -> tuple[int, int]:
    """A pipe of one page: read end, write end."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, size)
    return reader, writer


def pipes(**options: Any) -> tuple[FdTransport, int, int]:
    """A transport over two pipes, and the peer's ends: what it reads from, what it writes to."""
    peer_in, to_peer = small_pipe()
    from_peer, peer_out = small_pipe()
    return FdTransport(from_peer, to_peer, **options), peer_in, peer_out


def sockets(**options: Any) -> tuple[FdTransport, socket.socket]:
    """A transport over a socket pair with small buffers, and the peer's end."""
    here, there = socket.socketpair()
    for sock in (here, there):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    fd = here.detach()
    return FdTransport(fd, fd, **options), there


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class SlowReader(threading.Thread):
    """A peer that takes at most ``step`` bytes at a time from a blocking descriptor, and owns it."""

    def __init__(self, fd: int, step: int = 1024, pause: float = 0.0) -> None:
        super().__init__()
        self.received = bytearray()
        self._fd = fd
        self._step = step
        self._pause = pause
        self.start()

    def run(self) -> None:
        while data := os.read(self._fd, self._step):
            self.received += data
            time.sleep(self._pause)
        os.close(self._fd)


async def turns(count: int = 20) -> None:
    """Let the loop go round."""
    for _ in range(count):
        await asyncio.sleep(0)


def open_fds() -> dict[int, str]:
    """Descriptor number to what it is."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one that listed the folder
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = socket.create_connection(server.getsockname())
        there, _ = server.accept()
    return here, there


async def end(*links: FakeLink) -> None:
    for link in links:
        assert link.transport is not None
        link.transport.close()
        await link.transport.wait_closed()
