"""Every store does whatever the reference does: random writes, every read, reopening, and a second store beside it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from retentive.errors import RetentiveError
from retentive.stores.memory import MemoryStore
from retentive.stores.postgres import PostgresStore
from retentive.stores.protocol import Cursor, SpaceStore, Transaction
from retentive.stores.ranking import cosines
from retentive.stores.sqlite import SqliteStore
from retentive.testing import strategies
from retentive.types import Access, Finding, Found, Gate, JournalEntry, LedgerEntry, Memory, Vectors

SPACE = "acme/alice"
LIMITS = st.integers(0, 6)
Tested: TypeAlias = SqliteStore | PostgresStore


class StopTransaction(Exception):
    """Raised to roll back."""


class StoreMachine(RuleBasedStateMachine):
    """Drives a `MemoryStore` and two other stores over one place, and compares all they answer."""

    @initialize(filled=st.integers(0, len(strategies.IDS)), seed=st.integers(0, 2**32 - 1))
    def begin(self, filled: int, seed: int) -> None:
        random = Random(seed)
        self.reference = MemoryStore().open(SPACE)
        self.folder = Path(tempfile.mkdtemp(prefix="retentive-machine-"))
        self.mine, self.other = self.new_store(), self.new_store()
        self.turn = False
        everything = [strategies.memory(random, SPACE).changed(id=key) for key in strategies.IDS[:filled]]
        for memory in everything:
            entry = (memory, strategies.unit_vector(random), [random.choice(strategies.WORDS) for _ in range(4)])
            self.write(lambda transaction, entry=entry: transaction.insert(*entry))  # type: ignore[misc] # a default

    def new_store(self) -> Tested:
        """Return a store over the same place as any other of this run."""
        return SqliteStore(self.folder)

    def teardown(self) -> None:
        for store in (self.mine, self.other):
            store.close()
        shutil.rmtree(self.folder)

    @property
    def tested(self) -> SpaceStore:
        """Return the space through one of the two stores in turn: what one wrote the other must see."""
        self.turn = not self.turn
        return (self.mine if self.turn else self.other).open(SPACE)

    def write(self, work: Callable[[Transaction], Any]) -> None:
        """Do the same in both; the outcome, be it an error, must be the same."""
        outcomes = [_outcome(space, work) for space in (self.reference, self.tested)]
        assert outcomes[0] == outcomes[1]

    def compare(self, ask: Callable[[SpaceStore], Any]) -> None:
        """Ask both the same."""
        assert ask(self.tested) == ask(self.reference)

    def compare_found(self, ask: Callable[[SpaceStore], Found], *, sampled: bool = False) -> None:
        """Ask both the same, and compare what was found to 1e-9, in its order.

        A sampled channel, or one that remembers, need not look at every row: how many, and their mean, are its own.
        """
        spaces = (self.reference, self.tested)
        expected, found = (ask(space) for space in spaces)
        ids = [space.columns(answer.rows).ids for space, answer in zip(spaces, (expected, found), strict=True)]
        assert ids[0] == ids[1]
        assert np.allclose(found.scores, expected.scores, rtol=1e-9, atol=1e-9)
        assert np.allclose((found.low, found.high), (expected.low, expected.high), rtol=1e-9, atol=1e-9)
        assert sampled or found.scanned == expected.scanned
        assert sampled or np.isclose(found.mean, expected.mean, rtol=1e-9, atol=1e-6)

    # Writes

    @rule(
        batch=st.lists(
            st.tuples(strategies.memories(SPACE), strategies.unit_vectors, strategies.terms), min_size=1, max_size=4
        )
    )
    def insert(self, batch: list[tuple[Memory, Vectors, list[str]]]) -> None:
        for entry in batch:
            self.write(lambda transaction, entry=entry: transaction.insert(*entry))  # type: ignore[misc] # a default

    @rule(
        memory=strategies.memories(SPACE),
        vector=st.none() | strategies.unit_vectors,
        terms=st.none() | strategies.terms,
    )
    def replace(self, memory: Memory, vector: Vectors | None, terms: list[str] | None) -> None:
        self.write(lambda transaction: transaction.replace(memory, vector, terms))

    @rule(accesses=st.dictionaries(strategies.ids, strategies.accesses, max_size=3))
    def touch(self, accesses: dict[str, Access]) -> None:
        self.write(lambda transaction: transaction.set_access(accesses))

    @rule(memory_id=strategies.ids)
    def erase(self, memory_id: str) -> None:
        self.write(lambda transaction: transaction.erase(memory_id))

    @rule(memory=strategies.memories(SPACE), vector=strategies.unit_vectors, gone=strategies.ids)
    def roll_back(self, memory: Memory, vector: Vectors, gone: str) -> None:
        def work(transaction: Transaction) -> None:
            transaction.erase(gone)
            transaction.insert(memory.changed(id="rolled back"), vector, ["cat"])
            transaction.set_setting("rolled back", 1)
            raise StopTransaction

        self.write(work)

    @rule(vectors=st.dictionaries(strategies.ids, strategies.unit_vectors, max_size=8))
    def stage(self, vectors: dict[str, Vectors]) -> None:
        self.write(lambda transaction: transaction.stage_vectors(vectors))

    @rule(data=st.data())
    def embed_again(self, data: st.DataObject) -> None:
        with self.reference.transaction() as transaction:
            missing = [memory.id for memory in transaction.unstaged(99)]
        vectors = {key: data.draw(strategies.unit_vectors) for key in missing}

        def work(transaction: Transaction) -> None:
            transaction.stage_vectors(vectors)
            transaction.switch_vectors()

        self.write(work)

    @rule()
    def discard_staged(self) -> None:
        self.write(lambda transaction: transaction.discard_staged())

    @rule(line=strategies.journal_lines)
    def journal(self, line: JournalEntry) -> None:
        self.write(lambda transaction: transaction.journal(line))

    @rule(entry=strategies.recall_entries)
    def log_recall(self, entry: LedgerEntry) -> None:
        self.write(lambda transaction: transaction.log_recall(entry))

    @rule(recall=strategies.labels, used=st.lists(strategies.ids, max_size=2), outcome=st.sampled_from([None, "bad"]))
    def log_feedback(self, recall: str, used: list[str], outcome: str | None) -> None:
        self.write(lambda transaction: transaction.log_feedback(recall, used, outcome))

    @rule(before=strategies.moments, keep=LIMITS)
    def trim_ledger(self, before: datetime, keep: int) -> None:
        self.write(lambda transaction: transaction.trim_ledger(before=before, keep=keep))

    @rule(finding=strategies.findings)
    def put_finding(self, finding: Finding) -> None:
        self.write(lambda transaction: transaction.put_finding(finding))

    @rule(name=strategies.labels, value=strategies.json_values)
    def set_setting(self, name: str, value: Any) -> None:
        self.write(lambda transaction: transaction.set_setting(name, value))

    @rule()
    def reopen(self) -> None:
        self.mine.close()
        self.mine = self.new_store()

    # Reads

    @rule(vector=strategies.unit_vectors, gate=strategies.gates, limit=LIMITS)
    def nearest(self, vector: Vectors, gate: Gate, limit: int) -> None:
        self.compare_found(lambda space: space.nearest(vector, gate, limit))
        self._nearest_by_force(vector, gate)

    def _nearest_by_force(self, vector: Vectors, gate: Gate) -> None:
        """Brute force is the oracle of search: no row that passes scores above what was returned."""
        space = self.tested
        everything = space.recent(gate, 999).rows
        if len(everything):
            scores = np.sort(cosines(space.columns(everything).vectors, vector))[::-1]
            assert np.array_equal(space.nearest(vector, gate, 3).scores, scores[:3])

    @rule(terms=strategies.terms, gate=strategies.gates, limit=LIMITS)
    def matching(self, terms: list[str], gate: Gate, limit: int) -> None:
        self.compare_found(lambda space: space.matching(terms, gate, limit), sampled=True)
        self.compare(lambda space: space.term_weights(terms).round(9).tolist())
        self.compare(lambda space: space.term_scores(terms, _all_rows(space)).round(9).tolist())

    @rule(entities=st.lists(strategies.labels, max_size=3), gate=strategies.gates, limit=LIMITS)
    def entities(self, entities: list[str], gate: Gate, limit: int) -> None:
        self.compare_found(lambda space: space.mentioning(entities, gate, limit))
        self.compare(lambda space: space.known_entities(entities))
        self.compare(lambda space: list(space.entity_links(entities, limit).items()))

    @rule(start=strategies.moments, end=strategies.moments, gate=strategies.gates, limit=LIMITS)
    def times(self, start: datetime, end: datetime, gate: Gate, limit: int) -> None:
        self.compare_found(lambda space: space.within(start, end, gate, limit))
        self.compare_found(lambda space: space.recent(gate, limit), sampled=True)
        self.compare_found(lambda space: space.important(gate, limit), sampled=True)

    @rule(gate=strategies.gates, limit=LIMITS, created=strategies.moments, key=strategies.ids)
    def lists(self, gate: Gate, limit: int, created: datetime, key: str) -> None:
        self.compare(lambda space: space.count(gate))
        self.compare(lambda space: space.page(gate, limit=limit))
        self.compare(lambda space: space.page(gate, limit=limit, after=Cursor(created, key)))

    @rule(gate=strategies.gates, reach=st.integers(0, 3))
    def neighbours(self, gate: Gate, reach: int) -> None:
        def named(space: SpaceStore) -> list[tuple[str, int, str]]:
            rows = _all_rows(space)
            names = dict(zip(rows.tolist(), space.columns(rows).ids, strict=True))
            found = space.neighbours(rows, gate, reach)
            return sorted((names[row], at, names[other]) for row, other, at in found.tolist())

        self.compare(named)

    @rule(key=strategies.ids, recall=strategies.labels, since=strategies.moments, limit=LIMITS)
    def books(self, key: str, recall: str, since: datetime, limit: int) -> None:
        self.compare(lambda space: space.read_journal(key))
        self.compare(lambda space: space.read_journal(after=2, limit=limit))
        self.compare(lambda space: space.read_ledger(since=since, policy="stream", limit=limit))
        self.compare(lambda space: space.read_ledger())
        self.compare(lambda space: space.recall_entry(recall))
        self.compare(lambda space: space.settings())
        self.compare(lambda space: space.findings(about=key))
        self.compare(lambda space: space.findings(kind="conflict", status="open", limit=limit))
        self.compare(lambda space: space.findings())

    @rule()
    def check(self) -> None:
        assert self.mine.check(SPACE) == []

    @invariant()
    def columns(self) -> None:
        self.compare(_columns)


def _outcome(space: SpaceStore, work: Callable[[Transaction], Any]) -> Any:
    try:
        with space.transaction() as transaction:
            return work(transaction)
    except (RetentiveError, StopTransaction) as error:
        return type(error)


def _all_rows(space: SpaceStore) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return all rows in one order for every store."""
    rows: np.ndarray[Any, np.dtype[np.int64]] = space.important(Gate(true_at=strategies.START, hidden=True), 999).rows
    return rows


def _columns(space: SpaceStore) -> list[Any]:
    """Return everything `columns`, `memories`, `get` and `vectors` say, as comparable values."""
    columns = space.columns(_all_rows(space), history=True)
    arrays = (columns.created, columns.last_access, columns.count, columns.importance, columns.trust, columns.permanent)
    told = [
        columns.ids,
        columns.kinds,
        columns.sessions,
        columns.speakers,
        columns.recurs,
        *(array.tobytes() for array in (*arrays, columns.vectors)),
        columns.history.tobytes() if columns.history is not None else None,
        space.memories(columns.rows),
        space.get(columns.ids),
    ]
    return [*told, {key: vector.tobytes() for key, vector in space.vectors(columns.ids).items()}]


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class PostgresMachine(StoreMachine):
    """The same over two `PostgresStore`s, each with connections of its own."""

    url: str

    def new_store(self) -> Tested:
        return PostgresStore(self.url, schema="machine")

    def teardown(self) -> None:
        self.mine.drop(SPACE)
        super().teardown()


def test_postgres_machine(postgres_url: str) -> None:
    """Fewer examples than of the embedded store: each step is a round trip to the server."""
    PostgresMachine.url = postgres_url
    fewer = settings(TestStoreMachine.settings, max_examples=15, stateful_step_count=25)
    run_state_machine_as_test(PostgresMachine, settings=fewer)
