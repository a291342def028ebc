"""The contract of what channels find, and of the numbers of what was found."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from retentive.stores.protocol import SpaceStore
from retentive.testing.store_samples import (
    EAST,
    NORTH,
    NOW,
    add,
    add_terms,
    add_vectors,
    at,
    gate,
    ids,
    listed,
    sample,
    unit,
)
from retentive.types import ACCESS_HISTORY, Access

NOTHING = np.empty(0, dtype=np.int64)


class FindsContract:
    """What the channels promise."""

    def test_derived(self, space: SpaceStore) -> None:
        """Who was derived from any of some ids: newest first, hidden ones too, each once; nobody for strangers."""
        add(space, sample("a"), sample("b"), sample("ab", days=2, derived_from=("a", "b")))
        add(space, sample("hidden", days=3, derived_from=("b", "gone"), suppressed_at=at(4)))
        assert [memory.id for memory in space.derived(["a", "b"])] == ["hidden", "ab"]
        assert [memory.id for memory in space.derived(["gone"])] == ["hidden"]
        assert space.derived(["ab", "stranger", "\ud83d", "g"]) == []
        assert space.derived([]) == []

    def test_nearest_is_the_exact_cosine(self, space: SpaceStore) -> None:
        """The best come first, scored with the cosine."""
        add_vectors(space, far=unit(-1), near=unit(1, 0.1), exact=EAST, side=NORTH)
        found = space.nearest(EAST, gate(), 3)
        assert ids(space, found) == ["exact", "near", "side"]
        assert found.scores == pytest.approx([1, 1 / math.sqrt(1.01), 0], abs=1e-6)

    def test_nearest_says_how_all_scored(self, space: SpaceStore) -> None:
        """`low`, `high`, `mean` and `scanned` are of all rows that passed, not of those returned."""
        add_vectors(space, far=unit(-1), side=NORTH, near=EAST)
        found = space.nearest(EAST, gate(), 1)
        assert (found.low, found.high) == pytest.approx((-1, 1))
        assert found.mean == pytest.approx(0, abs=1e-6)
        assert found.scanned == 3
        assert space.nearest(EAST, gate(until=at(-0.5), since=at(-1.5)), 1).high == pytest.approx(0)

    def test_equal_vectors_tie_wherever_they_lie(self, space: SpaceStore) -> None:
        """Two rows with one vector score the same to the last bit: their order is that of ties."""
        vector = unit(0.3, 0.2, 0.7, -0.4)
        add(space, *(sample(f"m{number:02}") for number in range(37)), vector=vector)
        found = space.nearest(unit(0.9, -0.1, 0.3, 0.2), gate(), 37)
        assert len(set(found.scores.tolist())) == 1
        assert ids(space, found) == [f"m{number:02}" for number in range(37)]

    def test_matching_is_bm25(self, space: SpaceStore) -> None:
        """The score is BM25 with k1 1.2, b 0.75 and idf ln(1+(N-n+0.5)/(n+0.5))."""
        add_terms(space, a="cat dog", b="cat cat bird", c="fish", d="fish fish cow", e="hen")
        mean = (2 + 3 + 1 + 3 + 1) / 5
        idf = math.log(1 + (5 - 2 + 0.5) / (2 + 0.5))

        def score(count: int, length: int) -> float:
            return idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))

        found = space.matching(["cat"], gate(), 9)
        assert ids(space, found) == ["b", "a"]
        assert found.scores == pytest.approx([score(2, 3), score(1, 2)], rel=1e-12)
        assert (found.low, found.high) == (0, found.scores[0])

    def test_matching_never_punishes(self, space: SpaceStore) -> None:
        """A term that most rows have still counts a little; `low` is above 0 only where every gated row matches."""
        add_terms(space, a="all", b="all one", c="all")
        found = space.matching(["all"], gate(), 9)
        assert len(found.rows) == 3
        assert 0 < found.low <= found.scores.min()
        assert space.matching(["one"], gate(), 9).low == 0

    def test_matching_counts_rows_behind_the_gate(self, space: SpaceStore) -> None:
        """The idf is the space's: which rows a gate lets through does not change a score."""
        add_terms(space, a="cat", b="dog", c="cat", d="hen", e="fox")
        alone = space.matching(["cat"], gate(until=at(-1.5)), 9)
        assert ids(space, alone) == ["c"]
        assert alone.scores[0] == space.matching(["cat"], gate(), 9).scores[1]

    def test_a_term_asked_for_twice_counts_once(self, space: SpaceStore) -> None:
        """Repeating a term in the question changes nothing."""
        add_terms(space, a="cat", b="dog", c="hen")
        once, twice = (space.matching(terms, gate(), 9) for terms in (["cat", "dog"], ["cat", "dog", "cat"]))
        assert once.scores.tolist() == twice.scores.tolist()

    def test_many_terms(self, space: SpaceStore) -> None:
        """A question may have a thousand terms, a document too, and a term a thousand characters."""
        long = "x" * 1000
        add(space, sample("a"), terms=[*(f"t{number}" for number in range(1000)), long + "1"])
        add(space, sample("b"), sample("c"), terms=("none",))
        assert ids(space, space.matching([f"t{number}" for number in range(900, 2000)], gate(), 9)) == ["a"]
        assert ids(space, space.matching([long + "1"], gate(), 9)) == ["a"]
        assert len(space.matching([long + "2", long], gate(), 9).rows) == 0

    @pytest.mark.parametrize("pair", [("A", "a"), ("é", "e"), ("zz", "zze"), ("a b", "a"), ("z7az", "z"), ("É", "é")])
    def test_terms_are_taken_as_they_are(self, space: SpaceStore, pair: tuple[str, str]) -> None:
        """No folding, no splitting: analysis was done above, and different terms are different."""
        add(space, sample("first"), terms=[pair[0]])
        add(space, sample("second"), terms=[pair[1]])
        assert [ids(space, space.matching([term], gate(), 9)) for term in pair] == [["first"], ["second"]]

    def test_no_terms_match_nothing(self, space: SpaceStore) -> None:
        """Without terms, or with unknown ones, the answer is empty."""
        add_terms(space, a="cat", b="")
        for terms in ([], ["unknown"], [""]):
            assert len(space.matching(terms, gate(), 9).rows) == 0

    def test_term_scores_are_those_of_matching(self, space: SpaceStore) -> None:
        """Any row may be scored for terms, in the order asked; 0 where none matches or the row is not there."""
        add_terms(space, a="cat dog", b="hen", c="cat", d="fox")
        found = space.matching(["cat", "dog"], gate(), 9)
        rows = space.recent(gate(), 9).rows
        scores = space.term_scores(["cat", "dog"], np.append(rows, 9999))
        assert dict(zip(rows.tolist(), scores.tolist(), strict=False)) == {
            **dict.fromkeys(rows.tolist(), 0.0),
            **dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True)),
        }
        assert scores[-1] == 0
        assert space.term_scores([], rows).tolist() == [0.0] * len(rows)

    def test_term_weights_are_idfs(self, space: SpaceStore) -> None:
        """A rarer term weighs more, an unknown one most, a common one hardly anything."""
        add_terms(space, a="cat all", b="all", c="all dog", d="all dog", e="all")
        weights = space.term_weights(["unknown", "cat", "dog", "all"])
        assert weights.tolist() == pytest.approx([math.log(12), math.log(4), math.log(2.4), math.log(12 / 11)])
        assert len(space.term_weights([])) == 0

    def test_mentioning_weighs_rare_entities_more(self, space: SpaceStore) -> None:
        """The score sums 1/ln(1+rows with it) over the shared entities."""
        add(space, sample("both", entities=("alice", "bob")), sample("a1", entities=("alice",)), sample("n"))
        found = space.mentioning(["bob", "alice", "bob", "nobody"], gate(), 9)
        assert ids(space, found) == ["both", "a1"]
        assert found.scores == pytest.approx([1 / math.log(3) + 1 / math.log(2), 1 / math.log(3)])
        assert (found.low, found.high, found.scanned) == (0, found.scores[0], 2)

    def test_within_is_nearest_to_the_middle(self, space: SpaceStore) -> None:
        """From start (included) to end (not); 1 in the middle, 0 at the edges."""
        add(space, *(sample(f"d{days}", days=days) for days in range(5)))
        found = space.within(at(0), at(4), gate(), 9)
        assert ids(space, found) == ["d2", "d3", "d1", "d0"]
        assert found.scores.tolist() == pytest.approx([1, 0.5, 0.5, 0])
        assert len(space.within(at(4), at(0), gate(), 9).rows) == 0
        assert len(space.within(at(1), at(1), gate(), 9).rows) == 0

    def test_recent_is_last_used_or_created(self, space: SpaceStore) -> None:
        """A memory read lately is recent, however old; the score is the moment in seconds."""
        add(
            space,
            sample("old", days=-9, access=Access(last_at=at(1), count=1.0)),
            sample("new"),
            sample("mid", days=-1),
        )
        found = space.recent(gate(), 2)
        assert ids(space, found) == ["old", "new"]
        assert found.scores.tolist() == [at(1).timestamp(), NOW.timestamp()]
        assert (found.low, found.high) == (at(-1).timestamp(), at(1).timestamp())

    def test_important(self, space: SpaceStore) -> None:
        """The greatest importance first."""
        add(space, sample("a", importance=0.2), sample("b", importance=0.9), sample("c", importance=0.5))
        found = space.important(gate(), 2)
        assert ids(space, found) == ["b", "c"]
        assert (found.scores.tolist(), found.low, found.high) == ([0.9, 0.5], 0.2, 0.9)

    def test_columns_are_side_by_side(self, space: SpaceStore) -> None:
        """Row i of every column is the same memory, in the order asked, repeated where asked twice."""
        access = Access(last_at=at(1), count=2.5, recent=(at(0.5), at(1)))
        full = sample("full", kind="event", importance=0.7, trust=0.8, permanent=True, session="s", recurs="yearly")
        add(space, full.changed(access=access, speaker="Bob"), vector=NORTH)
        add(space, sample("bare"))
        rows = space.recent(gate(), 2).rows[[1, 0, 1]]
        columns = space.columns(rows)
        assert columns.rows.tolist() == rows.tolist()
        assert columns.ids == ("bare", "full", "bare")
        assert columns.kinds == ("fact", "event", "fact")
        assert columns.vectors.tolist() == [EAST.tolist(), NORTH.tolist(), EAST.tolist()]
        assert columns.created.tolist() == [NOW.timestamp()] * 3
        assert columns.last_access[1] == at(1).timestamp()
        assert np.isnan(columns.last_access[[0, 2]]).all()
        assert columns.count.tolist() == [0, 2.5, 0]
        assert columns.importance.tolist() == [0.5, 0.7, 0.5]
        assert columns.trust.tolist() == [1, 0.8, 1]
        assert columns.permanent.tolist() == [False, True, False]
        assert (columns.sessions, columns.speakers) == ((None, "s", None), (None, "Bob", None))
        assert columns.recurs == (None, "yearly", None)
        assert columns.history is None

    def test_texts_of_rows(self, space: SpaceStore) -> None:
        """Texts come by row; rows that are gone are absent."""
        add(space, sample("a", text="first"), sample("b", text="second", days=-1))
        rows = space.recent(gate(), 2).rows
        assert space.texts(np.append(rows, 999)) == dict(zip(rows.tolist(), ["first", "second"], strict=True))
        assert space.texts(NOTHING) == {}

    def test_columns_follow_every_change(self, space: SpaceStore) -> None:
        """Replacing and reading a memory shows in its columns at once."""
        add(space, sample("a", recurs="yearly"))
        rows = space.recent(gate(), 1).rows
        with space.transaction() as transaction:
            transaction.replace(sample("a", kind="event", importance=0.9, session="s"), NORTH)
            transaction.set_access({"a": Access(last_at=at(1), count=3.0)})
        columns = space.columns(rows)
        assert (columns.kinds, columns.sessions, columns.recurs) == (("event",), ("s",), (None,))
        assert (columns.importance[0], columns.count[0]) == (0.9, 3)
        assert columns.vectors[0].tolist() == NORTH.tolist()

    def test_history_is_padded(self, space: SpaceStore) -> None:
        """The access moments stand newest last, NaN behind them."""
        moments = tuple(at(day) for day in range(ACCESS_HISTORY))
        add(space, sample("full", days=1, access=Access(moments[-1], 9.0, moments)), sample("none"))
        add(space, sample("two", days=-1, access=Access(at(1), 2.0, (at(0), at(1)))))
        history = space.columns(_rows(space), history=True).history
        assert history is not None
        assert history.shape == (3, ACCESS_HISTORY)
        by_id = dict(zip(space.columns(_rows(space)).ids, history, strict=True))
        assert by_id["full"].tolist() == [moment.timestamp() for moment in moments]
        assert by_id["two"][:2].tolist() == [at(0).timestamp(), at(1).timestamp()]
        assert np.isnan(by_id["two"][2:]).all()
        assert np.isnan(by_id["none"]).all()

    def test_columns_of_nothing(self, space: SpaceStore) -> None:
        """No rows, or rows that are not there, give empty columns."""
        for rows in (NOTHING, np.array([7, -1])):
            assert len(space.columns(rows, history=True)) == 0
            assert space.memories(rows) == []
        add(space, sample("a"))
        assert space.columns(NOTHING).vectors.shape[0] == 0

    def test_memories_in_the_order_asked(self, space: SpaceStore) -> None:
        """Memories of rows come in the order of the rows, those that are gone left out."""
        add(space, sample("a"), sample("b", days=-1))
        rows = space.recent(gate(), 2).rows
        assert listed(space.memories(np.array([rows[1], 999, rows[0]]))) == ["b", "a"]

    def test_get_leaves_out_the_unknown(self, space: SpaceStore) -> None:
        """Known ids are returned, hidden or not; unknown ones are absent."""
        add(space, sample("a", suppressed_at=NOW))
        assert set(space.get(["a", "nobody", "a"])) == {"a"}
        assert space.get([]) == {}

    def test_vectors_by_id(self, space: SpaceStore) -> None:
        """The current vectors of the known ids."""
        add_vectors(space, a=EAST, b=NORTH)
        vectors = space.vectors(["b", "nobody"])
        assert {key: vector.tolist() for key, vector in vectors.items()} == {"b": NORTH.tolist()}

    def test_neighbours_are_of_the_same_session(self, space: SpaceStore) -> None:
        """Neighbours go by order of creation, within reach, and skip what the gate removes."""
        for day in range(5):
            add(space, sample(f"s{day}", days=-day, session="s"))
        add(space, sample("hidden", days=-1.5, session="s", suppressed_at=NOW), sample("alone"))
        add(space, sample("t", days=-1, session="t"))
        rows = {key: int(row) for key, row in zip(ids(space, space.recent(gate(), 9)), _rows(space), strict=True)}
        found = space.neighbours(np.array([rows["s2"], rows["s0"], rows["alone"], rows["t"], 999]), gate(), 2)
        names = {row: key for key, row in rows.items()}
        assert sorted((names[row], offset, names[other]) for row, other, offset in found.tolist()) == [
            ("s0", -2, "s2"),
            ("s0", -1, "s1"),
            ("s2", -2, "s4"),
            ("s2", -1, "s3"),
            ("s2", 1, "s1"),
            ("s2", 2, "s0"),
        ]

    def test_turns_of_one_moment_keep_their_order(self, space: SpaceStore) -> None:
        """Where a whole session has one date, its turns are neighbours in the order they were written."""
        add(space, sample("z", session="s"), sample("a", session="s"), sample("m", session="s"))
        rows = {key: int(row) for key, row in zip(ids(space, space.recent(gate(), 9)), _rows(space), strict=True)}
        found = space.neighbours(np.array([rows["a"]]), gate(), 1)
        assert sorted(found.tolist()) == sorted([[rows["a"], rows["z"], -1], [rows["a"], rows["m"], 1]])

    def test_a_snapshot_is_one_state(self, space: SpaceStore) -> None:
        """Inside a snapshot a thread reads one state, whatever is written meanwhile; behind it, the new one."""
        add(space, sample("a"))
        with space.snapshot():
            before = space.count(gate())
            writer = threading.Thread(target=add, args=(space, sample("b")))
            writer.start()
            writer.join()
            assert space.count(gate()) == before == 1
            with space.snapshot():
                assert len(space.page(gate(), limit=9)) == 1
        assert space.count(gate()) == 2

    def test_known_entities(self, space: SpaceStore) -> None:
        """Of the keys asked, those that some memory mentions."""
        add(space, sample("a", entities=("alice", "bob")))
        assert space.known_entities(["bob", "carol", "Alice"]) == {"bob"}
        assert space.known_entities([]) == frozenset()
        add(space, sample("b", entities=("nul\0", "nul")))
        assert space.known_entities(["nul\0", "other\0", "bob", "\ud800"]) == {"nul\0", "bob"}
        assert space.known_entities(["nul\0"]) == {"nul\0"}

    def test_entity_links_are_one_hop(self, space: SpaceStore) -> None:
        """Entities that share memories with the given ones, most shared first, then by key; the given are left out."""
        add(space, sample("1", entities=("alice", "acme")), sample("2", entities=("alice", "acme", "bob")))
        add(space, sample("3", entities=("acme", "zoe")), sample("4", entities=("alice", "abe")))
        assert list(space.entity_links(["alice"], 9).items()) == [("acme", 2), ("abe", 1), ("bob", 1)]
        assert space.entity_links(["alice", "acme"], 2) == {"abe": 1, "bob": 1}
        assert space.entity_links(["nobody"], 9) == {}
        assert space.entity_links(["alice"], 0) == {}
        add(space, sample("5", entities=("alice", "zoe")), sample("6", entities=("zoe", "alice")))
        assert list(space.entity_links(["alice"], 2).items()) == [("acme", 2), ("zoe", 2)]
        with space.transaction() as transaction:
            transaction.erase("1")
        assert list(space.entity_links(["alice"], 2).items()) == [("zoe", 2), ("abe", 1)]


def _rows(space: SpaceStore) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    rows: np.ndarray[tuple[int], np.dtype[np.int64]] = space.recent(gate(), 99).rows
    return rows
