"""The generated files are what the generator writes, importing stays light, and users' code type-checks."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import alpha2
import pytest

GENERATOR = alpha2.ROOT / "tools/generate_schema.py"
EXAMPLE = Path(__file__).parent / "typed_example.py"


def generator() -> ModuleType:
    if not GENERATOR.exists():
        pytest.skip("the generator is not part of this copy")
    spec = importlib.util.spec_from_file_location("generate_schema", GENERATOR)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_committed_files_are_the_generated_ones() -> None:
    files = generator().generate(alpha2.path())
    folder = alpha2.ROOT / "acpcore/schema/types"
    assert {folder / path.name for path in files if path.parent.name == "types"} == {*folder.glob("*.py")} - {
        folder / "__init__.py"
    }
    for path, text in files.items():
        assert (alpha2.ROOT / path).read_text("utf-8") == text, f"run {GENERATOR.name} again: {path}"


def test_the_slow_read_is_loaded_when_it_is_needed() -> None:
    code = """
import sys, acpcore.schema as s
slow = {"acpcore.schema.lenient", "acpcore.schema.readers", "acpcore.schema.free"}
assert not slow & sys.modules.keys()
s.decode(s.TextContent, b'{"text":"t"}')
assert not slow & sys.modules.keys()
s.decode(s.ToolCallLocation, b'{"path":"/","line":1.0}')
assert slow <= sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=alpha2.ROOT)


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_users_code_type_checks(checker: str) -> None:
    if importlib.util.find_spec(checker) is None:
        (pytest.fail if os.environ.get("CI") == "true" and checker == "mypy" else pytest.skip)(
            f"{checker} is not installed"
        )
    command = {
        "mypy": ["mypy", "--strict", "--python-version", "3.10", "--follow-imports=silent"],
        "pyright": ["pyright", "--pythonpath", sys.executable],
    }[checker]
    done = subprocess.run(
        [sys.executable, "-m", *command, str(EXAMPLE)], cwd=alpha2.ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
