"""Sockets: unix and TCP, client and server."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import stat
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import UsageError
from .fd import FdTransport

_log = logging.getLogger("acpcore")

_ACCEPTS_PER_TURN = 64
_ACCEPT_PAUSE = 1.0
"""Seconds without accepting after an error such as EMFILE: the listening socket stays readable all the while."""

_BACKLOG_PAUSE = 0.01
"""Seconds between two tries to connect to a unix socket whose queue is full."""

Address = str | os.PathLike[str]


class SocketTransport(FdTransport):
    """A connected stream socket. It takes the descriptor over; ``sock`` itself is detached.

    ``linger``: seconds in which :meth:`close` waits for the peer to close too, so that what was written arrives.
    ``UsageError`` if ``sock`` is not a stream socket.
    """

    def __init__(self, sock: socket.socket, *, linger: float = 1.0, drain_timeout: float = 1.0) -> None:
        if sock.type != socket.SOCK_STREAM:
            raise UsageError("a stream socket is needed")
        fd = sock.detach()
        super().__init__(fd, fd, linger=linger, drain_timeout=drain_timeout)


async def open_unix(path: Address) -> SocketTransport:
    """Connect to the unix socket at ``path``. ``OSError`` if nobody listens there."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await _connect_unix(sock, os.fspath(path))
    except BaseException:
        sock.close()
        raise
    return SocketTransport(sock)


async def open_tcp(host: str, port: int) -> SocketTransport:
    """Connect to ``port`` at the first address of ``host`` that answers; the last one's ``OSError`` if none does."""
    loop = asyncio.get_running_loop()
    failure = OSError(errno.EADDRNOTAVAIL, f"no address for {host}")
    for family, kind, proto, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        sock = socket.socket(family, kind, proto)
        try:
            _tune(sock)
            await loop.sock_connect(sock, address)
        except OSError as error:
            sock.close()
            failure = error
        except BaseException:
            sock.close()
            raise
        else:
            return SocketTransport(sock)
    raise failure


async def listen(
    accepted: Callable[[SocketTransport], object],
    *,
    path: Address | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    backlog: int = 100,
) -> SocketServer:
    """Listen at the unix ``path``, or at ``host`` and ``port`` (0: any free one).

    ``accepted`` is called for each connection and gets a transport that is not started yet. A unix socket that was left
    over by a dead server is replaced. ``UsageError`` unless exactly one of ``path`` and ``port`` is given; ``OSError``
    if the address is in use.
    """
    if (path is None) == (port is None):
        raise UsageError("give either a path or a port")
    loop = asyncio.get_running_loop()
    if path is not None:
        sockets = [_bind_unix(os.fspath(path), backlog)]
        return SocketServer(sockets, accepted, loop=loop, path=os.fspath(path))
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    wanted = dict.fromkeys((family, address) for family, _, _, _, address in found)
    return SocketServer(_bind_tcp(list(wanted), backlog), accepted, loop=loop)


class SocketServer:
    """Accepts connections until :meth:`close`; made by :func:`listen`. Connections live on after it."""

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        accepted: Callable[[SocketTransport], object],
        *,
        loop: asyncio.AbstractEventLoop,
        path: str | None = None,
    ) -> None:
        self._sockets = list(sockets)
        self._accepted = accepted
        self._loop = loop
        self._path = path
        self._identity = None if path is None else _identity(path)
        self._pauses: dict[socket.socket, asyncio.TimerHandle] = {}
        for sock in self._sockets:
            sock.setblocking(False)
            self._resume(sock)

    @property
    def addresses(self) -> list[str | bytes | tuple[str, int]]:
        """Where it listens: a path (bytes for an abstract one), or host and port."""
        names = [sock.getsockname() for sock in self._sockets]
        return [name if isinstance(name, (str, bytes)) else (name[0], name[1]) for name in names]

    def close(self) -> None:
        """Stop listening and remove the unix path, if it is still ours; idempotent."""
        for timer in self._pauses.values():
            timer.cancel()
        for sock in self._sockets:
            self._loop.remove_reader(sock.fileno())
            sock.close()
        self._sockets.clear()
        self._pauses.clear()
        if self._path is not None and self._identity is not None and _identity(self._path) == self._identity:
            os.unlink(self._path)
        self._identity = None

    async def __aenter__(self) -> SocketServer:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def _resume(self, sock: socket.socket) -> None:
        self._pauses.pop(sock, None)
        self._loop.add_reader(sock.fileno(), self._accept, sock)

    def _accept(self, sock: socket.socket) -> None:
        for _ in range(_ACCEPTS_PER_TURN):
            try:
                client, _ = sock.accept()
            except BlockingIOError:
                return
            except ConnectionAbortedError:
                continue  # that one hung up while it waited in the queue
            except OSError as error:
                self._pause(sock, error)
                return
            self._hand_over(client)
            if sock.fileno() < 0:
                return

    def _pause(self, sock: socket.socket, error: OSError) -> None:
        _log.warning("cannot accept connections, next try in %g s: %s", _ACCEPT_PAUSE, error)
        self._loop.remove_reader(sock.fileno())
        self._pauses[sock] = self._loop.call_later(_ACCEPT_PAUSE, self._resume, sock)

    def _hand_over(self, client: socket.socket) -> None:
        _tune(client)
        transport = SocketTransport(client)
        try:
            self._accepted(transport)
        except Exception:
            _log.exception("the callback for a new connection failed")
            transport.abort()


def _tune(sock: socket.socket) -> None:
    sock.setblocking(False)
    if sock.family != socket.AF_UNIX:
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


async def _connect_unix(sock: socket.socket, path: str) -> None:
    """Connects at once, or not yet: a full queue is EAGAIN, which loops take for a connection under way."""
    while (code := sock.connect_ex(path)) == errno.EAGAIN:  # noqa: ASYNC110 - nobody tells when there is room
        await asyncio.sleep(_BACKLOG_PAUSE)
    if code:
        raise OSError(code, os.strerror(code), path)


def _bind_unix(path: str, backlog: int) -> socket.socket:
    if _is_left_over(path):
        os.unlink(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.bind(path)
        sock.listen(backlog)
    except BaseException:
        sock.close()
        raise
    return sock


def _is_left_over(path: str) -> bool:
    """Whether ``path`` is a socket that nobody listens at."""
    if _identity(path) is None or not stat.S_ISSOCK(os.lstat(path).st_mode):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        return probe.connect_ex(path) == errno.ECONNREFUSED


def _bind_tcp(wanted: Sequence[tuple[int, tuple[Any, ...]]], backlog: int) -> list[socket.socket]:
    """One listening socket an address, but none for what this machine lacks (``localhost`` names IPv6 everywhere)."""
    sockets: list[socket.socket] = []
    lacking = OSError(errno.EADDRNOTAVAIL, "no address to listen at")
    with contextlib.ExitStack() as undo:
        for family, (host, port, *scope) in wanted:
            # With port 0 the first address chooses, the others follow.
            chosen = sockets[0].getsockname()[1] if sockets else port
            bound = _listen_tcp(family, (host, chosen, *scope), backlog)
            if isinstance(bound, OSError):
                lacking = bound
            else:
                sockets.append(undo.enter_context(bound))
        if not sockets:
            raise lacking
        undo.pop_all()
    return sockets


def _listen_tcp(family: int, address: tuple[Any, ...], backlog: int) -> socket.socket | OSError:
    """A listening socket, or the error that says that the machine has no such address."""
    sock = None
    try:
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
        sock.listen(backlog)
    except OSError as error:
        if sock is not None:
            sock.close()
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return error
        raise
    return sock


def _identity(path: str) -> tuple[int, int] | None:
    """What tells our socket file from one that somebody else put at the same path. None for abstract names."""
    if path.startswith("\0"):
        return None
    try:
        status = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
