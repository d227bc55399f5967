"""Unknown members of known types, for whoever forwards messages.

They live in the ``__dict__`` of an instance of a subclass made for the purpose, so the types themselves stay lean.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

__all__ = ["keep", "kept_members", "restored"]

_SLOT = "unknown members"


@cache
def _kept_class(kind: type[msgspec.Struct]) -> type[msgspec.Struct]:
    return msgspec.defstruct(
        kind.__name__, [], bases=(kind,), module=kind.__module__, kw_only=True, dict=True, gc=True, eq=False
    )


def keep(kind: type[msgspec.Struct], fields: dict[str, Any], unknown: dict[str, bytes]) -> msgspec.Struct:
    """An instance of (a subclass of) ``kind`` with ``unknown`` members: JSON by wire name."""
    made = _kept_class(kind)(**fields)
    vars(made)[_SLOT] = unknown
    return made


def kept_members(value: Any) -> dict[str, bytes]:
    """The unknown members (JSON by wire name) that came with an object; empty if it was not decoded to keep them."""
    found: dict[str, bytes] = getattr(value, "__dict__", {}).get(_SLOT, {})
    return found


def restored(value: Any) -> Any:
    """``value`` as plain containers in which unknown members are back in their objects."""
    if isinstance(value, msgspec.Struct):
        return _object(value)
    if isinstance(value, (list, tuple)):
        return [restored(item) for item in value]
    if isinstance(value, dict):
        return {key: restored(item) for key, item in value.items()}
    return value


def _object(value: msgspec.Struct) -> dict[str, Any]:
    config = value.__struct_config__
    members: dict[str, Any] = {} if config.tag_field is None else {config.tag_field: config.tag}
    for field in msgspec.structs.fields(type(value)):
        item = getattr(value, field.name)
        if item is not msgspec.UNSET and not _is_default(field, item):
            members[field.encode_name] = restored(item)
    for name, raw in kept_members(value).items():
        members.setdefault(name, msgspec.Raw(raw))
    return members


def _is_default(field: msgspec.structs.FieldInfo, item: Any) -> bool:
    if field.default_factory in (list, dict):
        return not item
    return field.default is not msgspec.NODEFAULT and type(item) is type(field.default) and item == field.default
