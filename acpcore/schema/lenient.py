"""The slow read: taken when msgspec refuses a value. It finds what is wrong, forgives what the schema forgives, keeps
unknown variants as they are, and otherwise says where the fault lies.

Each level takes its object apart into members (of a repeated one the last counts) and reads those; a part msgspec takes
as it stands is not taken apart any further.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from acpcore.errors import InvalidParams

from .decoding import REFUSED
from .model import Request
from .profiles import Profile
from .readers import reader_for
from .reading import Reading, is_null

__all__ = ["read"]

_decode_raw = msgspec.json.Decoder(msgspec.Raw).decode


def read(
    kind: Any, raw: Any, profile: Profile, on_dropped: Callable[[str, str], object] | None, keep_unknown: bool
) -> Any:
    """See ``decoding.decode``."""
    try:
        text = memoryview(_decode_raw(bytes(raw)))
    except REFUSED:
        raise InvalidParams("", "not valid JSON") from None
    if is_null(text) and isinstance(kind, type) and issubclass(kind, Request):
        text = memoryview(b"{}")
    reading = Reading(profile, keep_unknown)
    value = reader_for(kind).read(text, "", reading)
    if on_dropped is not None:
        for path, reason in reading.dropped:
            on_dropped(path, reason)
    return value
