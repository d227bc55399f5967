"""What a tagged union holds when its tag is none of the known ones: the tag, and the object exactly as it came.

A name that begins with ``_`` is somebody's extension, any other unknown name belongs to a later ACP.
https://agentclientprotocol.com/protocol/v2/draft/extensibility
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

if TYPE_CHECKING:
    from typing import TypeVar

    Self = TypeVar("Self", bound="Other")

__all__ = ["Other"]


class Other:
    """An unknown variant. ``tag`` (str) is its discriminator, ``raw`` (bytes) its JSON object, which ``encode`` writes
    back byte for byte.

    Never take one for a known variant: an unknown outcome of a permission request is not an approval.
    """

    __slots__ = ("raw", "tag")

    #: The JSON name of the discriminator of this union.
    tag_field: ClassVar[str] = "type"
    #: The discriminators this union knows; an ``Other`` never has one of them.
    known: ClassVar[frozenset[str]] = frozenset()
    #: JSON names of the string members that even an unknown variant must have.
    required: ClassVar[tuple[str, ...]] = ()
    #: JSON names of members that must be there with any value.
    present: ClassVar[tuple[str, ...]] = ()
    #: Whether it needs a scope: a ``sessionId`` or a ``requestId``.
    scoped: ClassVar[bool] = False

    def __init__(self, tag: str, raw: bytes) -> None:
        """Trusts ``raw`` to be one JSON object whose discriminator is ``tag``; ``of`` builds one from Python values."""
        self.tag = tag
        self.raw = raw

    @classmethod
    def of(cls: type[Self], members: dict[str, Any]) -> Self:
        """Build one from its JSON members, discriminator included.

        Raises ``ValueError`` when the discriminator is missing, not a string or a known one.
        """
        if not cls.claims(members):
            raise ValueError(f"{cls.tag_field} must be a string that {cls.__name__} does not know as a variant")
        return cls(members[cls.tag_field], msgspec.json.encode(members))

    @classmethod
    def claims(cls, value: object) -> bool:
        """Whether a JSON value in Python form is an object whose discriminator is a string nobody knows."""
        tag = value.get(cls.tag_field) if isinstance(value, dict) else None
        return isinstance(tag, str) and tag not in cls.known

    @property
    def members(self) -> dict[str, Any]:
        """The JSON object as Python values, decoded anew at each look."""
        decoded: dict[str, Any] = msgspec.json.decode(self.raw)
        return decoded

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Other) and other.raw == self.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(tag={self.tag!r}, {len(self.raw)} bytes)"
