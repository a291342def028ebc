"""Context: a turn whose neighbours in the same conversation stand out is worth more; an answer follows its question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from retentive.types import Floats, RowIds

FURTHER: Final = 0.7  # a neighbour two turns away counts this much
ANSWER: Final = 1.5  # the previous turn asked something: its margin counts this much for the turn that follows


@dataclass(frozen=True, slots=True)
class Beside:
    """Who stands beside whom: row, its neighbour's row, and how many turns later the neighbour came."""

    rows: RowIds
    others: RowIds
    offsets: RowIds

    @classmethod
    def nothing(cls) -> Self:
        """Return no pairs."""
        empty = np.empty(0, dtype=np.int64)
        return cls(empty, empty, empty)

    def with_pairs(self, triples: RowIds) -> Beside:
        """Add what `SpaceStore.neighbours` found, both ways round."""
        rows, others, offsets = triples.T
        return Beside(
            np.concatenate([self.rows, rows, others]),
            np.concatenate([self.others, others, rows]),
            np.concatenate([self.offsets, offsets, -offsets]),
        )


def best_margins(rows: RowIds, scores: Floats, usual: float, beside: Beside, texts: Mapping[int, str]) -> Floats:
    """Return for each candidate the best margin among its neighbours, by how far they score above the usual.

    ``usual`` is what a random memory of the space would score; ``texts`` are those read, by position.
    """
    margins = np.zeros(len(rows))
    if not len(beside.rows):
        return margins
    above = np.maximum(scores - usual, 0.0)
    mine, theirs, share = shares(rows, beside, texts)
    np.maximum.at(margins, mine, above[theirs] * share)
    return margins


def shares(rows: RowIds, beside: Beside, texts: Mapping[int, str]) -> tuple[RowIds, RowIds, Floats]:
    """Return positions of candidates, of their neighbours, and how much of a neighbour's margin each gets."""
    asks = np.zeros(len(rows), dtype=np.bool_)
    asks[[at for at, text in texts.items() if text.rstrip().endswith("?")]] = True
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    mine, known = _places(ordered, order, beside.rows)
    theirs, known_too = _places(ordered, order, beside.others)
    both = known & known_too
    mine, theirs, offsets = mine[both], theirs[both], beside.offsets[both]
    share = np.where(np.abs(offsets) > 1, FURTHER, 1.0) * np.where((offsets == -1) & asks[theirs], ANSWER, 1.0)
    return mine, theirs, share


def _places(ordered: RowIds, order: RowIds, wanted: RowIds) -> tuple[RowIds, np.typing.NDArray[np.bool_]]:
    """Return where each wanted row stands among the candidates, and whether it does."""
    at = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return order[at], ordered[at] == wanted
