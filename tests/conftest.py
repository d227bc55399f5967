"""Settings every test shares: a moderate hypothesis profile by default, a long one with ACPCORE_FULL=1."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("moderate", max_examples=200, deadline=None, suppress_health_check=_QUIET, print_blob=True)
settings.register_profile("full", settings.get_profile("moderate"), max_examples=5000)
settings.load_profile("full" if os.environ.get("ACPCORE_FULL") == "1" else "moderate")
