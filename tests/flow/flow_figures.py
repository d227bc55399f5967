"""Figures, run by hand: ``acpcore stream`` over each transport beside a copy in C over the same one, in one run.

    python flow_figures.py [MEGABYTES]

Prints a table in Markdown. The command prints raw bytes; on the wire they are a third more (base64).
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from flow_scale import HOME, environment

ROUNDS = 3
WAYS = {
    "pipe, 64 KiB": ("pipe", None),
    "pipe, 1 MiB": ("pipe", 1 << 20),
    "socketpair": ("socketpair", None),
    "socketpair, 1 MiB": ("socketpair", 1 << 20),
}


def machine() -> str:
    """Processor, cores, system, Python; nothing that names a place."""
    model = next((line.split(":")[1].strip() for line in _cpu_lines() if line.startswith("model name")), "unknown")
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, Python {platform.python_version()}"
    )


def _cpu_lines() -> list[str]:
    return Path("/proc/cpuinfo").read_text().splitlines()


def stream(stdio: str, size: int | None, count: int) -> float:
    """Millions of raw bytes a second."""
    options = ["--stdio", stdio] + ([] if size is None else ["--pipe-size", str(size)])
    arguments = ["stream", "--json", *options, "--", "head", "-c", str(count), "/dev/zero"]
    command = [sys.executable, "-m", "acpcore", *arguments]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, env=environment())
    rate: float = json.loads(done.stderr)["mb_per_s"]
    return rate


def copy(program: Path, stdio: str, size: int | None, count: int) -> float:
    """The same for bytes that nobody looks at, as many as there are on the wire."""
    arguments = [stdio, str(count * 4 // 3), str(256 * 1024)] + ([] if size is None else [str(size)])
    return float(subprocess.run([program, *arguments], capture_output=True, check=True).stdout)


def main(count: int) -> None:
    print(machine(), "\n")
    print("| transport | `acpcore stream`, raw MB/s | the same on the wire | C to C, MB/s | share |")
    print("|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "copy"
        subprocess.run(["cc", "-O2", "-std=c11", "-o", program, HOME / "flow_copy.c"], check=True)
        found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in WAYS}
        for _ in range(ROUNDS):
            for name, (stdio, size) in WAYS.items():
                found[name][0].append(stream(stdio, size, count))
                found[name][1].append(copy(program, stdio, size, count))
    for name, (ours, theirs) in found.items():
        raw, best = statistics.median(ours), statistics.median(theirs)
        print(f"| {name} | {raw:.0f} | {raw * 4 / 3:.0f} | {best:.0f} | {raw * 4 / 3 / best:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1] if len(sys.argv) > 1 else 300) * 1_000_000)
