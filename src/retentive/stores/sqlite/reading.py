"""Answering from one space inside one read transaction: what the cache knows, and what only the database does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.protocol import Cursor
from retentive.stores.ranking import ascending, distinct
from retentive.stores.sqlite import background
from retentive.stores.sqlite import rows as mapping
from retentive.stores.sqlite.cache import Cache
from retentive.stores.sqlite.database import Database
from retentive.stores.sqlite.fetching import fetch_vectors
from retentive.stores.sqlite.gates import passed, passing, row_numbers
from retentive.stores.sqlite.limits import NEVER
from retentive.stores.sqlite.order import best, found
from retentive.stores.values import SECOND, as_vector, micros, storable
from retentive.types import ACCESS_HISTORY, Columns, Floats, Found, Gate, Memory, RowIds, Vectors

Places: TypeAlias = NDArray[np.int64]

LINKS_BYTES = 1_024  # what a remembered answer of `entity_links` is taken to weigh


class Reading:
    """The reads of a `SpaceStore`, over a cache that was just caught up with the database's snapshot."""

    def __init__(self, path: str, database: Database, cache: Cache) -> None:
        self._path = path
        self._database = database
        self._cache = cache

    def page(self, gate: Gate, limit: int, after: Cursor | None) -> list[Memory]:
        """List memories that pass the gate, newest first."""
        cache = self._cache
        places = self._passing(gate)
        if not len(places):
            return []
        if after is not None:
            places = self._behind(places, after)
        order = best(cache, places, cache.created[places].astype(np.float64), limit)
        return self.memories(cache.row[places[order]])

    def _behind(self, places: Places, after: Cursor) -> Places:
        created, at = self._cache.created[places], micros(after.created_at)
        same = places[created == at]
        texts = self._cache.ids.texts(same)
        later = np.fromiter((text > after.id for text in texts), dtype=np.bool_, count=len(texts))
        return np.concatenate((places[created < at], same[later]))

    def count(self, gate: Gate) -> int:
        """Count the memories that pass the gate."""
        return passed(self._cache, self._database, gate).count

    def nearest(self, vector: Vectors, gate: Gate, limit: int) -> Found:
        """Return the rows of highest cosine."""
        cache = self._cache
        vector = as_vector(vector, cache.vectors.dimension if cache.living else None)
        gated = passed(cache, self._database, gate)
        if not gated.count:
            return found(cache, gated.places, np.empty(0), limit, gated=0)
        places, exact, low, mean = cache.vectors.nearest(vector, gated.mask, gated.count, limit, self._vectors)
        order = best(cache, places, exact, limit)
        rows = cache.row[places[order]]
        return Found(rows=rows, scores=exact[order], scanned=gated.count, low=low, high=float(exact.max()), mean=mean)

    def _vectors(self, places: Places) -> Vectors:
        return fetch_vectors(self._database, self._cache, places)

    def matching(self, terms: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return the rows of highest BM25."""
        cache = self._cache
        mask = passing(cache, self._database, gate)
        places, scores, looked = cache.lexical.top(terms, mask, limit)
        order = best(cache, places, scores, limit)
        return Found(
            rows=cache.row[places[order]],
            scores=scores[order],
            scanned=looked,
            low=cache.lexical.least(terms, mask),
            high=float(scores.max(initial=0.0)),
        )

    def term_scores(self, terms: Sequence[str], rows: RowIds) -> Floats:
        """Return the exact BM25 of these rows."""
        known, places = self._cache.find(rows)
        answer = np.zeros(len(rows))
        answer[known] = self._cache.lexical.scores(terms, places)
        return answer

    def term_weights(self, terms: Sequence[str]) -> Floats:
        """Return each term's BM25 idf."""
        return self._cache.lexical.weights(terms)

    def mentioning(self, entities: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return rows that mention any of the entities."""
        cache = self._cache
        listed = [row_numbers(cache, self._database, "rows_with_entity", (name,)) for name in distinct(entities)]
        each = [1 / math.log(1 + max(len(rows), 1)) for rows in listed]
        known, everywhere = cache.find(np.concatenate([np.empty(0, dtype=np.int64), *listed]))
        sizes = np.array([len(rows) for rows in listed], dtype=np.int64)
        worth = np.repeat(np.array(each, dtype=np.float64), sizes)[known]
        mentioned = ascending(everywhere)
        at = np.searchsorted(mentioned, everywhere)
        scores = np.bincount(at, worth, len(mentioned)).astype(np.float64)
        return self._found(mentioned, scores, gate, limit)

    def within(self, start: datetime, end: datetime, gate: Gate, limit: int) -> Found:
        """Return rows created in [start, end), nearest to the middle first."""
        created, first, last = self._cache.created, micros(start), micros(end)
        places = np.flatnonzero((first <= created) & (created < last))
        distance = np.abs(2 * created[places] - first - last).astype(np.float64)
        return self._found(places, 1 - distance / float(max(last - first, 1)), gate, limit)

    def recent(self, gate: Gate, limit: int) -> Found:
        """Return the rows last used or created most recently."""
        return background.recent(self._cache, passed(self._cache, self._database, gate), limit)

    def important(self, gate: Gate, limit: int) -> Found:
        """Return the rows of greatest importance."""
        return background.important(self._cache, passed(self._cache, self._database, gate), limit)

    def columns(self, rows: RowIds, *, history: bool) -> Columns:
        """Return the numbers of these rows."""
        cache = self._cache
        places = cache.places(rows)
        used = cache.used[places]
        return Columns(
            rows=cache.row[places],
            ids=cache.ids.texts(places),
            kinds=tuple(map(str, cache.kinds.decode(cache.kind[places]))),
            vectors=cache.vectors.at(places, self._vectors),
            created=cache.created[places].astype(np.float64) / SECOND,
            last_access=np.where(used == NEVER, math.nan, used.astype(np.float64) / SECOND),
            count=cache.count[places],
            importance=cache.importance[places],
            trust=cache.trust[places],
            permanent=cache.permanent[places],
            sessions=cache.sessions.decode(cache.session[places]),
            speakers=cache.speakers.decode(cache.speaker[places]),
            recurs=tuple(map(cache.recurs.get, places.tolist())) if cache.recurs else (None,) * len(places),
            history=self._history(cache.row[places]) if history else None,
        )

    def _history(self, rows: RowIds) -> Floats:
        """Return the access moments, newest last, padded with NaN behind."""
        history = np.full((len(rows), ACCESS_HISTORY), math.nan)
        if not len(rows):
            return history
        kept: dict[int, bytes] = dict(self._database.rows("history", (mapping.carray(rows),)))
        for place, row in enumerate(rows.tolist()):
            moments = np.frombuffer(kept.get(row, b""), dtype=mapping.INT64)[-ACCESS_HISTORY:]
            history[place, : len(moments)] = moments.astype(np.float64) / SECOND
        return history

    def memories(self, rows: RowIds) -> list[Memory]:
        """Return the memories of these rows."""
        if not len(rows):
            return []
        listed = self._database.rows("memories_by_row", (mapping.carray(rows),))
        memories = {row[0]: mapping.decode(self._path, row) for row in listed}
        return [memories[row] for row in rows.tolist() if row in memories]

    def texts(self, rows: RowIds) -> dict[int, str]:
        """Return the texts of these rows."""
        return dict(self._database.rows("texts_by_row", (mapping.carray(rows),))) if len(rows) else {}

    def neighbours(self, rows: RowIds, gate: Gate, reach: int) -> RowIds:
        """Return the neighbours of each row in its session as (row, neighbour, offset)."""
        cache = self._cache
        places = cache.places(rows)
        codes = cache.session.take(places)
        named = np.array([name is not None for name in cache.sessions.decode(codes)], dtype=np.bool_)
        places, codes = places[named], codes[named]
        turns, sessions = self._turns(codes)
        order = np.argsort(turns)
        at = order.take(np.searchsorted(turns, places, sorter=order))
        gated = np.flatnonzero(passing(cache, self._database, gate).take(turns))
        before, behind = np.searchsorted(gated, at, "left"), np.searchsorted(gated, at, "right")
        steps = np.arange(1, reach + 1)
        offsets = np.concatenate((-steps, steps))
        index = np.concatenate((before - steps[:, None], behind + steps[:, None] - 1))
        which, whose = np.nonzero((index >= 0) & (index < len(gated)))
        others = gated.take(index[which, whose])
        same = sessions.take(others) == codes.take(whose)  # and not in the session that lies beside
        which, whose, others = which[same], whose[same], others[same]
        mine, theirs = cache.row.take(places.take(whose)), cache.row.take(turns.take(others))
        return np.stack([mine, theirs, offsets[which]], axis=1)

    def _turns(self, codes: NDArray[np.int32]) -> tuple[Places, NDArray[np.int32]]:
        """Return the places of some sessions, one behind the other, each in order of creation, and their codes.

        Turns of one moment stay as they were written.
        """
        cache = self._cache
        places = cache.turns.of(ascending(codes), cache.session)
        sessions, created = cache.session.take(places), cache.created.take(places)
        on = sessions[1:] >= sessions[:-1]
        on &= (sessions[1:] != sessions[:-1]) | (created[1:] >= created[:-1])
        if not on.all():  # written in another order than they were said, or lately
            order = np.lexsort((places, created, sessions))
            places, sessions = places[order], sessions[order]
        return places, sessions

    def known_entities(self, keys: Sequence[str]) -> frozenset[str]:
        """Return those of the keys that some memory mentions."""
        asked = [key for key in keys if storable(key)]
        whole = tuple(key for key in asked if "\0" not in key)  # which an array of texts cannot hold
        found = [key for (key,) in self._database.rows("known_entities", (mapping.carray(whole),))] if whole else []
        odd = {key for key in asked if "\0" in key}
        return frozenset([*found, *(key for key in odd if self._database.rows("knows_entity", (key,)))])

    def entity_links(self, keys: Sequence[str], limit: int) -> dict[str, float]:
        """Return the entities one hop away, by the number of shared memories (then by key)."""
        given, cache = frozenset(keys), self._cache
        moves, held = cache.remembered.get(("links", given, limit)) or (0, None)
        if held is None or moves != cache.moves:
            held = self._linked(given, limit)
            cache.remembered.keep(("links", given, limit), (cache.moves, held), LINKS_BYTES)
        return dict(held)

    def _linked(self, given: frozenset[str], limit: int) -> dict[str, float]:
        rows = [row_numbers(self._cache, self._database, "rows_with_entity", (key,)) for key in given]
        shared = ascending(np.concatenate(rows)) if rows else np.empty(0, dtype=np.int64)
        if not len(shared) or limit <= 0:
            return {}
        linked = self._database.rows("linked_entities", (mapping.carray(shared), limit + len(given)))
        others = [(entity, float(count)) for entity, count in linked if entity not in given]
        return dict(others[:limit])

    def _passing(self, gate: Gate) -> Places:
        return passed(self._cache, self._database, gate).places

    def _found(self, places: Places, scores: Floats, gate: Gate, limit: int) -> Found:
        """Gate scored places, then rank them."""
        mask = passing(self._cache, self._database, gate)
        kept = mask[places]
        return found(self._cache, places[kept], scores[kept], limit, gated=int(np.count_nonzero(mask)))
