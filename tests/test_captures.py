"""What real agents and clients wrote, with the chunk boundaries of the real reads and with random ones.

``trace.jsonl`` holds every read: "out" is what the agent wrote (a client reads it), "in" what the client wrote.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import oracle
import pytest
from cases.player import Player, Role, Seen, random_pieces
from oracle import Event

CAPTURES = Path(__file__).parent / "captures"
RECORDINGS = sorted(path.parent.relative_to(CAPTURES).as_posix() for path in CAPTURES.glob("*/*/trace.jsonl"))
READERS: dict[str, Role] = {"out": "client", "in": "agent"}
EDGE = "ts-sdk-dual-version-agent-2.4.0/edge"
# Bad input sent on purpose, and answers with the fractional id of a request. Everything else is a message.
PROBES = ["empty_array", "id", "not_object", "parse"]
FAULTS = {
    ("py-sdk-v2-agent-1.0.0rc3/v2-flow", "in"): PROBES,
    ("py-sdk-v2-agent-1.0.0rc3/v2-flow", "out"): ["id"],
    ("ts-sdk-dual-version-agent-1.9.0/v2-flow", "in"): PROBES[1:],
    ("ts-sdk-dual-version-agent-1.9.0/v2-flow", "out"): ["id"],
    ("ts-sdk-dual-version-agent-2.4.0/v2-flow", "in"): PROBES,
    (EDGE, "in"): ["not_object", "version", "method", *["parse"] * 6],
}


def chunks(recording: str, direction: str) -> list[bytes]:
    """The reads of one direction. A trace is text, so bytes that are none are taken from the file of raw input."""
    if (recording, direction) == (EDGE, "in"):
        return (CAPTURES / recording / "in.ndjson").read_bytes().splitlines(keepends=True)
    rows = [json.loads(row) for row in (CAPTURES / recording / "trace.jsonl").read_text("utf-8").split("\n") if row]
    return [row["data"].encode() for row in rows if row["dir"] == direction]


def asked(recording: str, direction: str) -> list[Any]:
    """The ids of the requests in one direction: the reader of the other one waits for their answers."""
    events = oracle.events(b"".join(chunks(recording, direction)), eof=True)
    return list(dict.fromkeys(event.id for event in events if event.kind == "request" and event.id is not None))


def play(recording: str, direction: str, parts: list[bytes], grouped: bool = True) -> Player:
    other = "in" if direction == "out" else "out"
    player = Player(READERS[direction], pending=asked(recording, other), grouped=grouped)
    return player.feed(*parts).eof()


def short(seen: Seen) -> tuple[Any, ...]:
    known = (seen.kind, seen.id, seen.method) if seen.kind != "bad" else ("bad", ..., None)
    return (*known, None if seen.reason is None else oracle.error_class(seen.reason))


def expected(event: Event) -> tuple[Any, ...]:
    return (event.kind, event.id, event.method, None) if event.kind != "bad" else ("bad", ..., None, event.error)


@pytest.mark.parametrize("direction", READERS)
@pytest.mark.parametrize("recording", RECORDINGS)
def test_recording(recording: str, direction: str) -> None:
    parts = chunks(recording, direction)
    data = b"".join(parts)
    player = play(recording, direction, parts)
    events = [event for event in oracle.events(data, eof=True) if event.kind != "array"]
    assert [short(seen) for seen in player.seen[:-1]] == [expected(event) for event in events]
    assert player.kinds[-1] == "closed"
    assert [event.reason for event in events if event.kind == "bad"] == FAULTS.get((recording, direction), [])
    if (recording, direction) not in FAULTS:
        assert player.seen[:-1] == by_hand(data, player)
    for seed in range(20):
        assert play(recording, direction, random_pieces(data, seed)).seen == player.seen
    assert play(recording, direction, [data], grouped=False).seen == player.seen


def by_hand(data: bytes, player: Player) -> list[Seen]:
    """One event for each message and each entry of an array, read with nothing but json; places are taken as given."""
    values = [json.loads(line) for line in data.split(b"\n") if line.strip()]
    messages = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    assert len(messages) == len(player.seen) - 1
    return [by_json(value, seen) for value, seen in zip(messages, player.seen, strict=False)]


def by_json(value: dict[str, Any], seen: Seen) -> Seen:
    places = {"offset": seen.offset, "size": seen.size}
    ident, method = value.get("id", ...), value.get("method")
    if method is not None:
        inside = value.get("params")
        session = inside.get("sessionId") if isinstance(inside, dict) else None
        kind = "notification" if ident is ... else "request"
        return Seen(kind, ident, method, inside, session, **places)
    if "error" in value:
        failure = value["error"]
        outcome: Any = (failure["code"], failure["message"], failure.get("data"))
        return Seen("error", ident, value=outcome, matched=seen.matched, **places)
    return Seen("result", ident, value=value["result"], matched=seen.matched, **places)


@pytest.mark.parametrize("recording", [name for name in RECORDINGS if name != EDGE])
def test_every_answer_finds_its_call(recording: str) -> None:
    player = play(recording, "out", chunks(recording, "out"))
    answers = [seen for seen in player.seen if seen.kind in ("result", "error") and seen.id is not None]
    assert answers
    assert all(seen.matched for seen in answers), answers


def test_recordings_are_there() -> None:
    assert len(RECORDINGS) == 9
    assert {name for name, _ in FAULTS} < set(RECORDINGS)
