"""Exit statuses and numbers for people."""

from __future__ import annotations

import pytest

from acpcore.cli.exits import shell_status
from acpcore.cli.summary import Meter, Summary
from acpcore.engine import Engine
from acpcore.schema import TerminalExitStatus


@pytest.mark.parametrize(
    ("code", "signal", "status"),
    [
        (0, None, 0),
        (7, None, 7),
        (255, None, 255),
        (256, None, 1),
        (3221225786, None, 0x3A),
        (None, None, 0),
        (None, "SIGKILL", 137),
        (None, "KILL", 137),
        (None, "sigterm", 143),
        (None, "9", 137),
        (None, "SIG34", 162),
        (None, "a strange one", 128),
        (0, "SIGINT", 130),
    ],
)
def test_a_status_as_a_shell_has_it(code: int | None, signal: str | None, status: int) -> None:
    assert shell_status(TerminalExitStatus(exit_code=code, signal=signal)) == status


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (5_000_000_000_000, "5,000.0 GB")],
)
def test_a_summary_for_people(count: int, text: str) -> None:
    assert Summary(bytes=count).line().startswith(f"{text}  0.0 s  0.0 MB/s  0 frames")


def test_a_meter_stands_still_when_it_is_stopped() -> None:
    engine, meter = Engine("client"), Meter()
    engine.receive_data(b"{}\n")
    meter.start()
    meter.stop()
    first = meter.read(10, engine.stats())
    assert (first.frames, first.bad_frames, first.bytes_in, first.bytes) == (1, 1, 3, 10)
    assert meter.read(10, engine.stats()) == first
