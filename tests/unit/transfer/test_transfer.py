"""Export and import: nothing lost, nothing doubled, nothing from a damaged file."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retentive.embedders.protocol import checked_vectors
from retentive.errors import EmbedderMismatch, InvalidInput, NotFound, RetentiveError
from retentive.indexing import EMBEDDER_SETTING, identity_setting, index_terms, passage
from retentive.stores.memory import MemoryStore
from retentive.stores.protocol import SpaceStore, Store, Transaction
from retentive.stores.sqlite.store import SqliteStore
from retentive.testing.fakes import HashEmbedder
from retentive.transfer import (
    export_space,
    exported_space,
    import_file,
    import_space,
    part_of,
)
from retentive.transfer import writing as writing_module
from retentive.transfer.lines import dumped
from retentive.types import Access, EmbedderIdentity, Finding, Gate, JournalEntry, LedgerEntry, Memory

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
EMBEDDER = HashEmbedder()
EVERYTHING = Gate(true_at=NOW, hidden=True)


def a_memory(number: int, space: str = "acme/alice", **fields: Any) -> Memory:
    moment = NOW - timedelta(hours=number)
    return Memory(f"m{number}", space, f"text number {number}", moment, moment, **fields)


def put(store: SpaceStore, *memories: Memory, embedder: HashEmbedder = EMBEDDER) -> None:
    """Write memories as the façade does: with vector, terms and a journal line."""
    with store.transaction() as tx:
        identity = EmbedderIdentity(embedder.id, embedder.dimension, embedder.fingerprint)
        tx.set_setting(EMBEDDER_SETTING, identity_setting(identity))
        for memory in memories:
            vector = checked_vectors(embedder, [passage(memory)])[0]
            tx.insert(memory, vector, index_terms(memory, "english"))
            tx.journal(JournalEntry(NOW, "remember", memory.id, "me", "", None, {"text": memory.text}))


def rich_memory(number: int = 1) -> Memory:
    """A memory with something in every field."""
    return a_memory(
        number,
        kind="preference",
        importance=0.1 + 0.2,
        key="database",
        tags=("stack", "ünïcode"),
        source="turn:12",
        metadata={"ticket": 7, "nested": {"a": [1, None, "x"]}, "b": 1.5},
        speaker="Ada",
        session="s1",
        entities=("postgres",),
        valid_from=NOW - timedelta(days=3),
        valid_until=NOW + timedelta(days=3, microseconds=1),
        superseded_at=NOW,
        superseded_by="m2",
        supersedes=("m0",),
        derived_from=("m7", "m8"),
        suppressed_at=NOW,
        pinned=True,
        permanent=True,
        recurs="yearly",
        trust=0.3,
        updated_at=NOW,
        access=Access(NOW, 3.25, (NOW - timedelta(hours=1), NOW), NOW - timedelta(minutes=5)),
    )


new_store: Callable[[], Store] = MemoryStore


@pytest.fixture(autouse=True, params=["memory", "sqlite"])
def stores(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Every promise holds for the reference store and for the embedded one."""
    opened: list[Store] = []

    def make() -> Store:
        opened.append(MemoryStore() if request.param == "memory" else SqliteStore(tmp_path_factory.mktemp("store")))
        return opened[-1]

    monkeypatch.setattr(sys.modules[__name__], "new_store", make)
    yield
    for store in opened:
        store.close()


def a_space(path: str = "acme/alice", store: Store | None = None) -> SpaceStore:
    return (store or new_store()).open(path)


@pytest.fixture
def filled() -> SpaceStore:
    """A space with memories, a journal, a ledger and settings."""
    space = a_space()
    odd = a_memory(3).changed(text='quotes " and \\ and \n lines \u2028 and emoji 🦜 and \x00')
    put(space, rich_memory(), a_memory(2, key="database"), odd)
    with space.transaction() as tx:
        tx.set_setting("reflection", {"importance": 12.5})
        vector = checked_vectors(EMBEDDER, ["asked"])[0]
        tx.log_recall(LedgerEntry("r1", NOW, "blend", "asked", ("m1", "m3"), (0.9, 0.1), vector, ("m1",), "good"))
        tx.log_recall(LedgerEntry("r2", NOW + timedelta(seconds=1), "focus", "", (), ()))
    return space


def assert_equal(one: SpaceStore, other: SpaceStore) -> None:
    ours, theirs = one.page(EVERYTHING, limit=10_000), other.page(EVERYTHING, limit=10_000)
    assert [memory.changed(space="") for memory in ours] == [memory.changed(space="") for memory in theirs]
    ids = [memory.id for memory in ours]
    for id_, vector in one.vectors(ids).items():
        assert np.array_equal(vector, other.vectors(ids)[id_])
    assert one.read_journal() == other.read_journal()
    for mine, its in zip(one.read_ledger(), other.read_ledger(), strict=True):
        assert (mine.id, mine.at, mine.used, mine.outcome, mine.scores) == (
            its.id,
            its.at,
            its.used,
            its.outcome,
            its.scores,
        )
        assert (mine.cue_vector is None) == (its.cue_vector is None)
        if mine.cue_vector is not None and its.cue_vector is not None:
            assert np.array_equal(mine.cue_vector, its.cue_vector)
    assert one.settings() == other.settings()


def test_a_round_trip_loses_nothing(filled: SpaceStore, tmp_path: Path) -> None:
    """Every field, access state, vector, journal line, recall and setting comes back as it was."""
    assert export_space(filled, tmp_path / "a.jsonl") == 3
    other = a_space()
    assert import_space(other, tmp_path / "a.jsonl", embedder=EMBEDDER) == 3
    assert_equal(filled, other)


def test_exporting_again_gives_the_same_bytes(filled: SpaceStore, tmp_path: Path) -> None:
    """Export, import into an empty store, export: nothing in the file depends on when or where."""
    export_space(filled, tmp_path / "a.jsonl")
    other = a_space()
    import_space(other, tmp_path / "a.jsonl", embedder=EMBEDDER)
    export_space(other, tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_imported_memories_are_found_like_remembered_ones(filled: SpaceStore, tmp_path: Path) -> None:
    """The index terms are rebuilt, not only the rows."""
    export_space(filled, tmp_path / "a.jsonl")
    other = a_space()
    import_space(other, tmp_path / "a.jsonl", embedder=EMBEDDER)
    terms = index_terms(a_memory(2), "english")
    assert (
        other.matching(terms, EVERYTHING, 10).scores.tolist() == filled.matching(terms, EVERYTHING, 10).scores.tolist()
    )


def test_an_empty_space_exports_and_imports(tmp_path: Path) -> None:
    """Nothing is something that can be moved."""
    assert export_space(a_space(), tmp_path / "a.jsonl") == 0
    assert import_space(a_space(), tmp_path / "a.jsonl", embedder=EMBEDDER) == 0


def test_the_first_and_last_lines_frame_the_file(filled: SpaceStore, tmp_path: Path) -> None:
    """A header with format and counts, and a digest over everything before the end."""
    export_space(filled, tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").split("\n")[:-1]]
    assert lines[0]["format"] == "retentive-export"
    assert (lines[0]["version"], lines[0]["space"], lines[0]["memories"]) == (1, "acme/alice", 3)
    assert lines[-1]["type"] == "end"
    assert len(lines[-1]["sha256"]) == 64


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
def test_an_export_is_private(filled: SpaceStore, tmp_path: Path) -> None:
    """Memories are not for the other users of the machine."""
    export_space(filled, tmp_path / "a.jsonl")
    assert stat.S_IMODE((tmp_path / "a.jsonl").stat().st_mode) == 0o600


def test_importing_twice_doubles_nothing(filled: SpaceStore, tmp_path: Path) -> None:
    """What is there with equal content is stepped over: memories, journal and ledger."""
    export_space(filled, tmp_path / "a.jsonl")
    other = a_space()
    import_space(other, tmp_path / "a.jsonl", embedder=EMBEDDER)
    report = import_file(other, tmp_path / "a.jsonl", embedder=EMBEDDER)
    assert (report.added, report.same) == (0, 3)
    assert_equal(filled, other)


def test_a_memory_that_was_read_since_is_no_conflict(filled: SpaceStore, tmp_path: Path) -> None:
    """Being used is not being changed, and the use is kept."""
    export_space(filled, tmp_path / "a.jsonl")
    with filled.transaction() as tx:
        tx.set_access({"m2": Access(NOW, 9.0, (NOW,))})
    assert import_file(filled, tmp_path / "a.jsonl", embedder=EMBEDDER).same == 3
    assert filled.get(["m2"])["m2"].access.count == 9.0


def test_importing_goes_only_where_it_is_told(filled: SpaceStore, tmp_path: Path) -> None:
    """The space that the file names gets nothing; the one that was opened gets everything, re-homed."""
    export_space(filled, tmp_path / "a.jsonl")
    store = new_store()
    alice, bob = a_space("acme/alice", store), a_space("acme/bob", store)
    import_space(bob, tmp_path / "a.jsonl", embedder=EMBEDDER)
    assert alice.count(EVERYTHING) == 0
    assert {memory.space for memory in bob.page(EVERYTHING, limit=9)} == {"acme/bob"}
    assert exported_space(tmp_path / "a.jsonl") == "acme/alice"


def test_another_embedder_embeds_anew(filled: SpaceStore, tmp_path: Path) -> None:
    """Vectors are used again only where the same embedder made them; cues in the ledger follow."""
    export_space(filled, tmp_path / "a.jsonl")
    other, wide = a_space(), HashEmbedder(128)
    report = import_file(other, tmp_path / "a.jsonl", embedder=wide)
    assert report.embedded == 3
    vector = other.vectors(["m2"])["m2"]
    assert np.allclose(vector, checked_vectors(wide, [passage(a_memory(2))])[0])
    cue = other.recall_entry("r1")
    assert cue is not None
    assert cue.cue_vector is not None
    assert cue.cue_vector.shape == (128,)


def test_a_space_of_another_embedder_is_refused(filled: SpaceStore, tmp_path: Path) -> None:
    """Two embedders never mix in one space."""
    export_space(filled, tmp_path / "a.jsonl")
    other = a_space()
    put(other, a_memory(9))
    with pytest.raises(EmbedderMismatch, match="--re-embed"):
        import_space(other, tmp_path / "a.jsonl", embedder=HashEmbedder(128))


@pytest.fixture
def disputed(filled: SpaceStore, tmp_path: Path) -> tuple[SpaceStore, Path]:
    """A space that says otherwise about m3 than the file, and has no m1 and m2."""
    export_space(filled, tmp_path / "a.jsonl")
    other = a_space()
    put(other, a_memory(3).changed(text="something else"))
    return other, tmp_path / "a.jsonl"


def test_a_conflict_is_an_error_before_anything_is_written(disputed: tuple[SpaceStore, Path]) -> None:
    """The message names the memory and both ways out."""
    other, path = disputed
    with pytest.raises(InvalidInput, match=r"'m3' differs.*--on-conflict skip.*--on-conflict replace"):
        import_space(other, path, embedder=EMBEDDER)
    assert other.count(EVERYTHING) == 1
    assert len(other.read_journal()) == 1


def test_a_conflict_can_be_skipped(disputed: tuple[SpaceStore, Path]) -> None:
    """The space's side stays, with its own history only."""
    other, path = disputed
    report = import_file(other, path, embedder=EMBEDDER, on_conflict="skip")
    assert (report.added, report.skipped) == (2, 1)
    assert other.get(["m3"])["m3"].text == "something else"
    assert len(other.read_journal("m3")) == 1


def test_a_conflict_can_be_replaced(disputed: tuple[SpaceStore, Path]) -> None:
    """The file's side wins, and the journal says against what."""
    other, path = disputed
    report = import_file(other, path, embedder=EMBEDDER, on_conflict="replace")
    assert (report.added, report.replaced) == (2, 1)
    assert other.get(["m3"])["m3"].text.startswith("quotes")
    line = next(entry for entry in other.read_journal("m3") if entry.action == "import")
    assert line.before is not None
    assert line.before["text"] == "something else"


def test_an_unknown_way_out_is_refused(disputed: tuple[SpaceStore, Path]) -> None:
    """Only the three are known."""
    with pytest.raises(InvalidInput, match="Known: error, replace, skip"):
        import_file(disputed[0], disputed[1], embedder=EMBEDDER, on_conflict="merge")  # type: ignore[arg-type]


def test_what_was_erased_here_does_not_come_back(filled: SpaceStore, tmp_path: Path) -> None:
    """An old export cannot undo an erasure by accident, neither the memory nor its journal."""
    export_space(filled, tmp_path / "a.jsonl")
    with filled.transaction() as tx:
        tx.erase("m2")
        tx.journal(JournalEntry(NOW, "erase", "m2"))
    with pytest.raises(InvalidInput, match="'m2' was erased here"):
        import_space(filled, tmp_path / "a.jsonl", embedder=EMBEDDER)
    import_file(filled, tmp_path / "a.jsonl", embedder=EMBEDDER, on_conflict="skip")
    assert "m2" not in filled.get(["m2"])
    assert not any("number 2" in str(line.after) for line in filled.read_journal("m2"))
    import_file(filled, tmp_path / "a.jsonl", embedder=EMBEDDER, on_conflict="replace")
    assert "m2" in filled.get(["m2"])


def test_two_current_holders_of_a_key_are_a_conflict(filled: SpaceStore, tmp_path: Path) -> None:
    """One key has one answer: an import may not add a second; replacing retires the other."""
    export_space(filled, tmp_path / "a.jsonl")
    other = a_space()
    put(other, a_memory(9, key="database"))
    with pytest.raises(InvalidInput, match="key 'database' of memory 'm2' is held by 'm9'"):
        import_space(other, tmp_path / "a.jsonl", embedder=EMBEDDER)
    import_file(other, tmp_path / "a.jsonl", embedder=EMBEDDER, on_conflict="replace")
    assert other.get(["m9"])["m9"].superseded_by == "m2"


def damage(path: Path, number: int, change: Any) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number - 1] = change(lines[number - 1])
    path.write_bytes(b"".join(lines))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda line: line.replace(b"text", b"test"), "does not match its checksum"),
        (lambda line: line[:40], "does not match its checksum"),
        (lambda line: b"\n", "is not a line of a Retentive export"),
        (lambda line: b"\xff\xfe" + line, "is not a line of a Retentive export"),
    ],
)
def test_a_damaged_line_is_named(filled: SpaceStore, tmp_path: Path, change: Any, what: str) -> None:
    """File, line number and remedy; and nothing of the file is imported."""
    path = tmp_path / "a.jsonl"
    export_space(filled, path)
    damage(path, 6, change)
    other = a_space()
    with pytest.raises(InvalidInput, match=rf"a\.jsonl', line 6: ({what}).*Export the space again"):
        import_space(other, path, embedder=EMBEDDER)
    assert other.count(EVERYTHING) == 0


def test_every_truncation_is_noticed(filled: SpaceStore, tmp_path: Path) -> None:
    """However a file is cut, whole lines or not, it is refused."""
    path = tmp_path / "a.jsonl"
    export_space(filled, path)
    whole = path.read_bytes()
    cuts = {len(whole) - 1, *(at + 1 for at, byte in enumerate(whole[:-1]) if byte == 10), *range(0, len(whole), 97)}
    for cut in sorted(cuts):
        path.write_bytes(whole[:cut])
        with pytest.raises(InvalidInput, match="line"):
            import_space(a_space(), path, embedder=EMBEDDER)


def test_a_line_taken_out_or_moved_is_noticed(filled: SpaceStore, tmp_path: Path) -> None:
    """Every line may be whole and the file still not what was exported."""
    path = tmp_path / "a.jsonl"
    export_space(filled, path)
    lines = path.read_bytes().splitlines(keepends=True)
    for changed in ([*lines[:3], *lines[4:]], [*lines[:3], lines[4], lines[3], *lines[5:]], [*lines, lines[-1]]):
        path.write_bytes(b"".join(changed))
        with pytest.raises(InvalidInput, match=r"digest|after the end"):
            import_space(a_space(), path, embedder=EMBEDDER)


@pytest.mark.parametrize("content", [b"", b"{}\n", b'{"hello": 1}\n', b"\x00\x01\x02"])
def test_something_else_is_not_an_export(tmp_path: Path, content: bytes) -> None:
    """Any other file is named, not half-read."""
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"a\.jsonl', line 1"):
        import_space(a_space(), tmp_path / "a.jsonl", embedder=EMBEDDER)


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    """A wrong path is no empty export."""
    with pytest.raises(NotFound, match="does not exist"):
        import_space(a_space(), tmp_path / "a.jsonl", embedder=EMBEDDER)


def test_a_later_format_is_refused_with_the_remedy(filled: SpaceStore, tmp_path: Path) -> None:
    """An old Retentive does not guess at a new file."""
    path = tmp_path / "a.jsonl"
    export_space(filled, path)
    header = json.loads(path.read_bytes().splitlines()[0])
    header.pop("crc")
    rest = path.read_bytes().splitlines(keepends=True)[1:]
    path.write_bytes(dumped({**header, "version": 2}) + b"".join(rest))
    with pytest.raises(InvalidInput, match="Upgrade Retentive"):
        exported_space(path)


def test_a_wrong_field_is_named(filled: SpaceStore, tmp_path: Path) -> None:
    """A file that another program wrote properly framed, but wrongly, says where."""
    good = tmp_path / "a.jsonl"
    export_space(filled, good)
    for field, value, what in [
        ("pinned", "yes", "'pinned' that is not true or false"),
        ("created_at", "2026-01-01", "'created_at' that is not a date and time with its zone"),
        ("tags", "ab", "'tags' that is not a list of strings"),
        ("importance", None, "'importance' that is not a finite number"),
        ("vector", "AAAA", "'vector' that is not .*float32"),
        ("mood", "x", "unknown field 'mood'"),
        ("access", {"count": "1"}, "'access' that is not"),
    ]:
        rewrite(good, tmp_path / "b.jsonl", {field: value})
        with pytest.raises(InvalidInput, match=rf"b\.jsonl', line \d+: .*{what}"):
            import_space(a_space(), tmp_path / "b.jsonl", embedder=EMBEDDER)


def rewrite(source: Path, target: Path, change: dict[str, Any]) -> None:
    """Write an export anew, well framed, with something else in its memories."""
    with writing_module.Part(target, resume=False) as out:
        for raw in source.read_bytes().splitlines()[:-1]:
            record = json.loads(raw)
            record.pop("crc")
            out.write({**record, **change} if record["type"] == "memory" else record)
        out.finish()


def test_a_vector_that_cannot_be_ours_is_made_anew(filled: SpaceStore, tmp_path: Path) -> None:
    """A zero or too narrow vector in a file is not stored, whatever the header claims."""
    export_space(filled, tmp_path / "a.jsonl")
    rewrite(tmp_path / "a.jsonl", tmp_path / "b.jsonl", {"vector": "AACAPw=="})
    other = a_space()
    assert import_file(other, tmp_path / "b.jsonl", embedder=EMBEDDER).embedded == 3
    assert np.linalg.norm(other.vectors(["m2"])["m2"]) == pytest.approx(1)


class Interrupted(RuntimeError):
    """What stops an export or import half-way in these tests."""


def stop_after(calls: int) -> Any:
    count = 0

    def progress(_done: int, _total: int) -> None:
        nonlocal count
        count += 1
        if count > calls:
            raise Interrupted

    return progress


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> SpaceStore:
    """A space of several batches."""
    monkeypatch.setattr("retentive.transfer.writing.BATCH", 10)
    monkeypatch.setattr("retentive.transfer.reading.BATCH", 10)
    space = a_space()
    put(space, *(a_memory(number) for number in range(45)))
    return space


@pytest.mark.parametrize("calls", range(6))
def test_an_interrupted_export_goes_on(many: SpaceStore, tmp_path: Path, calls: int) -> None:
    """Stopped after any batch it leaves no target, and resuming gives the file that one go would have given."""
    export_space(many, tmp_path / "whole.jsonl")
    target = tmp_path / "a.jsonl"
    with pytest.raises(Interrupted):
        export_space(many, target, progress=stop_after(calls))
    assert not target.exists()
    with part_of(target).open("ab") as part:
        part.write(b'{"type":"memory","id":"half')
    assert export_space(many, target, resume=True) == 45
    assert target.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not part_of(target).exists()


def test_resuming_does_not_write_the_beginning_again(many: SpaceStore, tmp_path: Path) -> None:
    """What is there is compared and kept: the first report of progress stands where the last run stopped."""
    target = tmp_path / "a.jsonl"
    with pytest.raises(Interrupted):
        export_space(many, target, progress=stop_after(3))
    seen: list[int] = []
    export_space(many, target, resume=True, progress=lambda done, _total: seen.append(done))
    assert seen[0] == 30


def test_resuming_after_a_change_starts_over(many: SpaceStore, tmp_path: Path) -> None:
    """A part file of another moment is not continued."""
    target = tmp_path / "a.jsonl"
    with pytest.raises(Interrupted):
        export_space(many, target, progress=stop_after(3))
    put(many, a_memory(99))
    assert export_space(many, target, resume=True) == 46
    assert import_space(a_space(), target, embedder=EMBEDDER) == 46


def test_resuming_without_a_part_is_a_plain_export(many: SpaceStore, tmp_path: Path) -> None:
    """``--resume`` may always be given."""
    assert export_space(many, tmp_path / "a.jsonl", resume=True) == 45


def test_a_write_during_the_export_is_not_half_in_it(many: SpaceStore, tmp_path: Path) -> None:
    """Whoever writes meanwhile makes the export begin again: the file is one moment's."""
    written: list[bool] = []

    def meddle(done: int, _total: int) -> None:
        if done == 20 and not written:
            written.append(True)
            put(many, a_memory(-1))

    assert export_space(many, tmp_path / "a.jsonl", progress=meddle) == 46
    other = a_space()
    import_space(other, tmp_path / "a.jsonl", embedder=EMBEDDER)
    assert_equal(many, other)


def test_what_is_erased_during_the_export_is_not_in_the_file(many: SpaceStore, tmp_path: Path) -> None:
    """An erasure that comes in the middle counts."""
    done_once: list[bool] = []

    def meddle(done: int, _total: int) -> None:
        if done == 45 and not done_once:
            done_once.append(True)
            with many.transaction() as tx:
                tx.erase("m3")
                tx.journal(JournalEntry(NOW, "erase", "m3"))

    export_space(many, tmp_path / "a.jsonl", progress=meddle)
    assert b'text number 3"' not in (tmp_path / "a.jsonl").read_bytes()


class Restless:
    """A space that somebody writes to whenever it is counted, unless a transaction is open."""

    def __init__(self, inner: SpaceStore) -> None:
        self._inner = inner
        self._alone = False
        self._next = -1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        with self._inner.transaction() as tx:
            self._alone = True
            yield tx

    def read_ledger(self, **options: Any) -> list[LedgerEntry]:
        if not self._alone:
            put(self._inner, a_memory(self._next))
            self._next -= 1
        return self._inner.read_ledger(**options)


def test_a_space_that_never_rests_is_exported_all_the_same(many: SpaceStore, tmp_path: Path) -> None:
    """In the end the export holds the writers off."""
    restless: Any = Restless(many)
    count = export_space(restless, tmp_path / "a.jsonl")
    assert count == many.count(EVERYTHING) == 45 + writing_module.ATTEMPTS - 1


@pytest.mark.parametrize("calls", range(0, 10, 2))
def test_an_interrupted_import_is_done_again(many: SpaceStore, tmp_path: Path, calls: int) -> None:
    """Stopped anywhere and done again, nothing is missing and nothing is there twice."""
    export_space(many, tmp_path / "a.jsonl")
    other = a_space()
    with pytest.raises(Interrupted):
        import_space(other, tmp_path / "a.jsonl", embedder=EMBEDDER, progress=stop_after(calls))
    report = import_file(other, tmp_path / "a.jsonl", embedder=EMBEDDER)
    assert report.added + report.same == 45
    assert_equal(many, other)
    export_space(other, tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()


def test_progress_ends_at_its_total(many: SpaceStore, tmp_path: Path) -> None:
    """A bar that never fills makes people wait."""
    last: list[tuple[int, int]] = []
    export_space(many, tmp_path / "a.jsonl", progress=lambda done, total: last.append((done, total)))
    assert last[-1] == (45, 45)
    import_space(
        a_space(), tmp_path / "a.jsonl", embedder=EMBEDDER, progress=lambda done, total: last.append((done, total))
    )
    assert last[-1] == (90, 90)


def test_an_existing_file_survives_a_failed_export(many: SpaceStore, tmp_path: Path) -> None:
    """Yesterday's backup is replaced by a whole one or not at all."""
    target = tmp_path / "a.jsonl"
    target.write_text("yesterday")
    with pytest.raises(Interrupted):
        export_space(many, target, progress=stop_after(2))
    assert target.read_text() == "yesterday"


def test_a_target_that_cannot_be_written_is_named(many: SpaceStore, tmp_path: Path) -> None:
    """A folder, or a path that leads nowhere, is an error with the way out."""
    with pytest.raises(InvalidInput, match="is a folder"):
        export_space(many, tmp_path)
    with pytest.raises(RetentiveError, match="cannot be written"):
        export_space(many, tmp_path / "nowhere" / "a.jsonl")


def test_findings_come_along(tmp_path: Path) -> None:
    """Every finding about memories that came along is there afterwards; one decided here already is left as it is."""
    source, target = MemoryStore().open("a"), MemoryStore().open("b")
    put(source, a_memory(1, "a"), a_memory(2, "a"))
    kept = Finding("f", NOW, "conflict", "m2", "m1", 0.7, "why", detail={"n": 1})
    again = Finding("g", NOW, "repetition", "m1", None, 1.0, "again", "undone", NOW)
    with source.transaction() as tx:
        for finding in (kept, again, Finding("h", NOW, "conflict", "gone", "m1")):
            tx.put_finding(finding)
    file = tmp_path / "a.jsonl"
    export_space(source, file)
    import_space(target, file, embedder=EMBEDDER)
    assert target.findings() == [kept, again]
    with target.transaction() as tx:
        tx.put_finding(replace(kept, status="dismissed"))
    import_space(target, file, embedder=EMBEDDER)
    assert [finding.status for finding in target.findings()] == ["dismissed", "undone"]
