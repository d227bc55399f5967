"""What the tests of child processes share."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from links import FakeLink

from acpcore.transports.process import ProcessTransport

IGNORE_EOF = "import time\nprint('ready', flush=True)\ntime.sleep(600)"
IGNORE_TERM = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + IGNORE_EOF
SHORT: dict[str, Any] = {"exit_timeout": 0.1, "term_timeout": 0.1}
LONG: dict[str, Any] = {"exit_timeout": 600.0, "term_timeout": 600.0, "kill_timeout": 600.0, "drain_timeout": 600.0}


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def sh(code: str) -> list[str]:
    return ["sh", "-c", code]


def started(argv: list[str], buffer_size: int = 65536, **options: Any) -> tuple[ProcessTransport, FakeLink]:
    transport = ProcessTransport(argv, **options)
    return transport, FakeLink(buffer_size).start(transport)


def is_alive(pid: int) -> bool:
    """Not gone and no zombie either: in a container perhaps nobody reaps orphans."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


async def until_gone(pid: int) -> None:
    while is_alive(pid):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
