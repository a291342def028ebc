"""Of a turn and what was taken from it, an answer holds one."""

from __future__ import annotations

import pytest
from facade_making import CUE, Opening, by_similarity, cosines, ids

from retentive import Space

COSINES = {"turn": 0.8, "fact": 0.7, "other": 0.6, "insight": 0.5, "late": 0.4}


def told(opening: Opening, **cosine: float) -> Space:
    space = opening(embedder=cosines({**COSINES, **cosine})).space("s")
    space.remember("turn", id="turn", kind="episode")
    space.remember("fact", id="fact", kind="fact", derived_from=["turn"])
    space.remember("other", id="other", kind="episode")
    space.remember("insight", id="insight", kind="reflection", derived_from=["turn", "other"])
    space.remember("late", id="late", kind="preference", derived_from=["turn"])
    return space


@pytest.mark.parametrize(
    ("fact", "wanted", "gone"),
    [(0.7, ["turn", "other", "insight"], {"fact": "turn", "late": "turn"}),
     (0.9, ["fact", "other", "insight", "late"], {"turn": "fact"})],
)  # fmt: skip
def test_the_better_one_stays(opening: Opening, fact: float, wanted: list[str], gone: dict[str, str]) -> None:
    """And the trace says whom the other retells; a conclusion retells nobody."""
    recall = told(opening, fact=fact).recall(CUE, policy=by_similarity(near_duplicate=0.95), touch=False)
    assert ids(recall) == wanted
    cuts = {cut.id: (cut.stage, cut.reason) for cut in recall.trace.cut}
    assert cuts == {name: ("near-duplicate", f"retells {other}") for name, other in gone.items()}


def test_policies_that_collapse_nothing_keep_both(opening: Opening) -> None:
    """As the presets of the literature do."""
    recall = told(opening).recall(CUE, policy=by_similarity(near_duplicate=None), touch=False)
    assert ids(recall) == ["turn", "fact", "other", "insight", "late"]
