"""In which language a space's words are stemmed: noted with the first memory, changed with the whole index."""

from __future__ import annotations

from pathlib import Path

import pytest
from facade_making import NOW, Opening

from retentive import Retentive, Space
from retentive.config import load_config
from retentive.errors import InvalidInput
from retentive.indexing import LANGUAGE_SETTING
from retentive.testing.fakes import HashEmbedder
from retentive.text.tokens import query_terms
from retentive.types import Gate

TEXT = "Die Rechnungen wurden bezahlt"
WORD = "Rechnung"


def found(space: Space, word: str = WORD) -> list[str]:
    """Return what the space's own index answers to a word in the space's own language."""
    terms = query_terms(word, language=space.language())
    store = space.store
    return [memory.text for memory in store.memories(store.matching(terms, Gate(true_at=NOW), 10).rows)]


@pytest.fixture
def german(home: Retentive) -> Space:
    home.language = "german"
    space = home.space("acme/alice")
    space.remember(TEXT)
    return space


def test_english_is_what_nobody_says(space: Space) -> None:
    """And nothing is noted for it."""
    assert space.language() == "english"
    space.remember("She pays the bills")
    assert space.store.setting(LANGUAGE_SETTING) is None
    assert found(space, "bill") == ["She pays the bills"]


def test_a_new_space_takes_the_configured_language_and_keeps_it(german: Space, home: Retentive) -> None:
    """Whoever opens it later with another configuration writes and asks as it is."""
    assert german.language() == "german"
    assert found(german) == [TEXT]
    home.language = "spanish"
    assert german.language() == "german"
    german.remember("Alle Rechnungen liegen im Ordner")
    assert len(found(german)) == 2
    assert home.space("acme/bob").language() == "spanish"


def test_a_space_that_holds_something_does_not_follow_the_configuration(space: Space, home: Retentive) -> None:
    """Its index is English, whatever is configured since."""
    space.remember(TEXT)
    home.language = "german"
    assert space.language() == "english"
    assert found(space) == []


def test_another_language_writes_the_index_anew(space: Space) -> None:
    """Everything there is: hidden and superseded memories too; fields, vectors and accesses stay."""
    kept = space.remember(TEXT)
    hidden = space.remember("Alte Rechnungen")
    space.forget(hidden.id)
    space.get(kept.id)
    before = space.get(kept.id, touch=False)
    seen: list[tuple[int, int]] = []
    assert found(space) == []
    assert space.set_language("german", progress=lambda done, total: seen.append((done, total))) == 2
    assert seen == [(2, 2)]
    assert space.language() == "german"
    assert found(space) == [TEXT]
    assert space.get(kept.id, touch=False) == before
    assert space.journal()[-1].action == "re-index"
    rows = space.store.matching(query_terms(WORD, language="german"), Gate(true_at=NOW, hidden=True), 10).rows
    assert len(rows) == 2


def test_the_same_language_again_does_nothing(german: Space) -> None:
    """No memory is written, and no line."""
    lines = len(german.journal())
    assert german.set_language("german") == 0
    assert len(german.journal()) == lines


def test_a_changed_text_is_indexed_in_the_language_of_the_space(german: Space) -> None:
    """Updates go the way of new memories."""
    memory = german.remember("Nichts davon", key="x")
    german.update(memory.id, text="Zwei Quittungen fehlen")
    assert found(german, "Quittung") == ["Zwei Quittungen fehlen"]


def test_recall_asks_in_the_language_of_the_space(german: Space) -> None:
    """The lexical channel meets another form of the word."""
    hit = german.recall(WORD, touch=False).hits[0]
    assert hit.memory.text == TEXT
    assert "lexical" in hit.channels


@pytest.mark.parametrize("name", ["englisch", "", "porter"])
def test_an_unknown_language_is_refused_before_anything_is_written(space: Space, home: Retentive, name: str) -> None:
    """For one space and for new ones."""
    space.remember(TEXT)
    with pytest.raises(InvalidInput, match="language"):
        space.set_language(name)
    with pytest.raises(InvalidInput, match="language"):
        home.language = name
    assert space.language() == "english"


def test_two_processes_agree(opening: Opening) -> None:
    """Another process that had opened the space asks in the new language at once."""
    one, two = opening(), opening()
    space, other = one.space("acme/alice"), two.space("acme/alice")
    space.remember(TEXT)
    assert found(other) == []
    space.set_language("german")
    assert other.language() == "german"
    assert found(other) == [TEXT]
    other.remember("Rechnungen von gestern")
    assert len(found(space)) == 2


def test_exports_take_it_along(german: Space, home: Retentive, tmp_path: Path) -> None:
    """Into an empty space; one that holds something keeps its own."""
    german.export(tmp_path / "out.jsonl")
    home.language = "english"
    empty, full = home.space("acme/empty"), home.space("acme/full")
    empty.import_(tmp_path / "out.jsonl")
    assert (empty.language(), found(empty)) == ("german", [TEXT])
    full.remember("She pays the bills")
    full.import_(tmp_path / "out.jsonl")
    assert full.language() == "english"
    assert found(full, "bill") == ["She pays the bills"]
    assert found(full, "Rechnungen") == [TEXT]


def test_the_configuration_names_it(tmp_path: Path) -> None:
    """By variable or file; what is no language is refused when the store is opened."""
    config = load_config(env={"RETENTIVE_LANGUAGE": "german", "HOME": str(tmp_path)}, cwd=tmp_path)
    with Retentive(":memory:", embedder=HashEmbedder(16), config=config) as home:
        assert home.language == "german"
    wrong = load_config(env={"RETENTIVE_LANGUAGE": "klingon", "HOME": str(tmp_path)}, cwd=tmp_path)
    with pytest.raises(InvalidInput, match="klingon"):
        Retentive(":memory:", embedder=HashEmbedder(16), config=wrong)
