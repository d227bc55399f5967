"""FdTransport, on both loops: how it ends, from either side, and what it leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import socket
import struct
import time
from functools import partial

import pytest
from links import FakeLink, SlowReader, end, noise, pipes, small_pipe, sockets, tcp_pair, turns, write_all
from loops import LOOPS, new_loop, run

from acpcore.errors import UsageError
from acpcore.transports.base import Transport
from acpcore.transports.fd import FdTransport

pytestmark = pytest.mark.parametrize("kind", LOOPS)


# -- ends


def test_the_end_of_input_does_not_end_writing(kind: str) -> None:
    """A half-closed peer still gets its answers."""
    data = noise(500_000)

    async def main() -> bytes:
        transport, peer = sockets()
        link = FakeLink().start(transport)
        peer.sendall(b"question")
        peer.shutdown(socket.SHUT_WR)
        await link.until(lambda: link.eof)
        reader = SlowReader(peer.detach(), step=65536)
        link.send(data)
        await link.until_sent()
        await asyncio.sleep(0.01)
        assert link.calls == ["data", "eof"]
        await end(link)
        reader.join()
        assert link.calls == ["data", "eof", "lost"]
        assert link.error is None
        return bytes(reader.received)

    assert run(kind, main) == data


@pytest.mark.parametrize("over", ["pipes", "sockets"])
def test_ending_only_the_write_side(kind: str, over: str) -> None:
    async def main() -> None:
        if over == "pipes":
            transport, peer_in, peer_out = pipes()
        else:
            transport, peer = sockets()
            peer_in = peer.detach()
            peer_out = os.dup(peer_in)
        link = FakeLink().start(transport)
        link.send(b"last")
        transport.write_eof()
        transport.write_eof()
        assert os.read(peer_in, 100) == b"last"
        assert os.read(peer_in, 100) == b""
        os.write(peer_out, b"answer")
        await link.until_received(6)
        assert not link.lost
        os.close(peer_in)
        os.close(peer_out)
        await link.until_lost()
        assert link.calls == ["data", "eof", "lost"]
        assert (await transport.wait_closed()).error is None

    run(kind, main)


def test_ending_the_write_side_after_the_end_of_input(kind: str) -> None:
    async def main() -> None:
        transport, peer = sockets()
        link = FakeLink().start(transport)
        peer.shutdown(socket.SHUT_WR)
        await link.until(lambda: link.eof)
        transport.write_eof()
        assert peer.recv(1) == b""
        await link.until_lost()
        peer.close()

    run(kind, main)


def test_a_peer_that_answers_and_exits_is_heard_out(kind: str) -> None:
    """The write side breaks while there is input, and reading is paused: all of it comes first. [LOG 72, 76]"""
    answer = noise(4096)

    async def main() -> None:
        transport, peer_in, peer_out = pipes()
        link = FakeLink(100).start(transport)
        transport.pause_reading()
        os.write(peer_out, answer)
        os.close(peer_in)
        os.close(peer_out)
        link.send(b"too late")
        await asyncio.sleep(0.02)
        assert link.calls == []
        transport.resume_reading()
        await link.until_lost()
        assert link.received == answer
        assert link.calls == ["data", "eof", "lost"]
        assert isinstance(link.error, BrokenPipeError)
        link.transport = None
        transport.wake()
        assert (await transport.wait_closed()).error is link.error

    run(kind, main)


@pytest.mark.parametrize("family", ["unix", "tcp"])
@pytest.mark.parametrize("writing", ["before", "blocked", "after", "never"])
def test_a_reset_connection_is_heard_out(kind: str, family: str, writing: str) -> None:
    """The peer closes with our output unread, which is an error on the socket, not just its end.

    uvloop reports such a socket once and never again, however much there is to read.
    """
    answer = noise(20_000)

    async def main() -> None:
        here, peer = socket.socketpair() if family == "unix" else tcp_pair()
        fd = here.detach()
        transport = FdTransport(fd, fd)
        link = FakeLink(100).start(transport)
        peer.sendall(answer)
        transport.pause_reading()
        link.send(b"unread" if writing != "blocked" else noise(8 << 20))
        await turns()
        peer.close()
        if writing == "before":
            link.send(b"more")
        await asyncio.sleep(0.02)
        transport.resume_reading()
        if writing == "after":
            link.on_data = lambda size: link.send(b"more") if len(link.received) == 200 else None
        await link.until(lambda: link.eof)
        if writing == "never" and not link.lost:
            transport.close()
        await link.until_lost()
        assert link.received == answer

    run(kind, main)


def test_a_reset_while_waiting(kind: str) -> None:
    async def main() -> None:
        here, peer = tcp_pair()
        fd = here.detach()
        link = FakeLink().start(FdTransport(fd, fd))
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        await link.until_lost()
        assert link.calls == ["eof", "lost"]
        assert isinstance(link.error, ConnectionResetError)

    run(kind, main)


def test_a_write_that_breaks_after_the_end_of_input(kind: str) -> None:
    async def main() -> None:
        transport, peer_in, peer_out = pipes()
        link = FakeLink().start(transport)
        os.close(peer_out)
        await link.until(lambda: link.eof)
        os.close(peer_in)
        link.send(b"hello")
        assert not link.lost, "in the middle of a call"
        await link.until_lost()
        assert isinstance(link.error, BrokenPipeError)

    run(kind, main)


def test_a_blocked_write_that_breaks(kind: str) -> None:
    async def main() -> None:
        transport, peer_in, peer_out = pipes()
        link = FakeLink().start(transport)
        link.send(noise(1 << 20))
        await turns()
        assert link.queue
        os.close(peer_in)
        os.close(peer_out)
        await link.until_lost()
        assert isinstance(link.error, BrokenPipeError)

    run(kind, main)


def test_a_peer_that_only_stopped_reading_has_a_last_word(kind: str) -> None:
    """Its write side stays open: it is drained until it was silent for a while."""

    async def main() -> None:
        transport, peer_in, peer_out = pipes(drain_timeout=0.2)
        link = FakeLink().start(transport)
        os.close(peer_in)
        link.send(b"hello")
        for word in (b"one", b"two", b"three"):
            await asyncio.sleep(0.02)
            os.write(peer_out, word)
            await link.until(partial(link.received.endswith, word))
        await link.until_lost()
        os.close(peer_out)
        assert link.received == b"onetwothree"
        assert link.calls == ["data", "eof", "lost"]

    run(kind, main)


def test_draining_has_no_clock_for_a_loop_that_stood_still(kind: str) -> None:
    """When its time is over, the input may have come to life without anyone having looked."""

    async def main() -> None:
        transport, peer_in, peer_out = pipes(drain_timeout=0.05)
        link = FakeLink(1000).start(transport)
        os.close(peer_in)
        link.send(b"hello")
        await turns()
        asyncio.get_running_loop().call_later(0.01, write_all, peer_out, noise(4000))
        time.sleep(0.1)  # noqa: ASYNC251 - both timers are due at once, and the pipe is empty until the first has run
        await link.until_lost()
        os.close(peer_out)
        assert link.received == noise(4000)

    run(kind, main)


def test_draining_ends_though_somebody_keeps_chatting(kind: str) -> None:
    async def main() -> None:
        transport, peer_in, peer_out = pipes(drain_timeout=0.2)
        link = FakeLink().start(transport)
        os.close(peer_in)
        link.send(b"hello")
        while not link.lost:
            with contextlib.suppress(BrokenPipeError):
                os.write(peer_out, b"x")
            await asyncio.sleep(0.01)
        assert len(link.received) > 1
        os.close(peer_out)

    run(kind, main)


def test_draining_waits_for_a_reader_who_paused(kind: str) -> None:
    async def main() -> None:
        transport, peer_in, peer_out = pipes(drain_timeout=0.02)
        link = FakeLink(1000).start(transport)
        os.close(peer_in)
        link.send(b"hello")
        await turns()
        transport.pause_reading()
        os.write(peer_out, noise(4000))
        await asyncio.sleep(0.1)
        assert link.calls == []
        transport.resume_reading()
        await link.until_lost()
        os.close(peer_out)
        assert link.received == noise(4000)

    run(kind, main)


# -- closing


@pytest.mark.parametrize("how", ["close", "abort", "close paused", "abort blocked"])
def test_closing_here(kind: str, how: str) -> None:
    async def main() -> None:
        transport, peer = sockets()
        link = FakeLink().start(transport)
        if "paused" in how:
            transport.pause_reading()
        if "blocked" in how:
            link.send(noise(1 << 20))
            await turns()
        act = transport.close if "close" in how else transport.abort
        act()
        act()
        assert not link.lost, "in the middle of a call"
        outcomes = await asyncio.gather(transport.wait_closed(), transport.wait_closed())
        act()
        transport.close()
        transport.wake()
        transport.resume_reading()
        transport.pause_reading()
        transport.write_eof()
        await turns()
        assert link.calls == ["lost"]
        assert link.error is None
        assert [outcome.error for outcome in outcomes] == [None, None]
        peer.close()

    run(kind, main)


@pytest.mark.parametrize("place", ["data", "sent", "eof", "lost"])
@pytest.mark.parametrize("how", ["close", "abort"])
def test_closing_within_a_callback(kind: str, place: str, how: str) -> None:
    async def main() -> None:
        transport, peer = sockets()
        link = FakeLink(3)

        def act(size: int = 0) -> None:
            getattr(transport, how)()

        setattr(link, f"on_{place}", act)
        link.start(transport)
        peer.sendall(b"hello")
        link.send(noise(100_000))
        if place in ("eof", "lost"):
            peer.close()
        await link.until_lost()
        await transport.wait_closed()
        assert place != "data" or link.received == b"hel"
        peer.close()

    run(kind, main)


def test_lingering_lets_the_peer_read_everything(kind: str) -> None:
    """Unread input at a closed TCP socket destroys what is still on its way to the peer."""
    data = noise(300_000)

    async def main() -> bytes:
        here, peer = tcp_pair()
        fd = here.detach()
        transport = FdTransport(fd, fd, linger=30)
        link = FakeLink().start(transport)
        transport.pause_reading()
        peer.sendall(b"unread" * 1000)
        link.send(data)
        await asyncio.sleep(0)
        reader = SlowReader(peer.detach(), step=20_000, pause=0.001)
        await link.until_sent()
        transport.close()
        await transport.wait_closed()
        reader.join()
        assert link.calls == ["lost"]
        return bytes(reader.received)

    assert run(kind, main) == data


@pytest.mark.parametrize("impatience", ["timer", "abort"])
def test_lingering_ends(kind: str, impatience: str) -> None:
    async def main() -> None:
        transport, peer = sockets(linger=0.05 if impatience == "timer" else 1000)
        link = FakeLink().start(transport)
        transport.close()
        peer.sendall(b"ignored")
        await turns()
        if impatience == "abort":
            transport.abort()
        await transport.wait_closed()
        assert link.calls == ["lost"]
        assert not link.received
        peer.close()

    run(kind, main)


def test_a_cancelled_wait_changes_nothing(kind: str) -> None:
    async def main() -> None:
        transport, peer = sockets(linger=1000)
        link = FakeLink().start(transport)
        transport.close()
        waiter = asyncio.ensure_future(transport.wait_closed())
        await turns()
        waiter.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiter
        peer.close()
        await transport.wait_closed()
        assert link.lost

    run(kind, main)


def test_before_the_start(kind: str) -> None:
    async def main() -> None:
        transport, peer = sockets()
        transport.pause_reading()
        transport.resume_reading()
        transport.wake()
        with pytest.raises(UsageError):
            await transport.wait_closed()
        transport.close()
        await transport.wait_closed()
        assert peer.recv(1) == b""
        with pytest.raises(UsageError):
            FakeLink().start(transport)
        peer.close()

    run(kind, main)


def test_a_second_start_is_refused(kind: str) -> None:
    async def main() -> None:
        transport, peer = sockets()
        link = FakeLink().start(transport)
        with pytest.raises(UsageError, match="once"):
            FakeLink().start(transport)
        await end(link)
        peer.close()

    run(kind, main)


# -- whose descriptors they are


def test_borrowed_descriptors_stay_as_they_were(kind: str) -> None:
    async def main() -> None:
        reader, peer_out = small_pipe()
        peer_in, writer = small_pipe()
        os.set_blocking(writer, False)
        transport = FdTransport(reader, writer, owned=False)
        link = FakeLink().start(transport)
        assert not os.get_blocking(reader)
        await end(link)
        assert os.get_blocking(reader)
        assert not os.get_blocking(writer)
        for fd in (reader, writer, peer_in, peer_out):
            os.close(fd)

    run(kind, main)


def test_a_borrowed_socket_is_not_shut_down(kind: str) -> None:
    async def main() -> None:
        here, there = socket.socketpair()
        transport = FdTransport(here.fileno(), here.fileno(), owned=False)
        link = FakeLink().start(transport)
        await end(link)
        here.sendall(b"still there")
        assert there.recv(100) == b"still there"
        here.close()
        there.close()

    run(kind, main)


def test_shared_open_files_get_their_blocking_flag_back(kind: str) -> None:
    """The descriptor was ours alone, the open file behind it was not."""

    async def main() -> None:
        here, there = socket.socketpair()
        fd = os.dup(here.fileno())
        link = FakeLink().start(FdTransport(fd, fd))
        assert not os.get_blocking(here.fileno())
        await end(link)
        assert os.get_blocking(here.fileno())
        here.close()
        there.close()

    run(kind, main)


def test_dropped_after_its_loop_was_closed(kind: str) -> None:
    loop = new_loop(kind)
    transport, peer_in, peer_out = pipes()
    link = FakeLink()
    transport.start(link, loop)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    del transport, link
    with pytest.warns(ResourceWarning, match="unclosed transport"):
        gc.collect()
    assert os.read(peer_in, 1) == b""
    os.close(peer_in)
    os.close(peer_out)


def test_a_forked_copy_leaves_the_original_alone(kind: str) -> None:
    """They share open files, and with them the blocking flags."""

    async def main() -> None:
        transport, peer = sockets()
        link = FakeLink().start(transport)
        pid = os.fork()
        if pid == 0:
            transport.__del__()
            os._exit(0)
        os.waitpid(pid, 0)  # noqa: ASYNC222
        assert not os.get_blocking(transport._read_fd)
        await end(link)
        peer.close()

    run(kind, main)


def test_released_after_its_loop_was_closed(kind: str) -> None:
    loop = new_loop(kind)
    transport, peer_in, peer_out = pipes()
    transport.start(FakeLink(), loop)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    transport.abort()
    assert os.read(peer_in, 1) == b""
    os.close(peer_in)
    os.close(peer_out)


def test_a_closed_loop_leaves_nothing_open(kind: str) -> None:
    loop = new_loop(kind)
    loop.close()
    transport, peer_in, peer_out = pipes()
    with pytest.raises(RuntimeError):
        transport.start(FakeLink(), loop)
    os.close(peer_in)
    os.close(peer_out)


def test_it_is_a_transport(kind: str) -> None:
    transport: Transport = FdTransport(*small_pipe())
    transport.close()
