"""The channels: each asks the server for its best, and settles here what must come out as in every other store."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import numpy as np

from retentive.stores.postgres import large
from retentive.stores.postgres.keys import key_of
from retentive.stores.postgres.links import Head, Link
from retentive.stores.postgres.rows import Bindings, Row
from retentive.stores.ranking import cosines, distinct
from retentive.stores.values import as_vector, micros, storable
from retentive.types import Floats, Found, Gate, RowIds, Vectors

MARGIN = 64  # rows looked at again beyond those asked for: single precision may order near ties otherwise
NOTHING = Found(np.empty(0, dtype=np.int64), np.empty(0))


def found_in(rows: list[Row], *, gated: int | None = None) -> Found:
    """Return what `head_of_scored` answered; ``gated`` rows passed, of which those not scored count as 0."""
    scanned, low, high, mean = rows[0][:4]
    best = [row for row in rows if row[4] is not None]
    if gated is not None and scanned < gated:
        low, high, mean = min(low, 0.0), max(high, 0.0), mean * scanned / gated
    return Found(
        rows=np.array([row[4] for row in best], dtype=np.int64),
        scores=np.array([row[5] for row in best], dtype=np.float64),
        scanned=scanned,
        low=float(low),
        high=float(high),
        mean=float(mean),
    )


def ordered(link: Link, head: Head, name: str, gate: Gate, limit: int) -> Found:
    """Return the best of a channel that does not look at the cue: `recent` or `important`."""
    most = max(limit, 0)
    found = large.walked(link, head, name, gate, most) if large.is_large(link, head) else None
    return found_in(link.rows(name, {"limit": most}, gate)) if found is None else found


def within(link: Link, head: Head, span: tuple[datetime, datetime], gate: Gate, limit: int) -> Found:
    """Return rows created in a span, nearest to its middle first."""
    first, last = map(micros, span)
    if first >= last:
        return NOTHING
    bindings = {"first": first, "last": last, "limit": max(limit, 0)}
    return found_in(link.rows("within", bindings, gate), gated=large.gated(link, head, gate))


def mentioning(link: Link, head: Head, entities: Sequence[str], gate: Gate, limit: int) -> Found:
    """Return rows that mention any of the entities."""
    keys = [key_of(entity) for entity in distinct(entities) if storable(entity)]
    mentions: dict[UUID, int] = dict(link.rows("mentions", {"entities": keys}))
    known = [key for key in keys if key in mentions]
    weights = [1 / math.log(1 + mentions[key]) for key in known]
    bindings: Bindings = {"entities": known, "weights": weights, "limit": max(limit, 0)}
    if not known:
        return NOTHING
    return found_in(link.rows("mentioning", bindings, gate), gated=large.gated(link, head, gate))


def nearest(link: Link, head: Head, vector: Vectors, gate: Gate, limit: int) -> Found:
    """Return the rows of highest cosine: the server's single precision chooses, double precision decides."""
    vector = as_vector(vector, head.dimension)
    if not head.memories:
        return NOTHING
    most = max(limit, 0)
    bindings = {"vector": vector, "limit": 2 * most + MARGIN, "tail": MARGIN}
    rows = link.rows("nearest", bindings, gate)
    count, mean = rows[0][:2]
    if not count:
        return NOTHING
    scores = cosines(np.stack([row[5] for row in rows]), vector)
    best = np.flatnonzero([row[6] for row in rows])
    chosen, ordered = ranked([rows[place] for place in best], scores[best], most)
    return Found(chosen, ordered, int(count), float(scores.min()), float(scores.max()), float(mean))


def ranked(rows: Sequence[Row], scores: Floats, limit: int) -> tuple[RowIds, Floats]:
    """Order rows whose columns 2 to 4 are row, creation and id: by score, then newer creation, then id."""
    order = sorted(range(len(rows)), key=lambda place: (-scores[place], -rows[place][3], rows[place][4]))[:limit]
    return np.array([rows[place][2] for place in order], dtype=np.int64), scores[order]
