"""What is shipped: an sdist that builds, a wheel for every CPython from 3.10 on, and both work outside this tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Sequence
from email.message import Message
from email.parser import BytesParser
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pytest
from test_house import ROOT, tracked

pytestmark = pytest.mark.slow

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
NEEDS_THE_TREE = {"test_house.py", "test_packaging.py", "test_readme.py", "test_schema_files.py"}
# What a wheel can get wrong: the extension, the package data, the entry point. All tests are for the full run.
QUICK = ("test_cases.py", "test_captures.py", "test_message.py", "test_flow.py", "test_dispatch.py", "test_vectors.py")
QUICK += (
    "test_connection_calls.py",
    "schema/test_schema_decoding.py",
    "cli/test_cli_stream.py",
    "cli/test_cli_exits.py",
)
NOT_IN_THE_SDIST = {".ci", ".gitignore", "bench", "bindings", "docs"}


class Dist(NamedTuple):
    """Both files that ``python -m build`` made."""

    sdist: Path
    wheel: Path


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command apart from this process's Python settings; its output, or a failure that shows it."""
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "VIRTUAL_ENV"))
    }
    done = subprocess.run(list(command), cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        pytest.fail(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-8000:]}")
    return done.stdout


def copy(paths: Sequence[Path], target: Path) -> Path:
    """Copy files of the repository, so that nothing which lies about untracked can help."""
    for path in paths:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target / path)
    return target


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Dist:
    tree = copy(tracked(ROOT), tmp_path_factory.mktemp("tree"))
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", out, cwd=tree)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return Dist(sdist, wheel)


@pytest.fixture(scope="session")
def installed(dist: Dist, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new virtual environment that holds the wheel and what the tests need."""
    home = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", home, cwd=home)
    python = home / "bin" / "python"
    pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    wanted = ["pytest", "hypothesis", "jsonschema-rs"]
    run(*pip, "-c", ROOT / "tests" / "requirements.txt", dist.wheel, *wanted, cwd=home)
    return python


@pytest.fixture(scope="session")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tests and their settings, and without the package."""
    tests = [path for path in tracked(ROOT) if path.parts[0] == "tests" and path.name not in NEEDS_THE_TREE]
    folder = copy([*tests, Path("pyproject.toml"), Path("docs/schema.md")], tmp_path_factory.mktemp("outside"))
    peers = ROOT / "tests" / "interop" / "node_modules"
    if peers.is_dir():
        (folder / "tests" / "interop" / "node_modules").symlink_to(peers)
    return folder


def metadata(wheel: Path, name: str) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (member,) = (member for member in archive.namelist() if member.endswith(f".dist-info/{name}"))
        return BytesParser().parsebytes(archive.read(member))


def test_the_sdist_holds_every_file_to_build_and_test(dist: Dist) -> None:
    with tarfile.open(dist.sdist) as archive:
        held = {"/".join(PurePosixPath(member.name).parts[1:]) for member in archive if member.isfile()}
    wanted = {path.as_posix() for path in tracked(ROOT) if path.parts[0] not in NOT_IN_THE_SDIST}
    assert wanted - held == set()
    assert any(re.fullmatch(r"native/src/\w+[.]c", name) for name in held)
    assert {"native/include/acpcore.h", "native/build_ffi.py", "acpcore/_native.pyi", "setup.py"} <= held
    assert not [name for name in held if "node_modules" in name or name.endswith((".so", ".o", ".pyc"))]


def test_the_wheel_is_tagged_for_every_later_python(dist: Dist) -> None:
    version = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    tag = f"{version}-{version}t" if FREE_THREADED else "cp310-abi3"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert dist.wheel.name == f"acpcore-0.1.0-{tag}-{platform}.whl"
    stated = metadata(dist.wheel, "WHEEL")
    assert stated.get_all("Tag") == [f"{tag}-{platform}"]
    assert stated["Root-Is-Purelib"] == "false"


def test_the_wheel_holds_the_package_and_nothing_else(dist: Dist) -> None:
    with zipfile.ZipFile(dist.wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    (extension,) = (name for name in held if name.endswith(".so"))
    wanted = {path.as_posix() for path in tracked(ROOT) if path.parts[0] == "acpcore"}
    assert held == wanted | {extension}
    assert {"acpcore/py.typed", "acpcore/_native.pyi", "acpcore/__init__.py"} <= held
    assert FREE_THREADED or extension == "acpcore/_native.abi3.so"


def test_the_metadata_says_what_it_is_and_needs(dist: Dist) -> None:
    stated = metadata(dist.wheel, "METADATA")
    assert (stated["Name"], stated["Version"], stated["Requires-Python"]) == ("acpcore", "0.1.0", ">=3.10")
    assert (stated["License-Expression"], stated.get_all("License-File")) == ("Apache-2.0", ["LICENSE"])
    assert "Typing :: Typed" in stated.get_all("Classifier", [])
    needs = {re.split(r"[^\w-]", text)[0]: text for text in stated.get_all("Requires-Dist", [])}
    assert needs.keys() == {"msgspec", "cffi", "uvloop", "typer", "rich"}
    assert "win32" in needs["uvloop"]
    assert "cpython" in needs["uvloop"]
    assert "acpcore = acpcore.cli:main" in metadata(dist.wheel, "entry_points.txt").as_string()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads ELF symbols with nm")
def test_the_extension_exports_its_init_function_alone(dist: Dist, tmp_path: Path) -> None:
    with zipfile.ZipFile(dist.wheel) as archive:
        (member,) = (name for name in archive.namelist() if name.endswith(".so"))
        extension = archive.extract(member, tmp_path)
    symbols = run("nm", "-D", "--defined-only", "--format=posix", extension, cwd=tmp_path)
    assert [line.split()[0] for line in symbols.splitlines()] == ["PyInit__native"]


def test_the_installed_wheel_is_the_one_that_is_imported(installed: Path, outside: Path) -> None:
    code = "import acpcore, acpcore._native as native; print(acpcore.__file__); print(native.__file__)"
    for path in run(installed, "-c", code, cwd=outside).split():
        assert Path(path).is_relative_to(installed.parent.parent)
    assert "replay" in run(installed.with_name("acpcore"), "--help", cwd=outside)
    assert "replay" in run(installed, "-m", "acpcore", "--help", cwd=outside)


def test_the_installed_wheel_passes_the_quick_tests(installed: Path, outside: Path) -> None:
    files = [outside / "tests" / name for name in QUICK]
    said = run(installed, "-m", "pytest", "-q", "-m", "not full and not slow", *files, cwd=outside)
    assert re.search(r"\d+ passed", said)


@pytest.mark.full
def test_the_installed_wheel_passes_all_tests(installed: Path, outside: Path) -> None:
    run(installed, "-m", "pip", "install", "--quiet", "-r", ROOT / "tests" / "requirements.txt", cwd=outside)
    said = run(installed, "-m", "pytest", "-q", "-m", "full or not full", cwd=outside)
    assert re.search(r"\d+ passed", said)
