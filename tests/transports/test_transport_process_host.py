"""Children and their hosts: loops, threads, policies, hosts that forget or die."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Iterator

import pytest
import uvloop
from children import is_alive, sh, started, until_gone
from links import FakeLink
from loops import LOOPS, new_loop, run

from acpcore.transports.base import Outcome
from acpcore.transports.process import ProcessTransport

pytestmark = pytest.mark.parametrize("kind", LOOPS)


def test_in_another_thread(kind: str, watch: str) -> None:
    """[LOG 78]"""
    outcomes: list[Outcome] = []

    async def main() -> None:
        transport, link = started(sh("cat; exit 4"))
        link.send(b"hello")
        await link.until_received(5)
        transport.close()
        outcomes.append(await transport.wait_closed())

    thread = threading.Thread(target=run, args=(kind, main))
    thread.start()
    thread.join()
    assert outcomes == [Outcome(exit_code=4)]


@pytest.fixture
def _uvloop_policy() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
        yield
        asyncio.set_event_loop_policy(None)


@pytest.mark.usefixtures("_uvloop_policy")
def test_under_a_policy_of_the_hosts(kind: str) -> None:
    """A web server set uvloop's policy; the loop that runs is whatever it is. [LOG 78]"""

    async def main() -> None:
        transport, link = started(["cat"])
        link.send(b"hello")
        await link.until_received(5)
        transport.close()
        assert (await transport.wait_closed()).exit_code == 0

    run(kind, main)


def test_many_children_at_once(kind: str) -> None:
    async def one(number: int) -> None:
        transport, link = started(sh(f"cat; exit {number}"))
        link.send(b"hello")
        await link.until_received(5)
        transport.close()
        assert (await transport.wait_closed()).exit_code == number

    async def main() -> None:
        await asyncio.gather(*(one(number) for number in range(20)))

    run(kind, main)


def test_dropped_while_its_loop_runs(kind: str) -> None:
    async def main() -> None:
        transport, link = started(["sleep", "600"])
        pid = transport.pid
        assert pid is not None
        link.transport = None
        gone = weakref.ref(transport)
        with pytest.warns(ResourceWarning, match="unclosed transport"):
            del transport
        assert gone() is None
        await link.until_lost()
        await until_gone(pid)

    run(kind, main)


def test_dropped_after_its_loop_was_closed(kind: str, watch: str) -> None:
    loop = new_loop(kind)
    transport = ProcessTransport(sh("sleep 600 & exec sleep 600"))
    link = FakeLink()
    transport.start(link, loop)
    loop.run_until_complete(asyncio.sleep(0.02))
    loop.close()
    pid = transport.pid
    assert pid is not None
    assert is_alive(pid)
    del transport, link
    with pytest.warns(ResourceWarning, match="never closed"):
        gc.collect()
    assert not is_alive(pid)


HOST = """
import asyncio, os, sys
from links import FakeLink
from loops import new_loop
from acpcore.transports.process import ProcessTransport
loop = new_loop(sys.argv[1])
transport = ProcessTransport(["cat"])
transport.start(FakeLink(), loop)
loop.run_until_complete(asyncio.sleep(0.02))
print(transport.pid, flush=True)
"""


@pytest.mark.parametrize("end", ["killed", "exits"])
def test_the_child_does_not_outlive_its_host(kind: str, end: str) -> None:
    """[LOG 67]"""
    code = HOST + ("loop.run_forever()" if end == "killed" else "")
    env = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    host = subprocess.Popen([sys.executable, "-c", code, kind], stdout=subprocess.PIPE, env=env)
    assert host.stdout is not None
    pid = int(host.stdout.readline())
    if end == "killed":
        assert is_alive(pid)
        host.kill()
    host.wait(30)
    host.stdout.close()
    deadline = time.monotonic() + 30
    while is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_forked_copy_of_the_host_kills_nothing(kind: str) -> None:
    """It has a copy of every object, and at its exit they are cleaned up."""
    code = HOST + (
        "pid = os.fork()\n"
        "if pid == 0: sys.exit(0)\n"
        "os.waitpid(pid, 0)\n"
        "with open(f'/proc/{transport.pid}/stat') as file: print(file.read().rpartition(')')[2].split()[0])\n"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    done = subprocess.run([sys.executable, "-c", code, kind], capture_output=True, env=env, timeout=30, check=True)
    assert done.stdout.split()[-1] == b"S"
