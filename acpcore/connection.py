"""A connection: the engine on an event loop and a transport.

Works on uvloop and on any asyncio loop. Every method belongs to the loop's thread; ``conn.threadsafe`` is for the others.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any

import msgspec

from . import message as m
from .doors import Door
from .engine import Engine, Role, Stats, is_bulk
from .errors import AcpError, ConnectionClosed, Overrun, ProtocolError, UsageError
from .flow import Limits
from .handlers import Handlers, method_of
from .message import (
    BadFrame,
    Call,
    Closed,
    Event,
    FrameTooLarge,
    Message,
    Notification,
    Request,
    Response,
    TerminalBytes,
    Updates,
)
from .observing import Observation, observe_line
from .pending import Pending
from .pull import EventQueue
from .runner import Answer, Run, Runner, current_run
from .sessions import SessionStreams
from .threads import ThreadSafe
from .transports.base import Outcome, Transport
from .watch import Watch

logger = logging.getLogger("acpcore")

OnError = Callable[[BaseException, str], None]
Observer = Callable[[Observation], None]
Opener = Callable[[], Awaitable[Transport]]


class Connection:
    """One end of an ACP connection.

    With ``handlers`` they are called; without, events are pulled (``async for event in conn``, :meth:`receive`,
    :meth:`session`). Use it as an async context manager: leaving closes it.

    ``role`` is ``"client"`` or ``"agent"``, ``limits`` the bounds, ``observer`` sees every line in both directions,
    ``on_error(error, context)`` gets what handlers raise (else the ``acpcore`` logger does), ``on_close(reason)`` is called
    once. ``grace`` (seconds) is what running handlers have after the end of input. ``arrays``, ``salvage`` and
    ``answer_noise`` as for ``Engine``.
    """

    def __init__(
        self,
        transport: Transport | Opener,
        handlers: Handlers | None = None,
        *,
        role: Role = "client",
        limits: Limits | None = None,
        observer: Observer | None = None,
        on_error: OnError | None = None,
        on_close: Callable[[ConnectionClosed], None] | None = None,
        grace: float = 5.0,
        arrays: bool = True,
        salvage: bool = False,
        answer_noise: bool | None = None,
    ) -> None:
        self.engine = Engine(
            role,
            limits=limits,
            arrays=arrays,
            salvage=salvage,
            answer_noise=answer_noise,
            observer=None if observer is None else self._observe,
        )
        self.handlers = handlers
        self.grace = grace
        self.protocol_version: int | None = None  # what initialize agreed on, once it did
        self._opener = transport
        self._observer = observer
        self._on_error = on_error
        self._on_close = on_close
        self._transport: Transport | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._flushes: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._posted: deque[Callable[[], None]] = deque()
        self._wake_scheduled = False
        self._reading = True
        self._ending: asyncio.Task[None] | None = None
        self._closing = False
        self._lost: BaseException | None = None
        self._is_lost = False
        self._reason: ConnectionClosed | None = None
        self._why_ending = ConnectionClosed("closed")
        self._bad_logged = 0

    # --- beginning

    async def __aenter__(self) -> Connection:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> Connection:
        """Bind to the running loop and begin. ``async with`` does it; raises what the transport raises."""
        if self._loop is not None:
            raise UsageError("the connection is open already")
        loop = self._loop = asyncio.get_running_loop()
        self._closed: asyncio.Future[ConnectionClosed] = loop.create_future()
        self._handlers_returned = asyncio.Event()
        self._bulk_door = Door(loop)
        self._control_door = Door(loop)
        self._events = EventQueue(loop, self.done)
        self._sessions = SessionStreams(loop, self.done, self.engine.limits.inbox_low)
        self._runner = Runner(self, self.handlers, loop) if self.handlers is not None else None
        self._watch = Watch(self, loop)
        self.threadsafe = ThreadSafe(self, loop, self._posted)
        try:
            transport = await self._opener() if callable(self._opener) else self._opener
            self._transport = transport
            transport.start(_Link(self), loop)
        except BaseException as error:
            self._reason = ConnectionClosed(f"could not be opened: {error}")
            self._closed.set_result(self._reason)
            raise
        return self

    # --- calls

    async def request(
        self,
        method: Any,
        params: Any = None,
        *,
        timeout: float | None = None,
        ordered: bool = True,
        on_result: Callable[[Any], None] | None = None,
        result: Any = None,
        bulk: bool = False,
        tell: bool = True,
    ) -> Any:
        """Send a request and wait for its result.

        ``method`` is a name (then ``params`` is a struct, plain objects or raw JSON bytes, and the result plain objects)
        or the params struct itself (then the result is of the type the schema names). ``result`` names another result
        type. ``timeout`` in seconds covers sending and waiting.

        The answer is handed over after the earlier notifications of its session were handled and before later ones are;
        ``on_result(result)`` runs at that very place. ``ordered=False`` does not wait for them.

        Raises ``RemoteError`` (``RequestCancelled`` for -32800), ``ProtocolError``, ``ConnectionClosed``, ``TimeoutError``,
        ``Overrun``, ``UsageError``. Cancelling the task gives the call up and sends ``$/cancel_request`` (not with
        ``tell=False``). https://agentclientprotocol.com/protocol/v2/draft/cancellation
        """
        pending = self.begin_call(
            method, params, timeout=timeout, ordered=ordered, on_result=on_result, result=result, bulk=bulk
        )
        run = self._own_run()
        self._begin_wait(run)
        try:
            return await pending.future
        finally:
            self._end_wait(run)
            self.give_up(pending, tell)

    def begin_call(
        self,
        method: Any,
        params: Any = None,
        *,
        timeout: float | None = None,
        ordered: bool = True,
        on_result: Callable[[Any], None] | None = None,
        result: Any = None,
        bulk: bool = False,
    ) -> Pending:
        """Send a request, or stand at the door; whoever has the ``Pending`` must call :meth:`give_up` in the end."""
        loop = self._check()
        self._check_sending(answers=True)
        method, params, decoder = _call_parts(method, params, result)
        pending = Pending(loop.create_future(), decoder, on_result, ordered and self._own_run() is None)
        door = self._bulk_door if bulk else self._control_door
        if len(door) or not self._admit_call(pending, method, params, bulk):
            door.enter(lambda: self._admit_late(pending, method, params, bulk))
        if timeout is not None:
            pending.timer = loop.call_later(timeout, _time_out, pending, method, timeout)
        self._watch.start()
        return pending

    def _admit_call(self, pending: Pending, method: str, params: Any, bulk: bool) -> bool:
        call = self.engine.call(method, params, bulk=bulk)
        if call is None:
            return False
        pending.call = call
        call.tag = pending
        self._wake()
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
        if call is not None and self.engine.cancel(call, notify=tell and not self._is_lost):
            self._wake()

    notification_parts = staticmethod(lambda method, params: _notification_parts(method, params))

    # --- notifications

    async def notify(self, method: Any, params: Any = None, *, bulk: bool | None = None) -> None:
        """Send a notification: a name and params, or the params struct alone. Updates and document events wait at the bulk
        door, in arrival order, until the outbox takes them. Cancelling while it waits drops it whole."""
        self._check()
        self._check_sending()
        method, params = _notification_parts(method, params)
        await self.send_line(m.notification_line(method, params), is_bulk(method) if bulk is None else bulk)

    def try_notify(self, method: Any, params: Any = None, *, bulk: bool | None = None) -> bool:
        """Send a notification if it is admitted at once; says whether it was."""
        self._check()
        self._check_sending()
        method, params = _notification_parts(method, params)
        bulk = is_bulk(method) if bulk is None else bulk
        if len(self._bulk_door if bulk else self._control_door):
            return False
        if not self.engine.send_line(m.notification_line(method, params), bulk=bulk):
            return False
        self._wake()
        return True

    send, try_send = notify, try_notify

    async def send_line(self, line: bytes, bulk: bool) -> None:
        """Send one line made by acpcore, newline included; waits at its door."""
        future = self.enter_line(line, bulk)
        if future is None:
            return
        run = self._own_run()
        self._begin_wait(run)
        try:
            await future
        finally:
            self._end_wait(run)

    def enter_line(self, line: bytes, bulk: bool) -> asyncio.Future[Any] | None:
        """Send a line, or stand at its door: then the future tells when it was admitted, and cancelling it drops it."""
        self._check_sending()
        door = self._bulk_door if bulk else self._control_door
        if not len(door) and self.engine.send_line(line, bulk=bulk):
            self._wake()
            return None
        self._watch.start()
        return door.enter(lambda: self._admit_line(line, bulk))

    def _admit_line(self, line: bytes, bulk: bool) -> bool:
        if not self.engine.send_line(line, bulk=bulk):
            return False
        self._wake()
        return True

    async def flush(self) -> None:
        """Until the transport has taken everything that was sent before."""
        loop = self._check()
        outbox = self.engine.outbox
        if not outbox:
            return
        future = loop.create_future()
        self._flushes.append((outbox.sent + outbox.pending, future))
        self._wake()
        await future

    # --- answers

    def reply(self, request: Request, result: Any = None) -> bool:
        """Answer a request; see ``Request.reply``."""
        self._check()
        sent = self.engine.reply(request, result)
        self._wake()
        return sent

    def fail(self, request: Request, code: int, message: str, data: Any = msgspec.UNSET) -> bool:
        """Answer a request with an error."""
        self._check()
        sent = self.engine.fail(request, code, message, data)
        self._wake()
        return sent

    def reply_later(self, request: Request, result: Any) -> None:
        """Answer as soon as the outbox has room; for handlers that have returned."""
        self.enter_answer(request, m.result_line(request.id_token, result), False)

    def answer_later(self, request: Request, code: int, message: str, data: Any = None) -> None:
        """The same for an error."""
        extra = m.NO_DATA if data is None else data
        self.enter_answer(request, m.error_line(request.id_token, code, message, extra), False)

    def enter_answer(self, request: Request, line: bytes, behind_bulk: bool) -> asyncio.Future[Any] | None:
        """Answer now, or stand at the door; ``behind_bulk`` keeps the order of a thread whose updates wait there."""
        if self._is_lost:
            request.answered = True
            return None
        door = self._bulk_door if behind_bulk else self._control_door
        if len(door) or not self.engine.answer_line(request, line):
            self._watch.start()
            return door.enter(lambda: request.answered or self._admit_answer(request, line))
        self._wake()
        return None

    def _admit_answer(self, request: Request, line: bytes) -> bool:
        if not self.engine.answer_line(request, line):
            return False
        self._wake()
        return True

    # --- pulling

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._pull()

    async def _pull(self) -> AsyncIterator[Event]:
        while (event := await self._pull_one()) is not None:
            yield event

    async def _pull_one(self) -> Event | None:
        self._check_pulling()
        return await self._events.get()

    async def receive(self, max_events: int = 200, max_wait: float | None = None) -> list[Event]:
        """Pull up to ``max_events`` events: those that come within ``max_wait`` seconds, or, with ``None``, what is there
        as soon as one is. Empty when nothing came, and for ever once the connection ended. Cancelling loses nothing."""
        self._check_pulling()
        return await self._events.get_batch(max_events, max_wait)

    def session(self, session_id: str) -> AsyncIterator[Event]:
        """The notifications of one session, from now on, to be pulled: they no longer go to a handler or ``conn`` itself."""
        self._check()
        return self._sessions.open(session_id)

    def _check_pulling(self) -> None:
        self._check()
        if self._runner is not None:
            raise UsageError("events go to the handlers; pull a session, or give no handlers")

    # --- background work

    def start(self, work: Coroutine[Any, Any, Any], *, name: str | None = None) -> asyncio.Task[Any]:
        """Run a coroutine tied to this connection: what it raises is reported, closing cancels it."""
        self._check()
        return self.spawn_task(self._background(work), name or "acpcore background")

    async def _background(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await work
        except ConnectionClosed as error:
            logger.debug("background work ended with the connection: %s", error)
        except Exception as error:
            self.report(error, f"background work {getattr(work, '__qualname__', work)}", None)

    def spawn_task(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """A task that closing ends."""
        assert self._loop is not None
        task = self._loop.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # --- ending

    @property
    def closed(self) -> Awaitable[ConnectionClosed]:
        """Awaitable; gives the reason (a ``ConnectionClosed``, never raised here) once everything is over."""
        self._check_open_once()
        return asyncio.shield(self._closed)

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._reason is not None or self._closing or self._ending is not None

    async def close(self, timeout: float = 5.0) -> ConnectionClosed:
        """Write what was admitted, for at most ``timeout`` seconds, then end; returns the reason with what went unsent.

        Own calls fail with ``ConnectionClosed``, running handlers and background work are cancelled. Idempotent, and may
        be called inside a handler.
        """
        self._check_open_once()
        if not self._closing:
            self._closing = True
            if self._ending is None:
                self._end("closed by this side", self.engine.close("closed by this side"), timeout, own=True)
            else:
                self._handlers_returned.set()
        return await asyncio.shield(self._closed)

    def abort(self, reason: str = "aborted") -> None:
        """End at once: nothing more is written."""
        self._check_open_once()
        self._end(reason, self.engine.close(reason), 0.0, own=True)

    def _end(self, reason: str, closed: Closed, timeout: float, *, own: bool) -> None:
        if self._ending is not None or self._loop is None:
            return
        self._why_ending = ConnectionClosed(self._with_error(reason))
        work = self._finish(reason, closed, timeout, own, asyncio.current_task(self._loop))
        self._ending = self._loop.create_task(work, name="acpcore end")

    async def _finish(
        self, reason: str, closed: Closed, timeout: float, own: bool, caller: asyncio.Task[Any] | None
    ) -> None:
        transport = self._transport
        assert transport is not None
        transport.pause_reading()
        unsent = 0
        try:
            why = self._why(reason, own)
            self._fail_calls(closed.calls, why)
            if not own:
                await self._let_handlers_finish()
            await self._stop_tasks(caller)
            unsent = await self._write_rest(timeout if own else self.grace)
        finally:
            if unsent or (own and timeout == 0):
                transport.abort()
            else:
                transport.close()
            outcome = await transport.wait_closed()
            self._finished(_reason(reason, outcome, unsent))

    def _why(self, reason: str, own: bool) -> ConnectionClosed:
        """The reason with how a child process ended: whoever waits for an answer wants to know."""
        outcome = getattr(self._transport, "outcome", None)
        text = self._with_error(reason)
        return ConnectionClosed(text) if own or outcome is None else _reason(text, outcome, 0)

    def _with_error(self, reason: str) -> str:
        return reason if self._lost is None else f"{reason}: {self._lost}"

    def _fail_calls(self, calls: Sequence[Call], why: ConnectionClosed) -> None:
        self._why_ending = why
        for call in calls:
            if isinstance(call.tag, Pending):
                call.tag.fail(why.copy())
        self._bulk_door.fail(why.copy)
        if self._closing or self._is_lost:
            self._control_door.fail(why.copy)

    async def _let_handlers_finish(self) -> None:
        """Input ended, handlers did not: whatever was read is handled, as long as something moves within the grace time."""
        runner = self._runner
        if runner is None:
            return
        while not runner.idle and not self._closing:
            self._handlers_returned.clear()
            try:
                await asyncio.wait_for(self._handlers_returned.wait(), self.grace)
            except asyncio.TimeoutError:
                logger.warning("handlers still run %.1f s after the end of input: %s", self.grace, runner.busy_handlers())
                return

    async def _stop_tasks(self, caller: asyncio.Task[Any] | None) -> None:
        if self._runner is not None:
            self._runner.closing = True
            self._runner.drop_queue()
        tasks = [task for task in self._tasks if task is not caller and task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            _, pending = await asyncio.wait(tasks, timeout=self.grace)
            for task in pending:
                logger.warning("%s does not end although it was cancelled", task.get_name())

    async def _write_rest(self, timeout: float) -> int:
        """Give the transport what was admitted; returns how many bytes did not go."""
        outbox = self.engine.outbox
        if outbox and not self._is_lost and timeout > 0:
            assert self._loop is not None
            future: asyncio.Future[None] = self._loop.create_future()
            self._flushes.append((outbox.sent + outbox.pending, future))
            self._wake()
            await asyncio.wait([future], timeout=timeout)
            future.cancel()
        return outbox.clear()

    def _finished(self, reason: ConnectionClosed) -> None:
        self._reason = reason
        self._watch.stop()
        self._control_door.fail(reason.copy)
        self._bulk_door.fail(reason.copy)
        for _, future in self._flushes:
            if not future.done():
                future.set_exception(reason.copy())
                future.exception()
        self._flushes.clear()
        self._sessions.end()
        self._events.end()
        if not self._closed.done():
            self._closed.set_result(reason)
        if self._on_close is not None:
            try:
                self._on_close(reason)
            except Exception as error:
                self.report(error, "on_close", None)

    # --- from the transport (through _Link)

    def received(self, size: int) -> None:
        """Bytes came: dispatch what they complete."""
        self._dispatch(self.engine.buffer_updated(size))

    def _dispatch(self, events: list[Event]) -> None:
        if self._runner is not None:
            self._runner.begin()
        for event in events:
            self._take(event)
        if self._runner is not None:
            self._runner.pump()
        self.regulate()
        if self.engine.want_write:
            self._wake()

    def ended(self) -> None:
        """The peer will send nothing more."""
        if self._ending is not None:
            return
        events = self.engine.receive_eof()
        self._dispatch(events[:-1])
        closed = events[-1] if events else self.engine.close("end of input")
        assert isinstance(closed, Closed)
        self._end("end of input", closed, self.grace, own=False)

    def lost(self, error: BaseException | None) -> None:
        """Nothing more can be written."""
        self._is_lost = True
        self._lost = error
        self.engine.outbox.clear()
        self._release_flushes(force=True)
        self._end("connection lost", self.engine.close("connection lost"), 0.0, own=False)

    def sent(self, size: int) -> None:
        """The transport took bytes: whoever waits for room goes on."""
        engine = self.engine
        engine.data_sent(size)
        if len(self._control_door):
            self._control_door.open()
        if not engine.outbox.gate.shut and len(self._bulk_door):
            self._bulk_door.open()
        if self._flushes:
            self._release_flushes()
        if not self._reading:
            self.regulate()

    def _release_flushes(self, force: bool = False) -> None:
        while self._flushes and (force or self.engine.outbox.sent >= self._flushes[0][0]):
            _, future = self._flushes.popleft()
            if not future.done():
                if force:
                    future.set_exception(ConnectionClosed(self._with_error("connection lost")))
                    future.exception()
                else:
                    future.set_result(None)

    # --- events

    def _take(self, event: Event) -> None:
        if isinstance(event, Response):
            self._take_response(event)
            return
        if isinstance(event, Message):
            event.conn = self
            if event.method == m.CANCEL_METHOD and self._take_cancel(event):
                return
        elif isinstance(event, (BadFrame, FrameTooLarge)):
            self._take_bad(event)
        if not isinstance(event, Request) and self._sessions.claims(event):
            self._sessions.put(event)
        elif self._runner is not None:
            self._runner.take(event)
        else:
            self._queue(event)

    def _queue(self, event: Event) -> None:
        if isinstance(event, Request):
            event.started = True
        self._events.put(event)

    def _take_response(self, event: Response) -> None:
        call = event.call
        if call is not None and isinstance(call.tag, Pending):
            pending = call.tag
            if self._runner is None or not pending.ordered:
                pending.deliver(event)
            else:
                assert self._loop is not None
                key = call.session_id if call.session_id is not None else event.session_id
                self._runner.answer(Answer(call.method, event, pending.deliver, self._loop.time()), key)
                if self._runner.waiting_answers:
                    self._watch.start()
        if self._runner is None:
            self._events.put(event)
        elif call is None:
            self._runner.take(event)

    def _take_cancel(self, event: Message) -> bool:
        """A cancel acts in the read callback, whatever waits in front of it."""
        request = self.engine.cancelled_request(event) if isinstance(event, Notification) else None
        if self._runner is None:
            return False
        if request is not None:
            self._runner.cancel(request)
        self.done(event)
        return True

    def _take_bad(self, event: BadFrame | FrameTooLarge) -> None:
        call = event.call
        if call is not None and isinstance(call.tag, Pending):
            call.tag.fail(ProtocolError(f"the answer to {call.method} is broken: {event!r}"))
        if self._bad_logged < 20:
            self._bad_logged += 1
            logger.warning("%r%s", event, f" ({event.hint})" if isinstance(event, BadFrame) and event.hint else "")

    def unclaimed(self, event: Notification | Updates | TerminalBytes) -> None:
        """An update nobody has a handler for: kept for a moment, for a session that is about to be opened."""
        self._sessions.keep(event)

    def done(self, event: Event) -> None:
        """The host has finished with an event: its bytes leave the inbox gate."""
        self.engine.done(event)
        if not self._reading:
            self.regulate()

    def handler_returned(self) -> None:
        """A handler is through: whoever waits for that may look again."""
        self._handlers_returned.set()

    def regulate(self) -> None:
        """Read or do not read, as the gates say."""
        transport = self._transport
        if transport is None or self._ending is not None:
            return
        wanted = self.engine.want_read
        if wanted and not self._reading:
            self._reading = True
            transport.resume_reading()
        elif not wanted and self._reading:
            self._reading = False
            transport.pause_reading()
        if self.engine.inbox.shut or self.engine.outbox.gate.full:
            self._watch.start()

    # --- writing

    def _wake(self) -> None:
        """Write at the end of this loop turn, so that small messages leave together; a full load leaves at once."""
        if self._posted:
            self.threadsafe.drain()
        if self._wake_scheduled or self._transport is None:
            return
        assert self._loop is not None
        self._wake_scheduled = True
        self._loop.call_soon(self._write)

    def _write(self) -> None:
        self._wake_scheduled = False
        if self._transport is not None and not self._is_lost and self.engine.want_write:
            self._transport.wake()

    # --- pressure (called by Watch)

    def fail_stalled(self, names: list[str]) -> None:
        """The inbox stood full for too long: the calls that wait fail, and the text names who stands still."""
        calls = list(self.engine.pending_calls)
        who = ", ".join(names) or "the host (nothing is pulled)"
        for call in calls:
            self.engine.cancel(call)
            if isinstance(call.tag, Pending):
                call.tag.fail(Overrun(f"{call.method} cannot be answered: the inbox is full, {who} stands still"))
        self._wake()

    def report_stuck(self, method: str, handler: str, seconds: float) -> None:
        """An answer waits behind a handler that seems to wait for it."""
        text = (
            f"the answer to {method} has waited {seconds:g} s for handler {handler} to return; if the handler waits for it "
            "in another task, call with ordered=False"
        )
        self.report(Overrun(text), f"handler {handler}", None)

    @property
    def control_waits(self) -> bool:
        """Whether answers or calls wait for the outbox to fall below its hard cap."""
        return len(self._control_door) > 0

    @property
    def runner(self) -> Runner | None:
        """Dispatch, when there are handlers."""
        return self._runner

    # --- odds and ends

    def stats(self) -> Stats:
        """What the engine has counted."""
        return self.engine.stats()

    def report(self, error: BaseException, context: str, event: Event | None) -> None:
        """An error that has no caller: to ``on_error``, else to the log. The payload of ``event`` is not part of it."""
        if self._on_error is not None:
            try:
                self._on_error(error, context)
                return
            except Exception as second:
                logger.error("on_error raised %s", type(second).__name__, exc_info=second)
        logger.error("%s failed (%s)", context, "no message" if event is None else repr(event), exc_info=error)

    def _observe(self, direction: str, line: Any, event: Event | None) -> None:
        assert self._observer is not None
        try:
            self._observer(observe_line(direction, line, event))
        except Exception as error:
            self.report(error, "observer", None)

    def _own_run(self) -> Run | None:
        """The handler of this connection we are in, if it has not returned."""
        run = current_run.get()
        return run if run is not None and run.active and run.conn is self else None

    def _begin_wait(self, run: Run | None) -> None:
        if run is not None and self._runner is not None:
            self._runner.waits(run)
            self._watch.start()

    def _end_wait(self, run: Run | None) -> None:
        if run is not None and self._runner is not None:
            self._runner.resumes(run)

    def _check_open_once(self) -> asyncio.AbstractEventLoop:
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if self._loop is None:
            raise UsageError("the connection is not open: use 'async with' or await open()")
        if running is not self._loop:
            raise UsageError("a connection belongs to the loop it was opened on; use conn.threadsafe elsewhere")
        return self._loop

    def _check(self) -> asyncio.AbstractEventLoop:
        loop = self._check_open_once()
        if self._posted:
            self.threadsafe.drain()
        return loop

    def _check_sending(self, *, answers: bool = False) -> None:
        """After the end of input answers may still go out, but no call can be answered any more."""
        if self._reason is not None:
            raise self._reason.copy()
        if self._is_lost or self._closing or (answers and self._ending is not None):
            raise self._why_ending.copy()

    def __repr__(self) -> str:
        state = "closed" if self._reason is not None else "closing" if self.is_closed else "open"
        return f"<Connection {self.engine.role} {state}>"


class _Link:
    """What the transport sees of a connection."""

    __slots__ = ("_conn", "get_buffer")

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self.get_buffer = conn.engine.get_buffer

    def buffer_updated(self, size: int) -> None:
        self._conn.received(size)

    def eof_received(self) -> None:
        self._conn.ended()

    def data_to_send(self) -> Sequence[bytes | memoryview]:
        return self._conn.engine.data_to_send()

    def data_sent(self, size: int) -> None:
        self._conn.sent(size)

    def connection_lost(self, error: BaseException | None) -> None:
        self._conn.lost(error)


def _call_parts(method: Any, params: Any, result: Any) -> tuple[str, Any, Callable[[Any], Any] | None]:
    """Name, params and result decoder of a call."""
    if isinstance(method, str):
        return method, params, None if result is None else _decoder(result)
    described = method_of(method)
    if params is not None:
        raise UsageError("a params struct is given alone")
    result = described.result if result is None else result
    return described.name, method, None if result is None else _decoder(result)


def _notification_parts(method: Any, params: Any) -> tuple[str, Any]:
    if isinstance(method, str):
        return method, params
    if params is not None:
        raise UsageError("a params struct is given alone")
    return method_of(method).name, method


def _decoder(type_: Any) -> Callable[[Any], Any]:
    from .schema import decode

    return lambda raw: decode(type_, raw)


def _time_out(pending: Pending, method: str, seconds: float) -> None:
    pending.fail(TimeoutError(f"{method} was not answered within {seconds} s"))


def _reason(text: str, outcome: Outcome, unsent: int) -> ConnectionClosed:
    if unsent:
        text = f"{text}; {unsent} bytes were not sent"
    return ConnectionClosed(
        text, exit_code=outcome.exit_code, signal=outcome.signal, stderr_tail=outcome.stderr_tail, unsent=unsent
    )


__all__ = ["AcpError", "Connection"]
