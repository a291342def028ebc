"""The contract of journal, ledger, findings and settings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from retentive.errors import InvalidInput
from retentive.stores.protocol import Cursor, SpaceStore
from retentive.testing.store_samples import EAST, HOSTILE, NOW, add, at, gate, line, noticed, recalled, sample
from retentive.types import Finding, JournalEntry, Json, LedgerEntry


def write(space: SpaceStore, *entries: JournalEntry | LedgerEntry) -> None:
    """Write journal lines and recalls in one transaction."""
    with space.transaction() as transaction:
        for entry in entries:
            if isinstance(entry, JournalEntry):
                transaction.journal(entry)
            else:
                transaction.log_recall(entry)


def put(space: SpaceStore, *findings: Finding) -> None:
    """Keep findings in one transaction."""
    with space.transaction() as transaction:
        for finding in findings:
            transaction.put_finding(finding)


def recalls(entries: list[LedgerEntry]) -> list[str]:
    """Return the ids of recalls."""
    return [entry.id for entry in entries]


class BooksContract:
    """What journal, ledger, findings and settings promise."""

    def test_a_journal_line_comes_back_whole(self, space: SpaceStore) -> None:
        """Every field survives; the sequence is the store's."""
        entry = line(actor="me", reason="because", before={"n": 1}, after={"l": [None, "é"]}, sequence=77)
        write(space, entry)
        (back,) = space.read_journal()
        assert back.sequence > 0
        assert replace(back, sequence=77) == entry

    def test_the_journal_is_in_writing_order(self, space: SpaceStore) -> None:
        """Sequences grow by writing, whatever the moments say; a reader goes on behind the last it saw."""
        write(space, line("a", at=at(2)), line("b", at=at(1)))
        write(space, line("a", at=at(0), action="pin"))
        everything = space.read_journal()
        assert [entry.memory_id for entry in everything] == ["a", "b", "a"]
        assert sorted({entry.sequence for entry in everything}) == [entry.sequence for entry in everything]
        assert space.read_journal(after=everything[0].sequence) == everything[1:]
        assert space.read_journal(limit=2) == everything[:2]
        assert space.read_journal("a") == [everything[0], everything[2]]
        assert space.read_journal("a", after=everything[0].sequence, limit=5) == [everything[2]]
        assert space.read_journal("nobody") == []

    def test_the_last_line_tells_whether_anything_was_written(self, space: SpaceStore) -> None:
        """It grows with every line, inside the transaction too, is never behind the journal, and reading leaves it."""
        begun = space.last_line()
        with space.transaction() as transaction:
            assert transaction.last_line() == begun
            transaction.journal(line("a"))
            inside = transaction.last_line()
            transaction.journal(line("b"))
            assert transaction.last_line() > inside > begun
            ended = transaction.last_line()
        assert space.last_line() == ended >= space.read_journal()[-1].sequence
        space.read_journal()
        space.recent(gate(), 5)
        assert space.last_line() == ended

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_strings_in_the_books(self, space: SpaceStore, text: str) -> None:
        """Journal, ledger and settings store any string as it is."""
        write(space, line(text, action=text, actor=text, reason=text, before={text: text}))
        write(space, recalled("r" + text, policy=text, cue=text, ids=(text,), scores=(1.0,)))
        with space.transaction() as transaction:
            transaction.set_setting(text, text)
        assert space.read_journal(text)[0].before == {text: text}
        assert space.read_ledger(policy=text)[0].ids == (text,)
        assert space.setting(text) == text

    def test_erasure_leaves_tombstones(self, space: SpaceStore) -> None:
        """The lines of an erased memory stay, without a word of what it said; other lines stay as they are."""
        add(space, sample("a"), sample("b"))
        write(space, line("a", reason="secret", after={"text": "secret"}), line("b", after={"text": "kept"}))
        with space.transaction() as transaction:
            transaction.erase("a")
            transaction.journal(line("a", action="erase", reason="asked"))
        first, other, last = space.read_journal()
        assert (first.action, first.reason, first.before, first.after) == ("remember", "", None, None)
        assert other.after == {"text": "kept"}
        assert (last.action, last.reason) == ("erase", "asked")

    def test_lines_and_questions_can_be_emptied(self, space: SpaceStore) -> None:
        """What was said is gone, what was done stays; the rest is as it was, and unknown ones are no error."""
        write(space, line("a", reason="secret", before={"n": 1}, after={"n": 2}))
        write(space, line("a", action="pin", reason="kept"))
        write(space, recalled("r", cue="secret", cue_vector=EAST, used=("b",)), recalled("s", cue="kept"))
        first, second = space.read_journal()
        with space.transaction() as transaction:
            transaction.redact(lines=[first.sequence, 10_000], recalls=["r", "nobody's", *HOSTILE])
            transaction.redact()
        emptied, kept = space.read_journal()
        assert emptied == replace(first, reason="", before=None, after=None)
        assert kept == second
        found = {entry.id: entry for entry in space.read_ledger()}
        assert found["r"] == recalled("r", cue="", cue_vector=None, used=("b",))
        assert found["s"] == recalled("s", cue="kept")

    def test_a_recall_comes_back_whole(self, space: SpaceStore) -> None:
        """Every field of a recall survives, scores to the last bit."""
        entry = recalled("r", scores=(0.1, 1 / 3), cue_vector=EAST, used=("b",), outcome="good")
        write(space, entry)
        back = space.recall_entry("r")
        assert back is not None
        assert (back.scores, back.ids, back.used, back.outcome) == (entry.scores, entry.ids, ("b",), "good")
        assert back.at == NOW
        assert np.array_equal(back.cue_vector if back.cue_vector is not None else [], EAST)
        assert space.recall_entry("nobody") is None

    def test_the_ledger_is_newest_first(self, space: SpaceStore) -> None:
        """Recalls are listed by moment, of two at one moment the later written first."""
        write(space, recalled("old", days=-1), recalled("b"), recalled("a"), recalled("new", days=1, policy="p"))
        assert recalls(space.read_ledger()) == ["new", "a", "b", "old"]
        assert recalls(space.read_ledger(since=at(0))) == ["new", "a", "b"]
        assert recalls(space.read_ledger(policy="retentive", limit=2)) == ["a", "b"]
        assert space.read_ledger(limit=0) == []
        assert space.read_ledger(policy="none") == []

    def test_the_ledger_goes_on_behind_a_recall(self, space: SpaceStore) -> None:
        """Page by page every recall comes once, in order, also of one moment; what was trimmed since does no harm."""
        write(space, recalled("old", days=-1), *(recalled(name) for name in "zamb"), recalled("new", days=1))
        whole, after, seen = recalls(space.read_ledger()), None, []
        while page := space.read_ledger(limit=2, after=after):
            seen += recalls(page)
            after = Cursor(page[-1].at, page[-1].id)
        assert seen == whole == ["new", "b", "m", "a", "z", "old"]
        assert recalls(space.read_ledger(since=at(0), after=Cursor(NOW, "m"))) == ["a", "z"]
        assert space.read_ledger(policy="none", after=Cursor(NOW, "m")) == []
        assert recalls(space.read_ledger(after=Cursor(at(2), "nobody"))) == whole
        with space.transaction() as transaction:
            transaction.trim_ledger(before=at(0), keep=2)
        assert recalls(space.read_ledger()) == ["new", "b"]
        assert space.read_ledger(after=Cursor(NOW, "a")) == []

    def test_asked_cues(self, space: SpaceStore) -> None:
        """The cues of one policy since a moment, newest first, with their vectors and nothing else."""
        write(space, recalled("old", days=-1), replace(recalled("a"), cue="tea?", cue_vector=EAST), recalled("b"))
        write(space, recalled("other", policy="p"))
        asked = space.asked_since(at(0), "retentive", 9)
        assert [(one.recall_id, one.vector is None) for one in asked] == [
            (entry.id, entry.cue_vector is None) for entry in space.read_ledger(since=at(0), policy="retentive")
        ]
        assert asked[-1].cue == "tea?"
        assert np.array_equal(asked[-1].vector if asked[-1].vector is not None else [], EAST)
        assert len(space.asked_since(at(0), "retentive", 1)) == 1
        assert space.asked_since(at(0), "none", 9) == []

    def test_a_recall_is_logged_once(self, space: SpaceStore) -> None:
        """An id that is in the ledger is refused."""
        write(space, recalled("r"))
        with pytest.raises(InvalidInput, match="'r'"):
            write(space, recalled("r"))

    def test_feedback_adds_up(self, space: SpaceStore) -> None:
        """What was used is added to what was said before; an outcome stays until another is said."""
        write(space, recalled("r", used=("a",)))
        with space.transaction() as transaction:
            assert transaction.log_feedback("r", ["b", "a"], "good")
            assert transaction.log_feedback("r", ["c"], None)
            assert not transaction.log_feedback("nobody", ["a"], "bad")
        entry = space.recall_entry("r")
        assert entry is not None
        assert (entry.used, entry.outcome) == (("a", "b", "c"), "good")

    def test_trimming_the_ledger(self, space: SpaceStore) -> None:
        """What is older than a moment goes, then the oldest beyond a number."""
        write(space, *(recalled(f"r{day}", days=day) for day in range(6)))
        with space.transaction() as transaction:
            assert transaction.trim_ledger(before=at(2), keep=99) == 2
            assert transaction.trim_ledger(before=at(0), keep=3) == 1
            assert transaction.trim_ledger(before=at(0), keep=3) == 0
        assert recalls(space.read_ledger()) == ["r5", "r4", "r3"]

    def test_settings(self, space: SpaceStore) -> None:
        """Any JSON is kept by name; None removes it; absent is None."""
        values: dict[str, Json] = {"number": 1.5, "list": [1, None, {"a": True}], "text": "é", "zero": 0, "no": False}
        with space.transaction() as transaction:
            for name, value in values.items():
                transaction.set_setting(name, value)
        assert space.settings() == values
        assert {name: space.setting(name) for name in values} == values
        with space.transaction() as transaction:
            transaction.set_setting("number", None)
            transaction.set_setting("absent", None)
        assert space.setting("number") is None
        assert set(space.settings()) == set(values) - {"number"}

    def test_a_setting_that_is_not_json(self, space: SpaceStore) -> None:
        """What JSON cannot say is refused."""
        with pytest.raises(InvalidInput, match="s="), space.transaction() as transaction:
            transaction.set_setting("s", float("inf"))

    def test_a_finding_comes_back_whole(self, space: SpaceStore) -> None:
        """Every field survives, read inside the transaction and outside; an unknown one is absent."""
        whole = noticed(
            "f", confidence=1 / 3, reason="why", status="dismissed", decided_at=at(2), detail={"n": [1, "é"]}
        )
        alone = noticed("g", kind="repetition", other_id=None)
        with space.transaction() as transaction:
            transaction.put_finding(whole)
            transaction.put_finding(alone)
            assert transaction.finding("f") == whole
            assert transaction.finding("nobody") is None
        assert space.findings() == [whole, alone]

    def test_a_finding_is_replaced_by_its_id(self, space: SpaceStore) -> None:
        """What became of a finding takes the place of what it was."""
        put(space, noticed("f"))
        decided = noticed("f", status="accepted", decided_at=at(1), days=3, memory_id="c", other_id=None)
        put(space, decided)
        assert space.findings() == [decided]
        assert space.findings(about="a") == []

    def test_findings_are_asked_for(self, space: SpaceStore) -> None:
        """By kind, by status, by a memory on either side; newest first, then by id, as many as wanted."""
        put(space, noticed("old", days=-1, status="applied"), noticed("b", memory_id="c", other_id="a"), noticed("a"))
        put(space, noticed("r", days=1, kind="repetition", memory_id="b", other_id=None))
        assert [finding.id for finding in space.findings()] == ["r", "a", "b", "old"]
        assert [finding.id for finding in space.findings(limit=2)] == ["r", "a"]
        assert [finding.id for finding in space.findings(kind="conflict", status="open")] == ["a", "b"]
        assert [finding.id for finding in space.findings(about="b")] == ["r", "a", "old"]
        assert [finding.id for finding in space.findings(about="b", kind="repetition", status="open", limit=5)] == ["r"]
        assert space.findings(about="nobody") == space.findings(status="none") == space.findings(limit=0) == []
        assert space.findings(about="\ud83d") == []

    def test_findings_go_on_behind_one(self, space: SpaceStore) -> None:
        """Page by page every finding comes once, in order, also of one moment and where the last seen is gone."""
        names = ["z", "a", "é", "B", "b"]
        put(space, noticed("old", days=-1), *(noticed(name) for name in names), noticed("new", days=1, kind="other"))
        whole, after, seen = [finding.id for finding in space.findings()], None, []
        while page := space.findings(limit=2, after=after):
            seen += [finding.id for finding in page]
            after = Cursor(page[-1].at, page[-1].id)
        assert seen == whole == ["new", "B", "a", "b", "z", "é", "old"]
        assert [one.id for one in space.findings(about="a", status="open", after=Cursor(NOW, "b"))] == ["z", "é", "old"]
        assert [one.id for one in space.findings(kind="conflict", after=Cursor(NOW, "aa"), limit=1)] == ["b"]

    def test_a_finding_goes_with_either_memory(self, space: SpaceStore) -> None:
        """Erasing a memory removes the findings about it, whichever side it is on, and no other."""
        add(space, sample("a"), sample("b"), sample("c"))
        put(space, noticed("f"), noticed("g", memory_id="c", other_id="a"), noticed("h", memory_id="b", other_id="c"))
        with space.transaction() as transaction:
            assert transaction.erase("a")
        assert [finding.id for finding in space.findings()] == ["h"]

    def test_a_finding_rolls_back(self, space: SpaceStore) -> None:
        """A finding of a transaction that failed was never there."""
        with pytest.raises(InvalidInput):
            put(space, noticed("f"), noticed("\ud83d"))
        assert space.findings() == []

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_strings_in_findings(self, space: SpaceStore, text: str) -> None:
        """A finding stores any string as it is."""
        finding = noticed("f" + text, memory_id=text, other_id=text + "!", reason=text, detail={text: text})
        put(space, finding)
        assert space.findings(about=text) == [finding]

    def test_a_finding_that_cannot_be_stored(self, space: SpaceStore) -> None:
        """Lone surrogates and what is no JSON are refused."""
        for broken in (noticed("\ud83d"), noticed("f", detail={"n": float("nan")})):
            with pytest.raises(InvalidInput):
                put(space, broken)
        assert space.findings() == []
