"""A session folded while it happens is the session folded from its replay: with the SDK's agents, and with one of ours
that says everything an agent can say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import peers
import pytest
import work
from loops import LOOPS, run

from acpcore import Connection, Handlers, Request, TerminalBytes, spawn
from acpcore import schema as s
from acpcore.session import Key, SessionView
from acpcore.transports.memory import memory_pair

SDK = "sdk-1.3.0"
INFO = s.Implementation(name="interop", version="1")
YES = s.RequestPermissionResponse(outcome=s.SelectedPermissionOutcome(option_id="yes"))


class Viewer:
    """A client that folds one session, by handlers: ``view`` is the live one."""

    def __init__(self) -> None:
        self.view = SessionView("")
        self.asked: list[Key] = []  # tool calls that were to be permitted
        self.errors: list[BaseException] = []
        self._changed = asyncio.Event()
        self.handlers = Handlers()
        self.handlers.on("session/update")(self._take)
        self.handlers.on(TerminalBytes)(self._take)
        self.handlers.on(s.RequestPermissionRequest)(self._permit)

    def _take(self, event: Any) -> None:
        assert self.view.apply(event)
        self._changed.set()

    def _permit(self, request: Request) -> s.RequestPermissionResponse:
        call = request.params.subject.tool_call
        self.view.apply(call)
        self.asked.append(Key("tool_call", call.tool_call_id))
        return YES

    def on_error(self, error: BaseException, context: str) -> None:
        self.errors.append(error)
        self._changed.set()

    async def begin(self, conn: Connection) -> None:
        await conn.initialize(INFO)
        opened = await conn.request(s.NewSessionRequest(cwd="/"))
        self.view = SessionView(opened.session_id)

    async def turn(self, conn: Connection, text: str, until: Callable[[], bool] | None = None) -> None:
        """A prompt, up to the end of its turn, or up to where something holds."""
        since = self.view.state_update
        prompt = [s.TextContent(text=text)]
        await conn.request(s.PromptRequest(session_id=self.view.session_id, prompt=prompt))
        await self.until(until or (lambda: self.view.state == "idle" and self.view.state_update is not since))

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            assert not self.errors
            self._changed.clear()
            await self._changed.wait()

    async def replay(self, conn: Connection) -> SessionView:
        """The view of a resume, begun with nothing. The live one is kept."""
        live, self.view = self.view, SessionView(self.view.session_id)
        try:
            resume = s.ResumeSessionRequest(session_id=live.session_id, cwd="/", replay_from=s.ReplayFromStart())
            self.view.apply(await conn.request(resume))
            assert not self.errors
            return self.view
        finally:
            self.view = live


# --- the SDK's agents


@pytest.mark.usefixtures("sdks")
@pytest.mark.parametrize("kind", LOOPS)
def test_a_replay_of_the_example_agent_is_the_live_run(kind: str) -> None:
    viewer = Viewer()

    async def main() -> None:
        async with spawn(
            peers.example("dual-version-agent.js"), viewer.handlers, on_error=viewer.on_error, gating="both"
        ) as conn:
            await viewer.begin(conn)
            for text in ("hello", "and again"):
                await viewer.turn(conn, text)
            assert [message.role for message in viewer.view.messages] == ["user", "agent"] * 2
            await same_again(viewer, conn)

    run(kind, main)


@pytest.mark.usefixtures("sdks")
@pytest.mark.parametrize("kind", LOOPS)
def test_a_replay_with_tools_and_terminals_is_the_live_run(kind: str) -> None:
    viewer = Viewer()

    async def main() -> None:
        async with spawn(peers.ts_agent(SDK), viewer.handlers, on_error=viewer.on_error, gating="both") as conn:
            await viewer.begin(conn)
            await viewer.turn(conn, "work")
            view = viewer.view
            assert viewer.asked == [Key("tool_call", "call-1")]
            assert view.tool_calls["call-1"].status == "completed"
            assert view.terminals["term-1"].bytes == b"".join(work.chunks())
            assert [text_of(message) for message in view.messages] == ["work", "".join(work.TEXTS)]
            await same_again(viewer, conn)

    run(kind, main)


async def same_again(viewer: Viewer, conn: Connection) -> None:
    """These agents do not tell the state again: it is where it was."""
    replayed = await viewer.replay(conn)
    assert replayed.state is None
    assert viewer.view.state_update is not None
    replayed.apply(viewer.view.state_update)
    assert replayed == viewer.view


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content)


@pytest.mark.usefixtures("sdks")
@pytest.mark.parametrize("kind", LOOPS)
def test_pulled_events_fold_alike(kind: str) -> None:
    async def main() -> None:
        async with spawn(peers.example("dual-version-agent.js")) as conn:
            await conn.initialize(INFO)
            opened = await conn.request(s.NewSessionRequest(cwd="/"))
            live, replayed = SessionView(opened.session_id), SessionView(opened.session_id)
            prompt = [s.TextContent(text="hello")]
            stream = conn.session(live.session_id)
            await conn.request(s.PromptRequest(session_id=live.session_id, prompt=prompt))
            while live.state != "idle":
                live.apply(await anext(stream))
            await conn.request(
                s.ResumeSessionRequest(session_id=live.session_id, cwd="/", replay_from=s.ReplayFromStart())
            )
            while len(replayed.messages) < 2:
                replayed.apply(await anext(stream))
            assert live.state_update is not None
            replayed.apply(live.state_update)
            assert replayed == live and len(live.messages) == 2

    run(kind, main)


# --- one of ours


def call(**fields: Any) -> s.ToolCallUpdate:
    return s.ToolCallUpdate(tool_call_id="call-1", **fields)


def chunk(text: str) -> s.AgentMessageChunk:
    return s.AgentMessageChunk(message_id="a", content=s.TextContent(text=text))


def terminal(**fields: Any) -> s.TerminalUpdate:
    return s.TerminalUpdate(terminal_id="t", **fields)


def plan(id: str, *steps: str) -> s.PlanUpdate:
    entries = [s.PlanEntry(content=step, priority="high", status="pending") for step in steps]
    return s.PlanUpdate(plan=s.PlanItems(plan_id=id, entries=entries))


ASK = object()  # here the agent asks for permission
COMMAND = s.AvailableCommand(name="count", description="Counts")
STORY: list[Any] = [
    s.UserMessage(message_id="u", content=[s.TextContent(text="go")]),
    s.RunningStateUpdate(),
    s.AvailableCommandsUpdate(available_commands=[COMMAND]),
    s.AgentThoughtChunk(message_id="th", content=s.TextContent(text="hm")),
    plan("p", "look", "leap"),
    plan("gone", "never"),
    call(title="Count", kind="execute", status="pending"),
    ASK,
    terminal(command="count", cwd="/"),
    call(status="in_progress", content=[s.Terminal(terminal_id="t")]),
    *(s.TerminalOutputChunk(terminal_id="t", data=data) for data in work.chunks()),
    s.SessionInfoUpdate(title="Counting"),
    s.OtherSessionUpdate.of({"sessionUpdate": "_later", "n": [1, None]}),
    terminal(output=s.TerminalOutput(data=b"snapshot")),
    s.TerminalOutputChunk(terminal_id="t", data=b" and on"),
    terminal(exit_status=s.TerminalExitStatus(exit_code=3)),
    s.ToolCallContentChunk(tool_call_id="call-1", content=s.Content(content=s.TextContent(text="three"))),
    call(status="failed", title=None),
    chunk("It "),
    chunk("failed."),
    s.PlanRemoved(plan_id="gone"),
    plan("p", "look"),
    s.SessionInfoUpdate(updated_at="2026-01-01T00:00:00Z"),
    s.UsageUpdate(used=10, size=100),
    s.IdleStateUpdate(stop_reason="end_turn"),
]


class Storyteller:
    """An agent that tells the story, waits where it is told to, and replays either what it has told or what has become
    of it."""

    def __init__(self, *, snapshots: bool, stop_at: int | None = None) -> None:
        self.handlers = Handlers()
        self.handlers.initialize(INFO, s.AgentCapabilities(session=s.SessionCapabilities()))
        self.handlers.on(s.NewSessionRequest)(lambda _: s.NewSessionResponse(session_id="s"))
        self.handlers.on(s.PromptRequest)(self.prompt)
        self.handlers.on(s.ResumeSessionRequest)(self.resume)
        self.go_on = asyncio.Event()
        self.told: list[Any] = []
        self._view = SessionView("s")
        self._snapshots = snapshots
        self._stop_at = stop_at

    def prompt(self, request: Request) -> s.PromptResponse:
        request.conn.start(self.tell(request.conn))
        return s.PromptResponse()

    async def tell(self, conn: Connection) -> None:
        for number, update in enumerate(STORY):
            if number == self._stop_at:
                await self.go_on.wait()
            if update is ASK:
                assert await conn.request(question()) == YES
            else:
                self.told.append(update)
                self._view.apply(update)
                await send(conn, update)

    async def resume(self, request: Request) -> s.ResumeSessionResponse:
        for update in self._view.updates() if self._snapshots else list(self.told):
            await send(request.conn, update)
        return s.ResumeSessionResponse()


def question() -> s.RequestPermissionRequest:
    patch = s.ToolCallPatch(tool_call_id="call-1", title="Count", kind="execute", status="pending")
    options = [s.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
    subject = s.ToolCallPermissionSubject(tool_call=patch)
    return s.RequestPermissionRequest(session_id="s", title="May I?", subject=subject, options=options)


async def send(conn: Connection, update: Any) -> None:
    await conn.notify(s.UpdateSessionNotification(session_id="s", update=update))


@asynccontextmanager
async def between(viewer: Viewer, agent: Storyteller) -> AsyncIterator[Connection]:
    here, there = memory_pair()
    options: dict[str, Any] = {"on_error": viewer.on_error, "gating": "both"}
    async with (
        Connection(there, agent.handlers, role="agent", **options),
        Connection(here, viewer.handlers, role="client", **options) as conn,
    ):
        yield conn


@pytest.mark.parametrize("snapshots", [False, True])
@pytest.mark.parametrize("kind", LOOPS)
def test_a_replay_of_everything_is_the_live_run(kind: str, snapshots: bool) -> None:
    async def main() -> None:
        viewer, agent = Viewer(), Storyteller(snapshots=snapshots)
        async with between(viewer, agent) as conn:
            await viewer.begin(conn)
            await viewer.turn(conn, "go")
            view = viewer.view
            assert viewer.asked == [Key("tool_call", "call-1")]
            assert (view.title, view.updated_at) == ("Counting", "2026-01-01T00:00:00Z")
            assert (view.commands, list(view.plans), len(view.unknown)) == ([COMMAND], ["p"], 1)
            assert (view.usage, view.stop_reason) == (s.UsageUpdate(used=10, size=100), "end_turn")
            assert view.terminals["t"].bytes == b"snapshot and on"
            assert (view.tool_calls["call-1"].status, view.tool_calls["call-1"].title) == ("failed", None)
            assert [text_of(message) for message in view.messages] == ["go", "hm", "It failed."]
            assert await viewer.replay(conn) == view

    run(kind, main)


@pytest.mark.parametrize("snapshots", [False, True])
@pytest.mark.parametrize("kind", LOOPS)
def test_a_replay_in_the_middle_goes_on_like_the_live_run(kind: str, snapshots: bool) -> None:
    """Whoever resumes while a turn runs has, at any point and at the end, the view of whoever was there all along."""

    async def main() -> None:
        for stop in range(1, len(STORY)):
            viewer, agent = Viewer(), Storyteller(snapshots=snapshots, stop_at=stop)
            async with between(viewer, agent) as conn:
                await viewer.begin(conn)
                reached = SessionView("s")
                for update in STORY[:stop]:
                    if update is not ASK:
                        reached.apply(update)
                await viewer.turn(conn, "go", until=lambda viewer=viewer, reached=reached: viewer.view == reached)
                replayed = await viewer.replay(conn)
                assert replayed == viewer.view
                viewer.view = replayed
                agent.go_on.set()
                await viewer.until(lambda viewer=viewer: viewer.view.state == "idle")
                for update in STORY[stop:]:
                    if update is not ASK:
                        reached.apply(update)
                assert viewer.view == reached

    run(kind, main)
