"""Fetching, listing, changing and forgetting what was remembered."""

from __future__ import annotations

import base64
import re
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from facade_making import NOW, SURROGATE, Broken, Clock, Opening

from retentive import Space
from retentive.errors import InvalidInput, NotFound
from retentive.types import Gate

LEXICAL = {"channels": ("lexical",), "floor": None}


def found(space: Space, words: str) -> list[str]:
    """Return the ids that the lexical channel finds for some words."""
    from retentive import policies

    return [hit.memory.id for hit in space.recall(words, policy=policies.blend.replace(**LEXICAL), touch=False)]


# Fetching


def test_get_counts_as_an_access_unless_told_not_to(opening: Opening) -> None:
    """A direct fetch moves last access and count; `touch=False` leaves no trace."""
    clock = Clock()
    space = opening(clock=clock).space("a")
    memory = space.remember("Tea")
    assert space.get(memory.id, touch=False).access == memory.access
    clock.tick(hours=1)
    fetched = space.get(memory.id)
    assert (fetched.access.last_at, fetched.access.count) == (clock.now, 1.0)
    assert space.get(memory.id, touch=False) == fetched


def test_get_finds_what_recall_does_not_show(space: Space) -> None:
    """Superseded, forgotten and expired memories are fetched by their ids."""
    old = space.remember("A", key="k")
    space.remember("B", key="k")
    forgotten, expired = space.remember("C"), space.remember("D", valid_until=NOW)
    space.forget(forgotten.id)
    assert [space.get(memory.id).text for memory in (old, forgotten, expired)] == ["A", "C", "D"]
    assert not {old.id, forgotten.id, expired.id} & {memory.id for memory in space.list()}


@pytest.mark.parametrize("verb", ["get", "update", "forget", "history", "chain"])
@pytest.mark.parametrize("name", ["nobody", "", "../x", SURROGATE, "\0"])
def test_an_unknown_id_is_not_found(space: Space, verb: str, name: str) -> None:
    """Every verb names the id and the space; a space that does not exist answers no differently."""
    more = {"importance": 0.5} if verb == "update" else {}
    for _ in range(2):
        with pytest.raises(NotFound, match="in space 'acme/alice'") as failure:
            getattr(space, verb)(name, **more)
        assert failure.value.details["id"] == name
        space.remember("Now it exists")


@pytest.mark.parametrize("verb", ["get", "update", "forget", "history", "chain", "journal"])
def test_an_id_that_is_no_string_is_refused(space: Space, verb: str) -> None:
    """A number is no id, whatever the store would make of it."""
    more = {"importance": 0.5} if verb == "update" else {}
    with pytest.raises(InvalidInput, match="id=5 is not a string"):
        getattr(space, verb)(5, **more)


# Reading makes no space


def test_reading_an_absent_space_makes_none(opening: Opening) -> None:
    """A typo in a path must not leave a space behind: only remembering makes one."""
    home = opening()
    space = home.space("acme/typo")
    assert not space.recall("anything")
    assert not space.list()
    assert space.journal() == []
    assert set(space.maintain().values()) == {0}
    with pytest.raises(NotFound):
        space.get("m1")
    assert home.spaces() == []
    space.remember("Now")
    assert home.spaces() == ["acme/typo"]


def test_a_dropped_space_is_empty_at_once(opening: Opening) -> None:
    """A handle that is still about reads nothing of what was dropped, and can begin anew."""
    home = opening()
    space = home.space("a")
    space.remember("Tea", id="m1")
    assert home.drop("a") is True
    assert home.drop("a") is False
    assert not space.list(hidden=True)
    assert not space.recall("Tea", policy="blend")
    space.remember("Rice", id="m1")
    assert space.get("m1").text == "Rice"


# Listing


def test_pages_follow_one_another_without_gap_or_repetition(opening: Opening) -> None:
    """Newest first, many of one moment too: the pages together are the list."""
    space = opening().space("a")
    space.remember_many([{"text": f"n{n}", "at": NOW - timedelta(days=n // 7)} for n in range(60)])
    whole = list(space.list(limit=1_000))
    assert whole == sorted(whole, key=lambda memory: (-memory.created_at.timestamp(), memory.id))
    for size in (1, 7, 59, 60, 61):
        pages, cursor = [], None
        while True:
            page = space.list(limit=size, cursor=cursor)
            pages += list(page)
            cursor = page.cursor
            if cursor is None:
                break
        assert pages == whole


def test_pages_stay_true_while_writes_go_on(space: Space) -> None:
    """What was there at the start and stayed is given exactly once, whatever was added or erased meanwhile."""
    kept = space.remember_many([{"text": f"n{n}", "id": f"m{n:02}", "at": NOW - timedelta(days=n)} for n in range(20)])
    seen: list[str] = []
    page = space.list(limit=4)
    step = 0
    while True:
        seen += [memory.id for memory in page]
        if page.cursor is None:
            break
        space.remember(f"newer {step}")
        space.remember(f"in between {step}", at=NOW - timedelta(days=0.5))
        if seen[-1] != "m19":
            space.forget(seen[-1], erase=True)  # the very place the cursor points at
        step += 1
        page = space.list(limit=4, cursor=page.cursor)
    assert [name for name in seen if name.startswith("m")] == [memory.id for memory in kept]
    assert len(seen) == len(set(seen))


CURSORS = ["", "x", "é", "!!!!"]
CURSORS += [
    base64.urlsafe_b64encode(data).decode() for data in (b"[1, 2, 3]", b"[5, 6]", b'["2026-01-01T00:00:00", "m"]')
]


@pytest.mark.parametrize("cursor", CURSORS)
def test_a_cursor_of_ones_own_making_is_refused(space: Space, cursor: str) -> None:
    """A cursor is what `list` gave out, and nothing else."""
    space.remember("Tea")
    with pytest.raises(InvalidInput, match=re.escape(f"cursor={cursor!r} is not one that list() gave out")):
        space.list(cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 10_001, 1.5, "5", None])
def test_a_page_has_a_size(space: Space, limit: Any) -> None:
    """A limit is a whole number within bounds."""
    with pytest.raises(InvalidInput, match=re.escape(f"limit={limit!r} is not a whole number of 1..10000")):
        space.list(limit=limit)


FILTERS: list[tuple[dict[str, Any], str]] = [
    ({"kinds": "fact"}, "kinds='fact' is one string"),
    ({"kinds": [1]}, "kind=1 is not a slug such as 'fact'"),
    ({"tags": "ab"}, "tags='ab' is one string"),
    ({"tags": [None]}, "tags holds None"),
    ({"where": {"a": float("nan")}}, "metadata is not JSON"),
    ({"where": ["a"]}, "metadata must map strings to JSON values"),
    ({"since": NOW.replace(tzinfo=None)}, "since="),
    ({"until": "2026"}, "until='2026' is not a datetime"),
    ({"as_of": 0}, "as_of=0 is not a datetime"),
]


@pytest.mark.parametrize(("filters", "says"), FILTERS, ids=[says for _, says in FILTERS])
def test_a_filter_that_says_nothing_is_refused(space: Space, filters: dict[str, Any], says: str) -> None:
    """Recall and list check their filters alike; a wrong one is never an empty answer."""
    space.remember("Tea")
    for ask in (lambda: space.list(**filters), lambda: space.recall("Tea", **filters)):
        with pytest.raises(InvalidInput, match=re.escape(says)):
            ask()


def test_filters_narrow_a_listing(space: Space) -> None:
    """Kinds, tags, metadata and times, each and together; `until` is exclusive, `since` inclusive."""
    space.remember("A", id="a", kind="event", tags=["x", "y"], metadata={"n": 1}, at=NOW - timedelta(days=2))
    space.remember("B", id="b", kind="fact", tags=["x"], metadata={"n": 2, "deep": {"k": [1]}}, at=NOW)
    asked: list[tuple[dict[str, Any], list[str]]] = [
        ({}, ["b", "a"]),
        ({"kinds": ["event"]}, ["a"]),
        ({"kinds": []}, []),
        ({"tags": ["x"]}, ["b", "a"]),
        ({"tags": ["x", "y"]}, ["a"]),
        ({"where": {"n": 1}}, ["a"]),
        ({"where": {"n": 1.0}}, ["a"]),
        ({"where": {"n": True}}, []),
        ({"where": {"deep": {"k": [1]}}}, ["b"]),
        ({"where": {"m": None}}, []),
        ({"since": NOW}, ["b"]),
        ({"until": NOW}, ["a"]),
        ({"kinds": ["fact"], "tags": ["y"]}, []),
    ]
    for filters, expected in asked:
        assert [memory.id for memory in space.list(**filters)] == expected


# Changing


def test_a_changed_text_is_found_by_its_new_words_only(space: Space) -> None:
    """The vector, the lexical entry and the names follow the text."""
    memory = space.remember("Anna drinks jasmine tea")
    space.update(memory.id, text="Boris eats sourdough bread")
    assert found(space, "jasmine") == found(space, "Anna") == []
    assert found(space, "sourdough") == [memory.id]
    assert space.recall("Boris eats sourdough bread", policy="blend")[0].similarity == pytest.approx(1.0, abs=1e-6)
    assert not space.store.known_entities(["anna"])
    assert space.store.known_entities(["boris"])


def test_changed_tags_and_keys_are_found_as_words(space: Space) -> None:
    """People ask by tag and key: a changed one is findable without touching the text or its vector."""
    memory = space.remember("Uses Postgres", tags=["stack"], key="database")
    before = space.store.vectors([memory.id])[memory.id]
    space.update(memory.id, tags=["infrastructure"], key="warehouse")
    assert found(space, "stack") == found(space, "database") == []
    assert found(space, "infrastructure") == found(space, "warehouse") == [memory.id]
    assert np.array_equal(space.store.vectors([memory.id])[memory.id], before)


CHANGES: list[dict[str, Any]] = [
    {"text": "New"},
    {"kind": "event"},
    {"importance": 1},
    {"key": "k"},
    {"key": None},
    {"tags": ["a"]},
    {"tags": []},
    {"metadata": {"a": 1}},
    {"metadata": None},
    {"source": "x"},
    {"source": None},
    {"valid_from": NOW},
    {"valid_until": NOW + timedelta(1)},
    {"valid_from": None, "valid_until": None},
    {"pinned": True},
    {"permanent": True},
    {"recurs": "yearly"},
    {"recurs": None},
    {"trust": 0.5},
]


@pytest.mark.parametrize("change", CHANGES, ids=", ".join)
def test_every_field_can_be_changed_and_comes_back(space: Space, change: dict[str, Any]) -> None:
    """What `update` returns is what is kept; nothing but the named fields moves."""
    memory = space.remember("Old", key="old", source="s", tags=["t"], metadata={"m": 1}, recurs="monthly")
    updated = space.update(memory.id, **change)
    stored = space.get(memory.id, touch=False)
    assert stored == updated
    expected = memory.changed(
        **{name: tuple(value) if name == "tags" else value for name, value in change.items()} | {"updated_at": NOW}
    )
    if change.get("metadata", 0) is None:
        expected = expected.changed(metadata={})
    assert stored == expected.changed(entities=stored.entities if "text" in change else memory.entities)


BAD_CHANGES: list[tuple[dict[str, Any], str]] = [
    ({}, "Nothing to update: pass at least one of text, kind"),
    ({"txt": "x"}, "Unknown field to update 'txt'. Did you mean 'text'?"),
    ({"created_at": NOW}, "Unknown field to update 'created_at'"),
    ({"text": " "}, "must not be empty"),
    ({"kind": "facts"}, "Unknown kind 'facts'"),
    ({"importance": None}, "importance=None is not a number"),
    ({"importance": True}, "importance=True"),
    ({"key": ""}, "key must be a non-empty string"),
    ({"tags": "ab"}, "tags='ab' is one string"),
    ({"metadata": {1: 2}}, "metadata must map strings"),
    ({"pinned": "no"}, "pinned='no' is neither"),
    ({"recurs": "hourly"}, "recurs='hourly'"),
    ({"trust": 2}, "trust=2"),
    ({"valid_until": NOW - timedelta(days=9)}, "is not before valid_until"),
    ({"valid_from": ""}, "valid_from='' is not a datetime"),
]


@pytest.mark.parametrize(("change", "says"), BAD_CHANGES, ids=[says for _, says in BAD_CHANGES])
def test_a_bad_change_changes_nothing(space: Space, change: dict[str, Any], says: str) -> None:
    """Update checks as remember does; a span must also fit the end that is kept."""
    memory = space.remember("Old", valid_from=NOW)
    lines = space.journal()
    with pytest.raises(InvalidInput, match=re.escape(says)):
        space.update(memory.id, **change)
    assert space.get(memory.id, touch=False) == memory
    assert space.journal() == lines


def test_an_embedder_that_fails_leaves_the_old_text(opening: Opening) -> None:
    """No new vector, no new text."""
    space = opening(embedder=Broken(OSError("gone"), after=1)).space("a")
    memory = space.remember("Old")
    with pytest.raises(OSError, match="gone"):
        space.update(memory.id, text="New", importance=1.0)
    assert space.get(memory.id, touch=False) == memory


def test_a_rule_is_read_as_of_the_memorys_own_day(opening: Opening) -> None:
    """A rule that has ended by now is good for a memory it covered, and one that never covered it is refused."""
    space = opening().space("a")
    then = space.remember("Birthday", at=NOW - timedelta(days=4_000))
    assert space.update(then.id, recurs="FREQ=YEARLY;UNTIL=20200101T000000Z").recurs
    later = space.remember("Fair", at=NOW + timedelta(days=4_000))
    with pytest.raises(InvalidInput, match="never occurs"):
        space.update(later.id, recurs="FREQ=YEARLY;UNTIL=20300101T000000Z")
    assert len(space.recall("Fair and birthday", policy="freshness")) == 2


# Forgetting


def test_forgetting_hides_and_keeps(space: Space) -> None:
    """A forgotten memory is not recalled or listed; it can be fetched, and its text is still there."""
    memory = space.remember("Secret tea")
    space.forget(memory.id, reason="asked to")
    assert not space.list()
    assert not space.recall("Secret tea", policy="blend")
    assert [hidden.id for hidden in space.list(hidden=True)] == [memory.id]
    assert space.get(memory.id).suppressed_at == NOW
    assert space.journal(memory.id)[-1].reason == "asked to"


def test_forgetting_twice_is_forgetting_once(space: Space) -> None:
    """The first moment and reason stay."""
    memory = space.remember("Secret tea")
    space.forget(memory.id, reason="first")
    lines = space.journal()
    space.forget(memory.id, reason="second")
    assert space.journal() == lines


def test_erasing_leaves_a_tombstone_without_content(space: Space) -> None:
    """Text, vector and all earlier versions are gone; the journal says that there was something, and why it went."""
    memory = space.remember("Secret jasmine", key="k")
    space.update(memory.id, text="Secret oolong", reason="a secret reason")
    space.forget(memory.id, erase=True, reason="asked to")
    assert [line.action for line in space.journal(memory.id)] == ["remember", "update", "erase"]
    assert space.history(memory.id) == []
    assert "ecret" not in str(space.journal())
    assert space.store.vectors([memory.id]) == {}
    assert found(space, "jasmine oolong secret") == []
    assert space.store.count(Gate(true_at=NOW, hidden=True)) == 0
    with pytest.raises(NotFound):
        space.get(memory.id)


# History and journal


def test_history_shows_every_state(opening: Opening) -> None:
    """Each version with when, what and why, oldest first, and the last is what is kept now."""
    clock = Clock()
    space = opening(clock=clock).space("a")
    memory = space.remember("Old")
    clock.tick(days=1)
    space.update(memory.id, text="New", reason="typo")
    clock.tick(days=1)
    space.forget(memory.id, reason="done")
    versions = space.history(memory.id)
    assert [(v.action, v.memory["text"], v.reason) for v in versions] == [
        ("remember", "Old", ""),
        ("update", "New", "typo"),
        ("forget", "New", "done"),
    ]
    assert [v.at for v in versions] == [NOW, NOW + timedelta(days=1), NOW + timedelta(days=2)]
    assert versions[-1].memory["suppressed_at"] == clock.now.isoformat()


def test_the_journal_numbers_its_lines(space: Space) -> None:
    """Sequences grow by the order of writing, over all memories of the space; reading adds no line."""
    memories = space.remember_many(["A", "B", "C"])
    space.update(memories[1].id, importance=1.0)
    space.recall("A")
    space.get(memories[0].id)
    lines = space.journal()
    assert [line.action for line in lines] == ["remember"] * 3 + ["update"]
    sequences = [line.sequence for line in lines]
    assert sequences == sorted(set(sequences))
    assert lines[3].before is not None
    assert (lines[3].before["importance"], lines[3].memory_id) == (0.5, memories[1].id)


def test_the_journal_names_who_wrote(opening: Opening) -> None:
    """The configured actor stands on every line."""
    home = opening()
    home.actor = "agent-7"
    memory = home.space("a").remember("A")
    assert [line.actor for line in home.space("a").journal(memory.id)] == ["agent-7"]
