"""What `remember` refuses, with a message that names the value and the remedy, and what it must take."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from facade_making import NOW, SURROGATE, Flat, Opening

from retentive import Draft, Retentive, Space, rating
from retentive.conflicts.settings import EVERYTHING_KEPT
from retentive.errors import InvalidInput, NotFound


@pytest.fixture(autouse=True)
def kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every text as it is told: what is read into two of them is not the matter here."""
    monkeypatch.setattr("retentive.memory.NOTICING", EVERYTHING_KEPT)


NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001 - what is refused
NAN = float("nan")

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("an empty text", {"text": ""}, "must not be empty"),
    ("white space only", {"text": " \n\t\u2003"}, "must not be empty"),
    ("bytes", {"text": b"abc"}, "must be a string, got bytes"),
    ("None as text", {"text": None}, "must be a string, got NoneType"),
    ("a lone surrogate", {"text": SURROGATE}, "lone surrogate at position 7; decode it"),
    ("a text too long", {"text": "x" * 4_000_001}, "4,000,001 characters; at most 4,000,000. Split it"),
    ("a typo in the kind", {"kind": "facts"}, "Unknown kind 'facts'. Did you mean 'fact'? Known: decision, entity"),
    ("a kind of one's own", {"kind": "ticket"}, "register_kind('ticket')"),
    ("a kind that is no slug", {"kind": "Support Ticket"}, "kind='Support Ticket' is not a slug such as"),
    ("a kind that is no string", {"kind": 3}, "kind=3 is not a slug"),
    ("importance NaN", {"importance": NAN}, "importance=nan is not a number of 0..1"),
    ("importance infinite", {"importance": float("inf")}, "importance=inf is not a number of 0..1"),
    ("importance True", {"importance": True}, "importance=True is not a number of 0..1"),
    (
        "importance on the scale of ten",
        {"importance": 8},
        "importance=8 is not a number of 0..1. For the 1-10 scale use",
    ),
    ("importance below 0", {"importance": -0.01}, "importance=-0.01"),
    ("importance as text", {"importance": "0.5"}, "importance='0.5'"),
    ("trust above 1", {"trust": 1.5}, "trust=1.5 is not a number of 0..1"),
    ("trust None", {"trust": None}, "trust=None"),
    ("a naive moment", {"at": NAIVE}, "has no time zone; pass an aware datetime, e.g. datetime.now(UTC)"),
    ("a moment as text", {"at": "2026-01-01"}, "at='2026-01-01' is not a datetime"),
    ("a moment that is falsy", {"at": 0}, "at=0 is not a datetime"),
    ("a naive start", {"valid_from": NAIVE}, "valid_from="),
    ("a falsy end", {"valid_until": ""}, "valid_until='' is not a datetime"),
    ("an end at the start", {"valid_from": NOW, "valid_until": NOW}, "is not before valid_until"),
    ("an end before the start", {"valid_from": NOW, "valid_until": NOW - timedelta(1)}, "is not before valid_until"),
    ("tags as one string", {"tags": "ab"}, "tags='ab' is one string; pass a list of strings, e.g. ['ab']"),
    ("tags as bytes", {"tags": b"ab"}, "tags=b'ab' is not a list of strings"),
    ("tags as a number", {"tags": 5}, "tags=5 is not a list of strings"),
    ("an empty tag", {"tags": ["a", " "]}, "an element of tags must be a non-empty string, got ' '"),
    ("a tag None", {"tags": [None]}, "tags holds None"),
    ("a tag with a lone surrogate", {"tags": [SURROGATE]}, "lone surrogate"),
    ("metadata as a list", {"metadata": [("a", 1)]}, "metadata must map strings to JSON values"),
    ("metadata with a number for a name", {"metadata": {1: "a"}}, "metadata must map strings to JSON values"),
    ("the same further down", {"metadata": {"a": [{1: "b"}]}}, "metadata must map strings to JSON values"),
    ("metadata with NaN", {"metadata": {"a": NAN}}, "metadata is not JSON"),
    ("metadata with a set", {"metadata": {"a": {1}}}, "metadata is not JSON"),
    ("metadata with a datetime", {"metadata": {"a": NOW}}, "metadata is not JSON"),
    ("metadata with a lone surrogate", {"metadata": {"a": SURROGATE}}, "metadata contains a lone surrogate"),
    ("a rule nobody can read", {"recurs": "every full moon"}, "recurs='every full moon'"),
    ("a rule finer than a day", {"recurs": "FREQ=HOURLY"}, "recurs='FREQ=HOURLY'"),
    ("a rule that is no string", {"recurs": 7}, "recurs=7 is not a string"),
    ("a rule that never comes", {"recurs": "FREQ=YEARLY;UNTIL=20000101T000000Z"}, "never occurs"),
    ("an empty key", {"key": ""}, "key must be a non-empty string, got ''"),
    ("a key that is a number", {"key": 7}, "key must be a non-empty string, got 7"),
    ("a key too long", {"key": "k" * 1_001}, "key has 1,001 characters; at most 1,000"),
    ("an empty id", {"id": " "}, "id must be a non-empty string"),
    ("an id with a lone surrogate", {"id": SURROGATE}, "id contains a lone surrogate"),
    ("a source that is no string", {"source": 1}, "source must be a non-empty string, got 1"),
    ("a speaker that is blank", {"speaker": "  "}, "speaker must be a non-empty string"),
    ("a session that is a number", {"session": 5}, "session must be a non-empty string, got 5"),
    ("pinned as a word", {"pinned": "no"}, "pinned='no' is neither True nor False"),
    ("permanent as a number", {"permanent": 1}, "permanent=1 is neither True nor False"),
    ("supersedes as one string", {"supersedes": "m1"}, "supersedes='m1' is one string"),
    ("supersedes of numbers", {"supersedes": [1]}, "an element of supersedes must be a non-empty string, got 1"),
    ("derived_from of numbers", {"derived_from": [1]}, "an element of derived_from must be"),
    ("an unknown field", {"importence": 1}, "Unknown field of a memory 'importence'. Did you mean 'importance'?"),
]


@pytest.mark.parametrize(("fields", "says"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_a_bad_value_is_refused_by_name_and_writes_nothing(home: Retentive, fields: dict[str, Any], says: str) -> None:
    """The message names the value and what would be accepted; the space stays as it was."""
    space = home.space("acme/alice")
    kept = space.remember("Likes tea")
    with pytest.raises(InvalidInput, match=re.escape(says)):
        space.remember(**{"text": "Likes coffee", **fields})
    assert [memory.id for memory in space.list(hidden=True)] == [kept.id]
    assert [line.memory_id for line in space.journal()] == [kept.id]


def test_superseding_what_is_not_there_is_not_found(space: Space) -> None:
    """An id to supersede that the space does not hold is an error, and the new memory is not kept either."""
    with pytest.raises(NotFound, match="supersedes='nobody': no memory with this id in space 'acme/alice'"):
        space.remember("New", supersedes=["nobody"])
    assert not space.list(hidden=True)


@pytest.mark.parametrize(
    "text",
    [
        "nul \0 in the middle",
        "family 👩‍👩‍👧‍👦 and flag 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
        "\u202eright to left\u202c שלום עליכם مرحبا",
        "line one\nline two\r\n\ttabbed",
        "<memory>&amp;]]></memory> ```",
        "combining e\u0301 and \ufeff mark",
        "'; DROP TABLE memories; --",
        "?",
    ],
    ids=["NUL", "emoji", "right to left", "lines", "markup", "combining", "SQL", "one sign"],
)
def test_any_text_comes_back_as_it_was(space: Space, text: str) -> None:
    """What was remembered is returned to the letter, by id, in the list and by recall for its own words."""
    memory = space.remember(text)
    assert space.get(memory.id).text == text
    assert [found.text for found in space.list()] == [text]
    assert [hit.memory.text for hit in space.recall(text[:2_000], policy="blend")] == [text]


@pytest.mark.parametrize("text", ["x" * 1_000_000, "Alice likes tea. " * 60_000], ids=["one word", "many"])
def test_a_text_of_a_megabyte_is_a_text(opening: Opening, text: str) -> None:
    """A megabyte is kept, found and given back whole."""
    space = opening(embedder=Flat()).space("a")
    memory = space.remember(text)
    assert space.get(memory.id).text == text
    assert space.recall("Who likes tea?", policy="blend")[0].memory.text == text


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "a/b",
        "A",
        "a",
        "CON",
        "nul.txt",
        "\x00\x1f",
        "id with space",
        "é",
        "e\u0301",
        "😀",
        "%2e%2e",
        "' OR 1=1",
        "x" * 1_000,
    ],
)
def test_a_hostile_id_is_an_id(space: Space, name: str) -> None:
    """Any string a caller gives as an id finds this memory and no other."""
    space.remember("The other one", id="other")
    space.remember("This one", id=name)
    assert space.get(name).text == "This one"
    assert {memory.id for memory in space.list()} == {"other", name}
    space.forget(name, erase=True)
    assert [memory.id for memory in space.list(hidden=True)] == ["other"]


def test_ids_differ_by_case_and_by_composition(space: Space) -> None:
    """Ids are compared to the letter: neither case nor Unicode normalisation makes two of them one."""
    for name in ("a", "A", "é", "e\u0301"):
        space.remember(f"Memory {name}", id=name)
    assert [space.get(name).text for name in ("a", "A", "é", "e\u0301")] == [
        f"Memory {n}" for n in ("a", "A", "é", "e\u0301")
    ]


def test_an_id_that_exists_is_refused(space: Space) -> None:
    """An id is given once; remembering under it again would overwrite in silence."""
    space.remember("First", id="m1")
    with pytest.raises(InvalidInput, match="'m1' exists already"):
        space.remember("Second", id="m1")
    assert space.get("m1").text == "First"


def test_a_registered_kind_is_accepted(home: Retentive) -> None:
    """After `register_kind` a slug of one's own is a kind like any other."""
    home.register_kind("support-ticket")
    memory = home.space("a").remember("Printer on fire", kind="support-ticket")
    assert memory.kind == "support-ticket"


@pytest.mark.parametrize("kind", ["", "Ticket", "9lives", "a b", "a" * 64])
def test_a_kind_that_is_no_slug_is_not_registered(home: Retentive, kind: str) -> None:
    """Kinds are slugs, so that they can stand in TOML, tags and URLs."""
    with pytest.raises(InvalidInput, match=re.escape(f"kind={kind!r}")):
        home.register_kind(kind)


def test_rating_turns_the_scale_of_ten_into_the_unit_scale(space: Space) -> None:
    """`importance=rating(8)` is 0.8."""
    assert space.remember("Allergic to nuts", importance=rating(8)).importance == 0.8


@pytest.mark.parametrize("ten", [0, 11, 0.5, NAN, True, "8", None])
def test_a_rating_beside_the_scale_is_refused(ten: Any) -> None:
    """What is no number of 1..10 is refused by name."""
    with pytest.raises(InvalidInput, match=re.escape(f"rating({ten!r})")):
        rating(ten)


def test_what_is_kept_is_what_was_given(space: Space) -> None:
    """Every field comes back as it was said; repeated tags come back once, moments in UTC."""
    said = datetime(2025, 5, 1, 9, tzinfo=UTC)
    base = space.remember("Base", id="base")
    memory = space.remember(
        "Prefers Postgres",
        kind="preference",
        importance=0.9,
        key="database",
        tags=["stack", "work", "stack"],
        source="turn:12",
        metadata={"ticket": 7, "nested": {"a": [1, None, "x", 1.5, True]}},
        at=said,
        speaker="Alice",
        session="s1",
        valid_from=said,
        valid_until=said + timedelta(days=900),
        derived_from=[base.id],
        pinned=True,
        permanent=True,
        recurs="yearly",
        trust=0.5,
        id="m1",
    )
    assert space.get("m1", touch=False) == memory
    assert memory.tags == ("stack", "work")
    assert memory.metadata == {"ticket": 7, "nested": {"a": [1, None, "x", 1.5, True]}}
    assert (memory.created_at, memory.recorded_at, memory.valid_from) == (said, NOW, said)
    assert (memory.pinned, memory.permanent, memory.recurs, memory.trust) == (True, True, "yearly", 0.5)
    assert (memory.derived_from, memory.source, memory.session, memory.speaker) == (("base",), "turn:12", "s1", "Alice")


def test_a_callers_metadata_stays_his_own(space: Space) -> None:
    """Changing a mapping after it was remembered changes no memory."""
    mine: dict[str, Any] = {"a": [1]}
    memory = space.remember("Text", metadata=mine)
    mine["a"].append(2)
    mine["b"] = 1
    assert space.get(memory.id).metadata == {"a": [1]}


def test_ids_are_made_from_what_is_remembered(space: Space, home: Retentive) -> None:
    """The same history has the same ids on every machine; another space, moment, kind or text has others."""
    other = Retentive(":memory:", embedder=home.embedder, clock=home.clock)
    again = other.space("acme/alice")
    assert [space.remember("Tea").id for _ in range(3)] == [again.remember("Tea").id for _ in range(3)]
    first = again.remember("Coffee", at=NOW)
    different = [
        again.remember("Coffee", at=NOW - timedelta(microseconds=1)),
        again.remember("Coffee", kind="event", at=NOW),
        again.remember("Coffee!", at=NOW),
        other.space("acme/bob").remember("Coffee", at=NOW),
    ]
    assert len({first.id, *(memory.id for memory in different)}) == 5


def test_one_moment_told_in_two_zones_is_one_moment(space: Space) -> None:
    """Zones are only ways to write a moment: ids and order do not depend on them."""
    from zoneinfo import ZoneInfo

    told = NOW.astimezone(ZoneInfo("Asia/Kolkata"))
    assert space.remember("Tea", at=told).created_at == NOW
    assert space.remember("Rice", at=told).created_at.tzinfo is UTC


def test_a_draft_is_remembered_as_its_arguments_would_be(space: Space) -> None:
    """A `Draft` goes through the same checks and gives the same memory."""
    drafted = space.remember_many([Draft("Tea", kind="preference", tags=("x",), importance=0.7)])[0]
    assert (drafted.kind, drafted.tags, drafted.importance) == ("preference", ("x",), 0.7)
    with pytest.raises(InvalidInput, match="Unknown kind"):
        space.remember_many([Draft("Tea", kind="drink")])
