"""Messages on their way from a connection's users to its transport: doors, wake-ups, flushes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from .doors import Door
from .engine import Engine
from .errors import AcpError, ConnectionClosed
from .message import Request
from .pending import Pending
from .transports.base import Transport


class Sender:
    """The way out of one connection.

    What is admitted is written at the end of the loop turn, so that small messages leave together. What the outbox
    does not take waits at a door: ``bulk`` for updates, ``control`` for everything else at the hard cap.
    """

    def __init__(self, engine: Engine, loop: asyncio.AbstractEventLoop, watch: Callable[[], None]) -> None:
        self._engine = engine
        self._loop = loop
        self._watch = watch
        self._transport: Transport | None = None
        self._scheduled = False
        self._flushes: deque[tuple[int, asyncio.Future[None]]] = deque()
        self.bulk = Door(loop)
        self.control = Door(loop)
        self.lost: BaseException | None = None
        self.is_lost = False

    def bind(self, transport: Transport) -> None:
        """Where the bytes go."""
        self._transport = transport

    def door(self, bulk: bool) -> Door:
        """The door of a message."""
        return self.bulk if bulk else self.control

    # --- calls

    def send_call(self, pending: Pending, method: str, params: Any, bulk: bool) -> None:
        """Send a call, or let it stand at its door."""
        door = self.door(bulk)
        if len(door) or not self._admit_call(pending, method, params, bulk):
            door.enter(lambda: self._admit_late(pending, method, params, bulk))
        self._watch()

    def _admit_call(self, pending: Pending, method: str, params: Any, bulk: bool) -> bool:
        call = self._engine.call(method, params, bulk=bulk)
        if call is None:
            return False
        pending.call = call
        call.tag = pending
        self.wake()
        return True

    def _admit_late(self, pending: Pending, method: str, params: Any, bulk: bool) -> bool:
        """At the door: a call that was given up meanwhile is dropped, one that cannot be written fails."""
        if pending.future.done():
            return True
        try:
            return self._admit_call(pending, method, params, bulk)
        except AcpError as error:
            pending.fail(error)
            return True

    def give_up(self, pending: Pending, tell: bool) -> None:
        """Nobody waits for this call any more: an answered one leaves nothing, another is cancelled."""
        if pending.timer is not None:
            pending.timer.cancel()
        pending.future.cancel()
        call = pending.call
        if call is not None and self._engine.cancel(call, notify=tell and not self.is_lost):
            self.wake()

    # --- lines and answers

    def send_line(self, line: bytes, bulk: bool, session_id: str | None) -> asyncio.Future[Any] | None:
        """Send a line, or let it stand at its door: then the future tells when it was admitted; cancelling it drops
        it.
        """
        door = self.door(bulk)
        if not len(door) and self._admit_line(line, bulk, session_id):
            return None
        self._watch()
        return door.enter(lambda: self._admit_line(line, bulk, session_id))

    def try_line(self, line: bytes, bulk: bool, session_id: str | None) -> bool:
        """Send a line if it need not wait."""
        return not len(self.door(bulk)) and self._admit_line(line, bulk, session_id)

    def _admit_line(self, line: bytes, bulk: bool, session_id: str | None) -> bool:
        if not self._engine.send_line(line, bulk=bulk, session_id=session_id):
            return False
        self.wake()
        return True

    def send_answer(self, request: Request, line: bytes, behind_bulk: bool) -> asyncio.Future[Any] | None:
        """Answer now, or at the door; ``behind_bulk`` keeps the order of a thread whose updates wait there."""
        if self.is_lost:
            request.answered = True
            return None
        door = self.door(behind_bulk)
        if not len(door) and self._admit_answer(request, line):
            return None
        self._watch()
        return door.enter(lambda: request.answered or self._admit_answer(request, line))

    def _admit_answer(self, request: Request, line: bytes) -> bool:
        if not self._engine.answer_line(request, line):
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
        if not engine.outbox.gate.shut and len(self.bulk):
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
        self._engine.outbox.clear()

    def fail_bulk(self, why: ConnectionClosed) -> None:
        """Nothing more comes through the bulk door."""
        self.bulk.fail(why.copy)

    def fail_all(self, why: ConnectionClosed) -> None:
        """Whoever waits here waits in vain."""
        self.bulk.fail(why.copy)
        self.control.fail(why.copy)
        while self._flushes:
            _, future = self._flushes.popleft()
            if not future.done():
                future.set_exception(why.copy())
                future.exception()  # the task that waited may be gone
