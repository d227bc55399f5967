"""acpcore's example agent, driven by a client."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from running import command, environment, is_gone

import acpcore
from acpcore import Connection, RemoteError, TerminalBytes
from acpcore.cli.conversation import KEPT
from acpcore.cli.stream import own_agent
from acpcore.schema import (
    AgentCapabilities,
    CancelledPermissionOutcome,
    CancelSessionNotification,
    CloseSessionRequest,
    CommandPermissionSubject,
    IdleStateUpdate,
    Implementation,
    InitializeRequest,
    ListSessionsRequest,
    NewSessionRequest,
    OtherContentBlock,
    OtherRequestPermissionOutcome,
    PromptRequest,
    ReplayFromStart,
    RequestPermissionRequest,
    RequestPermissionResponse,
    ResumeSessionRequest,
    SelectedPermissionOutcome,
    StateUpdate,
    TerminalOutputChunk,
    TerminalUpdate,
    TextContent,
    ToolCallUpdate,
    UpdateSessionNotification,
    UserMessage,
)

T = TypeVar("T")
ALLOW = SelectedPermissionOutcome(option_id="allow")
INFO = Implementation(name="test", version="1")


class Client:
    """Keeps the updates of its session; ``answer`` is what it says when it is asked for permission."""

    def __init__(self) -> None:
        self.answer: Any = ALLOW
        self.updates: list[Any] = []
        self.output = b""
        self.asked: list[RequestPermissionRequest] = []
        self.session_id = ""
        self.handlers = acpcore.Handlers()
        self.handlers.on(TerminalBytes)(self._bytes)
        self.handlers.on(UpdateSessionNotification)(self._update)
        self.handlers.on(RequestPermissionRequest)(self._permission)
        self._changed = asyncio.Event()
        self.conn: Connection = acpcore.spawn(own_agent(), self.handlers)

    def _bytes(self, event: TerminalBytes) -> None:
        self.updates.append("bytes")
        self.output += event.data
        self._changed.set()

    def _update(self, event: Any) -> None:
        self.updates.append(event.params.update)
        if isinstance(event.params.update, TerminalOutputChunk):
            self.output += event.params.update.data
        self._changed.set()

    async def _permission(self, request: Any) -> Any:
        self.asked.append(request.params)
        self._changed.set()
        if callable(self.answer):
            return await self.answer()
        return RequestPermissionResponse(outcome=self.answer)

    async def until(self, condition: Callable[[], Any]) -> None:
        async def wait() -> None:
            while not condition():
                self._changed.clear()
                await self._changed.wait()

        await asyncio.wait_for(wait(), 30)

    async def new(self, cwd: str = "/") -> str:
        answer = await self.conn.request(NewSessionRequest(cwd=cwd), timeout=30)
        self.session_id = answer.session_id
        return self.session_id

    async def prompt(self, *blocks: Any, **more: Any) -> None:
        prompt = [TextContent(text=block) if isinstance(block, str) else block for block in blocks]
        await self.conn.request(PromptRequest(session_id=self.session_id, prompt=prompt, **more), timeout=30)

    async def turn(self, *blocks: Any, **more: Any) -> str | None:
        """A whole turn; its stop reason."""
        before = len(self.ends)
        await self.prompt(*blocks, **more)
        await self.until(lambda: len(self.ends) > before)
        return self.ends[-1].stop_reason

    async def cancel(self) -> None:
        await self.conn.notify(CancelSessionNotification(session_id=self.session_id))

    def of(self, kind: type[T]) -> list[T]:
        return [update for update in self.updates if isinstance(update, kind)]

    @property
    def ends(self) -> list[StateUpdate]:
        return [update for update in self.of(StateUpdate) if update.state == "idle"]

    @property
    def exits(self) -> list[Any]:
        found = [update.exit_status for update in self.of(TerminalUpdate)]
        return [status for status in found if isinstance(status, acpcore.schema.TerminalExitStatus)]


def with_agent(test: Callable[[Client], Awaitable[None]]) -> None:
    """Run a test with a client that has shaken hands and opened a session."""

    async def main() -> None:
        client = Client()
        async with client.conn as conn:
            hello = await conn.request(InitializeRequest(protocol_version=2, info=INFO), timeout=30)
            assert hello.protocol_version == 2
            assert isinstance(hello.capabilities, AgentCapabilities) and hello.capabilities.session is not None
            await client.new()
            await test(client)
        reason = await conn.closed
        assert reason.exit_code == 0
        assert reason.stderr_tail == b""

    acpcore.run(main())


def agent_test(test: Callable[[Client], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        with_agent(test)

    run.__name__ = test.__name__
    return run


@agent_test
async def test_a_turn_from_beginning_to_end(client: Client) -> None:
    assert await client.turn("printf hello; exit 3") == "end_turn"
    kinds = [type(update).__name__ if update != "bytes" else update for update in client.updates]
    assert kinds == [
        "UserMessage",
        "RunningStateUpdate",
        "RequiresActionStateUpdate",
        "RunningStateUpdate",
        "TerminalUpdate",
        "ToolCallUpdate",
        "bytes",
        "TerminalUpdate",
        "ToolCallUpdate",
        "IdleStateUpdate",
    ]
    assert client.output == b"hello"
    message, call, terminal = client.of(UserMessage)[0], client.of(ToolCallUpdate)[0], client.of(TerminalUpdate)[0]
    assert message.content == [TextContent(text="printf hello; exit 3")]
    assert (terminal.command, terminal.cwd) == ("printf hello; exit 3", "/")
    assert call.kind == "execute"
    assert isinstance(call.content, list) and call.content[0].terminal_id == terminal.terminal_id  # type: ignore[union-attr]
    assert client.exits[0].exit_code == 3
    assert client.of(ToolCallUpdate)[1].status == "failed"
    subject = client.asked[0].subject
    assert isinstance(subject, CommandPermissionSubject)
    assert (subject.command, subject.cwd, subject.terminal_id) == (terminal.command, "/", terminal.terminal_id)


@agent_test
async def test_a_prompt_is_answered_before_its_turn_is_over(client: Client) -> None:
    await client.prompt("echo up; exec sleep 1000")
    assert client.ends == []
    with pytest.raises(RemoteError, match="turn is running"):
        await client.prompt("true")
    await client.until(lambda: client.output)
    await client.cancel()
    await client.until(lambda: client.ends)
    assert client.ends[0].stop_reason == "cancelled"
    assert client.exits[0].signal == "SIGINT"
    assert client.of(ToolCallUpdate)[-1].status == "cancelled"
    assert await client.turn("echo again") == "end_turn"


@agent_test
async def test_all_bytes_come_before_the_end(client: Client) -> None:
    await client.prompt("trap 'seq 1 50000; exit 0' INT; echo $$; while :; do sleep 0.05; done")
    await client.until(lambda: client.output)
    await client.cancel()
    await client.until(lambda: client.ends)
    assert client.output.split(b"\n", 1)[1] == "".join(f"{n}\n" for n in range(1, 50_001)).encode()


@agent_test
async def test_an_argument_list_is_run_as_it_is(client: Client) -> None:
    argv = ["printf", "%s|", "a b", "$HOME", "'"]
    await client.turn(TextContent(text="whatever", meta={"acpcore/argv": argv}))
    await client.turn("x", meta={"acpcore/argv": ["echo", "from the prompt"]})
    assert client.output == b"a b|$HOME|'|from the prompt\n"


@agent_test
async def test_a_pseudo_terminal_has_the_size_that_was_asked_for(client: Client) -> None:
    meta = {"acpcore/argv": ["sh", "-c", "test -t 0 && test -t 1 && test -t 2 && stty size && tty >/dev/tty"]}
    await client.turn(TextContent(text="x", meta={**meta, "acpcore/pty": {"rows": 7, "cols": 33}}))
    assert client.output.startswith(b"7 33\r\n/dev/")
    await client.turn(TextContent(text="x", meta={**meta, "acpcore/pty": True}))
    assert b"24 80\r\n" in client.output
    await client.turn(TextContent(text="x", meta={"acpcore/argv": ["test", "-t", "1"]}))
    assert client.exits[-1].exit_code == 1


@pytest.mark.parametrize(
    "prompt",
    [
        [],
        [TextContent(text="")],
        [OtherContentBlock.of({"type": "hologram"})],
        [TextContent(text="x", meta={"acpcore/argv": []})],
        [TextContent(text="x", meta={"acpcore/argv": "ls"})],
        [TextContent(text="x", meta={"acpcore/argv": ["a\0b"]})],
        [TextContent(text="x", meta={"acpcore/pty": {"rows": "7"}})],
    ],
    ids=["empty", "no text", "no text block", "no argument", "no list", "NUL", "size"],
)
def test_a_prompt_without_a_command_is_refused(prompt: list[Any]) -> None:
    from acpcore.cli.turn import read_task

    with pytest.raises(acpcore.InvalidParams):
        read_task(PromptRequest(session_id="s", prompt=prompt))


@agent_test
async def test_anything_but_the_offered_permission_is_a_refusal(client: Client) -> None:
    async def fail() -> None:
        raise RemoteError(-32000, "no")

    for answer in (
        SelectedPermissionOutcome(option_id="reject"),
        SelectedPermissionOutcome(option_id="never offered"),
        CancelledPermissionOutcome(),
        OtherRequestPermissionOutcome.of({"outcome": "_allowed", "optionId": "allow"}),
        fail,
    ):
        client.answer = answer
        assert await client.turn("echo should not run") == "refusal"
    assert client.output == b""
    assert client.of(TerminalUpdate) == []


@agent_test
async def test_a_turn_can_be_cancelled_while_it_asks(client: Client) -> None:
    async def never() -> None:
        await asyncio.sleep(1000)

    client.answer = never
    await client.prompt("echo should not run")
    await client.until(lambda: client.asked)
    await client.cancel()
    await client.until(lambda: client.ends)
    assert client.ends[0].stop_reason == "cancelled"
    assert client.output == b""


@agent_test
async def test_a_session_is_told_again(client: Client) -> None:
    special = OtherContentBlock.of({"type": "hologram", "z": 1.50})
    await client.turn("printf one; exit 1", special)
    await client.turn("seq 1 300000")
    first, whole = list(client.updates), client.output
    client.updates.clear()
    resume = ResumeSessionRequest(session_id=client.session_id, cwd="/", replay_from=ReplayFromStart())
    await client.conn.request(resume, timeout=30)
    told = list(client.updates)  # all of it came before the answer
    kept = [update for update in first if isinstance(update, (UserMessage, ToolCallUpdate))]
    assert [update for update in told if isinstance(update, (UserMessage, ToolCallUpdate))] == kept
    assert told[-1] == IdleStateUpdate(state="idle", stop_reason="end_turn")
    one, many = (update for update in told if isinstance(update, TerminalUpdate))
    assert one.output.data == b"one"
    assert (one.command, one.exit_status.exit_code) == ("printf one; exit 1", 1)
    assert many.output.data == whole[-KEPT:]
    assert many.exit_status.exit_code == 0
    assert client.output == whole

    client.updates.clear()
    await client.conn.request(ResumeSessionRequest(session_id=client.session_id, cwd="/"), timeout=30)
    assert client.updates == []


@agent_test
async def test_a_session_is_told_again_while_its_turn_runs(client: Client) -> None:
    """A snapshot and the chunks after it are all that was printed: nothing twice, nothing left out."""
    await client.prompt("seq 1 100000")
    await client.until(lambda: client.output)
    resume = ResumeSessionRequest(session_id=client.session_id, cwd="/", replay_from=ReplayFromStart())
    seen = len(client.updates), len(client.output)
    await client.conn.request(resume, timeout=30)
    await client.until(lambda: client.ends)
    snapshots = [update for update in client.updates[seen[0] :] if isinstance(update, TerminalUpdate)]
    expected = "".join(f"{n}\n" for n in range(1, 100_001)).encode()
    assert client.output == expected
    assert expected.startswith(snapshots[0].output.data)
    assert len(snapshots[0].output.data) >= seen[1]


@agent_test
async def test_sessions_are_listed_and_closed(client: Client) -> None:
    first = client.session_id
    second = await client.new("/usr")
    await client.turn("true")
    listed = await client.conn.request(ListSessionsRequest())
    assert {(s.session_id, s.cwd, s.title) for s in listed.sessions} == {(first, "/", None), (second, "/usr", "true")}
    listed = await client.conn.request(ListSessionsRequest(cwd="/usr"))
    assert [s.session_id for s in listed.sessions] == [second]
    await client.prompt("echo $$; exec sleep 1000")
    await client.until(lambda: client.output)
    await client.conn.request(CloseSessionRequest(session_id=second), timeout=30)
    assert client.ends[-1].stop_reason == "cancelled"
    assert is_gone(int(client.output))
    for request in (
        PromptRequest(session_id=second, prompt=[TextContent(text="true")]),
        ResumeSessionRequest(session_id=second, cwd="/"),
        CloseSessionRequest(session_id=second),
    ):
        with pytest.raises(RemoteError) as caught:
            await client.conn.request(request)
        assert caught.value.code == -32002


@agent_test
async def test_what_does_not_fit_is_refused(client: Client) -> None:
    for request, name in (
        (NewSessionRequest(cwd="relative"), "cwd"),
        (ListSessionsRequest(cursor="x"), "cursor"),
        (PromptRequest(session_id=client.session_id, prompt=[]), "prompt"),
    ):
        with pytest.raises(RemoteError, match=name) as caught:
            await client.conn.request(request)
        assert caught.value.code == -32602
    with pytest.raises(RemoteError) as caught:
        await client.conn.request("_t/unknown")
    assert caught.value.code == -32601


@agent_test
async def test_a_folder_that_is_not_there(client: Client) -> None:
    await client.new("/no/such/folder")
    assert await client.turn("pwd") == "end_turn"
    assert client.output == b"acpcore: /no/such/folder: No such file or directory\n"
    assert client.exits[0].exit_code == 127


@agent_test
async def test_a_client_may_go_while_it_is_asked(client: Client) -> None:
    async def never() -> None:
        await asyncio.sleep(1000)

    client.answer = never
    await client.prompt("echo should not run")
    await client.until(lambda: client.asked)


def test_the_end_of_input_ends_commands() -> None:
    pids: list[int] = []

    async def test(client: Client) -> None:
        await client.prompt("trap '' INT TERM HUP; echo $$; sleep 1000 & echo $!; while :; do sleep 1; done")
        await client.until(lambda: client.output.count(b"\n") == 2)
        pids.extend(int(pid) for pid in client.output.split())

    with_agent(test)
    assert all(map(is_gone, pids))


def test_a_terminated_agent_takes_its_commands_with_it() -> None:
    async def main() -> list[int]:
        client = Client()
        async with client.conn as conn:
            await client.new()
            await client.prompt("echo $$ $PPID; exec sleep 1000")
            await client.until(lambda: client.output)
            pids = [int(pid) for pid in client.output.split()]
            os.kill(pids[1], signal.SIGTERM)
            await conn.closed
        return pids

    assert all(map(is_gone, acpcore.run(main())))


def test_an_agent_without_a_client_ends() -> None:
    done = subprocess.run(
        command("agent"), stdin=subprocess.DEVNULL, env=environment(), capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_nothing_in_the_current_folder_is_taken_for_a_module(tmp_path: Path) -> None:
    for name in ("acpcore", "asyncio", "signal", "msgspec"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(99)\n")
    done = subprocess.run(own_agent(), stdin=subprocess.DEVNULL, cwd=tmp_path, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
