"""What a transaction added and has not sent yet: gathered, and sent table by table, many rows to a statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from retentive.stores.postgres import rows
from retentive.stores.postgres.driver import Bigints, VectorRows
from retentive.stores.postgres.lexical import counted
from retentive.stores.postgres.rows import Bindings
from retentive.types import NEVER_READ, JournalEntry, Memory, Vectors

T = TypeVar("T")
MOST = 1_000  # rows of one statement: the server's planner and memory see no more at once


class Fresh:
    """Memories and journal lines, by the table they go into."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.keys: set[str | None] = set()
        self._tables: dict[str, list[Bindings]] = {}
        self._accesses: list[Bindings] = []
        self._postings: list[tuple[int, int, int, int]] = []
        self._vocabulary: Counter[int] = Counter()

    def add(self, memory: Memory, row: int, vector: Vectors, line: str) -> None:
        """Gather a new memory under its row number, with its vector and its line of index terms."""
        self.ids.add(memory.id)
        self.keys.add(memory.key)
        self._put("insert_memories", rows.encode(memory, row))
        self._put("set_vectors", {"row": row, "vector": vector})
        self._put("insert_terms", {"row": row, "terms": line})
        self._put("insert_tags", *rows.tag_rows(row, memory.tags))
        self._put("insert_entities", *rows.entity_rows(row, memory.entities))
        self._put("insert_metadata", *rows.metadata_rows(row, memory.metadata))
        if memory.access != NEVER_READ:
            self._accesses.append(rows.encode_access(memory.id, memory.access))
        self.index(row, line)

    def index(self, row: int, line: str) -> None:
        """Gather what the inverted index gets of a line of terms."""
        counts = counted(line)
        length = counts.total()
        self._postings += [(token, row, count, length) for token, count in counts.items()]
        self._vocabulary.update(counts.keys())

    def journal(self, entry: JournalEntry, sequence: int) -> None:
        """Gather a journal line."""
        self._put("insert_journal", rows.encode_line(entry, sequence))

    def _put(self, name: str, *many: Bindings) -> None:
        if many:
            self._tables.setdefault(name, []).extend(many)

    def __bool__(self) -> bool:
        return bool(self._tables or self._postings)

    def writes(self) -> Iterator[tuple[str, Sequence[Bindings]]]:
        """Yield the statements that write all of it, in an order in which each finds what it needs."""
        for name, many in self._tables.items():
            yield name, [across(part) for part in parted(many, MOST)]
        if self._accesses:
            yield "set_access", self._accesses
        if self._postings:
            yield "insert_postings", _lists(("tokens", "rows", "counts", "lengths"), self._postings)
            yield "more_vocabulary", _lists(("tokens", "counts"), self._vocabulary.items())


def parted(many: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Yield a sequence in parts of at most so many."""
    for first in range(0, len(many), most):
        yield many[first : first + most]


def across(many: Sequence[Mapping[str, Any]]) -> Bindings:
    """Return the bindings of a statement that takes a list for each column."""
    listed = {name: [bindings[name] for bindings in many] for name in many[0]}
    return {name: VectorRows(values) if name == "vector" else values for name, values in listed.items()}


def _lists(names: Sequence[str], numbers: Iterable[tuple[int, ...]]) -> list[Bindings]:
    """Return lists of whole numbers by name, in the order of the key: neighbours in an index are written together."""
    columns = np.array(sorted(numbers), dtype=np.int64).T
    return [{name: Bigints(column) for name, column in zip(names, columns, strict=True)}]
