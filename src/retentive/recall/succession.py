"""Succession: of two like memories that state different values, the newer goes first when the cue asks how things are.

Similarity is a coin toss between a fact and its update. The lift is bounded: it closes a small gap between memories of
one speaker on one matter, and never carries anything past a memory that is clearly better.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from retentive.recall.asked import asked
from retentive.recall.cue import Cue
from retentive.recall.ranking import Ranked
from retentive.recall.stance import values_in
from retentive.types import Floats

TOP: Final = 5  # only the head of the list is looked at
ALIKE: Final = 1.06  # on the embedder's calibrated scale: two memories from which they may speak of one matter
ALIKE_AT_MOST: Final = 0.9  # as a cosine, for embedders that were never calibrated
STEP: Final = 1e-6


def succeed(ranked: Ranked, cue: Cue) -> None:
    """Lift a newer memory just above an older one that it resembles, where their scores lie close together."""
    reach = ranked.policy.modifiers.succession
    if not reach or not cue.wants_current or ranked.policy.combine == "product":
        return
    stated = cue.intent is not None and cue.intent.direction == "current"
    if ranked.policy.modifiers.claims and not stated and asked(cue.utterance) is not None:
        return  # what a sentence states tells more than likeness: `updates`
    top = ranked.order()[:TOP]
    if len(top) < 2:
        return
    lifts = _lifts(ranked, top, reach, any_matter=stated)
    if lifts.any():
        amounts = np.zeros(len(ranked.scores))
        amounts[top] = lifts
        ranked.add("succession", amounts)


def _lifts(ranked: Ranked, top: list[int], reach: float, *, any_matter: bool) -> Floats:
    """Return how far each is lifted; a cue that says "currently" need not be about a value that can be seen."""
    columns = ranked.evidence.columns
    created, scores = columns.created[top], ranked.scores[top]
    vectors = columns.vectors[top].astype(np.float64)
    gap = scores[None, :] - scores[:, None]  # [i, j]: how far j stands above i
    newer = created[:, None] > created[None, :]
    low, high = ranked.evidence.pool.bands["similarity"]
    alike = vectors @ vectors.T >= min(low + ALIKE * (high - low), ALIKE_AT_MOST)
    matter = newer & alike & (any_matter | _revised(ranked, top))
    lifts: Floats = np.where(matter & (gap >= 0) & (gap <= reach), gap + STEP, 0.0).max(axis=1)
    return lifts


def _revised(ranked: Ranked, top: list[int]) -> np.typing.NDArray[np.bool_]:
    """Whether both of two memories, of one speaker, state values and state them differently."""
    values = [values_in(ranked.evidence.texts.get(i, "")) for i in top]
    speakers = [ranked.evidence.columns.speakers[i] for i in top]
    return np.array(
        [
            [bool(a and b) and a != b and s == t for b, t in zip(values, speakers, strict=True)]
            for a, s in zip(values, speakers, strict=True)
        ],
        dtype=np.bool_,
    )
