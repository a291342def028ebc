"""Reinforcement: how being returned to a caller changes what is known of a memory's use. Pure; a runner applies it."""

from __future__ import annotations

from datetime import datetime

from retentive.policy.policy import Reinforcement
from retentive.scoring.counts import decayed_count
from retentive.types import ACCESS_HISTORY, Access


def touched(access: Access, now: datetime, rule: Reinforcement) -> Access:
    """Return the access state after being read at ``now``; the same object where nothing moves.

    Within the refresh floor nothing moves, nor does it for a clock that runs backwards. In second-touch mode the first
    read only leaves a mark, and a second one within the window counts.
    """
    if access.last_at is not None and (now - access.last_at).total_seconds() < rule.refresh_floor_seconds:
        return access
    if rule.refresh_on == "second":
        waited = (now - access.pending_at).total_seconds() if access.pending_at else None
        if waited is None or waited > rule.second_within_hours * 3600:
            return Access(access.last_at, access.count, access.recent, pending_at=now)
        if waited < rule.refresh_floor_seconds:  # a mark that a hot loop moved along would never come of age
            return access
    return read(access, now)


def read(access: Access, now: datetime) -> Access:
    """Count one access at ``now``: the old count first decays to now."""
    last = max(now, access.last_at) if access.last_at else now
    idle = (last - access.last_at).total_seconds() / 86_400 if access.last_at else 0.0
    count = float(decayed_count(access.count, idle)) + 1.0
    return Access(last, count, (*access.recent, last)[-ACCESS_HISTORY:], None)
