"""Logging in and out, and the ways to do it.

Written by tools/generate_schema.py; changes belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import field

from ..model import JsonObject, Model, Request
from ..other import Other
from .ids import AuthMethodId
from .mcp import EnvVariable

__all__ = [
    "AuthEnvVar",
    "AuthMethod",
    "AuthMethodAgent",
    "AuthMethodEnvVar",
    "AuthMethodTerminal",
    "LoginAuthRequest",
    "LoginAuthResponse",
    "LogoutAuthRequest",
    "LogoutAuthResponse",
    "OtherAuthMethod",
]


class OtherAuthMethod(Other):
    """A ``AuthMethod`` whose ``type`` this version does not know."""

    __slots__ = ()
    tag_field = "type"
    known = frozenset({"agent", "env_var", "terminal"})
    required = ("methodId", "name")


class AuthEnvVar(Model, kw_only=True):
    """A variable to ask the user for; ``secret`` unless told otherwise.

    https://agentclientprotocol.com/protocol/v2/draft/schema#authenvvar
    """

    name: str
    label: str | None = None
    secret: bool = True
    optional: bool = False
    meta: JsonObject | None = None

    __acp_lenient__ = ("label", "secret", "optional", "meta")


class AuthMethodEnvVar(Model, tag_field="type", tag="env_var", kw_only=True):
    """The agent reads credentials from environment variables when it starts.

    https://agentclientprotocol.com/protocol/v2/draft/schema#authmethodenvvar
    """

    method_id: AuthMethodId
    name: str
    vars: list[AuthEnvVar]
    description: str | None = None
    link: str | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("vars", "description", "link", "meta")
    __acp_skip__ = ("vars",)
    __acp_other__ = OtherAuthMethod


class AuthMethodTerminal(Model, tag_field="type", tag="terminal", kw_only=True):
    """The user logs in interactively: the client runs the agent in a terminal with these arguments.

    https://agentclientprotocol.com/protocol/v2/draft/schema#authmethodterminal
    """

    method_id: AuthMethodId
    name: str
    description: str | None = None
    args: list[str] = field(default_factory=list)
    env: list[EnvVariable] = field(default_factory=list)
    meta: JsonObject | None = None

    __acp_lenient__ = ("description", "args", "env", "meta")
    __acp_skip__ = ("args", "env")
    __acp_other__ = OtherAuthMethod


class AuthMethodAgent(Model, tag_field="type", tag="agent", kw_only=True):
    """The agent sees to it by itself.

    https://agentclientprotocol.com/protocol/v2/draft/schema#authmethodagent
    """

    method_id: AuthMethodId
    name: str
    description: str | None = None
    meta: JsonObject | None = None

    __acp_lenient__ = ("description", "meta")
    __acp_other__ = OtherAuthMethod


#: A way to log in, as an agent offers it.
if TYPE_CHECKING:
    AuthMethod: TypeAlias = AuthMethodEnvVar | AuthMethodTerminal | AuthMethodAgent | OtherAuthMethod
else:
    AuthMethod = AuthMethodEnvVar | AuthMethodTerminal | AuthMethodAgent


class LoginAuthResponse(Model, kw_only=True):
    """The login worked.

    https://agentclientprotocol.com/protocol/v2/draft/schema#loginauthresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class LogoutAuthResponse(Model, kw_only=True):
    """Logged out; what becomes of running sessions is open.

    https://agentclientprotocol.com/protocol/v2/draft/schema#logoutauthresponse
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class LoginAuthRequest(Model, Request["LoginAuthResponse"], kw_only=True):
    """Logs in by one of the offered methods.

    https://agentclientprotocol.com/protocol/v2/draft/schema#loginauthrequest
    """

    method_id: AuthMethodId
    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)


class LogoutAuthRequest(Model, Request["LogoutAuthResponse"], kw_only=True):
    """Logs out.

    https://agentclientprotocol.com/protocol/v2/draft/schema#logoutauthrequest
    """

    meta: JsonObject | None = None

    __acp_lenient__ = ("meta",)
