"""What is installed once for all of these tests, and nothing left behind by any of them."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Iterator

import peers
import pytest
from loops import LOOPS, new_loop


@pytest.fixture(scope="session")
def sdks() -> None:
    """Both JavaScript SDKs can be run."""
    peers.install_sdks()


@pytest.fixture(scope="session")
def rc3(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter that has the Python SDK; kept in pytest's cache, for it takes a while to make."""
    cache = getattr(pytestconfig, "cache", None)
    return peers.install_rc3(cache.mkdir("rc3") if cache is not None else tmp_path_factory.mktemp("rc3"))


@pytest.fixture(scope="session", autouse=True)
def _warm_up() -> None:
    """The first uvloop opens descriptors that stay for good."""
    for kind in LOOPS:
        new_loop(kind).close()


@pytest.fixture(autouse=True)
def _nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    for name in {"sdks", "rc3"} & set(request.fixturenames):
        request.getfixturevalue(name)  # what an installation leaves behind is not the test's
    before = _children(), _descriptors()
    yield
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "acpcore-wait":
            thread.join(10)
    assert (_children(), _descriptors()) == before


def _children() -> set[str]:
    pids: set[str] = set()
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as file:
            pids |= set(file.read().split())
    return pids


def _descriptors() -> dict[int, str]:
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one that listed the folder
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found
