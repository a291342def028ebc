"""BM25 with the statistics of the space: postings and frequencies are tables, the score is every store's own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from retentive.stores.postgres import large
from retentive.stores.postgres.channels import NOTHING, ranked
from retentive.stores.postgres.keys import token_of
from retentive.stores.postgres.links import Head, Link
from retentive.stores.postgres.rows import Bindings, bigints
from retentive.stores.ranking import bm25, distinct, idf
from retentive.stores.sqlite.tokens import SEPARATOR, encode_term
from retentive.types import Floats, Found, Gate, RowIds

MARGIN = 64  # rows scored again beyond those asked for: the server sums in an order of its own


class Question:
    """Terms as this space weighs them: each once, in the order asked, those that no row has left out."""

    def __init__(self, link: Link, head: Head, terms: Sequence[str]) -> None:
        self._head = head
        asked = [token_of(term) for term in distinct([encode_term(term) for term in terms])]
        self.having: dict[int, int] = dict(link.rows("frequencies", {"tokens": asked}))
        self.tokens = [token for token in asked if token in self.having]
        self.weights = [idf(head.memories, self.having[token]) for token in self.tokens]

    def bindings(self) -> Bindings:
        """Return what the statements of a search are bound to."""
        return {"tokens": self.tokens, "weights": self.weights, "mean": self._head.mean_length}

    def scores(self, link: Link, rows: Sequence[int]) -> dict[int, float]:
        """Return the exact score of each row that has any of the terms."""
        counts: dict[int, dict[int, int]] = defaultdict(dict)
        lengths: dict[int, int] = {}
        for row, token, count, length in link.rows("postings_of_rows", {"tokens": self.tokens, "rows": list(rows)}):
            counts[row][token] = count
            lengths[row] = length
        return {row: self._score(counts[row], lengths[row]) for row in counts}

    def _score(self, counts: Mapping[int, int], length: int) -> float:
        return bm25(self.weights, [counts.get(token, 0) for token in self.tokens], length, self._head.mean_length)


def matching(link: Link, head: Head, terms: Sequence[str], gate: Gate, limit: int) -> Found:
    """Return the rows of highest BM25 for any of the terms."""
    question = Question(link, head, terms)
    if not question.tokens:
        return NOTHING
    most = max(limit, 0)
    rows = link.rows("matching", {**question.bindings(), "limit": 2 * most + MARGIN}, gate)
    count, low, mean = rows[0][:3]
    if not count:
        return NOTHING
    exact = question.scores(link, [row[3] for row in rows])
    scores = np.array([exact[row[3]] for row in rows])
    chosen, ordered = ranked([(None, *row[2:]) for row in rows], scores, most)
    gated = _gated(link, head, question, gate, count)
    least = min(float(low), float(scores.min())) if count == gated else 0.0
    return Found(chosen, ordered, int(count), least, float(scores.max()), float(mean) * count / gated)


def _gated(link: Link, head: Head, question: Question, gate: Gate, matched: int) -> int:
    """Return how many rows pass; where the terms cannot have reached them all, more than matched is all that counts."""
    if sum(question.having.values()) < head.memories and gate.hidden:
        return max(head.memories, matched + 1)
    return max(matched, large.gated(link, head, gate))


def term_scores(link: Link, head: Head, terms: Sequence[str], rows: RowIds) -> Floats:
    """Return the exact BM25 of these rows, 0 where none of the terms matches."""
    question = Question(link, head, terms)
    listed = bigints(rows)
    scores = question.scores(link, listed) if question.tokens else {}
    return np.array([scores.get(row, 0.0) for row in listed], dtype=np.float64)


def term_weights(link: Link, head: Head, terms: Sequence[str]) -> Floats:
    """Return each term's idf in this space."""
    tokens = [token_of(encode_term(term)) for term in terms]
    having: dict[int, int] = dict(link.rows("frequencies", {"tokens": tokens}))
    return np.array([idf(head.memories, having.get(token, 0)) for token in tokens], dtype=np.float64)


def counted(line: str) -> Counter[int]:
    """Return how often each token stands in a memory's line of terms."""
    return Counter(map(token_of, line.split(SEPARATOR))) if line else Counter()
