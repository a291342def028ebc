"""What the doctor finds in a store and its spaces, and what it mends when asked: nothing that is not safe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from retentive import Retentive, Space
from retentive.doctor import Finding, examine
from retentive.stores.sqlite import SqliteStore
from retentive.testing.fakes import HashEmbedder
from retentive.types import Access, Job

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
EMBEDDER = HashEmbedder()


@pytest.fixture
def home(folder: Path) -> Iterator[Retentive]:
    with Retentive(store=SqliteStore(folder), embedder=EMBEDDER, clock=lambda: NOW) as home:
        yield home


@pytest.fixture
def space(home: Retentive) -> Space:
    space = home.space("acme/alice")
    for i in range(4):
        space.remember(f"Note number {i}", id=f"m{i}", importance=0.2 * i + 0.1)
    return space


def looked(home: Retentive, *, repair: bool = False, embedder: Any = EMBEDDER) -> list[Finding]:
    """Return what is not well, or what was mended."""
    found = examine(home.store, embedder, now=NOW, repair=repair)
    return [one for one in found if one.level != "ok" or one.what.startswith("Repaired")]


def damage(home: Retentive, script: str) -> None:
    """Run SQL on the file behind the store's back."""
    home.store.close()
    file = next(Path(home.store.folder).rglob("space.db"))  # type: ignore[attr-defined]  # it is a folder
    connection = apsw.Connection(str(file))
    connection.execute(script)
    connection.close()
    for derived in file.parent.glob("derived*"):
        derived.unlink()


def test_a_sound_space_needs_nothing(home: Retentive, space: Space) -> None:
    """Neither looking nor mending finds or changes anything."""
    space.recall("note number")
    before = (list(space.list()), space.journal())
    assert looked(home) == looked(home, repair=True) == []
    assert (list(space.list()), space.journal()) == before


def test_lost_vectors_and_terms_are_made_anew(home: Retentive, space: Space) -> None:
    """Lost to every recall until then; afterwards as they were."""
    vectors = space.store.vectors(["m1", "m2", "m3"])
    damage(
        home,
        "DELETE FROM vectors WHERE row = 2; DELETE FROM terms WHERE row = 3;"
        "UPDATE vectors SET vector = CAST(x'0000c07f' || substr(vector, 5) AS BLOB) WHERE row = 4;",  # a NaN
    )
    assert {one.level for one in looked(home)} == {"error"}
    done = [one.what for one in looked(home, repair=True)]
    assert done == ["Repaired: 3 memories got their vector and index terms anew, from their texts."]
    assert looked(home) == []
    again = space.store.vectors(["m1", "m2", "m3"])
    assert all((again[name] == vector).all() for name, vector in vectors.items())
    assert space.recall("note number 2", policy="blend", touch=False)[0].memory.id == "m2"


def test_vectors_are_made_only_by_the_embedder_that_made_the_others(home: Retentive, space: Space) -> None:
    """Otherwise two kinds would be mixed: it is named and left."""
    assert space.path
    damage(home, "DELETE FROM vectors WHERE row = 2;")
    for other in (HashEmbedder(32), None):
        found = looked(home, repair=True, embedder=other)
        assert "Repair with the embedder that made the others: --embedder." in [one.remedy for one in found]


def test_rows_about_nothing_and_a_clock_behind(home: Retentive, space: Space) -> None:
    """Removed and set right; the memories stay."""
    assert space.path
    damage(home, "PRAGMA foreign_keys = OFF; INSERT INTO tags VALUES (99, 'lost'); UPDATE clock SET change = 1;")
    assert {one.level for one in looked(home)} == {"error"}
    done = " ".join(one.what for one in looked(home, repair=True))
    assert "1 rows of table tags that belonged to no memory" in done
    assert "The clock was set to the latest change" in done
    assert looked(home) == []
    assert len(space.list()) == 4


def test_a_link_of_supersession_is_closed_from_its_other_end(home: Retentive, space: Space) -> None:
    """With a line in the journal; a successor without a moment is only named."""
    with space.store.transaction() as tx:
        named: dict[str, dict[str, Any]] = {"m0": {"superseded_by": "m1", "superseded_at": NOW}}
        for name, changes in {**named, "m2": {"superseded_by": "m3"}}.items():
            memory = tx.get(name)
            assert memory is not None
            tx.replace(memory.changed(**changes))
    assert sorted(one.what.split(" ", 3)[2] for one in looked(home)) == ["are", "name"]
    done = [one for one in looked(home, repair=True) if one.level == "ok"]
    assert [one.what for one in done] == ["Repaired: 2 links of supersession were closed."]
    assert [memory.id for memory in space.chain("m1")] == ["m0", "m1"]
    assert space.journal("m1")[-1].actor == "doctor"
    assert [one.level for one in looked(home)] == ["warning"]


def test_clocks_that_were_wrong(home: Retentive, space: Space) -> None:
    """Uses that have not happened are moved to now; what was recorded or journalled then is named."""
    later = NOW + timedelta(days=400)
    with space.store.transaction() as tx:
        tx.set_access({"m0": Access(later, 3.0, (NOW, later), later)})
    says = [one.what for one in looked(home)]
    assert says == ["1 memories were used in the future: m0."]
    looked(home, repair=True)
    assert space.get("m0", touch=False).access == Access(NOW, 3.0, (NOW, NOW), NOW)
    ahead = Retentive(store=home.store, embedder=EMBEDDER, clock=lambda: later)
    ahead.space("acme/alice").remember("Told by a wrong clock", at=NOW)
    says = [one.what for one in looked(home, repair=True)]
    assert any("recorded in the future" in what for what in says)
    assert "1 journal lines are dated in the future." in says
    found = [one.what for one in examine(home.store, EMBEDDER, now=later + timedelta(days=1))]
    assert not any("journal lines are dated" in what for what in found)
    space.remember("Told after the clock was put back")
    found = [one.what for one in examine(home.store, EMBEDDER, now=later + timedelta(days=1))]
    assert "1 journal lines are dated before lines that were written earlier." in found


def test_conclusions_without_evidence_and_half_a_move(home: Retentive, space: Space) -> None:
    """Named with what to do; a document's name that was never stored is not missed."""
    space.remember("They meet often", kind="reflection", derived_from=["m0", "m1"], id="insight", importance=0.7)
    space.remember("From the handbook", derived_from=["handbook.pdf"], importance=0.6)
    space.forget(["m0", "m1"], erase=True)
    with space.store.transaction() as tx:
        tx.set_setting("embedder.next", {"id": "other", "dimension": 3, "fingerprint": ""})
    for repair in (False, True):
        says = [one.what for one in looked(home, repair=repair)]
        assert says[0] == "1 conclusions have lost all their evidence to erasure: insight."
        assert says[1].startswith("A move to embedder 'other' is under way")


def test_jobs_about_nothing(home: Retentive, space: Space) -> None:
    """Dropped."""
    with space.store.transaction() as tx:
        tx.put_job(Job("j1", "rate", NOW, NOW, memories=("gone",)))
        tx.put_job(Job("j2", "rate", NOW, NOW, memories=("m0",)))
    assert [one.what for one in looked(home)] == ["1 jobs are about memories that are not there: j1."]
    assert [one.what for one in looked(home, repair=True)] == ["Repaired: 1 jobs about nothing were dropped."]
    assert [job.id for job in space.store.jobs()] == ["j2"]


def test_leftovers_of_drops_and_restores(home: Retentive, space: Space) -> None:
    """Named and removed once they are nobody's; a fresh one may be somebody's."""
    assert space.path
    folder = Path(home.store.folder)  # type: ignore[attr-defined]  # it is a folder
    for name in (".dropped-1", ".arriving-2", ".arriving-3"):
        (folder / name).mkdir()
        (folder / name / "space.db").write_bytes(b"secret")
    for name in (".dropped-1", ".arriving-2"):
        os.utime(folder / name, (1, 1))
    assert len(looked(home)) == 2
    assert [one.what for one in looked(home, repair=True)] == [
        "Repaired: The leftover .arriving-2 was removed.",
        "Repaired: The leftover .dropped-1 was removed.",
    ]
    assert looked(home) == []
    assert (folder / ".arriving-3").exists()


def test_a_file_that_is_damaged_is_not_touched(home: Retentive, space: Space) -> None:
    """What cannot be mended is named, with the way out, and stays as it is."""
    assert space.path
    home.store.close()
    file = next(Path(home.store.folder).rglob("space.db"))  # type: ignore[attr-defined]  # it is a folder
    file.write_bytes(b"this is not a database" * 500)
    before = file.read_bytes()
    (found,) = looked(home, repair=True)
    assert found.level == "error"
    assert "Restore it from a backup" in found.remedy
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("table", "script"),
    [
        ("tags", "DELETE FROM tags"),
        ("tags", "INSERT INTO tags SELECT row, 'secret' FROM memories WHERE id = 'other'"),
        ("metadata", "UPDATE metadata SET value = '8'"),
        ("entities", "UPDATE entities SET entity = 'bob'"),
    ],
)
def test_what_filters_ask_is_compared_with_the_memories(home: Retentive, table: str, script: str) -> None:
    """A filter that would miss a memory, or find it wrongly, is found; repaired, filters answer by the memories."""
    space = home.space("acme/alice")
    space.remember("Alice deploys on Friday", id="it", tags=["ops"], metadata={"ticket": 7}, speaker="Alice")
    space.remember("Nothing of the kind", id="other")
    damage(home, script)
    assert [one.what for one in looked(home)] == [f"The {table} of 1 memories are filed otherwise than they are."]
    assert looked(home)[0].level == "error"
    assert [one.what for one in looked(home, repair=True)] == [f"Repaired: The {table} of 1 memories were filed anew."]
    assert looked(home) == []
    for found in (space.list(tags=["ops"]), space.list(where={"ticket": 7})):
        assert [memory.id for memory in found] == ["it"]
    assert not space.list(tags=["secret"])
    assert [hit.memory.id for hit in space.recall("deploy Friday", tags=["ops"])] == ["it"]


def test_an_index_that_disagrees_with_its_table_is_built_anew(home: Retentive, space: Space) -> None:
    """SQLite's quick check does not look there, and a filter that walks the index would miss the memory."""
    space.update("m1", tags=["ops"])
    damage(
        home,
        "PRAGMA writable_schema = ON;"
        "CREATE TABLE elsewhere (tag TEXT, row INTEGER); CREATE INDEX empty ON elsewhere (tag, row);"
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'empty') "
        "WHERE name = 'tags_by_tag';"
        "DELETE FROM sqlite_schema WHERE name IN ('empty', 'elsewhere');",
    )
    assert any("index of the table tags disagrees" in one.what for one in looked(home))
    assert "Repaired: The index of the table tags was built anew." in [one.what for one in looked(home, repair=True)]
    assert [memory.id for memory in space.list(tags=["ops"])] == ["m1"]
