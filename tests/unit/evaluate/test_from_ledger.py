"""A user's own recalls as a set."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from retentive.cli.main import root
from retentive.embedders.protocol import Vectors
from retentive.errors import InvalidInput
from retentive.evaluate.datasets import load
from retentive.evaluate.ledger import conversation, from_ledger, known_vectors, save, summary
from retentive.evaluate.tuning import tune
from retentive.memory import Retentive, Space
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def space() -> Iterator[Space]:
    with Retentive(":memory:", embedder=HashEmbedder(), clock=lambda: NOW) as memories:
        space = memories.space("ann")
        for number in range(700):  # more than a page
            at = NOW - timedelta(days=40, minutes=number)
            space.remember(f"note {number} about bees", at=at, id=f"n{number}", speaker="Ann", session="s")
        yield space


def test_only_what_was_used_labels(space: Space) -> None:
    """A recall without feedback, or with feedback that names nothing, is left out; the rest become questions."""
    space.recall("note 3 about bees")
    space.recall("note 4 about bees", now=NOW + timedelta(hours=1)).feedback(outcome="bad")
    chosen = space.recall("note 5 about bees", now=NOW + timedelta(hours=2))
    chosen.feedback([chosen[0].memory.id], "good")
    dataset = from_ledger({"ann": space.store})
    assert len(dataset.conversations[0].items) == 700
    question = dataset.conversations[0].questions[0]
    assert (question.text, question.at) == ("note 5 about bees", NOW + timedelta(hours=2))
    assert (set(question.gold), question.category) == ({chosen[0].memory.id}, "good")
    assert summary(dataset) == "1 recalls with feedback (1 good) over 700 memories in 1 spaces"


def test_what_was_forgotten_is_no_evidence(space: Space) -> None:
    """A question whose evidence is gone is gone too; `since` leaves out what came before."""
    chosen = space.recall("note 5 about bees")
    chosen.feedback([chosen[0].memory.id])
    assert conversation(space.store, "ann").questions
    assert not conversation(space.store, "ann", since=NOW + timedelta(days=1)).items
    space.forget(chosen[0].memory.id)
    with pytest.raises(InvalidInput, match="has feedback that names what was used"):
        from_ledger({"ann": space.store})


def test_saved_and_read_back(space: Space, tmp_path: Path) -> None:
    """The neutral form keeps everything that a set has."""
    chosen = space.recall("note 5 about bees")
    chosen.feedback([chosen[0].memory.id])
    dataset = from_ledger({"ann": space.store})
    save(dataset, tmp_path / "mine.json")
    assert load(tmp_path / "mine.json") == dataset
    example = load("example")
    save(example, tmp_path / "example.json")
    assert load(tmp_path / "example.json") == example


def test_the_command(tmp_path: Path) -> None:
    """From a store on disk to a file that `eval run` takes."""
    with Retentive(tmp_path / "store", embedder="hash") as memories:
        memories.space("ann").remember("The key is under the mat")
        memories.space("ann").recall("key").feedback([memories.space("ann").list()[0].id])
    base = ["--store", str(tmp_path / "store"), "--embedder", "hash"]
    out = tmp_path / "mine.json"
    for which in (["--space", "ann"], ["--all"]):
        result = CliRunner().invoke(root, [*base, "eval", "from-ledger", *which, "--out", str(out)])
        assert result.exit_code == 0, result.output
        assert "1 recalls with feedback" in result.output
    assert json.loads(out.read_text("utf-8"))["spaces"][0]["space"] == "ann"
    result = CliRunner().invoke(root, ["--embedder", "hash", "eval", "run", "--data", str(out), "--overall"])
    assert result.exit_code == 0, result.output


class Counting(HashEmbedder):
    """Counts what it is asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.made = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors, and count them."""
        self.made += len(texts)
        return super().embed(texts)


def test_vectors_that_are_there_are_not_made_again(space: Space) -> None:
    """Tuning on a space's own recalls embeds no memory anew; with another embedder it has to."""
    for number in range(24):
        chosen = space.recall(f"note {number} about bees", now=NOW + timedelta(minutes=number), policy="blend")
        chosen.feedback([chosen[-1].memory.id])
    dataset = from_ledger({"ann": space.store})
    counting = Counting()
    known = known_vectors([space.store], counting, NOW)
    assert len(known) == 700
    outcome = tune(dataset, "blend", embedder=counting, settings=80, known=known)
    assert counting.made == 24  # the questions, once each
    assert outcome.as_dict() == tune(dataset, "blend", embedder=HashEmbedder(), settings=80).as_dict()
    assert known_vectors([space.store], HashEmbedder(32), NOW) == {}
