"""Run a coroutine on each kind of loop, and let nothing be left behind.

``@pytest.mark.parametrize("kind", LOOPS)`` and ``run(kind, main)``; ``main`` is a coroutine function without arguments.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import uvloop

T = TypeVar("T")

LOOPS = ["asyncio", "uvloop"]


def new_loop(kind: str) -> asyncio.AbstractEventLoop:
    """A new loop of that kind, whatever policy is set."""
    return uvloop.new_event_loop() if kind == "uvloop" else asyncio.SelectorEventLoop()


def run(kind: str, main: Callable[[], Coroutine[Any, Any, T]], *, timeout: float = 30.0) -> T:
    """What ``main()`` returns. It fails after ``timeout`` seconds, on a task left pending, and on anything reported."""
    loop = new_loop(kind)
    reports: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: reports.append(context))
    try:
        asyncio.set_event_loop(loop)
        result = loop.run_until_complete(asyncio.wait_for(main(), timeout))
        loop.run_until_complete(asyncio.sleep(0))
        pending = asyncio.all_tasks(loop)
        gc.collect()  # tells of exceptions that were never retrieved
        assert not pending, f"tasks left behind: {pending}"
        assert not reports, f"reported to the loop: {reports}"
        return result
    finally:
        _wind_up(loop)


def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    try:
        pending = asyncio.all_tasks(loop)
        for task in pending:
            task.cancel()
        if pending:
            loop.run_until_complete(asyncio.wait(pending))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
