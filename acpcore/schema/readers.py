"""Slow readers of everything that has parts: objects, arrays, unions; and the choice of a reader for a type."""

from __future__ import annotations

import types
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from acpcore.errors import InvalidParams

from .custom import Base64, Custom
from .decoding import REFUSED, decoder, target
from .kept import keep
from .later import LATER
from .model import STATES, Never
from .other import Other
from .profiles import ALPHA2
from .reading import MISSING, Reader, Reading, is_null, joined, members_of, string_member
from .scalars import Bytes, Free, FreeObject, Scalar
from .types.envelope import RequestId

__all__ = ["reader_for"]

_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Nullable:
    """A value or ``null``."""

    def __init__(self, inner: Reader) -> None:
        self.inner = inner

    def read(self, raw: memoryview, path: str, reading: Reading) -> Any:
        return None if is_null(raw) else self.inner.read(raw, path, reading)


class Items:
    """An array; with ``skip`` a bad item is dropped instead of failing all."""

    def __init__(self, item: Reader, least: int, skip: bool) -> None:
        self.item = item
        self.least = least
        self.skip = skip

    def read(self, raw: memoryview, path: str, reading: Reading) -> list[Any]:
        try:
            parts = _items(raw)
        except REFUSED:
            raise InvalidParams(path, "expected an array") from None
        values: list[Any] = []
        for index, part in enumerate(parts):
            self._add(values, memoryview(part), f"{path}[{index}]", reading)
        if len(values) < self.least:
            raise InvalidParams(path, f"expected at least {self.least} item")
        return values

    def _add(self, values: list[Any], part: memoryview, path: str, reading: Reading) -> None:
        mark = len(reading.dropped)
        try:
            values.append(self.item.read(part, path, reading))
        except InvalidParams as fault:
            if not (self.skip and reading.lenient):
                raise
            reading.drop(path, fault, mark)


class Mapping:
    """An object whose names are free. They are the peer's words, so a path writes ``*`` for them."""

    def __init__(self, value: Reader) -> None:
        self.value = value

    def read(self, raw: memoryview, path: str, reading: Reading) -> dict[str, Any]:
        inner = joined(path, "*")
        return {name: self.value.read(part, inner, reading) for name, part in members_of(raw, path).items()}


class Object:
    """A struct: ours, or any other that holds some of ours."""

    def __init__(self, kind: type[msgspec.Struct]) -> None:
        self.kind = kind
        self.inner: type[Other] | None = getattr(kind, "__acp_inner__", None)
        self.either: tuple[str, ...] = getattr(kind, "__acp_either__", ())
        self.fields = [_Field(field, kind) for field in msgspec.structs.fields(kind)]
        self.names = {kind.__struct_config__.tag_field, *(field.wire for field in self.fields)}
        self._decode = decoder(kind).decode

    def read(self, raw: memoryview, path: str, reading: Reading) -> Any:
        if not reading.keep_unknown:
            try:
                return self._decode(raw)
            except REFUSED:
                pass
        if reading.later and self.kind in LATER:
            return reader_for(LATER[self.kind]).read(raw, path, reading)
        members = members_of(raw, path)
        return self._unknown_inside(members, raw) or self._build(members, path, reading)

    def _unknown_inside(self, members: dict[str, memoryview], raw: memoryview) -> Other | None:
        if self.inner is None:
            return None
        try:
            tag = string_member(members, self.inner.tag_field, "")
        except InvalidParams:
            return None  # the field of that name says what is wrong
        return None if tag in self.inner.known else self.inner(tag, bytes(raw))

    def _build(self, members: dict[str, memoryview], path: str, reading: Reading) -> Any:
        values: dict[str, Any] = {}
        faults: list[InvalidParams] = []
        for field in self.fields:
            try:
                field.read_into(values, members, path, reading)
            except InvalidParams as fault:
                if field.name not in self.either:
                    raise
                faults.append(fault)
        try:
            return self._made(values, members, reading)
        except ValueError as error:
            raise (faults[0] if faults else InvalidParams(path, str(error))) from None

    def _made(self, values: dict[str, Any], members: dict[str, memoryview], reading: Reading) -> Any:
        if reading.keep_unknown:
            unknown = {name: bytes(raw) for name, raw in members.items() if name not in self.names}
            if unknown:
                # The class of a state is chosen here, for an object with unknown members cannot become another one.
                kind = STATES.get(values.get("state", ""), self.kind) if self.inner else self.kind
                return keep(kind, values, unknown)
        return self.kind(**values)


class _Field:
    """A member of a struct."""

    def __init__(self, field: msgspec.structs.FieldInfo, owner: type[msgspec.Struct]) -> None:
        self.name = field.name
        self.wire = field.encode_name
        self.required = field.required
        self.lenient = field.name in getattr(owner, "__acp_lenient__", ())
        self.reader = _reader(field.type, skip=field.name in getattr(owner, "__acp_skip__", ()))

    def read_into(self, values: dict[str, Any], members: dict[str, memoryview], path: str, reading: Reading) -> None:
        place = joined(path, self.wire)
        if self.wire not in members:
            if self.required:
                raise InvalidParams(place, MISSING)
            return
        mark = len(reading.dropped)
        try:
            values[self.name] = self.reader.read(members[self.wire], place, reading)
        except InvalidParams as fault:
            if not (self.lenient and reading.lenient):
                raise
            reading.drop(place, fault, mark)
            if self.required:
                values[self.name] = []  # whatever is required and lenient is a list


class Tagged:
    """A tagged union: a known variant, or an ``Other``."""

    def __init__(self, kinds: list[type[msgspec.Struct]]) -> None:
        config = kinds[0].__struct_config__
        self.tag_field = str(config.tag_field)
        self.variants = {str(kind.__struct_config__.tag): Object(kind) for kind in kinds if kind is not Never}
        self.other: type[Other] | None = getattr(kinds[0], "__acp_other__", None)

    def read(self, raw: memoryview, path: str, reading: Reading) -> Any:
        members = members_of(raw, path)
        tag = string_member(members, self.tag_field, path)
        if tag in self.variants:
            return self.variants[tag].read(raw, path, reading)
        if self.other is None:
            raise InvalidParams(joined(path, self.tag_field), "unknown variant")
        return read_other(self.other, tag, members, raw, path)


def read_other(kind: type[Other], tag: str, members: dict[str, memoryview], raw: memoryview, path: str) -> Other:
    """An unknown variant: raw, but with the few members its union asks of every variant."""
    for name in kind.required:
        string_member(members, name, path)
    for name in kind.present:
        if name not in members:
            raise InvalidParams(joined(path, name), MISSING)
    if kind.scoped and not any(fits(members, name, scope) for name, scope in _SCOPES.items()):
        raise InvalidParams(path, "needs sessionId or requestId")
    return kind(tag, bytes(raw))


_SCOPES: dict[str, Any] = {"sessionId": str, "requestId": RequestId}


def fits(members: dict[str, memoryview], name: str, kind: Any) -> bool:
    """Whether a member is there and of a type."""
    if name not in members:
        return False
    try:
        reader_for(kind).read(members[name], name, Reading(ALPHA2, keep_unknown=False))
    except InvalidParams:
        return False
    return True


class Untagged:
    """A union without a discriminator: the first alternative that takes the value. The error is of the one that went
    furthest into it."""

    def __init__(self, kind: type[Custom]) -> None:
        self.alternatives = [_reader(one) for one in kind.alternatives]

    def read(self, raw: memoryview, path: str, reading: Reading) -> Any:
        mark = len(reading.dropped)
        faults = []
        for alternative in self.alternatives:
            try:
                return alternative.read(raw, path, reading)
            except InvalidParams as fault:
                faults.append(fault)
                del reading.dropped[mark:]
        raise max(faults, key=_how_far)


def _how_far(fault: InvalidParams) -> tuple[int, bool]:
    return fault.path.count(".") + fault.path.count("["), fault.reason != MISSING


@cache
def reader_for(kind: Any) -> Reader:
    """The reader of a type or union (made once)."""
    return _reader(target(kind))


def _reader(kind: Any, skip: bool = False) -> Reader:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _union_reader(get_args(kind), skip)
    if origin is list:
        return Items(_reader(get_args(kind)[0]), 0, skip)
    if origin is dict:
        value = get_args(kind)[1]
        return FreeObject() if value is Any else Mapping(_reader(value))
    if origin is Annotated and get_origin(kind.__origin__) is list:
        return Items(_reader(get_args(kind.__origin__)[0]), kind.__metadata__[0].min_length or 0, skip)
    if kind is Any:
        return Free()
    return _class_reader(kind) if isinstance(kind, type) else Scalar(kind)


def _class_reader(kind: Any) -> Reader:
    if issubclass(kind, msgspec.Struct):
        return Object(kind)
    if kind is Base64:
        return Bytes()
    return Untagged(kind) if issubclass(kind, Custom) else Scalar(kind)


def _union_reader(options: tuple[Any, ...], skip: bool) -> Reader:
    rest = [option for option in options if option not in (msgspec.UnsetType, type(None))]
    if type(None) in options:
        return Nullable(_union_reader(tuple(rest), skip))
    if len(rest) == 1:
        return _reader(rest[0], skip)
    if all(isinstance(option, type) and issubclass(option, msgspec.Struct) for option in rest):
        return Tagged(rest)
    return Scalar(Union[tuple(rest)])  # noqa: UP007 (made of a tuple)
