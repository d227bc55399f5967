"""Ways to get a connection: start an agent, be one, connect, serve; and running a program on the fastest loop there
is.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar

from .connection import Connection
from .errors import UsageError
from .handlers import Handlers
from .transports.base import Transport
from .transports.process import ProcessTransport
from .transports.socket import SocketServer, SocketTransport, listen, open_tcp, open_unix
from .transports.stdio import StdioTransport

T = TypeVar("T")


def spawn(
    argv: Sequence[str | os.PathLike[str]],
    handlers: Handlers | None = None,
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdio: Literal["pipe", "socketpair"] = "pipe",
    pipe_size: int | None = None,
    stderr: Any = subprocess.PIPE,
    on_stderr: Callable[[bytes], object] | None = None,
    stderr_tail: int = 65536,
    exit_timeout: float = 2.0,
    term_timeout: float = 2.0,
    kill_timeout: float = 2.0,
    **options: Any,
) -> Connection:
    """A client connection to an agent that is started as a child process: ``async with spawn([...]) as conn``.

    ``argv``, ``cwd``, ``env`` as for ``subprocess``. ``stdio``: plain pipes, or a socketpair, which is faster and
    which not every program accepts; ``pipe_size`` (bytes) asks for larger pipes. stderr is drained for ever: its
    last ``stderr_tail`` bytes stand in ``ConnectionClosed``, ``on_stderr(bytes)`` sees all of it. Closing ends the
    child's stdin, waits ``exit_timeout`` seconds, sends SIGTERM to its process group, waits ``term_timeout``, then
    SIGKILL. ``options`` as for ``Connection``. https://agentclientprotocol.com/protocol/v2/draft/transports
    """
    options.setdefault("role", "client")
    transport = ProcessTransport(
        argv,
        cwd=cwd,
        env=env,
        stdio=stdio,
        pipe_size=pipe_size,
        stderr=stderr,
        on_stderr=on_stderr,
        stderr_tail=stderr_tail,
        exit_timeout=exit_timeout,
        term_timeout=term_timeout,
        kill_timeout=kill_timeout,
    )
    return Connection(transport, handlers, **options)


def stdio(handlers: Handlers | None = None, *, isolate: bool = True, **options: Any) -> Connection:
    """An agent's connection over this process's stdin and stdout: ``async with stdio(handlers) as conn: await
    conn.closed``.

    ``isolate`` points descriptor 0 at the null device and 1 at stderr while the connection lives, so that a stray
    ``print`` or a child process cannot corrupt the stream. ``options`` as for ``Connection``.
    """
    options.setdefault("role", "agent")
    return Connection(StdioTransport(isolate=isolate), handlers, **options)


def connect(
    path: str | os.PathLike[str] | None = None,
    handlers: Handlers | None = None,
    *,
    host: str | None = None,
    port: int | None = None,
    **options: Any,
) -> Connection:
    """A client connection to a unix socket (``path``) or to ``host`` and ``port``. ``options`` as for
    ``Connection``.
    """
    if (path is None) == (port is None):
        raise UsageError("give a path, or a host and a port")
    options.setdefault("role", "client")

    async def opener() -> Transport:
        if path is not None:
            return await open_unix(path)
        assert port is not None
        return await open_tcp(host or "127.0.0.1", port)

    return Connection(opener, handlers, **options)


class Server:
    """Agents for whoever connects; made by :func:`serve`. Leaving the context closes every connection."""

    def __init__(
        self, handlers: Handlers, on_connect: Callable[[Connection], object] | None, options: dict[str, Any]
    ) -> None:
        self._handlers = handlers
        self._on_connect = on_connect
        self._options = options
        self._server: SocketServer | None = None
        self._address: dict[str, Any] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self.connections: set[Connection] = set()

    @property
    def addresses(self) -> list[Any]:
        """Where it listens: a path, or host and port."""
        return [] if self._server is None else self._server.addresses

    async def __aenter__(self) -> Server:
        self._server = await listen(self._accept, **self._address)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _accept(self, transport: SocketTransport) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(transport))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, transport: SocketTransport) -> None:
        async with Connection(transport, self._handlers, **self._options) as conn:
            if self._closing:
                return
            self.connections.add(conn)
            try:
                self._tell(conn)
                await conn.closed
            finally:
                self.connections.discard(conn)

    def _tell(self, conn: Connection) -> None:
        if self._on_connect is None:
            return
        try:
            self._on_connect(conn)
        except Exception as error:
            conn.report(error, "on_connect", None)
            conn.abort("on_connect failed")

    async def close(self) -> None:
        """Stop listening and close every connection. Idempotent."""
        self._closing = True
        if self._server is not None:
            self._server.close()
        await asyncio.gather(*(conn.close() for conn in list(self.connections)))
        if self._tasks:
            await asyncio.wait(self._tasks)


def serve(
    handlers: Handlers,
    *,
    path: str | os.PathLike[str] | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    on_connect: Callable[[Connection], object] | None = None,
    **options: Any,
) -> Server:
    """Be an agent for whoever connects to a unix ``path``, or to ``host`` and ``port`` (0: any free one).

    ``on_connect(conn)`` is told of each connection. ``options`` as for ``Connection``.
    """
    if (path is None) == (port is None):
        raise UsageError("give a path, or a port")
    options.setdefault("role", "agent")
    server = Server(handlers, on_connect, options)
    server._address = {"path": path} if path is not None else {"host": host, "port": port}
    return server


def run(main: Coroutine[Any, Any, T], *, uvloop: bool | None = None) -> T:
    """Run a coroutine to its end on a new loop: uvloop's where it is installed (``uvloop=False``: never). Sets no
    policy.
    """
    loop = _new_loop(uvloop)
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(main)
    finally:
        try:
            _cancel_all(loop)
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            loop.close()


def _new_loop(wanted: bool | None) -> asyncio.AbstractEventLoop:
    if wanted is not False:
        try:
            import uvloop
        except ImportError:
            if wanted:
                raise UsageError("uvloop is not installed") from None
        else:
            return uvloop.new_event_loop()
    return asyncio.new_event_loop()


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
