"""What clients on other SDKs report of an agent on acpcore, and what has to be in it."""

from __future__ import annotations

import hashlib

import work
from peers import Step

TURNS = ("work", "wait", "ask")

# What acp_agent.py replays after the three turns: the last two were cancelled, one at work and one while it asked.
REPLAYED = [
    *(kind for kind in work.KINDS if kind != "state_update"),
    *("user_message", "terminal_output_chunk"),
    *("user_message", "tool_call_update"),
]

# For acpcore's example agent, which runs commands.
COMMANDS = {"WORK_TEXT": "seq 1 20000; exit 3", "WAIT_TEXT": "echo waiting; exec sleep 600"}
PRINTED = b"".join(b"%d\n" % number for number in range(1, 20001))


def named(steps: list[Step], name: str) -> Step:
    """The only step of that name."""
    (step,) = (step for step in steps if step["step"] == name)
    return step


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def answers(steps: list[Step]) -> list[object]:
    """How the client took the answers to its prompts: the result, or the name of its error."""
    found = [named(steps, f"{turn} answered") for turn in TURNS]
    return [step["error"]["name"] if "error" in step else step.get("result") for step in found]


def check_turns(steps: list[Step]) -> None:
    """A conversation with acp_agent.py: every update of the work, every byte of the terminal."""
    assert named(steps, "initialize")["result"]["protocolVersion"] == 2
    worked = named(steps, "work")
    assert (worked["kinds"], worked["sizes"], worked["stopReason"]) == (work.KINDS, work.CUTS, "end_turn")
    assert worked["sha256"] == digest(b"".join(work.chunks()))
    asked = [step["params"] for step in steps if step["step"] == "permission"]
    assert [request["subject"]["toolCall"]["toolCallId"] for request in asked] == ["call-1"] * 2
    _check_cancelled(steps, b"waiting")
    _check_the_end(steps, REPLAYED, -32602)


def check_commands(steps: list[Step]) -> None:
    """The same with acpcore's example agent and ``COMMANDS``."""
    worked = named(steps, "work")
    assert (sum(worked["sizes"]), worked["sha256"]) == (len(PRINTED), digest(PRINTED))
    assert (worked["kinds"][0], worked["kinds"][-1], worked["stopReason"]) == (
        "user_message",
        "state_update",
        "end_turn",
    )
    commands = [step["params"]["subject"]["command"] for step in steps if step["step"] == "permission"]
    assert commands == [COMMANDS["WORK_TEXT"], COMMANDS["WAIT_TEXT"], COMMANDS["WORK_TEXT"]]
    _check_cancelled(steps, b"waiting\n")
    replayed = named(steps, "replay")["wire"][:-1]
    assert replayed.count("user_message") == 3
    assert replayed.count("terminal_update") == 2  # a snapshot of each terminal that there was
    _check_the_end(steps, replayed, -32002)


def _check_cancelled(steps: list[Step], output: bytes) -> None:
    waited, asked = named(steps, "wait"), named(steps, "ask")
    assert (waited["stopReason"], asked["stopReason"]) == ("cancelled", "cancelled")
    assert (waited["sha256"], asked["sizes"]) == (digest(output), [])


def _check_the_end(steps: list[Step], replayed: list[str], gone: int) -> None:
    """The replay stands in front of its answer, a closed session takes no prompt, the agent leaves by itself."""
    assert "result" in named(steps, "resume")
    wire = named(steps, "replay")["wire"]
    assert wire[:-1] == replayed
    assert wire[-1].startswith("answer ")
    assert named(steps, "close")["result"] == {}
    assert named(steps, "after close")["error"]["code"] == gone
    assert named(steps, "unknown method")["error"]["code"] == -32601
    assert (named(steps, "exit")["code"], named(steps, "exit")["signal"]) == (0, None)
