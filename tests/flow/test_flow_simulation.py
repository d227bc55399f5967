"""Seeded schedules of two whole connections: only pipes, hosts and the clock are made up.

``ACPCORE_SEED=n`` runs one schedule.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random

import pytest
from flow_hosts import LINE, Host, Plan, random_limits
from flow_scale import scaled
from flow_virtual import Standstill, run_virtually, two_ends

from acpcore import Connection, ConnectionClosed, Limits

SCHEDULES = scaled(200, 1000)
GROUPS = 20
LONG = 1e6  # made-up seconds in which all is over
STILL = 60.0  # made-up seconds without any progress: more than the longest stand of a host and all timeouts together


def seeds(group: int) -> list[int]:
    one = os.environ.get("ACPCORE_SEED")
    return [int(one)] if one else list(range(group, SCHEDULES, GROUPS))


class Schedule:
    """Two hosts on two pipes."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.ends = two_ends(rng)
        capacity = min(end._in.mood.capacity for end in self.ends)
        scale = 0.02 if capacity == 1 else 0.1 if capacity < 1000 else 1.0
        self.hosts = [Host(name, random.Random(rng.random()), Plan(rng, scale)) for name in ("c", "a")]
        self.limits = [random_limits(rng) for _ in self.hosts]
        for host, other in (self.hosts, self.hosts[::-1]):
            host.asks_in_session = not (host.plan.asks and other.plan.asks)
            host.may_wait = other.plan.ask != "back" and not other.plan.asks
        self.closed: list[ConnectionClosed] = []

    @property
    def conns(self) -> list[Connection]:
        return [host.conn for host in self.hosts]

    async def run(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            for host, end, limits, role in zip(self.hosts, self.ends, self.limits, ("client", "agent"), strict=True):
                host.conn = Connection(
                    end,
                    host.handlers(),
                    role=role,
                    limits=limits,
                    on_error=host.report,
                    on_close=self.closed.append,  # type: ignore[arg-type]
                )
                await stack.enter_async_context(host.conn)
            pulls = [asyncio.ensure_future(host.pull()) for host in self.hosts if host.plan.pulls]
            work = [asyncio.ensure_future(one) for host in self.hosts for one in host.programs()]
            try:
                await self.watch(work)
                self.check()
            finally:
                for task in [*pulls, *work]:
                    task.cancel()
                await asyncio.gather(*pulls, *work, return_exceptions=True)

    async def watch(self, work: list[asyncio.Future[None]]) -> None:
        """Until all is over; fails when nothing moves."""
        loop = asyncio.get_running_loop()
        last, since = None, loop.time()
        while not self.over(work):
            await asyncio.sleep(0.5)
            now = [host.progress() for host in self.hosts]
            if now != last:
                last, since = now, loop.time()
            if loop.time() - since > STILL:
                raise Standstill(now)
        for task in work:
            with contextlib.suppress(ConnectionClosed, asyncio.InvalidStateError):
                task.result()

    def over(self, work: list[asyncio.Future[None]]) -> bool:
        """Nothing is under way, or the end was called by its name."""
        if not all(task.done() for task in work):
            return False
        if any(conn.is_closed for conn in self.conns):
            return True
        stats = [conn.stats() for conn in self.conns]
        quiet = all(one.outbox.used == one.open_requests == one.pending_calls == 0 for one in stats)
        return quiet and not any(end._in.data for end in self.ends) and all(map(self.settled, self.hosts))

    def settled(self, host: Host) -> bool:
        """Whoever pulls has finished with what it holds when it pulls again."""
        if host.plan.pulls:
            return len(host.conn.incoming.events) == host.conn.stats().inbox.used == 0
        return not host.conn.host_works

    def check(self) -> None:
        for host, limits in zip(self.hosts, self.limits, strict=True):
            assert not host.problems, host.problems
            stats = host.conn.stats()
            self.check_caps(host, limits)
            assert not host.overruns or stats.inbox.peak >= limits.inbox_hard, host.overruns
        if not any(conn.is_closed for conn in self.conns):
            self.check_complete()
        else:
            self.check_close()

    def check_caps(self, host: Host, limits: Limits) -> None:
        stats = host.conn.stats()
        assert stats.inbox.peak < limits.inbox_hard + limits.read_size + LINE
        withdrawn = 100 * (host.plan.calls + len(host.overruns))  # ``$/cancel_request`` asks no gate
        assert stats.outbox.peak <= max(limits.outbox_hard, limits.outbox_high + LINE) + 2 * LINE + withdrawn
        if host.name == "c" and not host.plan.calls and host.plan.update in ("plain", "quick", "slow", "stuck"):
            assert stats.inbox.peak < limits.inbox_high + limits.read_size + LINE, "nothing was owed to this client"

    def check_complete(self) -> None:
        """What one said the other has seen, all of it and in order."""
        for one, other in (self.hosts, self.hosts[::-1]):
            assert +one.sent == +other.seen
            assert one.written == other.shown

    def check_close(self) -> None:
        """Only a full outbox whose peer did not read may end a connection."""
        reasons = [conn._ending.why.reason for conn in self.conns if conn._ending is not None]
        assert any("has not read for" in reason for reason in reasons), reasons
        assert any(
            host.conn.stats().outbox.peak >= limits.outbox_hard - LINE
            for host, limits in zip(self.hosts, self.limits, strict=True)
        )


@pytest.mark.parametrize("group", range(GROUPS))
def test_no_schedule_stands_still_or_passes_a_cap(group: int) -> None:
    for seed in seeds(group):
        try:
            run_virtually(Schedule(seed).run, LONG)
        except BaseException as error:
            raise AssertionError(f"schedule {seed} (ACPCORE_SEED={seed})") from error


# --- hosts that cannot go on for ever


class Explosion(Schedule):
    """Each update makes its receiver send two or three, on both sides: no buffer is large enough."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        for end in self.ends:
            end._in.mood.capacity = max(1000, end._in.mood.capacity)
        for host in self.hosts:
            plan = host.plan
            plan.update, plan.every, plan.echo, plan.ask = "echoes", 1, self.rng.choice([2, 3]), "now"
            plan.pulls = plan.pulls and host is self.hosts[0]  # a pull that waits in itself is the host's own
            plan.floods = [("updates", 5, 200)]
            plan.calls = self.rng.choice([0, 0, 2])
        self.limits = [small_limits(self.rng) for _ in self.hosts]

    def over(self, work: list[asyncio.Future[None]]) -> bool:
        """It was told by its name."""
        return any(host.overruns for host in self.hosts) or any(conn.is_closed for conn in self.conns)

    def check(self) -> None:
        for host, limits in zip(self.hosts, self.limits, strict=True):
            assert not host.problems, host.problems
            self.check_caps(host, limits)


def small_limits(rng: random.Random) -> Limits:
    high = rng.choice([4_000, 20_000])
    return Limits(
        inbox_low=high // 2,
        inbox_high=high,
        inbox_hard=high * rng.choice([2, 10]),
        outbox_low=1000,
        outbox_high=4000,
        outbox_hard=rng.choice([8000, 1_000_000]),
        read_size=4096,
    )


@pytest.mark.parametrize("group", range(5))
def test_hosts_that_send_more_than_they_receive_are_told_so(group: int) -> None:
    for seed in range(group, scaled(50, 200), 5):
        try:
            run_virtually(Explosion(seed).run, LONG)
        except BaseException as error:
            raise AssertionError(f"explosion {seed}") from error
