"""What a stream says on stderr: a live line, a summary, or what went wrong."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from .summary import Summary

if TYPE_CHECKING:
    from .live import LiveLine


class Report:
    """``summary()`` gives the numbers so far; ``json``: one line of JSON at the end and nothing else.

    A live line needs a terminal for itself: it is shown when stderr is one and stdout, which the command's bytes go
    to, is not. The summary is shown when stderr is a terminal.
    """

    def __init__(self, summary: Callable[[], Summary], json: bool) -> None:
        self._summary = summary
        self._json = json
        self._live: LiveLine | None = None

    def start(self) -> None:
        """The stream begins."""
        if self._json or not _is_terminal(sys.stderr) or _is_terminal(sys.stdout):
            return
        from rich.console import Console

        from .live import LiveLine

        self._live = LiveLine(Console(stderr=True), self._summary)
        self._live.start()

    def stop(self) -> None:
        """It is over: clear the line."""
        if self._live is not None:
            self._live.stop()

    def finish(self, summary: Summary) -> None:
        """Say how it went."""
        if self._json:
            say(summary.json())
            return
        if summary.error is not None:
            say(f"acpcore: {summary.error}")
        if _is_terminal(sys.stderr):
            say(summary.line())


def say(text: str) -> None:
    """A line on stderr, if there is one: ``print`` would take stdout instead."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def _is_terminal(file: object) -> bool:
    return file is not None and getattr(file, "isatty", lambda: False)()
