"""Plans of the agent.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ..model import JsonObject, Model
from ..other import Other
from .ids import PlanId

__all__ = [
    "PLAN_ENTRY_PRIORITY_VALUES",
    "PLAN_ENTRY_STATUS_VALUES",
    "OtherPlanUpdateContent",
    "PlanEntry",
    "PlanEntryPriority",
    "PlanEntryStatus",
    "PlanFile",
    "PlanItems",
    "PlanMarkdown",
    "PlanUpdateContent",
]

#: How much a step matters.
if TYPE_CHECKING:
    PlanEntryPriority: TypeAlias = Literal["high", "medium", "low"] | str
else:
    PlanEntryPriority = str
PLAN_ENTRY_PRIORITY_VALUES: Final = ("high", "medium", "low")

#: How far a step has come.
if TYPE_CHECKING:
    PlanEntryStatus: TypeAlias = Literal["pending", "in_progress", "completed", "cancelled"] | str
else:
    PlanEntryStatus = str
PLAN_ENTRY_STATUS_VALUES: Final = ("pending", "in_progress", "completed", "cancelled")


class OtherPlanUpdateContent(Other):
    """A ``PlanUpdateContent`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"file", "items", "markdown"})
    required = ("planId",)


class PlanEntry(Model, kw_only=True):
    """A step of a plan.

    https://agentclientprotocol.com/protocol/v2/draft/schema#planentry
    """

    content: str
    priority: PlanEntryPriority
    status: PlanEntryStatus
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class PlanItems(Model, tag_field="type", tag="items", kw_only=True):
    """A plan of entries, always the complete list.

    https://agentclientprotocol.com/protocol/v2/draft/schema#planitems
    """

    plan_id: PlanId
    entries: list[PlanEntry]
    meta: JsonObject | None = None

    __acp_lenient__ = ("entries", "meta")
    __acp_skip__ = ("entries",)
    __acp_other__ = OtherPlanUpdateContent


class PlanFile(Model, tag_field="type", tag="file", kw_only=True):
    """A plan kept in a file.

    https://agentclientprotocol.com/protocol/v2/draft/schema#planfile
    """

    plan_id: PlanId
    uri: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherPlanUpdateContent


class PlanMarkdown(Model, tag_field="type", tag="markdown", kw_only=True):
    """A plan as Markdown text.

    https://agentclientprotocol.com/protocol/v2/draft/schema#planmarkdown
    """

    plan_id: PlanId
    content: str
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
    __acp_other__ = OtherPlanUpdateContent


#: A plan: entries, a file, or Markdown.
if TYPE_CHECKING:
    PlanUpdateContent: TypeAlias = PlanItems | PlanFile | PlanMarkdown | OtherPlanUpdateContent
else:
    PlanUpdateContent = PlanItems | PlanFile | PlanMarkdown
