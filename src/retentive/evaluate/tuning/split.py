"""Splits: which questions are learnt from and which only judge. What was asked twice never stands on both sides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from retentive.evaluate.tuning.world import Labelled


def held_out(questions: Sequence[Labelled], share: float, seed: int) -> tuple[list[Labelled], list[Labelled]]:
    """Return the questions to learn from, and the rest that only judges: about ``share`` of them."""
    chosen: set[int] = set()
    for group in _shuffled(questions, seed):
        if len(chosen) >= share * len(questions):
            break
        chosen.update(group)
    kept = [one for at, one in enumerate(questions) if at not in chosen]
    return kept, [one for at, one in enumerate(questions) if at in chosen]


def folds(questions: Sequence[Labelled], count: int, seed: int) -> list[list[int]]:
    """Return the positions of questions in so many parts of about equal size."""
    parts: list[list[int]] = [[] for _ in range(count)]
    for group in _shuffled(questions, seed):
        min(parts, key=len).extend(group)
    return [sorted(part) for part in parts if part]


def _shuffled(questions: Sequence[Labelled], seed: int) -> list[list[int]]:
    groups: dict[tuple[int, str], list[int]] = {}
    for at, one in enumerate(questions):
        groups.setdefault(one.group, []).append(at)
    ordered = list(groups.values())
    return [ordered[at] for at in np.random.default_rng(seed).permutation(len(ordered))]
