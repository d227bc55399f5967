"""Exit statuses, as a shell has them."""

from __future__ import annotations

import signal
from typing import Final

from ..schema import TerminalExitStatus

OWN_FAILURE: Final = 125
"""It was not the command that failed: the agent could not be started, broke off, or output cannot be written."""

INTERRUPTED: Final = 128 + signal.SIGINT
READER_GONE: Final = 128 + signal.SIGPIPE


def shell_status(status: TerminalExitStatus) -> int:
    """0 to 255: an exit code as it is (a larger one becomes its low byte, but never 0), 128+n for signal n."""
    if status.signal is not None:
        return 128 + (_number(status.signal) or 0)
    code = status.exit_code or 0
    return code if code < 256 else code & 0xFF or 1


def _number(name: str) -> int | None:
    """Of ``SIGKILL``, ``KILL`` or ``9``."""
    if name.isdecimal():
        return int(name) & 0x7F
    text = name.upper().removeprefix("SIG")
    if text.isdecimal():  # a real-time signal
        return int(text) & 0x7F
    found = signal.Signals.__members__.get(f"SIG{text}")
    return None if found is None else int(found)
