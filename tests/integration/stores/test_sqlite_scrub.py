"""Through the façade: whatever the pages went through, no byte of what was erased is in any file of the store."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive, Space
from retentive.stores.sqlite import SqliteStore
from retentive.stores.sqlite.scrub import MARK, residue
from retentive.testing.fakes import HashEmbedder
from retentive.testing.store_samples import EAST, SPACE, sample

WORD = 12  # letters: long enough to stand nowhere by chance


class Words:
    """Words that no text has had before."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def one(self) -> str:
        return "".join(self._random.choice(string.ascii_letters) for _ in range(WORD))

    def text(self) -> str:
        return " ".join(self.one() for _ in range(self._random.choice([2, 6, 20, 90])))


def left_in(folder: Path, words: Iterable[str]) -> set[str]:
    """Return which of the words any file still has, in whatever case."""
    wanted = {word.casefold().encode() for word in words}
    found: set[bytes] = set()
    for path in folder.rglob("*"):
        for run in re.findall(rb"[a-z]{%d,}" % WORD, path.read_bytes().lower()) if path.is_file() else ():
            found |= wanted & {run[at : at + WORD] for at in range(len(run) - WORD + 1)}
    return {word.decode() for word in found}


def filled(space: Space, words: Words, count: int) -> dict[str, list[str]]:
    """Write, change and ask about memories of many lengths; return every word that each of them had."""
    had: dict[str, list[str]] = {}
    for number in range(count):
        text, (key, tag, name, value, source) = words.text(), [words.one() for _ in range(5)]
        facts: dict[str, Any] = {"key": key, "tags": [tag], "metadata": {name: value}, "source": source}
        session, speaker = words.one(), words.one().title()
        memory = space.remember(text, id=f"m{number}", session=session, speaker=speaker, **facts)
        had[memory.id] = [*text.split(), key, tag, name, value, source, session, speaker]
        if number % 5 == 0:
            changed = words.text()
            space.update(f"m{number // 2}", text=changed)
            had[f"m{number // 2}"] += changed.split()
        if number % 9 == 0:
            space.recall(text[: 3 * WORD])
    return had


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Retentive]:
    store = SqliteStore(tmp_path / "store", busy_timeout=0.2)
    with Retentive(store=store, embedder=HashEmbedder(32)) as home:
        yield home


@pytest.mark.parametrize("seed", [1])
def test_no_byte_is_left_whatever_the_pages_went_through(home: Retentive, tmp_path: Path, seed: int) -> None:
    """Pages that were split keep copies of names which secure_delete does not overwrite: they go as well."""
    space = home.space("acme/alice")
    had = filled(space, Words(seed), 150)
    vectors = space.store.vectors([f"m{number}" for number in range(0, 150, 10)])
    gone = [word for memory in vectors for word in had[memory]]
    kept = [word for memory, words in had.items() if memory not in vectors for word in words[:3]]
    done = space.forget(list(vectors), erase=True)
    assert done.complete
    assert left_in(tmp_path, gone) == set()
    assert len(left_in(tmp_path, kept)) == len({word.casefold() for word in kept})
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert [memory for memory, vector in vectors.items() if vector.tobytes() in everything] == []
    assert home.store.check("acme/alice") == []  # type: ignore[attr-defined]  # the SQLite store can
    assert len(space.list(hidden=True, limit=1000)) == 135


def test_overwriting_cells_alone_is_not_enough(
    home: Retentive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same play without writing the file anew: words are left. Should this fail one day, the rebuild can go."""
    monkeypatch.setattr("retentive.stores.sqlite.connections.residue", lambda _file: False)
    space = home.space("acme/alice")
    had = filled(space, Words(1), 150)
    gone = [f"m{number}" for number in range(0, 150, 5)]
    space.forget(gone, erase=True)
    assert left_in(tmp_path, [word for memory in gone for word in had[memory]])


def test_dropping_a_space_leaves_no_file(home: Retentive, tmp_path: Path) -> None:
    """A dropped space is gone from the folder, to the last byte; what is left is a certificate without content."""
    had = filled(home.space("acme/alice"), Words(3), 20)
    home.space("acme/bob").remember("Something else")
    home.drop("acme/alice")
    assert left_in(tmp_path, [word for words in had.values() for word in words]) == set()
    left = {path.name for path in (tmp_path / "store").iterdir()}
    assert (len(left), ".certificates.jsonl" in left) == (2, True)


def test_a_reader_of_another_process_delays_it(home: Retentive, tmp_path: Path) -> None:
    """The answer says that it is not complete; the next write, or upkeep, makes it so."""
    space = home.space("acme/alice")
    had = filled(space, Words(4), 60)
    twin = SqliteStore(tmp_path / "store").open("acme/alice")
    with twin.snapshot():
        assert len(twin.get(["m7"])) == 1
        assert not space.forget("m7", erase=True).complete
        assert left_in(tmp_path, had["m7"])
    space.maintain()
    assert left_in(tmp_path, had["m7"]) == set()
    twin.close()


def test_a_process_that_died_before_cleaning_up(tmp_path: Path) -> None:
    """Whoever writes next finds its mark, and does it."""
    store = SqliteStore(tmp_path / "store")
    space = store.open(SPACE)
    with space.transaction() as tx:
        for number in range(400):
            name = f"name{number * 37 % 400:04}"
            tx.insert(sample(f"m{number}", text=f"word{number}" * 9, entities=(name,)), EAST, ())
    store.close()
    file = next((tmp_path / "store").rglob("space.db"))
    assert residue(file)
    (file.parent / MARK).touch()
    again = SqliteStore(tmp_path / "store")
    with again.open(SPACE).transaction() as tx:
        tx.set_setting("n", 1)
    assert not (file.parent / MARK).exists()
    assert again.check(SPACE) == []
    again.close()


def test_nothing_to_clean_is_clean(tmp_path: Path) -> None:
    """A space in which nothing was erased is left alone."""
    store = SqliteStore(tmp_path / "store")
    assert store.open(SPACE).scrub()
    store.close()
