"""What a ranked answer is worth against labelled evidence: pure functions over ids, each in 0..1.

Gains are binary, for the sets label evidence and not its degree. ``gold`` is never empty here: a question without
evidence has no recall, and the runner reports it apart instead of counting it as a success or a failure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from retentive.errors import InvalidInput

NDCG_DEPTH = 10


def any_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 when at least one gold id is among the first ``k``."""
    return float(not _gold(gold).isdisjoint(ranked[:k]))


def all_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 when every gold id is among the first ``k`` (so 0 wherever there are more than ``k``)."""
    return float(_gold(gold).issubset(ranked[:k]))


def frac_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of the gold ids among the first ``k``: what papers call recall@k."""
    wanted = _gold(gold)
    return len(wanted.intersection(ranked[:k])) / len(wanted)


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Return 1/rank of the first gold id, 0 when none was returned (its mean over questions is the MRR)."""
    wanted = _gold(gold)
    return next((1 / rank for rank, memory_id in enumerate(ranked, start=1) if memory_id in wanted), 0.0)


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int = NDCG_DEPTH) -> float:
    """Return ``Σ 1/log2(1 + rank)`` over the gold ids in the first ``k``, divided by the best that any ranking has.

    The best ranking has ``min(k, |gold|)`` gold ids in front: evidence that was not found costs as much as evidence
    ranked last, whether or not a channel brought it up.
    """
    wanted = _gold(gold)
    gained = math.fsum(
        _discount(rank) for rank, memory_id in enumerate(_once(ranked)[:k], start=1) if memory_id in wanted
    )
    return gained / math.fsum(map(_discount, range(1, min(k, len(wanted)) + 1)))


def newest_first(ranked: Sequence[str], current: Collection[str], outdated: Collection[str]) -> float:
    """Return 1 when a current fact ranks above every outdated one; an answer with neither is no success."""
    ranks = {memory_id: rank for rank, memory_id in reversed(list(enumerate(ranked)))}
    best = min((ranks[memory_id] for memory_id in current if memory_id in ranks), default=math.inf)
    stale = min((ranks[memory_id] for memory_id in outdated if memory_id in ranks), default=math.inf)
    return float(best < stale)


def ranking_metrics(ks: Iterable[int]) -> dict[str, Callable[[Sequence[str], Collection[str]], float]]:
    """Return the metrics that are always printed together, by name, in the order they are printed."""
    depths = sorted(set(ks))
    table: dict[str, Callable[[Sequence[str], Collection[str]], float]] = {}
    for name, metric in (("any", any_at), ("all", all_at), ("frac", frac_at)):
        table |= {f"{name}@{k}": partial(metric, k=k) for k in depths}
    return table | {"mrr": reciprocal_rank, f"ndcg@{NDCG_DEPTH}": ndcg_at}


def mean_of(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Average each metric over the questions; exact summation, so that the order of the questions changes nothing."""
    return {name: math.fsum(row[name] for row in rows) / len(rows) for name in rows[0]} if rows else {}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least ``share`` of the values do not exceed (nearest rank); 0 of nothing."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _discount(rank: int) -> float:
    return 1 / math.log2(1 + rank)


def _once(ranked: Sequence[str]) -> list[str]:
    """An id returned twice gains once: a system cannot raise its score by repeating itself."""
    return list(dict.fromkeys(ranked))


def _gold(gold: Collection[str]) -> frozenset[str]:
    if not gold:
        raise InvalidInput("gold is empty: a question without evidence has no recall; leave it out and count it apart.")
    return frozenset(gold)
