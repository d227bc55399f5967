"""An agent for the tests of StdioTransport: answers each read in capitals until its input ends.

``stdio_agent.py asyncio|uvloop [plain] [noisy] [bystander] [paused]``. On stderr, as JSON lines, it tells how its
descriptors stood before, while and after it ran.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from links import FakeLink
from loops import run

from acpcore.errors import UsageError
from acpcore.transports.stdio import StdioTransport


def report(when: str) -> None:
    state = {
        "when": when,
        "files": [os.readlink(f"/proc/self/fd/{fd}") for fd in (0, 1)],
        "blocking": [os.get_blocking(fd) for fd in (0, 1)],
        "stderr_blocking": os.get_blocking(2),
        "inheritable": [os.get_inheritable(fd) for fd in (0, 1)],
        "open": len(os.listdir("/proc/self/fd")),
    }
    os.write(2, b"@" + json.dumps(state).encode() + b"\n")


def make_noise(name: str) -> None:
    """What code that knows nothing of the protocol does."""
    print(f"print {name}")
    os.write(1, f"write {name}\n".encode())
    child = f"echo child {name}; cat"
    subprocess.run(["sh", "-c", child], check=True)


async def serve(words: set[str]) -> None:
    transport = StdioTransport(isolate="plain" not in words)
    link = FakeLink()

    def answer(size: int) -> None:
        link.send(bytes(link.received[-size:]).upper())

    link.on_data = answer
    try:
        link.start(transport)
    except UsageError as error:
        print(f"refused: {error}", file=sys.stderr)
        return
    report("running")
    if "noisy" in words:
        make_noise("running")
    await link.until(lambda: link.eof)
    await link.until_sent()
    transport.close()
    await transport.wait_closed()


def main() -> None:
    kind, *words = sys.argv[1:]
    report("before")
    if "early" in words:
        print("early")
    run(kind, lambda: serve(set(words)))
    report("after")
    if "noisy" in words:
        make_noise("after")


if __name__ == "__main__":
    main()
