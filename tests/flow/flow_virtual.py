"""An event loop whose time is made up, and pipes with moods: everything in between is real.

Nothing in here waits: when nothing can run now, the clock is set to the next timer. So minutes take milliseconds, and
a seed decides all that happens.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, TypeVar

import acpcore.runner
from acpcore.transports.base import Link, Outcome

T = TypeVar("T")


class Standstill(Exception):
    """Nothing can happen any more, or nothing has come of it for a long time."""


class _NoDescriptors(selectors.SelectSelector):
    def __init__(self, pass_time: Callable[[float | None], None]) -> None:
        super().__init__()
        self._pass_time = pass_time

    def select(self, timeout: float | None = None) -> list[Any]:
        self._pass_time(timeout)
        return []


TURN = 1e-6  # seconds of a turn of the loop


class VirtualLoop(asyncio.SelectorEventLoop):
    """Time passes when nothing else is left to do, and a little with each turn."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_NoDescriptors(self._pass_time))

    def time(self) -> float:
        return self.now

    def _pass_time(self, timeout: float | None) -> None:
        if timeout is None:
            raise Standstill("no timer is set")
        self.now += timeout + TURN


@contextmanager
def made_up_time() -> Iterator[VirtualLoop]:
    """A loop; dispatch measures its slices by the loop's clock too."""
    loop = VirtualLoop()
    clock = acpcore.runner.time
    acpcore.runner.time = SimpleNamespace(monotonic=loop.time)  # type: ignore[assignment]
    try:
        yield loop
    finally:
        acpcore.runner.time = clock
        loop.close()


def run_virtually(main: Callable[[], Coroutine[Any, Any, T]], most: float) -> T:
    """What ``main()`` returns; ``TimeoutError`` after ``most`` made-up seconds."""
    with made_up_time() as loop:
        asyncio.set_event_loop(loop)
        try:
            result = loop.run_until_complete(asyncio.wait_for(main(), most))
            assert not asyncio.all_tasks(loop)
            return result
        finally:
            _wind_up(loop)
            asyncio.set_event_loop(None)


def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=60))


class Mood:
    """How a pipe behaves: what it holds and takes at a time, how long a byte is under way, when it stands still."""

    def __init__(self, rng: random.Random) -> None:
        self.capacity = rng.choice([1, 64, 1000, 4096, 65536])
        self.most = rng.choice([1_000_000, 1_000_000, 4096, 700])  # bytes a read gives at once
        self.delay = rng.choice([0.0, 0.0, 0.001, 0.02])
        self.pauses = rng.choice([0.0, 0.0, 0.01, 0.05])  # how often it stands still
        self.pause = rng.choice([0.1, 1.0, 6.0])  # and for how long
        self.rng = rng
        if self.capacity < 1000:  # one byte a millisecond would take all day
            self.delay = self.pauses = 0.0

    def next_delay(self) -> float:
        return self.pause if self.rng.random() < self.pauses else self.delay


class Pipe:
    """Bytes under way in one direction. The reader is told a while after something came."""

    def __init__(self, mood: Mood) -> None:
        self.mood = mood
        self.data = bytearray()
        self.ended = False
        self.reader: End | None = None
        self.writer: End | None = None
        self.passed = 0

    @property
    def room(self) -> int:
        return self.mood.capacity - len(self.data)


class End:
    """One end: the transport of a connection."""

    def __init__(self, inwards: Pipe, outwards: Pipe) -> None:
        self._in = inwards
        self._out = outwards
        inwards.reader = self
        outwards.writer = self
        self._link: Link | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reading = False
        self._timer: asyncio.TimerHandle | None = None
        self._over = False
        self._closed = asyncio.Event()
        self.outcome = Outcome()

    def start(self, link: Link, loop: asyncio.AbstractEventLoop) -> None:
        self._link, self._loop = link, loop
        self.resume_reading()
        self.wake()

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        self._reading = True
        self.look()

    def wake(self) -> None:
        link = self._link
        while link is not None and not self._over and self._out.room > 0:
            taken = _fill(self._out, link.data_to_send())
            if not taken:
                return
            if self._out.reader is not None:
                self._out.reader.look()
            link.data_sent(taken)

    def look(self) -> None:
        """Something may be there to read, soon."""
        if self._timer is None and self._reading and self._loop is not None and not self._over:
            self._timer = self._loop.call_later(self._in.mood.next_delay(), self._read)

    def _read(self) -> None:
        self._timer = None
        link = self._link
        if link is None or not self._reading or self._over:
            return
        if self._in.data:
            self._give(link)
            self.look()
        elif self._in.ended:
            self._reading = False
            link.eof_received()

    def _give(self, link: Link) -> None:
        buffer = link.get_buffer()
        size = min(len(buffer), len(self._in.data), self._in.mood.most)
        buffer[:size] = self._in.data[:size]
        del self._in.data[:size]
        self._in.passed += size
        if self._in.writer is not None and self._loop is not None:
            self._loop.call_soon(self._in.writer.wake)
        link.buffer_updated(size)

    def close(self) -> None:
        self._finish()

    def abort(self) -> None:
        self._finish()

    def _finish(self) -> None:
        if self._over:
            return
        self._over = True
        self._out.ended = True
        self._in.mood.capacity = 0
        if self._out.reader is not None:
            self._out.reader.look()
        if self._timer is not None:
            self._timer.cancel()
        assert self._loop is not None
        self._loop.call_soon(self._report)

    def _report(self) -> None:
        if self._link is not None:
            self._link.connection_lost(None)
        self._closed.set()

    async def wait_closed(self) -> Outcome:
        await self._closed.wait()
        return self.outcome


def _fill(pipe: Pipe, buffers: Sequence[bytes | memoryview]) -> int:
    taken = 0
    for buffer in buffers:
        part = memoryview(buffer)[: pipe.room]
        pipe.data += part
        taken += len(part)
        if pipe.room <= 0:
            break
    return taken


def two_ends(rng: random.Random) -> tuple[End, End]:
    """Two ends of one stream."""
    there, back = Pipe(Mood(rng)), Pipe(Mood(rng))
    return End(back, there), End(there, back)
