"""memory_pair: bounded, deterministic, and in its ends like a socket."""

from __future__ import annotations

import asyncio

import pytest
from links import FakeLink, end, noise, turns
from loops import LOOPS, run

from acpcore.errors import UsageError
from acpcore.transports.base import Transport
from acpcore.transports.memory import MemoryTransport, memory_pair

pytestmark = pytest.mark.parametrize("kind", LOOPS)


def started(capacity: int = 65536, buffer_size: int = 65536) -> tuple[FakeLink, FakeLink, MemoryTransport]:
    """Two links, and the first one's transport."""
    one, two = memory_pair(capacity=capacity)
    return FakeLink(buffer_size).start(one), FakeLink(buffer_size).start(two), one


@pytest.mark.parametrize("capacity", [1, 1000, 65536])
def test_both_ways_at_once(kind: str, capacity: int) -> None:
    size = 2000 if capacity == 1 else 300_000
    first, second = noise(size, 1), noise(size, 2)

    async def main() -> None:
        here, there, transport = started(capacity, buffer_size=700)
        here.send(first[:10], b"", first[10:])
        there.send(second)
        await here.until_received(size)
        await there.until_received(size)
        assert here.received == second
        assert there.received == first
        transport.close()
        await there.until(lambda: there.eof)
        await end(here, there)
        assert there.calls == ["data", "eof", "lost"]
        assert here.calls == ["data", "lost"]
        assert here.error is there.error is None

    run(kind, main)


def test_what_is_not_read_waits_at_the_sender(kind: str) -> None:
    async def main() -> None:
        here, there, _ = started(capacity=1000)
        assert there.transport is not None
        there.transport.pause_reading()
        there.transport.pause_reading()
        here.send(noise(5000))
        await turns()
        assert sum(map(len, here.queue)) == 4000
        assert not there.received
        there.transport.resume_reading()
        there.transport.resume_reading()
        await there.until_received(5000)
        assert not here.queue
        await end(here, there)

    run(kind, main)


def test_the_same_steps_each_time(kind: str) -> None:
    async def main() -> list[object]:
        here, there, _ = started(capacity=300, buffer_size=128)
        steps: list[object] = []
        here.on_sent = lambda size: steps.append(("sent", size))
        there.on_data = lambda size: steps.append(("got", size))
        here.send(noise(1000), noise(500))
        await there.until_received(1500)
        await end(here, there)
        return steps

    assert run(kind, main) == run(kind, main)


def test_no_link_is_called_within_its_own_call(kind: str) -> None:
    async def main() -> None:
        here, there, transport = started()
        here.send(b"hello")
        assert not there.received
        transport.close()
        assert not here.lost
        await there.until(lambda: there.eof)
        assert there.received == b"hello"
        await end(here, there)

    run(kind, main)


def test_the_end_of_input_does_not_end_writing(kind: str) -> None:
    async def main() -> None:
        here, there, transport = started(capacity=100)
        here.send(b"question")
        transport.write_eof()
        transport.write_eof()
        await there.until(lambda: there.eof)
        there.send(noise(1000))
        await here.until_received(1000)
        assert isinstance(there.transport, MemoryTransport)
        there.transport.write_eof()
        await here.until_lost()
        await there.until_lost()
        assert here.calls == ["data", "eof", "lost"]
        assert here.error is there.error is None

    run(kind, main)


def test_a_peer_that_answers_and_closes_is_heard_out(kind: str) -> None:
    async def main() -> None:
        here, there, transport = started(buffer_size=100)
        assert there.transport is not None
        there.transport.pause_reading()
        here.send(noise(5000))
        transport.close()
        there.send(b"too late")
        await turns()
        assert there.calls == []
        there.transport.resume_reading()
        await there.until_lost()
        assert there.received == noise(5000)
        assert there.calls == ["data", "eof", "lost"]
        assert isinstance(there.error, BrokenPipeError)
        assert (await there.transport.wait_closed()).error is there.error

    run(kind, main)


def test_a_write_that_breaks_after_the_end_of_input(kind: str) -> None:
    async def main() -> None:
        _, there, transport = started()
        transport.close()
        await there.until(lambda: there.eof)
        assert not there.lost
        there.send(b"hello")
        await there.until_lost()
        assert isinstance(there.error, BrokenPipeError)

    run(kind, main)


def test_aborting_with_unread_input_resets_the_peer(kind: str) -> None:
    async def main() -> None:
        here, there, transport = started()
        transport.pause_reading()
        there.send(b"unread")
        here.send(b"last words")
        transport.abort()
        transport.abort()
        await there.until_lost()
        assert there.received == b"last words"
        assert isinstance(there.error, ConnectionResetError)
        assert (await transport.wait_closed()).error is None
        assert here.calls == ["lost"]

    run(kind, main)


@pytest.mark.parametrize("place", ["data", "sent", "eof", "lost"])
@pytest.mark.parametrize("how", ["close", "abort"])
def test_closing_within_a_callback(kind: str, place: str, how: str) -> None:
    async def main() -> None:
        here, there, transport = started(capacity=10, buffer_size=3)
        setattr(here, f"on_{place}", lambda size=0: getattr(transport, how)())
        here.send(b"x" * 100)
        there.send(b"hello")
        assert there.transport is not None
        if place in ("eof", "lost"):
            there.transport.close()
        await here.until_lost()
        await transport.wait_closed()
        there.transport.abort()
        await there.until_lost()

    run(kind, main)


def test_one_end_started_late(kind: str) -> None:
    async def main() -> None:
        one, two = memory_pair()
        here = FakeLink().start(one)
        here.send(b"hello")
        one.close()
        await turns()
        there = FakeLink().start(two)
        await there.until(lambda: there.eof)
        assert there.received == b"hello"
        two.close()
        await asyncio.gather(two.wait_closed(), two.wait_closed())
        with pytest.raises(UsageError):
            two.start(FakeLink(), asyncio.get_running_loop())

    run(kind, main)


def test_one_end_never_started(kind: str) -> None:
    async def main() -> None:
        one, two = memory_pair()
        here = FakeLink().start(one)
        two.wake()
        with pytest.raises(UsageError):
            await two.wait_closed()
        two.abort()
        await two.wait_closed()
        await here.until(lambda: here.eof)
        one.close()
        await one.wait_closed()

    run(kind, main)


def test_wrong_use(kind: str) -> None:
    with pytest.raises(UsageError):
        memory_pair(capacity=0)
    transport: Transport
    for transport in memory_pair():
        transport.close()
