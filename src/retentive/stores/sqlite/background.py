"""The two channels that do not look at the cue: their answer is known from the last time, but for what changed since.

What passed a gate is one object for as long as the same rows pass (`gates.passed`), so what was found among those is
kept with it. Importance changes with the content, and then so does that object. Accesses change at every recall, but
only ever make a row more recent: the latest are among those that were, and those touched since. Like the other orders
that a cache keeps, this one is not counted as rows scanned: a recall asked again says the same, to the last number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.ranking import ascending
from retentive.stores.sqlite.cache import Cache
from retentive.stores.sqlite.gates import Passed
from retentive.stores.sqlite.order import best, found
from retentive.stores.values import SECOND
from retentive.types import Found

Places: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class _Latest:
    """The latest of what passed, after so many touches; and the place of the one longest untouched."""

    places: Places
    touches: int
    oldest: int


def recent(cache: Cache, gated: Passed, limit: int) -> Found:
    """Return the rows last used or created most recently."""
    if not gated.count or limit <= 0:
        return found(cache, gated.places, gated.of(cache.latest()), 0, gated=gated.count, unit=SECOND)
    key = ("recent", limit)
    held: _Latest | None = gated.answers.get(key)
    touched = _since(cache, held.touches, gated) if held else gated.places
    places = ascending(np.concatenate((held.places, touched))) if held else touched
    if held and not (touched == held.oldest).any():
        oldest = held.oldest
    else:
        oldest = int(gated.places[np.argmin(gated.of(cache.latest()))])
    scores = cache.latest(places)
    order = best(cache, places, scores, limit)
    gated.answers[key] = _Latest(np.sort(places[order]), len(cache.touched), oldest)
    return Found(
        rows=cache.row[places[order]],
        scores=scores[order] / SECOND,
        scanned=len(order),
        low=float(cache.latest(slice(oldest, oldest + 1))[0]) / SECOND,
        high=float(scores.max()) / SECOND,
    )


def _since(cache: Cache, touches: int, gated: Passed) -> Places:
    """Return the places that passed and were touched since so many touches."""
    places = np.concatenate([np.empty(0, dtype=np.int64), *cache.touched[touches:]])
    passed: Places = places[gated.mask[places]]
    return passed


def important(cache: Cache, gated: Passed, limit: int) -> Found:
    """Return the rows of greatest importance."""
    key = ("important", limit)
    held: Found | None = gated.answers.get(key)
    if held is None:
        held = found(cache, gated.places, gated.of(cache.importance), limit, gated=gated.count)
        gated.answers[key] = held = replace(held, scanned=len(held.rows))
    return replace(held, rows=held.rows.copy(), scores=held.scores.copy())
