"""When to try an HTTP request again, and how long to wait before."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

RETRIED = frozenset({408, 409, 429, *range(500, 600)})
FIRST = 0.5
LONGEST = 8.0
LONGEST_ASKED = 60.0
"""Seconds; a server that asks for more will be answered with an error by then anyway."""


def pause_before(attempt: int, retry_after: str | None = None, *, now: datetime | None = None) -> float:
    """Return the seconds to wait after the attempt (from 0): what the server asks for, else doubling with jitter.

    The jitter (half to all of the pause) keeps many clients that failed together from coming back together.
    """
    asked = _asked(retry_after, now or datetime.now(UTC))
    if asked is not None:
        return min(max(asked, 0.0), LONGEST_ASKED)
    return min(FIRST * 2.0**attempt, LONGEST) * random.uniform(0.5, 1.0)  # noqa: S311 -- spreads load, guards nothing


def _asked(retry_after: str | None, now: datetime) -> float | None:
    """Read `Retry-After`: seconds, or an HTTP date; anything else is as good as none."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        return _until(retry_after, now)
    return seconds if math.isfinite(seconds) else None


def _until(retry_after: str, now: datetime) -> float | None:
    try:
        when = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return (when.replace(tzinfo=when.tzinfo or UTC) - now).total_seconds()
