"""The contract of `retentive.stores.protocol` as tests: whoever writes a store proves it with one fixture.

    from retentive.testing.store_contract import StoreContract

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self):
            return MyStore(...)

(In a conftest, `pytest.register_assert_rewrite("retentive.testing")` makes failures tell both sides.)
Each test makes one promise, said in its docstring. The parts: what is written (`store_contract_writes`), what is found
(`store_contract_finds`), what lies beside the memories (`store_contract_books`), the queue (`store_contract_jobs`), and
here the spaces themselves.
"""

from __future__ import annotations

import threading

import pytest

from retentive.errors import NotFound
from retentive.stores.protocol import CertifyingStore, CheckedStore, SpaceStore, Store
from retentive.testing.store_contract_books import BooksContract
from retentive.testing.store_contract_finds import FindsContract
from retentive.testing.store_contract_gates import GatesContract
from retentive.testing.store_contract_jobs import JobsContract
from retentive.testing.store_contract_writes import WritesContract
from retentive.testing.store_samples import EAST, HOSTILE, NOW, SPACE, add, gate, listed, sample
from retentive.types import Access, Json


class StoreContract(WritesContract, GatesContract, FindsContract, BooksContract, JobsContract):
    """Everything a store promises. Subclass it and give it a `store` fixture: an empty store for each test."""

    @pytest.fixture
    def store(self) -> Store:
        """Return an empty store; to be overridden."""
        raise NotImplementedError("Override the `store` fixture to return an empty store.")  # pragma: no cover

    @pytest.fixture
    def space(self, store: Store) -> SpaceStore:
        """Return one space of the store."""
        return store.open(SPACE)

    def test_is_a_store(self, store: Store, space: SpaceStore) -> None:
        """Store and space have every method of their protocols."""
        assert isinstance(store, Store)
        assert isinstance(space, SpaceStore)

    def test_a_space_knows_its_path(self, space: SpaceStore) -> None:
        """A space carries the path it was opened by."""
        assert space.path == SPACE

    def test_opening_an_absent_space_without_creating(self, store: Store) -> None:
        """`create=False` on an absent space is NotFound, and makes nothing."""
        with pytest.raises(NotFound):
            store.open("nobody", create=False)
        assert store.spaces() == []

    def test_spaces_are_listed_sorted(self, store: Store) -> None:
        """Every space that was opened is listed, once, by path order."""
        for path in ("b", "a/z", "a", "b"):
            store.open(path)
        assert store.spaces() == ["a", "a/z", "b"]

    def test_hostile_paths_stay_apart(self, store: Store) -> None:
        """Whatever a path is made of, it names one space and no other."""
        paths = [path for path in HOSTILE if path] + ["con", "CON", "Con.txt", "a/b", "a+b", "a%2fb", ".", "..", "a."]
        for path in paths:
            add(store.open(path), sample("a", space=path, text=path))
        assert store.spaces() == sorted(paths)
        assert [store.open(path).get(["a"])["a"].text for path in paths] == paths

    def test_a_prefix_is_no_parent(self, store: Store) -> None:
        """`acme` contains neither `acme-corp` nor `acme/alice`."""
        for path in ("acme", "acme-corp", "acme/alice"):
            add(store.open(path), sample(path, space=path))
        assert listed(store.open("acme").page(gate(), limit=9)) == ["acme"]

    def test_no_read_crosses_spaces(self, store: Store, space: SpaceStore) -> None:
        """No id, row, term, entity, cursor, journal, ledger or setting of one space is visible in another."""
        secret = sample("secret", entities=("bob",), tags=("t",), metadata={"k": 1}, session="s", key="k")
        add(space, secret, terms=("word",))
        rows = space.recent(gate(), 1).rows
        other = store.open("other")
        add(other, sample("mine", space="other"), terms=("nothing",))
        seen = [other.nearest(EAST, gate(hidden=True), 9), other.matching(["word"], gate(), 9)]
        seen += [other.mentioning(["bob"], gate(), 9), other.recent(gate(), 9), other.important(gate(), 9)]
        assert {key for found in seen for key in other.columns(found.rows).ids} <= {"mine"}
        assert other.get(["secret"]) == {}
        assert other.vectors(["secret"]) == {}
        assert "secret" not in other.columns(rows).ids
        assert other.known_entities(["bob"]) == frozenset()
        assert other.count(gate(tags=frozenset({"t"}))) == 0
        assert other.count(gate(where={"k": 1})) == 0
        with other.transaction() as transaction:
            assert transaction.get("secret") is None
            assert transaction.holders("k") == []
            transaction.set_access({"secret": Access(last_at=NOW, count=1.0)})
            assert not transaction.erase("secret")
        assert space.get(["secret"])["secret"] == secret

    def test_dropping_a_space(self, store: Store, space: SpaceStore) -> None:
        """Dropping removes everything; a space of that path begins empty."""
        add(space, sample("a"))
        assert store.drop(SPACE)
        assert store.spaces() == []
        assert not store.drop(SPACE)
        assert store.open(SPACE).count(gate(hidden=True)) == 0

    def test_a_handle_of_a_dropped_space(self, store: Store, space: SpaceStore) -> None:
        """A handle that outlived its space says so, and never shows what was dropped."""
        add(space, sample("a"))
        store.drop(SPACE)
        with pytest.raises(NotFound):
            space.get(["a"])
        with pytest.raises(NotFound):
            add(space, sample("b"))
        store.open(SPACE)
        assert space.get(["a"]) == {}

    def test_certificates_outlive_spaces(self, store: Store, space: SpaceStore) -> None:
        """What was done to whole spaces is kept beside them, in order, and is no space itself."""
        if not isinstance(store, CertifyingStore):
            pytest.skip("this store keeps no certificates")
        add(space, sample("a"))
        before = store.certificates()
        store.drop(SPACE)
        told: list[dict[str, Json]] = [{"at": "2026-05-01T12:00:00+00:00", "memories": 1}, {"space": "ü\n", "n": None}]
        for certificate in told:
            store.certify(certificate)
        assert store.certificates() == [*before, *told]
        assert store.spaces() == []
        assert store.open(SPACE).count(gate(hidden=True)) == 0

    def test_dropping_leaves_the_others(self, store: Store, space: SpaceStore) -> None:
        """Dropping one space touches no other."""
        add(space, sample("a"))
        store.open("acme")
        store.drop("acme")
        assert listed(space.page(gate(), limit=9)) == ["a"]

    def test_a_closed_space_reopens(self, store: Store, space: SpaceStore) -> None:
        """Using a space after closing it, or its store, opens it again with everything in it."""
        add(space, sample("a"))
        space.close()
        assert listed(space.page(gate(), limit=9)) == ["a"]
        store.close()
        add(space, sample("b"))
        assert space.count(gate()) == 2

    def test_handles_share_their_space(self, store: Store, space: SpaceStore) -> None:
        """What one handle writes the next read of another sees."""
        twin = store.open(SPACE)
        assert twin.count(gate()) == 0
        add(space, sample("a"))
        assert twin.count(gate()) == 1

    def test_threads_write_one_after_another(self, space: SpaceStore) -> None:
        """Read-modify-write in transactions loses nothing, however many threads do it."""

        def count_up() -> None:
            for _ in range(10):
                with space.transaction() as transaction:
                    value = transaction.setting("n") or 0
                    assert isinstance(value, int)
                    transaction.set_setting("n", value + 1)

        _together(count_up, 4)
        assert space.setting("n") == 40

    def test_threads_read_while_one_writes(self, space: SpaceStore) -> None:
        """A read sees whole transactions only: here always an even number of memories."""
        counts: list[int] = []

        def read() -> None:
            counts.extend(space.count(gate()) for _ in range(40))

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for number in range(0, 40, 2):
            add(space, sample(f"m{number}"), sample(f"m{number + 1}"))
        for reader in readers:
            reader.join()
        assert len(counts) == 120
        assert all(count % 2 == 0 for count in counts)

    def test_readers_do_not_wait_for_a_writer(self, space: SpaceStore) -> None:
        """While a transaction is under way, a read answers from what was committed before."""
        add(space, sample("a"))
        with space.transaction() as transaction:
            transaction.insert(sample("b"), EAST, ())
            seen: list[int] = []
            _together(lambda: seen.append(space.count(gate())), 1)
            assert seen == [1]
            assert space.count(gate()) == 1
        assert space.count(gate()) == 2

    def test_a_healthy_space_checks_clean(self, store: Store, space: SpaceStore) -> None:
        """A store that can examine itself finds nothing wrong after ordinary use."""
        if not isinstance(store, CheckedStore):
            pytest.skip("this store has no check()")
        add(space, sample("a"), sample("b"))
        assert space.count(gate()) == 2
        with space.transaction() as transaction:
            transaction.replace(sample("a", tags=("t",)), EAST, ("other",))
            transaction.erase("b")
        assert store.check(SPACE) == []


def _together(work: object, threads: int) -> None:
    """Run work in several threads, and raise here what failed there."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            assert callable(work)
            work()
        except BaseException as failure:  # noqa: BLE001 # handed over to the test's own thread
            failures.append(failure)

    running = [threading.Thread(target=run) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if failures:
        raise failures[0]
