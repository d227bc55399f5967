"""Content blocks: what prompts, messages and tool calls are made of.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta

from ..custom import Custom, first_that_fits
from ..model import Int64, JsonObject, Model
from ..other import Other
from .ids import MediaType, MessageId

__all__ = [
    "ICON_THEME_VALUES",
    "ROLE_VALUES",
    "Annotations",
    "AudioContent",
    "BlobResourceContents",
    "ContentBlock",
    "ContentChunk",
    "EmbeddedResource",
    "EmbeddedResourceResource",
    "Icon",
    "IconTheme",
    "ImageContent",
    "OtherContentBlock",
    "ResourceLink",
    "Role",
    "TextContent",
    "TextResourceContents",
]

#: For whom content is meant.
if TYPE_CHECKING:
    Role: TypeAlias = Literal["assistant", "user"] | str
else:
    Role = str
ROLE_VALUES: Final = ("assistant", "user")

#: The background an icon is drawn for.
if TYPE_CHECKING:
    IconTheme: TypeAlias = Literal["light", "dark"] | str
else:
    IconTheme = str
ICON_THEME_VALUES: Final = ("light", "dark")


class OtherContentBlock(Other):
    """A ``ContentBlock`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"audio", "image", "resource", "resource_link", "text"})


class Annotations(Model, kw_only=True):
    """Hints on use: for whom, how important (``priority`` 0 to 1), as of when (RFC 3339).

    https://agentclientprotocol.com/protocol/v2/draft/schema#annotations
    """

    audience: list[Role] | None = None
    last_modified: str | None = None
    priority: Annotated[float, Meta(ge=0, le=1)] | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("audience", "last_modified", "priority", "meta")
    __acp_skip__ = ("audience",)


class TextContent(Model, tag_field="type", tag="text", kw_only=True):
    """Plain text or Markdown.

    https://agentclientprotocol.com/protocol/v2/draft/schema#textcontent
    """

    text: str
    annotations: Annotations | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("annotations", "meta")
    __acp_other__ = OtherContentBlock


class ImageContent(Model, tag_field="type", tag="image", kw_only=True):
    """An image; ``data`` is its base64 text, left as it is.

    https://agentclientprotocol.com/protocol/v2/draft/schema#imagecontent
    """

    data: str
    mime_type: MediaType
    uri: str | None = None
    annotations: Annotations | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("uri", "annotations", "meta")
    __acp_other__ = OtherContentBlock


class AudioContent(Model, tag_field="type", tag="audio", kw_only=True):
    """A sound; ``data`` is its base64 text, left as it is.

    https://agentclientprotocol.com/protocol/v2/draft/schema#audiocontent
    """

    data: str
    mime_type: MediaType
    annotations: Annotations | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("annotations", "meta")
    __acp_other__ = OtherContentBlock


class Icon(Model, kw_only=True):
    """A picture to show beside something; ``src`` is a URI, ``sizes`` such as ``48x48``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#icon
    """

    src: str
    mime_type: MediaType | None = None
    sizes: list[str] | None = None
    theme: IconTheme | None = None

    __acp_lenient__ = ("mime_type", "sizes", "theme")
    __acp_skip__ = ("sizes",)


class ResourceLink(Model, tag_field="type", tag="resource_link", kw_only=True):
    """A pointer to something the agent can fetch; ``size`` in bytes.

    https://agentclientprotocol.com/protocol/v2/draft/schema#resourcelink
    """

    name: str
    uri: str
    title: str | None = None
    description: str | None = None
    icons: list[Icon] | None = None
    mime_type: MediaType | None = None
    size: Int64 | None = None
    annotations: Annotations | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("title", "description", "icons", "mime_type", "size", "annotations", "meta")
    __acp_skip__ = ("icons",)
    __acp_other__ = OtherContentBlock


class TextResourceContents(Model, kw_only=True):
    """A resource that is text.

    https://agentclientprotocol.com/protocol/v2/draft/schema#textresourcecontents
    """

    text: str
    uri: str
    mime_type: MediaType | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("mime_type", "meta")


class BlobResourceContents(Model, kw_only=True):
    """A resource that is bytes; ``blob`` is their base64 text, left as it is.

    https://agentclientprotocol.com/protocol/v2/draft/schema#blobresourcecontents
    """

    blob: str
    uri: str
    mime_type: MediaType | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("mime_type", "meta")


if TYPE_CHECKING:
    EmbeddedResourceResource: TypeAlias = TextResourceContents | BlobResourceContents
else:

    class EmbeddedResourceResource(Custom):
        """Contents of a resource: text if there is a ``text``, else bytes under ``blob``."""

        alternatives = (TextResourceContents, BlobResourceContents)
        from_builtins = classmethod(first_that_fits)

    EmbeddedResourceResource.register(TextResourceContents)
    EmbeddedResourceResource.register(BlobResourceContents)


class EmbeddedResource(Model, tag_field="type", tag="resource", kw_only=True):
    """A resource with its contents.

    https://agentclientprotocol.com/protocol/v2/draft/schema#embeddedresource
    """

    resource: EmbeddedResourceResource
    annotations: Annotations | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("annotations", "meta")
    __acp_other__ = OtherContentBlock


#: One piece of content. Every agent takes text and resource links in prompts, the rest if it says so.
if TYPE_CHECKING:
    ContentBlock: TypeAlias = (
        TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | OtherContentBlock
    )
else:
    ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


class ContentChunk(Model, kw_only=True):
    """One more piece of a message, to be appended to what message ``message_id`` has.

    https://agentclientprotocol.com/protocol/v2/draft/schema#contentchunk
    """

    message_id: MessageId
    content: ContentBlock
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
