"""`remember_many`: all or nothing, whatever goes wrong in the middle."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from facade_making import NOW, Broken, Opening, spoilt

from retentive import Draft, Space
from retentive.conflicts.settings import EVERYTHING_KEPT
from retentive.errors import InvalidInput, NotFound, RetentiveError


@pytest.fixture(autouse=True)
def kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every text as it is told: what is read into two of them is not the matter here."""
    monkeypatch.setattr("retentive.memory.NOTICING", EVERYTHING_KEPT)


def nothing_written(space: Space) -> bool:
    return not space.list(hidden=True) and not space.journal() and space.store.setting("embedder") is None


def test_texts_mappings_and_drafts_may_stand_side_by_side(space: Space) -> None:
    """Each item is a text, a mapping of `remember`'s arguments, or a `Draft`; the answer keeps the order."""
    kept = space.remember_many(["Tea", {"text": "Rice", "kind": "preference"}, Draft("Milk", tags=("x",))])
    assert [(memory.text, memory.kind, memory.tags) for memory in kept] == [
        ("Tea", "fact", ()),
        ("Rice", "preference", ()),
        ("Milk", "fact", ("x",)),
    ]
    assert [space.get(memory.id).text for memory in kept] == ["Tea", "Rice", "Milk"]


def test_many_at_once_give_the_ids_of_one_by_one(opening: Opening) -> None:
    """A batch is nothing but its items in their order, twins included."""
    texts = ["Tea", "Tea", "Rice", "Tea"]
    home = opening()
    batch = home.space("a").remember_many(texts)
    home.drop("a")
    single = [home.space("a").remember(text) for text in texts]
    assert [memory.id for memory in batch] == [memory.id for memory in single]
    assert len({memory.id for memory in batch}) == 4


def test_nothing_to_remember_is_nothing(space: Space) -> None:
    """An empty list writes nothing and asks no embedder."""
    assert space.remember_many([]) == []
    assert nothing_written(space)


@pytest.mark.parametrize("items", ["Tea", b"Tea", {"text": "Tea"}, Draft("Tea"), 5, None])
def test_a_lone_item_is_not_many(space: Space, items: Any) -> None:
    """A string is not its letters and a mapping not its names: what is no list of items is refused."""
    with pytest.raises(InvalidInput, match="pass a list of texts, mappings or Drafts"):
        space.remember_many(items)
    assert nothing_written(space)


BAD_ITEMS: list[tuple[Any, str]] = [
    ("", "must not be empty"),
    (5, "Cannot remember 5; pass a string, a mapping or a Draft"),
    (None, "Cannot remember None"),
    ({"kind": "fact"}, "A memory needs `text`; got only kind"),
    ({}, "A memory needs `text`; got only an empty mapping"),
    ({"text": "x", "tag": ["a"]}, "Unknown field of a memory 'tag'. Did you mean 'tags'?"),
    ({1: "x"}, "Unknown field of a memory 1"),
    ({"text": "x", "importance": float("nan")}, "importance=nan"),
    ({"text": "x", "id": "taken"}, "'taken' exists already"),
]


@pytest.mark.parametrize(("bad", "says"), BAD_ITEMS, ids=[says for _, says in BAD_ITEMS])
def test_one_bad_item_in_the_middle_keeps_all_out(space: Space, bad: Any, says: str) -> None:
    """What was good before and behind it is not kept either."""
    space.remember("Here first", id="taken")
    lines = space.journal()
    with pytest.raises(InvalidInput, match=re.escape(says)):
        space.remember_many([{"text": "Good", "id": "good"}, bad, "Good too"])
    assert [memory.id for memory in space.list(hidden=True)] == ["taken"]
    assert space.journal() == lines


def test_two_of_one_id_in_a_batch_keep_all_out(space: Space) -> None:
    """An id given twice within a batch is refused as if it had existed."""
    with pytest.raises(InvalidInput, match="'m1' exists already"):
        space.remember_many([{"text": "A", "id": "m1"}, {"text": "B", "id": "m1"}])
    assert nothing_written(space)


def test_an_unknown_predecessor_at_the_end_undoes_the_supersessions_before_it(space: Space) -> None:
    """The transaction covers what the batch did to older memories as well."""
    old = space.remember("Lives in Rome", key="home")
    with pytest.raises(NotFound, match="'nobody'"):
        space.remember_many([{"text": "Lives in Oslo", "key": "home"}, {"text": "X", "supersedes": ["nobody"]}])
    assert space.get(old.id, touch=False) == old
    assert [memory.id for memory in space.list()] == [old.id]


ANSWERS: list[tuple[Any, type[Exception], str]] = [
    (RuntimeError("the model fell over"), RuntimeError, "the model fell over"),
    (spoilt(1, float("nan")), RetentiveError, "not finite (NaN or infinity) for the text at index 1"),
    (spoilt(1, float("inf")), RetentiveError, "not finite (NaN or infinity) for the text at index 1"),
    (spoilt(1, 0.0), RetentiveError, "only zeros for the text at index 1"),
    (lambda vectors: vectors[:-1], RetentiveError, "an array of shape (2, 64) for 3 texts"),
    (lambda vectors: vectors[:, :-1], RetentiveError, "an array of shape (3, 63)"),
    (lambda vectors: vectors[0], RetentiveError, "an array of shape (64,)"),
    ("no vectors", RetentiveError, "no array of numbers (str)"),
    (None, RetentiveError, "for 3 texts"),
]


@pytest.mark.parametrize(("answer", "error", "says"), ANSWERS, ids=[says for *_, says in ANSWERS])
def test_an_embedder_that_fails_keeps_all_out(opening: Opening, answer: Any, error: type[Exception], says: str) -> None:
    """No vector, no memory: nothing is written, not even whose vectors these would have been."""
    space = opening(embedder=Broken(answer)).space("a")
    with pytest.raises(error, match=re.escape(says)):
        space.remember_many(["A", "B", "C"])
    assert nothing_written(space)


def test_a_space_goes_on_after_a_failure(opening: Opening) -> None:
    """What failed can be tried again, with the ids it would have had."""
    failing = opening(embedder=Broken(OSError("gone"), after=1)).space("a")
    first = failing.remember("A")
    with pytest.raises(OSError, match="gone"):
        failing.remember("B")
    mended = opening().space("a")
    second = mended.remember("B")
    assert [memory.id for memory in mended.list()] == sorted([first.id, second.id])


def test_progress_counts_to_the_end_and_may_stop_it(space: Space) -> None:
    """Progress is told after each memory; an error in it (Ctrl-C) rolls all back."""
    told: list[tuple[int, int]] = []
    space.remember_many(["A", "B", "C"], progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]

    def interrupt(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        space.remember_many(["D", "E", "F"], progress=interrupt)
    assert sorted(memory.text for memory in space.list()) == ["A", "B", "C"]


def test_items_may_come_from_a_generator(space: Space) -> None:
    """Any iterable will do, read once."""
    kept = space.remember_many(f"Number {n}" for n in range(300))
    assert len(kept) == len({memory.id for memory in kept}) == 300


def test_one_batch_is_one_question_to_the_embedder(opening: Opening) -> None:
    """All texts of a batch go to the embedder together."""
    sizes: list[int] = []

    def note(vectors: np.typing.NDArray[np.float32]) -> np.typing.NDArray[np.float32]:
        sizes.append(len(vectors))
        return vectors

    opening(embedder=Broken(note)).space("a").remember_many([f"Number {n}" for n in range(50)])
    assert sizes == [50]


def test_a_key_may_change_hands_within_a_batch(space: Space) -> None:
    """The last of a batch to hold a key holds it; the others are superseded in their order."""
    days = [{"text": f"Day {n}", "key": "today", "at": NOW + timedelta(days=n)} for n in range(3)]
    kept = space.remember_many(days)
    assert [memory.text for memory in space.list()] == ["Day 2"]
    assert [memory.id for memory in space.chain(kept[0].id)] == [memory.id for memory in kept]
