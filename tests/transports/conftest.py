"""After each test: no descriptor, child process or thread is left that was not there before."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from links import open_fds
from loops import LOOPS, new_loop


@pytest.fixture(scope="module", autouse=True)
def _warm_up() -> Iterator[None]:
    """The first uvloop opens descriptors that stay for good, and what is alive now need not be collected each time."""
    for kind in LOOPS:
        new_loop(kind).close()
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    before = _what_is_there()
    yield
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "acpcore-wait":
            thread.join(10)
    assert _what_is_there() == before


def _what_is_there() -> tuple[dict[int, str], set[str]]:
    return open_fds(), _children()


def _children() -> set[str]:
    pids: set[str] = set()
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(FileNotFoundError):  # a thread that just ended
            pids |= set(Path(f"/proc/self/task/{task}/children").read_text().split())
    return pids


@pytest.fixture(params=["pidfd", "thread", "timer"])
def watch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way to notice an exit, as systems have them."""
    if request.param != "pidfd":
        monkeypatch.delattr(os, "pidfd_open")
    if request.param == "timer":
        monkeypatch.delattr(os, "waitid")
    return str(request.param)
