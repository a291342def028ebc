"""Filling a server: some spaces written through the API as users write, the others copied from those inside it.

A copy is every row of a space under another name, in the order of the keys: what a load from a dump does. It is not the
speed of `remember_many`, which is measured where spaces are written.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from corpus import CACHE, Corpus
from server import Server
from stores import FIRST, NOW

from retentive import Retentive
from retentive.stores.postgres.store import TABLES

SCHEMA = "retentive"
EACH = 1_000
TEMPLATES = 20
COPIERS = 2
MEASURING = CACHE / "measuring"  # there while a part measures: the other's loading stands still
LONGEST_MEASURING = 300  # seconds after which it was left behind
LEAST_FREE = 11 << 30  # bytes: others work on this disk
KEY = """SELECT a.attname FROM pg_index AS i
JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (number, place) ON k.place <= i.indnkeyatts
JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
WHERE i.indrelid = %s::regclass AND i.indisprimary ORDER BY k.place"""
COLUMNS = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"


def waiting() -> None:
    """Let whoever measures on this machine measure alone."""
    while MEASURING.exists() and time.time() - MEASURING.stat().st_mtime < LONGEST_MEASURING:
        time.sleep(0.2)


def path(number: int) -> str:
    """Return the name of a space."""
    return f"tenant/{number:05d}"


def templates(memories: Retentive, corpus: Corpus, count: int = TEMPLATES) -> dict[str, float]:
    """Write the first spaces through the API, each with texts of its own, and say how fast."""
    step = (NOW - FIRST) / EACH
    began, worked = time.perf_counter(), time.process_time()
    for number in range(count):
        texts = range(number * EACH, (number + 1) * EACH)
        memories.space(path(number)).remember_many(
            {"text": corpus.texts[n], "session": corpus.sessions[n], "at": FIRST + (n % EACH) * step} for n in texts
        )
    wall, cpu = time.perf_counter() - began, time.process_time() - worked
    return {
        "memories": count * EACH,
        "seconds": round(wall, 1),
        "per_second": round(count * EACH / wall),
        "per_cpu_second": round(count * EACH / cpu),
    }


def copying(connection: psycopg.Connection[Any]) -> list[bytes]:
    """Return the statements that copy one space under another name, table by table, in the order of their keys."""
    return [_copying(connection, f"{SCHEMA}.{table}") for table in TABLES]


def _copying(connection: psycopg.Connection[Any], table: str) -> bytes:
    columns = [name for (name,) in connection.execute(COLUMNS, (table,)) if name != "space"]
    key = [name for (name,) in connection.execute(KEY, (table,)) if name != "space"]
    listed = ", ".join(f'"{name}"' for name in columns)
    ordered = f" ORDER BY {', '.join(key)}" if key else ""
    return f"INSERT INTO {table} (space, {listed}) SELECT %s, {listed} FROM {table} WHERE space = %s{ordered}".encode()


def copied(server: Server, behind: int) -> dict[str, Any]:
    """Copy the written spaces until there are as many as asked for, two at a time; ends early where the disk fills."""
    began = time.perf_counter()
    have = there(server)
    missing = [number for number in range(behind) if path(number) not in have]
    with ThreadPoolExecutor(COPIERS) as pool:
        done = sum(pool.map(lambda part: _copied(server, missing[part::COPIERS]), range(COPIERS)))
    return {"copied": done, "seconds": round(time.perf_counter() - began, 1)}


def _copied(server: Server, numbers: Sequence[int]) -> int:
    with server.connect() as connection:
        server.behind(connection)
        statements = copying(connection)
        for done, number in enumerate(numbers):
            if done % 50 == 0 and server.free() < LEAST_FREE:
                return done
            waiting()
            with connection.transaction():
                for statement in statements:
                    connection.execute(statement, (path(number), path(number % TEMPLATES)), prepare=True)
    return len(numbers)


def there(server: Server) -> frozenset[str]:
    """Return the spaces of this benchmark that are there already."""
    with server.connect() as connection:
        if connection.execute(f"SELECT to_regclass('{SCHEMA}.spaces')".encode()).fetchone() == (None,):
            return frozenset()
        named = f"SELECT space FROM {SCHEMA}.spaces WHERE space LIKE 'tenant/%' AND memories >= {EACH}"
        return frozenset(name for (name,) in connection.execute(named.encode()))
