"""Forgetting: hiding memories, or erasing them with every trace of what they said.

What is to go is named by ids, by its source, or by a person it names. Erasing takes row, vector, terms, findings and
jobs (the store), the memory's journal, the journal lines of others that repeat its words, and the questions in the
ledger that it answered or that quote it. What was concluded from it, or still says the same, is listed, and goes with
it where that was asked for. A certificate in the journal says what was done, without a word of what was erased.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from retentive.errors import InvalidInput, NotFound
from retentive.indexing import index_terms, language_of
from retentive.stores.protocol import Cursor, LeavingStore, ScrubbedStore, SpaceStore, Transaction
from retentive.text.entities import entity_key
from retentive.types import Finding, Gate, JournalEntry, Json, LedgerEntry, Memory
from retentive.writing import Author, checked_id, checked_name, checked_names, entry

PAGE: Final = 1_000
MANY: Final = 50  # sayings from which it pays to look them up by their beginnings
SHORTEST: Final = 8  # characters: a shorter text is no quotation, whoever else uses it
LIKE: Final = 50  # memories of most shared words that are looked at for a quotation
_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)  # a gate that hides nothing asks for no time
CERTIFICATE: Final = "certificate"
"""The journal's word for the line that says what an erasure did; its ``memory_id`` is empty."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten, and what of it is still there."""

    ids: tuple[str, ...]
    erased: bool = False
    left: tuple[str, ...] = ()  # memories derived from these, or quoting them, that were not forgotten with them
    merged: int = 0  # repetitions of these (sayings that were not kept beside them) that were erased
    lines: int = 0  # journal lines that were emptied
    recalls: int = 0  # recalls whose question was emptied
    complete: bool = True  # False: somebody still reads an old state; the next write, or `maintain`, cleans up
    remains: tuple[str, ...] = ()  # where copies may be that only the store's operator can take away, and how
    dry_run: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {**asdict(self), "ids": list(self.ids), "left": list(self.left), "remains": list(self.remains)}


@dataclass(frozen=True, slots=True)
class Named:
    """What is to be forgotten: exactly one of these was given."""

    ids: tuple[str, ...] = ()
    source: str | None = None
    person: str | None = None

    @property
    def by(self) -> str:
        """By what it is named."""
        return "id" if self.ids else "source" if self.source is not None else "person"


def named(ids: Any, source: Any, person: Any) -> Named:
    """Check that exactly one way of naming was chosen."""
    if sum(value is not None for value in (ids, source, person)) != 1:
        raise InvalidInput("Say what to forget by exactly one of: an id (or several), source=..., person=....")
    if ids is not None:
        one = isinstance(ids, str | bytes) or not isinstance(ids, Iterable)
        several = (checked_id(ids),) if one else checked_names(ids, "ids")
        if not several:
            raise InvalidInput("ids=[] names nothing to forget.", value=ids)
        return Named(ids=several)
    if source is not None:
        return Named(source=checked_name(source, "source"))
    key = entity_key(checked_name(person, "person") or "")
    if not key:
        raise InvalidInput(f"person={person!r} is no name.", value=person)
    return Named(person=key)


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done with what was named."""

    erase: bool = False
    derived: bool = False  # also what was concluded from it, or says the same
    dry_run: bool = False
    reason: str = ""


def carry_out(
    store: SpaceStore, tx: Transaction, chosen: Mapping[str, Memory], what: Named, order: Order, author: Author
) -> Forgotten:
    """Hide or erase the chosen in a transaction."""
    leaning = _leaning(store, chosen)
    if order.derived:
        chosen, leaning = {**chosen, **leaning}, {}
    told = Forgotten(tuple(chosen), order.erase, tuple(leaning), dry_run=order.dry_run)
    if order.dry_run:
        return told
    if order.erase:
        return _erase(store, tx, chosen, told, what, author, order.reason)
    _hide(tx, chosen.values(), author, order.reason)
    return told


def cleaned(store: SpaceStore, told: Forgotten) -> Forgotten:
    """Make sure, once the transaction has ended, that nothing of what was erased is left in a file."""
    if not told.erased or told.dry_run:
        return told
    if isinstance(store, LeavingStore):
        remains = store.cleanse()
        return replace(told, complete=not remains, remains=remains)
    return replace(told, complete=isinstance(store, ScrubbedStore) and store.scrub())


# What is to go


def choose(store: SpaceStore, tx: Transaction, what: Named) -> dict[str, Memory]:
    """Find what was named; nothing of the kind is `NotFound`."""
    if what.ids:
        return {memory_id: _present(tx, memory_id, store.path) for memory_id in what.ids}
    found = _from_source(store, what.source) if what.source is not None else _naming(store, str(what.person))
    chosen = {memory.id: memory for memory in found}
    if not chosen and not _elsewhere(store, what):
        raise NotFound(f"Nothing in space {store.path!r} has the {what.by} {what.source or what.person!r}.")
    return chosen


def _elsewhere(store: SpaceStore, what: Named) -> bool:
    """Whether a saying that was not kept, or an earlier version of a memory, is what was named."""
    if any(_speaks(finding, what) for finding in store.findings(kind="repetition")):
        return True
    return what.person is not None and any(_line_names(line, what.person) for line in journal_lines(store))


def _present(tx: Transaction, memory_id: str, space: str) -> Memory:
    memory = tx.get(memory_id)
    if memory is None:
        raise NotFound(f"No memory {memory_id!r} in space {space!r}.", id=memory_id)
    return memory


def _from_source(store: SpaceStore, source: str) -> Iterator[Memory]:
    return (memory for memory in everything(store) if memory.source == source)


def everything(store: SpaceStore) -> Iterator[Memory]:
    """Yield every memory of a space, whatever became of it."""
    gate, after = Gate(_ANY_TIME, hidden=True), None
    while page := store.page(gate, limit=PAGE, after=after):
        yield from page
        after = Cursor(page[-1].created_at, page[-1].id)


def _naming(store: SpaceStore, person: str) -> Iterable[Memory]:
    gate = Gate(_ANY_TIME, hidden=True)
    return store.memories(store.mentioning([person], gate, store.count(gate)).rows)


def journal_lines(store: SpaceStore) -> Iterator[JournalEntry]:
    """Yield the whole journal, a batch at a time."""
    after = 0
    while batch := store.read_journal(after=after, limit=PAGE):
        yield from batch
        after = batch[-1].sequence


def _line_names(line: JournalEntry, person: str) -> bool:
    states: tuple[Any, ...] = (line.before, line.after)
    return any(person in (state.get("entities") or ()) for state in states if state)


def _leaning(store: SpaceStore, chosen: Mapping[str, Memory]) -> dict[str, Memory]:
    """Return what was concluded from the chosen, however many steps away, and what says the same word for word."""
    found: dict[str, Memory] = {}
    ahead = list(chosen)
    while ahead:
        next_ = [memory for memory in store.derived(ahead) if memory.id not in chosen and memory.id not in found]
        found.update({memory.id: memory for memory in next_})
        ahead = [memory.id for memory in next_]
    for memory in chosen.values():
        found.update({other.id: other for other in _quoting(store, memory) if other.id not in chosen})
    return found


def _quoting(store: SpaceStore, memory: Memory) -> Iterator[Memory]:
    text = memory.text.strip().casefold()
    if len(text) >= SHORTEST:
        rows = store.matching(index_terms(memory, language_of(store)), Gate(_ANY_TIME, hidden=True), LIKE).rows
        yield from (other for other in store.memories(rows) if text in other.text.casefold())


# Hiding and erasing


def _hide(tx: Transaction, chosen: Iterable[Memory], author: Author, reason: str) -> None:
    for old in chosen:
        if old.suppressed_at is None:
            hidden = old.changed(suppressed_at=author.now)
            tx.replace(hidden)
            tx.journal(entry("forget", hidden, author, before=old, reason=reason))


def _erase(
    store: SpaceStore,
    tx: Transaction,
    chosen: Mapping[str, Memory],
    told: Forgotten,
    what: Named,
    author: Author,
    reason: str,
) -> Forgotten:
    lines = list(journal_lines(store))
    words = _sayings(chosen, lines)
    said_again = [finding for finding in store.findings(kind="repetition") if _goes(finding, chosen, what)]
    spoken = _Spoken(words, _pattern(what.person))
    others = [line.sequence for line in lines if line.memory_id not in chosen and _repeats(line, spoken, what, told)]
    recalls = [recall.id for recall in store.read_ledger() if _asks(recall, chosen, spoken)]
    tx.redact(lines=others, recalls=recalls)
    for finding in said_again:
        if finding.memory_id not in chosen:
            tx.put_finding(replace(finding, detail={}, status="dismissed"))
    for memory_id in chosen:
        tx.erase(memory_id)
        tx.journal(JournalEntry(author.now, "erase", memory_id, author.actor, reason))
    own = sum(line.memory_id in chosen for line in lines)
    done = replace(told, merged=len(said_again), lines=own + len(others), recalls=len(recalls))
    tx.journal(JournalEntry(author.now, CERTIFICATE, "", author.actor, after=_certificate(done, what)))
    return done


def _certificate(done: Forgotten, what: Named) -> dict[str, Json]:
    """Say what was erased by counts and ids: neither a text nor the source's or the person's name."""
    counts = {"merged": done.merged, "journal_lines": done.lines, "recalls": done.recalls}
    return {"erased": list(done.ids), "by": what.by, "left": list(done.left), **counts}


@dataclass(frozen=True)
class _Spoken:
    """What must not be left anywhere: sayings, folded, and a person's name."""

    sayings: frozenset[str]
    name: re.Pattern[str] | None

    def within(self, text: str) -> bool:
        """Whether a text repeats a saying or names the person."""
        folded = text.casefold()
        if self.name is not None and self.name.search(folded):
            return True
        return self.quoted(folded)

    def quoted(self, folded: str) -> bool:
        """Whether a folded text repeats a saying."""
        if len(self.sayings) <= MANY:
            return any(saying in folded for saying in self.sayings)
        windows = (folded[at : at + SHORTEST] for at in range(len(folded) - SHORTEST + 1))
        found = ((at, self._beginnings.get(window, ())) for at, window in enumerate(windows))
        return any(folded.startswith(saying, at) for at, sayings in found for saying in sayings)

    @cached_property
    def _beginnings(self) -> dict[str, list[str]]:
        beginnings: dict[str, list[str]] = {}
        for saying in self.sayings:
            beginnings.setdefault(saying[:SHORTEST], []).append(saying)
        return beginnings

    @cached_property
    def _together(self) -> str:
        return "\0".join(self.sayings)

    def part(self, text: str) -> bool:
        """Whether a text is a part of a saying: a question can be the beginning of its answer."""
        folded = text.strip().casefold()
        return len(folded) >= SHORTEST and folded in self._together


def _pattern(person: str | None) -> re.Pattern[str] | None:
    return None if person is None else re.compile(rf"(?<!\w){re.escape(person)}(?!\w)")


def _sayings(chosen: Mapping[str, Memory], lines: Iterable[JournalEntry]) -> frozenset[str]:
    """Return every text that the chosen have or had, folded; too short ones would be found everywhere."""
    texts = {memory.text for memory in chosen.values()}
    for line in lines:
        if line.memory_id in chosen:
            texts |= {str(state.get("text", "")) for state in (line.before, line.after) if state}
    return frozenset(folded for text in texts if len(folded := text.strip().casefold()) >= SHORTEST)


def _repeats(line: JournalEntry, spoken: _Spoken, what: Named, told: Forgotten) -> bool:
    """Whether a line of another memory has to be emptied; what is left and quotes keeps its story."""
    if line.memory_id in told.left:
        return False
    if what.person is not None and _line_names(line, what.person):
        return True
    states = [json.dumps(state, ensure_ascii=False) for state in (line.before, line.after) if state]
    return spoken.within(line.reason) or any(spoken.quoted(_plain(state).casefold()) for state in states)


def _plain(dumped: str) -> str:
    """Undo JSON's escapes as far as texts are concerned: a quotation with a line break in it is one too."""
    return dumped.replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t").replace("\\\\", "\\")


def _asks(recall: LedgerEntry, chosen: Collection[str], spoken: _Spoken) -> bool:
    if not recall.cue and recall.cue_vector is None:
        return False
    return bool(set(recall.ids) & set(chosen)) or spoken.within(recall.cue) or spoken.part(recall.cue)


def _goes(finding: Finding, chosen: Collection[str], what: Named) -> bool:
    return finding.memory_id in chosen or _speaks(finding, what)


def _speaks(finding: Finding, what: Named) -> bool:
    """Whether a saying that was not kept came from the source, or names the person."""
    saying: Any = finding.detail
    if what.source is not None:
        return what.source in _strings(saying)
    name = _pattern(what.person)
    return name is not None and any(name.search(text.casefold()) for text in _strings(saying))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)
