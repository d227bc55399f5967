"""Writes acpcore/schema/types/ and acpcore/schema/v2.py from the JSON schema of ACP v2 alpha.2.

    python tools/generate_schema.py path/to/schema.v2.unstable.json [--check]

``--check`` writes nothing and fails if a file would change.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))

import schema_source  # noqa: E402
import schema_write  # noqa: E402


def generate(source: Path) -> dict[Path, str]:
    """The text of every generated file, by its path below the repository."""
    return schema_write.files(schema_source.load(source))


def main() -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    changed = 0
    for path, text in generate(options.source).items():
        target = ROOT / path
        if target.exists() and target.read_text("utf-8") == text:
            continue
        changed += 1
        print(f"{'would change' if options.check else 'written'}: {path}")
        if not options.check:
            target.write_text(text, "utf-8")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
