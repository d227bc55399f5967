"""Work in proportion to the bytes, whatever the cuts; a bounded stack; first calls from many threads at once."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

import pytest
from cases.large import result
from cases.player import Player, pieces

from acpcore.engine import Engine
from acpcore.flow import Limits

TESTS = str(Path(__file__).parent)
KIB, MIB = 1 << 10, 1 << 20
HEAD, TAIL = b'{"jsonrpc":"2.0","id":1,"result":"', b'"}\n'


def line(size: int) -> Iterator[bytes]:
    """A response of ``size`` bytes with its newline, in parts."""
    left = size - len(HEAD) - len(TAIL)
    block = b"c" * MIB
    return chain([HEAD], repeat(block, left // MIB), [block[: left % MIB] + TAIL])


def feed(engine: Engine, parts: Iterator[bytes], read: int) -> tuple[int, int]:
    """Feed in reads of exactly ``read`` bytes; how many bytes and how many events there were."""
    total = events = 0
    rest = b""
    for part in chain(parts, [b""]):
        data = rest + part
        stop = len(data) - len(data) % read if part else len(data)
        for at in range(0, stop, read):
            events += len(engine.receive_data(memoryview(data)[at : at + read]))
        rest = data[stop:]
        total += stop
    return total, events


def peak() -> int:
    """The most memory this process ever had, in bytes. On Linux ``ru_maxrss`` also holds what the parent had."""
    status = Path("/proc/self/status")
    if status.exists():
        [line] = [row for row in status.read_text().splitlines() if row.startswith("VmHWM:")]
        return int(line.split()[1]) * KIB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else KIB)


def work(engine: Engine) -> int:
    stats = engine.stats()
    return max(stats.bytes_looked, stats.bytes_moved)


def test_a_line_of_64_mib_in_reads_of_4_kib() -> None:
    engine = Engine("client", limits=Limits(max_frame=64 * MIB))
    total, events = feed(engine, line(64 * MIB + 1), 4 * KIB)
    assert (total, events) == (64 * MIB + 1, 1)
    print(f"\nfed {total}, looked at {engine.stats().bytes_looked}, moved {engine.stats().bytes_moved}")
    assert work(engine) < 3 * total


def test_a_line_of_64_mib_one_byte_too_long() -> None:
    engine = Engine("client", limits=Limits(max_frame=64 * MIB))
    total, events = feed(engine, line(64 * MIB + 2), 4 * KIB)
    assert events == 1
    assert work(engine) < 3 * total


def test_a_line_byte_by_byte() -> None:
    engine = Engine("client")
    total, events = feed(engine, line(200 * KIB), 1)
    assert events == 1
    assert work(engine) < 3 * total


@pytest.mark.parametrize("read", [1021, 4 * KIB, 64 * KIB])
@pytest.mark.parametrize("size", [96, 33 * KIB, 145 * KIB, 260 * KIB, 289 * KIB, 577 * KIB])
def test_many_lines_around_the_size_of_the_buffer(size: int, read: int) -> None:
    """Lines that leave a rest behind in each read, and that fill the receive buffer just so."""
    engine = Engine("client")
    total, events = feed(engine, chain.from_iterable(line(size) for _ in range(4 * MIB // size)), read)
    assert events == 4 * MIB // size
    assert work(engine) < 3 * total


@pytest.mark.parametrize("read", [1, 4 * KIB])
@pytest.mark.parametrize("block", [b"x", b"[", b'{"a":', b'"\\', b" ", b"1,", b"\xf0\x9f"])
def test_lines_beyond_the_limit(block: bytes, read: int) -> None:
    engine = Engine("agent", limits=Limits(max_frame=8 * KIB))
    size = 40 * KIB if read == 1 else MIB
    total, events = feed(engine, repeat(block * (size // len(block)) + b"\n", 4), read)
    assert events == 4
    assert work(engine) < 3 * total


DEEP = """
import sys, threading
sys.path.insert(0, sys.argv[1])
sys.setrecursionlimit(1_000_000)
threading.stack_size(256 * 1024)
from acpcore.engine import Engine
from acpcore.flow import Limits
from acpcore.message import Notification
from cases.large import RULES
seen = []
def run():
    data = RULES["28-deep-nesting"]()
    for limits in (Limits(), Limits(max_frame=50_000)):
        for role in ("client", "agent"):
            engine = Engine(role, limits=limits)
            seen.append([getattr(event, "reason", type(event).__name__) for event in engine.receive_data(data)])
    cut = Engine("client")
    cut.receive_data(data[:150_000])
    seen.append([type(event).__name__ for event in cut.receive_eof()])
    deepest = b'{"jsonrpc":"2.0","method":"_x","params":' + b"[" * 127 + b"]" * 127 + b"}\\n"
    [event] = Engine("client").receive_data(deepest)
    assert isinstance(event, Notification)
    value, depth = event.params, 0
    while isinstance(value, list):
        value, depth = value[0] if value else None, depth + 1
    seen.append(depth)
thread = threading.Thread(target=run)
thread.start()
thread.join()
small, large = ["depth", "depth", "Response"], ["FrameTooLarge", "FrameTooLarge", "Response"]
assert seen == [small, small, large, large, ["Truncated", "Closed"], 127], seen
"""

FIRST_CALLS = """
import threading
count, found, barrier = 16, [], threading.Barrier(16)
LINE = b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"t":"' + "\\u00e9".encode() * 200 + b'"}}\\n'
def run():
    barrier.wait()
    from acpcore._native import ffi, lib
    scanner, taken = ffi.new("acp_scanner *"), ffi.new("acp_taken *")
    frames, groups, arena = ffi.new("acp_frame[]", 4), ffi.new("acp_group[]", 4), ffi.new("uint8_t[]", 64)
    assert lib.acp_scanner_init(scanner, 1 << 20, lib.ACP_HOT) == 0
    data = ffi.from_buffer(LINE)
    status = lib.acp_scan(scanner, data, len(LINE), 0, frames, 4, groups, 4, arena, 64, taken)
    found.append((status, taken.frames, frames[0].kind, frames[0].method_id, frames[0].body.len))
threads = [threading.Thread(target=run) for _ in range(count)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == count and len(set(found)) == 1 and found[0][:3] == (0, 1, 1), found
"""


@pytest.mark.parametrize("script", [DEEP, FIRST_CALLS], ids=["deep-nesting-on-a-small-stack", "16-threads-at-once"])
def test_in_a_process_of_its_own(script: str) -> None:
    done = subprocess.run([sys.executable, "-c", script, TESTS], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


PEAK = """
import sys
sys.path.insert(0, sys.argv[1])
from test_linear import Engine, Limits, MIB, KIB, line, peak
size, decoded = 64 * MIB, sys.argv[2] == "decoded"
def run(size):
    engine = Engine("client", limits=Limits(max_frame=64 * MIB))
    call = engine.expect(1)
    for part in line(size):
        for at in range(0, len(part), 4 * KIB):
            chunk = part[at : at + 4 * KIB]
            engine.get_buffer()[: len(chunk)] = chunk
            events = engine.buffer_updated(len(chunk))
    [event] = events
    assert len(event.raw_result) > size - 64
    return event.result if decoded else event
kept = run(256 * KIB)
idle = peak()
kept = run(size)
print(peak() - idle)
"""


@pytest.mark.parametrize(("form", "factor"), [("raw", 1.3), ("decoded", 2.1)])
def test_peak_memory_of_a_line_of_64_mib(form: str, factor: float) -> None:
    done = subprocess.run([sys.executable, "-c", PEAK, TESTS, form], capture_output=True, text=True, check=True)
    grown = int(done.stdout)
    print(f"\n{form}: {grown / MIB:.1f} MiB over idle")
    assert 60 * MIB < grown < factor * 64 * MIB + 40 * MIB, "the line itself must be seen, else nothing is measured"


# --- cases 04 and 16


@pytest.mark.parametrize("mib", [16, 32])
def test_04_linear_scan(mib: int) -> None:
    text = "c" * (mib << 20)
    data = result(1, {"t": text})
    player = Player("client", pending=[1]).feed(*pieces(data, 4096))
    assert player.results == {1: {"t": text}}
    stats = player.engine.stats()
    assert max(stats.bytes_looked, stats.bytes_moved) < 3 * len(data)


def flood(size: int, total: int, cap: int) -> Player:
    """``total`` bytes without a newline in reads of ``size``, then the newline and response 1."""
    player = Player("client", pending=[1], limits=Limits(max_frame=cap))
    block = b"x" * size
    for _ in range(total // size):
        player.feed(block)
    assert [seen.reason for seen in player.seen] == ["too_large"], "told before the newline came"
    return player.feed(b"\n" + result(1)).eof()


FLOOD = """
import sys
sys.path.insert(0, sys.argv[1])
from test_linear import flood, peak
flood(1 << 16, 1 << 20, 1 << 19)
idle = peak()
player = flood(1 << 20, 256 << 20, 8 << 20)
grown = peak() - idle
assert player.results == {1: {}}, player.seen
print(grown, player.engine.stats().bytes_looked)
"""


def test_16_no_newline_flood() -> None:
    """256 MiB without a newline under a cap of 8 MiB: memory near the cap, and no byte looked at again and again."""
    command = [sys.executable, "-c", FLOOD, TESTS]
    grown, looked = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    print(f"\npeak extra memory {grown} bytes, looked at {looked}")
    assert 4 << 20 < grown < 3 * (8 << 20), "the held bytes must be seen, else nothing is measured"
    assert looked < 3 * (256 << 20)
