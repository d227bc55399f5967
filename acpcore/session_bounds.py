"""How much of a session is kept: the ceilings, and content that stays below them.

Sizes are bytes of UTF-8 for text and of compact JSON for everything else. Python objects of free-form JSON take several
times as much, an entry some hundred bytes besides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final, Generic, TypeVar

import msgspec

from .schema import UNSET, ContentBlock, TextContent, UnsetType, encode, kept_members

__all__ = ["Blocks", "Fields", "Newest", "ViewLimits", "json_size", "text_size"]

KIB: Final = 1024
MIB: Final = 1024 * KIB
_SINGLE_FIELDS: Final = 8  # members of a session that exist once; they are never thrown away

T = TypeVar("T")


class ViewLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Every bound of a view, in bytes unless said otherwise.

    ``max_entries`` (a number) messages, tool calls, terminals, plans and unknown updates are kept. ``max_message`` is
    the most content of a message, a plan or an unknown update, ``max_tool_call`` that of a tool call, ``max_terminal``
    the most output of a terminal, ``max_field`` the most of any other member, ``max_total`` the most of all.
    ``ValueError`` for bounds that contradict each other.
    """

    max_entries: int = 10_000
    max_message: int = 8 * MIB
    max_tool_call: int = 8 * MIB
    max_terminal: int = 1 * MIB
    max_field: int = 1 * MIB
    max_total: int = 64 * MIB

    def __post_init__(self) -> None:
        if self.max_entries < 1 or min(self.max_message, self.max_tool_call, self.max_terminal, self.max_field) < 0:
            raise ValueError("max_entries is positive, the other limits are sizes")
        if self.max_total < _SINGLE_FIELDS * self.max_field:
            raise ValueError(f"max_total must hold {_SINGLE_FIELDS} members of max_field bytes")


def text_size(text: str) -> int:
    """Bytes of a text as UTF-8."""
    return len(text) if text.isascii() else len(_utf8(text))


def json_size(value: Any) -> int:
    """Bytes of a value: of its text, or of its JSON."""
    return text_size(value) if isinstance(value, str) else len(encode(value))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# --- content


class Newest(Generic[T]):
    """Items in order, the newest of them: those that fit into ``ceiling`` bytes.

    ``size`` is what they have, ``dropped`` what those before them had (bytes). What is kept depends on all items since
    the last :meth:`replace`, not on how they came.
    """

    __slots__ = ("_items", "ceiling", "dropped", "size")

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self._items: deque[tuple[T, int]] = deque()
        self.dropped = 0
        self.size = 0

    def append(self, item: T) -> None:
        """Add an item at the end."""
        size = json_size(item)
        self._items.append((item, size))
        self.size += size
        while self.size > self.ceiling:
            size = self._items.popleft()[1]
            self.size -= size
            self.dropped += size

    def replace(self, items: Iterable[T]) -> None:
        """These are all items now."""
        self._items.clear()
        self.dropped = self.size = 0
        for item in items:
            self.append(item)

    def read(self) -> list[T]:
        """The items, in a list of its own."""
        return [item for item, _ in self._items]


def _is_plain(block: object) -> bool:
    return (
        isinstance(block, TextContent)
        and block.annotations is None
        and block.meta is None
        and (type(block) is TextContent or not kept_members(block))
    )


class Blocks:
    """Content blocks in order, the newest ``ceiling`` bytes of them; plain texts that follow each other are one.

    A text that was streamed in pieces must look like the same text sent whole, and a whole message may hold the pieces
    as they were: so what is between two plain texts cannot mean anything. A text can lose its beginning (of a character
    that is cut nothing is shown); any other block is kept or dropped whole. ``size`` and ``dropped`` as in ``Newest``.
    """

    __slots__ = ("_blocks", "ceiling", "dropped", "size")

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self._blocks: deque[bytearray | tuple[ContentBlock, int]] = deque()  # a text is the bytearray of its UTF-8
        self.dropped = 0
        self.size = 0

    def append(self, block: ContentBlock) -> None:
        """Add a block at the end."""
        if isinstance(block, TextContent) and _is_plain(block):
            self._add_text(_utf8(block.text))
        else:
            size = json_size(block)
            self._blocks.append((block, size))
            self.size += size
        if self.size > self.ceiling:
            self._shrink()

    def replace(self, blocks: Iterable[ContentBlock]) -> None:
        """These are all blocks now."""
        self._blocks.clear()
        self.dropped = self.size = 0
        for block in blocks:
            self.append(block)

    def read(self) -> list[ContentBlock]:
        """The blocks, in a list of its own; put together anew for each call."""
        return [TextContent(text=_text(block)) if isinstance(block, bytearray) else block[0] for block in self._blocks]

    def _add_text(self, data: bytes) -> None:
        last = self._blocks[-1] if self._blocks else None
        if isinstance(last, bytearray):
            last += data
        else:
            self._blocks.append(bytearray(data))
        self.size += len(data)

    def _shrink(self) -> None:
        while (excess := self.size - self.ceiling) > 0:
            first = self._blocks[0]
            if isinstance(first, bytearray) and len(first) > excess:
                del first[:excess]
                gone = excess
            else:
                self._blocks.popleft()
                gone = len(first) if isinstance(first, bytearray) else first[1]
            self.size -= gone
            self.dropped += gone


def _text(data: bytearray) -> str:
    start = 0
    while start < len(data) and data[start] & 0xC0 == 0x80:  # the rest of a character that was cut
        start += 1
    return data[start:].decode("utf-8", "surrogatepass")


class Fields:
    """Members under patch rules: an omitted one stays, ``None`` clears, a value replaces. One of more than ``ceiling``
    bytes counts as cleared. ``size`` is what they have, ``dropped`` what values too large have (bytes).

    https://agentclientprotocol.com/protocol/v2/draft/prompt-lifecycle
    """

    __slots__ = ("_ceiling", "_lost", "_sizes", "_values")

    def __init__(self, ceiling: int) -> None:
        self._ceiling = ceiling
        self._values: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}
        self._lost: dict[str, int] = {}

    def patch(self, **members: Any | UnsetType) -> None:
        """``UNSET``, ``None`` or a value each."""
        for name, value in members.items():
            if value is not UNSET:
                self._set(name, value)

    def _set(self, name: str, value: Any) -> None:
        size = 0 if value is None else json_size(value)
        for kept in (self._values, self._sizes, self._lost):
            kept.pop(name, None)
        if size > self._ceiling:
            self._lost[name] = size
        elif value is not None:
            self._values[name] = value
            self._sizes[name] = size

    def get(self, name: str) -> Any:
        """A value; ``None`` for what is unknown, cleared or too large."""
        return self._values.get(name)

    def known(self) -> dict[str, Any]:
        """The values by name."""
        return dict(self._values)

    @property
    def size(self) -> int:
        """Bytes of the values."""
        return sum(self._sizes.values())

    @property
    def dropped(self) -> int:
        """Bytes of the values that are too large."""
        return sum(self._lost.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fields) and self._values == other._values
