"""Rows of others as they were met: what a search keeps of a table that it does not copy.

A bounded pool gives each row that was met a number, as channels and signals want one; an even sample of the table says
what is usual in it: how long texts are, how many have a word, how near a question a text is by chance.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Final

from retentive.indexing import index_terms
from retentive.integrations.rows import Row
from retentive.stores.memory_state import passes
from retentive.stores.ranking import bm25, distinct, idf
from retentive.text.languages import ENGLISH
from retentive.types import Gate, Memory, Vectors

FIRST: Final = 1 << 40
"""Numbers from here on are rows of others; below are the sidecar's own."""
KEPT: Final = 8_192
"""Rows of others kept in mind; the least lately met go first."""


@dataclass(frozen=True)
class Met:
    """One memory with its vector; what words it has is worked out when asked for."""

    memory: Memory
    vector: Vectors
    number: int = -1
    row: Row | None = None  # as it lies there; only of others

    @cached_property
    def terms(self) -> Counter[str]:
        """Return how often the memory has each index term."""
        return Counter(index_terms(self.memory, ENGLISH))


class Pool:
    """Rows of others by id and by number; a number is never given twice."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._by_id: OrderedDict[str, Met] = OrderedDict()
        self._ids: dict[int, str] = {}
        self._numbers = count(FIRST)
        self._lock = threading.Lock()

    def put(self, memory: Memory, vector: Vectors, row: Row | None = None) -> Met:
        """Note a row as it is now; one that says what it said keeps its number."""
        with self._lock:
            old = self._by_id.pop(memory.id, None)
            same = old is not None and old.memory == memory
            number = next(self._numbers) if old is None else old.number
            met = old if old is not None and same else Met(memory, vector, number, row)
            self._by_id[memory.id] = met
            self._ids[met.number] = memory.id
            while len(self._by_id) > self._kept:
                _, gone = self._by_id.popitem(last=False)
                del self._ids[gone.number]
            return met

    def get(self, memory_id: str) -> Met | None:
        """Return a row by its memory's id."""
        return self._by_id.get(memory_id)

    def at(self, number: int) -> Met | None:
        """Return a row by its number."""
        memory_id = self._ids.get(number)
        return None if memory_id is None else self._by_id.get(memory_id)

    def drop(self, memory_ids: Iterable[str]) -> None:
        """Forget rows."""
        with self._lock:
            for memory_id in memory_ids:
                met = self._by_id.pop(memory_id, None)
                if met is not None:
                    del self._ids[met.number]


@dataclass
class Population:
    """An even sample of a table of ``size`` rows, by id; of a small table, all of it."""

    size: int
    sample: dict[str, Met] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether nothing lies beyond the sample."""
        return len(self.sample) >= self.size

    @property
    def scale(self) -> float:
        """How many rows of the table one row of the sample stands for."""
        return max(1.0, self.size / len(self.sample)) if self.sample else 1.0

    @property
    def dimension(self) -> int | None:
        """Return how long the vectors are."""
        return next((len(met.vector) for met in self.sample.values()), None)

    def passing(self, gate: Gate) -> list[Met]:
        """Return the rows of the sample that pass a gate."""
        return [met for met in self.sample.values() if passes(met.memory, gate)]

    def without(self, memory_ids: Iterable[str]) -> Population:
        """Return the population without some rows of the sample."""
        gone = set(memory_ids)
        return Population(self.size, {key: met for key, met in self.sample.items() if key not in gone})

    @cached_property
    def mean_length(self) -> float:
        """Return the mean number of index terms."""
        lengths = [met.terms.total() for met in self.sample.values()]
        return sum(lengths) / len(lengths) if lengths and any(lengths) else 1.0

    @cached_property
    def having(self) -> Counter[str]:
        """Return how many rows of the sample have each index term."""
        return Counter(term for met in self.sample.values() for term in met.terms)

    @cached_property
    def mentions(self) -> Counter[str]:
        """Return how many rows of the sample mention each entity."""
        return Counter(key for met in self.sample.values() for key in set(met.memory.entities))

    def rows_with(self, seen: float, in_sample: int) -> float:
        """Estimate how many rows have something: at least those seen, else what the sample says of all."""
        return max(seen, in_sample * self.scale)


class Words:
    """BM25 on one scale for rows of others and our own: by the population, and by what was found."""

    def __init__(self, population: Population, terms: Sequence[str], there: Mapping[str, float]) -> None:
        self.terms = distinct(terms)
        having = [population.rows_with(there.get(term, 0.0), population.having[term]) for term in self.terms]
        self.weights = [idf(max(population.size, 1), round(rows)) for rows in having]
        self._mean = population.mean_length

    def score(self, met: Met) -> float:
        """Return the BM25 of one row; 0 where no term matches."""
        counts = [met.terms[term] for term in self.terms]
        if not any(counts):
            return 0.0
        return bm25(self.weights, counts, met.terms.total(), self._mean)
