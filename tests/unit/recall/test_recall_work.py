"""Work is bounded: what a recall scores and reads does not grow with the store, and the trace counts it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from facade_making import NOW, Opening, by_similarity, openings

from retentive import Space, policies
from retentive.embedders.protocol import Vectors
from retentive.recall.evidence import LATE_TEXTS
from retentive.testing.fakes import HashEmbedder


def grown(opening: Opening, path: str, size: int) -> Space:
    space = opening(embedder=HashEmbedder(16)).space(path)
    items = [
        {"text": f"Liv has tea {n} in Oslo", "tags": ["t"], "session": f"s{n // 50}", "at": NOW - timedelta(minutes=n)}
        for n in range(size)
    ]
    space.remember_many(items)
    return space


BOUNDED = [name for name in policies.names() if not policies.get(name).sources.whole_space_up_to]


@pytest.fixture(scope="module")
def two_sizes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Space]]:
    """A space and one of twice its size, on disk."""
    making = openings("sqlite", tmp_path_factory.mktemp("work"))
    opening = next(making)
    yield [grown(opening, "small", 300), grown(opening, "large", 600)]
    next(making, None)


@pytest.mark.parametrize("preset", BOUNDED)
def test_candidates_do_not_grow_with_the_store(two_sizes: list[Space], preset: str) -> None:
    """Twice the memories score as many candidates, and no more than the pools allow."""
    policy = policies.get(preset).replace(pool=10, limit=5)
    work = []
    for space in two_sizes:
        trace = space.recall("How much tea has Liv in Oslo today?", policy=policy, tags=["t"], touch=False).trace
        work.append(trace.work)
        channels = len(policy.sources.channels)
        pool = max(10, 5 * policy.sources.over_fetch)
        around = 1 + 2 * policy.sources.neighbours
        most = pool * channels * around * (1 + len(trace.clauses)) + getattr(policy.sources, "background", 0)
        assert 0 < trace.work.candidates_scored <= most
        assert trace.work.texts_read <= LATE_TEXTS * 2
    assert work[1].candidates_scored <= work[0].candidates_scored * 1.2 + 5


def test_the_stream_scores_the_whole_space_up_to_its_bound(opening: Opening) -> None:
    """All of a small space, a pool of a large one."""
    stream = policies.stream.replace(whole_space_up_to=40, pool=10)
    small = grown(opening, "small", 40).recall("tea", policy=stream, touch=False)
    large = grown(opening, "large", 41).recall("tea", policy=stream, touch=False)
    assert small.trace.work.candidates_scored == 40
    assert large.trace.work.candidates_scored <= 30


def test_one_recall_embeds_its_cue_once(opening: Opening) -> None:
    """However many channels and candidates: one question, one vector; clauses add their own."""
    asked: list[int] = []

    class Counting(HashEmbedder):
        def embed(self, texts: Any) -> Vectors:
            asked.append(len(texts))
            return super().embed(texts)

    space = opening(embedder=Counting()).space("a")
    space.remember_many([f"tea {n}" for n in range(50)])
    asked.clear()
    space.recall("tea", policy=policies.retentive.replace(floor=None))
    assert asked == [1]
    asked.clear()
    recall = space.recall("who approves the invoices and where does the paper live?", policy="operational")
    assert sum(asked) == 1 + len(recall.trace.clauses) == 3


def test_the_trace_reports_every_channel(space: Space) -> None:
    """Found, scanned and best per channel; a channel that found nothing is not claimed to have."""
    space.remember_many([f"tea {n}" for n in range(20)])
    recall = space.recall("tea", policy=by_similarity(channels=("vector", "lexical", "temporal"), pool=5, limit=5))
    reports = recall.trace.channels
    assert set(reports) == {"vector", "lexical"}
    assert reports["vector"].found == 5
    assert reports["vector"].scanned >= 5
    assert recall.trace.work.rows_scanned == sum(report.scanned for report in reports.values())
    assert recall.trace.work.candidates == recall.trace.work.candidates_scored
