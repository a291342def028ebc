"""sqlite-vec and FTS5 side by side in one SQLite file, fused by reciprocal rank: what one writes oneself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import apsw
import numpy as np
import sqlite_vec
from peer import Peer, main

POOL = 60
RANK_CONSTANT = 60


class SqliteVec(Peer):
    packages: ClassVar[Sequence[str]] = ("sqlite-vec", "apsw")
    how: ClassVar[str] = (
        "vec0 (float, cosine) and FTS5 (any word, by rank), best 60 of each, RRF; WAL, synchronous NORMAL"
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.db = apsw.Connection(str(folder / "store.db"))
        self.db.enable_load_extension(True)  # noqa: FBT003 - apsw takes no name
        self.db.load_extension(sqlite_vec.loadable_path())
        self.db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
        self.db.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, text TEXT, read INTEGER)")
        self.db.execute("CREATE VIRTUAL TABLE v USING vec0 (vector float[256] distance_metric=cosine)")
        self.db.execute(
            "CREATE VIRTUAL TABLE t USING fts5 (text, content = 'memories', content_rowid = 'id', tokenize = 'porter')"
        )

    def build(self, texts: Sequence[str], vectors: np.ndarray[Any, Any]) -> None:
        with self.db:
            for place, text in enumerate(texts):
                self._insert(place, text, vectors[place])
            self.db.execute("INSERT INTO t (t) VALUES ('optimize')")

    def _insert(self, place: int, text: str, vector: np.ndarray[Any, Any]) -> None:
        self.db.execute("INSERT INTO memories VALUES (?, ?, 0)", (place + 1, text))
        self.db.execute("INSERT INTO t (rowid, text) VALUES (?, ?)", (place + 1, text))
        self.db.execute("INSERT INTO v (rowid, vector) VALUES (?, ?)", (place + 1, vector.astype("<f4").tobytes()))

    def search(self, cue: str, vector: np.ndarray[Any, Any], limit: int) -> list[int]:
        blob = vector.astype("<f4").tobytes()
        near = self.db.execute("SELECT rowid FROM v WHERE vector MATCH ? AND k = ?", (blob, POOL)).fetchall()
        words = "".join(c if c.isalnum() else " " for c in cue).split()
        match = " OR ".join(f'"{word}"' for word in words) or '"nothing"'
        said = self.db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (match, POOL)).fetchall()
        scores: dict[int, float] = {}
        for found in (near, said):
            for rank, (row,) in enumerate(found):
                scores[row] = scores.get(row, 0.0) + 1 / (RANK_CONSTANT + rank + 1)
        best = sorted(scores, key=lambda row: -scores[row])[:limit]
        for row in best:
            self.db.execute("SELECT text FROM memories WHERE id = ?", (row,)).fetchall()
        return [row - 1 for row in best]

    def add(self, place: int, text: str, vector: np.ndarray[Any, Any]) -> None:
        with self.db:
            self._insert(place, text, vector)

    def update(self, places: Sequence[int], number: int) -> None:
        with self.db:
            self.db.executemany("UPDATE memories SET read = ? WHERE id = ?", [(number, place + 1) for place in places])


if __name__ == "__main__":
    main(SqliteVec)
