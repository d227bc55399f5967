"""What is kept of a terminal, against naive models that look at the whole output with regular expressions."""

from __future__ import annotations

import json
import re
import sys
import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acpcore.engine import Engine
from acpcore.errors import UsageError
from acpcore.message import TerminalBytes
from acpcore.ring import BLOCK, SMALL, Ring, Taken
from acpcore.schema import (
    TerminalExitStatus,
    TerminalOutput,
    TerminalOutputChunk,
    TerminalUpdate,
    UpdateSessionNotification,
    decode,
)
from acpcore.terminal_buffer import CEILING, LEAST, SafeCut, TerminalBuffer, TextDecoder

CASES = Path(__file__).parent / "cases"
KIB, MIB = 1 << 10, 1 << 20

# --- models: the whole output at once

SEQUENCE = re.compile(
    rb"\x1b(?:\[[ -?]*[@-~\x18\x1a]?|(?P<string>[P\]X^_][^\x07\x18\x1a\x1b]*)[\x07\x18\x1a]?|[ -/]*[0-~\x18\x1a]?)"
)
IN_TEXT = re.compile(
    "\x1b(?:\\[[ -?]*[@-~\x18\x1a]?|[P\\]X^_][^\x07\x18\x1a\x1b]*[\x07\x18\x1a]?|[ -/]*[0-~\x18\x1a]?)"
)


def sequences(data: bytes, longest: int) -> Iterator[tuple[int, int]]:
    """Where each escape sequence begins and ends; none is longer than ``longest``."""
    at = data.find(b"\x1b")
    while at >= 0:
        match = SEQUENCE.match(data[at : at + longest])
        assert match
        yield at, at + match.end()
        at = data.find(b"\x1b", at + match.end())


def characters(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each character begins and ends; so far as it is well formed."""
    at = 0
    while at < len(data):
        try:
            good, bad = data[at:].decode("utf-8"), 0
        except UnicodeDecodeError as error:
            good, bad = data[at : at + error.start].decode("utf-8"), error.end - error.start
        for size in [*(len(char.encode()) for char in good), bad]:
            yield at, at + size
            at += size


def boundaries(data: bytes, longest: int) -> list[int]:
    """Every place at which the kept bytes may begin."""
    inside: set[int] = set()
    for start, end in [*sequences(data, longest), *characters(data)]:
        inside.update(range(start + 1, end))
    for start, end in sequences(data, longest):  # a string and what ends it or breaks it off go together
        match = SEQUENCE.match(data[start:end])
        if match and match.end("string") == end - start < longest and data[end : end + 1] == b"\x1b":
            inside.add(end)
    return [place for place in range(len(data)) if place not in inside]


def kept(data: bytes, ceiling: int, longest: int = LEAST) -> bytes:
    first = max(0, len(data) - ceiling)
    if first == 0:
        return data
    return data[next((place for place in boundaries(data, longest) if place >= first), len(data)) :]


def unix(text: str) -> str:
    return re.sub("\r+", "\r", re.sub("\r+\n", "\n", text))


def clean(data: bytes, longest: int = LEAST) -> str:
    """Sequences become CAN, which keeps their neighbours apart; then characters; then controls go."""
    ends = [0, *(place for pair in sequences(data, longest) for place in pair), len(data)]
    rest = b"\x18".join([data[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)])
    return unix(re.sub("[\x00-\x07\x0e-\x1f\x7f-\x9f]", "", rest.decode("utf-8", "replace")))


def whole(data: bytes) -> bytes:
    """Without the incomplete character at the end."""
    for size in range(1, min(3, len(data)) + 1):
        try:
            data[-size:].decode("utf-8")
        except UnicodeDecodeError as error:
            if (error.start, error.reason) == (0, "unexpected end of data"):
                return data[:-size]
    return data


# --- what terminals print

STRING = st.sampled_from(
    [b"\x1b]0;title", b"\x1bPq#0;2", b"\x1b_Gf=24;", b"\x1b^pm", b"\x1bXsos", "\x1b]0;界".encode()]
)
WORD = st.sampled_from([b"a", b"xyz ", b"\n", b"\r\n", b"\r", b"\r\r\n", b"\t", b"\x07", b"\x00", b"\x08", b"0;1m"])
WIDE = st.sampled_from([text.encode() for text in ("é", "界", "🙂", "\x9b", "👩‍💻", "界界界界")])
BAD = st.sampled_from([b"\xff", b"\x80", b"\xe7\x95", b"\xf0\x9f\x99", b"\xc3", b"\xed\xa0\x80", b"\xe0\x80", b"\xc0"])
SHORT = st.sampled_from(
    [b"\x1b[m", b"\x1b[38;2;1;2;3m", b"\x1b[?25l", b"\x1b(B", b"\x1b7", b"\x1bc", b"\x1b\\", b"\x1b#8"]
)
BROKEN = st.sampled_from(
    [b"\x1b", b"\x1b\x1b", b"\x1b[", b"\x1b[3\n", b"\x1b[1\x18", b"\x1b(\x1a", b"\x1b[\xe7", b"\x1b(("]
)
LONG = st.builds(
    lambda head, unit, size: head + unit * size, STRING, st.sampled_from([b"x", "é".encode()]), st.integers(0, 80)
)
LONG_CSI = st.builds(lambda size: b"\x1b[" + b"1;" * size + b"m", st.integers(20, 40))
END = st.sampled_from([b"\x07", b"\x1b\\", b"\x18", b"\x1a"])
ANY = st.binary(max_size=4)
OUTPUT = st.lists(WORD | WIDE | BAD | SHORT | BROKEN | STRING | END | LONG | LONG_CSI | ANY, max_size=14).map(b"".join)
CEILINGS = st.integers(0, 12) | st.integers(0, 300)


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    """Chunks of it."""
    ends = sorted({0, len(data), *(min(place, len(data)) for place in places)})
    return [data[start:end] for start, end in pairwise(ends)]


@st.composite
def chunks(draw: st.DrawFn) -> list[bytes]:
    data = draw(OUTPUT)
    if draw(st.booleans()):
        return cut(data, range(len(data)))
    return cut(data, draw(st.lists(st.integers(0, len(data)), max_size=8)))


def filled(pieces: Iterable[bytes], ceiling: int = CEILING, longest: int = LEAST) -> TerminalBuffer:
    buffer = TerminalBuffer(ceiling, longest=longest)
    for piece in pieces:
        buffer.append(piece)
    return buffer


# --- the ring


class Recorder:
    """Keeps what fell out, in the order in which it did; lets the kept bytes begin at a multiple of ``step``."""

    def __init__(self, step: int = 1) -> None:
        self.gone = bytearray()
        self.step = step

    def passed(self, data: bytes | bytearray, start: int, stop: int) -> None:
        self.gone += data[start:stop]

    def align(self, data: bytes | bytearray, start: int) -> int:
        stop = min(len(data), start + -len(self.gone) % self.step)
        self.gone += data[start:stop]
        return stop

    def reset(self) -> None:
        self.gone.clear()


SIZES = st.lists(st.integers(0, 40) | st.sampled_from([SMALL - 1, SMALL, BLOCK, BLOCK + 1, 3 * BLOCK]), max_size=12)


def numbered(sizes: Iterable[int]) -> list[bytes]:
    """Chunks of these sizes whose bytes tell where they belong."""
    sizes = list(sizes)
    pattern = bytes(range(251)) * (sum(sizes) // 251 + 1)
    return cut(pattern[: sum(sizes)], [sum(sizes[:count]) for count in range(len(sizes))])


@given(SIZES, CEILINGS | st.sampled_from([SMALL, BLOCK, 2 * BLOCK + 7]), st.integers(1, 9))
def test_a_ring_keeps_the_newest_and_hands_what_falls_out_to_its_cut(sizes: list[int], ceiling: int, step: int) -> None:
    recorder = Recorder(step)
    ring = Ring(ceiling, recorder)
    data = b""
    for chunk in numbered(sizes):
        ring.append(chunk)
        data += chunk
        first = min(len(data), -(-max(0, len(data) - ceiling) // step) * step)
        assert (ring.total, ring.dropped, len(ring)) == (len(data), first, len(data) - first)
        assert bytes(recorder.gone) == data[:first]
        assert ring.since(0) == ring.since(first) == ring.oldest(len(data)) == data[first:]
        middle = (first + len(data)) // 2
        assert ring.oldest(middle - first) + ring.since(middle) == data[first:]


@given(st.lists(st.tuples(st.sampled_from(["append", "append", "take", "replace"]), st.binary(max_size=9))), CEILINGS)
def test_a_reader_knows_exactly_what_it_missed(steps: list[tuple[str, bytes]], ceiling: int) -> None:
    ring = Ring(ceiling)
    waiting, replaced = b"", False
    for what, data in [*steps, ("take", b"")]:
        if what == "take":
            missed = max(0, len(waiting) - ceiling)
            assert ring.take() == Taken(waiting[missed:], missed, replaced)
            waiting, replaced = b"", False
        elif what == "append":
            ring.append(data)
            waiting += data
        else:
            ring.replace(data)
            waiting, replaced = data, True


def test_nothing_is_missed_when_nothing_fell_out_unread() -> None:
    ring = Ring(4)
    ring.append(b"abcd")
    assert ring.take() == (b"abcd", 0, False)
    ring.append(b"ef")
    assert ring.take() == (b"ef", 0, False)
    ring.append(b"ghijkl")
    assert ring.take() == (b"ijkl", 2, False)
    assert ring.take() == (b"", 0, False)
    ring.clear()
    assert ring.take() == (b"", 0, True)


@pytest.mark.parametrize("ceiling", [-1, 1.0, True, "9", None])
def test_a_ceiling_is_a_size(ceiling: object) -> None:
    with pytest.raises(UsageError, match="number of bytes"):
        Ring(ceiling)  # type: ignore[arg-type]


def test_foreign_memory_is_copied() -> None:
    memory = bytearray(2 * SMALL)
    ring = Ring(MIB)
    ring.append(memory)
    ring.append(memoryview(memory)[:3])
    ring.append(memoryview(memory))
    memory[:] = b"x" * len(memory)
    assert ring.since(0) == bytes(4 * SMALL + 3)


def held(ring: Ring) -> int:
    """Bytes the ring's objects occupy."""
    return sys.getsizeof(ring._chunks) + sum(map(sys.getsizeof, ring._chunks))


@pytest.mark.parametrize("size", [1, 2, 100, SMALL - 1, SMALL, BLOCK - 1, BLOCK, BLOCK + 1, 5 * MIB])
@pytest.mark.parametrize("ceiling", [1000, MIB])
def test_memory_stays_below_the_ceiling_and_one_block(size: int, ceiling: int) -> None:
    ring = Ring(ceiling)
    chunk = bytes(size)
    for round in range(max(3, min(3 * ceiling, 400_000) // size)):
        ring.append(chunk)
        if round % 997 < 3:
            assert held(ring) <= 1.02 * (ceiling + min(ceiling, BLOCK)) + KIB
    assert held(ring) <= 1.02 * (ceiling + min(ceiling, BLOCK)) + KIB


@pytest.mark.parametrize("sizes", [(1, SMALL), (1, 0), (SMALL - 1, 1, BLOCK + 1), (0, 1, 0, 1)])
def test_memory_does_not_depend_on_how_chunks_alternate(sizes: tuple[int, ...]) -> None:
    ring = Ring(MIB)
    for _ in range(2 * MIB // sum(sizes) if sum(sizes) > 2 else 100_000):
        for size in sizes:
            ring.append(bytes(size))
    assert held(ring) <= 1.02 * (len(ring) + BLOCK) + KIB


def test_a_snapshot_frees_what_was_before() -> None:
    buffer = filled([bytes(MIB)] * 2, 2 * MIB)
    assert held(buffer._ring) > 2 * MIB
    for _ in range(3):
        buffer.replace(b"new")
        assert held(buffer._ring) < 2 * KIB


# --- the cut


@given(chunks(), CEILINGS)
@example(["界界界界".encode()], 10)
@example([b"\x1b]", b"\x1b]", b"\x1b[m", b"x"], 2)
@example([b"\x1b]" + b"x" * 62, b"\x1b\\", b"y"], 3)
@example([b"a\x1b", b"\x1b[", b"\x1b[", b"\x1b", b"y"], 1)
def test_what_is_kept_begins_at_the_first_safe_place(pieces: list[bytes], ceiling: int) -> None:
    buffer = TerminalBuffer(ceiling, longest=LEAST)
    data = b""
    for piece in pieces:
        buffer.append(piece)
        data += piece
        expected = kept(data, ceiling)
        assert buffer.bytes == expected
        assert (buffer.total, buffer.dropped) == (len(data), len(data) - len(expected))
        assert buffer.truncated is (len(expected) < len(data))


@given(chunks(), CEILINGS)
def test_what_is_kept_reads_like_the_end_of_the_whole(pieces: list[bytes], ceiling: int) -> None:
    data = b"".join(pieces)
    buffer = filled(pieces, ceiling, CEILING)
    buffer.finish()
    assert data.endswith(buffer.bytes)
    assert len(buffer.bytes) <= ceiling
    assert data.decode("utf-8", "replace").endswith(buffer.text())
    if not buffer.bytes.startswith(b"\n"):  # else the CR before it is gone, and a line end is still one
        assert clean(data, CEILING).endswith(buffer.clean_text().removeprefix("\r"))


@pytest.mark.parametrize(
    ("text", "ceiling", "left"),
    [
        ("界界界界", 10, "界界界"),
        ("界界界界", 12, "界界界界"),
        ("界界界界", 1, ""),
        ("界界界界", 0, ""),
        ("ok 🙂🙂", 10, "k 🙂🙂"),
        ("ok 🙂🙂", 7, "🙂"),
        ("ok 🙂🙂", 3, ""),
        ("ok 🙂🙂!", 1, "!"),
        ("ok 🙂🙂!", 0, ""),
        ("", 0, ""),
    ],
)
def test_no_half_character_begins_what_is_kept(text: str, ceiling: int, left: str) -> None:
    data = text.encode()
    for pieces in ([data], cut(data, range(len(data)))):
        buffer = filled(pieces, ceiling)
        assert buffer.bytes.decode() == buffer.text() == left
        assert buffer.truncated is (left != text)


@pytest.mark.parametrize(
    ("data", "ceiling", "left"),
    [
        (b"\x1b[31mred", 4, b"red"),
        (b"a\x1b[31mred", 8, b"\x1b[31mred"),
        (b"\x1b]0;title\x07after", 8, b"after"),
        (b"\x1b]0;title\x1b\\after", 6, b"after"),
        (b"\x1b]0;title\x1b\\after", 7, b"after"),
        (b"\x1bPq\x1b\\|\x1b_x\x1b\\|", 6, b"\x1b_x\x1b\\|"),
        (b"\x1bPq\x1b\\|\x1b_x\x1b\\|", 5, b"|"),
        (b"\x1b^pm\x07z", 2, b"z"),
        (b"\x1b(Bz", 2, b"z"),
        (b"\x1b7z", 2, b"z"),
        (b"\x1b[3\nz", 3, b"\nz"),
        (b"\x1b\x18z", 2, b"z"),
        (b"\x1b(\x1az", 2, b"z"),
        (b"\x1b[\x1az", 2, b"z"),
        (b"\x1b]\x1az", 2, b"z"),
        (b"\x80\x80\x80\x80", 3, b"\x80\x80\x80"),
        (b"\xff\xfe\xff\xfe", 1, b"\xfe"),
        (b"\x9b31m", 3, b"31m"),
    ],
)
def test_no_half_escape_sequence_begins_what_is_kept(data: bytes, ceiling: int, left: bytes) -> None:
    assert filled([data], ceiling).bytes == left
    assert filled(cut(data, range(len(data))), ceiling).bytes == left


def test_nothing_is_cut_below_the_ceiling() -> None:
    data = "\x1b[1m界".encode() * 100
    assert filled([data], len(data)).bytes == data
    assert not filled([data], len(data)).truncated


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_sequence_that_never_ends_hides_no_more_than_the_longest_one(size: int) -> None:
    """Nothing is kept of it until it is given up; then it is text, and no byte was looked at more than twice."""
    buffer = TerminalBuffer(100, longest=5000)
    buffer.append(b"text" * 30 + b"\x1b]0;")
    for count in range(size, 20_000, size):
        buffer.append(b"x" * size)
        given_up = count + 4 - 5000
        if count >= 100:
            assert len(buffer.bytes) == min(100, max(0, given_up))
    assert buffer._cut.looked <= 2 * buffer.total + 200


@pytest.mark.parametrize(
    "unit", [b"x", b"\x1b", b"\x1b]", b"\x1b[", b"\x1b[1;1m", "界".encode(), b"\xe7", b"\x80", b"1;" * 50]
)
@pytest.mark.parametrize("size", [1, 3, 64, 3000])
@pytest.mark.parametrize("head", [b"", b"\x1b[", b"\x1bP"])
def test_the_cut_looks_at_each_byte_a_few_times(unit: bytes, size: int, head: bytes) -> None:
    data = head + unit * (30_000 // len(unit))
    buffer = TerminalBuffer(100, longest=10_000)
    for at in range(0, len(data), size):
        buffer.append(data[at : at + size])
        assert len(buffer.bytes) <= 100
    assert 0 < buffer._cut.looked <= 2 * len(data) + 200


def test_bytes_that_are_kept_are_not_looked_at() -> None:
    buffer = filled([b"\x1b[1mbold"] * 10_000)
    assert buffer._cut.looked == 0


def test_more_than_the_ceiling_at_once_keeps_its_end() -> None:
    buffer = filled([b"old", "界".encode() * 100_000 + b"\x1b[", b"31mz"], 10)
    assert buffer.bytes == b"\xe7\x95\x8c\x1b[31mz"[-9:]
    assert buffer.total == 300_009


def test_64_mib_into_a_ceiling_of_1_mib() -> None:
    """The newest MiB is kept exactly, the cut is told, and memory stays at what is kept."""
    line = b"\x1b[32m%07d\x1b[0m " + b"x" * 239 + b"\n"
    buffer = TerminalBuffer()
    tracemalloc.start()
    try:
        for first in range(0, 1 << 18, 1 << 8):
            buffer.append(b"".join([line % number for number in range(first, first + (1 << 8))]))
        used, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    size = len(line % 0)
    assert buffer.total == size << 18
    data = b"".join([line % number for number in range((1 << 18) - MIB // size - 1, 1 << 18)])[-MIB:]
    assert buffer.bytes == kept(b"\x1b[m" + data, MIB)
    assert buffer.dropped == buffer.total - len(buffer.bytes)
    assert used < 1.02 * (MIB + BLOCK) + 16 * KIB
    assert peak < used + 4 * BLOCK
    assert buffer._cut.looked <= 2 * buffer.total


# --- text


def test_ansi_cut_anywhere_reads_abc() -> None:
    data = b"A\x1b[38;2;1;2;3mB\x1b]0;title\x1b\\C\x1b[0m\r\n"
    for first in range(len(data) + 1):
        for second in range(first, len(data) + 1):
            pieces = cut(data, [first, second])
            buffer = filled(pieces)
            decoder = TextDecoder(clean=True)
            assert "".join([*(decoder.decode(piece) for piece in pieces), decoder.decode(b"", final=True)]) == "ABC\n"
            assert (buffer.bytes, buffer.clean_text()) == (data, "ABC\n")


@given(chunks())
def test_a_decoder_does_not_see_chunks(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    plain, tidy = TextDecoder(), TextDecoder(clean=True, longest=LEAST)
    for _ in range(2):  # after the end a new text may begin
        parts = [plain.decode(piece) for piece in pieces]
        assert "".join(parts) == whole(data).decode("utf-8", "replace")
        assert "".join(parts) + plain.decode(b"", final=True) == data.decode("utf-8", "replace")
        assert "".join([tidy.decode(piece) for piece in pieces]) + tidy.decode(b"", final=True) == clean(data)


@given(OUTPUT)
def test_clean_text_is_safe_and_what_a_plain_regular_expression_finds(data: bytes) -> None:
    text = TextDecoder(clean=True).decode(data, final=True)
    stripped = IN_TEXT.sub("\x18", data.decode("utf-8", "replace"))
    assert text == unix(re.sub("[\x00-\x07\x0e-\x1f\x7f-\x9f]", "", stripped))
    assert not re.search("[\x00-\x07\x0e-\x1f\x7f-\x9f]|\r[\r\n]", text)


@pytest.mark.parametrize("between", [b"\x1b[m", b"\x1b7", b"\x1b]0;t\x07", b"\x1b_x\x1b\\", b"\x00", b"\x18", b"\x1b"])
def test_what_is_taken_out_does_not_join_its_neighbours(between: bytes) -> None:
    data = b"\xe7" + between + b"\x95\x8c"
    for pieces in ([data], cut(data, range(len(data)))):
        assert filled(pieces).clean_text() == "\ufffd\ufffd\ufffd"


def test_a_decoder_forgets_when_told_to() -> None:
    decoder = TextDecoder(clean=True)
    assert decoder.decode(b"a\r\xe7") == "a"
    decoder.reset()
    assert decoder.decode(b"\x95b\x1b]0;") == "\ufffdb"
    decoder.reset()
    assert decoder.decode(b"c\r", final=True) == "c\r"


STEPS = st.lists(
    st.tuples(st.sampled_from(["chunk", "chunk", "chunk", "snapshot", "text", "clean", "text"]), OUTPUT), max_size=12
)


@given(STEPS, CEILINGS)
@example([("chunk", b"a\r"), ("text", b""), ("chunk", b"\x1b[m"), ("clean", b""), ("chunk", b"bcd")], 5)
@example([("chunk", b"ab\xe7"), ("text", b""), ("chunk", b"cd"), ("text", b""), ("chunk", b"e")], 3)
def test_text_is_that_of_what_is_kept(steps: list[tuple[str, bytes]], ceiling: int) -> None:
    buffer = TerminalBuffer(ceiling, longest=LEAST)
    data = b""
    for what, more in [*steps, ("text", b""), ("clean", b"")]:
        if what == "chunk":
            buffer.apply(TerminalOutputChunk(terminal_id="t", data=more))
            data += more
        elif what == "snapshot":
            buffer.apply(TerminalUpdate(terminal_id="t", output=TerminalOutput(data=more)))
            data = more
        elif what == "text":
            assert buffer.text() == whole(kept(data, ceiling)).decode("utf-8", "replace")
        else:
            assert buffer.clean_text() == clean(whole(kept(data, ceiling)))
    assert buffer.bytes == kept(data, ceiling)
    buffer.finish()
    assert buffer.text() == kept(data, ceiling).decode("utf-8", "replace")
    assert buffer.clean_text() == clean(kept(data, ceiling))


@given(SIZES, st.sampled_from([BLOCK, 3 * BLOCK]))
def test_text_of_large_chunks_is_dropped_in_pieces(sizes: list[int], ceiling: int) -> None:
    buffer = TerminalBuffer(ceiling)
    data = b""
    for chunk in numbered(sizes):
        buffer.append(chunk)
        data += chunk
        assert len(data) - ceiling <= buffer.dropped < max(1, len(data) - ceiling + 4)
        assert buffer.text() == whole(data[buffer.dropped :]).decode("utf-8", "replace")


@pytest.mark.parametrize("ceiling", [CEILING, 100_000])
def test_35001_lines_are_decoded_once(ceiling: int) -> None:
    """Asking after every chunk does not begin from the start each time; after a cut a bounded piece is read again."""
    lines = [f"\x1b[36mline {number}\x1b[0m\r\n".encode() for number in range(35_001)]
    buffer = TerminalBuffer(ceiling)
    asked = 0
    for number, line in enumerate(lines):
        buffer.append(line)
        if number % 70 == 0 or number == 35_000:
            asked += 1
            buffer.clean_text()
    data = b"".join(lines)
    assert buffer.bytes == kept(data, ceiling)
    assert buffer.clean_text() == clean(kept(data, ceiling))
    again = 16 * KIB * asked if ceiling < len(data) else 0
    assert len(data) <= buffer._clean.looked <= len(data) + again
    assert buffer._plain.looked == 0
    assert len(buffer._clean._pieces) <= 2 * len(buffer.bytes) / (16 * KIB) + 3


def test_growing_snapshots_replace() -> None:
    buffer = TerminalBuffer()
    data = b""
    for number in range(300):
        data += b"line %d\n" % number
        buffer.apply(TerminalUpdate(terminal_id="t", output=TerminalOutput(data=data)))
        assert buffer.text() == data.decode()
    assert (buffer.bytes, buffer.total, buffer.dropped) == (data, len(data), 0)


# --- updates


def updates(name: str) -> Iterator[object]:
    for line in (CASES / name).read_bytes().splitlines():
        params = json.dumps(json.loads(line)["params"]).encode()
        yield decode(UpdateSessionNotification, params).update


def test_omitted_stays_null_clears_a_value_replaces() -> None:
    buffer = TerminalBuffer()
    seen = []
    for update in updates("32-omitted-null-value.bin"):
        if isinstance(update, TerminalUpdate):
            buffer.apply(update)
            code = buffer.exit_status and buffer.exit_status.exit_code
            seen.append((buffer.command, buffer.cwd, buffer.bytes, buffer.exited, code))
    assert seen == [
        ("make", "/w", b"abc", False, None),
        ("make", "/w", b"abc", True, 3221225786),
        (None, "/w", b"abc", True, 3221225786),
        (None, "/w", b"", False, None),
    ]


def test_meta_is_patched_like_the_rest() -> None:
    buffer = TerminalBuffer()
    buffer.apply(TerminalUpdate(terminal_id="t", meta={"a": 1}, cwd="/w"))
    buffer.apply(TerminalUpdate(terminal_id="t", cwd=None))
    assert (buffer.meta, buffer.cwd) == ({"a": 1}, None)
    buffer.apply(TerminalUpdate(terminal_id="t", meta=None))
    assert buffer.meta is None


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_two_terminals_keep_their_characters_apart(size: int) -> None:
    buffers = {"t1": TerminalBuffer(), "t2": TerminalBuffer()}
    data = (CASES / "83-utf8-split-two-terminals.bin").read_bytes()
    engine = Engine("client")
    for at in range(0, len(data), size):
        for event in engine.receive_data(data[at : at + size]):
            assert isinstance(event, TerminalBytes)
            buffers[event.terminal_id].apply(event)
    assert buffers["t1"].bytes == bytes.fromhex("78E7958C79")
    assert buffers["t2"].bytes == bytes.fromhex("F09F9982FF")
    assert (buffers["t1"].text(), buffers["t2"].text()) == ("x界y", "🙂\ufffd")


def test_an_incomplete_character_is_shown_once_at_the_end() -> None:
    buffer = filled([b"ok \xf0\x9f"])
    assert buffer.text() == buffer.clean_text() == "ok "
    buffer.apply(TerminalUpdate(terminal_id="t", exit_status=TerminalExitStatus()))
    assert buffer.exited
    assert [buffer.text(), buffer.text(), buffer.clean_text()] == ["ok \ufffd"] * 3
    buffer.apply(TerminalUpdate(terminal_id="t", exit_status=None))
    assert not buffer.exited
    assert buffer.text() == "ok "
    buffer.append(b"\x99\x82")
    buffer.finish()
    assert buffer.text() == "ok 🙂"


def test_the_ceiling_holds_for_snapshots_too_and_a_new_one_clears_the_cut() -> None:
    buffer = TerminalBuffer(4)
    buffer.apply(TerminalUpdate(terminal_id="t", output=TerminalOutput(data="a界界".encode())))
    assert (buffer.text(), buffer.truncated, buffer.dropped, buffer.total) == ("界", True, 4, 7)
    buffer.apply(TerminalUpdate(terminal_id="t", output=TerminalOutput(data=b"new")))
    assert (buffer.text(), buffer.truncated, buffer.dropped, buffer.total) == ("new", False, 0, 3)
    assert buffer.ceiling == 4


def test_a_snapshot_ends_the_sequence_that_was_open() -> None:
    buffer = filled([b"\x1b]0;unfinished" * 9], 5)
    assert buffer.bytes == b""
    buffer.replace(b"\x95abc")
    assert buffer.bytes == b"\x95abc"
    assert buffer.clean_text() == "\ufffdabc"
    buffer.append(b"def")
    assert buffer.bytes == b"bcdef"


def test_a_snapshot_does_not_continue_the_character_that_was_cut() -> None:
    buffer = filled([b"\xf0\x9fabcde"], 5)
    buffer.replace(b"\x99\x82bcde")
    assert buffer.bytes == b"\x82bcde"


def test_a_view_takes_what_came_from_a_safe_place_on() -> None:
    buffer = TerminalBuffer(6)
    buffer.append(b"one")
    assert buffer.take() == (b"one", 0, False)
    buffer.append(b"two\x1b[31mred")
    assert buffer.take() == (b"red", 8, False)
    buffer.apply(TerminalUpdate(terminal_id="t", output=None))
    buffer.append(b"x")
    assert buffer.take() == (b"x", 0, True)


@given(st.lists(st.tuples(OUTPUT, st.booleans()), max_size=10), CEILINGS)
def test_taken_and_missed_make_up_the_whole(steps: list[tuple[bytes, bool]], ceiling: int) -> None:
    buffer = TerminalBuffer(ceiling, longest=LEAST)
    data = b""
    seen = 0
    for piece, look in [*steps, (b"", True)]:
        buffer.append(piece)
        data += piece
        if look:
            taken = buffer.take()
            assert taken.data == data[seen + taken.missed :]
            assert taken.missed == max(0, len(data) - len(kept(data, ceiling)) - seen)
            seen = len(data)


@pytest.mark.parametrize("longest", [0, LEAST - 1])
def test_the_longest_sequence_is_not_too_short(longest: int) -> None:
    for make in (SafeCut, lambda size: TextDecoder(longest=size), lambda size: TerminalBuffer(longest=size)):
        with pytest.raises(UsageError, match="at least 64"):
            make(longest)
