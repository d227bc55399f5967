"""What people see on stderr while a stream runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from .summary import Summary

_INTERVAL: Final = 0.25  # seconds


class LiveLine:
    """Shows ``summary()`` on ``console`` four times a second until :meth:`stop`, which wipes it away."""

    def __init__(self, console: Console, summary: Callable[[], Summary]) -> None:
        self._summary = summary
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin."""
        self._live.start()
        self._tick()

    def stop(self) -> None:
        """End; idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._live.stop()

    def _tick(self) -> None:
        self._live.update(Text(self._summary().line(), no_wrap=True, overflow="ellipsis"), refresh=True)
        self._timer = asyncio.get_running_loop().call_later(_INTERVAL, self._tick)
