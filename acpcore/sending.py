"""Messages on their way from a connection's users to its transport: doors, wake-ups, flushes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from . import message as m
from .doors import WITHDRAWN, Admit, Door
from .engine import Engine
from .errors import ConnectionClosed
from .message import Request
from .pending import Pending
from .transports.base import Transport


class Place:
    """How a message of another thread goes. ``behind``: the door at which that thread's last one still waits;
    ``guard`` may withdraw it at the moment of its admission.
    """

    __slots__ = ("behind", "guard")

    def __init__(self, behind: Door | None) -> None:
        self.behind = behind
        self.guard: Callable[[Admit], Admit] | None = None


class Sender:
    """The way out of one connection.

    What is admitted is written at the end of the loop turn, so that small messages leave together. What the outbox
    does not take waits at a door: ``bulk`` for updates, ``control`` for everything else at the hard cap. ``entered()``
    is called when something has to wait.
    """

    def __init__(self, engine: Engine, loop: asyncio.AbstractEventLoop, entered: Callable[[], None]) -> None:
        self._engine = engine
        self._loop = loop
        self._transport: Transport | None = None
        self._scheduled = False
        self._flushes: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._calls_at_doors: set[Pending] = set()
        self.bulk = Door(loop, entered)
        self.control = Door(loop, entered)
        self.lost: BaseException | None = None
        self.is_lost = False
        self.unsent = 0  # bytes that were admitted and never went

    def bind(self, transport: Transport) -> None:
        """Where the bytes go."""
        self._transport = transport

    def door(self, bulk: bool, place: Place | None = None) -> Door:
        """The door of a message."""
        if place is not None and place.behind is not None:
            return place.behind
        return self.bulk if bulk else self.control

    def _send(self, admit: Admit, door: Door, place: Place | None) -> asyncio.Future[Any] | None:
        """Admit something now, or let it stand at a door: then the future tells when it was admitted."""
        if place is not None and place.guard is not None:
            admit = place.guard(admit)
        result = None if len(door) else admit()
        if result is WITHDRAWN:
            future: asyncio.Future[Any] = self._loop.create_future()
            future.cancel()
            return future
        return None if result else door.enter(admit)

    # --- calls

    def send_call(self, pending: Pending, method: str, params: Any, bulk: bool, place: Place | None = None) -> None:
        """Send a call, or let it stand at its door."""
        door = self.door(bulk, place)
        bulk = door is self.bulk
        if not len(door) and self._admit_call(pending, method, params, bulk):
            return
        # Written now: an error belongs to the caller, and what it changes later changes nothing.
        body = None if params is None else m.encode_params(method, params)
        self._engine.outward.check_size(m.request_line(b"0", method, body))
        pending.entered = door.enter(lambda: pending.future.done() or self._admit_call(pending, method, body, bulk))
        self._calls_at_doors.add(pending)
        pending.entered.add_done_callback(lambda entered: self._left_door(pending, entered))

    def _left_door(self, pending: Pending, entered: asyncio.Future[Any]) -> None:
        self._calls_at_doors.discard(pending)
        error = None if entered.cancelled() else entered.exception()
        if isinstance(error, Exception):
            pending.fail(error)

    def _admit_call(self, pending: Pending, method: str, params: Any, bulk: bool) -> bool:
        call = self._engine.call(method, params, bulk=bulk)
        if call is None:
            return False
        pending.call = call
        call.tag = pending
        self.wake()
        return True

    def give_up(self, pending: Pending, tell: bool) -> None:
        """Nobody waits for this call any more: an answered one leaves nothing, another is cancelled."""
        if pending.timer is not None:
            pending.timer.cancel()
        pending.future.cancel()
        if pending.entered is not None:
            pending.entered.cancel()
        call = pending.call
        if call is not None and self._engine.cancel(call, notify=tell and not self.is_lost):
            self.wake()

    # --- lines and answers

    def send_line(
        self, line: bytes, bulk: bool, session_id: str | None, place: Place | None = None
    ) -> asyncio.Future[Any] | None:
        """Send a line, or let it stand at its door: then the future tells when it was admitted; cancelling it drops
        it.
        """
        self._engine.outward.check_size(line)
        door = self.door(bulk, place)
        bulk = door is self.bulk
        return self._send(lambda: self._admit_line(line, bulk, session_id), door, place)

    def try_line(self, line: bytes, bulk: bool, session_id: str | None) -> bool:
        """Send a line if it need not wait."""
        return not len(self.door(bulk)) and self._admit_line(line, bulk, session_id)

    def _admit_line(self, line: bytes, bulk: bool, session_id: str | None) -> bool:
        if not self._engine.send_line(line, bulk=bulk, session_id=session_id):
            return False
        self.wake()
        return True

    def send_answer(self, request: Request, line: bytes, place: Place | None = None) -> asyncio.Future[Any] | None:
        """Answer now, or at the door. Either way the request is answered: nobody else may do it, unless the future is
        cancelled at the door.
        """
        if self.is_lost:
            request.answered = True
            return None
        self._engine.check_answer(request, line)
        request.answered = True
        future = self._send(lambda: self._admit_answer(request, line), self.door(False, place), place)
        if future is not None:
            future.add_done_callback(lambda done: _take_back(request, done))
        return future

    def _admit_answer(self, request: Request, line: bytes) -> bool:
        if not self._engine.answer_line(request, line, claimed=True):
            return False
        self.wake()
        return True

    # --- to the transport

    def wake(self) -> None:
        """Write at the end of this loop turn."""
        if not self._scheduled and self._transport is not None:
            self._scheduled = True
            self._loop.call_soon(self._write)

    def _write(self) -> None:
        self._scheduled = False
        if self._transport is not None and not self.is_lost and self._engine.want_write:
            self._transport.wake()

    def sent(self, size: int) -> None:
        """The transport took bytes: whoever waits for room goes on."""
        engine = self._engine
        engine.data_sent(size)
        if len(self.control):
            self.control.open()
        if len(self.bulk) and not (engine.outbox.gate.shut and engine.outbox):
            self.bulk.open()
        while self._flushes and engine.outbox.sent >= self._flushes[0][0]:
            _, future = self._flushes.popleft()
            if not future.done():
                future.set_result(None)

    def flushed(self) -> asyncio.Future[None]:
        """Done when the transport has taken everything that is admitted now."""
        future: asyncio.Future[None] = self._loop.create_future()
        outbox = self._engine.outbox
        if outbox:
            self._flushes.append((outbox.sent + outbox.pending, future))
            self.wake()
        else:
            future.set_result(None)
        return future

    # --- the end

    def lose(self, error: BaseException | None) -> None:
        """Nothing can be written any more."""
        self.is_lost = True
        self.lost = error
        self.drop_rest()

    def drop_rest(self) -> None:
        """What was admitted and has not gone never will."""
        self.unsent += self._engine.outbox.clear()

    def fail_calls(self, why: ConnectionClosed) -> None:
        """Calls at the doors fail: they could not be answered."""
        for pending in list(self._calls_at_doors):
            pending.fail(why.copy())

    def fail_doors(self, why: ConnectionClosed) -> None:
        """Nothing is admitted any more."""
        self.bulk.fail(why.copy)
        self.control.fail(why.copy)

    def fail_all(self, why: ConnectionClosed) -> None:
        """Whoever waits here waits in vain."""
        self.fail_doors(why)
        while self._flushes:
            _, future = self._flushes.popleft()
            if not future.done():
                future.set_exception(why.copy())
                future.exception()  # the task that waited may be gone


def _take_back(request: Request, entered: asyncio.Future[Any]) -> None:
    """An answer that was withdrawn at the door leaves the request to others."""
    if entered.cancelled():
        request.answered = False
