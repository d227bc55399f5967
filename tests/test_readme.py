"""The examples of README.md do what they say, and its numbers are those of the code."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


class Example(NamedTuple):
    """A fenced block named by its first line, and the text block that follows as what it prints."""

    name: str
    language: str
    text: str
    prints: str | None


def examples() -> list[Example]:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    found = []
    for (language, text), (after, output) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        name = re.match(r"(?:#|/[*]) ([\w.]+)", text)
        if language != "text":
            assert name, f"an example needs a first line with its name: {text[:40]!r}"
            found.append(Example(name[1], language, text, output if after == "text" else None))
    return found


EXAMPLES = examples()
PYTHON = [example for example in EXAMPLES if example.language == "python"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """All examples side by side: the client starts the agent."""
    for example in EXAMPLES:
        (tmp_path / example.name).write_text(example.text, encoding="utf-8")
    return tmp_path


def output(command: list[str], folder: Path, given: bytes = b"") -> str:
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    return done.stdout.decode()


def test_the_readme_has_an_example_for_each_layer() -> None:
    names = {example.name for example in EXAMPLES}
    assert names == {"methods.c", "two_engines.py", "agent.py", "client.py"}
    assert {example.name for example in EXAMPLES if example.prints} >= {"two_engines.py", "client.py"}


@pytest.mark.parametrize("example", PYTHON, ids=[example.name for example in PYTHON])
def test_a_python_example_runs_and_prints_what_it_says(example: Example, folder: Path) -> None:
    said = output([sys.executable, "-W", "error", example.name], folder)
    assert said == (example.prints or "")


def test_the_c_example_compiles_and_names_methods(folder: Path) -> None:
    sources = [str(path) for path in sorted((ROOT / "native" / "src").glob("*.c"))]
    include = str(ROOT / "native" / "include")
    compiler = shutil.which("cc")
    assert compiler, "a C compiler built acpcore, so there is one"
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", include, "methods.c", *sources]
    assert output([*command, "-o", "methods"], folder) == ""
    lines = b'{"jsonrpc":"2.0","id":1,"method":"session/new"}\nnoise\n{"jsonrpc":"2.0","method":"_x"}'
    first, second, third = output(["./methods"], folder, lines).splitlines()
    assert (first, third) == ("session/new", "_x")
    assert second.startswith("bad line: ")


def test_the_limits_table_states_the_defaults() -> None:
    from acpcore import Limits

    limits = Limits.interactive()
    kib, mib = 1024, 1024 * 1024
    inbox = f"stops at {limits.inbox_high // kib} KiB, goes on at {limits.inbox_low // kib} KiB"
    assert f"{inbox}, hard cap {limits.inbox_hard // mib} MiB" in README
    assert (
        f"outbox ({limits.outbox_high // kib} KiB, {limits.outbox_low // kib} KiB, {limits.outbox_hard // mib} MiB)"
        in README
    )
    assert f"| {limits.max_frame // mib} MiB (`Limits.max_frame`)" in README
    assert f"up to {limits.max_batch:,} entries (`max_batch`)" in README
    assert f"| {limits.max_running:,} (`max_running`)" in README
    assert f"| {limits.stall_timeout:g} s at a hard cap (`stall_timeout`)" in README
