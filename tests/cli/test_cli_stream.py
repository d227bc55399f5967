"""``acpcore stream``: every byte, the exit status, and the many ways to end."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import command, environment, is_gone, said, start, stream

from acpcore.cli.exits import OWN_FAILURE

PIDS = "echo $$ $PPID; "


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def seq(last: int, end: str = "\n") -> bytes:
    return "".join(f"{n}{end}" for n in range(1, last + 1)).encode()


# --- the bytes


def test_a_counting_command_arrives_whole() -> None:
    done = stream("--", "seq", "1", "3000000")
    assert done.returncode == 0
    assert sha256(done.stdout) == sha256(seq(3_000_000))
    assert said(done) == ""


@pytest.mark.parametrize("last", [300_000, pytest.param(3_000_000, marks=pytest.mark.full)])
def test_on_a_pseudo_terminal_lines_end_in_cr_lf(last: int) -> None:
    done = stream("--pty", "--", "seq", "1", str(last))
    assert done.returncode == 0
    assert sha256(done.stdout) == sha256(seq(last, "\r\n"))


def test_a_large_file_arrives_byte_for_byte(tmp_path: Path) -> None:
    data = random.Random(2).randbytes(50_000_000)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(data)
    with target.open("wb") as file:
        done = stream("--json", "--", "cat", str(source), stdout=file)
    assert done.returncode == 0
    assert target.stat().st_size == len(data)
    assert sha256(target.read_bytes()) == sha256(data)
    summary = json.loads(said(done))
    assert summary["bytes"] == len(data)
    assert summary["bytes_in"] > len(data) * 4 // 3
    assert summary["frames"] >= len(data) // 32768
    assert summary["inbox"]["used"] == summary["outbox"]["used"] == 0
    assert 0 < summary["inbox"]["peak"] < 1_000_000


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        (r"\000\001\377\n\000", b"\0\1\xff\n\0"),
        (r"h\303\251 \347\225\214 \360\237\231\202 \033[1mno line end", "hé 界 🙂 \x1b[1mno line end".encode()),
        ("", b""),
    ],
    ids=["binary", "text", "nothing"],
)
def test_any_bytes_are_passed_on(format: str, expected: bytes) -> None:
    done = stream("--", "printf", format)
    assert (done.returncode, done.stdout, said(done)) == (0, expected, "")


def test_arguments_reach_the_command_unchanged() -> None:
    arguments = ["", " ", "a b", "'", '"$HOME"', "é\n", "--json", "--", "*"]
    done = stream("--", "printf", "%s|", *arguments)
    assert done.stdout.decode() == "".join(f"{argument}|" for argument in arguments)


def test_stderr_of_the_command_is_part_of_its_terminal() -> None:
    assert stream("--", "sh", "-c", "echo out; echo err >&2; echo out").stdout == b"out\nerr\nout\n"


def test_output_is_appended_to_a_file_that_is_opened_so(tmp_path: Path) -> None:
    target = tmp_path / "log"
    target.write_bytes(b"before\n")
    with target.open("ab") as file:
        stream("--", "echo", "after", stdout=file)
    assert target.read_bytes() == b"before\nafter\n"


def test_bytes_come_while_the_command_runs() -> None:
    with start("stream", "--", "sh", "-c", "echo first; exec sleep 1000") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"first\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM


def test_a_slow_reader_slows_the_command(tmp_path: Path) -> None:
    flag = tmp_path / "done"
    with start("stream", "--", "sh", "-c", f"head -c 40000000 /dev/zero; touch {flag}") as process:
        assert process.stdout is not None
        first = process.stdout.read(1)
        select.select([], [], [], 1.0)
        assert not flag.exists()
        rest = process.stdout.read()
        assert process.wait(60) == 0
    assert len(first + rest) == 40_000_000
    assert flag.exists()


# --- the exit status


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143)],
)
def test_the_exit_status_is_the_command_s(script: str, status: int) -> None:
    done = stream("--", "sh", "-c", script)
    assert (done.returncode, said(done)) == (status, "")


@pytest.mark.parametrize("options", [[], ["--pty"]])
def test_a_command_that_is_not_there(options: list[str]) -> None:
    done = stream(*options, "--", "no-such-command-here")
    assert done.returncode == 127
    assert done.stdout.splitlines() == [b"acpcore: no-such-command-here: command not found"]


def test_a_command_that_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no program")
    done = stream("--", str(tmp_path / "plain"))
    assert done.returncode == 126
    assert b"Permission denied" in done.stdout


def test_a_command_in_the_current_folder(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\npwd\n")
    program.chmod(0o755)
    assert stream("--", "./program", cwd=tmp_path).stdout.decode().strip() == os.path.realpath(tmp_path)


def test_what_a_command_leaves_in_the_background_may_still_print() -> None:
    done = stream("--", "sh", "-c", "(sleep 0.2; echo late) & echo early; exit 3")
    assert (done.returncode, done.stdout) == (3, b"early\nlate\n")


def test_what_a_command_leaves_in_the_background_is_ended() -> None:
    done = stream("--", "sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!")
    assert is_gone(int(done.stdout))


def test_a_command_may_close_its_output_and_go_on() -> None:
    assert stream("--", "sh", "-c", "echo a; exec >&- 2>&-; sleep 0.1; exit 5").returncode == 5


# --- ends


@contextlib.contextmanager
def running(script: str, *options: str, **more: Any) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """A stream that runs, and the process ids of the command and its agent."""
    with start("stream", *options, "--", "sh", "-c", PIDS + script, **more) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        yield process, pids
        process.kill()
        assert all(map(is_gone, pids))


@pytest.mark.parametrize("script", ["exec sleep 1000", "exec yes", "trap '' INT; while :; do sleep 0.1; done"])
def test_ctrl_c_cancels_the_turn(script: str) -> None:
    with running(script) as (process, _):
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (130, b"")


def test_what_is_printed_on_ctrl_c_still_comes() -> None:
    with running("trap 'echo bye; exit 4' INT; echo ready; while :; do sleep 0.05; done") as (process, _):
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        assert (process.returncode, output) == (130, b"bye\n")


def test_a_second_ctrl_c_leaves_at_once() -> None:
    with running("trap '' INT TERM; echo ready; while :; do sleep 0.1; done") as (process, _):
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        select.select([], [], [], 0.2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (130, b"")


def test_ctrl_c_works_while_nobody_reads() -> None:
    with running("exec yes") as (process, pids):
        select.select([], [], [], 0.3)  # stdout is full
        process.send_signal(signal.SIGINT)
        assert is_gone(pids[0])
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


def test_a_reader_that_goes_ends_it_quietly() -> None:
    with running("exec yes") as (process, _):
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(60) == 128 + signal.SIGPIPE


def test_head_takes_the_first_line() -> None:
    with start("stream", "--", "yes") as process:
        head = subprocess.run(["head", "-1"], stdin=process.stdout, capture_output=True, check=True, timeout=60)
        assert process.stdout is not None
        process.stdout.close()
        assert head.stdout == b"y\n"
        assert process.wait(60) == 128 + signal.SIGPIPE


def test_a_full_disk_is_told() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    with open("/dev/full", "wb") as full:
        done = stream("--", "seq", "1", "100000", stdout=full)
    assert done.returncode == OWN_FAILURE
    assert said(done) == "acpcore: cannot write the output: No space left on device\n"


def test_a_closed_stdout_is_told() -> None:
    words = ["sh", "-c", '"$@" >&-', "sh", *command("stream", "--", "echo", "hi")]
    done = subprocess.run(words, env=environment(), capture_output=True, timeout=60, check=False)
    assert done.returncode == OWN_FAILURE
    assert said(done) == "acpcore: stdout is not open\n"


def test_a_command_that_is_not_text_is_refused() -> None:
    done = stream("--", "echo", os.fsdecode(b"\xff"))
    assert (done.returncode, done.stdout) == (OWN_FAILURE, b"")
    assert "UTF-8" in said(done)


@pytest.mark.parametrize("arguments", [[], ["--"], ["--no-such-option", "--", "true"], ["--agent", "'", "--", "true"]])
def test_wrong_use_is_told(arguments: list[str]) -> None:
    done = stream(*arguments)
    assert done.returncode == 2
    assert "Usage:" in said(done)


# --- what it tells


def test_the_summary_for_programs() -> None:
    done = stream("--json", "--", "sh", "-c", "printf 12345; exit 3")
    lines = said(done).splitlines()
    assert len(lines) == 1
    summary = json.loads(lines[0])
    assert (summary["bytes"], summary["exit_status"], summary["stop_reason"]) == (5, 3, "end_turn")
    assert summary["error"] is None
    assert summary.keys() >= {"seconds", "mb_per_s", "frames", "bad_frames", "bytes_in"}
    assert summary["inbox"].keys() == summary["outbox"].keys() == {"used", "peak", "times", "seconds"}


def test_a_terminal_sees_a_live_line_and_a_summary() -> None:
    ours, theirs = os.openpty()
    with start("stream", "--", "sh", "-c", "echo a; sleep 0.6; echo b", stderr=theirs) as process:
        os.close(theirs)
        assert process.stdout is not None
        assert process.stdout.read() == b"a\nb\n"
        assert process.wait(60) == 0
    shown = b""
    with contextlib.suppress(OSError):
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    text = shown.decode()
    assert text.count("MB/s") >= 2
    assert "\x1b[?25h" in text  # the cursor is there again
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.splitlines()[-1])
    assert last.startswith("4 B ")
    for word in ("frames", "inbox", "outbox", "peak"):
        assert word in last


def test_on_one_terminal_the_output_stays_clean() -> None:
    ours, theirs = os.openpty()
    with start("stream", "--", "printf", "abc", stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        assert process.wait(60) == 0
    shown = os.read(ours, 4096)
    os.close(ours)
    assert shown.startswith(b"abc3 B ")


def test_without_stderr_nothing_is_said_on_stdout() -> None:
    words = ["sh", "-c", '"$@" 2>&-', "sh", *command("stream", "--json", "--", "echo", "hi")]
    done = subprocess.run(words, env=environment(), capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, b"hi\n")
