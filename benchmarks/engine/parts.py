"""The parts of the benchmark, each in a process of its own: `python parts.py PART SIZE` prints one JSON document."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from asked import Asked, asked
from corpus import CACHE, Corpus, load
from given import Given, given, real
from measuring import forget_pages, handles, resident, spread, timed
from stores import BATCH, NOW, SPACE, built, copied, draft, file_of, home

from retentive.memory import Space
from retentive.types import Gate

CUES = 200
FRESH = 20_000  # texts kept apart at the end of the corpus, to be written while measuring
WEIGHT = 3000  # bytes
LARGEST_FTS5 = 230_000
MINUTE = timedelta(minutes=10)  # beyond every refresh floor: each write-back writes


class Subject:
    """A space of one size under measurement, with the cues it is asked."""

    digest = ""
    """Of the corpus that was loaded last: figures of two corpora do not stand side by side."""

    def __init__(self, size: int, *, spare: int = FRESH) -> None:
        self.size = size
        self.embedder = given()
        self.corpus: Corpus = load(size + spare, real())
        Subject.digest = self.corpus.digest
        self.embedder.give(self.corpus.texts, self.corpus.vectors)
        self.cues = asked(self.corpus.texts[: min(size, self.corpus.real)], CUES)
        self.cue_vectors = self.embedder._real.embed([each.cue for each in self.cues])  # noqa: SLF001 - our own
        self.embedder.give([each.cue for each in self.cues], self.cue_vectors)
        self.folder, self.built = built(self.corpus, self.embedder, size)
        self._asked = 0
        self._written = 0

    def cue(self, number: int) -> Asked:
        return self.cues[number % len(self.cues)]

    def recall(self, space: Space, number: int, **options: Any) -> Any:
        """Ask at a moment of its own, so that a cue asked again is another recall."""
        self._asked += 1
        return space.recall(self.cue(number).cue, now=NOW + self._asked * MINUTE, **options)

    def fresh(self) -> dict[str, Any]:
        """Return a text that the space does not hold yet."""
        self._written += 1
        return {**draft(self.corpus, self.size + self._written, self.size), "at": NOW}


def recalls(size: int) -> dict[str, Any]:
    """Recalls with and without write-back, by stage, right after a write; beside their floors; memory and work."""
    subject = Subject(size)
    before = resident()
    with copied(subject.folder) as folder, home(folder, subject.embedder) as memories:
        space = memories.space(SPACE)
        subject.recall(space, 0)
        first = {"resident_before": before, "resident_ready": resident()}
        result = {
            "size": size,
            "real": min(size, subject.corpus.real),
            "recall": timed(lambda n: subject.recall(space, n), CUES, warm=20),
            "floor": floors(subject, space),
            "read_only": timed(lambda n: subject.recall(space, n, touch=False), CUES, warm=2),
            "after_write": after_write(subject, space),
            "stages": stages(subject, space),
            "work": work(subject, space),
            "quality": quality(subject, space),
            "embedding_one_cue": timed(lambda n: real_embed(subject, n), CUES),
            "memory": first | {"resident_after": resident(), "handles": handles()},
        }
        memories.close()
        result["memory"]["resident_closed"] = resident()
    return result


def real_embed(subject: Subject, number: int) -> Any:
    return subject.embedder._real.embed([subject.cue(number).cue])  # noqa: SLF001 - our own


def after_write(subject: Subject, space: Space) -> dict[str, Any]:
    """Time the recall that follows a write, beside plain ones in turn."""
    plain, after = [], []
    for number in range(60):
        space.remember(**subject.fresh())
        for kept in (after, plain):
            start = time.perf_counter()
            subject.recall(space, number)
            kept.append(time.perf_counter() - start)
    return {"after": spread(after), "plain": spread(plain)}


def stages(subject: Subject, space: Space) -> dict[str, Any]:
    from retentive.bench.watch import Stopwatch, watched  # noqa: PLC0415 - wraps what it measures

    watch, seconds = Stopwatch(), []
    with watched(watch, type(space.store)):
        for number in range(100):
            subject.recall(space, number)
            seconds.append(watch.taken())
    names = sorted({name for each in seconds for name in each})
    return {name: spread(each.get(name, 0.0) for each in seconds) for name in names}


def work(subject: Subject, space: Space) -> dict[str, float]:
    """Return the mean work of a recall, from its own counters."""
    from dataclasses import asdict  # noqa: PLC0415 - only here

    counters = [asdict(subject.recall(space, number, touch=False).trace.work) for number in range(100)]
    return {name: float(np.mean([each[name] for each in counters])) for name in counters[0]}


def quality(subject: Subject, space: Space) -> dict[str, float]:
    """Return how often the text that a cue was taken from is among the first 5 and 10."""
    found5 = found10 = 0
    for number, each in enumerate(subject.cues):
        texts = [hit.memory.text for hit in subject.recall(space, number, touch=False, limit=10)]
        found5 += subject.corpus.texts[each.target] in texts[:5]
        found10 += subject.corpus.texts[each.target] in texts
    return {"top5": found5 / len(subject.cues), "top10": found10 / len(subject.cues)}


# Floors: what a recall cannot do without, each alone


def floors(subject: Subject, space: Space) -> dict[str, Any]:
    """Time each piece alone, in the same process over the same file, warm."""
    from retentive.policy import presets  # noqa: PLC0415
    from retentive.text.tokens import query_terms  # noqa: PLC0415

    store, gate = space.store, Gate(true_at=NOW, pinned=False)
    pool, limit = presets.retentive.sources.pool, presets.retentive.selection.limit
    terms = [tuple(dict.fromkeys(query_terms(each.cue))) for each in subject.cues]
    rows = [store.nearest(vector, gate, limit).rows for vector in subject.cue_vectors[:50]]
    matrix = np.ascontiguousarray(subject.corpus.vectors[: subject.size])
    found = {
        "vector_arm": timed(lambda n: store.nearest(subject.cue_vectors[n % CUES], gate, pool), 100),
        "lexical_arm": timed(lambda n: store.matching(terms[n % CUES], gate, pool), 100),
        "row_fetch": timed(lambda n: store.memories(rows[n % 50]), 100),
        "commit": commits(file_of(space)),
        "matrix_times_vector": timed(lambda n: matrix @ subject.cue_vectors[n % CUES], 50),
        "code_scan": code_scan(matrix, subject.cue_vectors),
        "fts5": fts5(subject, terms) if subject.size <= LARGEST_FTS5 else {"wall": {}},
    }
    found["sum_p50"] = sum(found[name]["wall"]["p50"] for name in ("vector_arm", "lexical_arm", "row_fetch", "commit"))
    return found


def commits(file: Path, runs: int = 200) -> dict[str, Any]:
    """Time one commit to the write-ahead log of a space's file, over a connection of its own.

    One row of `WEIGHT` bytes, about what a memory with its vector, terms and journal line comes to.
    """
    import apsw  # noqa: PLC0415

    connection = apsw.Connection(str(file))
    connection.set_busy_timeout(5000)
    connection.execute("PRAGMA synchronous = NORMAL; CREATE TABLE IF NOT EXISTS bench (n INTEGER PRIMARY KEY, data);")
    try:
        return timed(lambda n: _commit(connection, n), runs, warm=5)
    finally:
        connection.execute("DROP TABLE bench")
        connection.close()


def _commit(connection: Any, number: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT OR REPLACE INTO bench (n, data) VALUES (?, zeroblob(?))", (number, WEIGHT))
    connection.execute("COMMIT")


def code_scan(matrix: np.ndarray[Any, Any], vectors: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Time sign bits by Hamming distance and exact scores of the best 1,200, in plain numpy: a bar, not our code."""
    codes = np.packbits(matrix > 0, axis=1).view(np.uint64)
    best = min(1200, len(matrix))

    def scan(number: int) -> Any:
        vector = vectors[number % len(vectors)]
        query = np.packbits(vector > 0).view(np.uint64)
        distance = np.bitwise_count(codes ^ query).sum(axis=1, dtype=np.uint16)
        near = np.argpartition(distance, best - 1)[:best]
        return near[np.argsort(-(matrix[near] @ vector))[:60]]

    return timed(scan, 50)


def fts5(subject: Subject, terms: list[tuple[str, ...]]) -> dict[str, Any]:
    """Time the usual way in a full-text table of its own: any of the terms, best sixty by rank."""
    import apsw  # noqa: PLC0415

    connection = apsw.Connection(str(_full_text(subject)), flags=apsw.SQLITE_OPEN_READONLY)
    sql = "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 60"
    asked_for = [" OR ".join(f'"{term}"' for term in each) or '"nothing"' for each in terms]
    try:
        return timed(lambda n: connection.execute(sql, (asked_for[n % len(asked_for)],)).fetchall(), 100, most=10)
    finally:
        connection.close()


def _full_text(subject: Subject) -> Path:
    """Return an FTS5 table of the space's terms, stop words and all left out as we do."""
    import apsw  # noqa: PLC0415

    from retentive.text.tokens import terms  # noqa: PLC0415

    file = CACHE / f"fts5-{subject.corpus.digest}-{subject.size}.db"
    if not file.exists():
        part = file.with_suffix(".part")
        part.unlink(missing_ok=True)
        connection = apsw.Connection(str(part))
        connection.execute("PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE t USING fts5 (terms, content = '')")
        with connection:
            rows = ((n, " ".join(terms(text))) for n, text in enumerate(subject.corpus.texts[: subject.size]))
            connection.executemany("INSERT INTO t (rowid, terms) VALUES (?, ?)", rows)
            connection.execute("INSERT INTO t (t) VALUES ('optimize')")
        connection.close()
        part.rename(file)
    return file


# Writing


def writes(size: int) -> dict[str, Any]:
    """Remember one at a time and in batches, their vectors at hand, beside one commit to the same file."""
    subject = Subject(size)
    with copied(subject.folder) as folder, home(folder, subject.embedder) as memories:
        space = memories.space(SPACE)
        subject.recall(space, 0)
        batch = batches(subject, space)
        return {
            "size": size,
            "built": subject.built,
            "remember": timed(lambda _n: space.remember(**subject.fresh()), 300, warm=5),
            "remember_statement": timed(lambda _n: space.remember(subject.fresh()["text"], at=NOW), 200, warm=5),
            "commit": commits(file_of(space)),
            "statements_alone": replayed(subject),
            "batch": batch,
        }


def replayed(subject: Subject, runs: int = 100) -> dict[str, Any]:
    """Time the statements of a remember alone: those of one copy, run again on another by SQLite and nothing else."""
    import apsw  # noqa: PLC0415

    transactions: list[list[tuple[str, Any]]] = []
    writers: list[Any] = []

    def note(cursor: Any, sql: str, bindings: Any) -> bool:
        begins = sql.startswith("BEGIN IMMEDIATE")
        if begins:
            transactions.append([])
            writers[:] = [cursor.connection]
        if begins or (cursor.connection in writers and cursor.connection.in_transaction):  # a reader is not one
            transactions[-1].append((sql, bindings))
        return True

    hook = lambda connection: setattr(connection, "exec_trace", note)  # noqa: E731 - apsw wants a function
    with copied(subject.folder) as one, copied(subject.folder) as two:
        apsw.connection_hooks.append(hook)
        with home(one, subject.embedder) as memories:
            space = memories.space(SPACE)
            for _ in range(runs):
                space.remember(**subject.fresh())
            name = file_of(space).relative_to(one)
        apsw.connection_hooks.remove(hook)
        writing = [each for each in transactions if any(sql.lstrip().startswith("INSERT") for sql, _ in each)]
        connection = apsw.Connection(str(two / name))
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)  # as the store has it: no statement is planned twice
        connection.execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON")
        try:
            return timed(
                lambda n: [connection.execute(*each).fetchall() for each in writing[n]], len(writing) - 5, warm=5
            )
        finally:
            connection.close()


def batches(subject: Subject, space: Space, count: int = 10) -> dict[str, Any]:
    drafts = [[subject.fresh() for _ in range(BATCH)] for _ in range(count)]
    start, worked = time.perf_counter(), time.process_time()
    for batch in drafts:
        space.remember_many(batch)
    wall, cpu = time.perf_counter() - start, time.process_time() - worked
    return {"per_second": round(count * BATCH / wall), "per_cpu_second": round(count * BATCH / cpu)}


def mixed(size: int) -> dict[str, Any]:
    """Recall while another process remembers twenty a second: readers must not wait for writers."""
    subject = Subject(size)
    with copied(subject.folder) as folder, home(folder, subject.embedder) as memories:
        space = memories.space(SPACE)
        subject.recall(space, 0)
        alone = timed(lambda n: subject.recall(space, n), 100, warm=5, most=10)
        writer = subprocess.Popen([sys.executable, __file__, "writer", str(size), str(folder)])
        while not (folder / "writing").exists() and writer.poll() is None:
            time.sleep(0.05)
        beside = timed(lambda n: subject.recall(space, n), 200, warm=2, most=10)
        (folder / "stop").touch()
        writer.wait(30)
        told = folder / "written.json"
        return {"size": size, "alone": alone, "beside_a_writer": beside, "writer": json.loads(told.read_text("utf-8"))}


def writer(size: int, folder: Path) -> None:
    """Remember until told to stop, twenty a second."""
    embedder, corpus = given(), load(size + FRESH, real())
    embedder.give(corpus.texts[size:], corpus.vectors[size:])
    seconds: list[float] = []
    with home(folder, embedder) as memories:
        space = memories.space(SPACE)
        (folder / "writing").touch()
        for number in range(size, size + FRESH):
            if (folder / "stop").exists():
                break
            start = time.perf_counter()
            space.remember(corpus.texts[number], at=NOW)
            seconds.append(time.perf_counter() - start)
            time.sleep(0.05)
    (folder / "written.json").write_text(json.dumps(spread(seconds)), "utf-8")


# Opening


def cold(size: int) -> dict[str, Any]:
    """Time opening a space in a new process to its first answer: pages cached by the system, then not."""
    subject = Subject(size)
    np.save(CACHE / "cue.npy", subject.cue_vectors[:100])
    (CACHE / "cues.json").write_text(json.dumps([each.cue for each in subject.cues[:100]]), "utf-8")
    with copied(subject.folder) as folder:
        for _ in range(2):  # the first leaves the derived caches behind
            warm = _opened(folder)
        runs = [_opened(folder) for _ in range(4)]
        forget_pages(folder)
        dropped = _opened(folder)
    return {
        "size": size,
        "first_answer": spread(run["seconds"] for run in [warm, *runs]),
        "cpu": spread(run["cpu"] for run in [warm, *runs]),
        "pages_dropped": dropped["seconds"] * 1e3,
        "memory": {name: dropped[name] for name in dropped if name.startswith("resident") or name == "handles"},
    }


def _opened(folder: Path) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, "opening", "0", str(folder)], capture_output=True, check=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def opening(folder: Path) -> dict[str, float]:
    embedder: Given = given()
    cues = json.loads((CACHE / "cues.json").read_text("utf-8"))
    embedder.give(cues, np.load(CACHE / "cue.npy"))
    cue = cues[0]
    embedder.token_rows(np.array(embedder.token_ids(cue), dtype=np.int32))
    before, worked, start = resident(), time.process_time(), time.perf_counter()
    with home(folder, embedder) as memories:
        memories.space(SPACE).recall(cue, touch=False)
        seconds, cpu = time.perf_counter() - start, time.process_time() - worked
        first = resident()
        for number, more in enumerate(cues):
            memories.space(SPACE).recall(more, now=NOW + number * MINUTE)
        steady, open_files = resident(), handles()
        memories.close()
        return {
            "seconds": seconds, "cpu": cpu, "resident_before": before, "resident_first": first,
            "resident_steady": steady, "resident_closed": resident(), "handles": open_files,
        }  # fmt: skip


def startup(_size: int) -> dict[str, Any]:
    """Time the import of the package and ``--help``, each in a new process, less nothing."""
    python = sys.executable
    commands = {
        "python_alone": [python, "-c", "pass"],
        "import": [python, "-c", "import retentive"],
        "import_and_class": [python, "-c", "from retentive import Retentive"],
        "help": [python, "-m", "retentive", "--help"],
    }
    return {
        name: timed(lambda _n, c=command: subprocess.run(c, capture_output=True, check=True), 10)["wall"]
        for name, command in commands.items()
    }


# Exactness


def exactness(size: int) -> dict[str, Any]:
    """Compare the vector arm's first twenty with those of brute force in float64."""
    subject = Subject(size)
    same = share = 0.0
    with copied(subject.folder) as folder, home(folder, subject.embedder) as memories:
        store = memories.space(SPACE).store
        matrix = np.asarray(subject.corpus.vectors[:size], dtype=np.float32)
        for vector in subject.cue_vectors:
            got = store.nearest(vector, Gate(true_at=NOW, pinned=False), 20)
            scores = matrix @ vector
            best = np.sort(scores)[::-1][:20]
            matching = int(np.sum(np.sort(got.scores)[::-1] >= best[-1] - 1e-6))
            share += matching / min(20, size)
            same += bool(np.allclose(np.sort(got.scores)[::-1], best, atol=1e-6))
    return {"size": size, "queries": CUES, "equal_top20": same / CUES, "overlap": share / CUES}


# Many spaces


def spaces(count: int) -> dict[str, Any]:
    """Open, ask and close many spaces of a hundred memories through one store: cost, handles and memory stay flat."""
    from many import many_spaces  # noqa: PLC0415

    with many_spaces(count, given) as (memories, paths, making):
        order = np.random.default_rng(5).permutation(len(paths))[:2000]
        listing = timed(lambda _n: memories.spaces(), 3)
        seconds, open_files, memory = [], [], []
        for number, place in enumerate(order.tolist()):
            start = time.perf_counter()
            memories.space(paths[place]).recall("How is the cache kept up to date?", now=NOW + number * MINUTE)
            seconds.append(time.perf_counter() - start)
            if number % 100 == 99:
                open_files.append(handles())
                memory.append(resident())
        again = timed(
            lambda n: memories.space(paths[order[n % 8]]).recall("a cache", now=NOW + n * MINUTE), 100, warm=16
        )
    parts = [spread(seconds[first : first + 400]) for first in range(0, len(seconds), 400)]
    return {
        "spaces": count, "making": making, "listing": listing, "recall_in_a_closed_space": spread(seconds),
        "by_four_hundred": parts, "recall_in_an_open_space": again, "handles": open_files, "resident": memory,
    }  # fmt: skip


PARTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "startup": startup,
    "recalls": recalls,
    "writes": writes,
    "cold": cold,
    "exactness": exactness,
    "mixed": mixed,
    "spaces": spaces,
}


def main() -> None:
    part, size, *more = sys.argv[1:]
    if part == "writer":
        writer(int(size), Path(more[0]))
    elif part == "opening":
        print(json.dumps(opening(Path(more[0]))))
    elif part == "build":
        print(json.dumps(Subject(int(size)).built))
    else:
        result = PARTS[part](int(size))
        print(json.dumps(result | {"corpus": Subject.digest}))


if __name__ == "__main__":
    main()
