"""What a channel answers of a large space without looking at all of it: the ends of an index, and an even sample.

Who is found is exact: an index is walked from its end until enough rows pass the gate. How all the others score, which
the policy reads a score against, is told from rows spread evenly over the space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from retentive.stores.postgres.links import Head, Link
from retentive.stores.postgres.rows import Bindings, Row
from retentive.types import Found, Gate

SAMPLE = 1_024  # rows looked at to tell how the whole space scores
OF = {"recent": ("sampled_recent", "walked_recent"), "important": ("sampled_important", "walked_important")}
RARE = 32  # so few of the sample behind a gate that all rows behind it are looked at instead


def spread(head: Head) -> list[int]:
    """Return row numbers that lie evenly over a space."""
    rows: list[int] = np.unique(np.linspace(1, head.last_row, SAMPLE).astype(np.int64)).tolist()
    return rows


def is_large(link: Link, head: Head) -> bool:
    """Say whether a space is so large that not all of it is looked at."""
    return head.memories > link.exact_up_to


def walked(link: Link, head: Head, name: str, gate: Gate, limit: int) -> Found | None:
    """Return the best of a channel from the end of its index; None where too little passes to tell how all score."""
    sampled, from_the_end = OF[name]
    sample = link.rows(sampled, {"rows": spread(head)}, gate)
    if len(sample) < RARE:
        return None
    best = link.rows(from_the_end, {"limit": limit}, gate)
    return found_of(best, [score for (score,) in sample])


def found_of(best: Sequence[Row], sample: Sequence[Any]) -> Found:
    """Return the best rows, with what a sample says of the others."""
    scores = np.array([row[1] for row in best], dtype=np.float64)
    others = np.array(sample, dtype=np.float64)
    together = np.concatenate([scores, others])
    return Found(
        np.array([row[0] for row in best], dtype=np.int64),
        scores,
        len(best) + len(sample),
        float(together.min()),
        float(together.max()),
        float(others.mean()),
    )


def gated(link: Link, head: Head, gate: Gate) -> int:
    """Return how many rows pass a gate; of a large space, unless few do, what the sample says."""
    if is_large(link, head):
        rows = spread(head)
        bound: Bindings = {"rows": rows}
        passing = int(link.value("count_of", bound, gate))
        if passing >= RARE:
            present = int(link.value("present_of", bound))
            return round(head.memories * passing / present)
    return int(link.value("count", gate=gate))
