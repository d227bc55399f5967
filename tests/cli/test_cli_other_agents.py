"""``acpcore stream --agent``: agents that are not acpcore's, and some that are not well."""

from __future__ import annotations

import json
import select
import shlex
import signal
import sys
from pathlib import Path

import pytest
from running import is_gone, said, start, stream

from acpcore.cli.exits import OWN_FAILURE

ODD = Path(__file__).with_name("odd_agent.py")


def odd(mode: str) -> str:
    return shlex.join([sys.executable, str(ODD), mode])


@pytest.mark.parametrize(
    ("mode", "output", "status"),
    [
        ("plain", b"one two three", 0),  # it does not tell how the command ended
        ("snapshots", b"abcdenew", 6),
        ("several", b"abc", 2),
        ("ask", b'{"outcome": "cancelled"}', 0),
    ],
)
def test_what_an_agent_may_do(mode: str, output: bytes, status: int) -> None:
    done = stream("--agent", odd(mode), "--", "whatever")
    assert (done.returncode, done.stdout, said(done)) == (status, output, "")


def test_what_an_agent_does_wrong_is_told_and_harms_nothing() -> None:
    done = stream("--agent", odd("noise"), "--", "whatever")
    assert (done.returncode, done.stdout) == (0, b"ok")
    assert "Warning: something" in said(done)
    assert "update.data" in said(done)


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("no-such-agent", "cannot start the agent: no-such-agent: No such file or directory"),
        ("sh -c 'echo it is broken >&2; exit 3'", "exit code 3; stderr: it is broken"),
        ("sh -c 'read line; kill -9 $$'", "signal SIGKILL"),
        ("cat", "Method not found"),
        (odd("old"), "the agent speaks protocol version 1, this client offered 2"),
        (odd("refused"), "Log in first (-32000)"),
        (odd("talk"), "the agent ran nothing: it stopped with end_turn\n  I would rather not."),
    ],
)
def test_an_agent_that_fails_is_told(agent: str, text: str) -> None:
    done = stream("--agent", agent, "--", "whatever")
    assert (done.returncode, done.stdout) == (OWN_FAILURE, b"")
    assert said(done).startswith("acpcore: ")
    assert text in said(done)


def test_an_agent_that_dies_on_the_way() -> None:
    done = stream("--json", "--agent", odd("killed"), "--", "whatever")
    assert (done.returncode, done.stdout) == (OWN_FAILURE, b"before")
    summary = json.loads(said(done))
    assert summary["bytes"] == 6
    assert summary["exit_status"] == OWN_FAILURE
    assert "signal SIGKILL" in summary["error"] and "about to die" in summary["error"]


def test_acpcore_s_own_agent_dies_on_the_way(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    script = f"echo before; while [ ! -e {flag} ]; do sleep 0.05; done; kill -9 $PPID"
    with start("stream", "--", "sh", "-c", script) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"before\n"
        flag.touch()
        assert b"signal SIGKILL" in process.stderr.read()
        assert process.wait(60) == OWN_FAILURE


def test_an_agent_that_does_not_listen_is_ended_at_the_third_ctrl_c() -> None:
    with start("stream", "--agent", odd("deaf"), "--", "whatever") as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            select.select([], [], [], 0.3)  # signals that come at once count as one
        assert process.wait(60) == 130
        assert is_gone(pid)
