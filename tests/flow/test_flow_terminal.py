"""Small terminal writes share messages under pressure, and nobody can tell from the bytes."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest
from ends import KIB, Peer, on_both_loops, request, run_often, turns, until, with_peer, within
from flow_scale import MIB, scaled
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import LOOPS

from acpcore import Connection, Limits
from acpcore.schema import StateUpdate, TerminalUpdate, UpdateSessionNotification, decode
from acpcore.terminal_buffer import TerminalBuffer

SMALL = Limits(outbox_low=1 * KIB, outbox_high=4 * KIB, outbox_hard=64 * KIB, stall_timeout=60)


@pytest.mark.parametrize("size", [20, 500, 4000])
@on_both_loops
async def test_one_task_under_pressure_shares_at_least_a_third_of_its_messages(size: int) -> None:
    count = scaled(2 * MIB, 64 * MIB) // size if size > 20 else scaled(20_000, 1_000_000)
    async with with_peer(role="agent", capacity=16 * KIB) as (conn, peer):
        terminal = conn.terminal("s1", "t1")
        expected = bytearray()
        for n in range(count):
            piece = bytes([n % 251]) * size
            expected += piece
            await terminal.write(piece)
        await terminal.flush()
        await conn.flush()
        stats = conn.stats()
        print(f"{size} bytes a write: {stats.merged_writes} of {stats.terminal_writes} shared a message")
        assert stats.terminal_writes == count and stats.merged_writes * 3 >= count
        assert stats.frames_out * 3 <= count * 2, "and there are so many messages fewer"
        await until(lambda: len(peer.data) == stats.bytes_out)
        assert b"".join(chunk_data(line) for line in peer.rest()) == expected
        assert stats.outbox.peak < Limits().outbox_high + 64 * KIB


def chunk_data(line: Any) -> bytes:
    return base64.b64decode(line["params"]["update"]["data"])


# --- what follows a write is behind its bytes


@pytest.mark.parametrize("what", ["exit", "idle", "answer", "call", "chunk of another terminal"])
@pytest.mark.parametrize("pressed", [False, True])
@on_both_loops
async def test_what_is_sent_after_a_write_is_behind_its_bytes(what: str, pressed: bool) -> None:
    async with with_peer(role="agent", limits=SMALL, capacity=500) as (conn, peer):
        peer.send(request(7, "_t/ask", sessionId="s1"))
        [asked] = await within(conn.receive())
        terminal = conn.terminal("s1", "t1")
        if pressed:
            peer.stop_reading()
            await terminal.write(b"x" * 8000)
            await turns(3)
            assert conn.stats().outbox.used >= SMALL.outbox_high
        await terminal.write(b"last")
        sending: Any = None
        if what == "exit":
            sending = asyncio.ensure_future(terminal.exit(0))
        elif what == "idle":
            idle = UpdateSessionNotification(session_id="s1", update=StateUpdate(state="idle", stop_reason="end_turn"))
            sending = asyncio.ensure_future(conn.notify(idle))
        elif what == "answer":
            asked.reply({})  # type: ignore[attr-defined]
        elif what == "call":
            sending = asyncio.ensure_future(conn.request("session/request_permission", {"sessionId": "s1"}))
        else:
            await conn.terminal("s1", "t2").write(b"other")
        await turns(3)
        peer.read_on()
        seen = b""
        while True:
            line = await peer.line()
            update = line.get("params", {}).get("update", {})
            if "data" not in update or update["terminalId"] == "t2":
                break
            seen += base64.b64decode(update["data"])
        assert seen.endswith(b"last"), "its bytes are there before what was sent after them"
        if what == "call":
            peer.send({"jsonrpc": "2.0", "id": line["id"], "result": {}})
        if sending is not None:
            await within(sending)


# --- any sequence, under any pressure

Step = tuple[str, int, int]
steps_of = st.lists(
    st.tuples(
        st.sampled_from(
            ["write", "write", "write", "snapshot", "clear", "exit", "tell", "turns", "stop", "go", "flush"]
        ),
        st.integers(0, 1),
        st.integers(0, 700),
    ),
    max_size=40,
)


class Writers:
    """Two terminals on a connection, and beside them what they would be without any merging."""

    def __init__(self, conn: Connection, chunk: int) -> None:
        self.conn = conn
        self.terminals = [conn.terminal("s1", f"t{n}", chunk_size=chunk) for n in range(2)]
        self.plain = [TerminalBuffer(), TerminalBuffer()]
        self.count = 0

    async def step(self, what: str, n: int, size: int) -> None:
        terminal, plain = self.terminals[n], self.plain[n]
        if what == "write":
            data = bytes((self.count + i) % 256 for i in range(size))
            self.count += size
            plain.append(data)
            await terminal.write(data)
        elif what in ("snapshot", "clear"):
            output = b"s" * size if what == "snapshot" else None
            plain.replace(output or b"")
            await terminal.update(output=output)
        elif what == "exit":
            await terminal.exit(size)
        elif what == "tell":
            await self.conn.notify("session/update", {"sessionId": "s1", "pad": "x" * size})
        elif what == "flush":
            await terminal.flush()


def fold(peer: Peer) -> list[bytes]:
    """What a client sees in both terminals."""
    buffers = [TerminalBuffer(), TerminalBuffer()]
    for line in peer.rest():
        update = line["params"].get("update")
        if update is None:
            continue
        buffer = buffers[int(update["terminalId"][1])]
        if update["sessionUpdate"] == "terminal_output_chunk":
            buffer.append(base64.b64decode(update["data"]))
        else:
            typed = decode(UpdateSessionNotification, json.dumps(line["params"]).encode()).update
            assert isinstance(typed, TerminalUpdate)
            buffer.apply(typed)
    return [buffer.bytes for buffer in buffers]


@pytest.mark.parametrize("kind", LOOPS)
@settings(max_examples=scaled(80, 5000))
@given(
    steps=steps_of,
    chunk=st.sampled_from([1, 7, 100, 1000, 32768]),
    capacity=st.integers(1, 2000),
    tasks=st.booleans(),
)
def test_any_sequence_leaves_the_same_bytes_as_without_merging(
    kind: str, steps: list[Step], chunk: int, capacity: int, tasks: bool
) -> None:
    """In one task, or with one for each terminal."""
    chunk = max(chunk, capacity // 50, 7 if len(steps) > 10 else 1)

    async def main() -> None:
        limits = Limits(outbox_low=200, outbox_high=800, outbox_hard=100_000, stall_timeout=60)
        async with with_peer(role="agent", limits=limits, capacity=capacity) as (conn, peer):
            writers = Writers(conn, chunk)

            async def work(mine: list[Step]) -> None:
                for what, n, size in mine:
                    if what == "turns":
                        await turns(size % 4)
                    elif what == "stop":
                        peer.stop_reading()
                        asyncio.get_running_loop().call_later(0.002, peer.read_on)
                    elif what == "go":
                        peer.read_on()
                    else:
                        await writers.step(what, n, size)

            groups = [[one for one in steps if one[1] == n] for n in range(2)] if tasks else [steps]
            await within(asyncio.gather(*map(work, groups)))
            peer.read_on()
            for terminal in writers.terminals:
                await within(terminal.flush())
            await within(conn.flush())
            await until(lambda: len(peer.data) == conn.stats().bytes_out)
            assert fold(peer) == [plain.bytes for plain in writers.plain]

    run_often(kind, main)
