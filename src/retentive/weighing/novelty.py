"""How new a text is to a space, by its nearest neighbour's cosine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from retentive.stores.protocol import SpaceStore
from retentive.types import Gate, Vectors

MOST: Final = 16
"""Memories of one writing that are looked up: a search for each is nothing beside a conversation, much beside a bulk
import, whose texts count as new."""
SAID: Final = 0.97  # the cosine from which a text was said before
RELATED: Final = 0.7  # from which it is somewhat known, where an embedder does not say what related texts have


def novelty(
    store: SpaceStore, vectors: Sequence[Vectors], wanted: Sequence[bool], gate: Gate, band: tuple[float, float] | None
) -> list[float | None]:
    """Return how new each is, from 0 (said before) to 1; None where nobody asks. Those written together count too."""
    if len(vectors) > MOST:
        return [None] * len(vectors)
    related = min(band[1] if band else RELATED, SAID - 0.05)
    found: list[float | None] = []
    for at, (vector, asked) in enumerate(zip(vectors, wanted, strict=True)):
        if not asked:
            found.append(None)
            continue
        nearest = store.nearest(vector, gate, 1).scores
        cosines = [float(vector @ other) for other in vectors[:at]] + [float(score) for score in nearest]
        known = (max(cosines, default=0.0) - related) / (SAID - related)
        found.append(1 - min(max(known, 0.0), 1.0))
    return found
