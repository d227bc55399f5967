"""Questions of the agent to the user: forms and links.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypeAlias

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

__all__ = [
    "ELICITATION_SCHEMA_TYPE_VALUES",
    "STRING_FORMAT_VALUES",
    "BooleanPropertySchema",
    "CompleteElicitationNotification",
    "CreateElicitationRequest",
    "CreateElicitationResponse",
    "ElicitationAcceptAction",
    "ElicitationCancelAction",
    "ElicitationContentValue",
    "ElicitationDeclineAction",
    "ElicitationFormMode",
    "ElicitationPropertySchema",
    "ElicitationRequestScope",
    "ElicitationSchema",
    "ElicitationSchemaType",
    "ElicitationSessionScope",
    "ElicitationUrlMode",
    "EnumOption",
    "IntegerPropertySchema",
    "MultiSelectItems",
    "MultiSelectPropertySchema",
    "NumberPropertySchema",
    "OtherCreateElicitationRequest",
    "OtherCreateElicitationResponse",
    "OtherElicitationPropertySchema",
    "OtherMultiSelectItems",
    "StringFormat",
    "StringMultiSelectItems",
    "StringPropertySchema",
    "TitledMultiSelectItems",
]

#: The type of a form's schema, always an object.
ElicitationSchemaType: TypeAlias = Literal["object"]
ELICITATION_SCHEMA_TYPE_VALUES: Final = ("object",)

#: What kind of text a field asks for.
if TYPE_CHECKING:
    StringFormat: TypeAlias = Literal["email", "uri", "date", "date-time"] | str
else:
    StringFormat = str
STRING_FORMAT_VALUES: Final = ("email", "uri", "date", "date-time")


class CreateElicitationRequest(Request["CreateElicitationResponse"]):
    """A question of the agent to the user, tied to a session (perhaps to a tool call in it) or to a running request.
    The class stands for the union of its modes.

    https://agentclientprotocol.com/protocol/v2/draft/schema#createelicitationrequest
    """

    __slots__ = ()
    __acp_union__: ClassVar[Any]


class OtherCreateElicitationRequest(Other, CreateElicitationRequest):
    """A ``CreateElicitationRequest`` whose ``mode`` this version does not know."""

    __slots__ = ()
    tag_field = "mode"
    known = frozenset({"form", "url"})
    required = ("message",)
    scoped = True


class OtherElicitationPropertySchema(Other):
    """A ``ElicitationPropertySchema`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"array", "boolean", "integer", "number", "string"})


class EnumOption(Model, kw_only=True):
    """A value to choose, with a title.

    https://agentclientprotocol.com/protocol/v2/draft/schema#enumoption
    """

    const: str
    title: str
    description: str | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("description", "meta")


class StringPropertySchema(Model, tag_field="type", tag="string", kw_only=True):
    """A text field, or one choice of several (``enum``, or ``one_of`` with titles). Lengths in characters.

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
    """A field for a number.

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
    """A field for a whole number.

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
    """A field for yes or no.

    https://agentclientprotocol.com/protocol/v2/draft/schema#booleanpropertyschema
    """

    title: str | None = None
    description: str | None = None
    default: bool | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("title", "description", "default", "meta")
    __acp_other__ = OtherElicitationPropertySchema


class OtherMultiSelectItems(Other):
    """A ``MultiSelectItems`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"string"})


class StringMultiSelectItems(Model, tag_field="type", tag="string", kw_only=True):
    """Choices that are plain strings.

    https://agentclientprotocol.com/protocol/v2/draft/schema#stringmultiselectitems
    """

    enum: Annotated[list[str], Meta(min_length=1)]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherMultiSelectItems


class TitledMultiSelectItems(Model, kw_only=True):
    """Choices with titles.

    https://agentclientprotocol.com/protocol/v2/draft/schema#titledmultiselectitems
    """

    any_of: Annotated[list[EnumOption], Meta(min_length=1)]
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


if TYPE_CHECKING:
    MultiSelectItems: TypeAlias = StringMultiSelectItems | TitledMultiSelectItems | OtherMultiSelectItems
else:

    class MultiSelectItems(Custom):
        """The choices of such a field: plain strings, titled ones (known by ``anyOf``), or an unknown kind."""

        alternatives = (StringMultiSelectItems | Never, TitledMultiSelectItems)
        other = OtherMultiSelectItems
        from_builtins = classmethod(first_that_fits)

    MultiSelectItems.register(StringMultiSelectItems)
    MultiSelectItems.register(TitledMultiSelectItems)
    MultiSelectItems.register(OtherMultiSelectItems)


class MultiSelectPropertySchema(Model, tag_field="type", tag="array", kw_only=True):
    """A field with several choices.

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


#: One field of a form.
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
    ElicitationPropertySchema = (
        StringPropertySchema
        | NumberPropertySchema
        | IntegerPropertySchema
        | BooleanPropertySchema
        | MultiSelectPropertySchema
    )


class ElicitationSchema(Model, kw_only=True):
    """The fields of a form, by name, and which of them must be filled in.

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
    """A question by form: the user fills in what ``requested_schema`` describes. Give ``session_id`` or ``request_id``.

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
    """A question by link: the user is asked to open ``url``. Give ``session_id`` or ``request_id``.

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


CreateElicitationRequest.__acp_union__ = ElicitationFormMode | ElicitationUrlMode


class ElicitationSessionScope(Model, kw_only=True):
    """A question that belongs to a session, perhaps to a tool call in it.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationsessionscope
    """

    session_id: SessionId
    tool_call_id: ToolCallId | None = None

    __acp_lenient__ = ("tool_call_id",)


class ElicitationRequestScope(Model, kw_only=True):
    """A question that belongs to a request that is still running, before any session.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationrequestscope
    """

    request_id: RequestId


class CompleteElicitationNotification(Model, Notification, kw_only=True):
    """The question by link ``elicitation_id`` has been dealt with outside. Unknown ids are ignored.

    https://agentclientprotocol.com/protocol/v2/draft/schema#completeelicitationnotification
    """

    elicitation_id: ElicitationId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class CreateElicitationResponse:
    """What became of a question. The class stands for the union of its actions; an unknown one is none of them.

    https://agentclientprotocol.com/protocol/v2/draft/schema#createelicitationresponse
    """

    __slots__ = ()
    __acp_union__: ClassVar[Any]


class OtherCreateElicitationResponse(Other, CreateElicitationResponse):
    """A ``CreateElicitationResponse`` whose ``action`` this version does not know."""

    __slots__ = ()
    tag_field = "action"
    known = frozenset({"accept", "cancel", "decline"})


#: One answer in a form.
ElicitationContentValue: TypeAlias = str | int | float | bool | list[str]


class ElicitationAcceptAction(Model, CreateElicitationResponse, tag_field="action", tag="accept", kw_only=True):
    """The user agreed; ``content`` holds the answers of a form by field name.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationacceptaction
    """

    content: dict[str, ElicitationContentValue] | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherCreateElicitationResponse


class ElicitationDeclineAction(Model, CreateElicitationResponse, tag_field="action", tag="decline", kw_only=True):
    """The user said no.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationdeclineaction
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherCreateElicitationResponse


class ElicitationCancelAction(Model, CreateElicitationResponse, tag_field="action", tag="cancel", kw_only=True):
    """The user went away without an answer.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationcancelaction
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherCreateElicitationResponse


CreateElicitationResponse.__acp_union__ = ElicitationAcceptAction | ElicitationDeclineAction | ElicitationCancelAction
