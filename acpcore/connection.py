"""A connection: the engine on an event loop and a transport.

Works on uvloop and on any asyncio loop. Every method belongs to the loop's thread; ``conn.threadsafe`` is for the
others.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec

from . import message as m
from .ending import Ending
from .engine import Engine, Role, Stats
from .errors import ConnectionClosed, UsageError
from .flow import Budget, Limits
from .handlers import Handlers, call_parts, notification_parts
from .incoming import Incoming
from .link import Link
from .message import Closed, Event, Request
from .negotiation import Gate, Gating, Negotiation
from .observing import Observation, observe_line
from .outward import is_bulk, session_of
from .pending import Pending
from .pull import Pulling
from .runner import Run, Runner, current_run
from .sending import Place, Sender
from .sessions import SessionStream
from .staging import Stage
from .threads import ThreadSafe
from .transports.base import Transport
from .watch import Watch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import schema as s
    from .capabilities import Rules
    from .pending import CallOptions
    from .tails import TerminalTail
    from .terminal import TerminalWriter

T = TypeVar("T")
R = TypeVar("R")

logger = logging.getLogger("acpcore")

OnError = Callable[[BaseException, str], None]
Observer = Callable[[Observation], None]
Opener = Callable[[], Awaitable[Transport]]


class Connection:
    """One end of an ACP connection.

    With ``handlers`` they are called; without, events are pulled (``async for event in conn``, :meth:`receive`,
    :meth:`session`). Use it as an async context manager: leaving closes it.

    ``role`` is ``"client"`` or ``"agent"``, ``limits`` the bounds, ``budget`` a bound shared with others,
    ``observer`` sees every line in both directions, ``on_error(error, context)`` gets what handlers raise (else the
    ``acpcore`` logger does), ``on_close(reason)`` is called once. ``grace`` (seconds) is what running handlers have
    after the end of input. ``profile`` (see ``acpcore.schema``) says what is accepted: leniency and later drafts in
    results, batches, ids (``Handlers`` have one for params). ``salvage`` and ``answer_noise`` as for ``Engine``.

    Once both sides have said what they can do (:meth:`initialize`, ``Handlers.initialize``), own calls that the
    rules forbid raise ``UsageError``; with ``gating="both"`` the peer's are answered with an error and reported;
    ``"off"`` lets everything pass. ``rules`` are these rules, ``protocol_version`` is the agreed one, ``peer`` what
    the other side said; ``None`` before that.
    """

    def __init__(
        self,
        transport: Transport | Opener,
        handlers: Handlers | None = None,
        *,
        role: Role = "client",
        limits: Limits | None = None,
        budget: Budget | None = None,
        observer: Observer | None = None,
        on_error: OnError | None = None,
        on_close: Callable[[ConnectionClosed], None] | None = None,
        grace: float = 5.0,
        profile: s.Profile | None = None,
        salvage: bool = False,
        answer_noise: bool | None = None,
        gating: Gating = "own",
    ) -> None:
        self.engine = Engine(
            role,
            limits=limits,
            budget=budget,
            arrays=profile is None or profile.batches,
            null_ids=profile is None or profile.null_ids,
            salvage=salvage,
            answer_noise=answer_noise,
            observer=None if observer is None else self._observe,
        )
        self.handlers = handlers
        self.grace = grace
        self.protocol_version: int | None = None  # what initialize agreed on, once it did
        self.peer: s.InitializeRequest | s.InitializeResponse | None = None
        self.rules: Rules | None = None
        self.gate: Gate | None = None  # asked about everything that is sent, but answers
        self.negotiation = Negotiation(self, gating)
        self.tasks: set[asyncio.Task[Any]] = set()
        self._budget = budget
        self._profile = profile
        self._opener = transport
        self._observer = observer
        self._on_error = on_error
        self._on_close = on_close
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opened = False
        self._pid = os.getpid()
        self._threadsafe: ThreadSafe | None = None
        self._posted: deque[Callable[[], None]] = deque()
        self._reading = True
        self._ending: Ending | None = None
        self._closing = False
        self._reason: ConnectionClosed | None = None

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
        self._pid = os.getpid()
        self._closed: asyncio.Future[ConnectionClosed] = loop.create_future()
        self.handlers_returned = asyncio.Event()
        self._watch = Watch(self, loop)
        self.sender = Sender(self.engine, loop, self._door_entered)
        self.incoming = Incoming(self, loop)
        self._runner = self.incoming.runner
        self._threadsafe = ThreadSafe(self, loop, self._posted, self._notification)
        try:
            self.transport = await self._opener() if callable(self._opener) else self._opener
            self.sender.bind(self.transport)
            self._opened = True
            self.transport.start(Link(self), loop)
            if self._budget is not None:
                self._budget.join(self.regulate)
        except BaseException as error:
            self._reason = ConnectionClosed(f"could not be opened: {error}")
            self._opened = True
            self._closed.set_result(self._reason)
            raise
        return self

    # --- calls

    async def initialize(
        self,
        info: s.Implementation,
        capabilities: s.ClientCapabilities | None = None,
        *,
        version: int = 2,
        timeout: float | None = 30.0,
    ) -> s.InitializeResponse:
        """A client's first request: offer ``version``, say who this is and what it can do; nothing else can be sent
        before the answer. Raises what :meth:`request` does; ``ProtocolError`` for another version or the wrong
        shape, after which the connection is best closed.
        https://agentclientprotocol.com/protocol/v2/draft/initialization
        """
        return await self.negotiation.ask(info, capabilities, version, timeout)

    @overload
    async def request(
        self, method: s.Request[R], params: None = None, *, tell: bool = True, **options: Unpack[CallOptions]
    ) -> R: ...
    @overload
    async def request(
        self, method: str, params: Any = None, *, result: Any = None, tell: bool = True, **options: Unpack[CallOptions]
    ) -> Any: ...
    @overload
    async def request(
        self, method: s.Request[Any], *, result: Any, tell: bool = True, **options: Unpack[CallOptions]
    ) -> Any: ...
    async def request(self, method: Any, params: Any = None, *, tell: bool = True, **options: Any) -> Any:
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
        pending = self.begin_call(method, params, **options)
        try:
            return await pending.future
        finally:
            self.end_call(pending, tell)

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
        place: Place | None = None,
    ) -> Pending:
        """Send a request, or stand at the door; whoever has the ``Pending`` ends the call (:meth:`end_call`)."""
        loop = self.check()
        self._check_sending(answers=True)
        method, params, decoder = call_parts(method, params, result, self._profile)
        if self.gate is not None:
            self.gate(method, params)
        run = self._own_run()
        pending = Pending(loop.create_future(), decoder, on_result, ordered and run is None)
        self.sender.send_call(pending, method, params, bulk, place)
        if timeout is not None:
            pending.timer = loop.call_later(timeout, _time_out, pending, method, timeout)
        pending.run = run
        self._begin_wait(run)
        self._watch.start()
        return pending

    def end_call(self, pending: Pending, tell: bool) -> None:
        """Nobody waits for this call any more."""
        run, pending.run = pending.run, None
        self._end_wait(run)
        self.sender.give_up(pending, tell)

    # --- notifications

    async def notify(self, method: str | s.Notification, params: Any = None, *, bulk: bool | None = None) -> None:
        """Send a notification: a name and params, or the params struct alone. Updates and document events wait at
        the bulk door, in arrival order, until the outbox takes them. Cancelling while it waits drops it whole.
        """
        self.check()
        method, params = self._notification(method, params)
        line = m.notification_line(method, params)
        await self.send_line(line, is_bulk(method) if bulk is None else bulk, session_of(params, line))

    def try_notify(self, method: str | s.Notification, params: Any = None, *, bulk: bool | None = None) -> bool:
        """Send a notification if it is admitted at once; says whether it was."""
        self.check()
        self._check_sending()
        method, params = self._notification(method, params)
        line = m.notification_line(method, params)
        return self.sender.try_line(line, is_bulk(method) if bulk is None else bulk, session_of(params, line))

    send, try_send = notify, try_notify

    def _notification(self, method: Any, params: Any) -> tuple[str, Any]:
        """Name and params of one that may be sent."""
        parts = notification_parts(method, params)
        if self.gate is not None:
            self.gate(*parts)
        return parts

    async def send_line(self, line: bytes, bulk: bool, session_id: str | None = None) -> None:
        """Send one line made by acpcore, newline included; waits at its door."""
        future = self.enter_line(line, bulk, session_id)
        if future is not None:
            await self.wait_for_peer(future)

    def enter_line(
        self, line: bytes, bulk: bool, session_id: str | None = None, place: Place | None = None
    ) -> asyncio.Future[Any] | None:
        """Send a line, or stand at its door: then the future tells when it was admitted; cancelling it drops it."""
        self._check_sending()
        return self.sender.send_line(line, bulk, session_id, place)

    async def flush(self) -> None:
        """Until the transport has taken everything that was sent before."""
        self.check()
        self._check_sending()
        await self.sender.flushed()

    # --- terminals

    def terminal(self, session_id: str, terminal_id: str, *, chunk_size: int = 32 * 1024) -> TerminalWriter:
        """The writing end of an agent's terminal: ``async with conn.terminal(...) as terminal``. ``chunk_size``
        (bytes) is the most that one message carries.
        """
        from .terminal import TerminalWriter

        return TerminalWriter(self, session_id, terminal_id, chunk_size=chunk_size)

    def stage(self, session_id: str, head: m.TerminalHead, chunk_size: int) -> Stage:
        """Where a terminal's bytes wait for each other."""
        if self.gate is not None:
            self.gate(m.UPDATE_METHOD, None)
        return Stage(self.sender, self.engine, self.check(), session_id, head, chunk_size, self._check_sending)

    def tail(self, session_id: str, terminal_id: str, ceiling: int = 1 << 20) -> TerminalTail:
        """Keep only the newest ``ceiling`` bytes of a terminal, for a view that must not hold up everything else:
        its output no longer stands in the inbox gate nor goes to a handler. Its other updates still do.
        """
        from .tails import Tails

        self.check()
        if self.incoming.tails is None:
            self.incoming.tails = Tails()
        return self.incoming.tails.open(session_id, terminal_id, ceiling)

    async def wait_for_peer(self, waiting: Awaitable[T]) -> T:
        """Await something that depends on the peer; a handler that does so lets the requests behind it start."""
        run = self._own_run()
        if run is None:
            return await waiting
        self._begin_wait(run)
        try:
            return await run.at_door(waiting)
        finally:
            self._end_wait(run)

    # --- answers

    def reply(self, request: Request, result: Any = None) -> bool:
        """Answer a request; see ``Request.reply``."""
        self.check()
        return self.enter_answer(request, m.result_line(request.id_token, result)) is None

    def fail(self, request: Request, code: int, message: str, data: Any = msgspec.UNSET) -> bool:
        """Answer a request with an error."""
        self.check()
        return self.enter_answer(request, m.error_line(request.id_token, code, message, data)) is None

    def enter_answer(self, request: Request, line: bytes, place: Place | None = None) -> asyncio.Future[Any] | None:
        """Answer now, or as soon as the outbox has room: then the future tells when."""
        self._check_sending()
        return self._answer(request, line, place)

    def _answer(self, request: Request, line: bytes, place: Place | None = None) -> asyncio.Future[Any] | None:
        if request.method == "initialize":
            self.negotiation.note(m.agreed_version(line))
        entered = self.sender.send_answer(request, line, place)
        self.handler_returned()
        return entered

    def reply_later(self, request: Request, result: Any) -> None:
        """Answer for a handler that has returned: the result goes when the outbox has room, or nowhere if the link
        is gone.
        """
        self._send_posted()
        self._answer(request, m.result_line(request.id_token, result))

    def answer_later(self, request: Request, code: int, message: str, data: Any = None) -> None:
        """The same for an error."""
        self._send_posted()
        self._answer(request, m.error_line(request.id_token, code, message, m.NO_DATA if data is None else data))

    async def cancel_session(self, session_id: str) -> None:
        """A client's ``session/cancel``, with what it obliges to: the session's open permission requests are answered
        ``cancelled`` and their handlers end. What may still come from the session is delivered as before.
        https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle
        """
        self.check()
        await self.notify("session/cancel", {"sessionId": session_id})
        for request in self.engine.open_requests:
            if (request.method, request.session_id) == ("session/request_permission", session_id):
                if not request.answered:
                    self.reply_later(request, {"outcome": {"outcome": "cancelled"}})
                if self._runner is not None:
                    self._runner.cancel(request)

    # --- pulling

    def __aiter__(self) -> AsyncIterator[Event]:
        return Pulling(self)

    async def pull(self) -> Event | None:
        """The next event, ``None`` once the connection ended and everything was pulled. Cancelling loses nothing."""
        self._check_pulling()
        return await self.incoming.events.get()

    async def receive(self, max_events: int = 200, max_wait: float | None = None) -> list[Event]:
        """Pull up to ``max_events`` events: those that come within ``max_wait`` seconds, or, with ``None``, what is
        there as soon as one is. Empty when nothing came, and for ever once the connection ended. Cancelling loses
        nothing.
        """
        self._check_pulling()
        return await self.incoming.events.get_batch(max_events, max_wait)

    def session(self, session_id: str) -> SessionStream:
        """The notifications of one session, to be pulled: those that follow, which no longer go to a handler or to
        ``conn`` itself, and those that came a moment ago and that nobody has taken yet.

        Closed by ``close()``, or when nothing refers to the stream any more.
        """
        self.check()
        return self.incoming.open_session(session_id)

    def _check_pulling(self) -> None:
        self.check()
        if self._runner is not None:
            raise UsageError("events go to the handlers; pull a session, or give no handlers")

    # --- background work

    def start(self, work: Coroutine[Any, Any, Any], *, name: str | None = None) -> asyncio.Task[Any]:
        """Run a coroutine tied to this connection: what it raises is reported, closing cancels it. Raises
        ``ConnectionClosed`` once tasks are being cancelled.
        """
        self.check()
        if self._reason is not None or (self._ending is not None and self._ending.tasks_stopped):
            work.close()
            raise ConnectionClosed("the connection has ended: no work can be started")
        task = self.spawn_task(self._background(work), name or "acpcore background")
        task.add_done_callback(lambda _: work.close())  # one that never began was never awaited
        return task

    async def _background(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await work
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
        self._end_by_choice("closed by this side", timeout)
        return await asyncio.shield(self._closed)

    def abort(self, reason: str = "aborted") -> None:
        """End at once: nothing more is written."""
        self._check_loop()
        self._end_by_choice(reason, 0.0)
        if self._reason is None:
            self.transport.abort()

    def _end_by_choice(self, reason: str, timeout: float) -> None:
        """An end that has begun already takes no longer than this one may."""
        if self._ending is None:
            self._closing = True
            self._end(reason, own=True, timeout=timeout)
        elif self._reason is None:
            self._closing = True
            self.handlers_returned.set()
            self._ending.hurry(timeout)

    def _end(self, reason: str, *, own: bool, timeout: float, closed: Closed | None = None) -> None:
        if self._ending is not None or self._reason is not None or self._loop is None:
            return
        if own:  # what comes now is thrown away: a peer that cannot send may not read either
            self.transport.resume_reading()
        closed = self.engine.close(reason) if closed is None else closed
        self._ending = Ending(self, reason, closed, own=own, timeout=timeout)
        self._ending_task = self._loop.create_task(self._finish(self._ending), name="acpcore end")

    async def _finish(self, ending: Ending) -> None:
        reason = self._reason = await ending.run()
        self._watch.stop()
        if self._budget is not None:
            self._budget.leave(self.regulate)
            self.engine.inbox.leave_budget()
        self.sender.fail_all(reason)
        self.incoming.end()
        if not self._closed.done():
            self._closed.set_result(reason)
        if self._on_close is not None:
            try:
                self._on_close(reason)
            except Exception as error:
                self.report(error, "on_close", None)

    # --- from the transport (through Link)

    def received(self, size: int) -> None:
        """Bytes came: dispatch what they complete."""
        if self._ending is not None:
            return
        self._dispatch(self.engine.buffer_updated(size))

    def _dispatch(self, events: list[Event]) -> None:
        self.incoming.dispatch(events)
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
        self._end("end of input", own=False, timeout=self.grace, closed=closed)

    def lost(self, error: BaseException | None) -> None:
        """Nothing more can be written."""
        self.sender.lose(error)
        self._end("connection lost", own=False, timeout=self.grace)
        if self._ending is not None:
            self.sender.fail_all(self._ending.why)
        self.handler_returned()

    def sent(self, size: int) -> None:
        """The transport took bytes: whoever waits for room goes on."""
        self.sender.sent(size)
        if not self._reading:
            self.regulate()

    def regulate(self) -> None:
        """Read or do not read, as the gates say."""
        if self._ending is not None:
            return
        wanted = self.engine.want_read and not self.control_waits
        if wanted and not self._reading:
            self._reading = True
            self.transport.resume_reading()
        elif not wanted and self._reading:
            self._reading = False
            self.transport.pause_reading()
        if self.engine.inbox_shut or self.engine.outbox.gate.full:
            self._watch.start()

    def _door_entered(self) -> None:
        self._watch.start()
        self.regulate()

    def done(self, event: Event) -> None:
        """The host has finished with an event: its bytes leave the inbox gate."""
        self.engine.done(event)
        if not self._reading:
            self.regulate()
        if self._ending is not None:
            self.handler_returned()

    def handler_returned(self) -> None:
        """A handler is through: whoever waits for that may look again."""
        self.handlers_returned.set()

    # --- pressure (called by Watch)

    def watch(self) -> None:
        """Something waits: look after it."""
        self._watch.start()

    @property
    def host_works(self) -> bool:
        """Whether something that was read is still being handled, or waits for that."""
        if self._runner is not None:
            return not self._runner.idle
        return self.engine.owing > 0 and not self.sender.is_lost

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
        """What was counted."""
        unhandled = 0 if self._loop is None else self.incoming.unhandled
        return msgspec.structs.replace(self.engine.stats(), unhandled=unhandled)

    def report(self, error: BaseException, context: str, event: Event | None) -> None:
        """An error that has no caller: to ``on_error``, else to the log. The payload of ``event`` is not part of it.
        That a handler could not go on because the connection ended is no error.
        """
        if isinstance(error, ConnectionClosed) and self.is_closed:
            logger.debug("%s ended with the connection: %s", context, error)
            return
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
        if self._loop is None or not self._opened:
            raise UsageError("the connection is not open: use 'async with' or await open()")
        if running is not self._loop:
            raise UsageError("a connection belongs to the loop it was opened on; use conn.threadsafe elsewhere")
        self.check_process()
        return self._loop

    def check_process(self) -> None:
        """The descriptors are shared with a forked child, the loop's state is not."""
        if os.getpid() != self._pid:
            raise UsageError("a connection belongs to the process that opened it")

    @property
    def threadsafe(self) -> ThreadSafe:
        """Sending from other threads; each method returns a ``concurrent.futures.Future``."""
        if self._threadsafe is None:
            raise UsageError("the connection is not open: use 'async with' or await open()")
        return self._threadsafe

    def check(self) -> asyncio.AbstractEventLoop:
        """What other threads have posted goes before what the loop sends now."""
        loop = self._check_loop()
        self._send_posted()
        return loop

    def _send_posted(self) -> None:
        if self._posted and self._threadsafe is not None:
            self._threadsafe.drain()

    def _check_sending(self, *, answers: bool = False) -> None:
        """After the end of input answers may still go out, but no call can be answered any more."""
        if self._reason is not None:
            raise self._reason.copy()
        if self._ending is not None and (answers or self._closing or self.sender.is_lost):
            raise self._ending.why.copy()

    def __repr__(self) -> str:
        state = "closed" if self._reason is not None else "closing" if self.is_closed else "open"
        return f"<Connection {self.engine.role} {state}>"


def _time_out(pending: Pending, method: str, seconds: float) -> None:
    pending.fail(TimeoutError(f"{method} was not answered within {seconds} s"))
