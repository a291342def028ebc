"""Context: a turn whose neighbours in the same conversation stand out is worth more; an answer follows its question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from retentive.scoring.signals import Pool
from retentive.types import Floats

FURTHER: Final = 0.7  # a neighbour two turns away counts this much
ANSWER: Final = 1.5  # the previous turn asked something: its margin counts this much for the turn that follows


def best_margins(
    pool: Pool,
    scores: Floats,
    usual: float,
    beside: Mapping[int, tuple[tuple[int, int], ...]],
    texts: Mapping[int, str],
) -> Floats:
    """Return for each candidate the best margin among its neighbours, by how far they score above the usual.

    ``usual`` is what a random memory of the space would score; ``texts`` are those read, by position.
    """
    margins = np.zeros(len(scores))
    if not beside:
        return margins
    above = np.maximum(scores - usual, 0.0)
    place = {row: i for i, row in enumerate(pool.columns.rows.tolist())}
    for row, pairs in beside.items():
        for other, offset in pairs:
            if row in place and other in place:
                i, j = place[row], place[other]
                margins[i] = max(margins[i], above[j] * _share(offset, texts.get(j, "")))
                margins[j] = max(margins[j], above[i] * _share(-offset, texts.get(i, "")))
    return margins


def _share(offset: int, text: str) -> float:
    """Return what a neighbour at ``offset`` (negative: before) counts; ``text`` is the neighbour's."""
    share = FURTHER if abs(offset) > 1 else 1.0
    return share * ANSWER if offset == -1 and text.rstrip().endswith("?") else share
