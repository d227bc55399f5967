"""ProcessTransport with real children, on both loops: talking, and what a child is started with."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, cast

import pytest
from children import IGNORE_TERM, SHORT, is_alive, python, sh, started
from links import FakeLink, noise, open_fds
from loops import LOOPS, new_loop, run

from acpcore.errors import UsageError
from acpcore.transports._stderr import StderrTail
from acpcore.transports.base import Outcome, Transport
from acpcore.transports.process import ProcessTransport

pytestmark = pytest.mark.parametrize("kind", LOOPS)


# -- talking


@pytest.mark.parametrize("stdio", ["pipe", "socketpair"])
@pytest.mark.parametrize("pipe_size", [None, 4096, 1 << 40])
def test_a_conversation(kind: str, stdio: Any, pipe_size: int | None) -> None:
    """A size that the system refuses is a wish that was not granted."""
    if stdio == "socketpair" and pipe_size == 1 << 40:
        pipe_size = 1 << 20
    data = noise(1 << 20)

    async def main() -> None:
        transport, link = started(["cat"], stdio=stdio, pipe_size=pipe_size)
        link.send(data)
        await link.until_received(len(data))
        transport.close()
        assert await transport.wait_closed() == Outcome(exit_code=0)
        assert link.received == data
        assert link.calls == ["data", "lost"]

    run(kind, main)


def test_environment_and_folder(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        argv = sh('echo "$WORD"; pwd -P; env | wc -l')
        env = {"WORD": "hello", "PATH": os.environ["PATH"]}
        transport, link = started(argv, env=env, cwd=tmp_path)
        await link.until_lost()
        word, folder, count = link.received.decode().split()
        assert word == "hello"
        assert os.path.samefile(folder, tmp_path)  # noqa: ASYNC240
        assert int(count) < 8
        await transport.wait_closed()

    run(kind, main)


def test_the_child_has_real_pipes(kind: str) -> None:
    """Sockets, which uvloop would give, cannot be opened by name. [LOG 77]"""

    async def main() -> None:
        transport, link = started(sh("read line < /dev/stdin; echo $line > /proc/self/fd/1"))
        link.send(b"hello\n")
        await link.until_lost()
        assert link.received == b"hello\n"
        assert (await transport.wait_closed()).exit_code == 0

    run(kind, main)


def test_the_child_inherits_nothing_else(kind: str) -> None:
    async def main() -> None:
        os.set_inheritable(spare := os.open(os.devnull, os.O_RDONLY), True)
        transport, link = started(["ls", "/proc/self/fd"])
        await link.until_lost()
        os.close(spare)
        assert link.received.split() == [b"0", b"1", b"2", b"3"]  # 3 is the folder being listed
        await transport.wait_closed()

    run(kind, main)


def test_the_child_has_a_session_of_its_own(kind: str) -> None:
    """Ctrl-C in the host's terminal is not meant for it. [LOG 81]"""

    async def main() -> None:
        transport, _ = started(["cat"])
        assert transport.pid is not None
        assert os.getsid(transport.pid) == os.getpgid(transport.pid) == transport.pid
        transport.close()
        await transport.wait_closed()

    run(kind, main)


def test_a_child_in_our_own_session(kind: str) -> None:
    """Then only the child is signalled, above all not ourselves."""

    async def main() -> None:
        transport, link = started(python(IGNORE_TERM), new_session=False, **SHORT)
        assert transport.pid is not None
        assert os.getsid(transport.pid) == os.getsid(0)
        await link.until_received(6)
        transport.close()
        assert (await transport.wait_closed()).signal == "SIGKILL"

    run(kind, main)


def test_ending_its_input_only(kind: str) -> None:
    async def main() -> None:
        transport, link = started(sh("cat > /dev/null; sleep 0.1; echo done; exit 3"), **SHORT)
        link.send(b"hello")
        transport.write_eof()
        await link.until_lost()
        assert link.received == b"done\n"
        assert (await transport.wait_closed()).exit_code == 3

    run(kind, main)


# -- stderr


@pytest.mark.parametrize("newlines", [True, False])
def test_a_flood_on_stderr_blocks_nothing(kind: str, newlines: bool) -> None:
    """1 MiB before the answer; the tail is bounded, the host sees all. [LOG 70]"""
    flood = (b"x" * 99 + b"\n" if newlines else b"x" * 100) * 10486

    async def main() -> None:
        code = (
            "import sys\nsys.stdin.readline()\n"
            f"sys.stderr.buffer.write({flood[:100]!r} * 10486)\nsys.stderr.flush()\n"
            "print('answer', flush=True)\nsys.stderr.write('END')\nsys.stdin.read()"
        )
        pieces: list[bytes] = []
        transport, link = started(python(code), on_stderr=pieces.append, stderr_tail=1000)
        link.send(b"question\n")
        await link.until_received(7)
        transport.close()
        outcome = await transport.wait_closed()
        assert outcome.exit_code == 0
        assert b"".join(pieces) == flood + b"END"
        assert outcome.stderr_tail == (flood + b"END")[-1000:]

    run(kind, main)


def test_stderr_is_complete_when_the_end_is_told(kind: str) -> None:
    async def main() -> None:
        code = "import fcntl, os; fcntl.fcntl(2, 1031, 1 << 20); os.write(2, b'y' * 500_000); os._exit(1)"
        transport, link = started(python(code), stderr_tail=1 << 20)
        tails: list[int] = []
        link.on_lost = lambda: tails.append(len(transport.outcome.stderr_tail))
        while transport.pid and is_alive(transport.pid):
            time.sleep(0.01)  # noqa: ASYNC251 - the exit is noticed while most of it is still in the pipe
        await link.until_lost()
        assert tails == [500_000]
        await transport.wait_closed()

    run(kind, main)


def test_a_grandchild_that_holds_stderr_open(kind: str) -> None:
    async def main() -> None:
        code = "setsid sh -c 'echo $$ >&2; exec sleep 600 >/dev/null' & sleep 0.1; exit 1"
        transport, link = started(sh(code), drain_timeout=0.2)
        await link.until_lost()
        outcome = await transport.wait_closed()
        os.kill(int(outcome.stderr_tail), signal.SIGKILL)
        assert outcome.exit_code == 1

    run(kind, main)


def test_a_stderr_callback_that_fails_is_reported_once(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        def show(data: bytes) -> None:
            raise ValueError("no")

        code = "for i in 1 2 3 4; do echo $i >&2; sleep 0.02; done"
        transport, link = started(sh(code), on_stderr=show)
        await link.until_lost()
        assert (await transport.wait_closed()).stderr_tail == b"1\n2\n3\n4\n"

    run(kind, main)
    assert [(record.name, record.levelno) for record in caplog.records] == [("acpcore", logging.ERROR)]


def test_the_tail_takes_bounded_memory(kind: str) -> None:
    tail = StderrTail(1000, None)
    for size in (1, 999, 65536, 1, 500, 65536):
        tail.get_buffer()[:size] = bytes([size % 251]) * size
        tail.buffer_updated(size)
        assert len(tail._kept) <= 2000
    assert tail.tail == bytes([65536 % 251]) * 1000


def test_no_tail_wanted(kind: str) -> None:
    async def main() -> None:
        transport, link = started(sh("echo hello >&2"), stderr_tail=0)
        await link.until_lost()
        assert (await transport.wait_closed()).stderr_tail == b""

    run(kind, main)


@pytest.mark.parametrize("target", ["path", "descriptor", "inherited", "null"])
def test_stderr_elsewhere(kind: str, target: str, tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b"kept ")

    async def main() -> None:
        fd = os.open(file, os.O_WRONLY | os.O_APPEND)
        choice: dict[str, Any] = {"path": file, "descriptor": fd, "inherited": None, "null": subprocess.DEVNULL}
        saved = os.dup(2)
        if target == "inherited":
            os.dup2(fd, 2)
        try:
            transport, link = started(sh("echo hello >&2"), stderr=choice[target])
        finally:
            os.dup2(saved, 2)
            os.close(saved)
        await link.until_lost()
        assert await transport.wait_closed() == Outcome(exit_code=0)
        os.close(fd)

    run(kind, main)
    assert file.read_bytes() == (b"kept " if target == "null" else b"kept hello\n")


# -- what cannot be started


def test_what_cannot_be_started(kind: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")

    async def main() -> None:
        before = open_fds()
        cases: list[tuple[list[str], dict[str, Any], type[OSError]]] = [
            (["no-such-command-anywhere"], {}, FileNotFoundError),
            ([str(tmp_path / "text")], {}, PermissionError),
            (["cat"], {"cwd": tmp_path / "nowhere"}, FileNotFoundError),
            (["cat"], {"stderr": tmp_path / "nowhere" / "log"}, FileNotFoundError),
            (["no-such-command-anywhere"], {"stdio": "socketpair"}, FileNotFoundError),
        ]
        for argv, options, error in cases:
            transport = ProcessTransport(argv, **options)
            link = FakeLink()
            with pytest.raises(error):
                link.start(transport)
            assert await transport.wait_closed() == Outcome()
            transport.close()
            transport.abort()
            assert link.calls == []
        assert open_fds() == before

    run(kind, main)


def test_wrong_use(kind: str) -> None:
    for wrong in list[Any](("cat", [])):
        with pytest.raises(UsageError, match="argv"):
            ProcessTransport(wrong)
    with pytest.raises(UsageError, match="stdio"):
        ProcessTransport(["cat"], stdio=cast(Any, "socket"))
    with pytest.raises(UsageError, match="stdout"):
        ProcessTransport(["cat"], stderr=subprocess.STDOUT)

    async def main() -> None:
        transport: Transport = ProcessTransport(["cat"])
        transport.wake()
        with pytest.raises(UsageError, match="not started"):
            await transport.wait_closed()
        transport.close()
        assert await transport.wait_closed() == Outcome()
        with pytest.raises(UsageError, match="once"):
            FakeLink().start(transport)

    run(kind, main)


def test_a_closed_loop_leaves_no_child(kind: str, watch: str) -> None:
    loop = new_loop(kind)
    loop.close()
    with pytest.raises(RuntimeError):
        ProcessTransport(["sleep", "600"]).start(FakeLink(), loop)
