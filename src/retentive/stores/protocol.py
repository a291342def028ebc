"""What a store must do. The in-memory store is the reference; `retentive.testing.store_contract` is the judge.

Score direction, validation, text analysis and every decision live above this line: a store keeps rows, applies gates,
and finds. Scores are always "higher is better". Unless said otherwise an empty answer is an empty value, never an
error, and an unknown id is simply absent from the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, runtime_checkable

from retentive.types import (
    Access,
    AskedCue,
    Columns,
    Finding,
    Floats,
    Found,
    Gate,
    Job,
    JobState,
    JournalEntry,
    Json,
    LedgerEntry,
    Memory,
    RowIds,
    Vectors,
)


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a list of a space: the moment and the id of the last item seen, in that list's order."""

    created_at: datetime
    id: str


class Transaction(Protocol):
    """Reads and writes that happen together or not at all, alone among writers of this space.

    Everything read through it is current and stays so until it ends. Leaving the `with` block commits; an exception
    rolls back whole.
    """

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory as it stands, retrievable or not."""

    def expect(self, ids: Sequence[str]) -> None:
        """Hear which ids will be asked for or added; no answer changes, but a store far away may look once for all."""

    def holders(self, key: str) -> list[Memory]:
        """Return the not superseded, not suppressed memories with this key, newest first (then id)."""

    def insert(self, memory: Memory, vector: Vectors, terms: Sequence[str]) -> None:
        """Add a memory with its unit vector and index terms; an id that exists is `InvalidInput`."""

    def replace(self, memory: Memory, vector: Vectors | None = None, terms: Sequence[str] | None = None) -> None:
        """Overwrite every field but the access state; vector and terms only where given. Absent id: `NotFound`."""

    def set_access(self, accesses: Mapping[str, Access]) -> None:
        """Overwrite the access state of these memories (unknown ids are ignored: they were erased meanwhile)."""

    def unstaged(self, limit: int) -> list[Memory]:
        """Return memories that have no staged vector yet (re-embedding), oldest row first."""

    def stage_vectors(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep the next embedder's vectors beside the current ones; `replace` with a vector drops a staged one."""

    def switch_vectors(self) -> None:
        """Make the staged vectors the current ones, all at once; `InvalidInput` while any memory has none."""

    def discard_staged(self) -> None:
        """Forget all staged vectors (another embedder was chosen half-way)."""

    def erase(self, memory_id: str) -> bool:
        """Remove row, vector, terms, findings, the jobs about it and every text of it in the journal.

        The journal lines stay as tombstones. Jobs about an id go also where no memory has it (any more).
        """

    def redact(self, *, lines: Sequence[int] = (), recalls: Sequence[str] = ()) -> None:
        """Empty these journal lines (by sequence) and the questions of these recalls (by id); unknown ones are ignored.

        A line keeps when, what, who and of which memory; a recall keeps what came back, and its cue becomes "".
        """

    def journal(self, entry: JournalEntry) -> None:
        """Append to the journal; ``sequence`` is given by the store."""

    def last_line(self) -> int:
        """Return a number that has grown if anything was added to the journal, 0 for none; costs next to nothing."""

    def put_finding(self, finding: Finding) -> None:
        """Keep a finding, in the place of one with its id."""

    def finding(self, finding_id: str) -> Finding | None:
        """Return a finding as it stands."""

    def log_recall(self, entry: LedgerEntry) -> None:
        """Append a recall to the ledger."""

    def log_feedback(self, recall_id: str, used: Sequence[str], outcome: str | None) -> bool:
        """Note on a recall what was used (added to what was said before) and how it went; False if unknown."""

    def trim_ledger(self, *, before: datetime, keep: int) -> int:
        """Drop ledger entries older than ``before``, and the oldest beyond ``keep``; return how many."""

    def setting(self, name: str) -> Json:
        """Return a setting of this space, None if absent."""

    def set_setting(self, name: str, value: Json) -> None:
        """Keep a setting (JSON) with this space; None removes it."""

    def put_job(self, job: Job) -> None:
        """Keep a job; one with its id is overwritten whole and keeps its place in the order."""

    def job(self, job_id: str) -> Job | None:
        """Return a job by its id."""

    def due_jobs(self, now: datetime, kinds: Collection[str], limit: int) -> list[Job]:
        """Return the jobs of these kinds that are not dead and were due by ``now``: earliest due, then first put."""

    def drop_job(self, job_id: str) -> bool:
        """Remove a job; False if there was none."""


@runtime_checkable
class SpaceStore(Protocol):
    """One tenant's memories. There is no way from here to another space. Safe to share between threads."""

    path: str

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin writing; waits for other writers, then `StoreBusy`. Readers are never kept waiting."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Let this thread read one state for a while, whatever is written meanwhile; keep it short, others may wait."""

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories with these ids, retrievable or not."""

    def page(self, gate: Gate, *, limit: int, after: Cursor | None = None) -> list[Memory]:
        """List memories that pass the gate, newest created first, then by id, beginning behind ``after``."""

    def count(self, gate: Gate) -> int:
        """Count the memories that pass the gate."""

    def nearest(self, vector: Vectors, gate: Gate, limit: int) -> Found:
        """Return the rows of highest cosine to a unit vector."""

    def matching(self, terms: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return the rows of highest BM25 for any of the terms (k1 1.2, b 0.75, idf ln(1+(N-n+.5)/(n+.5))).

        Only rows that match; N and n count all rows of the space, gated or not.

        ``low`` is 0 where some gated row does not match.
        """

    def mentioning(self, entities: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return rows that mention any of the entity keys; the score sums 1/ln(1+rows with it) over the shared keys."""

    def within(self, start: datetime, end: datetime, gate: Gate, limit: int) -> Found:
        """Return rows created in [start, end), nearest to the middle first: score 1 in the middle, 0 at the edges."""

    def recent(self, gate: Gate, limit: int) -> Found:
        """Return the rows last used or created most recently; the score is that moment in seconds since 1970."""

    def important(self, gate: Gate, limit: int) -> Found:
        """Return the rows of greatest importance; the score is the importance."""

    def columns(self, rows: RowIds, *, history: bool = False) -> Columns:
        """Return the numbers of these rows, in the order asked; rows erased meanwhile are left out.

        The access history is filled only where asked for: one policy in ten reads it.
        """

    def memories(self, rows: RowIds) -> list[Memory]:
        """Return the memories of these rows, in the order asked; rows erased meanwhile are left out."""

    def texts(self, rows: RowIds) -> dict[int, str]:
        """Return only the texts of these rows, by row; rows erased meanwhile are absent."""

    def neighbours(self, rows: RowIds, gate: Gate, reach: int) -> RowIds:
        """Return (row, neighbour's row, offset) triples, shape (n, 3): the turns beside each row in its session.

        Sessions are ordered by creation; offsets run -reach..reach without 0 and count gated rows only. Rows without a
        session have none. The triples come in no particular order.
        """

    def term_scores(self, terms: Sequence[str], rows: RowIds) -> Floats:
        """Return the exact BM25 of these rows for the terms, 0 where none matches (same scale as `matching`)."""

    def term_weights(self, terms: Sequence[str]) -> Floats:
        """Return each term's BM25 idf in this space (the idf of a term that no row has is the greatest)."""

    def known_entities(self, keys: Sequence[str]) -> frozenset[str]:
        """Return those of the keys that some memory mentions."""

    def entity_links(self, keys: Sequence[str], limit: int) -> dict[str, float]:
        """Return entity keys one hop away from the given ones, weighted by the memories they share, best first."""

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the current unit vectors of these memories."""

    def derived(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories, retrievable or not, whose ``derived_from`` names any of these ids, newest first."""

    def setting(self, name: str) -> Json:
        """Return a setting of this space, None if absent."""

    def settings(self) -> dict[str, Json]:
        """Return all settings of this space."""

    def read_journal(
        self, memory_id: str | None = None, *, after: int = 0, limit: int | None = None
    ) -> list[JournalEntry]:
        """Return journal lines in writing order, of one memory or of all, beginning behind a sequence number."""

    def last_line(self) -> int:
        """Return a number that has grown if anything was added to the journal, 0 for none; costs next to nothing."""

    def findings(
        self,
        *,
        kind: str | None = None,
        status: str | None = None,
        about: str | None = None,
        limit: int | None = None,
        after: Cursor | None = None,
    ) -> list[Finding]:
        """Return findings, newest first (then by id): of one kind, in one state, or about one memory on either side.

        ``after`` begins behind a finding, whether it is still there or not.
        """

    def read_ledger(
        self,
        *,
        since: datetime | None = None,
        policy: str | None = None,
        limit: int | None = None,
        after: Cursor | None = None,
    ) -> list[LedgerEntry]:
        """Return recalls, newest first, of one moment the later written first.

        ``after`` begins behind a recall; where that was trimmed since, with those before its moment.
        """

    def asked_since(self, since: datetime, policy: str, limit: int) -> list[AskedCue]:
        """Return the cues of the recalls under a policy since a moment, newest first; lighter than `read_ledger`."""

    def recall_entry(self, recall_id: str) -> LedgerEntry | None:
        """Return one recall by its id."""

    def jobs(self, *, state: JobState | None = None, kind: str | None = None, limit: int | None = None) -> list[Job]:
        """Return the jobs of a state or a kind, or all, in the order they were first put."""

    def close(self) -> None:
        """Release what is held for this space; using it again reopens it."""


@runtime_checkable
class ScrubbedStore(Protocol):
    """Optional, of a space: a store that can make sure that nothing of what was erased is left in its files."""

    def scrub(self) -> bool:
        """Overwrite what erasing left behind; False while somebody still reads an old state: try again later."""


@runtime_checkable
class LeavingStore(Protocol):
    """Optional, of a space, in the place of `ScrubbedStore`: one whose files are not its own to clean."""

    def cleanse(self) -> tuple[str, ...]:
        """Clean up after erasing as far as that goes; say where copies may still be, and what ends it."""


@runtime_checkable
class Store(Protocol):
    """A place that keeps spaces apart."""

    def open(self, space: str, *, create: bool = True) -> SpaceStore:
        """Return one space (a validated path). ``create=False`` on an absent one is `NotFound`."""

    def spaces(self) -> list[str]:
        """List the paths of the spaces that exist, sorted."""

    def drop(self, space: str) -> bool:
        """Remove a space with everything in it; False if there was none."""

    def close(self) -> None:
        """Release everything."""


@runtime_checkable
class CopiedStore(Protocol):
    """Optional: a store that can copy a space into a file while it is in use, and put such a file in its place."""

    def copy_to(self, space: str, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Write one state of a space into a new file; no reader or writer waits for it."""

    def place(self, space: str, source: Path, *, replace: bool = False) -> None:
        """Make a file the space, in one step; an existing space is `InvalidInput` without ``replace``."""


@runtime_checkable
class MendedStore(Protocol):
    """Optional: a store that can put right what follows from its rows, and never touches a memory while doing so."""

    def incomplete(self, space: str) -> list[Memory]:
        """Return the memories that lack a sound vector or index terms: their texts can give them both."""

    def mend(self, space: str) -> list[str]:
        """Remove what belongs to nothing, and throw derived files away; say what was done, in sentences."""

    def leftovers(self) -> list[str]:
        """Return what lies in the store and belongs to no space: half-dropped and half-restored ones."""

    def tidy(self) -> list[str]:
        """Remove the leftovers; say what was done, in sentences."""


@runtime_checkable
class CertifyingStore(Protocol):
    """Optional: a store that keeps beside its spaces what was done to whole ones, for when they are gone."""

    def certify(self, certificate: Mapping[str, Json]) -> None:
        """Keep a certificate for good; once this returns it survives a crash, as far as the store itself does."""

    def certificates(self) -> list[dict[str, Json]]:
        """Return every certificate, oldest first."""


@runtime_checkable
class IndexedStore(Protocol):
    """Optional: a store that searches a large space by an index, which it makes when told to."""

    def index(self, space: str) -> bool:
        """Give a space its index, while it is in use; False where it had one."""


@runtime_checkable
class CountedStore(Protocol):
    """Optional: a store that counts how often what it keeps at hand sufficed, so that somebody can size it."""

    def counts(self) -> Mapping[tuple[str, str], int]:
        """Return how often each cache was looked into, by its name and by what was found there, since the start."""


@runtime_checkable
class MarkedStore(Protocol):
    """Optional: a store that knows without opening a space whether anything was written in it."""

    def marks(self, spaces: Sequence[str]) -> Mapping[str, str]:
        """Return for each of these spaces a word that every commit changes, whichever process makes it.

        A space of which that cannot be said just now, or that is not there, is absent.
        """


@runtime_checkable
class CheckedStore(Protocol):
    """Optional: a store that can examine itself."""

    def check(self, space: str) -> list[str]:
        """Return what is wrong with a space, in sentences; empty when all is well."""
