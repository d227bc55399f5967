"""A slow consumer stops the sender, and neither side's memory grows: measured in processes of their own."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from flow_scale import KIB, MIB, environment, program, scaled

from acpcore import Limits

LIMITS = Limits.interactive()
RATE = 20_000_000  # bytes a second that the consumer takes
SIZE = scaled(12 * MIB, 1024 * MIB)
BOUND = LIMITS.inbox_high + LIMITS.outbox_high + 4 * MIB
LINE = 64 * KIB
# What the system holds between two processes: TCP makes its buffers larger while they are in use.
BETWEEN = {"pipe": 64 * KIB, "socketpair": 512 * KIB, "tcp": 16 * MIB}

# Each pair of values of two columns is there; the rest of the combinations is for the long run.
QUICK = [
    ("handlers", "asyncio", "pipe", True),
    ("handlers", "uvloop", "socketpair", True),
    ("handlers", "uvloop", "tcp", False),
    ("pull", "uvloop", "pipe", False),
    ("pull", "asyncio", "socketpair", False),
    ("pull", "asyncio", "tcp", True),
]
ALL = [
    (how, kind, transport, owed)
    for how in ("handlers", "pull")
    for kind in ("asyncio", "uvloop")
    for transport in ("pipe", "socketpair", "tcp")
    for owed in (True, False)
]
COMBINATIONS = [*QUICK, *(pytest.param(*one, marks=pytest.mark.full) for one in ALL if one not in QUICK)]


def measure(how: str, kind: str, transport: str, owed: bool, size: int) -> dict[str, Any]:
    """What the receiver prints."""
    command = program("flow_receiver.py", how, kind, transport, size, RATE, int(owed))
    run = subprocess.run(command, capture_output=True, text=True, timeout=60 + 3 * size / RATE, env=environment())
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


@pytest.mark.parametrize(("how", "kind", "transport", "owed"), COMBINATIONS)
def test_a_slow_consumer_costs_no_memory_and_stops_the_sender(how: str, kind: str, transport: str, owed: bool) -> None:
    found = measure(how, kind, transport, owed, SIZE)
    print(how, kind, transport, "owed" if owed else "not owed", found)
    sender = found["sender"]
    assert found["count"] == sender["sent"] == SIZE and found["right"], "every byte in its place"
    assert found["growth"] < BOUND and sender["growth"] < BOUND
    assert found["inbox_peak"] < LIMITS.inbox_high + LIMITS.read_size + LINE
    assert sender["outbox_peak"] < LIMITS.outbox_high + LINE
    assert found["inbox_times"] > 0 and sender["outbox_times"] > 0, "both gates were shut"
    on_the_way = LIMITS.inbox_high + LIMITS.read_size + LIMITS.outbox_high + BETWEEN[transport] + 3 * LINE
    assert 0 <= found["lead"] < on_the_way, "the sender was never further ahead than what the gates and pipes hold"
