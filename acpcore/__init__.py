"""acpcore: the transport core for the Agent Client Protocol.

Bytes of newline-delimited JSON-RPC in, checked and ordered messages out, and back, in bounded memory.
"""

from .connection import Connection
from .engine import Engine, Stats
from .errors import (
    AcpError,
    ConnectionClosed,
    InvalidParams,
    Overrun,
    ProtocolError,
    RemoteError,
    RequestCancelled,
    UsageError,
)
from .flow import Budget, Gate, Limits
from .handlers import Handlers
from .message import (
    BadFrame,
    Call,
    Closed,
    Event,
    FrameTooLarge,
    Notification,
    Request,
    Response,
    TerminalBytes,
    Truncated,
    Updates,
    expand,
)
from .observing import Observation
from .opening import Server, connect, run, serve, spawn, stdio

__version__ = "0.1.0"

__all__ = [
    "AcpError",
    "BadFrame",
    "Budget",
    "Call",
    "Closed",
    "Connection",
    "ConnectionClosed",
    "Engine",
    "Event",
    "FrameTooLarge",
    "Gate",
    "Handlers",
    "InvalidParams",
    "Limits",
    "Notification",
    "Observation",
    "Overrun",
    "ProtocolError",
    "RemoteError",
    "Request",
    "RequestCancelled",
    "Response",
    "Server",
    "Stats",
    "TerminalBytes",
    "Truncated",
    "Updates",
    "UsageError",
    "connect",
    "expand",
    "run",
    "serve",
    "spawn",
    "stdio",
]
