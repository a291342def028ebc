"""The runner: the same memories for every policy, the right questions left out, and runs that repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retentive.embedders import QueryEmbedder, TokenEmbedder, identity, resolve
from retentive.embedders.protocol import Calibrated, Fingerprinted, TokenTable, Vectors
from retentive.errors import InvalidInput
from retentive.evaluate.baselines import BASELINES, BM25, MIN_MAX, VECTOR
from retentive.evaluate.cache import cached
from retentive.evaluate.datasets import Dataset, load
from retentive.evaluate.metrics import ndcg_at
from retentive.evaluate.report import Report, as_markdown, as_text
from retentive.evaluate.runner import evaluate
from retentive.memory import Retentive
from retentive.testing.fakes import HashEmbedder, MappedEmbedder

EXAMPLE = load("example")
DATA = Path(__file__).parents[4] / "shared" / "data"


def _without_times(report: Report) -> dict[str, object]:
    data = report.as_dict()
    for row in data["rows"]:
        del row["mean_ms"], row["p95_ms"]
    return data


@pytest.fixture(scope="module")
def report() -> Report:
    return evaluate(EXAMPLE, [*BASELINES, "retentive"], embedder=HashEmbedder())


def test_every_policy_and_category_has_a_row(report: Report) -> None:
    """Overall and each category, for each policy, in the order they were given."""
    categories = {question.category for conversation in EXAMPLE.conversations for question in conversation.questions}
    assert len(report.rows) == 5 * (1 + len(categories))
    overall = [row.policy for row in report.rows if row.category == "overall"]
    assert overall == ["bm25", "vector", "rrf60", "min-max", "retentive"]


def test_questions_without_evidence_are_counted_apart(report: Report) -> None:
    """Nine questions have evidence; the two that have none only say how often the answer was empty."""
    row = report.overall("retentive")
    assert (row.questions, row.abstained_of, row.newest_of) == (9, 2, 2)
    abstention = next(row for row in report.rows if row.category == "abstention")
    assert (abstention.questions, abstention.metrics) == (0, {})


def test_baselines_never_abstain(report: Report) -> None:
    """Similarity alone always has an answer."""
    assert report.overall("vector").abstained == 0.0


def test_two_runs_agree_to_the_last_digit(report: Report) -> None:
    """Nothing random, no clock: only the timings differ."""
    again = evaluate(EXAMPLE, [*BASELINES, "retentive"], embedder=HashEmbedder())
    assert _without_times(again) == _without_times(report)


def test_policies_do_not_see_each_other(report: Report) -> None:
    """A policy alone scores what it scores among others: reading leaves no trace."""
    alone = evaluate(EXAMPLE, ["retentive"], embedder=HashEmbedder())
    assert alone.overall("retentive").metrics == report.overall("retentive").metrics


def test_an_embedded_store_gives_the_same(tmp_path: Path, report: Report) -> None:
    """The store is no part of the score."""
    embedded = evaluate(EXAMPLE, [*BASELINES, "retentive"], embedder=HashEmbedder(), store=tmp_path / "store")
    assert _without_times(embedded) == _without_times(report)


def test_vector_baseline_is_brute_force() -> None:
    """Its nDCG@10 is that of sorting all cosines."""
    embedder = HashEmbedder()
    ranked = {}
    for conversation in EXAMPLE.conversations:
        texts = [f"{item.speaker}: {item.said}" for item in conversation.items]
        matrix = embedder.embed(texts)
        for question in conversation.questions:
            if question.scored:
                order = np.argsort(-(matrix @ embedder.embed([question.text])[0]), kind="stable")
                ranked[question.id] = ndcg_at([conversation.items[row].id for row in order], question.gold)
    mean = sum(ranked.values()) / len(ranked)
    measured = evaluate(EXAMPLE, [VECTOR], embedder=embedder).overall("vector")
    assert measured.metrics["ndcg@10"] == pytest.approx(mean, abs=1e-9)


def test_touching_runs_both_ways_and_tells_the_difference() -> None:
    """A policy that never learns has a difference of exactly nothing."""
    touched = evaluate(EXAMPLE, [MIN_MAX, "stream"], embedder=HashEmbedder(), touch=True)
    assert touched.differences()["min-max"] == 0.0
    assert touched.overall("stream", touched=True).label == "stream +touch"
    assert "Write-back moved ndcg@10 by: min-max +0.0000, stream" in as_text(touched)


def test_the_limit_is_the_deepest_k_and_the_rest_stays() -> None:
    """A policy that returns three is measured at twenty; its floor and budget stay its own."""
    small = evaluate(EXAMPLE, ["stream"], embedder=HashEmbedder(), k=(1, 20)).overall("stream")
    assert list(small.metrics) == ["any@1", "any@20", "all@1", "all@20", "frac@1", "frac@20", "mrr", "ndcg@10"]
    assert small.metrics["frac@20"] == 1.0


def test_progress_counts_every_question() -> None:
    """The bar knows the whole from the start and ends there."""
    seen: list[tuple[int, int, str]] = []
    evaluate(EXAMPLE, [BM25], embedder=HashEmbedder(), touch=True, progress=lambda *step: seen.append(step))
    assert [done for done, _, _ in seen] == list(range(1, 2 * EXAMPLE.questions + 1))
    assert {total for _, total, _ in seen} == {2 * EXAMPLE.questions}
    assert {label for _, _, label in seen} == {"bm25", "bm25 with write-back"}


def test_dated_text_is_another_run() -> None:
    """The form is named in the report, and an unknown one refused."""
    dated = evaluate(EXAMPLE, [BM25], embedder=HashEmbedder(), text_form="dated")
    assert dated.text_form == "dated"
    assert "dated text" in as_text(dated)
    with pytest.raises(InvalidInput, match="Unknown text form 'plain'"):
        evaluate(EXAMPLE, [BM25], embedder=HashEmbedder(), text_form="plain")


def test_a_conversation_without_questions_is_not_remembered() -> None:
    """Its cost would be for nothing."""
    silent = replace(EXAMPLE.conversations[0], questions=())
    dataset: Dataset = replace(EXAMPLE, conversations=(silent, EXAMPLE.conversations[1]))
    measured = evaluate(dataset, [BM25], embedder=HashEmbedder())
    assert measured.overall("bm25").questions == 4


def test_tables_hold_all_metrics_together(report: Report) -> None:
    """In text and Markdown, overall or by category."""
    text, markdown = as_text(report, by_category=True), as_markdown(report)
    for name in ("any@1", "all@5", "frac@10", "any@20", "MRR", "nDCG@10", "newest of 2", "empty of 2", "p95 ms"):
        assert name in text
        assert name in markdown
    assert "update (2 questions)" in text
    assert markdown.count("\n| ") == 1 + 1 + 5 - 1 + 1  # header, ruler and five policies


class _Counting(HashEmbedder):
    """Counts what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return super().embed(texts)


class _Tabled(HashEmbedder):
    """Has a token table."""

    def token_ids(self, text: str) -> list[int]:
        return [at for at, _ in enumerate(text.split(), 1)]

    def token_rows(self, ids: NDArray[np.int32]) -> Vectors:
        return np.ones((len(ids), 2), np.float32)


def test_the_cache_embeds_each_text_once() -> None:
    """The second time costs nothing, and repeated texts in one batch neither."""
    counting = _Counting()
    kept = cached(counting)
    first = kept.embed(["a b", "c", "a b"])
    assert np.array_equal(first, kept.embed(["a b", "c", "a b"]))
    assert counting.texts == 2
    assert kept.embed([]).shape == (0, counting.dimension)


def test_the_cache_can_all_that_the_embedder_can_and_no_more() -> None:
    """Identity and optional powers are those of the embedder inside, whatever powers there will be."""
    hashing, mapped = cached(HashEmbedder()), cached(MappedEmbedder({"a": [1.0, 0.0]}))
    assert identity(hashing) == identity(HashEmbedder())
    assert isinstance(hashing, TokenEmbedder)
    assert isinstance(hashing, Calibrated)
    assert isinstance(cached(_Tabled()), TokenTable)
    for power in (TokenEmbedder, TokenTable, QueryEmbedder, Calibrated, Fingerprinted):
        assert isinstance(mapped, power) == isinstance(MappedEmbedder({"a": [1.0, 0.0]}), power)


@pytest.mark.parametrize("name", ["potion", "hash"])
def test_the_cache_hides_no_public_name(name: str) -> None:
    """A token table that the engine cannot see costs quality without a word: it did once."""
    inner = resolve(name)
    kept = cached(inner)
    assert {one for one in dir(inner) if not one.startswith("_")} <= set(dir(kept))


@pytest.mark.parametrize("name", ["potion", "hash"])
def test_the_cache_changes_no_figure(name: str) -> None:
    """Recall through the cache is recall without it, hit by hit and score by score."""
    conversation = EXAMPLE.conversations[0]
    answers = []
    for embedder in (resolve(name), cached(resolve(name))):
        with Retentive(":memory:", embedder=embedder) as memories:
            space = memories.space("a")
            space.remember_many([{"text": item.said, "at": item.at, "id": item.id} for item in conversation.items])
            hits = [hit for ask in conversation.questions for hit in space.recall(ask.text, now=ask.at, touch=False)]
            answers.append([(hit.memory.id, hit.score) for hit in hits])
    assert answers[0] == answers[1]


@pytest.mark.skipif(
    not (DATA / "locomo-dev.json.gz").is_file(), reason="the licensed sets are not beside the repository"
)
def test_licensed_sets_load() -> None:
    """All four development halves are in the form the loader reads, with the counts their README states."""
    counts = {file.name: load(file).questions for file in sorted(DATA.glob("*.json.gz"))}
    assert counts == {
        "beam100k-dev.json.gz": 200,
        "locomo-dev.json.gz": 1020,
        "longmemeval-s-user500-dev.json.gz": 250,
        "realtalk-dev.json.gz": 369,
    }


def test_every_scenario_is_documented() -> None:
    """The page lists each promise as it is played."""
    from retentive.evaluate.scenarios import SCENARIOS

    page = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text("utf-8")
    for scenario in SCENARIOS:
        assert f"| {scenario.number} | {scenario.name} | {scenario.promise} |" in page
