# pyright: strict
"""Code as users write it; mypy and pyright hold it against the types in strict mode. It is never run."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_never, assert_type

from acpcore import Connection, Handlers, Notification, Request, schema
from acpcore.schema import UNSET, InvalidParams, UnsetType, v2

INFO = v2.Implementation(name="example", version="1")


async def client(conn: Connection) -> None:
    hello = await conn.initialize(INFO, v2.ClientCapabilities(position_encodings=["utf-8"]), timeout=5)
    if hello.capabilities.session is not None:
        session = await conn.request(
            v2.NewSessionRequest(cwd="/w", mcp_servers=[v2.McpServerStdio(name="m", command="/m")])
        )
        assert_type(session, v2.NewSessionResponse)
        await conn.request(v2.PromptRequest(session_id=session.session_id, prompt=[v2.TextContent(text="hi")]))
        await conn.notify(v2.CancelSessionNotification(session_id=session.session_id))
    set_ = await conn.request(
        v2.SetSessionConfigValueRequest(session_id="s", config_id="c", value="v"), timeout=5, ordered=False
    )
    assert_type(set_, v2.SetSessionConfigOptionResponse)
    raw: dict[str, Any] = await conn.request("_example/count", {"n": 1}, on_result=print)
    listed: v2.ListSessionsResponse = await conn.request("session/list", result=v2.ListSessionsResponse)
    assert listed.sessions or raw
    if conn.rules is not None and conn.rules.forbids(v2.ListProvidersRequest()) is None:
        assert_type(await conn.request(v2.ListProvidersRequest()), v2.ListProvidersResponse)


def serving() -> Handlers:
    handlers = Handlers(profile=schema.STRICT)
    handlers.initialize(INFO, v2.AgentCapabilities(session=v2.SessionCapabilities()), others={1: lambda asked: {}})

    @handlers.on(v2.PromptRequest)
    async def prompt(request: Request) -> v2.PromptResponse:
        params: v2.PromptRequest = request.params
        request.conn.start(tell(request.conn, params), name="turn")
        return v2.PromptResponse()

    @handlers.on(v2.CancelSessionNotification)
    def cancel(notification: Notification) -> None:
        assert notification.session_id

    @handlers.request("mcp/message", decode=lambda raw: schema.decode(v2.MessageMcpRequest, raw))
    def message(request: Request) -> dict[str, Any]:
        return {"id": request.id}

    handlers.on(v2.NewSessionRequest)(opened)
    return handlers


def opened(request: Request) -> v2.NewSessionResponse:
    return v2.NewSessionResponse(session_id=f"s-{request.id}")


async def tell(conn: Connection, params: v2.PromptRequest) -> None:
    update = v2.ToolCallUpdate(tool_call_id="c", title=None, status="completed", content=UNSET)
    await conn.notify(v2.UpdateSessionNotification(session_id=params.session_id, update=update))
    conn.try_notify(v2.UpdateSessionNotification(session_id=params.session_id, update=v2.IdleStateUpdate()))
    await conn.notify("_example/done", {"session": params.session_id}, bulk=True)


async def agent(conn: Connection) -> str | None:
    answer = await conn.request(
        v2.RequestPermissionRequest(
            session_id="s",
            title="Delete?",
            subject=v2.ToolCallPermissionSubject(tool_call=v2.ToolCallPatch(tool_call_id="c", kind="delete")),
            options=[v2.PermissionOption(option_id="y", name="Yes", kind="allow_once")],
        )
    )
    match answer.outcome:
        case v2.SelectedPermissionOutcome(option_id=option):
            return option
        case v2.CancelledPermissionOutcome() | v2.OtherRequestPermissionOutcome():
            return None
        case _:
            assert_never(answer.outcome)


def text_of(block: v2.ContentBlock) -> str:
    match block:
        case v2.TextContent(text=text):
            return text
        case v2.EmbeddedResource(resource=v2.TextResourceContents(text=text)):
            return text
        case v2.ResourceLink(uri=uri):
            return uri
        case v2.OtherContentBlock(tag=tag):
            return f"({tag})"
        case _:
            return "(...)"


def on_update(params: v2.UpdateSessionNotification) -> str:
    match params.update:
        case v2.ContentChunk(content=content):
            return text_of(content)
        case v2.IdleStateUpdate(stop_reason=reason):
            return reason or "idle"
        case v2.ToolCallUpdate() as tool:
            return patched(tool.title, "untitled")
        case v2.TerminalOutputChunk(data=data):
            return data.decode("utf-8", "replace")
        case v2.OtherSessionUpdate() as other:
            return f"{other.tag}: {other.raw!r}"
        case _:
            return ""


def patched(field: str | None | UnsetType, old: str) -> str:
    if field is UNSET:
        return old
    assert_type(field, str | None)
    return field or ""


def decoded(raw: bytes) -> v2.PromptRequest | None:
    try:
        request = schema.decode(v2.PromptRequest, raw, profile=schema.STRICT)
    except InvalidParams as fault:
        assert_type(fault.path, str)
        return None
    assert_type(request, v2.PromptRequest)
    return request


def answered(params: v2.CreateElicitationRequest) -> v2.CreateElicitationResponse:
    if isinstance(params, v2.ElicitationFormMode) and "name" in params.requested_schema.properties:
        return v2.ElicitationAcceptAction(content={"name": "x", "count": 1})
    return v2.ElicitationDeclineAction()
