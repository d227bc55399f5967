"""Terminal bytes: written as chunks, folded back into bytes."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from acpcore import Connection, Handlers, Notification, TerminalBytes, expand
from acpcore.schema import (
    UNSET,
    TerminalExitStatus,
    TerminalOutput,
    TerminalUpdate,
)
from acpcore.terminal import CHUNK_SIZE, TerminalReader, TerminalState, TerminalWriter
from acpcore.transports.memory import memory_pair


def written(work: Callable[[TerminalWriter], Awaitable[None]]) -> list[dict[str, Any]]:
    """The updates a writer puts on the wire."""

    async def main() -> list[dict[str, Any]]:
        here, there = memory_pair()
        async with Connection(here, role="agent") as agent, Connection(there) as client:
            async with agent.terminal("s", "t") as terminal:
                await work(terminal)
            await agent.close()
            events = expand([event async for event in client])
            updates = [event.params for event in events if isinstance(event, Notification)]
        assert all(params["sessionId"] == "s" for params in updates)
        return [params["update"] for params in updates]

    return asyncio.run(main())


@pytest.mark.parametrize("size", [0, 1, CHUNK_SIZE - 1, CHUNK_SIZE, CHUNK_SIZE + 1, 3 * CHUNK_SIZE, 200_001])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_write_is_cut_into_chunks(size: int, kind: Any) -> None:
    raw = bytes(i % 251 for i in range(size))
    updates = written(lambda terminal: terminal.write(kind(raw)))
    parts = [b64decode(update["data"]) for update in updates]
    assert b"".join(parts) == raw
    assert all(0 < len(part) <= CHUNK_SIZE for part in parts)
    assert len(parts) == -(-size // CHUNK_SIZE)
    assert {update["sessionUpdate"] for update in updates} <= {"terminal_output_chunk"}


def test_updates_say_what_is_given_and_nothing_else() -> None:
    async def work(terminal: TerminalWriter) -> None:
        await terminal.update(command="make", cwd="/w")
        await terminal.update(output=b"abc", command=None)
        await terminal.exit(code=0)
        await terminal.exit(signal="SIGKILL")
        await terminal.update(exit_status=None)

    head = {"sessionUpdate": "terminal_update", "terminalId": "t"}
    assert written(work) == [
        {**head, "command": "make", "cwd": "/w"},
        {**head, "command": None, "output": {"data": "YWJj"}},
        {**head, "exitStatus": {"exitCode": 0}},
        {**head, "exitStatus": {"signal": "SIGKILL"}},
        {**head, "exitStatus": None},
    ]


def test_a_connection_s_terminal_reaches_the_other_side() -> None:
    seen = bytearray()
    handlers = Handlers()

    @handlers.on(TerminalBytes)
    def output(event: TerminalBytes) -> None:
        assert (event.session_id, event.terminal_id) == ("s é", "t1")
        seen.extend(event.data)

    async def main() -> None:
        here, there = memory_pair()
        async with Connection(here, role="agent") as agent, Connection(there, handlers):
            async with agent.terminal("s é", "t1") as terminal:
                for n in range(300):
                    await terminal.write(b"%d\xff\n" % n * n)
            await agent.flush()
            await agent.close()

    asyncio.run(main())
    assert seen == b"".join(b"%d\xff\n" % n * n for n in range(300))


@pytest.mark.parametrize(
    ("before", "snapshot", "new"),
    [
        (b"", b"", b""),
        (b"", b"abc", b"abc"),
        (b"abc", b"abc", b""),
        (b"abc", b"abcd", b"d"),
        (b"abc", b"bc", b""),
        (b"abc", b"", b""),
        (b"abc", b"ab", b"ab"),
        (b"abc", b"xbcd", b"xbcd"),
        (b"abc", b"xyz", b"xyz"),
        (b"x" * 10_000, b"x" * 10_000 + b"y", b"y"),
        (b"x" * 10_000 + b"y", b"x" * 10_000 + b"z", b"x" * 10_000 + b"z"),
        (b"a" + b"x" * 10_000, b"x" * 5_000, b""),
    ],
)
def test_a_snapshot_adds_what_was_not_there(before: bytes, snapshot: bytes, new: bytes) -> None:
    for size in (1, 3, 4096, 20_000):
        state = TerminalState()
        for at in range(0, len(before), size):
            state.append(before[at : at + size])
        assert state.replace(snapshot) == new
        assert state.size == len(snapshot)
        state.append(b"!")
        assert state.replace(snapshot + b"!?") == b"?"


def test_a_reader_folds_everything_that_is_said_of_terminals() -> None:
    reader = TerminalReader()

    def update(**members: Any) -> bytes:
        return reader.update(TerminalUpdate(terminal_id="t1", **members))

    assert update(command="make", cwd="/w") == b""
    assert reader.chunk("t1", b"ab") == b"ab"
    assert reader.chunk("t2", b"other") == b"other"
    assert update(output=TerminalOutput(data=b"abc")) == b"c"
    assert update(exit_status=TerminalExitStatus(exit_code=2), command=None) == b""
    state = reader.terminals["t1"]
    assert (state.command, state.cwd, state.size) == (None, "/w", 3)
    assert state.exit_status == TerminalExitStatus(exit_code=2)
    assert update(output=None, exit_status=None, cwd=UNSET) == b""
    assert (state.exit_status, state.cwd, state.size) == (None, "/w", 0)
    assert reader.chunk("t1", b"abc") == b"abc"
    assert reader.count == 2 + 5 + 1 + 3
