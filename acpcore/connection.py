"""A connection: the engine on an event loop and a transport.

Works on uvloop and on any asyncio loop. Every method belongs to the loop's thread; ``conn.threadsafe`` is for the
others.
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
from .ending import Ending
from .engine import Engine, Role, Stats
from .errors import ConnectionClosed, Overrun, ProtocolError, UsageError
from .flow import Limits
from .handlers import Handlers, method_of
from .message import (
    BadFrame,
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
from .outward import is_bulk, session_of
from .pending import Pending
from .pull import EventQueue
from .runner import Answer, Run, Runner, current_run
from .sending import Sender
from .sessions import SessionStream, SessionStreams
from .threads import ThreadSafe
from .transports.base import Transport
from .watch import Watch

logger = logging.getLogger("acpcore")

OnError = Callable[[BaseException, str], None]
Observer = Callable[[Observation], None]
Opener = Callable[[], Awaitable[Transport]]

_BAD_LINES_LOGGED = 20  # a peer that sends nothing but noise should not fill the log


class Connection:
    """One end of an ACP connection.

    With ``handlers`` they are called; without, events are pulled (``async for event in conn``, :meth:`receive`,
    :meth:`session`). Use it as an async context manager: leaving closes it.

    ``role`` is ``"client"`` or ``"agent"``, ``limits`` the bounds, ``observer`` sees every line in both directions,
    ``on_error(error, context)`` gets what handlers raise (else the ``acpcore`` logger does), ``on_close(reason)`` is
    called once. ``grace`` (seconds) is what running handlers have after the end of input. ``arrays``, ``salvage``
    and ``answer_noise`` as for ``Engine``.
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
        self.tasks: set[asyncio.Task[Any]] = set()
        self._opener = transport
        self._observer = observer
        self._on_error = on_error
        self._on_close = on_close
        self._loop: asyncio.AbstractEventLoop | None = None
        self._posted: deque[Callable[[], None]] = deque()
        self._reading = True
        self._ending: Ending | None = None
        self._closing = False
        self._reason: ConnectionClosed | None = None
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
        self.handlers_returned = asyncio.Event()
        self._watch = Watch(self, loop)
        self.sender = Sender(self.engine, loop, self._watch.start)
        self._events = EventQueue(loop, self.done)
        self._sessions = SessionStreams(loop, self.done, self.engine.limits.inbox_low)
        self._runner = Runner(self, self.handlers, loop) if self.handlers is not None else None
        self.threadsafe = ThreadSafe(self, loop, self._posted, notification_parts)
        try:
            self.transport = await self._opener() if callable(self._opener) else self._opener
            self.sender.bind(self.transport)
            self.transport.start(_Link(self), loop)
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

        ``method`` is a name (then ``params`` is a struct, plain objects or raw JSON bytes, and the result plain
        objects) or the params struct itself (then the result is of the type the schema names). ``result`` names
        another result type. ``timeout`` in seconds covers sending and waiting.

        The answer is handed over after the earlier notifications of its session were handled and before later ones
        are; ``on_result(result)`` runs at that very place. ``ordered=False`` does not wait for them.

        Raises ``RemoteError`` (``RequestCancelled`` for -32800), ``ProtocolError``, ``ConnectionClosed``,
        ``TimeoutError``, ``Overrun``, ``UsageError``. Cancelling the task gives the call up and sends
        ``$/cancel_request`` (not with ``tell=False``).
        https://agentclientprotocol.com/protocol/v2/draft/cancellation
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
            self.sender.give_up(pending, tell)

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
        """Send a request, or stand at the door; whoever has the ``Pending`` gives it up in the end."""
        loop = self._check()
        self._check_sending(answers=True)
        method, params, decoder = _call_parts(method, params, result)
        pending = Pending(loop.create_future(), decoder, on_result, ordered and self._own_run() is None)
        self.sender.send_call(pending, method, params, bulk)
        if timeout is not None:
            pending.timer = loop.call_later(timeout, _time_out, pending, method, timeout)
        return pending

    # --- notifications

    async def notify(self, method: Any, params: Any = None, *, bulk: bool | None = None) -> None:
        """Send a notification: a name and params, or the params struct alone. Updates and document events wait at
        the bulk door, in arrival order, until the outbox takes them. Cancelling while it waits drops it whole.
        """
        self._check()
        method, params = notification_parts(method, params)
        line = m.notification_line(method, params)
        await self.send_line(line, is_bulk(method) if bulk is None else bulk, session_of(params, line))

    def try_notify(self, method: Any, params: Any = None, *, bulk: bool | None = None) -> bool:
        """Send a notification if it is admitted at once; says whether it was."""
        self._check()
        self._check_sending()
        method, params = notification_parts(method, params)
        line = m.notification_line(method, params)
        return self.sender.try_line(line, is_bulk(method) if bulk is None else bulk, session_of(params, line))

    send, try_send = notify, try_notify

    async def send_line(self, line: bytes, bulk: bool, session_id: str | None = None) -> None:
        """Send one line made by acpcore, newline included; waits at its door."""
        future = self.enter_line(line, bulk, session_id)
        if future is None:
            return
        run = self._own_run()
        self._begin_wait(run)
        try:
            await future
        finally:
            self._end_wait(run)

    def enter_line(self, line: bytes, bulk: bool, session_id: str | None = None) -> asyncio.Future[Any] | None:
        """Send a line, or stand at its door: then the future tells when it was admitted; cancelling it drops it."""
        self._check_sending()
        return self.sender.send_line(line, bulk, session_id)

    async def flush(self) -> None:
        """Until the transport has taken everything that was sent before."""
        self._check()
        self._check_sending()
        await self.sender.flushed()

    # --- answers

    def reply(self, request: Request, result: Any = None) -> bool:
        """Answer a request; see ``Request.reply``."""
        self._check()
        sent = self.engine.reply(request, result)
        self.sender.wake()
        return sent

    def fail(self, request: Request, code: int, message: str, data: Any = msgspec.UNSET) -> bool:
        """Answer a request with an error."""
        self._check()
        sent = self.engine.fail(request, code, message, data)
        self.sender.wake()
        return sent

    def reply_later(self, request: Request, result: Any) -> None:
        """Answer as soon as the outbox has room; for handlers that have returned."""
        self.sender.send_answer(request, m.result_line(request.id_token, result), False)

    def answer_later(self, request: Request, code: int, message: str, data: Any = None) -> None:
        """The same for an error."""
        line = m.error_line(request.id_token, code, message, m.NO_DATA if data is None else data)
        self.sender.send_answer(request, line, False)

    # --- pulling

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._pull()

    async def _pull(self) -> AsyncIterator[Event]:
        self._check_pulling()
        while (event := await self._events.get()) is not None:
            yield event

    async def receive(self, max_events: int = 200, max_wait: float | None = None) -> list[Event]:
        """Pull up to ``max_events`` events: those that come within ``max_wait`` seconds, or, with ``None``, what is
        there as soon as one is. Empty when nothing came, and for ever once the connection ended. Cancelling loses
        nothing.
        """
        self._check_pulling()
        return await self._events.get_batch(max_events, max_wait)

    def session(self, session_id: str) -> SessionStream:
        """The notifications of one session, from now on, to be pulled: they no longer go to a handler or to ``conn``
        itself.
        """
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
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    # --- ending

    @property
    def closed(self) -> Awaitable[ConnectionClosed]:
        """Awaitable; gives the reason (a ``ConnectionClosed``, never raised here) once everything is over."""
        self._check_loop()
        return asyncio.shield(self._closed)

    @property
    def is_closing(self) -> bool:
        """Whether this side has asked for the end."""
        return self._closing

    @property
    def is_closed(self) -> bool:
        """Whether the end has begun: no call can be answered any more."""
        return self._reason is not None or self._closing or self._ending is not None

    async def close(self, timeout: float = 5.0) -> ConnectionClosed:
        """Write what was admitted, for at most ``timeout`` seconds, then end; returns the reason with what went
        unsent.

        Own calls fail with ``ConnectionClosed``, running handlers and background work are cancelled. Idempotent, and
        may be called inside a handler.
        """
        self._check_loop()
        if not self._closing:
            self._closing = True
            self.handlers_returned.set()
            self._end("closed by this side", own=True, timeout=timeout)
        return await asyncio.shield(self._closed)

    def abort(self, reason: str = "aborted") -> None:
        """End at once: nothing more is written."""
        self._check_loop()
        self._end(reason, own=True, timeout=0.0)

    def _end(self, reason: str, *, own: bool, timeout: float = 0.0, closed: Closed | None = None) -> None:
        if self._ending is not None or self._reason is not None or self._loop is None:
            return
        closed = self.engine.close(reason) if closed is None else closed
        self._ending = Ending(self, reason, closed, own=own, timeout=timeout)
        self._ending_task = self._loop.create_task(self._finish(self._ending), name="acpcore end")

    async def _finish(self, ending: Ending) -> None:
        reason = self._reason = await ending.run()
        self._watch.stop()
        self.sender.fail_all(reason)
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
        runner = self._runner
        if runner is not None:
            runner.begin()
        for event in events:
            self._take(event)
        if runner is not None:
            runner.pump()
        self.regulate()
        if self.engine.want_write:
            self.sender.wake()

    def ended(self) -> None:
        """The peer will send nothing more."""
        if self._ending is not None:
            return
        events = self.engine.receive_eof()
        closed = events.pop() if events else None
        self._dispatch(events)
        assert closed is None or isinstance(closed, Closed)
        self._end("end of input", own=False, closed=closed)

    def lost(self, error: BaseException | None) -> None:
        """Nothing more can be written."""
        self.sender.lose(error)
        self._end("connection lost", own=False)
        if self._ending is not None:
            self.sender.fail_all(self._ending.why)

    def sent(self, size: int) -> None:
        """The transport took bytes: whoever waits for room goes on."""
        self.sender.sent(size)
        if not self._reading:
            self.regulate()

    def regulate(self) -> None:
        """Read or do not read, as the gates say."""
        if self._ending is not None:
            return
        wanted = self.engine.want_read
        if wanted and not self._reading:
            self._reading = True
            self.transport.resume_reading()
        elif not wanted and self._reading:
            self._reading = False
            self.transport.pause_reading()
        if self.engine.inbox.shut or self.engine.outbox.gate.full:
            self._watch.start()

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
        if isinstance(event, Request) or not self._sessions.claims(event):
            self._hand_on(event)
        elif isinstance(event, Updates):
            for part in event.split():
                part.conn = self
                self._take(part)
        else:
            self._sessions.put(event)

    def _hand_on(self, event: Event) -> None:
        if self._runner is not None:
            self._runner.take(event)
            return
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
                self._answer_in_order(pending, event)
        if self._runner is None:
            self._events.put(event)
        elif call is None:
            self._runner.take(event)

    def _answer_in_order(self, pending: Pending, event: Response) -> None:
        call, runner = event.call, self._runner
        assert call is not None and runner is not None and self._loop is not None
        key = call.session_id if call.session_id is not None else event.session_id
        runner.answer(Answer(call.method, event, pending.deliver, self._loop.time()), key)
        if runner.waiting_answers:
            self._watch.start()

    def _take_cancel(self, event: Message) -> bool:
        """A cancel acts in the read callback, whatever waits in front of it."""
        if self._runner is None or not isinstance(event, Notification):
            return False
        request = self.engine.cancelled_request(event)
        if request is not None:
            self._runner.cancel(request)
        self.done(event)
        return True

    def _take_bad(self, event: BadFrame | FrameTooLarge) -> None:
        call = event.call
        if call is not None and isinstance(call.tag, Pending):
            call.tag.fail(ProtocolError(f"the answer to {call.method} is broken: {event!r}"))
        if self._bad_logged < _BAD_LINES_LOGGED:
            self._bad_logged += 1
            hint = event.hint if isinstance(event, BadFrame) else None
            logger.warning("%r%s", event, f" ({hint})" if hint else "")

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
        self.handlers_returned.set()

    # --- pressure (called by Watch)

    def fail_stalled(self, names: list[str]) -> None:
        """The inbox stood full for too long: the calls that wait fail, and the text names who stands still."""
        who = ", ".join(names) or "the host (nothing is pulled)"
        for call in self.engine.pending_calls:
            self.engine.cancel(call)
            if isinstance(call.tag, Pending):
                call.tag.fail(Overrun(f"{call.method} cannot be answered: the inbox is full, {who} stands still"))
        self.sender.wake()

    def report_stuck(self, method: str, handler: str, seconds: float) -> None:
        """An answer waits behind a handler that seems to wait for it."""
        text = (
            f"the answer to {method} has waited {seconds:g} s for handler {handler} to return; if the handler waits for "
            "it in another task, call with ordered=False"
        )
        self.report(Overrun(text), f"handler {handler}", None)

    @property
    def control_waits(self) -> bool:
        """Whether answers or calls wait for the outbox to fall below its hard cap."""
        return len(self.sender.control) > 0

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

    def _check_loop(self) -> asyncio.AbstractEventLoop:
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
        """What other threads have posted goes before what the loop sends now."""
        loop = self._check_loop()
        if self._posted:
            self.threadsafe.drain()
        return loop

    def _check_sending(self, *, answers: bool = False) -> None:
        """After the end of input answers may still go out, but no call can be answered any more."""
        if self._reason is not None:
            raise self._reason.copy()
        if self._ending is not None and (answers or self._closing or self.sender.is_lost):
            raise self._ending.why.copy()

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


def notification_parts(method: Any, params: Any) -> tuple[str, Any]:
    """Name and params of a notification."""
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
