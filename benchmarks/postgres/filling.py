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
from retentive.stores.postgres.keys import key_of
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


# One space, made larger inside the server

OTHERWISE = {  # columns that a copy has another way; all others are the original's
    "row": "n.fresh",
    "id": "n.id",
    "id_key": "n.id_key",
    "memory_id": "n.id",
    "memory_key": "n.id_key",
    "session": "n.session",
    "session_key": "n.session_key",
    "created_at": "o.created_at + n.k",
    "sequence": "o.sequence + n.shift",
    "embedding": "l2_normalize(o.embedding + p.embedding)",
}
BY_ROW = ("memories", "vectors", "terms", "entities", "postings")


def widened(server: Server, space: str, size: int) -> dict[str, Any]:
    """Make one space many times as large: each memory again under other ids, its vector mixed with another memory's.

    A copy has the words of its original, and lies half-way between two memories, as a text made of their halves does.
    """
    began = time.perf_counter()
    with server.connect() as connection:
        server.behind(connection)
        head = connection.execute(
            f"SELECT last_row, last_sequence, terms FROM {SCHEMA}.spaces WHERE space = %s".encode(), (space,)
        ).fetchone()
        assert head is not None  # noqa: S101 - it was written just now
        given = int(head[0])
        times = round(size / given) - 1
        if times < 1:
            return {"memories": given, "copied": 0, "seconds": 0.0}
        _named(connection, space, head, times)
        with connection.transaction():
            for table in BY_ROW:
                _widen(connection, table, space, given, "n.old = o.row")
            _widen(connection, "journal", space, given, "n.old_id = o.memory_id AND o.action = 'remember'")
            for statement in (
                f"UPDATE {SCHEMA}.vocabulary SET rows = rows * {times + 1} WHERE space = %(space)s",
                f"""UPDATE {SCHEMA}.spaces SET memories = {(times + 1) * given}, terms = terms * {times + 1},
                last_row = {(times + 1) * given}, last_sequence = last_sequence * {times + 1}, change = change + 1
                WHERE space = %(space)s""",
            ):
                connection.execute(statement.encode(), {"space": space})
    return {"memories": (times + 1) * given, "copied": times * given, "seconds": round(time.perf_counter() - began, 1)}


def _named(connection: psycopg.Connection[Any], space: str, head: tuple[int, int, int], times: int) -> None:
    """Give every copy its row, its id and its session, with the digests that the store looks them up by."""
    last_row, last_sequence, _ = head
    connection.execute(
        b"CREATE TEMP TABLE named (k int, old bigint, old_id text, fresh bigint, shift bigint, id text, id_key uuid, "
        b"session text, session_key uuid)"
    )
    given = f"SELECT row, id, session FROM {SCHEMA}.memories WHERE space = %s ORDER BY row"
    originals = connection.execute(given.encode(), (space,)).fetchall()
    into = b"COPY named FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(into) as copy:
        for k in range(1, times + 1):
            for row, old, session in originals:
                name, again = f"{old}-{k}", f"{session}-{k}"
                fresh = k * last_row + row
                copy.write_row((k, row, old, fresh, k * last_sequence, name, key_of(name), again, key_of(again)))
    connection.execute(b"CREATE INDEX ON named (old)")
    connection.execute(b"CREATE INDEX ON named (old_id)")
    connection.execute(b"ANALYZE named")


def _widen(connection: psycopg.Connection[Any], table: str, space: str, given: int, joined: str) -> None:
    name = f"{SCHEMA}.{table}"
    columns = [column for (column,) in connection.execute(COLUMNS, (name,))]
    key = [column for (column,) in connection.execute(KEY, (name,))]
    taken = ", ".join(OTHERWISE.get(column, f'o."{column}"') for column in columns)
    partner = ""
    if table == "vectors":
        other = f"(o.row + n.k * 7919) %% {given} + 1"
        partner = f" JOIN {name} AS p ON p.space = %(space)s AND p.row = {other}"
    listed = ", ".join(f'"{column}"' for column in columns)
    places = ", ".join(str(columns.index(column) + 1) for column in key)
    connection.execute(
        f"INSERT INTO {name} ({listed}) SELECT {taken} FROM {name} AS o JOIN named AS n ON {joined}{partner} "
        f"WHERE o.space = %(space)s ORDER BY {places}".encode(),
        {"space": space},
    )
