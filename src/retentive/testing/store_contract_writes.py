"""The contract of transactions: insert, replace, access, staged vectors, erasure, rollback."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from retentive.errors import InvalidInput, NotFound
from retentive.stores.protocol import SpaceStore, Transaction
from retentive.testing.store_samples import (
    EAST,
    HOSTILE,
    NORTH,
    NOW,
    add,
    at,
    gate,
    ids,
    line,
    listed,
    recalled,
    sample,
    unit,
)
from retentive.types import NEVER_READ, Access

FULL: dict[str, Any] = {
    "text": "Alice moved to Lisbon",
    "kind": "event",
    "importance": 0.8,
    "key": "home",
    "tags": ("a", "b"),
    "source": "chat",
    "metadata": {"n": 1, "deep": {"list": [1, 2.5, None, True, "x"]}},
    "speaker": "Alice",
    "session": "s1",
    "entities": ("alice", "lisbon"),
    "valid_from": at(-3),
    "valid_until": at(3),
    "superseded_at": at(1),
    "superseded_by": "z",
    "supersedes": ("x", "y"),
    "derived_from": ("d",),
    "suppressed_at": at(2),
    "pinned": True,
    "permanent": True,
    "recurs": "yearly",
    "trust": 0.9,
    "updated_at": at(0.5),
}
READ = Access(last_at=at(0.1), count=2.5, recent=(at(0.05), at(0.1)), pending_at=at(0.2))


class Refused(Exception):
    """What a test raises to have a transaction rolled back."""


class WritesContract:
    """What a transaction promises."""

    def test_a_memory_comes_back_whole(self, space: SpaceStore) -> None:
        """Every field of a memory survives being stored, to the microsecond."""
        memory = sample("full", **FULL, access=READ)
        memory = memory.changed(created_at=NOW + timedelta(microseconds=1), recorded_at=at(9))
        add(space, memory)
        assert space.get(["full"]) == {"full": memory}

    def test_a_bare_memory_comes_back_bare(self, space: SpaceStore) -> None:
        """What was not given stays absent."""
        add(space, sample("bare"))
        assert space.get(["bare"])["bare"] == sample("bare")
        assert space.get(["bare"])["bare"].access == NEVER_READ

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_strings_survive(self, space: SpaceStore, text: str) -> None:
        """Any string is stored as it is, in every field, and found again by it."""
        fields: dict[str, Any] = {
            "text": text,
            "key": text,
            "tags": (text,),
            "entities": (text,),
            "source": text,
            "session": text,
        }
        memory = sample(text, **fields, speaker=text, metadata={text: text}, derived_from=(text,))
        add(space, memory, sample("decoy"), terms=("word", text))
        assert space.get([text]) == {text: memory}
        assert listed(space.page(gate(tags=frozenset({text})), limit=9)) == [text]
        assert listed(space.page(gate(where={text: text}), limit=9)) == [text]
        assert ids(space, space.mentioning([text], gate(), 9)) == [text]
        assert set(ids(space, space.matching([text], gate(), 9))) == {text, "decoy"}
        with space.transaction() as transaction:
            assert listed(transaction.holders(text)) == [text]

    def test_a_text_of_a_megabyte(self, space: SpaceStore) -> None:
        """A text of a million characters is stored whole."""
        add(space, sample("big", text="é" * 1_000_000))
        assert space.get(["big"])["big"].text == "é" * 1_000_000

    def test_lone_surrogates_are_refused(self, space: SpaceStore) -> None:
        """A string that no file can hold is refused by name; asking for one finds nothing."""
        broken = "\ud800"
        for field in ("text", "id", "key", "source"):
            with pytest.raises(InvalidInput, match=field), space.transaction() as transaction:
                transaction.insert(sample("a").changed(**{field: broken}), EAST, ())
        assert space.get([broken]) == {}
        assert space.count(gate(tags=frozenset({broken}))) == 0
        assert space.count(gate(where={broken: 1})) == 0
        assert space.read_journal(broken) == []
        assert space.recall_entry(broken) is None
        assert space.setting(broken) is None
        assert len(space.mentioning([broken], gate(), 9).rows) == 0
        assert len(space.matching([broken], gate(), 9).rows) == 0
        with space.transaction() as transaction:
            assert transaction.get(broken) is None
            assert not transaction.erase(broken)

    def test_an_existing_id_is_refused(self, space: SpaceStore) -> None:
        """Inserting an id twice is InvalidInput, and the first stays."""
        add(space, sample("a", text="first"))
        with pytest.raises(InvalidInput, match="'a'"):
            add(space, sample("a", text="second"))
        assert space.get(["a"])["a"].text == "first"

    def test_another_spaces_memory_is_refused(self, space: SpaceStore) -> None:
        """A memory that says it belongs elsewhere is not taken."""
        with pytest.raises(InvalidInput, match="other"):
            add(space, sample("a", space="other"))

    def test_a_vector_of_another_dimension_is_refused(self, space: SpaceStore) -> None:
        """All current vectors of a space have one length, and none holds NaN."""
        add(space, sample("a"))
        for vector in (np.ones(3, np.float32), np.ones((1, 4), np.float32), np.full(4, np.nan, np.float32)):
            with pytest.raises(InvalidInput, match="vector"):
                add(space, sample("b"), vector=vector)
        with pytest.raises(InvalidInput, match="vector"):
            space.nearest(np.ones(3, np.float32), gate(), 1)

    def test_metadata_that_is_not_json_is_refused(self, space: SpaceStore) -> None:
        """Metadata comes back as it went in, or is refused."""
        for value in (float("nan"), object(), {1, 2}):
            with pytest.raises(InvalidInput, match="metadata"):
                add(space, sample("a", metadata={"k": value}))

    def test_the_callers_mapping_is_not_kept(self, space: SpaceStore) -> None:
        """Changing a mapping or vector after the write changes nothing stored."""
        metadata: dict[str, Any] = {"k": 1}
        vector = EAST.copy()
        add(space, sample("a", metadata=metadata), vector=vector)
        metadata["k"] = 2
        vector[:] = NORTH
        assert space.get(["a"])["a"].metadata == {"k": 1}
        assert space.nearest(EAST, gate(), 1).scores[0] == pytest.approx(1)

    def test_a_transaction_reads_its_own_writes(self, space: SpaceStore) -> None:
        """What a transaction wrote it sees."""
        with space.transaction() as transaction:
            transaction.insert(sample("a", key="k"), EAST, ())
            assert listed(transaction.holders("k")) == ["a"]
            transaction.replace(sample("a", key="other"))
            assert transaction.holders("k") == []
            transaction.set_setting("s", [1])
            assert transaction.setting("s") == [1]

    def test_terms_can_be_replaced_alone(self, space: SpaceStore) -> None:
        """As where a space is indexed in another language: fields, vector and accesses stay."""
        add(space, sample("a", tags=("t",)), terms=("old", "both"), vector=NORTH)
        with space.transaction() as transaction:
            transaction.set_access({"a": READ})
        before = space.get(["a"])
        with space.transaction() as transaction:
            transaction.replace(before["a"], None, ("new", "both", "both"))
        assert space.get(["a"]) == before
        assert len(space.matching(["old"], gate(), 9).rows) == 0
        assert ids(space, space.matching(["new"], gate(), 9)) == ["a"]
        assert ids(space, space.matching(["both"], gate(), 9)) == ["a"]
        assert space.nearest(NORTH, gate(), 1).scores[0] == pytest.approx(1)

    def test_what_is_refused_does_not_end_the_transaction(self, space: SpaceStore) -> None:
        """An id or a recall that is there already: what was done before stays, and what comes after is done."""
        with space.transaction() as transaction:
            transaction.insert(sample("a"), EAST, ("word",))
            transaction.log_recall(recalled("r"))
            with pytest.raises(InvalidInput, match="'a'"):
                transaction.insert(sample("a", text="another"), NORTH, ("other",))
            with pytest.raises(InvalidInput, match="'r'"):
                transaction.log_recall(recalled("r"))
            transaction.insert(sample("b"), EAST, ("word",))
        assert sorted(ids(space, space.matching(["word", "other"], gate(), 9))) == ["a", "b"]
        assert space.get(["a"])["a"] == sample("a")
        assert [entry.id for entry in space.read_ledger()] == ["r"]

    def test_another_dimension_once_everything_is_erased(self, space: SpaceStore) -> None:
        """Within one transaction too: what is empty has no dimension."""
        with space.transaction() as transaction:
            transaction.insert(sample("a"), EAST, ())
            with pytest.raises(InvalidInput):
                transaction.insert(sample("b"), EAST[:2], ())
            transaction.erase("a")
            transaction.insert(sample("b"), EAST[:2], ())
        assert listed(space.page(gate(), limit=9)) == ["b"]

    def test_an_exception_rolls_back_whole(self, space: SpaceStore) -> None:
        """Nothing a failed transaction did remains, in any table."""
        add(space, sample("kept", text="before", tags=("t",)), terms=("before",))

        def spoil(transaction: Transaction) -> None:
            transaction.insert(sample("new"), NORTH, ("new",))
            transaction.replace(sample("kept", text="after"), NORTH, ("after",))
            transaction.set_access({"kept": READ})
            transaction.stage_vectors({"kept": NORTH})
            transaction.journal(line())
            transaction.log_recall(recalled("r"))
            transaction.set_setting("s", 1)
            transaction.erase("kept")
            raise Refused

        with pytest.raises(Refused), space.transaction() as transaction:
            spoil(transaction)
        assert listed(space.page(gate(hidden=True), limit=9)) == ["kept"]
        assert space.get(["kept"])["kept"] == sample("kept", text="before", tags=("t",))
        assert ids(space, space.matching(["before", "after", "new"], gate(), 9)) == ["kept"]
        assert space.nearest(EAST, gate(), 1).scores[0] == pytest.approx(1)
        assert (space.read_journal(), space.read_ledger(), space.settings()) == ([], [], {})
        with space.transaction() as transaction:
            assert listed(transaction.unstaged(9)) == ["kept"]

    def test_an_ended_transaction_is_over(self, space: SpaceStore) -> None:
        """A transaction that was kept beyond its block refuses to work."""
        with space.transaction() as transaction:
            transaction.insert(sample("a"), EAST, ())
        with pytest.raises(InvalidInput):
            transaction.insert(sample("b"), EAST, ())
        with pytest.raises(InvalidInput):
            transaction.get("a")

    def test_holders_are_the_retrievable_newest_first(self, space: SpaceStore) -> None:
        """Superseded and suppressed memories hold their key no more; ties go by id."""
        add(space, sample("old", days=-2, key="k"), sample("b", key="k"), sample("a", key="k"), sample("c", key="x"))
        add(space, sample("gone", key="k", superseded_at=NOW), sample("hid", key="k", suppressed_at=NOW), sample("n"))
        with space.transaction() as transaction:
            assert listed(transaction.holders("k")) == ["a", "b", "old"]
            assert transaction.holders("none") == []

    def test_expecting_ids_changes_no_answer(self, space: SpaceStore) -> None:
        """Whatever was said to come is there or not as before: before and after it is added, erased, added again."""
        add(space, sample("there"))
        with space.transaction() as transaction:
            transaction.expect(["there", "new", "\ud800", "there", ""])
            assert (transaction.get("there"), transaction.get("new")) == (sample("there"), None)
            transaction.insert(sample("new"), EAST, ("word",))
            transaction.redact()
            transaction.expect(["new", "there", "again"])
            assert transaction.get("new") == sample("new")
            with pytest.raises(InvalidInput, match="exists already"):
                transaction.insert(sample("there"), EAST, ())
            transaction.erase("there")
            transaction.expect(["there"])
            assert transaction.get("there") is None
            transaction.insert(sample("there", text="anew"), EAST, ())
            assert transaction.get("there") == sample("there", text="anew")
        assert sorted(space.get(["there", "new", "again"])) == ["new", "there"]

    def test_replacing_keeps_access_vector_and_terms(self, space: SpaceStore) -> None:
        """`replace` overwrites every field but the access state, and index and vector only where given."""
        add(space, sample("a", tags=("old",), entities=("e",), metadata={"k": 1}, access=READ), terms=("alpha",))
        with space.transaction() as transaction:
            transaction.replace(sample("a", **FULL, access=Access(count=99)))
        assert space.get(["a"])["a"] == sample("a", **FULL, access=READ)
        hidden = gate(hidden=True)
        assert ids(space, space.matching(["alpha"], hidden, 9)) == ["a"]
        assert space.nearest(EAST, hidden, 1).scores[0] == pytest.approx(1)
        assert space.count(gate(hidden=True, tags=frozenset({"old"}))) == 0
        assert space.count(gate(hidden=True, tags=frozenset({"a", "b"}))) == 1
        assert space.count(gate(hidden=True, where={"k": 1})) == 0
        assert space.known_entities(["e", "alice"]) == {"alice"}

    def test_replacing_vector_and_terms(self, space: SpaceStore) -> None:
        """Given a vector and terms, `replace` leaves nothing of the old ones."""
        add(space, sample("a"), terms=("alpha", "beta"))
        with space.transaction() as transaction:
            transaction.replace(sample("a"), NORTH, ("beta", "gamma"))
        assert len(space.matching(["alpha"], gate(), 9).rows) == 0
        assert ids(space, space.matching(["gamma"], gate(), 9)) == ["a"]
        assert space.nearest(NORTH, gate(), 1).scores[0] == pytest.approx(1)

    def test_replacing_an_absent_memory(self, space: SpaceStore) -> None:
        """An absent id is NotFound."""
        with pytest.raises(NotFound, match="'a'"), space.transaction() as transaction:
            transaction.replace(sample("a"))

    def test_access_is_overwritten(self, space: SpaceStore) -> None:
        """`set_access` overwrites the whole access state; ids erased meanwhile are ignored."""
        add(space, sample("a"), sample("b"))
        with space.transaction() as transaction:
            transaction.set_access({"a": READ, "gone": READ})
        assert [space.get([key])[key].access for key in ("a", "b")] == [READ, NEVER_READ]
        with space.transaction() as transaction:
            transaction.set_access({"a": Access(pending_at=NOW)})
        assert space.get(["a"])["a"].access == Access(pending_at=NOW)

    def test_the_unstaged_come_oldest_row_first(self, space: SpaceStore) -> None:
        """Re-embedding asks for those without a staged vector, in the order they were written."""
        add(space, sample("b"), sample("a", days=-1), sample("c"))
        with space.transaction() as transaction:
            assert listed(transaction.unstaged(2)) == ["b", "a"]
            transaction.stage_vectors({"b": unit(0, 0, 1), "gone": NORTH})
            assert listed(transaction.unstaged(9)) == ["a", "c"]

    def test_staged_vectors_wait(self, space: SpaceStore) -> None:
        """Staged vectors answer nothing until they are switched in, all at once; they may have another length."""
        add(space, sample("a"), sample("b"))
        with space.transaction() as transaction:
            transaction.stage_vectors({"a": np.array([0, 1], np.float32)})
        assert space.nearest(EAST, gate(), 1).scores[0] == pytest.approx(1)
        with pytest.raises(InvalidInput, match="1 "), space.transaction() as transaction:
            transaction.switch_vectors()
        with space.transaction() as transaction:
            transaction.stage_vectors({"b": np.array([1, 0], np.float32)})
            transaction.switch_vectors()
        assert ids(space, space.nearest(np.array([1, 0], np.float32), gate(), 2)) == ["b", "a"]
        with space.transaction() as transaction:
            assert listed(transaction.unstaged(9)) == ["a", "b"]

    def test_staged_vectors_have_one_length(self, space: SpaceStore) -> None:
        """A staged vector that does not fit the others is refused."""
        add(space, sample("a"), sample("b"))
        with pytest.raises(InvalidInput, match="vector"), space.transaction() as transaction:
            transaction.stage_vectors({"a": np.ones(2, np.float32), "b": np.ones(3, np.float32)})

    def test_a_new_vector_drops_the_staged_one(self, space: SpaceStore) -> None:
        """A text that changed must be embedded again; a change without a vector keeps what was staged."""
        add(space, sample("a"), sample("b"))
        with space.transaction() as transaction:
            transaction.stage_vectors({"a": NORTH, "b": NORTH})
            transaction.replace(sample("a", text="new"), EAST)
            transaction.replace(sample("b", importance=0.1))
            assert listed(transaction.unstaged(9)) == ["a"]

    def test_discarding_the_staged(self, space: SpaceStore) -> None:
        """All staged vectors are forgotten, the current ones stay."""
        add(space, sample("a"))
        with space.transaction() as transaction:
            transaction.stage_vectors({"a": NORTH})
            transaction.discard_staged()
            assert listed(transaction.unstaged(9)) == ["a"]
        assert space.nearest(EAST, gate(), 1).scores[0] == pytest.approx(1)

    def test_erasing_removes_it_everywhere(self, space: SpaceStore) -> None:
        """After erasure no read of any kind finds the memory."""
        add(space, sample("a", **{**FULL, "superseded_at": None, "suppressed_at": None}), terms=("alpha",))
        add(space, sample("b", session="s1"))
        row = space.matching(["alpha"], gate(), 1).rows
        with space.transaction() as transaction:
            transaction.stage_vectors({"a": NORTH})
            assert transaction.erase("a")
            assert transaction.get("a") is None
            assert not transaction.erase("a")
        assert space.get(["a"]) == {}
        assert space.vectors(["a"]) == {}
        assert listed(space.page(gate(hidden=True), limit=9)) == ["b"]
        assert ids(space, space.nearest(EAST, gate(), 9)) == ["b"]
        assert len(space.matching(["alpha"], gate(), 9).rows) == 0
        assert len(space.columns(row)) == 0
        assert space.memories(row) == []
        assert space.known_entities(["alice"]) == frozenset()
        assert space.entity_links(["alice"], 9) == {}
        assert space.count(gate(tags=frozenset({"a"}))) == 0

    def test_an_erased_id_may_come_again(self, space: SpaceStore) -> None:
        """A new memory under an erased id has nothing of the old one, nor its row."""
        add(space, sample("a", access=READ), terms=("alpha",))
        row = space.recent(gate(), 1).rows
        with space.transaction() as transaction:
            transaction.erase("a")
        add(space, sample("a", text="new"))
        assert space.get(["a"])["a"] == sample("a", text="new")
        assert len(space.columns(row)) == 0

    def test_everything_erased_frees_the_dimension(self, space: SpaceStore) -> None:
        """An empty space takes vectors of any length."""
        add(space, sample("a"))
        assert space.count(gate()) == 1
        with space.transaction() as transaction:
            transaction.erase("a")
        add(space, sample("b"), vector=np.array([0, 1], np.float32))
        assert ids(space, space.nearest(np.array([0, 1], np.float32), gate(), 9)) == ["b"]
