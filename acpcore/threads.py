"""Sending from other threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections import Counter, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import message as m
from .errors import ConnectionClosed, UsageError
from .outward import is_bulk, session_of

if TYPE_CHECKING:
    from .connection import Connection

Result = concurrent.futures.Future
Step = Callable[[bool], "asyncio.Future[Any] | None"]  # sends on the loop; told whether to stand at the bulk door


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
        self._waiting: Counter[int] = Counter()  # messages of a thread that wait at a door
        self._draining = False

    def notify(self, method: Any, params: Any = None, *, bulk: bool | None = None) -> Result[None]:
        """``Connection.notify``. Raises ``UsageError`` for params that cannot be written."""
        method, params = self._parts(method, params)
        line = m.notification_line(method, params)
        wanted = is_bulk(method) if bulk is None else bulk
        session_id = session_of(params, line)
        return self._post(lambda behind: self._conn.enter_line(line, wanted or behind, session_id))

    def request(self, method: Any, params: Any = None, **options: Any) -> Result[Any]:
        """``Connection.request`` with its options; cancelling the future gives the call up."""

        def step(behind: bool) -> asyncio.Future[Any]:
            pending = self._conn.begin_call(method, params, **{**options, "bulk": options.get("bulk", False) or behind})
            pending.future.add_done_callback(lambda _: self._conn.sender.give_up(pending, True))
            return pending.future

        return self._post(step, answered=True)

    def reply(self, request: m.Request, result: Any = None) -> Result[None]:
        """Answer a request."""
        line = m.result_line(request.id_token, result)
        return self._post(lambda behind: self._conn.sender.send_answer(request, line, behind))

    def fail(self, request: m.Request, code: int, message: str, data: Any = None) -> Result[None]:
        """Answer a request with an error."""
        line = m.error_line(request.id_token, code, message, m.NO_DATA if data is None else data)
        return self._post(lambda behind: self._conn.sender.send_answer(request, line, behind))

    def flush(self) -> Result[None]:
        """``Connection.flush``, after what this thread sent before."""
        return self._post(lambda behind: self._loop.create_task(self._conn.flush()), answered=True)

    def close(self, timeout: float = 5.0) -> Result[ConnectionClosed]:
        """``Connection.close``."""
        return self._post(lambda behind: self._loop.create_task(self._conn.close(timeout)), answered=True)

    # --- from the thread to the loop

    def _post(self, step: Step, *, answered: bool = False) -> Result[Any]:
        result: Result[Any] = concurrent.futures.Future()
        thread = threading.get_ident()
        self._posted.append(lambda: self._run(thread, step, result, answered))
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

    def _run(self, thread: int, step: Step, result: Result[Any], answered: bool) -> None:
        if result.cancelled():
            return
        try:
            future = step(self._waiting[thread] > 0)
        except Exception as error:
            _settle(result, error=error)
            return
        if future is None:
            _settle(result)
            return
        if not answered:
            self._waiting[thread] += 1
            future.add_done_callback(lambda _: self._left(thread))
        future.add_done_callback(lambda done: _copy(done, result))
        result.add_done_callback(lambda done: self._cancel(done, future))

    def _left(self, thread: int) -> None:
        self._waiting[thread] -= 1
        if not self._waiting[thread]:
            del self._waiting[thread]

    def _cancel(self, result: Result[Any], future: asyncio.Future[Any]) -> None:
        if result.cancelled():
            try:
                self._loop.call_soon_threadsafe(future.cancel)
            except RuntimeError:
                pass  # the loop is gone, and the future with it


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
    try:
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(value)
    except concurrent.futures.InvalidStateError:
        pass
