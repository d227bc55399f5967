"""Configuration options of a session.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from ..custom import Custom, first_that_fits
from ..model import JsonObject, Model, Request
from ..other import Other
from .ids import SessionConfigGroupId, SessionConfigId, SessionConfigValueId, SessionId

__all__ = [
    "SESSION_CONFIG_OPTION_CATEGORY_VALUES",
    "OtherSessionConfigOption",
    "OtherSetSessionConfigOptionRequest",
    "SessionConfigBoolean",
    "SessionConfigOption",
    "SessionConfigOptionCategory",
    "SessionConfigSelect",
    "SessionConfigSelectGroup",
    "SessionConfigSelectOption",
    "SessionConfigSelectOptions",
    "SetSessionConfigBooleanRequest",
    "SetSessionConfigOptionRequest",
    "SetSessionConfigOptionResponse",
    "SetSessionConfigValueRequest",
]

#: What an option is about, for looks only.
if TYPE_CHECKING:
    SessionConfigOptionCategory: TypeAlias = Literal["mode", "model", "model_config", "thought_level"] | str
else:
    SessionConfigOptionCategory = str
SESSION_CONFIG_OPTION_CATEGORY_VALUES: Final = ("mode", "model", "model_config", "thought_level")


class OtherSessionConfigOption(Other):
    """A ``SessionConfigOption`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"boolean", "select"})
    required = ("configId", "name")


class SessionConfigSelectOption(Model, kw_only=True):
    """A value to choose.

    https://agentclientprotocol.com/protocol/v2/draft/schema#sessionconfigselectoption
    """

    value: SessionConfigValueId
    name: str
    description: str | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("description", "meta")


class SessionConfigSelectGroup(Model, kw_only=True):
    """Values that belong together.

    https://agentclientprotocol.com/protocol/v2/draft/schema#sessionconfigselectgroup
    """

    group_id: SessionConfigGroupId
    name: str
    options: list[SessionConfigSelectOption]
    meta: JsonObject | None = None

    __acp_lenient__ = ("options", "meta")
    __acp_skip__ = ("options",)


if TYPE_CHECKING:
    SessionConfigSelectOptions: TypeAlias = list[SessionConfigSelectOption] | list[SessionConfigSelectGroup]
else:

    class SessionConfigSelectOptions(Custom):
        """The values to choose from: a list of them, or a list of groups."""

        alternatives = (list[SessionConfigSelectOption], list[SessionConfigSelectGroup])
        from_builtins = classmethod(first_that_fits)

    SessionConfigSelectOptions.register(list)


class SessionConfigSelect(Model, tag_field="type", tag="select", kw_only=True):
    """An option with one value of several.

    https://agentclientprotocol.com/protocol/v2/draft/schema#sessionconfigselect
    """

    current_value: SessionConfigValueId
    options: SessionConfigSelectOptions
    config_id: SessionConfigId
    name: str
    description: str | None = None
    category: SessionConfigOptionCategory | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("description", "category", "meta")
    __acp_other__ = OtherSessionConfigOption


class SessionConfigBoolean(Model, tag_field="type", tag="boolean", kw_only=True):
    """An option that is on or off.

    https://agentclientprotocol.com/protocol/v2/draft/schema#sessionconfigboolean
    """

    current_value: bool
    config_id: SessionConfigId
    name: str
    description: str | None = None
    category: SessionConfigOptionCategory | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("description", "category", "meta")
    __acp_other__ = OtherSessionConfigOption


#: An option of a session with its current value. Order matters, and there is always a value.
if TYPE_CHECKING:
    SessionConfigOption: TypeAlias = SessionConfigSelect | SessionConfigBoolean | OtherSessionConfigOption
else:
    SessionConfigOption = SessionConfigSelect | SessionConfigBoolean


class SetSessionConfigOptionResponse(Model, kw_only=True):
    """All options after the change, complete.

    https://agentclientprotocol.com/protocol/v2/draft/schema#setsessionconfigoptionresponse
    """

    config_options: list[SessionConfigOption]
    meta: JsonObject | None = None

    __acp_lenient__ = ("config_options", "meta")
    __acp_skip__ = ("config_options",)


class SetSessionConfigOptionRequest(Request["SetSessionConfigOptionResponse"]):
    """Sets an option of a session. The class stands for the union of the kinds of values.

    https://agentclientprotocol.com/protocol/v2/draft/schema#setsessionconfigoptionrequest
    """

    __slots__ = ()
    __acp_union__: ClassVar[Any]


class OtherSetSessionConfigOptionRequest(Other, SetSessionConfigOptionRequest):
    """A ``SetSessionConfigOptionRequest`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"boolean", "id"})
    required = ("sessionId", "configId")
    present = ("value",)


class SetSessionConfigValueRequest(Model, SetSessionConfigOptionRequest, tag_field="type", tag="id", kw_only=True):
    """Sets an option to one of its named values.

    https://agentclientprotocol.com/protocol/v2/draft/schema#setsessionconfigvaluerequest
    """

    value: SessionConfigValueId
    session_id: SessionId
    config_id: SessionConfigId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherSetSessionConfigOptionRequest


class SetSessionConfigBooleanRequest(
    Model, SetSessionConfigOptionRequest, tag_field="type", tag="boolean", kw_only=True
):
    """Switches an option on or off.

    https://agentclientprotocol.com/protocol/v2/draft/schema#setsessionconfigbooleanrequest
    """

    value: bool
    session_id: SessionId
    config_id: SessionConfigId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherSetSessionConfigOptionRequest


SetSessionConfigOptionRequest.__acp_union__ = SetSessionConfigValueRequest | SetSessionConfigBooleanRequest
