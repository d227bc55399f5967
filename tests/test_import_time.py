"""Importing acpcore costs little more than importing msgspec."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import acpcore

HOME = Path(acpcore.__file__).parent.parent
MOST = 0.150  # seconds of the processor beyond those for msgspec
PAIRS = 5
TRIES = 4  # whoever shares the machine may slow some of them


def cost(module: str) -> float:
    """Seconds of the processor that an import takes in a fresh interpreter."""
    code = f"import time; start = time.process_time(); import {module}; print(time.process_time() - start)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=HOME)
    return float(done.stdout)


def test_importing_takes_little_longer_than_importing_msgspec() -> None:
    cost("acpcore")  # writes the byte code, if there is none yet
    medians: list[float] = []
    while len(medians) < TRIES:
        medians.append(statistics.median(cost("acpcore") - cost("msgspec") for _ in range(PAIRS)))
        if medians[-1] < MOST:
            break
    print("importing acpcore takes", ", ".join(f"{1000 * median:.0f} ms" for median in medians), "more than msgspec")
    assert medians[-1] < MOST


def test_the_types_are_loaded_when_they_are_needed() -> None:
    code = "import sys, acpcore; assert not [name for name in sys.modules if name.startswith('acpcore.schema')]"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=HOME)
