"""Moving stores, both ways, over a real server: nothing lost, also killed in the middle or written to meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from retentive import Retentive
from retentive.cli.main import root
from retentive.errors import InvalidInput, StoreBusy, StoreCorrupt
from retentive.stores.locations import store_for
from retentive.stores.memory import MemoryStore
from retentive.stores.protocol import SpaceStore, Store
from retentive.testing.fakes import HashEmbedder
from retentive.testing.store_samples import EAST, NORTH, NOW, at, gate, line, noticed, recalled, sample
from retentive.transfer import moving
from retentive.transfer.digest import digest_of
from retentive.transfer.moving import move_spaces
from retentive.types import Access, Job

ALICE, BOB = "acme/alice", "acme/bob"
EVERYTHING = gate(hidden=True)
COUNT = 60

KILLED = """
import os, signal, sys
from retentive.stores.locations import store_for
from retentive.transfer import moving
moving.BATCH = 20
def progress(done, total):
    if done >= 40:
        os.kill(os.getpid(), signal.SIGKILL)
moving.move_spaces(store_for(sys.argv[1]), store_for(sys.argv[2]), progress=progress)
"""


def fill(space: SpaceStore, count: int = COUNT) -> None:
    """Write a space with something in every table."""
    rng = np.random.default_rng(8)
    with space.transaction() as tx:
        tx.set_setting("embedder", {"id": "x", "dimension": 4, "fingerprint": "1"})
        tx.set_setting("once:k", {"ids": ["m0"]})
        for number in range(count):
            vector = rng.normal(size=4).astype(np.float32)
            fields: dict[str, Any] = {
                "space": space.path,
                "kind": ("fact", "event")[number % 2],
                "tags": (f"t{number % 3}",),
                "metadata": {"n": number, "nested": {"b": [1, None], "a": 0.1}},
                "entities": ("ada",) if number % 4 else (),
                "key": f"k{number}" if number % 5 == 0 else None,
                "session": "s" if number % 2 else None,
                "superseded_at": NOW if number % 7 == 3 else None,
                "superseded_by": f"m{number + 1}" if number % 7 == 3 else None,
                "supersedes": (f"m{number - 1}",) if number % 7 == 4 else (),
                "access": Access(at(1), 1.5, (at(0.5), at(1))) if number % 3 == 0 else Access(),
                "text": f"text {number}\0 é",
            }
            memory = sample(f"m{number}", days=-(number // 2), **fields)
            tx.insert(memory, vector / np.linalg.norm(vector), ["text", str(number)])
            tx.journal(line(memory.id, reason="said", after={"text": memory.text}))
        tx.journal(line("erased", action="erase", reason="asked"))
        for number in range(5):
            tx.log_recall(recalled(f"r{number}", days=number // 2, cue_vector=EAST if number else None))
        tx.log_feedback("r1", ["a"], "good")
        tx.put_finding(noticed("f", memory_id="m1", other_id="m2"))
        for number in (2, 1):
            tx.put_job(Job(f"j{number}", "rate", NOW, at(number), (f"m{number}",), {"n": number}))


class Places:
    """Two stores of different kinds, by their locations."""

    def __init__(self, source: str, target: str) -> None:
        self.locations = (source, target)
        self.source, self.target = store_for(source), store_for(target)

    @property
    def stores(self) -> tuple[Store, Store]:
        return self.source, self.target

    def digests(self, path: str) -> set[str]:
        return {digest_of(store.open(path, create=False)) for store in self.stores}


@pytest.fixture(params=["to postgres", "from postgres"])
def places(request: pytest.FixtureRequest, postgres_url: str, tmp_path: Path) -> Iterator[Places]:
    """Return a folder and a server, the one way and the other."""
    server = f"{postgres_url}&schema=moving"
    folder = str(tmp_path / "folder")
    made = Places(*((folder, server) if request.param == "to postgres" else (server, folder)))
    yield made
    for store in made.stores:
        for space in store.spaces():
            store.drop(space)
        store.close()


def test_everything_comes_along(places: Places) -> None:
    """Every space, every table, every value: the digest of both sides is one, and so is the number of memories."""
    fill(places.source.open(ALICE))
    fill(places.source.open(BOB), 3)
    seen: list[tuple[int, int]] = []
    moved = move_spaces(*places.stores, progress=lambda done, total: seen.append((done, total)))
    assert [(one.space, one.memories) for one in moved] == [(ALICE, COUNT), (BOB, 3)]
    assert seen[0] == (0, COUNT + 3)
    assert seen[-1] == (COUNT + 3, COUNT + 3)
    for path in (ALICE, BOB):
        assert len(places.digests(path)) == 1
    ours, theirs = (store.open(ALICE, create=False) for store in places.stores)
    assert theirs.get(["m3"]) == ours.get(["m3"])
    assert theirs.jobs() == ours.jobs()
    assert theirs.read_ledger()[0].cue_vector is not None
    assert [entry.memory_id for entry in theirs.read_journal()] == [entry.memory_id for entry in ours.read_journal()]
    assert theirs.setting("once:k") == {"ids": ["m0"]}
    assert len(theirs.matching(["text"], EVERYTHING, 99).rows) == COUNT


def beside(space: SpaceStore, names: list[str]) -> set[tuple[str, str, int]]:
    """Return who stands beside whom in a session, and how far."""
    rows = space.recent(gate(hidden=True), 999).rows
    name = dict(zip(space.columns(rows).rows.tolist(), space.columns(rows).ids, strict=True))
    asked = [row for row, memory_id in name.items() if memory_id in names]
    return {(name[one], name[other], far) for one, other, far in space.neighbours(np.array(asked), EVERYTHING, 2)}


def test_turns_of_one_moment_keep_their_order(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversation of which only the day is known reads in the target as it does in the source."""
    monkeypatch.setattr(moving, "BATCH", 10)
    names = [f"{number * 7919 % 50:02}" for number in range(50)]  # written in no order of their names
    space = places.source.open(ALICE)
    with space.transaction() as tx:
        for place, memory_id in enumerate(names):
            tx.insert(sample(memory_id, days=-(place // 25), session="talk"), EAST, [])
    move_spaces(*places.stores)
    ours, theirs = (beside(store.open(ALICE, create=False), names) for store in places.stores)
    assert ours == theirs
    assert (names[3], names[4], 1) in ours


def test_a_space_that_never_rests_is_moved_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a few passes its writers are kept out, however much there is to catch up with."""
    monkeypatch.setattr(moving, "CALM", -1)
    source, target = MemoryStore(), MemoryStore()
    fill(source.open(ALICE), 3)
    (moved,) = move_spaces(source, target, spaces=[ALICE])
    assert moved.memories == 3
    assert digest_of(source.open(ALICE)) == digest_of(target.open(ALICE))


def test_a_copy_that_reads_differently_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    """The digests are the judge: where they differ the move failed, and is not noted as done."""
    source, target = MemoryStore(), MemoryStore()
    fill(source.open(ALICE), 3)
    told = iter(["one", "another"])
    monkeypatch.setattr(moving, "digest_of", lambda _: next(told))
    with pytest.raises(StoreCorrupt, match="reads differently"):
        move_spaces(source, target)
    assert target.open(ALICE).setting(moving.MARK) == {"digest": None}


def test_a_moment_of_very_many_is_cut() -> None:
    """Its memories are all moved, in parts that fit in memory."""
    source, target = MemoryStore(), MemoryStore()
    with source.open(ALICE).transaction() as tx:
        for number in range(90):
            tx.insert(sample(f"m{number}"), EAST, [])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moving, "BATCH", 20)
        patch.setattr(moving, "LARGEST", 2)
        assert [one.memories for one in move_spaces(source, target)] == [90]


def test_recall_answers_the_same(places: Places) -> None:
    """The same question at the same moment brings the same memories with the same scores, on both sides."""
    embedder = HashEmbedder(32)
    with Retentive(store=places.source, embedder=embedder, clock=lambda: at(9)) as memories:
        space = memories.space(ALICE)
        things = product(("car", "dog", "tea"), ("Ada", "Bob", "Cyd"), ("red", "old"))
        facts = [f"The {what} of {who} is {how}" for what, who, how in things]
        space.remember_many([{"text": fact, "at": at(number / 7)} for number, fact in enumerate(facts)])
        space.recall("Which dog is old?")
        move_spaces(*places.stores)
        asked = [space.recall(cue, touch=False) for cue in ("Ada's car", "red tea", "What is old?")]
    with Retentive(store=places.target, embedder=embedder, clock=lambda: at(9)) as memories:
        again = [memories.space(ALICE).recall(cue, touch=False) for cue in ("Ada's car", "red tea", "What is old?")]
    assert all(len(recall) for recall in asked)
    for one, other in zip(asked, again, strict=True):
        assert [hit.memory for hit in one] == [hit.memory for hit in other]
        assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], rel=1e-9)


def test_there_and_back_again(places: Places, tmp_path: Path) -> None:
    """Moved on and back into a third store, the digest is the first one's."""
    fill(places.source.open(ALICE))
    there = move_spaces(*places.stores)
    third = MemoryStore()
    assert [one.digest for one in move_spaces(places.target, third)] == [one.digest for one in there]


def test_killed_in_the_middle(places: Places) -> None:
    """A move that was killed leaves a part behind; done again it steps over that and ends with everything."""
    fill(places.source.open(ALICE))
    killed = subprocess.run([sys.executable, "-c", KILLED, *places.locations], check=False, capture_output=True)
    assert killed.returncode == -9, killed.stderr
    part = places.target.open(ALICE, create=False).count(EVERYTHING)
    assert 0 < part < COUNT
    (moved,) = move_spaces(*places.stores)
    assert moved.memories == COUNT
    assert len(places.digests(ALICE)) == 1
    assert moved.written < COUNT + len(places.source.open(ALICE).read_journal()) + 20


def test_again_writes_nothing_and_later_only_what_is_new(places: Places) -> None:
    """A second run steps over everything; after writes to the source it takes over those."""
    space = places.source.open(ALICE)
    fill(space)
    move_spaces(*places.stores)
    assert [one.written for one in move_spaces(*places.stores)] == [0]
    change(space)
    assert [one.written < COUNT for one in move_spaces(*places.stores)] == [True]
    assert len(places.digests(ALICE)) == 1


def change(space: SpaceStore) -> None:
    """Change something in every table."""
    memory = space.get(["m4"])["m4"]
    with space.transaction() as tx:
        tx.insert(sample("new", days=1), NORTH, ["new"])
        tx.journal(line("new"))
        tx.replace(memory.changed(text="other"), NORTH, ["other"])
        tx.set_access({"m5": Access(at(3), 2.0, (at(3),))})
        tx.erase("m1")
        tx.journal(line("m1", action="erase", reason="asked for"))
        tx.redact(lines=[entry.sequence for entry in space.read_journal("m8")], recalls=["r2"])
        tx.log_feedback("r3", ["m5"], "bad")
        tx.log_recall(recalled("late", days=9))
        tx.trim_ledger(before=at(0), keep=4)
        tx.put_finding(replace(noticed("g", memory_id="m2", other_id="m3"), status="dismissed"))
        tx.drop_job("j2")
        tx.put_job(Job("j3", "rate", NOW, NOW, ("new",)))
        tx.set_setting("once:k", None)
        tx.set_setting("added", [1, 2])


@pytest.mark.parametrize("moment", [0, 20, 60])
def test_written_to_meanwhile(places: Places, moment: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written, erased and answered while the copy runs is caught up, and a space made meanwhile comes along."""
    monkeypatch.setattr(moving, "BATCH", 20)
    space = places.source.open(ALICE)
    fill(space)
    done: list[bool] = []

    def progress(count: int, total: int) -> None:
        if count >= moment and not done:
            done.append(True)
            change(space)
            fill(places.source.open("late"), 2)

    moved = move_spaces(*places.stores, progress=progress)
    assert done
    assert {one.space: one.memories for one in moved} == {ALICE: COUNT, "late": 2}
    assert [len(places.digests(path)) for path in (ALICE, "late")] == [1, 1]
    assert places.target.open(ALICE).get(["m1"]) == {}


def test_writers_wait_at_the_end(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the last look is taken nobody can write to the source: who tries is told that it is busy."""
    fill(places.source.open(ALICE), 3)
    impatient = store_for(places.locations[0], busy_timeout=0.1)
    refused: list[str] = []

    def digest(space: SpaceStore) -> str:
        if space.path == ALICE and not refused:
            with pytest.raises(StoreBusy) as caught, impatient.open(ALICE).transaction() as tx:
                tx.set_setting("late", 1)
            refused.append(caught.value.message)
        return digest_of(space)

    monkeypatch.setattr(moving, "digest_of", digest)
    move_spaces(*places.stores)
    impatient.close()
    assert len(refused) == 1
    assert "try again" in refused[0]


def test_a_space_that_is_there_already_is_left_alone(places: Places) -> None:
    """What somebody else wrote into the target is refused before anything is written, and stays as it was."""
    fill(places.source.open(ALICE), 3)
    theirs = places.target.open(ALICE)
    with theirs.transaction() as tx:
        tx.insert(sample("mine"), EAST, [])
    with pytest.raises(InvalidInput, match="in the target already"):
        move_spaces(*places.stores)
    assert theirs.count(EVERYTHING) == 1


def test_a_target_in_use_is_not_overwritten(places: Places) -> None:
    """Once the target is written to, moving again would undo that: it is refused."""
    fill(places.source.open(ALICE), 3)
    move_spaces(*places.stores)
    with places.target.open(ALICE).transaction() as tx:
        tx.set_setting("mine", 1)
    with pytest.raises(InvalidInput, match="written to in the target since"):
        move_spaces(*places.stores)


def test_another_story_is_not_continued(places: Places) -> None:
    """A half-moved space is gone on with from the same source alone."""
    fill(places.source.open(ALICE), 3)
    move_spaces(*places.stores)
    other = MemoryStore()
    with other.open(ALICE).transaction() as tx:
        tx.journal(line("somebody else's"))
    with pytest.raises(InvalidInput, match="another story"):
        move_spaces(other, places.target)
    assert len(places.digests(ALICE)) == 1


def test_a_memory_without_a_vector_stops_the_move() -> None:
    """A damaged source is named with its remedy, not copied half."""
    source, target = MemoryStore(), MemoryStore()
    fill(source.open(ALICE), 3)
    space = source.open(ALICE)

    class Damaged:
        def __getattr__(self, name: str) -> Any:
            return getattr(space, name)

        def vectors(self, ids: list[str]) -> dict[str, Any]:
            return {name: vector for name, vector in space.vectors(ids).items() if name != "m1"}

    source.open = lambda path, *, create=True: Damaged()  # type: ignore[method-assign,assignment,return-value] # damaged
    with pytest.raises(StoreCorrupt, match="doctor --repair"):
        move_spaces(source, target)


def test_the_command(places: Places) -> None:
    """`retentive migrate` moves and says so; the same store twice, a wrong space and an empty one are refused."""
    fill(places.source.open(ALICE), 3)
    fill(places.source.open(BOB), 2)
    source, target = places.locations

    def run(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(root, ["migrate", *arguments])
        assert result.exit_code == code, result.output
        return result.output

    assert f"{BOB}: 2 memories" in run("--from", source, "--to", target, "--space", BOB)
    assert places.target.spaces() == [BOB]
    assert '"memories": 3' in run("--from", source, "--to", target, "--json")
    assert len(places.digests(ALICE)) == 1
    assert "same store" in run("--from", source, "--to", source, code=1)
    assert "no space 'nobody'" in run("--from", source, "--to", target, "--space", "nobody", code=1)
    assert "ends with this command" in run("--from", source, "--to", ":memory:", code=1)


def test_the_command_over_an_empty_store(tmp_path: Path) -> None:
    """A mistyped folder is no store: said at once, nothing is made, and no password is shown."""
    result = CliRunner().invoke(root, ["migrate", "--from", str(tmp_path / "no"), "--to", str(tmp_path / "there")])
    assert result.exit_code == 1
    assert "no space in the store" in result.output
    assert not (tmp_path / "there").exists()
