"""The command line: ``acpcore`` and ``python -m acpcore``."""

from .main import main

__all__ = ["main"]
