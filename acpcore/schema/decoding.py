"""From JSON to types. The happy path is one msgspec pass; what it refuses is read again, slowly and with mercy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, overload

import msgspec

from .custom import dec_hook
from .profiles import ALPHA2, Profile

__all__ = ["REFUSED", "decode", "decoder", "target"]

T = TypeVar("T")
Json = bytes | bytearray | memoryview | msgspec.Raw
Dropped = Callable[[str, str], object]

#: What msgspec raises for JSON that is not of the asked type.
REFUSED: Final = (msgspec.DecodeError, UnicodeError)

_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


def decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """The bare msgspec decoder of a type (made once): no leniency, no unknown variants, msgspec's own errors.

    For hot loops, ``decode_lines`` included; give what it refuses to ``decode``.
    """
    found = _decoders.get(kind)
    if found is None:
        found = _decoders[kind] = msgspec.json.Decoder(target(kind), dec_hook=dec_hook)
    return found


def target(kind: Any) -> Any:
    """What to decode for a kind: itself, or the union a class like ``CreateElicitationRequest`` stands for."""
    return vars(kind).get("__acp_union__", kind) if isinstance(kind, type) else kind


# The bound ``decode`` of each decoder asked for. A plain dict: the fastest thing to look into.
_happy: dict[Any, Callable[[Any], Any]] = {}


@overload
def decode(
    kind: type[T],
    raw: Json | None,
    profile: Profile = ...,
    on_dropped: Dropped | None = ...,
    keep_unknown: bool = ...,
) -> T: ...
@overload
def decode(
    kind: Any,
    raw: Json | None,
    profile: Profile = ...,
    on_dropped: Dropped | None = ...,
    keep_unknown: bool = ...,
) -> Any: ...
def decode(
    kind: Any,
    raw: Json | None,
    profile: Profile = ALPHA2,
    on_dropped: Dropped | None = None,
    keep_unknown: bool = False,
) -> Any:
    """Decode JSON (valid, as the engine hands it out) as ``kind``: a class or union of this package.

    ``raw`` may be ``None`` where params are absent: then all members are. ``profile`` says what is forgiven;
    ``on_dropped(path, reason)`` is told of each value that leniency put aside. With ``keep_unknown`` members the types
    do not know stay with the objects, and ``encode(..., keep_unknown=True)`` writes them again; that costs a slow read.

    Raises ``InvalidParams``. https://agentclientprotocol.com/protocol/v2/draft/extensibility
    """
    if profile is ALPHA2 and not keep_unknown:
        try:
            return _happy[kind](raw)
        except REFUSED:
            pass
        except KeyError:
            _happy[kind] = decoder(kind).decode
            return decode(kind, raw, profile, on_dropped)
        except TypeError:
            if raw is not None:
                raise
    return _carefully(kind, b"{}" if raw is None else raw, profile, on_dropped, keep_unknown)


def _carefully(kind: Any, raw: Json, profile: Profile, on_dropped: Dropped | None, keep_unknown: bool) -> Any:
    from .later import LATER
    from .lenient import read

    if profile.later:
        kind = LATER.get(kind, kind)
    if profile is not ALPHA2 and not keep_unknown:
        try:
            return decoder(kind).decode(raw)
        except REFUSED:
            pass
    return read(kind, raw, profile, on_dropped, keep_unknown)
