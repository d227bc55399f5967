"""An agent of the standard library alone: ``odd_agent.py MODE`` does in its turn what ``MODE`` says."""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
from typing import Any

SESSION = "odd"


def send(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **value}) + "\n")
    sys.stdout.flush()


def update(kind: str, session: str = SESSION, **members: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": kind, **members}}})


def data(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def chunk(text: str, terminal: str = "t1", **members: Any) -> None:
    update("terminal_output_chunk", terminalId=terminal, data=data(text), **members)


def snapshot(text: str | None, **members: Any) -> None:
    update("terminal_update", terminalId="t1", output=None if text is None else {"data": data(text)}, **members)


def exited(code: int, terminal: str = "t1") -> None:
    update("terminal_update", terminalId=terminal, exitStatus={"exitCode": code})


def state(name: str, **members: Any) -> None:
    update("state_update", state=name, **members)


# --- turns


def plain() -> None:
    """Chunks that cannot be joined: with ``_meta``, with unknown members."""
    chunk("one ", _meta={"n": 1})
    chunk("two ", unknown=True)
    chunk("three")


def snapshots() -> None:
    chunk("ab")
    snapshot("abc")  # goes on where the terminal was
    chunk("d")
    snapshot("cd")  # a window on its end
    snapshot(None)
    chunk("e")
    snapshot("new")
    exited(6)


def several() -> None:
    chunk("a", "t1")
    chunk("b", "t2")
    exited(1, "t1")
    chunk("c", "t2")
    exited(2, "t2")
    update("terminal_output_chunk", session="other", terminalId="t1", data=data("not mine"))


def talk() -> None:
    update("agent_message_chunk", messageId="m1", content={"type": "text", "text": "I would rather not."})


def noise() -> None:
    sys.stdout.write("Warning: something\n")
    update("terminal_output_chunk", terminalId="t1", data="@@")
    update("from_the_future", x=1)
    chunk("ok")
    exited(0)


def ask() -> None:
    options = [{"optionId": "n", "name": "No", "kind": "reject_once"}, {"optionId": "m", "name": "?", "kind": "_maybe"}]
    send(
        {
            "id": "q",
            "method": "session/request_permission",
            "params": {"sessionId": SESSION, "title": "May I?", "options": options},
        }
    )
    outcome = json.loads(sys.stdin.readline())["result"]["outcome"]
    chunk(json.dumps(outcome))
    exited(0)


def killed() -> None:
    chunk("before")
    sys.stderr.write("about to die\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def deaf() -> None:
    """Neither reads nor ends."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid(), file=sys.stderr, flush=True)
    chunk(f"{os.getpid()}\n")
    while True:
        signal.pause()


def refused() -> None:
    """Never called: the prompt gets an error."""


def main(mode: str) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            version = 1 if mode == "old" else 2
            info = {"name": "odd", "version": "1"}
            result = {"protocolVersion": version, "info": info, "capabilities": {"session": {}}}
            send({"id": message["id"], "result": result})
        elif method == "session/new":
            send({"id": message["id"], "result": {"sessionId": SESSION}})
            state("idle")
        elif method == "session/prompt" and mode == "refused":
            send({"id": message["id"], "error": {"code": -32000, "message": "Log in first"}})
        elif method == "session/prompt":
            state("running")
            globals()[mode]()
            send({"id": message["id"], "result": {}})
            state("idle", stopReason="end_turn")


if __name__ == "__main__":
    main(sys.argv[1])
