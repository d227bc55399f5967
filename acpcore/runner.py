"""Runs handlers on a loop, in the order the scheduler allows.

A synchronous handler is called directly when nothing is in its way. Coroutines of notifications are run by worker
tasks that go from one to the next: no task per notification. Every request has a task of its own.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

from . import message as m
from .dispatch import Entry, Kind, Scheduler
from .errors import AcpError, InvalidParams, Overrun, RemoteError
from .handlers import Handler, Handlers
from .message import Event, Message, Notification, Request, Response, TerminalBytes, Updates

if TYPE_CHECKING:
    from .connection import Connection

T = TypeVar("T")

SLICE: Final = 0.005  # seconds of dispatch after which the loop gets its turn


class Run:
    """A handler that runs. ``active`` until it returned."""

    __slots__ = ("_doors", "active", "conn", "entry", "item", "name")

    def __init__(self, conn: Connection, name: str, item: Event, entry: Entry | None) -> None:
        self.conn = conn
        self.name = name
        self.item = item
        self.entry = entry
        self.active = True
        self._doors: dict[asyncio.Future[Any], Overrun | None] = {}  # what it waits for, and why that was ended

    async def at_door(self, waiting: Awaitable[T]) -> T:
        """Wait at a door, unless that is ended."""
        future = asyncio.ensure_future(waiting)
        self._doors[future] = None
        try:
            return await future
        except asyncio.CancelledError:
            overrun = self._doors[future]
            if overrun is None:
                raise
            raise overrun from None
        finally:
            del self._doors[future]

    def interrupt(self, text: str) -> None:
        """End its waits at doors: what waits there is not sent."""
        for future in self._doors:
            self._doors[future] = Overrun(text)
            future.cancel()


current_run: ContextVar[Run | None] = ContextVar("acpcore_handler", default=None)


class Answer:
    """An answer on its way to the task that waits for it."""

    __slots__ = ("deliver", "name", "response", "since")

    def __init__(self, name: str, response: Response, deliver: Callable[[Response], bool], since: float) -> None:
        self.name = name
        self.response = response
        self.deliver = deliver
        self.since = since


class Runner:
    """Dispatch for one connection with handlers."""

    def __init__(self, conn: Connection, handlers: Handlers, loop: asyncio.AbstractEventLoop) -> None:
        self._conn = conn
        self._handlers = handlers
        self._loop = loop
        self.scheduler = Scheduler()
        self.requests: dict[Request, asyncio.Task[None]] = {}
        self.dropped = 0  # notifications nobody had a handler for
        self._entries: dict[Request, tuple[Entry, float]] = {}  # requests that have not started, since when
        self._answers: set[Entry] = set()
        self._runs: dict[Entry, Run] = {}
        self._workers = 0
        self._pumping = False
        self._again = False
        self._serving = 0
        self._deadline = 0.0
        self.closing = False

    # --- in

    def begin(self) -> None:
        """A read is being dispatched: the slice begins."""
        self._deadline = time.monotonic() + SLICE

    def take(self, event: Event) -> None:
        """Dispatch one event that is not an answer."""
        if type(event) is Notification:
            self._take_notification(event)
        elif type(event) is Request:
            self._entries[event] = (self.scheduler.add(Kind.REQUEST, event.session_id, event), self._loop.time())
            self.pump()
        elif type(event) is TerminalBytes:
            self._take_terminal(event)
        elif type(event) is Updates:
            self._take_updates(event)
        else:
            self._take_other(event)

    def _take_notification(self, event: Notification) -> None:
        handler = self._handlers.for_notification(event.method)
        if handler is None:
            self._drop(event)
        else:
            self._take_handled(event, event.session_id, handler)

    def _take_terminal(self, event: TerminalBytes) -> None:
        handler = self._handlers.for_event(TerminalBytes)
        if handler is not None:
            self._take_handled(event, event.session_id, handler)
        else:
            self._take_each(event)

    def _take_updates(self, event: Updates) -> None:
        self._take_each(event)

    def _take_each(self, event: Updates | TerminalBytes) -> None:
        """A group, message by message; each takes its share of the group's bytes with it."""
        if self._handlers.for_notification(m.UPDATE_METHOD) is None:
            self._conn.incoming.unclaimed(event)
            return
        for notification in event.split():
            notification.conn = self._conn
            self._take_notification(notification)

    def _take_other(self, event: Event) -> None:
        handler = self._handlers.for_event(type(event))
        if handler is None:
            self._conn.done(event)
        else:
            self._take_handled(event, None, handler)

    def _drop(self, event: Notification) -> None:
        if event.method == m.UPDATE_METHOD:
            self._conn.incoming.unclaimed(event)
            return
        self.dropped += 1
        self._conn.done(event)

    def _take_handled(self, event: Event, key: str | None, handler: Handler) -> None:
        scheduler = self.scheduler
        if scheduler.clear_way(key) and time.monotonic() < self._deadline:
            if not handler.is_async:
                self._call(event, handler, key)
                return
            self._give_to_worker(scheduler.start_now(key, (event, handler)))
            return
        scheduler.add(Kind.NOTIFICATION, key, (event, handler))
        self.pump()

    # --- synchronous handlers

    def _call(self, event: Event, handler: Handler, key: str | None) -> None:
        """Call directly; a result that has to be awaited occupies the lane like a coroutine handler."""
        result = self._invoke(event, handler)
        if result is not None and inspect.isawaitable(result):
            task = self._give_to_worker(self.scheduler.start_now(key, (event, _awaiting(handler, result))))
            task.add_done_callback(lambda _: _let_go(result))
        else:
            self._conn.done(event)

    def _invoke(self, event: Event, handler: Handler) -> Any:
        try:
            if handler.decoder is not None and isinstance(event, Message):
                event.decode(handler.decoder)
            return handler.function(event)
        except Exception as error:
            self._conn.report(error, f"handler {handler.name}", event)
            return None

    # --- the pump

    def later(self) -> None:
        """Go on with what waits in the next loop turn."""
        if not self._again:
            self._again = True
            self._loop.call_soon(self._resume)

    def _resume(self) -> None:
        self._again = False
        self.begin()
        self.pump()

    def pump(self) -> None:
        """Start everything that may start, for one slice."""
        if self._pumping:
            return
        self._pumping = True
        try:
            while True:
                if time.monotonic() > self._deadline:
                    if self.scheduler.waiting:
                        self.later()
                    return
                entry = self.scheduler.next()
                if entry is None:
                    return
                self._start(entry)
        finally:
            self._pumping = False

    def _start(self, entry: Entry) -> None:
        if entry.kind is Kind.ANSWER:
            self._hand_over(entry)
        elif entry.kind is Kind.REQUEST:
            self._serve(entry.item)
        else:
            event, handler = entry.item
            if handler.is_async:
                self._give_to_worker(entry)
            else:
                self._finish_sync(entry, event, handler)

    def _finish_sync(self, entry: Entry, event: Event, handler: Handler) -> None:
        result = self._invoke(event, handler)
        if result is not None and inspect.isawaitable(result):
            entry.item = (event, _awaiting(handler, result))
            self._give_to_worker(entry).add_done_callback(lambda _: _let_go(result))
            return
        self.scheduler.finished(entry)
        self._conn.done(event)

    # --- coroutine handlers of notifications

    def _give_to_worker(self, entry: Entry) -> asyncio.Task[None]:
        self._workers += 1
        return self._conn.spawn_task(self._work(entry), f"acpcore handler {entry.item[1].name}")

    async def _work(self, entry: Entry) -> None:
        try:
            following: Entry | None = entry
            self.begin()
            while following is not None:
                await self._run(following)
                if time.monotonic() > self._deadline:
                    await asyncio.sleep(0)
                    self.begin()
                following = self._next_coroutine()
        finally:
            self._workers -= 1
            self.later()
            self._conn.handler_returned()

    def _next_coroutine(self) -> Entry | None:
        """Start what may start; the first coroutine among it is this worker's."""
        if self._pumping or self.closing:
            return None
        self._pumping = True
        try:
            while time.monotonic() <= self._deadline and (entry := self.scheduler.next()) is not None:
                if entry.kind is Kind.NOTIFICATION and entry.item[1].is_async:
                    return entry
                self._start(entry)
        finally:
            self._pumping = False
        return None

    async def _run(self, entry: Entry) -> None:
        event, handler = entry.item
        run = self._runs[entry] = Run(self._conn, handler.name, event, entry)
        token = current_run.set(run)
        try:
            if handler.decoder is not None and isinstance(event, Message):
                event.decode(handler.decoder)
            await handler.function(event)
        except asyncio.CancelledError as error:
            if self.closing:
                raise
            self._conn.report(error, f"handler {handler.name}", event)
        except Exception as error:
            self._conn.report(error, f"handler {handler.name}", event)
        finally:
            run.active = False
            current_run.reset(token)
            del self._runs[entry]
            self.scheduler.finished(entry)
            self._conn.done(event)

    # --- requests

    def _serve(self, request: Request) -> None:
        self._entries.pop(request, None)
        self._conn.done(request)
        if request.answered:
            return
        request.started = True
        handler = self._handlers.for_request(request.method)
        if handler is None:
            self._conn.answer_later(request, m.METHOD_NOT_FOUND, "Method not found")
        elif self._serving >= self._conn.engine.limits.max_running:
            self._conn.answer_later(request, m.INTERNAL_ERROR, "Too many requests run at once")
        elif handler.is_async:
            self._serve_in_task(request, handler)
        else:
            self._serve_sync(request, handler)

    def _serve_sync(self, request: Request, handler: Handler) -> None:
        try:
            if handler.decoder is not None:
                request.decode(handler.decoder)
            result = handler.function(request)
        except Exception as error:
            self._refuse(request, handler, error)
            return
        if result is not None and inspect.isawaitable(result):
            task = self._serve_in_task(request, _awaiting(handler, result))
            task.add_done_callback(lambda _: _let_go(result))
        elif not request.answered:
            self._reply(request, handler, result)

    def _serve_in_task(self, request: Request, handler: Handler) -> asyncio.Task[None]:
        self._serving += 1
        task = self._conn.spawn_task(self._serve_async(request, handler), f"acpcore request {request.method}")
        self.requests[request] = task
        task.add_done_callback(lambda _: self._served(request))
        return task

    def _served(self, request: Request) -> None:
        """Also of a task that was cancelled before its first step: whatever happened, there is one answer."""
        self._serving -= 1
        self.requests.pop(request, None)
        if not request.answered:
            self._conn.answer_later(request, m.REQUEST_CANCELLED, "Request cancelled")
        self._conn.handler_returned()

    async def _serve_async(self, request: Request, handler: Handler) -> None:
        run = Run(self._conn, handler.name, request, None)
        token = current_run.set(run)
        try:
            if handler.decoder is not None:
                request.decode(handler.decoder)
            result = await handler.function(request)
        except asyncio.CancelledError as error:
            if not request.answered:
                if not request.cancelled and not self.closing:
                    self._conn.report(error, f"handler {handler.name}", request)
                self._conn.answer_later(request, m.REQUEST_CANCELLED, "Request cancelled")
            if self.closing:
                raise
        except Exception as error:
            self._refuse(request, handler, error)
        else:
            if not request.answered:
                self._reply(request, handler, result)
        finally:
            run.active = False
            current_run.reset(token)

    def _reply(self, request: Request, handler: Handler, result: Any) -> None:
        try:
            self._conn.reply_later(request, result)
        except AcpError as error:  # the result cannot be written
            self._conn.report(error, f"result of handler {handler.name}", request)
            self._conn.answer_later(request, m.INTERNAL_ERROR, "Internal error")

    def _refuse(self, request: Request, handler: Handler, error: Exception) -> None:
        """What a handler raises becomes the answer; only what it raised on purpose is told to the peer."""
        told = error if isinstance(error, (RemoteError, InvalidParams)) and not request.answered else None
        if told is None:
            self._conn.report(error, f"handler {handler.name}", request)
        if not request.answered:
            self._answer_error(request, handler, told)

    def _answer_error(self, request: Request, handler: Handler, error: RemoteError | InvalidParams | None) -> None:
        try:
            if isinstance(error, RemoteError):
                self._conn.answer_later(request, error.code, error.message, error.data)
                return
            if error is not None:
                self._conn.answer_later(request, m.INVALID_PARAMS, f"Invalid params: {error}")
                return
        except AcpError as second:  # what it says cannot be written
            self._conn.report(second, f"error of handler {handler.name}", request)
        self._conn.answer_later(request, m.INTERNAL_ERROR, "Internal error")

    def cancel(self, request: Request) -> None:
        """The peer no longer wants it: one that has not started never runs, one that runs is told.

        https://agentclientprotocol.com/protocol/v2/draft/cancellation
        """
        waiting = self._entries.pop(request, None)
        if waiting is not None and self.scheduler.remove(waiting[0]):
            self._conn.done(request)
            if not request.answered:
                self._conn.answer_later(request, m.REQUEST_CANCELLED, "Request cancelled")
            self.pump()
            return
        task = self.requests.get(request)
        if task is not None:
            task.cancel()

    # --- answers

    def answer(self, answer: Answer, key: str | None) -> None:
        """Hand an answer over at its place in its session's stream."""
        if key is None or self.scheduler.clear_way(key):
            if answer.deliver(answer.response) and key is not None:
                self._rest(key)
            return
        entry = self.scheduler.add(Kind.ANSWER, key, answer)
        self._answers.add(entry)
        self.pump()

    def _hand_over(self, entry: Entry) -> None:
        answer: Answer = entry.item
        self._answers.discard(entry)
        key = entry.lane.key
        if answer.deliver(answer.response):
            self._loop.call_soon(self._release, key)
        else:
            self.scheduler.release(key)

    def _rest(self, key: str) -> None:
        """The task that waited for the answer runs before this session goes on."""
        self.scheduler.hold(key)
        self._loop.call_soon(self._release, key)

    def _release(self, key: str | None) -> None:
        self.scheduler.release(key)
        self.later()
        self._conn.handler_returned()

    # --- waiting for the peer

    def waits(self, run: Run) -> None:
        """A handler began to wait for the peer: requests behind it may start."""
        if run.entry is not None:
            self.scheduler.waits(run.entry)
            self.later()

    def resumes(self, run: Run) -> None:
        """Its wait is over."""
        if run.entry is not None:
            self.scheduler.resumes(run.entry)

    @property
    def handler_waits(self) -> bool:
        """Whether some notification handler is known to wait for the peer."""
        return any(entry.waits for entry in self._runs)

    def interrupt(self, text: str) -> None:
        """End the waits of notification handlers at doors: nothing else will."""
        for run in list(self._runs.values()):
            run.interrupt(text)

    def stuck_answers(self, now: float, seconds: float) -> list[tuple[Answer, str]]:
        """Answers that have waited longer than this behind a handler, with the handler's name."""
        found = []
        for entry in self._answers:
            answer: Answer = entry.item
            running = self.scheduler.blocked_by(entry)
            if running is not None and now - answer.since >= seconds:
                found.append((answer, running[1].name))
        return found

    def stuck_requests(self, now: float, seconds: float) -> list[tuple[Request, str]]:
        """Requests that have waited longer than this behind a handler that itself waits for the peer, with its name:
        other updates stand between them, and the peer may wait for this very answer.
        """
        found = []
        for request, (entry, since) in self._entries.items():
            running = entry.lane.running
            if running is not None and running.waits and now - since >= seconds:
                found.append((request, running.item[1].name))
        return found

    @property
    def requests_behind_waits(self) -> bool:
        """Whether a request waits behind a handler that waits for the peer."""
        return any(entry.lane.running is not None and entry.lane.running.waits for entry, _ in self._entries.values())

    def busy_handlers(self) -> list[str]:
        """Names of the notification handlers that have not returned."""
        return [run.name for run in self._runs.values()]

    @property
    def waiting_answers(self) -> bool:
        """Whether an answer waits behind a handler."""
        return bool(self._answers)

    @property
    def idle(self) -> bool:
        """Nothing waits and no handler runs."""
        return self.scheduler.idle and not self.requests and not self._workers

    def drop_queue(self) -> None:
        """Closing: what has not started never will. Answers that were read are handed over all the same."""
        for entry in self.scheduler.clear():
            if entry.kind is Kind.ANSWER:
                entry.item.deliver(entry.item.response)
            else:
                event = entry.item[0] if isinstance(entry.item, tuple) else entry.item
                self._conn.done(event)
        self._answers.clear()
        self._entries.clear()


def _let_go(awaitable: Any) -> None:
    """A coroutine whose turn never came is closed, so that nobody misses its being awaited."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()


def _awaiting(handler: Handler, awaitable: Any) -> Handler:
    """A handler that has returned something to await: awaiting it is all that is left."""

    async def rest(_: Any) -> Any:
        return await awaitable

    copy = Handler(rest, None)
    copy.name = handler.name
    return copy
