"""What the slow readers share: the state of one read, paths, and objects taken apart."""

from __future__ import annotations

from typing import Any, Final, Protocol

import msgspec

from acpcore.errors import InvalidParams

from .decoding import REFUSED
from .profiles import Profile

__all__ = ["MISSING", "Reader", "Reading", "is_null", "joined", "members_of", "string_member"]

MISSING: Final = "required member is missing"

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_string = msgspec.json.Decoder(str).decode


class Reading:
    """One slow read: what is forgiven, whether unknown members stay, what was dropped so far."""

    def __init__(self, profile: Profile, keep_unknown: bool) -> None:
        self.lenient = profile.lenient
        self.later = profile.later
        self.keep_unknown = keep_unknown
        self.dropped: list[tuple[str, str]] = []

    def drop(self, path: str, fault: InvalidParams, mark: int) -> None:
        """Note that the value at ``path`` was dropped; what was dropped inside it since ``mark`` went with it."""
        within = fault.path[len(path) :].lstrip(".")
        self.dropped[mark:] = [(path, f"{within}: {fault.reason}" if within else fault.reason)]


class Reader(Protocol):
    """Reads the JSON text of one value; ``path`` is where it stands. Raises ``InvalidParams``."""

    def read(self, raw: memoryview, path: str, reading: Reading) -> Any:
        """The value."""


def is_null(raw: memoryview) -> bool:
    """Whether the text is ``null``; no other JSON value is four bytes long and begins with ``n``."""
    return len(raw) == 4 and raw[0] == 0x6E


def joined(path: str, name: str) -> str:
    """The path of a member."""
    return f"{path}.{name}" if path else name


def members_of(raw: memoryview, path: str) -> dict[str, memoryview]:
    """The members of an object, the last one of each name."""
    try:
        return {name: memoryview(value) for name, value in _members(raw).items()}
    except REFUSED:
        raise InvalidParams(path, "expected an object") from None


def string_member(members: dict[str, memoryview], name: str, path: str) -> str:
    """A required string member."""
    if name not in members:
        raise InvalidParams(joined(path, name), MISSING)
    try:
        return _string(members[name])
    except REFUSED:
        raise InvalidParams(joined(path, name), "expected a string") from None
