"""Types msgspec cannot decode by itself: base64 bytes, and unions that carry no tag.

Each is an abstract class the real ones are registered with, so that msgspec takes it for a custom type, hands the
plain JSON value to ``dec_hook``, and accepts what the hook returns.
"""

from __future__ import annotations

import binascii
from abc import ABC
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from .other import Other

__all__ = ["Base64", "Custom", "dec_hook", "decode_base64", "first_that_fits"]


class Custom(ABC):
    """A type decoded by ``from_builtins``, which raises ``ValueError`` (or msgspec's) when the value does not fit."""

    from_builtins: Callable[[Any], Any]
    #: For an untagged union its alternatives, in the order they are tried.
    alternatives: tuple[Any, ...] = ()
    #: For one with a tagged part: what holds its unknown variants.
    other: type[Other] | None = None


def dec_hook(kind: type[Any], value: Any) -> Any:
    """msgspec's hook: raises ``ValueError`` for a value that does not fit."""
    return kind.from_builtins(value)


def decode_base64(text: object) -> bytes:
    """Decode RFC 4648 base64 and accept only the one canonical spelling: alphabet, padding, zero trailing bits.

    Raises ``ValueError``, without the text.
    """
    if not isinstance(text, str):
        raise ValueError("expected a base64 string")
    # msgspec's decoder is several times faster than binascii's and strict but for the trailing bits. It reads JSON, so
    # nothing in the text may look like an escape.
    if "\\" in text:
        raise ValueError("invalid base64")
    try:
        data = _unquoted(f'"{text}"')
    except (msgspec.DecodeError, UnicodeError):
        raise ValueError("invalid base64") from None
    if not _ends_canonically(text, data):
        raise ValueError("invalid base64")
    return data


_unquoted = msgspec.json.Decoder(bytes).decode


def _ends_canonically(text: str, data: bytes) -> bool:
    tail = len(data) % 3
    return not tail or text.endswith(binascii.b2a_base64(data[-tail:], newline=False).decode())


def first_that_fits(cls: Any, value: Any) -> Any:
    """Decode an untagged union: the first alternative that takes the value. Raises ``ValueError`` if none does."""
    if cls.other is not None and cls.other.claims(value):
        raise ValueError("an unknown variant, to be read raw")
    for kind in cls.alternatives:
        try:
            return msgspec.convert(value, kind, dec_hook=dec_hook)
        except msgspec.ValidationError:
            continue
    raise ValueError("fits none of the alternatives")


if TYPE_CHECKING:
    Base64: TypeAlias = bytes
else:

    class Base64(Custom):
        """Bytes that travel as base64 text."""

        from_builtins = staticmethod(decode_base64)

    Base64.register(bytes)
