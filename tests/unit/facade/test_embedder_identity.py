"""Vectors of two embedders never meet: a mismatch is refused, and re-embedding moves a space while it stays in use."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from facade_making import Opening

from retentive import Retentive, Space, policies
from retentive.embedders.protocol import Vectors
from retentive.errors import EmbedderMismatch, InvalidInput, NotFound, StoreBusy
from retentive.maintain import reembed
from retentive.testing.fakes import HashEmbedder

TEXTS = [f"Tea number {n} with {'lemon' if n % 2 else 'milk'}" for n in range(10)]


NEAREST = policies.blend.replace(weights={"recency": 0, "importance": 0})


class Named(HashEmbedder):
    """A `HashEmbedder` under any name, that does something before each batch."""

    def __init__(self, name: str, dimension: int = 32, before: Callable[[int], None] | None = None) -> None:
        super().__init__(dimension)
        self.id = name
        self.batches = 0
        self._before = before

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.batches += 1
        if self._before is not None:
            self._before(self.batches)
        return super().embed([f"{self.id} {text}" for text in texts])


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembed, "BATCH", 3)


def filled(home: Retentive) -> Space:
    space = home.space("a")
    space.remember_many([{"text": text, "id": f"m{n}"} for n, text in enumerate(TEXTS)])
    return space


def in_use(space: Space) -> Any:
    return space.store.setting("embedder")


def moved_whole(space: Space, embedder: Any) -> bool:
    """Whether every vector is the one that this embedder gives."""
    ids = [memory.id for memory in space.list(hidden=True, limit=1_000)]
    texts = [space.get(name, touch=False).text for name in ids]
    kept = space.store.vectors(ids)
    expected = embedder.embed(texts)
    return all(abs(float(kept[name] @ vector) - 1) < 1e-5 for name, vector in zip(ids, expected, strict=True))


@pytest.mark.parametrize("other", [Named("other"), HashEmbedder(32)], ids=["another model", "another dimension"])
def test_another_embedder_is_refused_with_the_remedy(opening: Opening, other: Any) -> None:
    """Recall, remember and a changed text name both embedders and the command that moves the vectors."""
    filled(opening())
    space = opening(embedder=other).space("a")
    verbs: list[Callable[[], Any]] = [
        lambda: space.recall("Tea"),
        lambda: space.remember("Tea"),
        lambda: space.remember_many(["Tea"]),
        lambda: space.update("m1", text="Tea"),
    ]
    for verb in verbs:
        with pytest.raises(EmbedderMismatch, match=re.escape("`retentive maintain --re-embed`")) as refused:
            verb()
        assert "'hash-64' (64 dimensions" in str(refused.value)
        assert repr(other.id) in str(refused.value)
    assert len(space.list()) == len(TEXTS)


def test_another_fingerprint_is_another_embedder(opening: Opening) -> None:
    """The same name with other weights gives other vectors."""
    filled(opening())
    retrained = HashEmbedder()
    retrained.fingerprint = "2"
    with pytest.raises(EmbedderMismatch, match="weights 2"):
        opening(embedder=retrained).space("a").recall("Tea")


def test_what_needs_no_vector_needs_no_embedder(opening: Opening) -> None:
    """Fetching, listing, forgetting and changing anything but the text work with any embedder."""
    filled(opening())
    space = opening(embedder=Named("other")).space("a")
    assert space.get("m1").text == TEXTS[1]
    assert space.update("m1", importance=1.0).importance == 1.0
    space.forget("m1")
    assert len(space.list()) == len(TEXTS) - 1


def test_re_embedding_moves_every_vector(opening: Opening) -> None:
    """Hidden ones too; afterwards the new embedder recalls and the old one is refused."""
    old = filled(opening())
    old.forget("m3")
    new = Named("new")
    space = opening(embedder=new).space("a")
    told: list[tuple[int, int]] = []
    report = space.maintain(re_embed=True, progress=lambda done, total: told.append((done, total)))
    assert report["re_embedded"] == len(TEXTS)
    assert told == [(3, 10), (6, 10), (9, 10), (10, 10)]
    assert moved_whole(space, new)
    assert space.recall(TEXTS[4], policy=NEAREST)[0].memory.id == "m4"
    assert space.journal()[-1].action == "re-embed"
    with pytest.raises(EmbedderMismatch):
        old.recall("Tea")


def test_re_embedding_again_does_nothing(opening: Opening) -> None:
    """With the embedder already in use there is nothing to move."""
    space = filled(opening())
    lines = space.journal()
    assert space.maintain(re_embed=True)["re_embedded"] == 0
    assert space.journal() == lines


def test_re_embedding_resumes_where_it_stopped(opening: Opening) -> None:
    """A run that dies half-way changes nothing that is seen; the next one embeds only what is left."""
    old = filled(opening())

    def die(batch: int) -> None:
        if batch == 3:
            raise ConnectionError("the endpoint is gone")

    with pytest.raises(ConnectionError):
        opening(embedder=Named("new", before=die)).space("a").maintain(re_embed=True)
    assert in_use(old)["id"] == "hash-64"
    assert old.recall(TEXTS[4], policy=NEAREST)[0].memory.id == "m4"
    new = Named("new")
    space = opening(embedder=new).space("a")
    assert space.maintain(re_embed=True)["re_embedded"] == 4
    assert new.batches == 2
    assert moved_whole(space, new)


def test_what_happens_meanwhile_is_moved_too(opening: Opening) -> None:
    """Memories added, changed, forgotten and erased while vectors move are right afterwards."""
    old = filled(opening())

    def meanwhile(batch: int) -> None:
        if batch == 2:  # m0..m2 are staged, m3..m5 are being embedded
            old.remember("Rice pudding", id="added")
            old.update("m0", text="Changed after it was staged")
            old.update("m4", text="Changed while it was embedded")
            old.update("m9", text="Changed before its turn")
            old.update("m1", importance=1.0)
            old.forget("m2", erase=True)
            old.forget("m5", erase=True)
            old.forget("m6")
            assert old.recall("Rice pudding", policy=NEAREST)[0].memory.id == "added"

    new = Named("new", before=meanwhile)
    space = opening(embedder=new).space("a")
    space.maintain(re_embed=True)
    assert moved_whole(space, Named("new"))
    assert {memory.id for memory in space.list(hidden=True)} == {"added", *(f"m{n}" for n in (0, 1, 3, 4, 6, 7, 8, 9))}
    assert space.get("m1").importance == 1.0
    assert space.recall("Rice pudding", policy=NEAREST)[0].memory.id == "added"


def test_a_batch_that_changes_whole_is_not_the_end(opening: Opening) -> None:
    """Even if every text of a batch changes while it is embedded, nothing is left behind."""
    old = filled(opening())

    def meanwhile(batch: int) -> None:
        if batch == 1:
            for n in range(3):
                old.update(f"m{n}", text=f"Changed {n}")

    space = opening(embedder=Named("new", before=meanwhile)).space("a")
    space.maintain(re_embed=True)
    assert moved_whole(space, Named("new"))


def test_another_target_begins_anew(opening: Opening) -> None:
    """Vectors staged for one embedder are not mixed with those of the next: even where the dimension agrees."""
    filled(opening())

    def die(batch: int) -> None:
        if batch == 3:
            raise ConnectionError

    with pytest.raises(ConnectionError):
        opening(embedder=Named("first", before=die)).space("a").maintain(re_embed=True)
    second = Named("second")
    space = opening(embedder=second).space("a")
    assert space.maintain(re_embed=True)["re_embedded"] == len(TEXTS)
    assert in_use(space)["id"] == "second"
    assert moved_whole(space, Named("second"))


def test_a_run_that_was_overtaken_gives_way(opening: Opening) -> None:
    """While one run moves to A another begins to move to B: A's stops with an error, and no vector is of A."""
    filled(opening())
    winner = opening(embedder=Named("b")).space("a")

    def overtaken(batch: int) -> None:
        if batch == 2:
            winner.maintain(re_embed=True)

    with pytest.raises(StoreBusy, match="Another run took over the re-embedding of space 'a'"):
        opening(embedder=Named("a", before=overtaken)).space("a").maintain(re_embed=True)
    assert in_use(winner)["id"] == "b"
    assert moved_whole(winner, Named("b"))


def test_two_runs_to_one_target_end_well(opening: Opening) -> None:
    """The slower finds the work done and changes nothing."""
    filled(opening())
    faster = opening(embedder=Named("new")).space("a")

    def overtaken(batch: int) -> None:
        if batch == 2:
            faster.maintain(re_embed=True)

    slower = opening(embedder=Named("new", before=overtaken)).space("a")
    slower.maintain(re_embed=True)
    assert moved_whole(slower, Named("new"))
    assert [line.action for line in slower.journal()].count("re-embed") == 1
    assert slower.recall(TEXTS[4], policy=NEAREST)[0].memory.id == "m4"


def test_a_change_that_comes_too_late_is_refused(opening: Opening) -> None:
    """A text embedded by the old embedder is not written once the vectors have moved."""
    home = opening()
    filled(home)
    mover = opening(embedder=Named("new")).space("a")

    class Overtaken(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            mover.maintain(re_embed=True)
            return super().embed(texts)

    late = opening(embedder=Overtaken()).space("a")
    with pytest.raises(EmbedderMismatch):
        late.update("m1", text="Too late")
    assert mover.get("m1").text == TEXTS[1]


def test_a_memory_that_comes_too_late_is_refused(opening: Opening) -> None:
    """The same for a new memory: nothing of it is kept."""
    filled(opening())
    mover = opening(embedder=Named("new")).space("a")

    class Overtaken(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            mover.maintain(re_embed=True)
            return super().embed(texts)

    with pytest.raises(EmbedderMismatch):
        opening(embedder=Overtaken()).space("a").remember("Too late", id="late")
    with pytest.raises(NotFound):
        mover.get("late")


@pytest.mark.parametrize("bad", [0.0, float("nan")])
def test_a_bad_vector_ends_the_move_and_changes_nothing(opening: Opening, bad: float) -> None:
    """An embedder that answers nonsense half-way leaves the old vectors in use."""
    from facade_making import Broken, spoilt

    old = filled(opening())
    broken = Broken(spoilt(0, bad), after=2, dimension=16)
    with pytest.raises(InvalidInput, match="Embedder 'hash-16' returned"):
        opening(embedder=broken).space("a").maintain(re_embed=True)
    assert old.recall(TEXTS[4], policy=NEAREST)[0].memory.id == "m4"


def test_both_embedders_answer_until_the_switch(opening: Opening) -> None:
    """Who knows the previous embedder recalls and writes by it while a space moves, from then on by the new one."""
    old, answers = Named("old"), []
    space = opening(embedder=old).space("acme/alice")
    space.remember_many([{"text": text, "id": f"m{n}"} for n, text in enumerate(TEXTS)])

    def ask(home: Retentive) -> str:
        return home.space("acme/alice").recall(TEXTS[3], policy=NEAREST, limit=1, touch=False)[0].memory.id

    def meanwhile(batch: int) -> None:
        if batch == 1:
            answers.append((ask(live), ask(gone)))
            live.space("acme/alice").remember("Tea number 10 with honey", id="late")

    new = Named("new", 48, before=meanwhile)
    live, gone = opening(embedder=new), opening(embedder=old)
    live.previous = old
    assert ask(live) == ask(gone) == "m3"
    assert live.space("acme/alice").maintain(re_embed=True)["re_embedded"] == len(TEXTS) + 1
    assert answers == [("m3", "m3")]
    assert ask(live) == "m3"
    assert live.space("acme/alice").recall("Tea number 10 with honey", policy=NEAREST)[0].memory.id == "late"
    with pytest.raises(EmbedderMismatch):
        ask(gone)


def test_a_previous_embedder_is_none_of_a_space_of_its_successor(opening: Opening) -> None:
    """A new space begins with the new one, and a third one's is refused as ever."""
    home = opening(embedder=Named("new"))
    home.previous = Named("old")
    home.space("acme/bob").remember("Tea")
    stamp = home.space("acme/bob").store.setting("embedder")
    assert isinstance(stamp, dict)
    assert stamp["id"] == "new"
    opening(embedder=Named("third")).space("acme/carl").remember("Tea")
    with pytest.raises(EmbedderMismatch):
        home.space("acme/carl").recall("Tea")
