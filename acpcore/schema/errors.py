"""What decoding raises."""

from __future__ import annotations

from acpcore.errors import InvalidParams

__all__ = ["InvalidParams"]
