"""The commands and their options. What they do is imported when one is called: starting must be quick."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from enum import Enum
from typing import Annotated, Any

import typer

from .. import __version__

app = typer.Typer(
    name="acpcore",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    subcommand_metavar="COMMAND",
    help="The transport core for the Agent Client Protocol, at work.",
)
COMMAND_FOLLOWS: Any = {"allow_interspersed_args": False}


class Role(str, Enum):
    """Which end the engine is."""

    client = "client"
    agent = "agent"


class Stdio(str, Enum):
    """What an agent's stdin and stdout are."""

    pipe = "pipe"
    socketpair = "socketpair"


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"acpcore {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command(context_settings=COMMAND_FOLLOWS, short_help="Run a command through an agent, show its output.")
def stream(
    command: Annotated[list[str], typer.Argument(help="The program and its arguments.", metavar="COMMAND")],
    pty: Annotated[bool, typer.Option("--pty", help="Run COMMAND on a pseudo-terminal.")] = False,
    agent: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="An agent that speaks ACP v2; acpcore's own if not given."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as one line of JSON on stderr.")] = False,
    stdio: Annotated[
        Stdio, typer.Option(help="What the agent is spoken to over; not every agent accepts a socketpair.")
    ] = Stdio.pipe,
    pipe_size: Annotated[
        int | None,
        typer.Option(metavar="BYTES", min=1, max=0x7FFFFFFF, help="Ask the system to buffer so much each way."),
    ] = None,
) -> None:
    """Run COMMAND in an agent's terminal and write its bytes to stdout, unchanged, as they come.

    The exit status is COMMAND's: 128+n if signal n ended it, 127 if it was not found, 126 if it could not be run. It is
    130 after Ctrl-C, which cancels the turn (a second one leaves at once), 141 if the reader of stdout went away, and
    125 if not COMMAND but the agent or this program failed; stderr then says why.

    Of an agent that uses several terminals all bytes are written as they come; the last one's exit status counts.
    """
    from .stream import Options, main

    options = Options(command=command, agent=_split(agent), pty=pty, json=json, stdio=stdio.value, pipe_size=pipe_size)
    raise typer.Exit(main(options))


def _split(agent: str | None) -> list[str] | None:
    if agent is None:
        return None
    try:
        words = shlex.split(agent)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--agent") from None
    if not words:
        raise typer.BadParameter("is empty", param_hint="--agent")
    return words


@app.command(short_help="Show what an engine makes of recorded bytes.")
def replay(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Recorded bytes of one direction; - reads stdin.")],
    role: Annotated[Role, typer.Option(help="Whose input it is.")] = Role.client,
    pending: Annotated[str, typer.Option(metavar="IDS", help='Ids that count as own calls, as JSON: 1,"1",2')] = "",
    max_frame: Annotated[
        int, typer.Option(metavar="BYTES", min=1, max=0x7F000000, help="The longest line that is taken.")
    ] = 64 * 1024 * 1024,
    chunk: Annotated[
        str, typer.Option(metavar="N|random:SEED", help="Feed N bytes at a time, or random numbers of them.")
    ] = "",
    salvage: Annotated[bool, typer.Option("--salvage", help="Skip noise glued before a message.")] = False,
) -> None:
    """Feed recorded bytes to an engine and print what it makes of them, one JSON object a line.

    Each event in order, one a message, and each line the engine would send. However the bytes are cut, the output is
    the same. The host behind the engine answers known methods and, as an agent, _t/echo at once and _t/slow 50 ms later
    (a file takes no time: when it has ended), and refuses params that do not fit.
    """
    from .replay import Options, main

    options = Options(
        file=file,
        role=role.value,
        pending=pending,
        max_frame=max_frame,
        chunk=chunk,
        salvage=salvage,
    )
    try:
        status = main(options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    raise typer.Exit(status)


@app.command(short_help="Be the example agent.")
def agent() -> None:
    """Be acpcore's example agent, over stdin and stdout: it runs the command of each prompt on a terminal."""
    from .agent import main

    main()


def _fill_descriptors() -> None:
    """If stdin, stdout or stderr are closed, what is opened next would take their place, and libuv gives up at that."""
    fd = os.open(os.devnull, os.O_RDWR)
    while fd <= 2:
        fd = os.dup(fd)
    os.close(fd)


def main() -> None:
    """Run the command line; ends the process."""
    _fill_descriptors()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # until a command knows better, Ctrl-C just ends the process
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
