"""Run as a program: feeds one long line in 4 KiB reads and prints the peak memory above an idle process, in bytes.

python memory_probe.py raw|decoded|terminal SIZE
"""

import base64
import re
import sys
from pathlib import Path

from acpcore import Engine, TerminalBytes


def peak() -> int:
    """The high-water mark of this program alone (``ru_maxrss`` begins with that of whoever started it)."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def pieces(kind: str, size: int):
    """The line in reads of 4 KiB, made as they are asked for."""
    if kind == "terminal":
        yield b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{'
        yield b'"sessionUpdate":"terminal_output_chunk","terminalId":"t1","data":"'
        block, end = base64.b64encode(bytes(range(256)) * 12), b'"}}}\n'
    else:
        yield b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{'
        yield b'"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"'
        block, end = b"lorem ipsum dol " * 256, b'"}}}}\n'
    for _ in range(size // len(block)):
        yield block
    yield end


def main() -> None:
    kind, size = sys.argv[1], int(sys.argv[2])
    engine = Engine("client")
    warm = b'{"jsonrpc":"2.0","method":"_t/warm","params":{"a":[1,2,3]}}\n'
    for event in engine.receive_data(warm):
        _ = event.params
    idle = peak()
    events, fed = [], 0
    for piece in pieces(kind, size):
        buffer = engine.get_buffer()
        buffer[: len(piece)] = piece
        fed += len(piece)
        events += engine.buffer_updated(len(piece))
    assert len(events) == 1, events
    if kind == "raw":
        assert len(events[0].line) == fed - 1
    elif kind == "decoded":
        assert len(events[0].params["update"]["content"]["text"]) > size - 8192
    else:
        assert isinstance(events[0], TerminalBytes) and len(events[0].data) > size * 3 // 4 - 8192
    print(fed, peak() - idle)


main()
