"""How properties are run everywhere: by what they claim, never by how long that takes.

The first text that hypothesis draws in a fresh clone takes it over a second of reading tables, which
its health check takes for a slow strategy; a busy machine does the same to its deadline.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "berthing", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("berthing")
