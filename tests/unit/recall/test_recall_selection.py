"""Selection: near-duplicates, kinds, MMR, the reranker, the token budget, and a reason for everything cut."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from facade_making import CUE, Clock, Opening, by_similarity, cosines, ids, only, texts

from retentive import Space
from retentive.errors import InvalidInput
from retentive.testing.fakes import HashEmbedder, MappedEmbedder

LADDER = {f"m{n}": 0.9 - n / 10 for n in range(8)}


def ladder(opening: Opening, **options: Any) -> Space:
    """Eight memories at cosines 0.9, 0.8, … 0.2."""
    space = opening(embedder=cosines(LADDER), **options).space("a")
    for name in LADDER:
        space.remember(name, id=name)
    return space


def test_near_duplicates_collapse_to_the_best(opening: Opening) -> None:
    """Of two that say one thing the better stays and the cut names it; another kind is another thing."""
    twins = {"first": [0.9, 0.4359, 0.0], "second": [0.88, 0.4750, 0.0], "other": [0.5, -0.5, 0.7071]}
    space = opening(embedder=MappedEmbedder({CUE: [1, 0, 0], **twins})).space("a")
    for text in twins:
        space.remember(text, id=text)
    policy = by_similarity(near_duplicate=0.95)
    recall = space.recall(CUE, policy=policy)
    assert ids(recall) == ["first", "other"]
    assert [(c.id, c.stage, c.reason) for c in recall.trace.cut] == [
        ("second", "near-duplicate", "says what first says")
    ]
    space.update("second", kind="event")
    assert ids(space.recall(CUE, policy=policy)) == ["first", "second", "other"]


def test_a_quota_lets_no_kind_flood_the_answer(opening: Opening) -> None:
    """At most half of one kind while others wait; then they fill up."""
    space = ladder(opening)
    space.update("m6", kind="event")
    space.update("m7", kind="decision")
    recall = space.recall(CUE, policy=by_similarity(diversity="quota", limit=4))
    assert ids(recall) == ["m0", "m1", "m6", "m7"]
    assert {cut.id for cut in recall.trace.cut if cut.stage == "diversity"} == {"m2", "m3"}
    assert ids(space.recall(CUE, policy=by_similarity(diversity="quota", limit=6))) == [
        "m0",
        "m1",
        "m2",
        "m6",
        "m7",
        "m3",
    ]


def test_balanced_kinds_give_way_only_to_nearly_as_good(opening: Opening) -> None:
    """A kind that waits goes first where it scores at least 0.8 of what it displaces."""
    space = ladder(opening)
    space.update("m3", kind="event")
    space.update("m7", kind="decision")
    recall = space.recall(CUE, policy=by_similarity(diversity="balanced", limit=4))
    assert ids(recall) == ["m0", "m1", "m3", "m2"]


def test_mmr_is_greedy_by_the_formula(opening: Opening) -> None:
    """λ·score − (1−λ)·greatest cosine to what was chosen, step by step."""
    import numpy as np

    rng = np.random.default_rng(5)
    rows = {f"m{n}": rng.normal(size=6) for n in range(15)}
    space = opening(embedder=MappedEmbedder({CUE: np.eye(6)[0], **rows})).space("a")
    for text in rows:
        space.remember(text, id=text)
    unit = {text: row / np.linalg.norm(row) for text, row in rows.items()}
    chosen: list[str] = []
    while len(chosen) < 6:
        left = [text for text in rows if text not in chosen]
        gain = {t: 0.6 * unit[t][0] - 0.4 * max((float(unit[t] @ unit[c]) for c in chosen), default=0.0) for t in left}
        chosen.append(max(gain, key=lambda text: gain[text]))
    recall = space.recall(CUE, policy=by_similarity(diversity="mmr", balance=0.6, limit=6))
    assert ids(recall) == chosen


def test_the_limit_cuts_with_the_place(opening: Opening) -> None:
    """Whoever was just beyond the limit is shown with rank and score."""
    recall = ladder(opening).recall(CUE, policy=by_similarity(limit=3))
    assert [(cut.id, cut.reason) for cut in recall.trace.cut[:2]] == [
        ("m3", "ranked 4 with a limit of 3"),
        ("m4", "ranked 5 with a limit of 3"),
    ]


class Judge:
    """A reranker that answers what it was told."""

    id = "judge"

    def __init__(self, answer: Any) -> None:
        self.answer, self.asked = answer, list[tuple[str, list[str]]]()

    def score(self, query: str, texts: Sequence[str]) -> Any:
        self.asked.append((query, list(texts)))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer(texts) if callable(self.answer) else self.answer


def backwards(texts: Sequence[str]) -> list[float]:
    return [float(place) for place in range(len(texts))]


PATIENT = by_similarity(rerank_ms=60_000.0, limit=8)


def test_a_reranker_orders_and_the_scores_still_explain(opening: Opening) -> None:
    """The blend's own scores are handed out anew: sorted, reproduced, and said in the notes."""
    recall = ladder(opening, reranker=Judge(backwards)).recall(CUE, policy=PATIENT)
    assert ids(recall) == [f"m{n}" for n in reversed(range(8))]
    assert [hit.score for hit in recall] == pytest.approx([0.9 - n / 10 for n in range(8)], abs=1e-6)
    assert all(hit.reproduced() == hit.score for hit in recall)
    assert "Reordered by 'judge'." in recall.trace.notes


@pytest.mark.parametrize("combine", ["sum", "product"])
def test_a_reranker_settles_ties(opening: Opening, combine: str) -> None:
    """Where the blend sees no difference, the reranker's order is the answer."""
    judge = Judge(lambda texts: [float(text[1:]) for text in texts])
    space = ladder(opening, reranker=judge)
    recall = space.recall(CUE, policy=only("importance", combine=combine, rerank_ms=60_000.0))
    assert ids(recall) == [f"m{n}" for n in reversed(range(8))]
    assert len({hit.score for hit in recall}) == 1


def test_a_reranker_cannot_lift_the_untrusted(opening: Opening) -> None:
    """What is trusted 0 scores 0 whatever a cross-encoder thinks of it, with and without a sum."""
    for combine in ("sum", "product"):
        space = opening(embedder=cosines(LADDER), reranker=Judge(backwards)).space(combine)
        for n, name in enumerate(LADDER):
            space.remember(name, id=name, trust=0.0 if n == 7 else 0.5 if n == 6 else 1.0)
        recall = space.recall(CUE, policy=PATIENT.replace(combine=combine))
        assert ids(recall) == ["m6", "m5", "m4", "m3", "m2", "m1", "m0", "m7"]
        assert recall[7].score == 0.0
        assert all(hit.reproduced() == pytest.approx(hit.score, abs=1e-12) for hit in recall)


def test_a_reranker_reads_the_users_words_and_a_bounded_top(opening: Opening) -> None:
    """It is asked with the utterance, about at most twenty texts."""
    judge = Judge(backwards)
    space = opening(reranker=judge).space("a")
    space.remember_many([f"tea {n}" for n in range(50)])
    space.recall("tea", utterance="which tea?", policy=by_similarity(rerank_ms=60_000.0, limit=50))
    assert [(query, len(read)) for query, read in judge.asked] == [("which tea?", 20)]


FAILURES: list[tuple[Any, str]] = [
    (RuntimeError("out of memory"), "RuntimeError: out of memory"),
    ([1.0, 2.0], "2 scores for 8 texts"),
    ([float("nan")] * 8, "not finite"),
    (["high"] * 8, "no number"),
    (None, "TypeError"),
]


@pytest.mark.parametrize(("answer", "says"), FAILURES, ids=[says for _, says in FAILURES])
def test_a_reranker_that_fails_leaves_the_blend(opening: Opening, answer: Any, says: str) -> None:
    """Same hits, same scores as without one; the note says why."""
    space = ladder(opening, reranker=Judge(answer))
    recall = space.recall(CUE, policy=PATIENT, touch=False)
    assert ids(recall) == list(LADDER)
    assert all("rerank" not in hit.signals for hit in recall)
    assert any("left out, the blend's order stays" in note and says in note for note in recall.trace.notes)


def test_a_reranker_that_hangs_leaves_the_blend(opening: Opening) -> None:
    """At the deadline the answer goes out as it was; the next recall does not wait for it again."""
    let_go = threading.Event()

    def hang(texts: Sequence[str]) -> list[float]:
        let_go.wait(60)
        return backwards(texts)

    judge = Judge(hang)
    space = ladder(opening, reranker=judge)
    try:
        first = space.recall(CUE, policy=by_similarity(rerank_ms=20.0))
        second = space.recall(CUE, policy=by_similarity(rerank_ms=20.0))
    finally:
        let_go.set()
    assert ids(first) == ids(second) == list(LADDER)
    assert any("no answer within 20 ms" in note for note in first.trace.notes)
    assert any("an earlier call still hangs" in note for note in second.trace.notes)
    assert len(judge.asked) == 1


def test_no_deadline_no_reranker(opening: Opening) -> None:
    """`rerank_ms=0` asks nobody."""
    judge = Judge(backwards)
    ladder(opening, reranker=judge).recall(CUE, policy=by_similarity(rerank_ms=0.0))
    assert judge.asked == []


@pytest.mark.parametrize("budget", [60, 100, 200, 420, 1_000, 5_000])
def test_a_token_budget_drops_nothing_in_silence(opening: Opening, budget: int) -> None:
    """Every memory of the free answer is whole or in the one block, best first, and more tokens never keep less."""
    space = opening(embedder=HashEmbedder()).space("a")
    for n in range(10):
        space.remember(f"Tea number {n} is brewed slowly in the old kitchen at Oslo. It takes {n} minutes.", id=f"m{n}")
    free = ids(space.recall("tea in Oslo", policy=by_similarity(), touch=False))
    kept = []
    for tokens in (budget, budget * 2):
        tight = space.recall("tea in Oslo", policy=by_similarity(), token_budget=tokens, touch=False)
        assert ids(tight) + list(tight.compacted.ids if tight.compacted else ()) == free
        kept.append(len(tight))
    assert kept == sorted(kept)


def test_a_budget_for_nothing_is_refused_with_the_least_that_works(opening: Opening) -> None:
    """Too small for one id is an error that names a budget which then works."""
    space = ladder(opening)
    with pytest.raises(InvalidInput, match="token_budget=1 cannot hold even one id") as refused:
        space.recall(CUE, policy=by_similarity(), token_budget=1, touch=False)
    least = refused.value.details["least"]
    assert isinstance(least, int)
    assert space.recall(CUE, policy=by_similarity(), token_budget=least).compacted is not None


def test_a_refused_recall_leaves_no_trace(opening: Opening) -> None:
    """An answer that was not given was not read."""
    space = ladder(opening)
    with pytest.raises(InvalidInput):
        space.recall(CUE, policy=by_similarity(), token_budget=1)
    assert space.store.read_ledger() == []
    assert all(memory.access.count == 0 for memory in space.list())


def test_hits_are_a_sequence(opening: Opening) -> None:
    """Length, index, slice, iteration and truth, as of any sequence."""
    space = ladder(opening, clock=Clock())
    recall = space.recall(CUE, policy=by_similarity(limit=3))
    assert (len(recall), recall[0].memory.id, [h.memory.id for h in recall[1:]]) == (3, "m0", ["m1", "m2"])
    assert recall[-1] in recall
    assert texts(recall) == [hit.memory.text for hit in reversed(list(reversed(recall)))]
    assert "3 hits" in repr(recall)
