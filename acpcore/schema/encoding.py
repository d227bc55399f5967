"""From types to compact JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from .other import Other

__all__ = ["enc_hook", "encode"]


def enc_hook(value: Any) -> Any:
    """msgspec's hook: an unknown variant goes out as it came in."""
    if isinstance(value, Other):
        return msgspec.Raw(value.raw)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


_encode = msgspec.json.Encoder(enc_hook=enc_hook).encode


def encode(value: Any, *, keep_unknown: bool = False) -> bytes:
    """The JSON of a type of this package, or of anything built of them and of plain Python values.

    What is ``UNSET`` or at its default is left out. ``keep_unknown`` also writes the members ``decode`` kept. Raises
    ``TypeError`` for what has no JSON.
    """
    if keep_unknown:
        from .kept import restored

        value = restored(value)
    return _encode(value)
