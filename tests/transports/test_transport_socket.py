"""SocketTransport, open_unix, open_tcp, listen: unix and TCP, on both loops."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import resource
import socket
import stat
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from links import FakeLink, noise, turns
from loops import LOOPS, run

from acpcore.errors import UsageError
from acpcore.transports.base import Transport
from acpcore.transports.socket import SocketServer, SocketTransport, listen, open_tcp, open_unix

pytestmark = pytest.mark.parametrize("kind", LOOPS)

Opener = Callable[[SocketServer], Coroutine[Any, Any, SocketTransport]]


async def open_first(server: SocketServer) -> SocketTransport:
    address = server.addresses[0]
    return await (open_tcp(*address) if isinstance(address, tuple) else open_unix(os.fsdecode(address)))


class Accepted:
    """The server's side: a link for each connection, which answers what it hears."""

    def __init__(self, echo: bool = True) -> None:
        self.links: list[FakeLink] = []
        self._echo = echo
        self._changed = asyncio.Event()

    def __call__(self, transport: SocketTransport) -> None:
        link = FakeLink()
        if self._echo:
            link.on_data = lambda size: link.send(bytes(link.received[-size:]))
        link.on_eof = transport.close
        self.links.append(link.start(transport))
        self._changed.set()

    async def until(self, count: int) -> None:
        while len(self.links) < count:
            self._changed.clear()
            await self._changed.wait()


def where(family: str, tmp_path: Path) -> dict[str, Any]:
    return {"path": tmp_path / "socket"} if family == "unix" else {"port": 0}


@pytest.mark.parametrize("family", ["unix", "tcp"])
def test_a_conversation(kind: str, family: str, tmp_path: Path) -> None:
    data = noise(2 << 20)

    async def main() -> None:
        accepted = Accepted()
        async with await listen(accepted, **where(family, tmp_path)) as server:
            transport = await open_first(server)
            link = FakeLink().start(transport)
            link.send(data)
            await link.until_received(len(data))
            assert link.received == data
            transport.close()
            await transport.wait_closed()
            await accepted.links[0].until_lost()
            assert accepted.links[0].error is None

    run(kind, main)


@pytest.mark.parametrize("family", ["unix", "tcp"])
def test_answers_reach_a_half_closed_client(kind: str, family: str, tmp_path: Path) -> None:
    data = noise(300_000)

    async def main() -> None:
        accepted = Accepted(echo=False)
        async with await listen(accepted, **where(family, tmp_path)) as server:
            transport = await open_first(server)
            link = FakeLink().start(transport)
            await accepted.until(1)
            there = accepted.links[0]
            there.on_eof = lambda: there.send(data)
            transport.write_eof()
            await there.until(lambda: there.eof)
            await there.until_sent()
            assert isinstance(there.transport, SocketTransport)
            there.transport.close()
            await link.until_lost()
            assert link.received == data

    run(kind, main)


def test_small_messages_are_not_held_back(kind: str) -> None:
    async def main() -> None:
        accepted = Accepted()
        async with await listen(accepted, port=0) as server:
            transport = await open_first(server)
            fd = os.dup(transport._read_fd)
            link = FakeLink().start(transport)
            await accepted.until(1)
            other = accepted.links[0].transport
            assert isinstance(other, SocketTransport)
            for number in (fd, os.dup(other._read_fd)):
                with socket.socket(fileno=number) as sock:
                    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            transport.close()
            await link.until_lost()
            await accepted.links[0].until_lost()

    run(kind, main)


class FileOpener(threading.Thread):
    """Opens and closes a file over and over, and notes when one of its descriptors is not there any more."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.stop = threading.Event()
        self.faults: list[OSError] = []
        self._path = path

    def run(self) -> None:
        held: list[int] = []
        try:
            while not self.stop.is_set():
                held.append(os.open(self._path, os.O_RDONLY))
                if len(held) > 20:
                    self._close(held.pop(0))
            for fd in held:
                self._close(fd)
        except OSError as error:
            self.faults.append(error)

    def _close(self, fd: int) -> None:
        if not os.path.samestat(os.fstat(fd), os.stat(self._path)):
            raise OSError("that is another file")
        os.close(fd)


async def come_and_go(server: SocketServer, number: int) -> None:
    transport = await open_first(server)
    link = FakeLink().start(transport)
    link.send(b"hello")
    if number % 3:
        await link.until_received(5)
    if number % 2:
        transport.close()
    else:
        transport.abort()
    transport.close()
    await transport.wait_closed()


def test_many_connections_beside_a_thread_that_opens_files(kind: str, tmp_path: Path) -> None:
    """A descriptor closed twice would hit one of the thread's files. [LOG 80]"""
    (tmp_path / "file").write_bytes(b"x")

    async def main() -> None:
        accepted = Accepted()
        async with await listen(accepted, path=tmp_path / "socket") as server:
            for start in range(0, 1000, 20):
                await asyncio.gather(*(come_and_go(server, start + number) for number in range(20)))
            await accepted.until(1000)
            for link in accepted.links:
                await link.until_lost()

    opener = FileOpener(tmp_path / "file")
    opener.start()
    try:
        run(kind, main)
    finally:
        opener.stop.set()
        opener.join()
    assert opener.faults == []


# -- the server


def test_the_path_is_removed_at_the_end(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        server = await listen(Accepted(), path=tmp_path / "socket")
        assert server.addresses == [str(tmp_path / "socket")]
        assert stat.S_ISSOCK(os.stat(tmp_path / "socket").st_mode)
        server.close()
        server.close()
        assert not (tmp_path / "socket").exists()

    run(kind, main)


def test_somebody_elses_path_is_left_alone(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        server = await listen(Accepted(), path=tmp_path / "socket")
        os.rename(tmp_path / "socket", tmp_path / "moved")
        (tmp_path / "socket").write_text("mine")
        server.close()
        assert (tmp_path / "socket").read_text() == "mine"

    run(kind, main)


def test_a_dead_servers_socket_is_replaced_and_a_live_ones_is_not(kind: str, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "socket"))

    async def main() -> None:
        async with await listen(Accepted(), path=tmp_path / "socket"):
            with pytest.raises(OSError, match="in use") as caught:
                await listen(Accepted(), path=tmp_path / "socket")
            assert caught.value.errno == errno.EADDRINUSE

    run(kind, main)


def test_a_file_at_the_path_is_not_removed(kind: str, tmp_path: Path) -> None:
    (tmp_path / "socket").write_text("mine")

    async def main() -> None:
        with pytest.raises(OSError, match="in use"):
            await listen(Accepted(), path=tmp_path / "socket")

    run(kind, main)
    assert (tmp_path / "socket").read_text() == "mine"


def test_an_abstract_name(kind: str) -> None:
    async def main() -> None:
        accepted = Accepted()
        async with await listen(accepted, path=f"\0acpcore-test-{os.getpid()}") as server:
            transport = await open_first(server)
            link = FakeLink().start(transport)
            link.send(b"hello")
            await link.until_received(5)
            transport.close()
            await accepted.links[0].until_lost()
            await link.until_lost()

    run(kind, main)


def test_all_addresses_of_a_name_share_a_port(kind: str) -> None:
    async def main() -> None:
        accepted = Accepted()
        async with await listen(accepted, host="localhost", port=0) as server:
            assert len({address[1] for address in server.addresses}) == 1
            transport = await open_tcp("localhost", int(server.addresses[0][1]))
            transport.close()
            await accepted.until(1)
            link = accepted.links[0]
            await link.until_lost()

    run(kind, main)


def test_a_callback_that_fails_costs_one_connection(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        accepted = Accepted()
        failures = [ValueError("no")]

        def accept(transport: SocketTransport) -> None:
            if failures:
                raise failures.pop()
            accepted(transport)

        async with await listen(accept, port=0) as server:
            first = FakeLink().start(await open_first(server))
            await first.until(lambda: first.eof)
            second = FakeLink().start(await open_first(server))
            second.send(b"hello")
            await second.until_received(5)
            for link in (first, second):
                assert link.transport is not None
                link.transport.close()
                await link.transport.wait_closed()
            await accepted.links[0].until_lost()

    run(kind, main)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_closing_the_server_within_its_callback(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        servers: list[SocketServer] = []
        accepted: list[SocketTransport] = []

        def accept(transport: SocketTransport) -> None:
            accepted.append(transport)
            servers[0].close()

        servers.append(await listen(accept, path=tmp_path / "socket"))
        clients = [await open_first(servers[0]) for _ in range(2)]
        while not accepted:  # noqa: ASYNC110
            await asyncio.sleep(0)
        await turns()
        assert len(accepted) == 1
        for transport in (*clients, *accepted):
            transport.abort()

    run(kind, main)


def test_no_descriptors_left_means_a_pause(
    kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr("acpcore.transports.socket._ACCEPT_PAUSE", 0.1)

    async def main() -> None:
        accepted = Accepted()
        async with await listen(accepted, path=tmp_path / "socket") as server:
            client = socket.socket(socket.AF_UNIX)
            client.connect(str(tmp_path / "socket"))
            limits = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (client.fileno(), limits[1]))
            try:
                await asyncio.sleep(0.25)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            assert not accepted.links
            await accepted.until(1)
            client.close()
            await accepted.links[0].until_lost()
            server.close()

    run(kind, main)
    assert 1 <= len(caplog.records) <= 4
    assert "Too many open files" in caplog.text


def test_closing_the_server_during_a_pause(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("acpcore.transports.socket._ACCEPT_PAUSE", 0.1)

    async def main() -> None:
        accepted = Accepted()
        server = await listen(accepted, path=tmp_path / "socket")
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(tmp_path / "socket"))
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (client.fileno(), limits[1]))
        try:
            await asyncio.sleep(0.05)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        server.close()
        client.close()
        await asyncio.sleep(0.12)
        assert not accepted.links

    run(kind, main)


# -- connecting


def test_nobody_there(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(FileNotFoundError, match="socket"):
            await open_unix(tmp_path / "socket")
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        with pytest.raises(ConnectionRefusedError):
            await open_tcp("127.0.0.1", port)

    run(kind, main)


def test_connecting_to_a_full_queue_waits(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(tmp_path / "socket"))
            server.listen(0)
            first = await open_unix(tmp_path / "socket")
            second = asyncio.ensure_future(open_unix(tmp_path / "socket"))
            await asyncio.sleep(0.03)
            assert not second.done()
            server.accept()[0].close()
            (await second).abort()
            first.abort()

    run(kind, main)


def test_giving_up_a_connection_that_does_not_come(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(tmp_path / "socket"))
            server.listen(0)
            first = await open_unix(tmp_path / "socket")
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(open_unix(tmp_path / "socket"), 0.03)
            first.abort()

    run(kind, main)


def test_giving_up_a_tcp_connection_that_does_not_come(kind: str) -> None:
    async def main() -> None:
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen(0)
            address = server.getsockname()
            attempts = [asyncio.ensure_future(open_tcp(*address)) for _ in range(4)]
            done, waiting = await asyncio.wait(attempts, timeout=0.2)
            assert waiting, "the queue takes them all"
            for attempt in waiting:
                attempt.cancel()
            await asyncio.wait(waiting)
            assert all(attempt.cancelled() for attempt in waiting)
            for attempt in done:
                attempt.result().abort()

    run(kind, main)


def test_wrong_use(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(UsageError):
            await listen(Accepted())
        with pytest.raises(UsageError):
            await listen(Accepted(), path=tmp_path / "socket", port=0)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, pytest.raises(UsageError):
            SocketTransport(sock)
        here, there = socket.socketpair()
        transport: Transport = SocketTransport(here)
        transport.close()
        there.close()

    run(kind, main)
