"""After each test: no descriptor, child process or thread is left that was not there before."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator

import pytest
from loops import LOOPS, new_loop


@pytest.fixture(scope="session", autouse=True)
def _warm_up() -> None:
    """The first uvloop opens descriptors that stay for good."""
    for kind in LOOPS:
        new_loop(kind).close()


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


def open_fds() -> dict[int, str]:
    """Descriptor number to what it is."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            pass  # the one that listed the folder
    return found


def _children() -> set[str]:
    pids: set[str] = set()
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as file:
            pids |= set(file.read().split())
    return pids
