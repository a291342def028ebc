"""What is measured of a server: recalls and writes, the floors below them, sizes on disk, and quality."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import psycopg
from asked import Asked, asked
from corpus import Corpus
from filling import SCHEMA
from given import Given, Vectors
from measuring import timed
from server import Server
from stores import NOW

from retentive import Retentive
from retentive.memory import Space
from retentive.policy import presets
from retentive.stores.postgres.keys import token_of
from retentive.stores.sqlite.tokens import encode_term
from retentive.text.tokens import query_terms
from retentive.types import Gate

POOL = presets.retentive.sources.pool
STEP = timedelta(minutes=10)  # beyond every refresh floor: each write-back really writes
SIZES = """SELECT c.relname, CASE c.relkind WHEN 'i' THEN t.relname ELSE c.relname END,
    pg_relation_size(c.oid) + coalesce(pg_relation_size(c.reltoastrelid), 0)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_index AS x ON x.indexrelid = c.oid LEFT JOIN pg_class AS t ON t.oid = x.indrelid
WHERE n.nspname = %s AND c.relkind IN ('r', 'i')"""
ALL_OF_SPACE = f"""SELECT v.row FROM {SCHEMA}.vectors AS v WHERE v.space = %s
ORDER BY v.embedding <#> %s::vector LIMIT %s"""
WORDS_OF_SPACE = f"""SELECT p.row FROM {SCHEMA}.postings AS p WHERE p.space = %s AND p.token = ANY(%s)
GROUP BY p.row ORDER BY sum(p.count * 2.2 / (p.count + 1.2 * (0.25 + 0.75 * p.length / 20.0))) DESC LIMIT %s"""


def costs(server: Server, function: Any, runs: int, *, most: float = 30.0, warm: int = 1) -> dict[str, Any]:
    """Time a function: the wall, and the processor time of this process and of the server."""
    before = server.seconds()
    found = timed(function, runs, most=most, warm=warm)
    done = warm + int(found["wall"]["runs"])
    return {**found, "server_cpu_mean": round((server.seconds() - before) * 1e3 / done, 3)}


class Asker:
    """Asks one space or many, each recall at a moment of its own."""

    def __init__(self, corpus: Corpus, embedder: Given, texts: Sequence[str], count: int = 200) -> None:
        self.texts = texts
        self.corpus = corpus
        self.cues: list[Asked] = asked(texts, count)
        self.vectors: Vectors = embedder._real.embed([each.cue for each in self.cues])  # noqa: SLF001 - our own
        embedder.give([each.cue for each in self.cues], self.vectors)
        self.terms = [list(dict.fromkeys(query_terms(each.cue))) for each in self.cues]
        self._moment = 0
        self._written = 0

    def recall(self, space: Space, number: int, **options: Any) -> Any:
        """Ask one of the cues."""
        self._moment += 1
        return space.recall(self.cues[number % len(self.cues)].cue, now=NOW + self._moment * STEP, **options)

    def remember(self, space: Space) -> None:
        """Write a text from the end of the corpus that the space does not hold yet."""
        self._written += 1
        space.remember(self.corpus.texts[-self._written], at=NOW)


def recalls(server: Server, asker: Asker, space: Space, runs: int = 100, most: float = 30.0) -> dict[str, Any]:
    """Time recalls in one space."""
    return costs(server, lambda n: asker.recall(space, n), runs, warm=5, most=most)


def looks(server: Server, asker: Asker, space: Space, runs: int = 100) -> dict[str, Any]:
    """Time recalls that write nothing back."""
    return costs(server, lambda n: asker.recall(space, n, touch=False), runs, warm=2)


def anywhere(server: Server, asker: Asker, memories: Retentive, paths: Sequence[str]) -> dict[str, Any]:
    """Time recalls each in another space, chosen at random: pages that nobody has read for a while."""
    chosen = random.Random(len(paths)).sample(list(paths), min(151, len(paths)))  # noqa: S311 - a sample
    return costs(server, lambda n: asker.recall(memories.space(chosen[n % len(chosen)]), n), 150)


def writes(server: Server, asker: Asker, space: Space, runs: int = 100, most: float = 20.0) -> dict[str, Any]:
    """Time `remember`, one at a time."""
    return costs(server, lambda _: asker.remember(space), runs, warm=3, most=most)


def floors(server: Server, asker: Asker, space: str, runs: int = 100, most: float = 20.0) -> dict[str, Any]:
    """Time what a recall cannot do without, each as one bare statement: a trip, the vectors, the words, a commit."""
    with server.connect() as connection:
        connection.prepare_threshold = 1
        connection.execute(f"CREATE TABLE IF NOT EXISTS {SCHEMA}.bench_commit (n int, filler text)".encode())
        found = {
            "trip": timed(lambda _: connection.execute("SELECT 1").fetchall(), runs, most=most),
            "vectors": timed(lambda n: _nearest(connection, asker, space, n), runs, warm=min(6, runs // 2), most=most),
            "words": timed(lambda n: _words(connection, asker, space, n), runs, warm=min(6, runs // 2), most=most),
            "commit": timed(lambda n: _commit(connection, n), runs, most=most),
        }
        connection.execute(f"DROP TABLE {SCHEMA}.bench_commit".encode())
    return {**found, "sum_p50": round(sum(each["wall"]["p50"] for each in found.values()), 3)}


def _vector(values: Vectors) -> str:
    return "[" + ",".join(map(repr, values.tolist())) + "]"


def _nearest(connection: psycopg.Connection[Any], asker: Asker, space: str, number: int) -> list[int]:
    vector = _vector(asker.vectors[number % len(asker.cues)])
    return [row for (row,) in connection.execute(ALL_OF_SPACE.encode(), (space, vector, POOL))]


def _words(connection: psycopg.Connection[Any], asker: Asker, space: str, number: int) -> list[int]:
    tokens = [token_of(encode_term(term)) for term in asker.terms[number % len(asker.cues)]]
    return [row for (row,) in connection.execute(WORDS_OF_SPACE.encode(), (space, tokens, POOL))]


def _commit(connection: psycopg.Connection[Any], number: int) -> None:
    statement = f"INSERT INTO {SCHEMA}.bench_commit VALUES (%s, repeat('x', 3000))".encode()
    connection.execute(statement, (number,))


def arm(server: Server, asker: Asker, space: Space, runs: int = 100) -> dict[str, Any]:
    """Time the store's own way to the nearest vectors, alone."""
    gate = Gate(true_at=NOW)
    vectors = asker.vectors
    return costs(server, lambda n: space.store.nearest(vectors[n % len(vectors)], gate, POOL), runs, warm=6, most=20)


def index_bytes(server: Server) -> int:
    """Return the bytes of the indexes over vectors."""
    with server.connect() as connection:
        found = connection.execute(
            "SELECT coalesce(sum(pg_relation_size(oid)), 0) FROM pg_class WHERE relname LIKE 'vectors_near_%'"
        ).fetchone()
    return int(found[0]) if found else 0


def quality(asker: Asker, space: Space, count: int = 100) -> dict[str, float]:
    """Return how often the text that a cue was taken from is among the first 5 and 10."""
    found5 = found10 = 0
    for number, each in enumerate(asker.cues[:count]):
        texts = [hit.memory.text for hit in asker.recall(space, number, touch=False, limit=10)]
        found5 += asker.texts[each.target] in texts[:5]
        found10 += asker.texts[each.target] in texts
    return {"top5": found5 / count, "top10": found10 / count}


def exactness(asker: Asker, by_index: Space, exact: Space, gates: dict[str, Gate], count: int = 50) -> dict[str, Any]:
    """Hold what the index finds to what looking at every vector finds, behind each gate; what is short is counted."""
    found: dict[str, Any] = {}
    for name, gate in gates.items():
        same, equal, short = [], 0, 0
        for vector in asker.vectors[:count]:
            right = exact.store.nearest(vector, gate, POOL)
            given = by_index.store.nearest(vector, gate, POOL)
            wanted = set(right.rows[:20].tolist())
            have = set(given.rows[:20].tolist())
            same.append(len(wanted & have) / max(1, len(wanted)))
            equal += wanted == have
            short += len(given.rows) < len(right.rows)
        found[name] = {
            "recall_at_20": round(float(np.mean(same)), 4),
            "equal_top20": equal / count,
            "under_filled": short,
            "passing": int(right.scanned),
        }
    return found


def sizes(server: Server, memories: int) -> dict[str, Any]:
    """Return bytes a memory of each table and its indexes, and of the whole."""
    tables: dict[str, dict[str, float]] = {}
    with server.connect() as connection:
        for name, table, size in connection.execute(SIZES.encode(), (SCHEMA,)).fetchall():
            kind = "rows" if name == table else "index"
            kept = tables.setdefault(table, {"rows": 0.0, "index": 0.0})
            kept[kind] = round(kept[kind] + size / memories, 1)
    total = round(sum(sum(each.values()) for each in tables.values()), 1)
    ordered = dict(sorted(tables.items(), key=lambda item: -sum(item[1].values())))
    return {"bytes_a_memory": total, "tables": ordered, "gigabytes": round(total * memories / 1e9, 2)}
