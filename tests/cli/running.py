"""Runs the command line as its users do: as a process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import acpcore

HOME = str(Path(acpcore.__file__).resolve().parent.parent)
TIMEOUT = 60


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "acpcore", *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": HOME, "LC_ALL": "C.UTF-8"}


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The finished process: ``stdout`` and ``stderr`` as bytes."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run(command(*arguments), env=environment(), timeout=TIMEOUT, check=False, **options)


def stream(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return run("stream", *arguments, **options)


def start(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options}
    return subprocess.Popen(command(*arguments), env=environment(), **options)


def is_gone(pid: int) -> bool:
    """Whether a process ends soon: the one that started it may have to be reaped by somebody else."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.02)
    return False


def said(process: subprocess.CompletedProcess[bytes]) -> str:
    """What it wrote to stderr, which never is a traceback."""
    text = process.stderr.decode()
    assert "Traceback" not in text, text
    return text
