"""What each side says it can do. A marker is an object: there means supported, absent or null means not.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from msgspec import field

from ..model import JsonObject, Model, UInt32
from .document import PositionEncodingKind, TextDocumentSyncKind

__all__ = [
    "AgentAuthCapabilities",
    "AgentCapabilities",
    "AuthCapabilities",
    "ClientCapabilities",
    "ClientNesCapabilities",
    "ElicitationCapabilities",
    "ElicitationFormCapabilities",
    "ElicitationUrlCapabilities",
    "McpAcpCapabilities",
    "McpCapabilities",
    "McpHttpCapabilities",
    "McpStdioCapabilities",
    "NesCapabilities",
    "NesContextCapabilities",
    "NesDiagnosticsCapabilities",
    "NesDocumentDidChangeCapabilities",
    "NesDocumentDidCloseCapabilities",
    "NesDocumentDidFocusCapabilities",
    "NesDocumentDidOpenCapabilities",
    "NesDocumentDidSaveCapabilities",
    "NesDocumentEventCapabilities",
    "NesEditHistoryCapabilities",
    "NesEventCapabilities",
    "NesJumpCapabilities",
    "NesOpenFilesCapabilities",
    "NesRecentFilesCapabilities",
    "NesRelatedSnippetsCapabilities",
    "NesRenameCapabilities",
    "NesSearchAndReplaceCapabilities",
    "NesUserActionsCapabilities",
    "PromptAudioCapabilities",
    "PromptCapabilities",
    "PromptEmbeddedContextCapabilities",
    "PromptImageCapabilities",
    "ProvidersCapabilities",
    "SessionAdditionalDirectoriesCapabilities",
    "SessionCapabilities",
    "SessionDeleteCapabilities",
    "SessionForkCapabilities",
    "TerminalAuthCapabilities",
]


class PromptImageCapabilities(Model, kw_only=True):
    """Marker: prompts may hold images.

    https://agentclientprotocol.com/protocol/v2/draft/schema#promptimagecapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class PromptAudioCapabilities(Model, kw_only=True):
    """Marker: prompts may hold audio.

    https://agentclientprotocol.com/protocol/v2/draft/schema#promptaudiocapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class PromptEmbeddedContextCapabilities(Model, kw_only=True):
    """Marker: prompts may hold embedded resources.

    https://agentclientprotocol.com/protocol/v2/draft/schema#promptembeddedcontextcapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class PromptCapabilities(Model, kw_only=True):
    """Which content an agent takes in prompts beside text and resource links.

    https://agentclientprotocol.com/protocol/v2/draft/schema#promptcapabilities
    """

    image: PromptImageCapabilities | None = None
    audio: PromptAudioCapabilities | None = None
    embedded_context: PromptEmbeddedContextCapabilities | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("image", "audio", "embedded_context", "meta")


class McpStdioCapabilities(Model, kw_only=True):
    """Marker: MCP servers started as a child process.

    https://agentclientprotocol.com/protocol/v2/draft/schema#mcpstdiocapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class McpHttpCapabilities(Model, kw_only=True):
    """Marker: MCP servers reached by HTTP.

    https://agentclientprotocol.com/protocol/v2/draft/schema#mcphttpcapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class McpAcpCapabilities(Model, kw_only=True):
    """Marker: MCP servers reached through the ACP connection.

    https://agentclientprotocol.com/protocol/v2/draft/schema#mcpacpcapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class McpCapabilities(Model, kw_only=True):
    """Which kinds of MCP servers an agent can connect to.

    https://agentclientprotocol.com/protocol/v2/draft/schema#mcpcapabilities
    """

    stdio: McpStdioCapabilities | None = None
    http: McpHttpCapabilities | None = None
    acp: McpAcpCapabilities | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("stdio", "http", "acp", "meta")


class SessionDeleteCapabilities(Model, kw_only=True):
    """Marker: ``session/delete`` exists.

    https://agentclientprotocol.com/protocol/v2/draft/schema#sessiondeletecapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class SessionAdditionalDirectoriesCapabilities(Model, kw_only=True):
    """Marker: a session may have more root directories than ``cwd``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#sessionadditionaldirectoriescapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class SessionForkCapabilities(Model, kw_only=True):
    """Marker: ``session/fork`` exists.

    https://agentclientprotocol.com/protocol/v2/draft/schema#sessionforkcapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class SessionCapabilities(Model, kw_only=True):
    """What an agent can do with sessions beyond the seven basic methods.

    https://agentclientprotocol.com/protocol/v2/draft/schema#sessioncapabilities
    """

    prompt: PromptCapabilities | None = None
    mcp: McpCapabilities | None = None
    delete: SessionDeleteCapabilities | None = None
    additional_directories: SessionAdditionalDirectoriesCapabilities | None = None
    fork: SessionForkCapabilities | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("prompt", "mcp", "delete", "additional_directories", "fork", "meta")


class AgentAuthCapabilities(Model, kw_only=True):
    """What an agent says about logging in. It gates nothing: ``auth_methods`` does.

    https://agentclientprotocol.com/protocol/v2/draft/schema#agentauthcapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class ProvidersCapabilities(Model, kw_only=True):
    """Marker: ``providers/*`` exist.

    https://agentclientprotocol.com/protocol/v2/draft/schema#providerscapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesDocumentDidOpenCapabilities(Model, kw_only=True):
    """Marker: tell when a document opens.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesdocumentdidopencapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesDocumentDidChangeCapabilities(Model, kw_only=True):
    """Tell when a document changes, in full or by its changes.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesdocumentdidchangecapabilities
    """

    sync_kind: TextDocumentSyncKind
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesDocumentDidCloseCapabilities(Model, kw_only=True):
    """Marker: tell when a document closes.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesdocumentdidclosecapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesDocumentDidSaveCapabilities(Model, kw_only=True):
    """Marker: tell when a document is saved.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesdocumentdidsavecapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesDocumentDidFocusCapabilities(Model, kw_only=True):
    """Marker: tell when a document gets the focus.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesdocumentdidfocuscapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesDocumentEventCapabilities(Model, kw_only=True):
    """The document events an agent wants to hear of.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesdocumenteventcapabilities
    """

    did_open: NesDocumentDidOpenCapabilities | None = None
    did_change: NesDocumentDidChangeCapabilities | None = None
    did_close: NesDocumentDidCloseCapabilities | None = None
    did_save: NesDocumentDidSaveCapabilities | None = None
    did_focus: NesDocumentDidFocusCapabilities | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("did_open", "did_change", "did_close", "did_save", "did_focus", "meta")


class NesEventCapabilities(Model, kw_only=True):
    """The events an agent wants to hear of.

    https://agentclientprotocol.com/protocol/v2/draft/schema#neseventcapabilities
    """

    document: NesDocumentEventCapabilities | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("document", "meta")


class NesRecentFilesCapabilities(Model, kw_only=True):
    """Send recent files, at most ``max_count``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesrecentfilescapabilities
    """

    max_count: UInt32 | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("max_count", "meta")


class NesRelatedSnippetsCapabilities(Model, kw_only=True):
    """Marker: send related snippets.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesrelatedsnippetscapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesEditHistoryCapabilities(Model, kw_only=True):
    """Send earlier edits, at most ``max_count``.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesedithistorycapabilities
    """

    max_count: UInt32 | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("max_count", "meta")


class NesUserActionsCapabilities(Model, kw_only=True):
    """Send what the user did, at most ``max_count`` actions.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesuseractionscapabilities
    """

    max_count: UInt32 | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("max_count", "meta")


class NesOpenFilesCapabilities(Model, kw_only=True):
    """Marker: send the open files.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesopenfilescapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesDiagnosticsCapabilities(Model, kw_only=True):
    """Marker: send diagnostics.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesdiagnosticscapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesContextCapabilities(Model, kw_only=True):
    """The context an agent wants with each question.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nescontextcapabilities
    """

    recent_files: NesRecentFilesCapabilities | None = None
    related_snippets: NesRelatedSnippetsCapabilities | None = None
    edit_history: NesEditHistoryCapabilities | None = None
    user_actions: NesUserActionsCapabilities | None = None
    open_files: NesOpenFilesCapabilities | None = None
    diagnostics: NesDiagnosticsCapabilities | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = (
        "recent_files",
        "related_snippets",
        "edit_history",
        "user_actions",
        "open_files",
        "diagnostics",
        "meta",
    )


class NesCapabilities(Model, kw_only=True):
    """An agent's wishes for next edit suggestions: events and context.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nescapabilities
    """

    events: NesEventCapabilities | None = None
    context: NesContextCapabilities | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("events", "context", "meta")


class AgentCapabilities(Model, kw_only=True):
    """What an agent offers beyond the baseline. ``session`` stands for the whole set of session methods.

    https://agentclientprotocol.com/protocol/v2/draft/schema#agentcapabilities
    """

    session: SessionCapabilities | None = None
    auth: AgentAuthCapabilities | None = None
    providers: ProvidersCapabilities | None = None
    nes: NesCapabilities | None = None
    position_encoding: PositionEncodingKind | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("session", "auth", "providers", "nes", "position_encoding", "meta")


class TerminalAuthCapabilities(Model, kw_only=True):
    """Marker: the client can run an agent's login in a terminal.

    https://agentclientprotocol.com/protocol/v2/draft/schema#terminalauthcapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class AuthCapabilities(Model, kw_only=True):
    """What a client can do to log a user in.

    https://agentclientprotocol.com/protocol/v2/draft/schema#authcapabilities
    """

    terminal: TerminalAuthCapabilities | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("terminal", "meta")


class ElicitationFormCapabilities(Model, kw_only=True):
    """Marker: questions by form.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationformcapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class ElicitationUrlCapabilities(Model, kw_only=True):
    """Marker: questions by link.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationurlcapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class ElicitationCapabilities(Model, kw_only=True):
    """The ways in which a client can ask its user; an empty object means none.

    https://agentclientprotocol.com/protocol/v2/draft/schema#elicitationcapabilities
    """

    form: ElicitationFormCapabilities | None = None
    url: ElicitationUrlCapabilities | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("form", "url", "meta")


class NesJumpCapabilities(Model, kw_only=True):
    """Marker: the client can show jumps.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesjumpcapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesRenameCapabilities(Model, kw_only=True):
    """Marker: the client can do renames.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nesrenamecapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class NesSearchAndReplaceCapabilities(Model, kw_only=True):
    """Marker: the client can search and replace.

    https://agentclientprotocol.com/protocol/v2/draft/schema#nessearchandreplacecapabilities
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class ClientNesCapabilities(Model, kw_only=True):
    """The kinds of suggestions a client can show beside edits.

    https://agentclientprotocol.com/protocol/v2/draft/schema#clientnescapabilities
    """

    jump: NesJumpCapabilities | None = None
    rename: NesRenameCapabilities | None = None
    search_and_replace: NesSearchAndReplaceCapabilities | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("jump", "rename", "search_and_replace", "meta")


class ClientCapabilities(Model, kw_only=True):
    """What a client offers beyond the baseline; ``position_encodings`` in order of preference.

    https://agentclientprotocol.com/protocol/v2/draft/schema#clientcapabilities
    """

    auth: AuthCapabilities | None = None
    elicitation: ElicitationCapabilities | None = None
    nes: ClientNesCapabilities | None = None
    position_encodings: list[PositionEncodingKind] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("auth", "elicitation", "nes", "position_encodings", "meta")
    __acp_skip__ = ("position_encodings",)
