"""What all generated types stand on: the struct base, the mixins of parameter types, and the scalar aliases.

Fields are keyword-only and carry Python names; ``rename`` gives the wire names, so ``session_id`` travels as
``sessionId`` and ``meta`` as ``_meta``. A field at its default is left out on the wire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias, TypeVar

from msgspec import UNSET, Meta, Struct, field

from .other import Other

if TYPE_CHECKING:
    from typing import Generic

    from .methods import Method

    R = TypeVar("R")

__all__ = [
    "STATES",
    "UINT64_MAX",
    "Double",
    "Int32",
    "Int64",
    "JsonObject",
    "Model",
    "Never",
    "Notification",
    "Request",
    "UInt16",
    "UInt32",
    "UInt64",
    "become",
    "check_either",
    "check_uint64",
    "constant",
    "plain",
    "wire_name",
]

UINT64_MAX: Final = 2**64 - 1


def wire_name(name: str) -> str:
    """The JSON member name of a Python field name: camel case, and ``_meta`` for ``meta``."""
    if name == "meta":
        return "_meta"
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part.capitalize() for part in rest)


class Model(Struct, kw_only=True, omit_defaults=True, rename=wire_name, gc=False):
    """Base of every ACP object. Compare with ``==``, copy with ``copy.replace`` or ``msgspec.structs.replace``.

    ``gc=False``: JSON values hold no cycles, so the collector need not look at them.
    """

    #: Fields (Python names) whose bad value becomes the default instead of an error: default-on-error in the schema.
    __acp_lenient__: ClassVar[tuple[str, ...]] = ()
    #: List fields (Python names) whose bad items are dropped one by one: skip-invalid-items in the schema.
    __acp_skip__: ClassVar[tuple[str, ...]] = ()
    #: Fields of which one must be given; a bad one does not matter beside a good one.
    __acp_either__: ClassVar[tuple[str, ...]] = ()
    #: For a member of a tagged union: the class that holds what its union does not know.
    __acp_other__: ClassVar[type[Other] | None] = None
    #: The same for a second discriminator inside the object.
    __acp_inner__: ClassVar[type[Other] | None] = None


class Never(Model, tag_field="type", tag="", kw_only=True):
    """Makes a union of one known variant a real union for msgspec, which then insists on the tag."""

    def __post_init__(self) -> None:
        raise ValueError("no such variant")


if TYPE_CHECKING:

    class Request(Generic[R]):
        """Parameters of a request whose result is an ``R``; ``__acp_method__`` is its entry in the method table."""

        __acp_method__: ClassVar[Method]
        __acp_union__: ClassVar[Any]

    class Notification:
        """Parameters of a notification; ``__acp_method__`` is its entry in the method table."""

        __acp_method__: ClassVar[Method]
else:

    class Request:
        """Parameters of a request; ``__acp_method__`` is its entry in the method table."""

        __slots__ = ()

        def __class_getitem__(cls, _result):
            return cls

    class Notification:
        """Parameters of a notification; ``__acp_method__`` is its entry in the method table."""

        __slots__ = ()


M = TypeVar("M", bound=Model)

JsonObject: TypeAlias = dict[str, Any]

UInt16 = Annotated[int, Meta(ge=0, le=2**16 - 1)]
UInt32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
#: msgspec's bounds end at int64; ``check_uint64`` looks at the upper one.
UInt64 = Annotated[int, Meta(ge=0, extra={"le": UINT64_MAX})]
Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Double: TypeAlias = float


def check_uint64(*values: int | None) -> None:
    """Raise ``ValueError`` for a value above 2^64-1."""
    for value in values:
        if value is not None and value > UINT64_MAX:
            raise ValueError("expected an integer of at most 64 bits")


def check_either(value: Model) -> None:
    """Raise ``ValueError`` when none of the ``__acp_either__`` fields is given."""
    if all(getattr(value, name) is UNSET for name in value.__acp_either__):
        raise ValueError("needs " + " or ".join(map(wire_name, value.__acp_either__)))


#: The class of each known state of ``StateUpdate``, which carries two tags while msgspec looks at one.
STATES: dict[str, type[Model]] = {}

_set_class = object.__dict__["__class__"].__set__


def become(value: Model, kind: type[Model]) -> None:
    """Turn ``value`` into its subclass ``kind``, which must add no field (Python refuses another layout)."""
    _set_class(value, kind)


def plain(value: M, kind: type[M]) -> M:
    """``value``, or a copy of it as the plain ``kind`` if it is of a subclass that writes a tag."""
    if value.__struct_config__.tag is None:
        return value
    return kind(**{name: getattr(value, name) for name in kind.__struct_fields__})


def constant(value: str) -> Any:
    """A default that is always written: ``omit_defaults`` cannot know what a factory will return."""
    return field(default_factory=lambda: value)
