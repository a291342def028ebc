"""Forgetting by id, source and person: what goes, what is left, and what the journal says of it."""

from __future__ import annotations

from typing import Any

import pytest
from facade_making import Clock

from retentive import Retentive, Space
from retentive.errors import InvalidInput, NotFound
from retentive.maintain.forget import CERTIFICATE
from retentive.types import Finding

SECRET = "Bob Miller lives in Elm Street 5"  # noqa: S105 # what must be gone


def told(space: Space) -> dict[str, Any]:
    """Return the certificate that was written last."""
    lines = [line for line in space.journal() if line.action == CERTIFICATE]
    assert lines[-1].memory_id == ""
    return dict(lines[-1].after or {})


def said(space: Space) -> str:
    """Return everything that the space says about its memories, in one text."""
    return repr((space.journal(), space.store.read_ledger(), list(space.list(hidden=True)), space.store.findings()))


def test_forgetting_hides(space: Space) -> None:
    """One or several by id; each has its line, and none is lost."""
    first, second = space.remember("The kiosk opens at nine"), space.remember("The museum closes at six")
    done = space.forget([first.id, second.id], reason="asked to")
    assert (done.ids, done.erased, done.complete) == ((first.id, second.id), False, True)
    assert [space.get(memory, touch=False).retrievable for memory in done.ids] == [False, False]
    assert [line.reason for line in space.journal() if line.action == "forget"] == ["asked to"] * 2
    assert [line for line in space.journal() if line.action == CERTIFICATE] == []


def test_erasing_several_is_all_or_none(space: Space) -> None:
    """An id that is not there stops it before anything is gone."""
    memory = space.remember(SECRET)
    with pytest.raises(NotFound):
        space.forget([memory.id, "nobody"], erase=True)
    assert space.get(memory.id, touch=False).text == SECRET


def test_nothing_is_said_any_more(space: Space) -> None:
    """Row, journal, questions that it answered or that quote it, and earlier texts: all empty, and all still there."""
    memory = space.remember("Bob Miller lives in Oak Street 7", importance=0.9)
    space.update(memory.id, text=SECRET, reason="moved to Elm Street 5")
    other = space.remember("The kiosk opens at nine", id="kiosk")
    space.update("kiosk", importance=0.4, reason=f"less than {SECRET.upper()}")
    answered = space.recall("Where does Bob live?")
    assert memory.id in [hit.memory.id for hit in answered]
    quoting = space.recall("Is it true that bob miller lives in oak street 7?", kinds=["event"])
    part = space.recall("Miller lives in Elm", kinds=["event"])
    unrelated = space.recall("When does the kiosk open?", kinds=["event"])
    done = space.forget(memory.id, erase=True)
    assert (done.ids, done.erased, done.complete, done.left) == ((memory.id,), True, True, ())
    assert done.lines == len(space.journal(memory.id)) - 1 + 1
    text = said(space)
    for word in ("Miller", "miller", "MILLER", "Elm", "Oak"):
        assert word not in text
    asked = {entry.id: entry.cue for entry in space.store.read_ledger()}
    assert asked == {answered.id: "", quoting.id: "", part.id: "", unrelated.id: "When does the kiosk open?"}
    assert done.recalls == 3
    assert space.get("kiosk", touch=False).text == other.text
    assert [line.action for line in space.journal("kiosk")] == ["remember", "update"]
    assert [line.action for line in space.journal(memory.id)] == ["remember", "update", "erase"]


def test_the_certificate(space: Space) -> None:
    """Ids and counts, and by what it was named; not one word."""
    memory = space.remember(SECRET, source="chat:7")
    done = space.forget(source="chat:7", erase=True, reason="")
    assert told(space) == {
        "erased": [memory.id],
        "by": "source",
        "left": [],
        "merged": 0,
        "journal_lines": done.lines,
        "recalls": 0,
    }
    assert "chat:7" not in said(space)


def test_by_source(space: Space) -> None:
    """Everything that came from there, hidden ones too, and nothing else."""
    gone = [space.remember(f"Row {i} of the sheet", source="sheet:1", id=f"row{i}").id for i in range(3)]
    space.forget(gone[0])
    kept = space.remember("Row 9 of another sheet", source="sheet:12")
    assert set(space.forget(source="sheet:1", erase=True).ids) == set(gone)
    assert [memory.id for memory in space.list(hidden=True)] == [kept.id]
    with pytest.raises(NotFound, match="source 'sheet:1'"):
        space.forget(source="sheet:1", erase=True)


def test_by_person(space: Space) -> None:
    """Whoever names the person, or is spoken by the person; not the one who shares a word."""
    named = space.remember("We met Bob Miller in Berlin").id
    spoken = space.remember("I prefer tea", speaker="Bob Miller").id
    other = space.remember("The miller ground the corn in the old mill").id
    space.recall("what does bob miller drink?", kinds=["event"])
    done = space.forget(person="Bob Miller", erase=True)
    assert set(done.ids) == {named, spoken}
    assert [memory.id for memory in space.list(hidden=True)] == [other]
    assert "bob" not in said(space).casefold()


def test_a_person_whom_only_an_earlier_version_names(space: Space) -> None:
    """The memory stays as it is now; its story loses what named the person."""
    memory = space.remember("Yesterday we met Bob Miller")
    space.update(memory.id, text="Yesterday we met a friend")
    done = space.forget(person="Bob Miller", erase=True)
    assert done.ids == ()
    assert done.lines == 2
    assert space.get(memory.id, touch=False).text == "Yesterday we met a friend"
    assert "Bob" not in said(space)


def test_what_leans_on_it_is_listed_and_taken_along(space: Space) -> None:
    """Conclusions at any distance, and whoever says it word for word."""
    memory = space.remember(SECRET)
    first = space.remember("He seems to live nearby", kind="reflection", derived_from=[memory.id])
    second = space.remember("A visit is possible", kind="reflection", derived_from=[first.id])
    quoting = space.remember(f"Note to the postman: {SECRET}, ring twice")
    free = space.remember("The postman rings twice")
    foretold = space.forget(memory.id, erase=True, dry_run=True)
    assert (foretold.dry_run, foretold.ids) == (True, (memory.id,))
    assert set(foretold.left) == {first.id, second.id, quoting.id}
    assert space.get(memory.id, touch=False).text == SECRET
    assert set(space.forget(memory.id, erase=True, dry_run=True, derived=True).ids) == {memory.id, *foretold.left}
    done = space.forget(memory.id, erase=True)
    assert set(done.left) == set(foretold.left)
    assert space.get(quoting.id, touch=False).text == quoting.text
    assert space.journal(quoting.id)[0].after is not None
    done = space.forget(quoting.id, erase=True, derived=True)
    assert done.ids == (quoting.id,)
    assert {memory.id for memory in space.list(hidden=True)} == {first.id, second.id, free.id}


def test_derived_goes_along(space: Space) -> None:
    """One order erases a memory and what was concluded from it."""
    memory = space.remember(SECRET)
    insight = space.remember("He lives nearby", kind="reflection", derived_from=[memory.id])
    assert set(space.forget(memory.id, erase=True, derived=True).ids) == {memory.id, insight.id}
    assert list(space.list(hidden=True)) == []


def repetition(space: Space, memory_id: str, **detail: Any) -> None:
    """Note a saying that was not kept beside a memory."""
    with space.store.transaction() as tx:
        tx.put_finding(Finding(f"f{memory_id}", Clock().now, "repetition", memory_id, detail=detail))


def test_what_was_merged_goes_too(space: Space) -> None:
    """A saying that was not kept beside another goes with it, and by its own source or person without it."""
    memory = space.remember("The rent is 900 a month")
    repetition(space, memory.id, text="The rent is nine hundred", source="chat:7")
    assert space.forget(source="chat:7", erase=True).merged == 1
    assert "nine hundred" not in said(space)
    assert space.get(memory.id, touch=False).text == "The rent is 900 a month"
    repetition(space, memory.id, text="Bob Miller says the rent is 900", tags=["x"])
    assert space.forget(person="Bob Miller", erase=True).merged == 1
    assert "Bob" not in said(space)
    repetition(space, memory.id, text="Our rent is 900")
    assert space.forget(memory.id, erase=True).merged == 1
    assert space.store.findings() == []


def test_many_sayings_are_looked_up_by_their_beginnings(space: Space) -> None:
    """A source of a hundred memories: a line that quotes the last of them is found as well."""
    entries = [{"text": f"Entry number {i:03} of the log", "source": "log", "id": f"m{i}"} for i in range(100)]
    space.remember_many(entries)
    space.remember("The kiosk opens at nine", id="kiosk")
    space.update("kiosk", importance=0.4, reason="see: entry number 077 of the log.")
    space.update("kiosk", importance=0.3, reason="see: entry number of the log.")
    space.forget(source="log", erase=True)
    assert [line.reason for line in space.journal("kiosk")] == ["", "", "see: entry number of the log."]


WRONG: list[dict[str, Any]] = [
    {},
    {"id": "a", "source": "b"},
    {"source": "a", "person": "b"},
    {"id": []},
    {"id": [1]},
    {"source": " "},
    {"person": "..."},
]


@pytest.mark.parametrize("asked", WRONG, ids=repr)
def test_what_is_not_named_is_refused(space: Space, asked: dict[str, Any]) -> None:
    """Exactly one way of naming, and that one well."""
    space.remember("The kiosk opens at nine")
    with pytest.raises(InvalidInput):
        space.forget(**asked)


def test_erasing_happens_once(space: Space) -> None:
    """Asked again under the same key, the first answer stands, though nothing is there any more."""
    memory = space.remember(SECRET)
    assert space.forget(memory.id, erase=True, once="k").ids == (memory.id,)
    assert space.forget(memory.id, erase=True, once="k").ids == (memory.id,)


def test_another_space_is_untouched(home: Retentive) -> None:
    """By source or person means: of this space."""
    for path in ("acme/alice", "acme/bob"):
        home.space(path).remember("We met Carla Weber", source="chat:7")
    home.space("acme/alice").forget(person="Carla Weber", erase=True)
    with pytest.raises(NotFound):
        home.space("acme/alice").forget(source="chat:7")
    assert len(home.space("acme/bob").list()) == 1
