"""How large the streams of these tests are, and what a process has used of memory."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path
from typing import TypeVar

import acpcore

Number = TypeVar("Number", int, float)

KIB = 1024
MIB = 1024 * KIB
FULL = os.environ.get("ACPCORE_FULL") == "1"
HOME = Path(__file__).resolve().parent
PACKAGE = Path(acpcore.__file__).resolve().parent.parent


def scaled(quick: Number, full: Number) -> Number:
    """A size or a number of rounds: ``full`` with ``ACPCORE_FULL=1``."""
    return full if FULL else quick


def program(name: str, *arguments: object) -> list[str]:
    """The command that runs a helper of this folder."""
    return [sys.executable, str(HOME / name), *map(str, arguments)]


def environment() -> dict[str, str]:
    """Helpers find the package that is tested, and start their own helpers the same way."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(HOME)])}


def memory(mark: str = "VmHWM", pid: int | str = "self") -> int:
    """Bytes of a process: ``VmHWM`` at its peak, ``VmRSS`` now; 0 if it is gone."""
    with contextlib.suppress(OSError):
        found = re.search(rf"{mark}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) * KIB if found else 0
    return 0


def forget_peak() -> int:
    """Let the peak begin anew; returns where it stands now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return memory()
