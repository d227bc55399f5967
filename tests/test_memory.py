"""One long line costs its own size, once raw and twice decoded, however it is cut."""

import subprocess
import sys
from pathlib import Path

import pytest

PROBE = Path(__file__).with_name("memory_probe.py")
MIB = 1 << 20
LINE = 63 * MIB


@pytest.mark.parametrize(("kind", "most"), [("raw", 1.3), ("decoded", 2.1), ("terminal", 2.1)])
def test_peak_memory_of_a_long_line(kind: str, most: float) -> None:
    run = subprocess.run([sys.executable, str(PROBE), kind, str(LINE)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    fed, peak = map(int, run.stdout.split())
    print(f"{kind}: line {fed / MIB:.1f} MiB, peak {peak / MIB:.1f} MiB, {peak / fed:.2f} times the line")
    assert peak < most * fed + 40 * MIB
