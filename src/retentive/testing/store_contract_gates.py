"""The contract of gates, pages and counts: a gate removes, and does so before any limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from retentive.stores.protocol import Cursor, SpaceStore
from retentive.testing.store_samples import EAST, NORTH, NOW, add, at, gate, ids, listed, sample
from retentive.types import Found, Gate

CHANNELS: dict[str, Callable[[SpaceStore, Gate, int], Found]] = {
    "nearest": lambda space, gate, limit: space.nearest(EAST, gate, limit),
    "matching": lambda space, gate, limit: space.matching(["word"], gate, limit),
    "mentioning": lambda space, gate, limit: space.mentioning(["alice"], gate, limit),
    "within": lambda space, gate, limit: space.within(at(-9), at(9), gate, limit),
    "recent": lambda space, gate, limit: space.recent(gate, limit),
    "important": lambda space, gate, limit: space.important(gate, limit),
}
every_channel = pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS.keys())


def passing(space: SpaceStore, **changes: Any) -> set[str]:
    """Return the ids that pass a gate."""
    return set(listed(space.page(gate(**changes), limit=99)))


class GatesContract:
    """What a gate promises."""

    def test_kinds(self, space: SpaceStore) -> None:
        """Only the kinds asked for pass; no kind at all passes nothing."""
        add(space, sample("f"), sample("e", kind="event"), sample("c", kind="custom"))
        assert passing(space, kinds=frozenset({"event", "custom", "absent"})) == {"e", "c"}
        assert passing(space, kinds=frozenset()) == set()

    def test_tags_must_all_be_there(self, space: SpaceStore) -> None:
        """A memory must carry every tag of the gate."""
        add(space, sample("ab", tags=("a", "b")), sample("a", tags=("a",)), sample("none"))
        assert passing(space, tags=frozenset({"a"})) == {"ab", "a"}
        assert passing(space, tags=frozenset({"a", "b"})) == {"ab"}
        assert passing(space, tags=frozenset({"A"})) == set()

    @pytest.mark.parametrize(
        ("stored", "asked", "equal"),
        [
            (1, 1.0, True),
            (1, True, False),
            (0, False, False),
            ("1", 1, False),
            (None, None, True),
            ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, True),
            ([1, 2], [2, 1], False),
            ("é", "e\u0301", False),
            (2**70, 2**70, True),
        ],
    )
    def test_where_compares_json(self, space: SpaceStore, stored: Any, asked: Any, equal: bool) -> None:
        """Metadata is compared as JSON: numbers by value, booleans are no numbers, order of keys is nothing."""
        add(space, sample("a", metadata={"k": stored, "other": 1}))
        assert passing(space, where={"k": asked}) == ({"a"} if equal else set())

    def test_where_needs_the_entry(self, space: SpaceStore) -> None:
        """An absent entry equals nothing, not even null; all entries must match."""
        add(space, sample("none"), sample("one", metadata={"k": 1}), sample("two", metadata={"k": 1, "l": "x"}))
        assert passing(space, where={"l": None}) == set()
        assert passing(space, where={"k": 1, "l": "x"}) == {"two"}

    def test_created_from_until(self, space: SpaceStore) -> None:
        """`since` is included, `until` is not."""
        add(space, sample("a", days=-1), sample("b"), sample("c", days=1))
        assert passing(space, since=at(0)) == {"b", "c"}
        assert passing(space, until=at(0)) == {"a"}
        assert passing(space, since=at(-1), until=at(1)) == {"a", "b"}

    def test_ids(self, space: SpaceStore) -> None:
        """Only the memories named pass; no name at all, an unknown or a broken one passes nothing."""
        add(space, sample("a"), sample("b", kind="event"), sample("c"))
        assert passing(space, ids=frozenset({"a", "b", "absent", "\udc00"})) == {"a", "b"}
        assert passing(space, ids=frozenset({"a", "b"}), kinds=frozenset({"event"})) == {"b"}
        assert passing(space, ids=frozenset()) == set()

    def test_pinned(self, space: SpaceStore) -> None:
        """Recall asks for the unpinned, the core block for the pinned, and None is both."""
        add(space, sample("p", pinned=True), sample("u"))
        assert (passing(space, pinned=True), passing(space, pinned=False)) == ({"p"}, {"u"})
        assert passing(space) == {"p", "u"}

    def test_validity_is_asked_of_true_at(self, space: SpaceStore) -> None:
        """A memory holds from `valid_from` on, until `valid_until`."""
        add(space, sample("a", valid_from=at(1)), sample("b", valid_until=at(1)), sample("c"))
        assert passing(space, true_at=at(0)) == {"b", "c"}
        assert passing(space, true_at=at(1)) == {"a", "c"}

    def test_superseded_and_suppressed_are_gone_at_once(self, space: SpaceStore) -> None:
        """Without `known_at` the present state counts, whatever the moments say."""
        add(space, sample("a", superseded_at=at(9)), sample("b", suppressed_at=at(-9)), sample("c"))
        assert passing(space) == {"c"}

    def test_known_at_is_what_was_known_then(self, space: SpaceStore) -> None:
        """As of a moment: what had been said by then, and was not yet superseded or suppressed."""
        add(space, sample("early", days=-5, superseded_at=at(-2)), sample("mid", days=-3, suppressed_at=at(-1)))
        add(space, sample("late", days=-2))
        assert passing(space, known_at=at(-4)) == {"early"}
        assert passing(space, known_at=at(-2.5)) == {"early", "mid"}
        assert passing(space, known_at=at(-2)) == {"mid", "late"}
        assert passing(space, known_at=at(0)) == {"late"}

    def test_two_axes_of_time(self, space: SpaceStore) -> None:
        """What is true at one moment may be asked as known at another."""
        add(space, sample("lisbon", days=-5, valid_from=at(2)), sample("porto", days=-9, valid_until=at(2)))
        assert passing(space, true_at=at(3), known_at=at(-5)) == {"lisbon"}
        assert passing(space, true_at=at(3), known_at=at(-6)) == set()
        assert passing(space, true_at=at(1), known_at=at(-6)) == {"porto"}

    def test_hidden_lifts_the_veil_only(self, space: SpaceStore) -> None:
        """`hidden` adds superseded, suppressed and invalid ones; the other conditions stay."""
        add(space, sample("s", superseded_at=NOW), sample("p", suppressed_at=NOW), sample("i", valid_until=at(-1)))
        add(space, sample("e", kind="event", superseded_at=NOW), sample("f", days=2))
        assert passing(space, hidden=True) == {"s", "p", "i", "e", "f"}
        assert passing(space, hidden=True, kinds=frozenset({"event"})) == {"e"}
        assert passing(space, hidden=True, known_at=at(1)) == {"s", "p", "i", "e"}

    @every_channel
    def test_the_gate_comes_before_the_limit(
        self, space: SpaceStore, channel: Callable[[SpaceStore, Gate, int], Found]
    ) -> None:
        """A filtered answer is never under-filled by better rows that the gate removes."""
        strong = [sample(f"s{n}", importance=0.9, days=0.1, entities=("alice",)) for n in range(20)]
        weak = [sample(f"w{n}", importance=0.1, days=-5, entities=("alice", "b"), tags=("t",)) for n in range(3)]
        add(space, *strong, vector=EAST, terms=("word", "word"))
        add(space, *weak, vector=NORTH, terms=("word", "and", "many", "others"))
        found = channel(space, gate(tags=frozenset({"t"})), 3)
        assert ids(space, found) == ["w0", "w1", "w2"]
        assert len(channel(space, gate(), 5).rows) == 5

    @every_channel
    def test_ties_go_to_the_newer_then_the_id(
        self, space: SpaceStore, channel: Callable[[SpaceStore, Gate, int], Found]
    ) -> None:
        """Equal scores are ordered by newer creation, then by id, wherever the limit cuts."""
        common: dict[str, Any] = {"entities": ("alice",), "access": sample("x").access}
        names = ["b", "ä", "a" * 60 + "2", "a" * 60 + "1", "a", "B", "c\0", "c"]
        add(space, *(sample(name, **common) for name in names))
        expected = sorted(names)
        assert ids(space, channel(space, gate(), 99)) == expected
        for limit in range(len(names)):
            assert ids(space, channel(space, gate(), limit)) == expected[:limit]

    @every_channel
    def test_an_empty_space_answers_nothing(
        self, space: SpaceStore, channel: Callable[[SpaceStore, Gate, int], Found]
    ) -> None:
        """Nothing there, nothing that passes, or nothing asked for: an empty answer, not an error."""
        found = channel(space, gate(), 5)
        assert (len(found.rows), found.scanned, found.low, found.high, found.mean) == (0, 0, 0, 0, 0)
        add(space, sample("a", entities=("alice",)))
        found = channel(space, gate(kinds=frozenset({"event"})), 5)
        assert (len(found.rows), found.scanned, found.low, found.high, found.mean) == (0, 0, 0, 0, 0)
        assert len(channel(space, gate(), 0).rows) == 0

    @every_channel
    def test_an_answer_is_the_same_twice(
        self, space: SpaceStore, channel: Callable[[SpaceStore, Gate, int], Found]
    ) -> None:
        """The same question over the same state gives the same bytes."""
        add(space, *(sample(f"m{n}", entities=("alice",), days=-n % 3) for n in range(30)))
        first, second = channel(space, gate(), 20), channel(space, gate(), 20)
        assert first.rows.tobytes() == second.rows.tobytes()
        assert first.scores.tobytes() == second.scores.tobytes()

    def test_pages_are_newest_first(self, space: SpaceStore) -> None:
        """A page lists by newer creation, then id."""
        add(space, sample("b"), sample("a"), sample("new", days=1), sample("old", days=-1))
        assert listed(space.page(gate(), limit=9)) == ["new", "a", "b", "old"]

    def test_pages_continue_behind_a_cursor(self, space: SpaceStore) -> None:
        """Walking by cursor lists every memory once, also where many share a moment or the cursor's memory is gone."""
        names = [f"m{number}" for number in range(10)]
        add(space, *(sample(name, days=int(name[1:]) // 4) for name in names))
        walked: list[str] = []
        after = None
        while page := space.page(gate(), limit=3, after=after):
            walked += listed(page)
            after = Cursor(page[-1].created_at, page[-1].id)
        assert walked == listed(space.page(gate(), limit=99))
        assert sorted(walked) == names
        assert listed(space.page(gate(), limit=2, after=Cursor(at(1), "m55"))) == ["m6", "m7"]

    def test_counts(self, space: SpaceStore) -> None:
        """A count is of everything that passes, whatever the size of a page."""
        add(space, *(sample(f"m{number}", pinned=number < 3) for number in range(10)))
        assert (space.count(gate()), space.count(gate(pinned=True))) == (10, 3)
        assert space.page(gate(), limit=0) == []
