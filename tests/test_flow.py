"""Gates, the outbox and limits, against models that are as plain as they can be."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from acpcore import Gate, Limits
from acpcore.flow import Budget, Outbox


class Clock:
    """Time that goes on only when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


# --- gates


class GateMachine(RuleBasedStateMachine):
    """A gate against a list of sizes and the two sentences that say when it is shut."""

    @initialize(low=st.integers(0, 50), more=st.integers(0, 50), most=st.integers(0, 100))
    def begin(self, low: int, more: int, most: int) -> None:
        self.low, self.high, self.hard = low, low + more, low + more + most
        self.clock = Clock()
        self.gate = Gate(self.high, self.low, self.hard, self.clock)
        self.sizes: list[int] = []
        self.shut = False
        self.times = self.peak = 0
        self.seconds = 0.0

    @rule(size=st.integers(0, 60))
    def add(self, size: int) -> None:
        self.sizes.append(size)
        self.gate.add(size)
        self.peak = max(self.peak, sum(self.sizes))
        if not self.shut and sum(self.sizes) >= self.high:
            self.shut = True
            self.times += 1

    @precondition(lambda self: self.sizes)
    @rule(at=st.integers(0, 1000))
    def sub(self, at: int) -> None:
        self.gate.sub(self.sizes.pop(at % len(self.sizes)))
        if sum(self.sizes) <= self.low:
            self.shut = False

    @rule(seconds=st.sampled_from([0.5, 2.0]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds
        self.seconds += seconds if self.shut else 0

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "gate"):
            return
        used = sum(self.sizes)
        stats = self.gate.stats()
        assert (stats.used, stats.peak, stats.times, stats.seconds) == (used, self.peak, self.times, self.seconds)
        assert self.gate.shut is self.shut
        assert self.gate.full is (used >= self.hard)
        for size in (0, 1, self.hard - used, self.hard - used + 1):
            assert self.gate.admits(size) is (used == 0 or used + size <= self.hard)


TestGate = GateMachine.TestCase
TestGate.settings = settings(max_examples=settings().max_examples // 2)


def test_an_empty_gate_admits_one_of_any_size() -> None:
    gate = Gate(10, 5, 20)
    assert gate.admits(10**9)
    gate.add(1)
    assert gate.admits(19) and not gate.admits(20)


def test_a_gate_in_a_budget_counts_in_both_until_it_leaves() -> None:
    budget = Budget(100)
    gates = [Gate(1000, 10, 1000, budget=budget) for _ in range(2)]
    told: list[int] = []
    budget.join(lambda: told.append(budget.used))
    gates[0].add(60)
    gates[1].add(60)
    assert budget.shut and budget.used == 120 and told == []
    gates[0].sub(60)
    assert told == []
    gates[1].sub(20)
    assert told == [40] and not budget.shut
    gates[1].leave_budget()
    gates[1].sub(40)
    assert budget.used == 0


@pytest.mark.parametrize("marks", [(10, 20, None), (10, 5, 8), (10, -1, None)])
def test_a_budget_whose_marks_do_not_rise(marks: tuple[int, Any, Any]) -> None:
    with pytest.raises(ValueError, match="rise"):
        Budget(*marks)


# --- the outbox


class OutboxMachine(RuleBasedStateMachine):
    """An outbox against the bytes that were put in, whatever part of them is taken at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate(10**6, 10**5, 10**7)
        self.outbox = Outbox(self.gate)
        self.waiting = b""
        self.reserved = 0
        self.taken = 0
        self.count = 0

    def line(self, size: int) -> bytes:
        """Lines that differ from each other in every byte but the last."""
        self.count += 1
        return bytes([self.count % 200 + 11]) * size + b"\n"

    @rule(size=st.one_of(st.integers(0, 40), st.sampled_from([1000, 32_000, 65_535, 65_536, 200_000])))
    def push(self, size: int) -> None:
        line = self.line(size)
        self.waiting += line
        self.outbox.push(line)

    @rule(count=st.integers(2, 200))
    def push_many(self, count: int) -> None:
        for _ in range(count):
            self.push(9)

    @rule(size=st.integers(1, 50))
    def reserve(self, size: int) -> None:
        self.reserved += size
        self.gate.add(size)

    @precondition(lambda self: self.reserved)
    @rule()
    def push_reserved(self) -> None:
        line = self.line(self.reserved)
        self.waiting += line
        self.outbox.push_reserved(line, self.reserved)
        self.reserved = 0

    @rule(data=st.data())
    def take(self, data: st.DataObject) -> None:
        buffers = self.outbox.buffers()
        offered = b"".join(buffers)
        assert self.waiting.startswith(offered) and bool(offered) is bool(self.waiting)
        assert len(buffers) <= 64 and all(len(buffer) for buffer in buffers)
        size = data.draw(st.one_of(st.just(len(offered)), st.integers(0, len(offered))))
        self.outbox.taken(size)
        self.waiting = self.waiting[size:]
        self.taken += size

    @rule()
    def look_twice(self) -> None:
        assert b"".join(self.outbox.buffers()) == b"".join(self.outbox.buffers())

    @precondition(lambda self: len(self.waiting) > 300_000)
    @rule()
    def clear(self) -> None:
        assert self.outbox.clear() == len(self.waiting)
        self.waiting = b""

    @invariant()
    def counts_agree(self) -> None:
        assert self.outbox.pending == len(self.waiting)
        assert bool(self.outbox) is bool(self.waiting)
        assert self.gate.used == len(self.waiting) + self.reserved
        assert self.outbox.sent == self.taken


TestOutbox = OutboxMachine.TestCase
TestOutbox.settings = settings(max_examples=settings().max_examples // 2)


def test_small_lines_leave_in_one_buffer_and_large_ones_uncopied() -> None:
    outbox = Outbox(Gate(1, 0, 1))
    lines = [b"a" * 100 + b"\n" for _ in range(50)]
    large = b"b" * 200_000 + b"\n"
    for line in (*lines, large, *lines):
        outbox.push(line)
    [first, second, *rest] = outbox.buffers()
    assert first == b"".join(lines) and second is large and b"".join(rest) == b"".join(lines)


@given(st.lists(st.integers(1, 70_000), max_size=12), st.integers(2000, 100_000))
def test_everything_leaves_in_order_however_much_is_taken_at_a_time(sizes: list[int], step: int) -> None:
    outbox = Outbox(Gate(10**9, 0, 10**9))
    lines = [bytes([n + 65]) * size for n, size in enumerate(sizes)]
    for line in lines:
        outbox.push(line)
    out = b""
    while outbox:
        piece = b"".join(outbox.buffers())[:step]
        out += piece
        outbox.taken(len(piece))
    assert out == b"".join(lines) and outbox.gate.used == 0


# --- limits


def test_the_presets() -> None:
    assert Limits() == Limits.interactive()
    interactive, bulk = Limits.interactive(), Limits.bulk()
    assert (interactive.outbox_high, interactive.outbox_low) == (64 * 1024, 16 * 1024)
    assert (interactive.inbox_high, interactive.inbox_low) == (256 * 1024, 64 * 1024)
    assert interactive.max_frame == interactive.inbox_hard == 64 * 1024 * 1024
    assert (interactive.stall_timeout, interactive.max_running, interactive.max_batch) == (5.0, 1024, 1024)
    for name in ("inbox_high", "inbox_low", "outbox_high", "outbox_low", "read_size"):
        assert getattr(bulk, name) > getattr(interactive, name)


@pytest.mark.parametrize(
    "wrong",
    [
        {"inbox_low": 300_000},
        {"inbox_high": 2**40},
        {"outbox_low": -1},
        {"outbox_high": 10},
        {"outbox_hard": 10},
        {"max_frame": 0},
        {"max_frame": 2**31},
        {"max_send_frame": 0},
        {"max_send_frame": 2**31},
        {"stall_timeout": 0},
        {"max_running": 0},
        {"max_batch": 0},
        {"read_size": 4095},
    ],
    ids=str,
)
def test_limits_that_make_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"rise|lie|positive|least"):
        Limits(**wrong)
    with pytest.raises(ValueError, match=r"rise|lie|positive|least"):
        msgspec.structs.replace(Limits(), **wrong)


@given(st.lists(st.integers(0, 2**30), min_size=3, max_size=3).map(sorted))
def test_marks_that_rise_are_taken(marks: list[int]) -> None:
    low, high, hard = marks
    limits = Limits(inbox_low=low, inbox_high=high, inbox_hard=hard, outbox_low=low, outbox_high=high, outbox_hard=hard)
    assert limits.inbox_low <= limits.inbox_high <= limits.inbox_hard


def test_limits_are_named_and_fixed() -> None:
    with pytest.raises(AttributeError):
        Limits().inbox_high = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        Limits(1)  # type: ignore[misc]
