"""Slow readers of values without members: scalars, base64, free JSON."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from acpcore.errors import InvalidParams

from .custom import decode_base64
from .decoding import REFUSED, decoder
from .free import free_json, integral
from .reading import Reading

__all__ = ["Bytes", "Free", "FreeObject", "Scalar"]

_string = msgspec.json.Decoder(str).decode


class Free:
    """Any JSON."""

    def read(self, raw: memoryview, path: str, reading: Reading) -> Any:
        """See ``Reader``."""
        try:
            return free_json(raw)
        except ValueError:
            raise InvalidParams(path, "holds a number out of range") from None


class FreeObject(Free):
    """An object of any JSON."""

    def read(self, raw: memoryview, path: str, reading: Reading) -> Any:
        """See ``Reader``."""
        value = super().read(raw, path, reading)
        if not isinstance(value, dict):
            raise InvalidParams(path, "expected an object")
        return value


class Bytes:
    """Base64 text."""

    def read(self, raw: memoryview, path: str, reading: Reading) -> bytes:
        """See ``Reader``."""
        try:
            text = _string(raw)
        except REFUSED:
            raise InvalidParams(path, "expected a string") from None
        try:
            return decode_base64(text)
        except ValueError as fault:
            raise InvalidParams(path, str(fault)) from None


class Scalar:
    """A string, number, boolean, or a choice of such."""

    def __init__(self, kind: Any) -> None:
        self._decode = decoder(kind).decode
        self._expected = f"expected {describe(kind)}"
        self._integer = describe(kind).startswith("an integer")
        self._most = upper_bound(kind)

    def read(self, raw: memoryview, path: str, reading: Reading) -> Any:
        """See ``Reader``."""
        value = self._decoded(raw, path)
        if self._most is not None and value > self._most:
            raise InvalidParams(path, self._expected)
        return value

    def _decoded(self, raw: memoryview, path: str) -> Any:
        try:
            return self._decode(raw)
        except REFUSED:
            digits = integral(raw) if self._integer else None
        try:
            return self._decode(digits or b"")
        except REFUSED:
            raise InvalidParams(path, self._expected) from None


def upper_bound(kind: Any) -> int | None:
    """The bound msgspec cannot check."""
    if get_origin(kind) is not Annotated:
        return None
    return (kind.__metadata__[0].extra or {}).get("le")


_NAMES = {str: "a string", int: "an integer", float: "a number", bool: "a boolean", type(None): "null"}


def describe(kind: Any) -> str:
    """The kind in words, for an error."""
    origin = get_origin(kind)
    if origin is Annotated:
        return _constrained(kind)
    if origin is Literal:
        return "one of " + ", ".join(map(str, get_args(kind)))
    if origin in (Union, types.UnionType):
        return " or ".join(describe(option) for option in get_args(kind))
    if origin is list:
        return "an array"
    return _NAMES.get(kind, "another type")


def _constrained(kind: Any) -> str:
    meta = kind.__metadata__[0]
    text = describe(kind.__origin__)
    if meta.pattern is not None:
        return f"{text} that matches {meta.pattern}"
    most = upper_bound(kind) or meta.le
    return text if meta.ge is None else f"{text} from {meta.ge} to {most}"
