"""StdioTransport in a process of its own, with every kind of stdin and stdout, on both loops."""

from __future__ import annotations

import json
import os
import pty
import socket
import subprocess
import sys
import termios
import tty
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from links import FakeLink, SlowReader, noise, write_all
from loops import LOOPS, run

from acpcore.errors import UsageError
from acpcore.transports.stdio import StdioTransport

pytestmark = pytest.mark.parametrize("kind", LOOPS)

AGENT = [sys.executable, str(Path(__file__).with_name("stdio_agent.py"))]
ENV = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path), "PYTHONWARNINGS": "error"}
ENV.pop("PYTHONUNBUFFERED", None)  # what is printed must be able to wait for the wrong moment


class Told(NamedTuple):
    """What the agent wrote to stderr."""

    states: dict[str, dict[str, Any]]
    text: str


def told(stderr: bytes) -> Told:
    lines = stderr.decode().splitlines()
    states = [json.loads(line[1:]) for line in lines if line.startswith("@")]
    return Told({state["when"]: state for state in states}, "\n".join(x for x in lines if not x.startswith("@")))


def start(kind: str, *words: str, stdin: int, stdout: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*AGENT, kind, *words], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=ENV)


def finish(agent: subprocess.Popen[bytes]) -> Told:
    _, stderr = agent.communicate(timeout=30)
    assert agent.returncode == 0, stderr.decode()
    return told(stderr)


def check_restored(seen: Told) -> None:
    before, after = seen.states["before"], seen.states["after"]
    # Loops leave descriptors of their own.
    assert {**after, "when": "before", "open": before["open"]} == before
    assert after["open"] <= before["open"] + 4


def test_pipes_with_noise_around(kind: str) -> None:
    """The wire carries the answers and nothing else; input is not eaten by a child. [LOG 69]"""
    agent = start(kind, "noisy", "early", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stdout, stderr = agent.communicate(b"hello", timeout=30)
    seen = told(stderr)
    assert agent.returncode == 0, seen.text
    # Before and after, stdout is the program's own.
    head, _, rest = stdout.partition(b"HELLO")
    assert head == b"early\n"
    assert sorted(rest.decode().splitlines()) == ["child after", "print after", "write after"]
    for line in ("print running", "write running", "child running"):
        assert line in seen.text.splitlines()
    check_restored(seen)
    assert seen.states["running"]["inheritable"] == [True, True]


def test_where_the_descriptors_point(kind: str, tmp_path: Path) -> None:
    with open(tmp_path / "stderr", "wb") as stderr:
        command = [*AGENT, kind]
        done = subprocess.run(
            command, input=b"", stdout=subprocess.PIPE, stderr=stderr, env=ENV, timeout=30, check=True
        )
    seen = told((tmp_path / "stderr").read_bytes())
    assert done.stdout == b""
    assert seen.states["running"]["files"] == [os.devnull, str(tmp_path / "stderr")]


def test_without_isolation_the_descriptors_stay(kind: str) -> None:
    agent = start(kind, "plain", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stdout, stderr = agent.communicate(b"hello", timeout=30)
    seen = told(stderr)
    assert stdout == b"HELLO"
    check_restored(seen)
    assert seen.states["running"]["files"] == seen.states["before"]["files"]


def test_much_data_over_pipes(kind: str) -> None:
    data = bytes(byte | 0x80 for byte in noise(1 << 20))  # without letters
    agent = start(kind, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stdout, stderr = agent.communicate(data, timeout=30)
    assert agent.returncode == 0, stderr.decode()
    assert stdout == data


@pytest.mark.parametrize("isolate", [True, False])
def test_one_socket_for_both(kind: str, isolate: bool) -> None:
    here, there = socket.socketpair()
    with here, there:
        words = ["noisy"] if isolate else ["plain"]
        agent = start(kind, *words, stdin=there.fileno(), stdout=there.fileno())
        here.sendall(b"hello")
        here.shutdown(socket.SHUT_WR)
        seen = finish(agent)
        assert os.get_blocking(there.fileno())
        there.close()
        received = b"".join(iter(lambda: here.recv(100), b""))
        assert received.startswith(b"HELLO")
        assert sorted(received[5:].splitlines()) == (
            [b"child after", b"print after", b"write after"] if isolate else []
        )
    check_restored(seen)
    assert seen.states["before"]["blocking"] == [True, True]
    assert seen.states["running"]["stderr_blocking"]


@pytest.mark.parametrize("words", [[], ["plain"]])
def test_a_terminal(kind: str, words: list[str]) -> None:
    master, slave = pty.openpty()
    tty.setraw(slave)
    agent = start(kind, *words, stdin=slave, stdout=slave)
    write_all(master, b"hello")
    answer = b""
    while len(answer) < 5:
        answer += os.read(master, 100)
    assert answer == b"HELLO"
    assert os.get_blocking(slave), "the flag of everyone's terminal"
    tty.setcbreak(slave)  # with a line discipline, in which Ctrl-D ends the input
    attributes = termios.tcgetattr(slave)
    attributes[3] |= termios.ICANON
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    write_all(master, b"\x04")
    check_restored(finish(agent))
    os.close(master)
    os.close(slave)


def test_files(kind: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"hello" * 50_000)
    with open(tmp_path / "in", "rb") as stdin, open(tmp_path / "out", "ab") as stdout:
        stdout.write(b"kept")
        stdout.flush()
        seen = finish(start(kind, "noisy", stdin=stdin.fileno(), stdout=stdout.fileno()))
    check_restored(seen)
    written = (tmp_path / "out").read_bytes()
    assert written.startswith(b"kept" + b"HELLO" * 50_000)
    assert b"running" not in written


def test_the_null_device(kind: str) -> None:
    check_restored(finish(start(kind, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)))


def test_output_to_the_null_device(kind: str) -> None:
    agent = start(kind, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert agent.stdin is not None
    agent.stdin.write(b"hello")
    check_restored(finish(agent))


def test_stdout_and_stderr_in_one_pipe(kind: str) -> None:
    """``2>&1``: log lines must still be written in full while nobody reads."""
    reader, writer = os.pipe()
    agent = subprocess.Popen([*AGENT, kind], stdin=subprocess.PIPE, stdout=writer, stderr=writer, env=ENV)
    os.close(writer)
    drain = SlowReader(reader)
    agent.communicate(b"hello", timeout=30)
    drain.join()
    assert b"HELLO" in drain.received
    seen = told(bytes(drain.received.replace(b"HELLO", b"")))
    assert seen.states["running"]["stderr_blocking"]


def in_main(kind: str, *lines: str) -> subprocess.CompletedProcess[bytes]:
    """Run ``lines`` in a coroutine of another process with nothing to read."""
    head = ["import os, sys", "from links import FakeLink", "from loops import run"]
    head += ["from acpcore.errors import UsageError", "from acpcore.transports.stdio import StdioTransport"]
    code = "\n".join([*head, "async def main():", *(f"    {line}" for line in lines), f"run({kind!r}, main)"])
    return subprocess.run([sys.executable, "-c", code], env=ENV, input=b"", capture_output=True, timeout=30, check=True)


REFUSED = [
    ("os.close(0)", "the stdin (descriptor 0) is not open"),
    ("os.close(1)", "the stdout (descriptor 1) is not open"),
    ("os.dup2(os.open('/', os.O_RDONLY), 0)", "the stdin (descriptor 0) is a directory"),
    ("os.dup2(os.open(os.devnull, os.O_WRONLY), 0)", "the stdin (descriptor 0) is opened for the other direction"),
    ("os.dup2(os.open(os.devnull, os.O_RDONLY), 1)", "the stdout (descriptor 1) is opened for the other direction"),
]


@pytest.mark.parametrize(("change", "reason"), REFUSED)
def test_what_cannot_be_used_is_refused(kind: str, change: str, reason: str) -> None:
    done = in_main(
        kind,
        change,
        "before = os.listdir('/proc/self/fd')",
        "try: FakeLink().start(StdioTransport())",
        "except UsageError as error: print('refused:', error, file=sys.stderr)",
        "assert os.listdir('/proc/self/fd') == before",
    )
    assert f"refused: {reason}" in done.stderr.decode()


def test_a_closed_stderr(kind: str) -> None:
    """The copies must not become descriptor 2, into which everything stray goes."""
    done = in_main(
        kind,
        "os.close(2)",
        "link = FakeLink()",
        "transport = StdioTransport()",
        "link.start(transport)",
        "print('stray', flush=True)",
        "assert not os.path.exists('/proc/self/fd/2')",
        "link.send(b'wire')",
        "await link.until(lambda: link.eof)",
        "transport.close()",
        "await transport.wait_closed()",
    )
    assert done.stdout == b"wire"


def test_one_at_a_time(kind: str) -> None:
    """In this very process, without touching the descriptors that the test runner may have changed."""

    async def main() -> None:
        null = os.open(os.devnull, os.O_RDWR)
        saved = [os.dup(0), os.dup(1)]
        os.dup2(null, 0)
        os.dup2(null, 1)
        try:
            transport = StdioTransport(isolate=False)
            link = FakeLink().start(transport)
            with pytest.raises(UsageError, match="taken"):
                FakeLink().start(StdioTransport())
            transport.close()
            await link.until_lost()
            again = StdioTransport()
            link = FakeLink().start(again)
            again.abort()
            await link.until_lost()
        finally:
            for fd in (0, 1):
                os.dup2(saved[fd], fd)
                os.close(saved[fd])
            os.close(null)

    run(kind, main)


def test_never_started(kind: str) -> None:
    async def main() -> None:
        transport = StdioTransport()
        transport.close()
        await transport.wait_closed()
        StdioTransport().abort()

    run(kind, main)
