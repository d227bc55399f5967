"""ACP v2 types: elicitation.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypeAlias, Union

from msgspec import UNSET, Meta, UnsetType, field

from ..custom import Custom, first_that_fits
from ..model import (
    Double,
    Int64,
    JsonObject,
    Model,
    Never,
    Notification,
    Request,
    UInt32,
    UInt64,
    check_either,
    check_uint64,
)
from ..other import Other
from .envelope import RequestId
from .ids import ElicitationId, SessionId, ToolCallId

#: ACP ``ElicitationSchemaType``.
ElicitationSchemaType: TypeAlias = Literal["object"]
ELICITATION_SCHEMA_TYPE_VALUES: Final = ("object",)

#: ACP ``StringFormat``.
if TYPE_CHECKING:
    StringFormat: TypeAlias = Literal["email", "uri", "date", "date-time"] | str
else:
    StringFormat = str
STRING_FORMAT_VALUES: Final = ("email", "uri", "date", "date-time")


class CreateElicitationRequest(Request["CreateElicitationResponse"]):
    """ACP ``CreateElicitationRequest``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#createelicitationrequest
    """

    __slots__ = ()
    __acp_union__: ClassVar[Any]


class OtherCreateElicitationRequest(Other, CreateElicitationRequest):
    """A CreateElicitationRequest of a kind this version does not know."""

    __slots__ = ()
    tag_field = "mode"
    known = frozenset({"form", "url"})
    required = ("message",)
    scoped = True


class OtherElicitationPropertySchema(Other):
    """A ElicitationPropertySchema of a kind this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"array", "boolean", "integer", "number", "string"})


class EnumOption(Model, kw_only=True):
    """ACP ``EnumOption``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#enumoption
    """

    const: str
    title: str
    description: str | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("description", "meta")


class StringPropertySchema(Model, tag_field="type", tag="string", kw_only=True):
    """ACP ``StringPropertySchema``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#stringpropertyschema
    """

    title: str | None = None
    description: str | None = None
    min_length: UInt32 | None = None
    max_length: UInt32 | None = None
    pattern: str | None = None
    format: StringFormat | None = None
    default: str | None = None
    enum: Annotated[list[str], Meta(min_length=1)] | None = None
    one_of: Annotated[list[EnumOption], Meta(min_length=1)] | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("title", "description", "default", "meta")
    __acp_other__ = OtherElicitationPropertySchema


class NumberPropertySchema(Model, tag_field="type", tag="number", kw_only=True):
    """ACP ``NumberPropertySchema``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#numberpropertyschema
    """

    title: str | None = None
    description: str | None = None
    minimum: Double | None = None
    maximum: Double | None = None
    default: Double | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("title", "description", "default", "meta")
    __acp_other__ = OtherElicitationPropertySchema


class IntegerPropertySchema(Model, tag_field="type", tag="integer", kw_only=True):
    """ACP ``IntegerPropertySchema``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#integerpropertyschema
    """

    title: str | None = None
    description: str | None = None
    minimum: Int64 | None = None
    maximum: Int64 | None = None
    default: Int64 | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("title", "description", "default", "meta")
    __acp_other__ = OtherElicitationPropertySchema


class BooleanPropertySchema(Model, tag_field="type", tag="boolean", kw_only=True):
    """ACP ``BooleanPropertySchema``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#booleanpropertyschema
    """

    title: str | None = None
    description: str | None = None
    default: bool | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("title", "description", "default", "meta")
    __acp_other__ = OtherElicitationPropertySchema


class OtherMultiSelectItems(Other):
    """A MultiSelectItems of a kind this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"string"})


class StringMultiSelectItems(Model, tag_field="type", tag="string", kw_only=True):
    """ACP ``StringMultiSelectItems``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#stringmultiselectitems
    """

    enum: Annotated[list[str], Meta(min_length=1)]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherMultiSelectItems


class TitledMultiSelectItems(Model, kw_only=True):
    """ACP ``TitledMultiSelectItems``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#titledmultiselectitems
    """

    any_of: Annotated[list[EnumOption], Meta(min_length=1)]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


if TYPE_CHECKING:
    MultiSelectItems: TypeAlias = StringMultiSelectItems | TitledMultiSelectItems | OtherMultiSelectItems
else:

    class MultiSelectItems(Custom):
        """ACP ``MultiSelectItems``."""

        alternatives = (Union[StringMultiSelectItems, Never], TitledMultiSelectItems)
        other = OtherMultiSelectItems
        from_builtins = classmethod(first_that_fits)

    MultiSelectItems.register(StringMultiSelectItems)
    MultiSelectItems.register(TitledMultiSelectItems)
    MultiSelectItems.register(OtherMultiSelectItems)


class MultiSelectPropertySchema(Model, tag_field="type", tag="array", kw_only=True):
    """ACP ``MultiSelectPropertySchema``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#multiselectpropertyschema
    """

    items: MultiSelectItems
    title: str | None = None
    description: str | None = None
    min_items: UInt64 | None = None
    max_items: UInt64 | None = None
    default: list[str] | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("title", "description", "default", "meta")
    __acp_skip__ = ("default",)
    __acp_other__ = OtherElicitationPropertySchema

    def __post_init__(self) -> None:
        check_uint64(self.min_items, self.max_items)


#: ACP ``ElicitationPropertySchema``.
if TYPE_CHECKING:
    ElicitationPropertySchema: TypeAlias = (
        StringPropertySchema
        | NumberPropertySchema
        | IntegerPropertySchema
        | BooleanPropertySchema
        | MultiSelectPropertySchema
        | OtherElicitationPropertySchema
    )
else:
    ElicitationPropertySchema = Union[
        StringPropertySchema,
        NumberPropertySchema,
        IntegerPropertySchema,
        BooleanPropertySchema,
        MultiSelectPropertySchema,
    ]


class ElicitationSchema(Model, kw_only=True):
    """ACP ``ElicitationSchema``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationschema
    """

    type: ElicitationSchemaType = "object"
    title: str | None = None
    properties: dict[str, ElicitationPropertySchema] = field(default_factory=dict)
    required: list[str] | None = None
    description: str | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("type", "title", "description", "meta")


class ElicitationFormMode(Model, CreateElicitationRequest, tag_field="mode", tag="form", kw_only=True):
    """ACP ``ElicitationFormMode``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationformmode
    """

    requested_schema: ElicitationSchema
    message: str
    session_id: SessionId | UnsetType = UNSET
    tool_call_id: ToolCallId | None = None
    request_id: RequestId | UnsetType = UNSET
    meta: JsonObject | None = None

    __acp_lenient__ = ("tool_call_id", "meta")
    __acp_other__ = OtherCreateElicitationRequest
    __acp_either__ = ("session_id", "request_id")

    def __post_init__(self) -> None:
        check_either(self)


class ElicitationUrlMode(Model, CreateElicitationRequest, tag_field="mode", tag="url", kw_only=True):
    """ACP ``ElicitationUrlMode``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationurlmode
    """

    elicitation_id: ElicitationId
    url: str
    message: str
    session_id: SessionId | UnsetType = UNSET
    tool_call_id: ToolCallId | None = None
    request_id: RequestId | UnsetType = UNSET
    meta: JsonObject | None = None

    __acp_lenient__ = ("tool_call_id", "meta")
    __acp_other__ = OtherCreateElicitationRequest
    __acp_either__ = ("session_id", "request_id")

    def __post_init__(self) -> None:
        check_either(self)


CreateElicitationRequest.__acp_union__ = Union[ElicitationFormMode, ElicitationUrlMode]


class ElicitationSessionScope(Model, kw_only=True):
    """ACP ``ElicitationSessionScope``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationsessionscope
    """

    session_id: SessionId
    tool_call_id: ToolCallId | None = None

    __acp_lenient__ = ("tool_call_id",)


class ElicitationRequestScope(Model, kw_only=True):
    """ACP ``ElicitationRequestScope``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationrequestscope
    """

    request_id: RequestId


class CompleteElicitationNotification(Model, Notification, kw_only=True):
    """ACP ``CompleteElicitationNotification``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#completeelicitationnotification
    """

    elicitation_id: ElicitationId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class CreateElicitationResponse:
    """ACP ``CreateElicitationResponse``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#createelicitationresponse
    """

    __slots__ = ()
    __acp_union__: ClassVar[Any]


class OtherCreateElicitationResponse(Other, CreateElicitationResponse):
    """A CreateElicitationResponse of a kind this version does not know."""

    __slots__ = ()
    tag_field = "action"
    known = frozenset({"accept", "cancel", "decline"})


#: ACP ``ElicitationContentValue``.
ElicitationContentValue: TypeAlias = str | int | float | bool | list[str]


class ElicitationAcceptAction(Model, CreateElicitationResponse, tag_field="action", tag="accept", kw_only=True):
    """ACP ``ElicitationAcceptAction``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationacceptaction
    """

    content: dict[str, ElicitationContentValue] | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherCreateElicitationResponse


class ElicitationDeclineAction(Model, CreateElicitationResponse, tag_field="action", tag="decline", kw_only=True):
    """ACP ``ElicitationDeclineAction``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationdeclineaction
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherCreateElicitationResponse


class ElicitationCancelAction(Model, CreateElicitationResponse, tag_field="action", tag="cancel", kw_only=True):
    """ACP ``ElicitationCancelAction``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationcancelaction
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherCreateElicitationResponse


CreateElicitationResponse.__acp_union__ = Union[
    ElicitationAcceptAction, ElicitationDeclineAction, ElicitationCancelAction
]
