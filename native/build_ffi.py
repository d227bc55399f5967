"""Builds ``acpcore._native``: the C core behind cffi, with declarations cut out of the public header.

setup.py takes ``ffibuilder`` from here. Run as a script, it builds the module in place.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from cffi import FFI

ROOT = Path(__file__).resolve().parent.parent
MODULE = "acpcore._native"
STABLE_ABI = "0x030A0000"


def declarations(header: str) -> str:
    """The part of the header that cffi reads, without the export macro and with plain numbers only."""
    text = header.split("/* cffi:begin */", 1)[1].split("/* cffi:end */", 1)[0]
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).replace("ACP_API ", "")
    return re.sub(r"(?m)^(#define\s+\w+\s+)(.*?)\s*$", _define, text)


def _define(match: re.Match[str]) -> str:
    name, value = match.groups()
    return name + (value if re.fullmatch(r"0[xX][0-9A-Fa-f]+|\d+", value) else "...")


def free_threaded() -> bool:
    """Builds without a GIL have no stable ABI."""
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def options(base: Path) -> dict[str, Any]:
    """Sources and compiler options, with paths below ``base``."""
    found: dict[str, Any] = {
        "sources": [str(base / "native" / "src" / path.name) for path in sorted((ROOT / "native" / "src").glob("*.c"))],
        "include_dirs": [str(base / "native" / "include"), str(base / "native" / "src")],
        "depends": [str(base / path.relative_to(ROOT)) for path in sorted((ROOT / "native").glob("*/*.h"))],
        "define_macros": [("ACP_STATIC", None)],
        "py_limited_api": not free_threaded(),
    }
    if not free_threaded():
        found["define_macros"].append(("Py_LIMITED_API", STABLE_ABI))
    if os.environ.get("ACPCORE_SCALAR"):  # the same library without SIMD, so that every test can run on it
        found["define_macros"].append(("ACP_SCALAR", None))
    if sys.platform != "win32":
        found["extra_compile_args"] = ["-std=c11", "-O3", "-fvisibility=hidden"]
    return found


def builder(base: Path) -> FFI:
    """An FFI ready to be compiled."""
    ffi = FFI()
    ffi.cdef(declarations((ROOT / "native" / "include" / "acpcore.h").read_text(encoding="utf-8")))
    ffi.set_source(MODULE, '#include "acpcore.h"', **options(base))
    return ffi


def build_in_place() -> Path:
    """Compile in a temporary folder and put the module beside the Python sources."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(builder(ROOT).compile(tmpdir=folder))
        target = ROOT / "acpcore" / built.name
        fresh = target.with_name(f".{built.name}.{os.getpid()}")
        shutil.copy(built, fresh)
        return fresh.replace(target)  # at once: a process that runs on the old one must not see it change


# setuptools wants paths that count from the project's root, where it runs.
ffibuilder = builder(Path())

if __name__ == "__main__":
    print(build_in_place())
