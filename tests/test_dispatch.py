"""The scheduler starts what a plain list with the rules written out would start, in the same order, each entry once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from acpcore.dispatch import Entry, Kind, Scheduler

N, R, A = Kind.NOTIFICATION, Kind.REQUEST, Kind.ANSWER
WAITING, RUNNING, OVER = "waiting", "running", "over"
LANES = st.sampled_from(["s1", "s2", "s3", None])


class Item:
    """One entry of the model."""

    def __init__(self, kind: Kind, lane: str | None, state: str = WAITING) -> None:
        self.kind = kind
        self.lane = lane
        self.state = state
        self.waits = 0


class Model:
    """Everything that ever came, in wire order, and the rules of DESIGN section 3 as they are worded."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.resting: set[str | None] = set()

    def may_start(self, item: Item) -> bool:
        if item.state != WAITING or item.lane in self.resting:
            return False
        earlier = self.items[: self.items.index(item)]
        notifications = [one for one in earlier if one.lane == item.lane and one.kind is N and one.state != OVER]
        if item.kind is R:
            return all(one.state == RUNNING and one.waits > 0 for one in notifications)
        return not notifications

    def starts(self) -> Item | None:
        return next((item for item in self.items if self.may_start(item)), None)

    def of(self, *states: str, kind: Kind | None = None) -> list[Item]:
        return [item for item in self.items if item.state in states and kind in (None, item.kind)]


class SchedulerMachine(RuleBasedStateMachine):
    """Whatever is asked of both gives the same."""

    def __init__(self) -> None:
        super().__init__()
        self.scheduler = Scheduler()
        self.model = Model()
        self.entries: dict[Item, Entry] = {}

    @rule(kind=st.sampled_from([N, N, R, A]), lane=LANES)
    def comes(self, kind: Kind, lane: str | None) -> None:
        item = Item(kind, lane)
        self.model.items.append(item)
        self.entries[item] = self.scheduler.add(kind, lane, item)

    @rule(lane=LANES)
    def comes_when_nothing_is_in_its_way(self, lane: str | None) -> None:
        open_lanes = {item.lane for item in self.model.of(WAITING, RUNNING)} | self.model.resting
        clear = not self.model.of(WAITING) and lane not in open_lanes
        assert self.scheduler.clear_way(lane) is clear
        if clear:
            item = Item(N, lane, RUNNING)
            self.model.items.append(item)
            self.entries[item] = self.scheduler.start_now(lane, item)
            assert self.entries[item].started

    @rule(most=st.integers(1, 6))
    def starts(self, most: int) -> None:
        for _ in range(most):
            expected = self.model.starts()
            entry = self.scheduler.next()
            assert (entry and entry.item) is expected
            if expected is None:
                return
            expected.state = RUNNING if expected.kind is N else OVER
            if expected.kind is A:
                self.model.resting.add(expected.lane)

    @precondition(lambda self: self.model.of(RUNNING))
    @rule(data=st.data())
    def returns(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(self.model.of(RUNNING)))
        item.state = OVER
        self.scheduler.finished(self.entries[item])

    @precondition(lambda self: self.model.of(RUNNING))
    @rule(data=st.data())
    def waits_for_the_peer(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(self.model.of(RUNNING)))
        item.waits += 1
        self.scheduler.waits(self.entries[item])

    @precondition(lambda self: any(item.waits for item in self.model.items))
    @rule(data=st.data())
    def goes_on(self, data: st.DataObject) -> None:
        """Also one that returned while a task of its own still waits."""
        item = data.draw(st.sampled_from([item for item in self.model.items if item.waits]))
        item.waits -= 1
        self.scheduler.resumes(self.entries[item])

    @precondition(lambda self: self.model.items)
    @rule(data=st.data())
    def is_withdrawn(self, data: st.DataObject) -> None:
        item = data.draw(st.sampled_from(self.model.items))
        assert self.scheduler.remove(self.entries[item]) is (item.state == WAITING)
        if item.state == WAITING:
            item.state = OVER

    @rule(lane=LANES)
    def rests(self, lane: str | None) -> None:
        self.model.resting.add(lane)
        self.scheduler.hold(lane)

    @rule(lane=LANES)
    def rest_is_over(self, lane: str | None) -> None:
        self.model.resting.discard(lane)
        self.scheduler.release(lane)

    @precondition(lambda self: len(self.model.items) > 12)
    @rule()
    def is_cleared(self) -> None:
        waiting = self.model.of(WAITING)
        assert [entry.item for entry in self.scheduler.clear()] == waiting
        for item in waiting:
            item.state = OVER
        self.model.resting.clear()

    @invariant()
    def counts_agree(self) -> None:
        assert len(self.scheduler) == self.scheduler.waiting == len(self.model.of(WAITING))
        assert set(self.scheduler.running()) == set(self.model.of(RUNNING))

    @invariant()
    def lanes_that_are_over_are_forgotten(self) -> None:
        kept = {item.lane for item in self.model.of(WAITING, RUNNING)} | self.model.resting
        assert set(self.scheduler._lanes) == kept
        assert self.scheduler.idle is not bool(kept)

    def teardown(self) -> None:
        """Whatever stands now, everything starts in the end when all that runs returns."""
        for lane in list(self.model.resting):
            self.rest_is_over(lane)
        while self.model.of(WAITING, RUNNING):
            self.starts(len(self.model.items) + 1)
            for item in self.model.of(RUNNING):
                item.state = OVER
                self.scheduler.finished(self.entries[item])
            for lane in list(self.model.resting):
                self.rest_is_over(lane)
        assert self.scheduler.idle


TestScheduler = SchedulerMachine.TestCase
TestScheduler.settings = settings(stateful_step_count=40)


def started(scheduler: Scheduler) -> list[Any]:
    """The items of all that may start now."""
    found = []
    while (entry := scheduler.next()) is not None:
        found.append(entry.item)
    return found


def test_notifications_of_one_session_one_after_the_other_and_sessions_beside_each_other() -> None:
    scheduler = Scheduler()
    entries = {item: scheduler.add(N, item[0], item) for item in ("a1", "a2", "b1", "b2")}
    assert started(scheduler) == ["a1", "b1"]
    scheduler.finished(entries["b1"])
    assert started(scheduler) == ["b2"]
    scheduler.finished(entries["a1"])
    assert started(scheduler) == ["a2"]


def test_messages_without_a_session_share_a_lane() -> None:
    scheduler = Scheduler()
    first = scheduler.add(N, None, "first")
    scheduler.add(N, None, "second")
    scheduler.add(N, "s", "other")
    assert started(scheduler) == ["first", "other"]
    scheduler.finished(first)
    assert started(scheduler) == ["second"]


def test_a_request_waits_for_a_handler_and_does_not_hold_up_what_follows() -> None:
    scheduler = Scheduler()
    first = scheduler.add(N, "s", "notification")
    scheduler.add(R, "s", "request")
    scheduler.add(N, "s", "later")
    assert started(scheduler) == ["notification"]
    scheduler.finished(first)
    assert started(scheduler) == ["request", "later"]


@pytest.mark.parametrize("ahead", [[], [A], [A, A], [R], [A, R]])
def test_a_request_starts_behind_a_handler_that_waits_for_the_peer(ahead: list[Kind]) -> None:
    """Answers that stand behind the same handler do not hold it up: the peer may wait for the request."""
    scheduler = Scheduler()
    first = scheduler.add(N, "s", "notification")
    others = [scheduler.add(kind, "s", kind) for kind in ahead]
    scheduler.add(R, "s", "request")
    assert started(scheduler) == ["notification"]
    scheduler.waits(first)
    assert started(scheduler) == [R] * ahead.count(R) + ["request"]
    scheduler.finished(first)
    for _ in range(ahead.count(A)):
        assert started(scheduler) == [A]
        scheduler.release("s")
    assert scheduler.idle
    assert all(entry.started for entry in others)


def test_a_request_does_not_pass_a_notification_that_has_not_started() -> None:
    scheduler = Scheduler()
    first = scheduler.add(N, "s", "first")
    scheduler.add(N, "s", "second")
    scheduler.add(R, "s", "request")
    started(scheduler)
    scheduler.waits(first)
    assert started(scheduler) == []


def test_a_wait_that_is_over_lets_no_request_pass() -> None:
    scheduler = Scheduler()
    first = scheduler.add(N, "s", "first")
    started(scheduler)
    scheduler.waits(first)
    scheduler.waits(first)
    scheduler.resumes(first)
    scheduler.add(R, "s", "during the second wait")
    assert started(scheduler) == ["during the second wait"]
    scheduler.resumes(first)
    scheduler.add(R, "s", "after it")
    assert started(scheduler) == []


def test_after_an_answer_the_lane_rests_and_other_lanes_do_not() -> None:
    scheduler = Scheduler()
    scheduler.add(A, "s", "answer")
    scheduler.add(N, "s", "after it")
    scheduler.add(R, "s", "request")
    scheduler.add(N, "other", "other")
    assert started(scheduler) == ["answer", "other"]
    scheduler.release("s")
    assert started(scheduler) == ["after it"]


def test_a_withdrawn_request_never_starts_and_frees_what_stood_behind_it() -> None:
    scheduler = Scheduler()
    entry = scheduler.add(R, "s", "request")
    scheduler.add(N, "s", "notification")
    assert scheduler.remove(entry)
    assert not scheduler.remove(entry)
    assert started(scheduler) == ["notification"]


def test_blocked_by_names_the_handler_in_the_way() -> None:
    scheduler = Scheduler()
    scheduler.add(N, "s", "handler")
    answer = scheduler.add(A, "s", "answer")
    assert scheduler.blocked_by(answer) is None
    started(scheduler)
    assert scheduler.blocked_by(answer) == "handler"
