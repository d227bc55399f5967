"""The real SDKs: where they are, how they are installed, how their programs are started."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

import acpcore

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
RC3_REQUIREMENTS = HERE / "requirements-rc3.txt"
ALLOWED = 300  # seconds for an installation

Step = dict[str, Any]


def unavailable(reason: str) -> NoReturn:
    """A user without Node or a registry may go without these tests, CI may not."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


# --- installing


def install_sdks() -> None:
    """Both npm releases, side by side, as package.json pins them."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            unavailable(f"no {program}: the JavaScript SDK cannot run (on Debian: apt-get install nodejs npm)")
    with _lock(HERE):
        if not _sdks_are_there():
            _install("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", cwd=HERE)


def _sdks_are_there() -> bool:
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]
    for name, version in wanted.items():
        manifest = MODULES / name / "package.json"
        if not manifest.is_file() or json.loads(manifest.read_text())["version"] != version.rpartition("@")[2]:
            return False
    return True


def install_rc3(home: Path) -> str:
    """The interpreter of an environment in ``home`` that holds the Python SDK; acpcore's own must not gain pydantic."""
    python, stamp = home / "venv" / "bin" / "python", home / "stamp"
    wanted = f"{sys.version}\n{RC3_REQUIREMENTS.read_text()}"
    with _lock(home):
        if not stamp.is_file() or stamp.read_text() != wanted:
            _install(sys.executable, "-m", "venv", "--clear", str(home / "venv"), cwd=home)
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            _install(*pip, "-r", str(RC3_REQUIREMENTS), cwd=home)
            stamp.write_text(wanted)
    return str(python)


def _install(*command: str, cwd: Path) -> None:
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=ALLOWED)
    except subprocess.TimeoutExpired:
        unavailable(f"{' '.join(command)}: not done within {ALLOWED} s")
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        unavailable(f"{' '.join(command)}: {' / '.join(said[:3])}")


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Several test runs may share a tree."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


# --- agents


def example(name: str) -> list[str]:
    """An example of the 1.3.0 package, as it was published."""
    return ["node", str(MODULES / "sdk-1.3.0" / "dist" / "examples" / name)]


def ts_agent(sdk: str) -> list[str]:
    """Our agent on one of the JavaScript SDKs."""
    return ["node", str(HERE / "ts-agent.mjs"), sdk]


def py_agent(python: str) -> list[str]:
    """Our agent on the Python SDK."""
    return [python, str(HERE / "py_agent.py")]


def acp_agent(*options: str) -> list[str]:
    """Our agent on acpcore."""
    return [*_with_acpcore(), str(HERE / "acp_agent.py"), *options]


def example_agent() -> list[str]:
    """``acpcore agent``."""
    return [*_with_acpcore(), "-m", "acpcore", "agent"]


def _with_acpcore() -> list[str]:
    """This interpreter, finding the acpcore under test, whatever the environment its starter passes on."""
    where = Path(acpcore.__file__).resolve().parent.parent
    return ["env", f"PYTHONPATH={where}", sys.executable]


# --- clients


def ts_client(sdk: str, scenario: str, agent: Sequence[str], **texts: str) -> list[Step]:
    """What our client on a JavaScript SDK saw of an agent."""
    return _steps(["node", str(HERE / "ts-client.mjs"), sdk, scenario, *agent], texts)


def py_client(python: str, scenario: str, agent: Sequence[str], **texts: str) -> list[Step]:
    """What our client on the Python SDK saw of an agent."""
    return _steps([python, str(HERE / "py_client.py"), scenario, *agent], texts)


def _steps(command: list[str], texts: Mapping[str, str]) -> list[Step]:
    env = {**os.environ, "WORK_TEXT": "work", "WAIT_TEXT": "wait", **texts}
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, start_new_session=True)
    try:
        said, _ = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == 0, said.decode()[-4000:]
    return [json.loads(line) for line in said.splitlines()]
