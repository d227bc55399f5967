"""Sending from other threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from . import message as m
from .doors import WITHDRAWN, Admit, Door
from .errors import ConnectionClosed, UsageError
from .outward import is_bulk, session_of
from .sending import Place

if TYPE_CHECKING:
    from .connection import Connection

Result = concurrent.futures.Future
Entered = tuple[Door, "asyncio.Future[Any]"]  # where a message waits, and what tells that it does no longer
Step = Callable[[Place], "tuple[asyncio.Future[Any] | None, Entered | None]"]


class Posted(concurrent.futures.Future[Any]):
    """What became of a message. ``cancel()`` tells the truth: once the message was admitted it says ``False``."""

    def __init__(self) -> None:
        super().__init__()
        self._claim = threading.RLock()  # whoever is told of a cancel may cancel again
        self._sent = False

    def cancel(self) -> bool:
        """Keep the message from being sent, if it was not."""
        with self._claim:
            return not self._sent and super().cancel()

    def guard(self, admit: Admit) -> Admit:
        """``admit``, unless this was cancelled; what it admits can be cancelled no more."""

        def guarded() -> Any:
            with self._claim:
                if self.cancelled():
                    return WITHDRAWN
                admitted = admit()
                self._sent = bool(admitted)
                return admitted

        return guarded


class ThreadSafe:
    """The part of a connection that any thread may use. Each method returns a ``concurrent.futures.Future``.

    What one thread sends keeps its order, also with what the loop sends after it: what was posted is sent before any
    message of the loop. The future says how it went: a result, an error, or cancelled, which means not sent (for a
    request whose bytes had left already: given up).
    """

    def __init__(
        self,
        conn: Connection,
        loop: asyncio.AbstractEventLoop,
        posted: deque[Callable[[], None]],
        parts: Callable[[Any, Any], tuple[str, Any]],
    ) -> None:
        self._conn = conn
        self._parts = parts
        self._loop = loop
        self._posted = posted
        self._last: dict[int, Entered] = {}  # of each thread: its last message, while that waits
        self._draining = False

    def notify(self, method: Any, params: Any = None, *, bulk: bool | None = None) -> Result[None]:
        """``Connection.notify``. Raises ``UsageError`` for params that cannot be written."""
        method, params = self._parts(method, params)
        line = m.notification_line(method, params)
        wanted = is_bulk(method) if bulk is None else bulk
        session_id = session_of(params, line)
        return self._post_line(lambda place: self._conn.enter_line(line, wanted, session_id, place), wanted)

    def request(self, method: Any, params: Any = None, *, tell: bool = True, **options: Any) -> Result[Any]:
        """``Connection.request`` with its options; cancelling the future gives the call up."""
        conn = self._conn

        def step(place: Place) -> tuple[asyncio.Future[Any], Entered | None]:
            pending = conn.begin_call(method, params, place=place, **options)
            pending.future.add_done_callback(lambda _: conn.end_call(pending, tell))
            door = conn.sender.door(options.get("bulk", False), place)
            return pending.future, None if pending.entered is None else (door, pending.entered)

        return self._post(step, concurrent.futures.Future())

    def reply(self, request: m.Request, result: Any = None) -> Result[None]:
        """Answer a request."""
        line = m.result_line(request.id_token, result)
        return self._post_line(lambda place: self._conn.enter_answer(request, line, place), False)

    def fail(self, request: m.Request, code: int, message: str, data: Any = None) -> Result[None]:
        """Answer a request with an error."""
        line = m.error_line(request.id_token, code, message, m.NO_DATA if data is None else data)
        return self._post_line(lambda place: self._conn.enter_answer(request, line, place), False)

    def flush(self) -> Result[None]:
        """``Connection.flush``, after what this thread sent before."""
        thread = threading.get_ident()

        async def after(last: Entered | None) -> None:
            if last is not None:
                await asyncio.wait([last[1]])
            await self._conn.flush()

        return self._post_task(lambda: after(self._last.get(thread)))

    def close(self, timeout: float = 5.0) -> Result[ConnectionClosed]:
        """``Connection.close``."""
        return self._post_task(lambda: self._conn.close(timeout))

    # --- from the thread to the loop

    def _post_line(self, enter: Callable[[Place], asyncio.Future[Any] | None], bulk: bool) -> Result[Any]:
        """A message that is settled when it was admitted."""
        result = Posted()

        def step(place: Place) -> tuple[asyncio.Future[Any] | None, Entered | None]:
            place.guard = result.guard
            entered = enter(place)
            return entered, None if entered is None else (self._conn.sender.door(bulk, place), entered)

        return self._post(step, result)

    def _post_task(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Result[Any]:
        return self._post(lambda _: (self._loop.create_task(work()), None), concurrent.futures.Future())

    def _post(self, step: Step, result: Result[Any]) -> Result[Any]:
        """Do ``step`` on the loop, as what this thread does next, in the context it is in now."""
        self._conn.check_process()
        thread, context = threading.get_ident(), contextvars.copy_context()
        self._posted.append(lambda: context.run(self._run, thread, step, result))
        try:
            self._loop.call_soon_threadsafe(self.drain)
        except RuntimeError:
            result.cancel()
            raise UsageError("the connection's loop is closed") from None
        return result

    def drain(self) -> None:
        """Send, on the loop, what other threads have posted."""
        if self._draining:
            return
        self._draining = True
        try:
            while self._posted:
                self._posted.popleft()()
        finally:
            self._draining = False

    def _run(self, thread: int, step: Step, result: Result[Any]) -> None:
        if result.cancelled():
            return
        last = self._last.get(thread)
        behind = None if last is None or last[1].done() else last[0]
        try:
            future, entered = step(Place(behind))
        except Exception as error:
            _settle(result, error=error)
            return
        if entered is not None:
            self._last[thread] = entered
            entered[1].add_done_callback(lambda _: self._left(thread, entered))
        if future is None:
            _settle(result)
            return
        future.add_done_callback(lambda done: _copy(done, result))
        result.add_done_callback(lambda done: self._cancel(done, future))

    def _left(self, thread: int, entered: Entered) -> None:
        if self._last.get(thread) is entered:
            del self._last[thread]

    def _cancel(self, result: Result[Any], future: asyncio.Future[Any]) -> None:
        if result.cancelled():
            with contextlib.suppress(RuntimeError):  # the loop is gone, and the future with it
                self._loop.call_soon_threadsafe(future.cancel)


def _copy(done: asyncio.Future[Any], result: Result[Any]) -> None:
    if done.cancelled():
        result.cancel()
        return
    error = done.exception()
    if error is not None:
        _settle(result, error=error)
    else:
        _settle(result, value=done.result())


def _settle(result: Result[Any], value: Any = None, error: BaseException | None = None) -> None:
    """Give a thread its result; it may have cancelled at the same moment."""
    with contextlib.suppress(concurrent.futures.InvalidStateError):
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(value)
