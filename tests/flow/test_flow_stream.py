"""``acpcore stream``: a terminal that prints for a long time costs no memory, whatever the agent is spoken to over."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from flow_scale import MIB, environment, memory, scaled

SIZE = scaled(256 * MIB, 2048 * MIB)
FIRST = 32 * MIB  # by then everything there is has been used once
GROWTH = 4 * MIB


class Watched:
    """Two processes while a stream runs: what they used after the first bytes, and at the most later."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.count = 0
        self.base: list[int] = []
        self.most: list[int] = []
        self.pids: list[int] = []
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while data := self.process.stdout.read1(1 << 20):  # type: ignore[attr-defined]
            self.count += len(data)

    def sample(self) -> None:
        """Until the stream is over."""
        while self.process.poll() is None:
            self._look()
            time.sleep(0.02)
        self._reading.join()

    def _look(self) -> None:
        if self.count < FIRST:
            return
        if not self.pids:
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            self.pids = [self.process.pid, int(children[0])]
        now = [memory("VmRSS", pid) for pid in self.pids]
        if all(now):
            self.base = self.base or now
            self.most = [max(pair) for pair in zip(now, self.most or now, strict=True)]


@pytest.mark.parametrize(
    "options", [[], ["--stdio", "socketpair", "--pipe-size", "1048576"]], ids=["pipe", "socketpair"]
)
def test_a_long_stream_runs_in_constant_memory(options: list[str]) -> None:
    arguments = ["stream", "--json", *options, "--", "head", "-c", str(SIZE), "/dev/zero"]
    command = [sys.executable, "-m", "acpcore", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment()) as process:
        watched = Watched(process)
        watched.sample()
        assert process.stderr is not None
        summary = json.loads(process.stderr.read())
    assert process.returncode == 0 and watched.count == SIZE == summary["bytes"]
    for name, base, most in zip(("client", "agent"), watched.base, watched.most, strict=True):
        print(f"{name}: {base / MIB:.1f} MiB after {FIRST // MIB} MiB, at most {most / MIB:.1f} MiB")
        assert most - base < GROWTH
    assert summary["inbox"]["peak"] < 2 * MIB and summary["outbox"]["peak"] < 1 * MIB


@pytest.mark.parametrize("options", [["--stdio", "socketpair"], ["--pipe-size", "1048576"], ["--pipe-size", "1"]])
def test_every_way_to_speak_to_the_agent_carries_every_byte(options: list[str]) -> None:
    command = [sys.executable, "-m", "acpcore", "stream", *options, "--", "seq", "1", "100000"]
    done = subprocess.run(command, capture_output=True, env=environment(), timeout=60, check=True)
    assert done.stdout == "".join(f"{n}\n" for n in range(1, 100_001)).encode()
    assert done.stderr == b""


def test_an_unknown_way_is_refused() -> None:
    command = [sys.executable, "-m", "acpcore", "stream", "--stdio", "socket", "--", "true"]
    done = subprocess.run(command, capture_output=True, env=environment(), timeout=60, check=False)
    assert done.returncode == 2 and b"socketpair" in done.stderr
