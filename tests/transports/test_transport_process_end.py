"""How children end, by themselves and by the ladder, on both loops."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import warnings
from typing import Any

import pytest
from children import IGNORE_EOF, IGNORE_TERM, LONG, SHORT, is_alive, python, sh, started, until_gone
from links import FakeLink, noise, turns
from loops import LOOPS, run

from acpcore.transports._child import Child
from acpcore.transports.base import Outcome
from acpcore.transports.process import ProcessTransport

pytestmark = pytest.mark.parametrize("kind", LOOPS)


# -- how it ends


def test_exit_code_and_stderr_are_known_at_the_end_of_input(kind: str, watch: str) -> None:
    """Whoever waits for an answer can be told at once why none comes. [LOG 41, 75]"""

    async def main() -> None:
        transport, link = started(sh("read line; echo bad key >&2; exit 3"))
        seen: list[Outcome] = []
        link.on_eof = lambda: seen.append(transport.outcome)
        link.send(b"hello\n")
        await link.until_lost()
        expected = Outcome(exit_code=3, stderr_tail=b"bad key\n")
        assert seen == [expected]
        assert link.calls == ["eof", "lost"]
        assert await transport.wait_closed() == expected

    run(kind, main)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM"])
def test_a_signal_has_its_name(kind: str, name: str) -> None:
    async def main() -> None:
        transport, link = started(sh(f"kill -{name[3:]} $$"))
        await link.until_lost()
        assert await transport.wait_closed() == Outcome(signal=name)

    run(kind, main)


def test_a_signal_without_a_name(kind: str) -> None:
    async def main() -> None:
        transport, link = started(python("import os; os.kill(os.getpid(), 40)"))
        await link.until_lost()
        assert await transport.wait_closed() == Outcome(signal="SIG40")

    run(kind, main)


@pytest.mark.parametrize("stdio", ["pipe", "socketpair"])
def test_a_burst_before_the_exit_reaches_a_slow_reader(kind: str, stdio: Any) -> None:
    """The child is long gone while its last output is still being read. [LOG 76]"""

    async def main() -> None:
        code = "import sys; sys.stdout.buffer.write(b'x' * (1 << 20)); sys.exit(5)"
        transport, link = started(python(code), 50_000, stdio=stdio, pipe_size=1 << 20, drain_timeout=0.05)
        loop = asyncio.get_running_loop()

        def pause(size: int) -> None:
            transport.pause_reading()
            loop.call_later(0.07 if len(link.received) < 200_000 else 0.002, transport.resume_reading)

        link.on_data = pause
        await link.until_lost()
        assert len(link.received) == 1 << 20
        assert (await transport.wait_closed()).exit_code == 5

    run(kind, main)


def test_a_child_that_answers_and_exits_is_heard_out(kind: str) -> None:
    async def main() -> None:
        transport, link = started(sh("head -c 50000 /dev/zero; exec 0<&-; sleep 0.05; exit 4"), 1000)
        transport.pause_reading()
        assert transport.pid is not None
        await until_gone(transport.pid)
        link.send(b"too late")
        await asyncio.sleep(0.02)
        assert link.calls == []
        transport.resume_reading()
        await link.until_lost()
        assert link.received == bytes(50_000)
        outcome = await transport.wait_closed()
        assert outcome.exit_code == 4

    run(kind, main)


def test_a_grandchild_that_holds_the_output_open(kind: str) -> None:
    """The exit is reported at once, with the output so far. [LOG 74]"""

    async def main() -> None:
        # In a session of its own it is out of reach, and goes on holding the pipes.
        code = "setsid sh -c 'echo $$; exec sleep 600' & sleep 0.05; echo hi"
        transport, link = started(sh(code), drain_timeout=0.3)
        await link.until_lost()
        pid, word = sorted(link.received.split())
        try:
            assert word == b"hi"
            assert is_alive(int(pid))
            assert link.calls == ["data", "eof", "lost"]
            assert (await transport.wait_closed()).exit_code == 0
        finally:
            os.kill(int(pid), signal.SIGKILL)

    run(kind, main)


def test_helpers_end_with_a_leader_that_exits_by_itself(kind: str, watch: str) -> None:
    async def main() -> None:
        transport, link = started(sh("sleep 600 & echo $!"), **LONG)
        await link.until_lost()
        assert (await transport.wait_closed()).exit_code == 0
        await until_gone(int(link.received))

    run(kind, main)


@pytest.mark.parametrize("how", ["exit", "close", "abort"])
def test_helpers_that_ignore_everything_end_too(kind: str, how: str) -> None:
    """Only the launcher would be killed otherwise, and its agents pile up. [LOG 66]"""
    agent = "trap '' TERM HUP; echo $$; while :; do sleep 0.05; done"

    async def main() -> None:
        wait = "sleep 0.1; exit 7" if how == "exit" else "wait"
        transport, link = started(sh(f'sh -c "{agent.replace("$", chr(92) + "$")}" & {wait}'), **SHORT)
        await link.until(lambda: link.received.endswith(b"\n"))
        if how != "exit":
            getattr(transport, how)()
        outcome = await transport.wait_closed()
        assert outcome.exit_code == 7 if how == "exit" else outcome.signal is not None
        await until_gone(int(link.received))

    run(kind, main)


def test_a_group_whose_members_are_not_listed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Child, "helpers", lambda self: None)

    async def main() -> None:
        transport, link = started(sh("trap '' TERM; sleep 600 & echo $!; exit 7"))
        await link.until_lost()
        assert (await transport.wait_closed()).exit_code == 7
        await until_gone(int(link.received))

    run(kind, main)


def test_a_child_that_somebody_else_reaps(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """How it ended cannot be known then, but that it did. Its group may be a stranger's by now."""
    signalled: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, number: signalled.append(group))

    async def main() -> None:
        transport, link = started(["cat"])
        assert transport.pid is not None
        transport.write_eof()
        os.waitpid(transport.pid, 0)  # noqa: ASYNC222
        await link.until_lost()
        assert await transport.wait_closed() == Outcome()
        transport.abort()
        assert signalled == []

    run(kind, main)


def test_output_closed_by_a_child_that_lives_on(kind: str) -> None:
    async def main() -> None:
        transport, link = started(sh("echo hi; exec >&-; read line; exit $line"), drain_timeout=0.1)
        await link.until(lambda: link.eof)
        assert transport.outcome == Outcome()
        link.send(b"9\n")
        await link.until_lost()
        assert (await transport.wait_closed()).exit_code == 9

    run(kind, main)


def test_input_closed_by_a_child_that_lives_on(kind: str) -> None:
    async def main() -> None:
        transport, link = started(sh("exec 0<&-; echo hi; exec sleep 600"), drain_timeout=0.1, **SHORT)
        await link.until_received(3)
        link.send(b"hello")
        await link.until_lost()
        assert isinstance(link.error, BrokenPipeError)
        assert link.calls == ["data", "eof", "lost"]
        transport.close()
        outcome = await transport.wait_closed()
        assert outcome.signal == "SIGTERM"
        assert outcome.error is link.error

    run(kind, main)


# -- the ladder


def test_a_child_that_ends_with_its_input(kind: str) -> None:
    async def main() -> None:
        transport, link = started(sh("cat; echo bye >&2; exit 2"), **LONG)
        link.send(b"hello")
        await link.until_received(5)
        transport.close()
        assert not link.lost
        assert await transport.wait_closed() == Outcome(exit_code=2, stderr_tail=b"bye\n")
        assert link.calls == ["data", "lost"]

    run(kind, main)


@pytest.mark.parametrize(("code", "name"), [(IGNORE_EOF, "SIGTERM"), (IGNORE_TERM, "SIGKILL")])
def test_a_child_that_does_not(kind: str, code: str, name: str, watch: str) -> None:
    async def main() -> None:
        transport, link = started(python(code), **SHORT)
        await link.until_received(6)
        transport.close()
        assert (await transport.wait_closed()).signal == name
        assert link.calls == ["data", "lost"]
        assert link.error is None

    run(kind, main)


def test_a_child_that_ends_on_sigterm_in_its_own_way(kind: str) -> None:
    async def main() -> None:
        code = "import signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(6))\n" + IGNORE_EOF
        transport, link = started(python(code), exit_timeout=0.05, term_timeout=600)
        await link.until_received(6)
        transport.close()
        assert (await transport.wait_closed()).exit_code == 6

    run(kind, main)


def test_a_child_with_much_to_say_at_the_end_is_not_broken_off(kind: str) -> None:
    """Nobody reads any more, yet it must not block or die of it."""

    async def main() -> None:
        transport, link = started(sh("cat; head -c 1000000 /dev/zero || exit 9; exit 8"), **LONG)
        transport.close()
        assert (await transport.wait_closed()).exit_code == 8
        assert not link.received

    run(kind, main)


def test_a_child_that_cannot_be_killed_is_given_up(
    kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        transport, link = started(python(IGNORE_EOF), exit_timeout=0.05, term_timeout=0.05, kill_timeout=0.05)
        await link.until_received(6)
        with monkeypatch.context() as patch:
            patch.setattr(Child, "signal", lambda self, number: None)
            transport.close()
            outcome = await transport.wait_closed()
        assert outcome == Outcome()
        assert link.lost
        assert transport.pid is not None
        os.kill(transport.pid, signal.SIGKILL)
        os.waitpid(transport.pid, 0)  # noqa: ASYNC222

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Popen's: it is still running, as far as it knows
        run(kind, main)
    assert "did not end" in caplog.text


def test_abort(kind: str, watch: str) -> None:
    async def main() -> None:
        transport, link = started(python(IGNORE_TERM), **LONG)
        await link.until_received(6)
        transport.abort()
        transport.abort()
        assert not link.lost
        assert (await transport.wait_closed()).signal == "SIGKILL"
        transport.abort()
        transport.close()
        assert link.calls == ["data", "lost"]

    run(kind, main)


def test_abort_cuts_the_ladder_short(kind: str) -> None:
    async def main() -> None:
        transport, link = started(python(IGNORE_TERM), **LONG)
        await link.until_received(6)
        transport.close()
        await asyncio.sleep(0.02)
        transport.abort()
        assert (await transport.wait_closed()).signal == "SIGKILL"

    run(kind, main)


def test_closing_twice_and_waiting_twice(kind: str) -> None:
    async def main() -> None:
        transport, link = started(["cat"])
        transport.close()
        transport.close()
        outcomes = await asyncio.gather(transport.wait_closed(), transport.wait_closed())
        assert list(outcomes) == [Outcome(exit_code=0)] * 2
        transport.close()
        transport.abort()
        transport.wake()
        transport.pause_reading()
        transport.resume_reading()
        transport.write_eof()
        await turns()
        assert link.calls == ["lost"]
        assert await transport.wait_closed() == outcomes[0]

    run(kind, main)


def test_a_cancelled_wait_does_not_stop_the_ladder(kind: str) -> None:
    async def main() -> None:
        transport, link = started(python(IGNORE_TERM), **SHORT)
        await link.until_received(6)
        transport.close()
        waiter = asyncio.ensure_future(transport.wait_closed())
        await turns()
        waiter.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiter
        assert transport.pid is not None
        await until_gone(transport.pid)
        assert (await transport.wait_closed()).signal == "SIGKILL"

    run(kind, main)


@pytest.mark.parametrize("state", ["paused", "reading", "writing", "eof"])
@pytest.mark.parametrize("how", ["close", "abort"])
def test_closing_in_the_middle(kind: str, state: str, how: str) -> None:
    async def main() -> None:
        silent = ["sleep", "600"]
        argv = {"paused": ["yes"], "reading": ["yes"], "writing": silent, "eof": sh("exec >&-; exec sleep 600")}
        transport, link = started(argv[state], drain_timeout=0.05, **SHORT)
        if state == "paused":
            transport.pause_reading()
        if state == "writing":
            link.send(noise(1 << 20))
        if state == "reading":
            await link.until(lambda: link.received)
        if state == "eof":
            await link.until(lambda: link.eof)
        getattr(transport, how)()
        assert (await transport.wait_closed()).signal in ("SIGTERM", "SIGKILL", "SIGPIPE")
        assert link.calls[-1] == "lost"

    run(kind, main)


@pytest.mark.parametrize("place", ["data", "eof", "lost", "stderr"])
@pytest.mark.parametrize("how", ["close", "abort"])
def test_closing_within_a_callback(kind: str, place: str, how: str) -> None:
    async def main() -> None:
        transport = ProcessTransport(sh("echo out; echo err >&2; exit 1"), on_stderr=lambda data: act("stderr"))
        link = FakeLink()

        def act(where: str) -> None:
            if where == place:
                getattr(transport, how)()

        link.on_data = lambda size: act("data")
        link.on_eof = lambda: act("eof")
        link.on_lost = lambda: act("lost")
        link.start(transport)
        await link.until_lost()
        await transport.wait_closed()

    run(kind, main)
