"""The house stands: imports point one way, C knows no Python, files stay small and carry nothing of one machine.

Each rule is a function from a folder to a list of what breaks it. The tests hold this repository against every rule,
and every rule against small trees that break it.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "acpcore"

# A room may import what stands beside it here, and whatever that may import.
ARROWS = {
    "errors": set(),
    "_native": set(),
    "message": {"_native", "errors", "framing", "flow"},
    "framing": {"_native", "errors", "message", "flow"},
    "flow": {"_native", "errors", "message", "framing"},
    "engine": {"message", "framing", "flow"},
    "dispatch": {"engine"},
    "transports": {"engine"},
    "schema": {"_native", "errors"},
    "terminal": {"schema", "message"},
    "session": {"schema", "message", "terminal"},
    "connection": {"dispatch", "transports", "terminal", "session"},
    "__init__": {"connection"},
    "adapters": {"connection", "__init__"},
    "cli": {"connection", "__init__"},
    "__main__": {"cli"},
}
# Modules that belong to a room: what it may import, they may, and they may import each other.
BELONGS_TO = {
    **dict.fromkeys(["batch", "ledger", "outward", "reader"], "engine"),
    **dict.fromkeys(["doors", "ending", "handlers", "incoming", "link", "observing"], "connection"),
    **dict.fromkeys(["negotiation", "opening", "pending"], "connection"),
    **dict.fromkeys(["pull", "runner", "sending", "sessions", "staging", "tails", "threads", "watch"], "connection"),
    **dict.fromkeys(["ring", "terminal_buffer"], "terminal"),
    **dict.fromkeys(["session_bounds", "session_entries", "session_feed", "session_store"], "session"),
    **dict.fromkeys(["capabilities", "capability_rules"], "session"),
}
LOOPS = {"asyncio", "uvloop", "anyio", "trio", "selectors", "socketserver"}
ON_A_LOOP = {"connection", "transports", "adapters", "cli", "__init__", "__main__"}

MOST_LINES = 700
SOURCES = {".py", ".pyi", ".c", ".h", ".hpp", ".ts", ".mjs", ".js", ".rs", ".go", ".java"}
TEXT = SOURCES | {".md", ".toml", ".txt", ".json", ".in", ".cfg", ".yml", ".yaml", ".sh", ".lock", ".npmrc", ""}

# Brackets keep these patterns from finding themselves.
REGISTRIES = (
    r"pypi[.]org|pythonhosted[.]org|registry[.]npmjs|registry[.]yarnpkg|crates[.]io|proxy[.]golang|deb[.]debian"
)
REGISTRIES += r"|repo1?[.]maven|nodesource[.]com"


def tracked(root: Path) -> list[Path]:
    """What git tracks or would track, as paths below ``root``; in an unpacked sdist: what is not hidden or built."""
    if not (root / ".git").exists():
        paths = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        return sorted(path for path in paths if not re.search(r"(^|/)([.]|node_modules/|build/)", path.as_posix()))
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted(Path(name) for name in names if name and (root / name).is_file())


# --- imports


def modules(root: Path) -> Iterator[tuple[str, Path]]:
    """Name and file of every module of the package; what lies in a folder bears the folder's name."""
    for path in sorted((root / PACKAGE).rglob("*.py")):
        yield path.relative_to(root / PACKAGE).parts[0].removesuffix(".py"), path


def nodes(tree: ast.AST, running: bool) -> Iterator[ast.AST]:
    """All nodes; with ``running`` without those that only type checkers read."""
    ahead = [tree]
    while ahead:
        node = ahead.pop()
        if running and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            ahead += node.orelse
        else:
            yield node
            ahead += ast.iter_child_nodes(node)


def imports(path: Path, package: Path, running: bool = False) -> Iterator[str]:
    """Full dotted names of all that a file imports, in functions and by ``import_module`` too."""
    here = [PACKAGE, *path.relative_to(package).parent.parts]
    for node in nodes(ast.parse(path.read_bytes(), str(path)), running):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            base = base + node.module.split(".") if node.module else base
            yield from (".".join([*base, name.name]) for name in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            yield from (str(argument.value) for argument in node.args[:1] if isinstance(argument, ast.Constant))


def module_of(name: str, known: set[str]) -> str | None:
    """The module an imported name lies in; what the package itself exports counts as its ``__init__``."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return None
    return parts[1] if len(parts) > 1 and parts[1] in known else "__init__"


def reachable(room: str) -> set[str]:
    """Every room the arrows lead to from ``room``, itself included."""
    found: set[str] = set()
    ahead = {room}
    while ahead:
        found |= ahead
        ahead = {step for last in ahead for step in ARROWS[last]} - found
    return found


def wrong_imports(root: Path) -> list[str]:
    """Imports against the arrows, modules without a room, loops in rooms that must not know any."""
    wrong = []
    known = {module for module, _ in modules(root)} | {"_native"}
    for module, path in modules(root):
        where, room = path.relative_to(root).as_posix(), BELONGS_TO.get(module, module)
        if room not in ARROWS:
            wrong.append(f"{where}: the arrows have no room {room!r}")
            continue
        for name in imports(path, root / PACKAGE):
            target = module_of(name, known)
            if target is not None and BELONGS_TO.get(target, target) not in reachable(room):
                wrong.append(f"{where}: {room} must not import {target} ({name})")
            if name.split(".")[0] in LOOPS and room not in ON_A_LOOP:
                wrong.append(f"{where}: {room} must not know an event loop ({name})")
    return wrong


def circles(root: Path) -> list[str]:
    """Modules that import each other in a circle when they run: within a room the arrows say nothing."""
    known = {module for module, _ in modules(root)} | {"_native"}
    graph: dict[str, set[str]] = {}
    for module, path in modules(root):
        targets = {module_of(name, known) for name in imports(path, root / PACKAGE, running=True)} - {module}
        graph.setdefault(module, set()).update(target for target in targets if target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" imports ".join(reversed(error.args[1]))]
    return []


def busy_inits(root: Path) -> list[str]:
    """Statements of an ``__init__.py`` that do more than hand on names."""
    wrong = []
    for path in sorted((root / PACKAGE).rglob("__init__.py")):
        for node in ast.parse(path.read_bytes(), str(path)).body:
            if not hands_on(node):
                wrong += [f"{path.relative_to(root).as_posix()}:{node.lineno}: {ast.unparse(node).splitlines()[0]}"]
    return wrong


def hands_on(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, an import, or sets ``__all__`` or ``__version__`` without computing it."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    computed = any(isinstance(part, (ast.Call, ast.comprehension)) for part in ast.walk(node))
    return not computed and all(ast.unparse(target) in ("__all__", "__version__") for target in targets)


# --- what lies in the files


def python_in_c(root: Path) -> list[str]:
    """Lines of the C library that know Python."""
    sign = re.compile(r"\bPython[.]h\b|\bPy(?:_[a-z]|[A-Z])\w*|\b_cffi_\w+")
    files = [path for part in ("include", "src") for path in sorted((root / "native" / part).glob("*.[ch]"))]
    return [
        f"{path.relative_to(root).as_posix()}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if sign.search(line)
    ]


def long_files(root: Path) -> list[str]:
    """Hand-written sources with more lines than one concept needs."""
    wrong = []
    for path in tracked(root):
        if path.suffix in SOURCES and "generated" not in path.as_posix():
            lines = (root / path).read_bytes().count(b"\n")
            if lines > MOST_LINES:
                wrong.append(f"{path.as_posix()}: {lines} lines")
    return wrong


def foreign_names(root: Path, home: str = os.path.expanduser("~")) -> list[str]:
    """Lines that name a package registry's host or a folder of the machine the tree lies on."""
    folders = [re.escape(folder.rstrip("/")) + "/" for folder in (str(root.parent), home) if folder.strip("/")]
    sign = re.compile("|".join([REGISTRIES, *folders]))
    wrong = []
    for path in tracked(root):
        if path.suffix in TEXT:
            text = (root / path).read_text(encoding="utf-8", errors="replace")
            found = ((number, sign.search(line)) for number, line in enumerate(text.splitlines(), 1))
            wrong += [f"{path.as_posix()}:{number}: {match[0]}" for number, match in found if match]
    return wrong


def versions(root: Path) -> list[str]:
    """The version in each place that states it, if they differ."""
    places = {
        "pyproject.toml": r'^version = "(.+?)"',
        "CHANGELOG.md": r"^## \[(\d.+?)\]",
        "native/include/acpcore.h": r'^#define ACP_VERSION "(.+?)"',
    }
    found = {}
    for name, pattern in places.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        found[name] = match[1] if match else "none"
    return [f"{name}: {version}" for name, version in found.items()] if len(set(found.values())) > 1 else []


RULES = [wrong_imports, circles, busy_inits, python_in_c, long_files, foreign_names, versions]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps(rule: Callable[[Path], list[str]]) -> None:
    assert rule(ROOT) == []


def test_there_is_something_to_look_at() -> None:
    found = {module for module, _ in modules(ROOT)}
    assert found >= {"__init__", "__main__", "errors", "message", "engine", "schema", "connection", "transports", "cli"}
    assert any(path.suffix == ".c" for path in tracked(ROOT))


# --- the rules themselves, on trees that break them


def plant(root: Path, files: dict[str, str]) -> Path:
    """Write a small tree."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


GOOD_TREE = {
    "acpcore/__init__.py": '"""Doc."""\nfrom .connection import spawn\n__all__ = ["spawn"]\n__version__ = "1"\n',
    "acpcore/__main__.py": "from .cli import main\n",
    "acpcore/errors.py": "",
    "acpcore/message.py": "from . import _native\nfrom .errors import AcpError\nimport msgspec\n",
    "acpcore/framing.py": "from .message import Event\n",
    "acpcore/flow.py": "",
    "acpcore/engine.py": "from . import flow, framing\nfrom acpcore.message import Event\n",
    "acpcore/schema/__init__.py": "from .updates import Update\n",
    "acpcore/schema/updates.py": "from .. import errors\nfrom ..errors import AcpError\nfrom . import base\n",
    "acpcore/transports/stdio.py": "import asyncio\nfrom .base import Link\n",
    "acpcore/connection.py": "import asyncio\nfrom . import engine, runner\nfrom .schema import Update\n",
    "acpcore/runner.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import connection\n",
    "acpcore/cli/__init__.py": "from .main import main\n",
    "acpcore/cli/main.py": "import acpcore\nfrom acpcore import spawn\nfrom ..transports import stdio\n",
    "native/include/acpcore.h": "/* cffi:begin */\n",
}


def test_a_good_tree_breaks_no_rule(tmp_path: Path) -> None:
    plant(tmp_path / "tree", GOOD_TREE)
    for rule in (wrong_imports, circles, busy_inits, python_in_c, long_files, foreign_names):
        assert rule(tmp_path / "tree") == [], rule.__name__


BROKEN = [
    (wrong_imports, "acpcore/schema/updates.py", "from ..engine import Engine\n"),
    (wrong_imports, "acpcore/schema/updates.py", "from .. import message\n"),
    (wrong_imports, "acpcore/schema/updates.py", "import acpcore.engine\n"),
    (wrong_imports, "acpcore/engine.py", "from .schema import Update\n"),
    (wrong_imports, "acpcore/engine.py", "from .schema.updates import Update\n"),
    (wrong_imports, "acpcore/engine.py", "def late():\n    from .connection import Connection\n"),
    (
        wrong_imports,
        "acpcore/engine.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import dispatch\n",
    ),
    (wrong_imports, "acpcore/engine.py", "import importlib\nimportlib.import_module('acpcore.schema')\n"),
    (wrong_imports, "acpcore/engine.py", "from acpcore import spawn\n"),
    (wrong_imports, "acpcore/engine.py", "import asyncio.events\n"),
    (wrong_imports, "acpcore/terminal.py", "from asyncio import sleep\n"),
    (wrong_imports, "acpcore/terminal.py", "from .connection import Connection\n"),
    (wrong_imports, "acpcore/dispatch.py", "from .transports import stdio\n"),
    (wrong_imports, "acpcore/transports/stdio.py", "from ..connection import Connection\n"),
    (wrong_imports, "acpcore/connection.py", "from .cli import main\n"),
    (wrong_imports, "acpcore/errors.py", "from . import _native\n"),
    (wrong_imports, "acpcore/attic.py", ""),
    (wrong_imports, "acpcore/batch.py", "from .connection import Connection\n"),
    (wrong_imports, "acpcore/engine.py", "from . import runner\n"),
    (circles, "acpcore/message.py", "def late():\n    from .framing import Frame\n"),
    (circles, "acpcore/runner.py", "from . import connection\n"),
    (busy_inits, "acpcore/__init__.py", "VALUE = 1\n"),
    (busy_inits, "acpcore/schema/__init__.py", "def helper(): ...\n"),
    (busy_inits, "acpcore/schema/__init__.py", "__all__ = sorted(globals())\n"),
    (python_in_c, "native/src/scan.c", "#include <Python.h>\n"),
    (python_in_c, "native/src/scan.c", "static PyObject *self;\n"),
    (python_in_c, "native/include/acpcore.h", "int f(Py_ssize_t size);\n"),
    (long_files, "acpcore/engine.py", "pass\n" * (MOST_LINES + 1)),
    (long_files, "native/src/scan.c", "\n" * (MOST_LINES + 1)),
    (foreign_names, "README.md", "see https://" + "pypi" + ".org/project/x\n"),
    (foreign_names, "tests/interop/package-lock.json", '"resolved": "https://' + "registry." + 'npmjs.org/zod"\n'),
]


@pytest.mark.parametrize(
    ("rule", "name", "text"), BROKEN, ids=[f"{r.__name__}-{i}" for i, (r, _, _) in enumerate(BROKEN)]
)
def test_a_broken_tree_is_found_out(rule: Callable[[Path], list[str]], name: str, text: str, tmp_path: Path) -> None:
    plant(tmp_path / "tree", GOOD_TREE | {name: text})
    wrong = rule(tmp_path / "tree")
    assert len(wrong) == 1
    assert name.removesuffix(".py").split("/")[-1] in wrong[0]


def test_a_path_of_this_machine_is_found_out(tmp_path: Path) -> None:
    root = plant(tmp_path / "tree", {"a.py": f"{tmp_path}/elsewhere\n/home/someone/x\n", "b.bin": f"{tmp_path}/\n"})
    assert foreign_names(root, home="/home/someone") == [f"a.py:1: {tmp_path}/", "a.py:2: /home/someone/"]


def test_differing_versions_are_found_out(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": 'version = "1.0.0"\n',
        "CHANGELOG.md": "# Changelog\n## [1.0.0] - today\n",
        "native/include/acpcore.h": '#define ACP_VERSION "1.0.0"\n',
    }
    assert versions(plant(tmp_path, files)) == []
    assert len(versions(plant(tmp_path, {"CHANGELOG.md": "## [1.1.0]\n## [1.0.0]\n"}))) == 3
