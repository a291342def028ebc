"""Succession, conversation and late interaction: what lifts a memory beside its own similarity, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from math import sqrt
from typing import Any

import numpy as np
import pytest
from facade_making import NOW, Clock, Opening, by_similarity, cosines, ids, only, texts
from numpy.typing import NDArray

from retentive import Space, policies
from retentive.recall import late
from retentive.recall.late import Windows
from retentive.recall.succession import STEP
from retentive.testing.fakes import HashEmbedder, MappedEmbedder

NOWADAYS, EVER = "Where does Liv currently live?", "Where did Liv live before?"


def lodgings(opening: Opening, **at: float) -> Space:
    """Memories on one matter (mutual cosine near 1) at the given cosines, each 100 days newer than the one before."""
    rows = {}
    for place, (name, cosine) in enumerate(at.items()):
        row = np.zeros(len(at) + 2)
        row[0], row[1] = cosine, sqrt(1 - cosine**2) * 0.98
        row[2 + place] = sqrt(1 - row[0] ** 2 - row[1] ** 2)
        rows[name] = row
    cue = np.eye(len(at) + 2)[0]
    space = opening(embedder=MappedEmbedder({NOWADAYS: cue, EVER: cue, **rows})).space("a")
    for place, name in enumerate(at):
        space.remember(name, id=name, at=NOW - timedelta(days=1_000 - 100 * place))
    return space


def succeeding(reach: float = 0.1, **changes: Any) -> Any:
    return by_similarity(temporal_intent=True, succession=reach, **changes)


def test_the_newest_of_near_equals_goes_first_when_asked_how_things_are(opening: Opening) -> None:
    """Three values of one matter, the oldest nearest: "currently" puts the newest first, "before" does not."""
    space = lodgings(opening, old=0.68, middle=0.66, new=0.62)
    assert ids(space.recall(NOWADAYS, policy=succeeding(), touch=False)) == ["new", "middle", "old"]
    assert ids(space.recall(EVER, policy=succeeding(), touch=False)) == ["old", "middle", "new"]
    assert ids(space.recall(NOWADAYS, policy=succeeding(0.0), touch=False)) == ["old", "middle", "new"]


@pytest.mark.parametrize("gap", [0.01, 0.05, 0.099, 0.101, 0.2, 0.4])
def test_succession_is_bounded(opening: Opening, gap: float) -> None:
    """It closes a gap up to its reach and no wider one, and lifts by the gap and a hair, shown as a signal."""
    space = lodgings(opening, old=0.8, new=0.8 - gap)
    recall = space.recall(NOWADAYS, policy=succeeding(0.1))
    assert ids(recall) == (["new", "old"] if gap < 0.1 else ["old", "new"])
    for hit in recall:
        lift = hit.signals["succession"].contribution if "succession" in hit.signals else 0.0
        assert 0 <= lift <= 0.1 + STEP
        assert hit.reproduced() == hit.score


def test_succession_passes_nothing_clearly_better(opening: Opening) -> None:
    """A lifted memory stands just above what it succeeds, not above a third that was better than both."""
    rows = {"old": [0.6, 0.79, 0.12, 0], "new": [0.55, 0.82, 0.16, 0], "better": [0.75, 0, 0, 0.66]}
    space = opening(embedder=MappedEmbedder({NOWADAYS: [1, 0, 0, 0], **rows})).space("a")
    for place, name in enumerate(rows):
        space.remember(name, id=name, at=NOW - timedelta(days=100 - place))
    assert ids(space.recall(NOWADAYS, policy=succeeding(0.5).replace(limit=3)))[0] in {"better", "new"}
    assert ids(space.recall(NOWADAYS, policy=succeeding(0.1))) == ["better", "new", "old"]


def test_unlike_memories_do_not_succeed_one_another(opening: Opening) -> None:
    """A newer memory on another matter is no successor, however near their scores."""
    space = opening(embedder=cosines({"old": 0.61, "new": 0.6}, NOWADAYS)).space("a")
    space.remember("old", id="old", at=NOW - timedelta(days=100))
    space.remember("new", id="new")
    assert ids(space.recall(NOWADAYS, policy=succeeding(0.2))) == ["old", "new"]


# The conversation around


def conversation(opening: Opening, wanted: dict[str, float], cue: str, **sessions: str) -> Space:
    space = opening(embedder=cosines(wanted, cue)).space("a")
    for minute, text in enumerate(wanted):
        space.remember(text, id=text, at=NOW + timedelta(minutes=minute), session=sessions.get("session", "s1"))
    return space


TURNS = {f"turn {n}": 0.05 for n in range(60)} | {"where is the key?": 0.9, "under the mat": 0.0, "thanks": 0.02}
AROUND = only("similarity", "context", neighbours=2, pool=5, limit=5)


def test_an_answer_follows_its_question(opening: Opening) -> None:
    """A turn that shares nothing with the cue is found because the turn before it asked just that."""
    space = conversation(opening, TURNS, "key")
    recall = space.recall("key", policy=AROUND, touch=False)
    assert set(ids(recall)[:2]) == {"where is the key?", "under the mat"}
    found = {hit.memory.id: hit for hit in recall}
    assert found["under the mat"].signals["context"].raw > found["thanks"].signals["context"].raw > 0
    alone = space.recall("key", policy=only("similarity", "context", pool=5, limit=5), touch=False)
    assert "under the mat" not in ids(alone)


def test_another_conversation_is_not_around(opening: Opening) -> None:
    """Neighbours are of one session; turns without a session have none."""
    home = opening(embedder=cosines(TURNS, "key"))
    for path, session in (("other", None), ("mixed", "s")):
        space = home.space(path)
        for minute, text in enumerate(TURNS):
            own = f"s{minute}" if session else None
            space.remember(text, id=text, at=NOW + timedelta(minutes=minute), session=own)
        recall = space.recall("key", policy=AROUND, touch=False)
        assert all(hit.signals["context"].raw == 0 for hit in recall)
        assert not any("context" in hit.channels for hit in recall)


def test_neighbours_pass_the_gate_too(opening: Opening) -> None:
    """A forgotten, superseded, pinned or filtered neighbour is not brought in through the back door."""
    space = conversation(opening, TURNS, "key")
    space.forget("under the mat")
    space.update("thanks", pinned=True)
    recall = space.recall("key", policy=AROUND, touch=False)
    assert not {"under the mat", "thanks"} & set(ids(recall))
    space.update("where is the key?", tags=["x"])
    assert ids(space.recall("key", policy=AROUND, tags=["x"], touch=False)) == ["where is the key?"]


# Late interaction


class Table(HashEmbedder):
    """An embedder whose token vectors are a table, as late interaction reads it."""

    def __init__(self, dimension: int = 32) -> None:
        super().__init__(dimension)
        self.words: list[str] = []
        self.asked = 0

    def token_ids(self, text: str) -> list[int]:
        self.asked += 1
        found = [word.strip(".,!?").lower() for word in text.split()]
        self.words += [word for word in dict.fromkeys(found) if word not in self.words]
        return [self.words.index(word) for word in found if word]

    def token_rows(self, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        return self.embed([self.words[place] for place in ids.tolist()])


LATE = only("late", channels=("vector", "recent"), pool=50)


def test_late_interaction_asks_whether_each_word_is_met(opening: Opening) -> None:
    """A text that meets every word of the question beats one that meets half; a perfect one scores 1."""
    space = opening(embedder=Table()).space("a")
    for text in ("green tea pot", "green paint", "blue sky"):
        space.remember(text)
    recall = space.recall("green tea", policy=LATE)
    assert texts(recall)[0] == "green tea pot"
    assert recall[0].score == pytest.approx(1.0, abs=1e-5)
    assert all(0 <= hit.score <= 1 for hit in recall)


def test_the_best_window_of_a_long_text_counts(opening: Opening) -> None:
    """Words met far apart in a long text are not met together."""
    space = opening(embedder=Table()).space("a")
    filler = "nothing to see here at all. " * 20
    space.remember(f"Green hills. {filler} Some tea.", id="apart")
    space.remember(f"{filler} Green tea. {filler}", id="together")
    found = {hit.memory.id: hit.score for hit in space.recall("green tea", policy=LATE)}
    assert found["together"] == pytest.approx(1.0, abs=1e-5)
    assert found["apart"] < 0.95


@pytest.mark.parametrize("cue", ["?", "the", "unheard-of words", "tea " * 500])
def test_late_interaction_takes_any_question(opening: Opening, cue: str) -> None:
    """No word, only stop words, unknown ones and far too many: numbers within 0 and 1, never NaN."""
    space = opening(embedder=Table()).space("a")
    space.remember_many(["green tea", "?!", "x" * 500])
    recall = space.recall(cue, policy=LATE)
    assert len(recall) == 3
    assert all(0 <= hit.score <= 1 for hit in recall)


def test_without_a_token_table_the_signal_is_nothing(opening: Opening) -> None:
    """An embedder that only embeds gives 0 for everyone: the rest of the policy decides."""
    space = opening().space("a")
    space.remember_many(["green tea", "blue sky"])
    assert [hit.score for hit in space.recall("green tea", policy=LATE)] == [0.0, 0.0]
    assert len(space.recall("green tea", policy=policies.retentive.replace(floor=None))) == 2


def test_the_cache_of_windows_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many texts are read, the pieces kept stay within the bound; the latest read are those kept."""
    monkeypatch.setattr(late, "CACHED", 1_000)
    table = Table()
    windows = Windows(table)
    for n in range(200):
        windows.of(f"text number {n} has seven words here")
        assert 0 < windows._size <= 1_000
        assert sum(part.nbytes for parts in windows._kept.values() for part in parts) <= 1_000
    asked = table.asked
    windows.of("text number 199 has seven words here")
    assert table.asked == asked
    windows.of("text number 0 has seven words here")
    assert table.asked == asked + 1


def test_a_text_beyond_every_bound_is_cut_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """One text larger than the whole cache is read and not kept; windows have at most 96 pieces."""
    monkeypatch.setattr(late, "CACHED", 1_000)
    windows = Windows(Table())
    cut = windows.of("word " * 1_000_000)
    assert sum(map(len, cut)) <= late.LONGEST_TEXT
    assert max(map(len, cut)) <= late.WINDOW * 3 // 2
    assert windows._size == 0


def test_threads_share_the_cache(opening: Opening) -> None:
    """Eight threads over one table get the windows that one gets alone."""
    from concurrent.futures import ThreadPoolExecutor

    table = Table()
    windows = Windows(table)
    told = [f"text number {n % 20} here" for n in range(400)]
    for text in told:
        table.token_ids(text)
    alone = [[part.tolist() for part in Windows(table).of(text)] for text in told]

    def read(text: str) -> Sequence[list[int]]:
        return [part.tolist() for part in windows.of(text)]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read, told)) == alone
    assert windows._size == sum(late._weight(*each) for each in windows._kept.items())


def test_speakers_count_where_the_cue_names_them(opening: Opening) -> None:
    """Said by the one asked about, or by the user where the question says "I"."""
    space = opening(clock=Clock()).space("a")
    for speaker in ("Liv Berg", "Kim", "user"):
        space.remember("likes tea", id=speaker, speaker=speaker)
    policy = only("speaker")
    said = {
        cue: {hit.memory.id for hit in space.recall(cue, policy=policy) if hit.score == 1}
        for cue in ("What does Liv like?", "What do I like?", "Who likes tea?")
    }
    assert said == {"What does Liv like?": {"Liv Berg"}, "What do I like?": {"user"}, "Who likes tea?": set()}
