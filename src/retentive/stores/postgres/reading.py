"""Answering from one space inside one transaction that sees one state."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from retentive.stores.postgres import channels, indexes, lexical, rows
from retentive.stores.postgres.jobs import listed_jobs
from retentive.stores.postgres.keys import key_of, keys_of
from retentive.stores.postgres.links import Head, Link
from retentive.stores.protocol import Cursor
from retentive.stores.ranking import distinct
from retentive.stores.values import SECOND, behind, finding_of, micros, storable
from retentive.types import (
    ACCESS_HISTORY,
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


class Reading:
    """The reads of a `SpaceStore`, over a link whose transaction has begun."""

    def __init__(self, link: Link, head: Head) -> None:
        self._link = link
        self._head = head
        self._path = link.space

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories with these ids."""
        found = self._link.rows("memories_by_id", {"keys": keys_of(ids)})
        return {row[1]: rows.decode(self._path, row) for row in found}

    def page(self, gate: Gate, limit: int, after: Cursor | None) -> list[Memory]:
        """List memories that pass the gate, newest first."""
        bindings = {
            "limit": max(limit, 0),
            "after_created": None if after is None else micros(after.created_at),
            "after_id": None if after is None else after.id,
        }
        return [rows.decode(self._path, row) for row in self._link.rows("page", bindings, gate)]

    def count(self, gate: Gate) -> int:
        """Count the memories that pass the gate."""
        return int(self._link.value("count", gate=gate))

    def nearest(self, vector: Vectors, gate: Gate, limit: int) -> Found:
        """Return the rows of highest cosine."""
        return indexes.searched(self._link, self._head, vector, gate, limit)

    def matching(self, terms: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return the rows of highest BM25."""
        return lexical.matching(self._link, self._head, terms, gate, limit)

    def mentioning(self, entities: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return rows that mention any of the entities."""
        return channels.mentioning(self._link, self._head, entities, gate, limit)

    def within(self, start: datetime, end: datetime, gate: Gate, limit: int) -> Found:
        """Return rows created in [start, end), nearest to the middle first."""
        return channels.within(self._link, self._head, (start, end), gate, limit)

    def recent(self, gate: Gate, limit: int) -> Found:
        """Return the rows last used or created most recently."""
        return channels.ordered(self._link, self._head, "recent", gate, limit)

    def important(self, gate: Gate, limit: int) -> Found:
        """Return the rows of greatest importance."""
        return channels.ordered(self._link, self._head, "important", gate, limit)

    def columns(self, asked: RowIds, *, history: bool) -> Columns:
        """Return the numbers of these rows, in the order asked."""
        wanted = rows.bigints(asked)
        by_row = {row[0]: row for row in self._link.rows("columns_by_row", {"rows": wanted})}
        found = [by_row[row] for row in wanted if row in by_row]
        side = list(zip(*found, strict=True)) or [()] * 13
        dimension = self._head.dimension or 0
        return Columns(
            rows=np.array(side[0], dtype=np.int64),
            ids=side[1],
            kinds=side[2],
            vectors=np.stack(side[3]) if found else np.empty((0, dimension), dtype=np.float32),
            created=_seconds(side[4]),
            last_access=_seconds(side[5]),
            count=np.array(side[6], dtype=np.float64),
            importance=np.array(side[7], dtype=np.float64),
            trust=np.array(side[8], dtype=np.float64),
            permanent=np.array(side[9], dtype=np.bool_),
            sessions=side[10],
            speakers=side[11],
            recurs=side[12],
            history=self._history(side[0]) if history else None,
        )

    def _history(self, wanted: Sequence[int]) -> Floats:
        """Return the access moments, newest last, padded with NaN behind."""
        recent: dict[int, bytes] = dict(self._link.rows("history_by_row", {"rows": list(wanted)}))
        history = np.full((len(wanted), ACCESS_HISTORY), math.nan)
        for place, row in enumerate(wanted):
            moments = [when for (when,) in struct.iter_unpack("<q", recent.get(row, b""))][-ACCESS_HISTORY:]
            history[place, : len(moments)] = _seconds(moments)
        return history

    def memories(self, asked: RowIds) -> list[Memory]:
        """Return the memories of these rows, in the order asked."""
        wanted = rows.bigints(asked)
        by_row = {row[0]: rows.decode(self._path, row) for row in self._link.rows("memories_by_row", {"rows": wanted})}
        return [by_row[row] for row in wanted if row in by_row]

    def texts(self, asked: RowIds) -> dict[int, str]:
        """Return the texts of these rows."""
        return dict(self._link.rows("texts_by_row", {"rows": rows.bigints(asked)}))

    def neighbours(self, asked: RowIds, gate: Gate, reach: int) -> RowIds:
        """Return the neighbours of each row in its session as (row, neighbour, offset)."""
        bindings = {"rows": rows.bigints(asked), "reach": max(reach, 0)}
        return np.array(self._link.rows("neighbours", bindings, gate), dtype=np.int64).reshape(-1, 3)

    def term_scores(self, terms: Sequence[str], asked: RowIds) -> Floats:
        """Return the exact BM25 of these rows."""
        return lexical.term_scores(self._link, self._head, terms, asked)

    def term_weights(self, terms: Sequence[str]) -> Floats:
        """Return each term's BM25 idf."""
        return lexical.term_weights(self._link, self._head, terms)

    def known_entities(self, keys: Sequence[str]) -> frozenset[str]:
        """Return those of the keys that some memory mentions."""
        asked = [key for key in keys if storable(key)]
        found = self._link.rows("known_entities", {"entities": keys_of(asked)})
        return frozenset(asked[place - 1] for (place,) in found)

    def entity_links(self, keys: Sequence[str], limit: int) -> dict[str, float]:
        """Return the entities one hop away, by the number of shared memories, then by key."""
        bindings = {"entities": keys_of(distinct(keys)), "limit": max(limit, 0)}
        return {name: float(shared) for name, shared in self._link.rows("entity_links", bindings)}

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the current vectors of these memories."""
        return dict(self._link.rows("vectors_by_id", {"keys": keys_of(ids)}))

    def derived(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that were derived from any of these."""
        found = self._link.rows("derived_from_any", {"keys": keys_of(ids)})
        return [rows.decode(self._path, row) for row in found]

    def setting(self, name: str) -> Json:
        """Return a setting, None if absent."""
        return setting(self._link, name)

    def last_line(self) -> int:
        """Return a number that grows with the journal: the space's own row has it."""
        return self._head.last_sequence

    def settings(self) -> dict[str, Json]:
        """Return all settings."""
        return {name: rows.decode_json(value) for name, value in self._link.rows("settings")}

    def read_journal(self, memory_id: str | None, after: int, limit: int | None) -> list[JournalEntry]:
        """Return journal lines in writing order."""
        bindings = {"after": after, "limit": None if limit is None else max(limit, 0)}
        if memory_id is None:
            found = self._link.rows("journal_of_all", bindings)
        else:
            known = storable(memory_id)
            found = self._link.rows("journal_of_one", {**bindings, "memory": key_of(memory_id)}) if known else []
        return [rows.decode_line(row) for row in found]

    def findings(
        self, kind: str | None, status: str | None, about: str | None, limit: int | None, after: Cursor | None
    ) -> list[Finding]:
        """Return findings, newest first."""
        if not all(word is None or storable(word) for word in (kind, status, about)):
            return []
        bindings = {
            "kind": kind,
            "status": status,
            "about": None if about is None else key_of(about),
            "limit": None if limit is None else max(limit, 0),
            "until": behind(after)[0],
            "after": behind(after)[1],
        }
        return [finding_of(row) for row in self._link.rows("findings", bindings)]

    def read_ledger(
        self, since: datetime | None, policy: str | None, limit: int | None, after: Cursor | None
    ) -> list[LedgerEntry]:
        """Return recalls, newest first."""
        if policy is not None and not storable(policy):
            return []
        bindings = {
            "since": None if since is None else micros(since),
            "policy": policy,
            "limit": None if limit is None else max(limit, 0),
            "until": behind(after)[0],
            "after": key_of(behind(after)[1]),
        }
        return [rows.decode_recall(row) for row in self._link.rows("recalls", bindings)]

    def asked_since(self, since: datetime, policy: str, limit: int) -> list[AskedCue]:
        """Return the cues of the recalls under a policy since a moment, newest first."""
        if not storable(policy):
            return []
        bindings = {"since": micros(since), "policy": policy, "limit": max(limit, 0)}
        asked = self._link.rows("asked_since", bindings)
        return [AskedCue(key, cue, rows.decode_vector(vector)) for key, cue, vector in asked]

    def recall_entry(self, recall_id: str) -> LedgerEntry | None:
        """Return one recall by its id."""
        return recall_entry(self._link, recall_id)

    def jobs(self, state: JobState | None, kind: str | None, limit: int | None) -> list[Job]:
        """Return the jobs of a state or a kind."""
        return listed_jobs(self._link, state, kind, limit)


def setting(link: Link, name: str) -> Json:
    """Return a setting of a space, None if absent."""
    value: Json = rows.decode_json(link.value("setting", {"name": key_of(name)})) if storable(name) else None
    return value


def finding(link: Link, finding_id: str) -> Finding | None:
    """Return one finding of a space by its id."""
    found = link.rows("finding_by_id", {"finding": key_of(finding_id)}) if storable(finding_id) else []
    return finding_of(found[0]) if found else None


def recall_entry(link: Link, recall_id: str) -> LedgerEntry | None:
    """Return one recall of a space by its id."""
    found = link.rows("recall_by_id", {"recall": key_of(recall_id)}) if storable(recall_id) else []
    return rows.decode_recall(found[0]) if found else None


def _seconds(moments: Sequence[int | None]) -> Floats:
    """Return seconds since 1970 as every store counts them, NaN for never."""
    return np.array([math.nan if when is None else float(when) / SECOND for when in moments], dtype=np.float64)
