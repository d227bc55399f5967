"""Every error acpcore raises. Who broke the rule is in the type: the peer (``ProtocolError``) or the caller
(``UsageError``).
"""

from __future__ import annotations

from typing import Any, Final


class AcpError(Exception):
    """The root of all errors of this package."""


class UsageError(AcpError):
    """The caller did something that cannot be done: wrong arguments, wrong thread, a closed object."""


class ProtocolError(AcpError):
    """The peer broke a rule of JSON-RPC or ACP, and this is how a call that depended on it fails."""


class InvalidParams(ProtocolError):
    """Params or a result that are JSON but not of the type they must have.

    ``path`` (str) names the member in wire names, as ``update.content`` or ``prompt[0].text``; it is empty for the
    whole value. ``reason`` (str) says what is wrong with it. Neither ever quotes the payload, so both may be sent.
    """

    #: The JSON-RPC code to answer with.
    code: Final = -32602

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


class RemoteError(AcpError):
    """The peer answered a call with an error.

    ``code`` is the JSON-RPC error code (int), ``message`` its text, ``data`` whatever the peer put beside it
    (decoded JSON, or ``None``).  https://agentclientprotocol.com/protocol/v2/draft/schema#error
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class RequestCancelled(RemoteError):
    """The peer answered a call with ``-32800``: it was cancelled."""


class Overrun(AcpError):
    """A bound was reached and nobody made room in time; the text names who stood still. The connection lives on."""


class ConnectionClosed(AcpError):
    """The connection ended.

    ``reason`` is a short sentence; ``exit_code`` (int) and ``signal`` (name, as ``"SIGKILL"``) tell how a child
    process ended; ``stderr_tail`` (bytes) is the last part of what it wrote to stderr; ``unsent`` says how many
    bytes that had been admitted did not go out.
    """

    def __init__(
        self,
        reason: str,
        *,
        exit_code: int | None = None,
        signal: str | None = None,
        stderr_tail: bytes = b"",
        unsent: int = 0,
    ) -> None:
        super().__init__(_describe(reason, exit_code, signal, stderr_tail))
        self.reason = reason
        self.exit_code = exit_code
        self.signal = signal
        self.stderr_tail = stderr_tail
        self.unsent = unsent

    def copy(self) -> ConnectionClosed:
        """A fresh instance: one that is raised in many tasks would gather all their tracebacks."""
        return ConnectionClosed(
            self.reason,
            exit_code=self.exit_code,
            signal=self.signal,
            stderr_tail=self.stderr_tail,
            unsent=self.unsent,
        )


def _describe(reason: str, exit_code: int | None, signal: str | None, stderr_tail: bytes) -> str:
    parts = [reason]
    if exit_code is not None:
        parts.append(f"exit code {exit_code}")
    if signal is not None:
        parts.append(f"signal {signal}")
    lines = stderr_tail.decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    if last:
        parts.append(f"stderr: {last[-200:]}")
    return "; ".join(parts)
