"""JSON whose shape is free, and integers that are written as floats."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any, Final

import msgspec

__all__ = ["free_json", "integral"]

_ANY = msgspec.json.Decoder(Any).decode
_NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_MOST_DIGITS: Final = 4000


def free_json(raw: memoryview) -> Any:
    """Any JSON value. A number too large for a float comes as the integer it is; raises ``ValueError`` beyond that."""
    try:
        return _ANY(raw)
    except msgspec.DecodeError:
        return json.loads(bytes(raw), parse_float=_large)


def _large(text: str) -> float | int:
    value = float(text)
    if abs(value) != float("inf"):
        return value
    number = Decimal(text)
    if not number.is_finite() or number.adjusted() > _MOST_DIGITS or number != number.to_integral_value():
        raise ValueError("number out of range")
    return int(number)


def integral(raw: memoryview) -> bytes | None:
    """The digits of a number without a fractional part, however it is written (``1.0``, ``1e2``), else ``None``.

    JSON Schema counts it as an integer. Nothing beyond 64 bits is of interest here.
    """
    text = bytes(raw[:_MOST_DIGITS])
    if len(raw) > _MOST_DIGITS or not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text.decode())
    if not number.is_finite() or number.adjusted() > 30 or number != number.to_integral_value():
        return None
    return str(int(number)).encode()
