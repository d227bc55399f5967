"""FdTransport over pipes, sockets, terminals, files, on both loops: moving bytes."""

from __future__ import annotations

import asyncio
import errno
import os
import pty
import tty
from itertools import pairwise
from pathlib import Path

import pytest
from links import FakeLink, SlowReader, end, noise, pipes, small_pipe, sockets, turns, write_all
from loops import LOOPS, run

from acpcore.errors import UsageError
from acpcore.transports.fd import FdTransport

pytestmark = pytest.mark.parametrize("kind", LOOPS)


# -- moving bytes


@pytest.mark.parametrize("over", ["pipes", "sockets"])
@pytest.mark.parametrize("buffer_size", [1000, 65536])
def test_large_transfers_both_ways_at_once(kind: str, over: str, buffer_size: int) -> None:
    here_data, there_data = noise(1 << 20, 1), noise(1 << 20, 2)

    async def main() -> None:
        if over == "pipes":
            transport, peer_in, peer_out = pipes()
            other = FdTransport(peer_in, peer_out)
        else:
            transport, peer = sockets()
            other = FdTransport(fd := peer.detach(), fd)
        here, there = FakeLink(buffer_size).start(transport), FakeLink(buffer_size).start(other)
        here.send(here_data)
        there.send(there_data)
        await here.until_received(len(there_data))
        await there.until_received(len(here_data))
        await end(here, there)
        assert here.received == there_data
        assert there.received == here_data

    run(kind, main)


def test_many_buffers_reach_a_slow_reader_whole_and_in_order(kind: str) -> None:
    """More buffers than one writev takes, most writes partial, some refused. [LOG 57, 62]"""
    data = noise(300_000)
    cuts = [*range(0, 3000, 1), *range(3000, len(data), 7919), len(data)]
    buffers = [data[start:stop] for start, stop in pairwise(cuts)]

    async def main() -> bytes:
        transport, peer_in, peer_out = pipes()
        link = FakeLink().start(transport)
        reader = SlowReader(peer_in, step=1000)
        link.send(*buffers, b"", b"end")
        await link.until_sent()
        await end(link)
        reader.join()
        os.close(peer_out)
        return bytes(reader.received)

    assert run(kind, main) == data + b"end"


def test_a_large_write_does_not_hold_the_loop(kind: str) -> None:
    """A timer ticks while megabytes go to a reader that takes a little now and then. [LOG 56]"""

    async def main() -> None:
        transport, peer_in, peer_out = pipes()
        link = FakeLink().start(transport)
        reader = SlowReader(peer_in, step=4096, pause=0.002)
        link.send(noise(200_000))
        ticks = 0
        while link.queue:
            await asyncio.sleep(0.005)
            ticks += 1
        await end(link)
        reader.join()
        os.close(peer_out)
        assert ticks >= 3

    run(kind, main)


def test_a_turn_of_writing_has_an_end_with_a_reader_as_fast(kind: str, tmp_path: Path) -> None:
    """A file takes everything at once: other callbacks still get their turns, and nothing is lost."""
    data = noise(5 << 20)

    async def main() -> None:
        reader, peer_out = small_pipe()
        fd = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
        link = FakeLink().start(FdTransport(reader, fd))
        pieces: list[int] = []
        link.on_sent = pieces.append
        link.send(data)
        assert link.queue, "all of it in one turn"
        await link.until_sent()
        assert len(pieces) > 3
        await end(link)
        os.close(peer_out)

    run(kind, main)
    assert (tmp_path / "out").read_bytes() == data


def test_what_is_there_is_delivered_at_once(kind: str) -> None:
    """A short line in a pipe that stays open. [LOG 17]"""

    async def main() -> None:
        transport, peer_in, peer_out = pipes()
        link = FakeLink().start(transport)
        os.write(peer_out, b"x" * 200)
        await link.until_received(200)
        assert link.sizes == [200]
        await end(link)
        os.close(peer_in)
        os.close(peer_out)

    run(kind, main)


def test_nothing_to_read_is_no_end_and_no_spinning(kind: str) -> None:
    """Two readers share a pipe: both are woken, one of them finds nothing. [LOG 21]"""

    async def main() -> None:
        reader, writer = small_pipe()
        null = os.open(os.devnull, os.O_RDWR)
        links = [FakeLink().start(FdTransport(os.dup(reader), os.dup(null))) for _ in range(2)]
        for _ in range(20):
            os.write(writer, b"x")
            await turns()
        asked = [link.asked for link in links]
        await asyncio.sleep(0.05)
        assert [link.asked for link in links] == asked
        assert sum(len(link.received) for link in links) == 20
        assert not any(link.eof for link in links)
        await end(*links)
        for fd in (reader, writer, null):
            os.close(fd)

    run(kind, main)


def test_a_link_may_send_from_its_callbacks(kind: str) -> None:
    async def main() -> None:
        transport, peer = sockets()
        link = FakeLink().start(transport)
        link.on_data = lambda size: link.send(b"echo")
        more = [b"two", b"one"]
        link.on_sent = lambda size: link.send(more.pop()) if more else None
        peer.sendall(b"hello")
        await link.until(lambda: not more and not link.queue)
        assert peer.recv(100) == b"echoonetwo"
        await end(link)
        peer.close()

    run(kind, main)


# -- pausing


def test_paused_means_that_nothing_comes(kind: str) -> None:
    async def main() -> None:
        transport, peer = sockets()
        link = FakeLink().start(transport)
        transport.pause_reading()
        transport.pause_reading()
        peer.sendall(b"hello")
        await asyncio.sleep(0.02)
        assert not link.received
        transport.resume_reading()
        transport.resume_reading()
        await link.until_received(5)
        assert link.sizes == [5]
        peer.close()
        await link.until(lambda: link.eof)
        transport.resume_reading()
        transport.pause_reading()
        await end(link)

    run(kind, main)


@pytest.mark.parametrize("source", ["pipe", "file"])
def test_pausing_in_the_middle_of_a_read(kind: str, source: str, tmp_path: Path) -> None:
    data = noise(4000)
    (tmp_path / "in").write_bytes(data)

    async def main() -> None:
        read_fd, peer_out = small_pipe()
        write_all(peer_out, data)
        os.close(peer_out)
        if source == "file":
            os.close(read_fd)
            read_fd = os.open(tmp_path / "in", os.O_RDONLY)
        transport = FdTransport(read_fd, os.open(os.devnull, os.O_WRONLY))
        link = FakeLink(100)

        def pause(size: int) -> None:
            transport.pause_reading()
            seen = len(link.received)
            loop.call_later(0.001, lambda: resume(seen))

        def resume(seen: int) -> None:
            assert len(link.received) == seen, "read while paused"
            transport.resume_reading()

        loop = asyncio.get_running_loop()
        link.on_data = pause
        link.start(transport)
        await link.until(lambda: link.eof)
        assert link.received == data
        await asyncio.sleep(0.01)
        await end(link)

    run(kind, main)


def test_pausing_and_resuming_within_a_callback_reads_on(kind: str) -> None:
    async def main() -> None:
        transport, peer = sockets()
        link = FakeLink(10)

        def pause_and_resume(size: int) -> None:
            transport.pause_reading()
            transport.resume_reading()

        link.on_data = pause_and_resume
        link.start(transport)
        peer.sendall(b"x" * 1000)
        peer.close()
        await link.until(lambda: link.eof)
        assert len(link.received) == 1000
        await end(link)

    run(kind, main)


# -- other descriptors


def test_a_file_in_and_a_file_out(kind: str, tmp_path: Path) -> None:
    data = noise(300_000)
    (tmp_path / "in").write_bytes(data)

    async def main() -> None:
        read_fd = os.open(tmp_path / "in", os.O_RDONLY)
        write_fd = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
        transport = FdTransport(read_fd, write_fd)
        link = FakeLink().start(transport)
        await link.until(lambda: link.eof)
        assert link.received == data
        link.send(data)
        await link.until_sent()
        await end(link)

    run(kind, main)
    assert (tmp_path / "out").read_bytes() == data


def test_the_null_device(kind: str) -> None:
    async def main() -> None:
        transport = FdTransport(os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY))
        link = FakeLink().start(transport)
        await link.until(lambda: link.eof)
        link.send(b"gone")
        await link.until_sent()
        await end(link)

    run(kind, main)


def test_a_full_device_breaks_the_write_side(kind: str) -> None:
    async def main() -> None:
        read_fd, peer_out = small_pipe()
        transport = FdTransport(read_fd, os.open("/dev/full", os.O_WRONLY))
        link = FakeLink().start(transport)
        link.send(b"hello")
        os.close(peer_out)
        await link.until_lost()
        assert isinstance(link.error, OSError)
        assert link.error.errno == errno.ENOSPC

    run(kind, main)


def test_a_terminal(kind: str) -> None:
    """One descriptor both ways; its other side closing is the end of input, not an error."""
    data = noise(100_000)

    async def main() -> None:
        master, slave = pty.openpty()
        tty.setraw(slave)
        here = FakeLink().start(FdTransport(slave, slave))
        there = FakeLink(1000).start(FdTransport(master, master))
        here.send(data)
        there.send(b"typed")
        await there.until_received(len(data))
        await here.until_received(5)
        assert there.received == data
        assert here.received == b"typed"
        await end(here)
        await there.until(lambda: there.eof)
        assert not there.lost
        await end(there)

    run(kind, main)


# -- what cannot be used


def test_closed_descriptors_are_refused(kind: str) -> None:
    async def main() -> None:
        reader, writer = small_pipe()
        os.close(reader)
        with pytest.raises(UsageError, match=r"input.*not open"):
            FakeLink().start(FdTransport(reader, writer))

    run(kind, main)


def test_directories_are_refused(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        fd = os.open(tmp_path, os.O_RDONLY)
        with pytest.raises(UsageError, match="directory"):
            FakeLink().start(FdTransport(fd, fd))

    run(kind, main)


def test_the_wrong_direction_is_refused(kind: str) -> None:
    async def main() -> None:
        reader, writer = small_pipe()
        with pytest.raises(UsageError, match="other direction"):
            FakeLink().start(FdTransport(writer, reader))

    run(kind, main)
