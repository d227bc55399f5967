"""The types of ACP v2 (schema 2.0.0-alpha.2), decoding with the mercy the schema asks for, and the table of methods.

    from acpcore.schema import PromptRequest, TextContent, decode, encode, v2

It needs nothing of the engine. https://agentclientprotocol.com/protocol/v2/draft/schema
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from acpcore.errors import InvalidParams

from . import later, methods, v2
from .decoding import decode, decoder
from .encoding import enc_hook, encode
from .kept import kept_members
from .methods import METHODS, Method
from .model import Model, Notification, Request
from .other import Other
from .profiles import ALPHA2, PROFILES, STRICT, TOLERANT, Profile
from .v2 import *  # noqa: F403

__all__ = [
    "ALPHA2",
    "METHODS",
    "PROFILES",
    "STRICT",
    "TOLERANT",
    "UNSET",
    "InvalidParams",
    "Method",
    "Model",
    "Notification",
    "Other",
    "Profile",
    "Request",
    "UnsetType",
    "decode",
    "decoder",
    "enc_hook",
    "encode",
    "kept_members",
    "later",
    "methods",
    "v2",
]
__all__ += v2.__all__
