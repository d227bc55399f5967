"""What is accepted and sent: one ``Profile`` says it all."""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ["ALPHA2", "PROFILES", "STRICT", "TOLERANT", "Profile"]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """A named set of choices.

    ``lenient``: members the schema marks so fall back to their default and bad list items are dropped (each is told to
    ``on_dropped``); without it they are errors. ``later``: members that drafts after alpha.2 send are kept where this
    version has a place for them (see ``acpcore.schema.later``). ``batches``: JSON-RPC arrays are taken. ``null_ids``:
    a request may come with the id ``null``. The last two are for whoever frames messages; decoding ignores them.
    """

    name: str
    lenient: bool = True
    later: bool = False
    batches: bool = True
    null_ids: bool = True


#: Schema 2.0.0-alpha.2 to the letter.
ALPHA2: Final = Profile(name="alpha2")
#: The same, without forgiveness: whatever leniency would drop is an error.
STRICT: Final = Profile(name="strict", lenient=False)
#: Also takes what peers of later drafts send, and refuses batches as they do.
TOLERANT: Final = Profile(name="tolerant", later=True, batches=False)

PROFILES: Final = {profile.name: profile for profile in (ALPHA2, STRICT, TOLERANT)}
