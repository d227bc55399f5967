"""What typed decoding of ``session/update`` costs above bare msgspec: ``python bench/schema_decode.py``.

Both decode the same 10,000 different messages, in turns, in one process; a ratio is the median of 15 neighbouring
pairs.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

import msgspec
from rich.console import Console
from rich.table import Table

from acpcore import schema

COUNT = 10_000
PAIRS = 15
WORDS = ["lorem", "ipsum", "dolor", "naïve", "界面", 'a "quote"', "tab\t", "back\\slash", "sit", "amet", "line\nend"]


class Line(msgspec.Struct, gc=False):
    """A message as far as decoding needs it."""

    params: schema.UpdateSessionNotification


def lines(seed: int = 1) -> list[bytes]:
    """Different agent message chunks of about 310 bytes."""
    rng = random.Random(seed)
    made = []
    for number in range(COUNT):
        text = " ".join(rng.choices(WORDS, k=rng.randint(4, 30)))
        chunk = schema.AgentMessageChunk(message_id=f"m{number % 50}", content=schema.TextContent(text=text))
        params = schema.UpdateSessionNotification(session_id=f"s{number % 3}", update=chunk)
        made.append(b'{"jsonrpc":"2.0","method":"session/update","params":' + schema.encode(params) + b"}\n")
    return made


def seconds(work: Callable[[], object]) -> float:
    """Of one run."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    all_lines = lines()
    joined = b"".join(all_lines)
    params = [bytes(msgspec.json.decode(line, type=dict[str, msgspec.Raw])["params"]) for line in all_lines]
    bare = schema.decoder(Line)
    one = schema.decoder(schema.UpdateSessionNotification)
    assert [line.params for line in bare.decode_lines(joined)] == [
        schema.decode(type(one.decode(params[0])), raw) for raw in params
    ]
    cases: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "schema.decode a message / bare decode_lines": (
            lambda: [schema.decode(schema.UpdateSessionNotification, raw) for raw in params],
            lambda: bare.decode_lines(joined),
        ),
        "schema.decode a message / bare decode a message": (
            lambda: [schema.decode(schema.UpdateSessionNotification, raw) for raw in params],
            lambda: [one.decode(raw) for raw in params],
        ),
    }
    table = Table("case", "ns a message", "bare", "ratio", "p10", "p90")
    for name, (ours, theirs) in cases.items():
        pairs = [(seconds(ours), seconds(theirs)) for _ in range(PAIRS)]
        ratios = sorted(a / b for a, b in pairs)
        table.add_row(
            name,
            f"{statistics.median(a for a, _ in pairs) / COUNT * 1e9:.0f}",
            f"{statistics.median(b for _, b in pairs) / COUNT * 1e9:.0f}",
            f"{statistics.median(ratios):.2f}",
            f"{ratios[PAIRS // 10]:.2f}",
            f"{ratios[-1 - PAIRS // 10]:.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
