"""Re-embedding: move a space to another embedder while it stays in use.

New vectors are staged beside the current ones, batch by batch, and all become current in one transaction at the end.
Until then recalls and writes go on with the old embedder; a run that stops half-way is taken up by the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from retentive.embedders.protocol import Embedder, checked_vectors, identity
from retentive.errors import StoreBusy
from retentive.indexing import EMBEDDER_SETTING, passage
from retentive.stores.protocol import SpaceStore, Transaction
from retentive.types import Gate, JournalEntry, Json
from retentive.writing import Author

BATCH: Final = 256
TARGET_SETTING: Final = "embedder.next"


def re_embed_space(
    store: SpaceStore, embedder: Embedder, author: Author, progress: Callable[[int, int], None] | None = None
) -> int:
    """Move every vector to ``embedder``; returns how many were embedded in this run."""
    found = identity(embedder)
    target: Json = {"id": found.id, "dimension": found.dimension, "fingerprint": found.fingerprint}
    if store.setting(EMBEDDER_SETTING) == target:
        return 0
    _begin(store, target)
    total = store.count(Gate(true_at=author.now, hidden=True))
    done = 0
    while moved := _stage_batch(store, embedder, target):
        done += moved
        if progress is not None:
            progress(min(done, total), total)
    return done + _finish(store, embedder, author, target)


def _begin(store: SpaceStore, target: Json) -> None:
    with store.transaction() as tx:
        if tx.setting(TARGET_SETTING) != target:
            tx.discard_staged()
            tx.set_setting(TARGET_SETTING, target)


def _under_way(tx: Transaction, target: Json, path: str) -> bool:
    """Whether this move is still ours to make: False once another run has finished it, an error if one goes elsewhere.

    Without this look two runs at once would stage the vectors of two embedders side by side.
    """
    aim = tx.setting(TARGET_SETTING)
    if aim == target:
        return True
    if aim is None and tx.setting(EMBEDDER_SETTING) == target:
        return False
    raise StoreBusy(
        f"Another run took over the re-embedding of space {path!r} (it moves to {aim!r}); this one gave way to it. "
        "Let one of them finish.",
        target=aim,
    )


def _stage_batch(store: SpaceStore, embedder: Embedder, target: Json) -> int:
    """Read a batch, embed it outside any transaction, stage what is still as it was read."""
    with store.transaction() as tx:
        batch = tx.unstaged(BATCH) if _under_way(tx, target, store.path) else []
    if not batch:
        return 0
    vectors = checked_vectors(embedder, [passage(memory) for memory in batch])
    with store.transaction() as tx:
        if not _under_way(tx, target, store.path):
            return 0
        current = [tx.get(memory.id) for memory in batch]
        unchanged = {
            memory.id: vector
            for memory, vector, now in zip(batch, vectors, current, strict=True)
            if now is not None and passage(now) == passage(memory)
        }
        tx.stage_vectors(unchanged)
    return len(unchanged)


def _finish(store: SpaceStore, embedder: Embedder, author: Author, target: Json) -> int:
    """Stage what was written meanwhile and switch, in one transaction."""
    done = 0
    with store.transaction() as tx:
        if not _under_way(tx, target, store.path):
            return 0
        while late := tx.unstaged(BATCH):
            vectors = checked_vectors(embedder, [passage(memory) for memory in late])
            tx.stage_vectors({memory.id: vector for memory, vector in zip(late, vectors, strict=True)})
            done += len(late)
        tx.switch_vectors()
        tx.set_setting(EMBEDDER_SETTING, target)
        tx.set_setting(TARGET_SETTING, None)
        tx.journal(JournalEntry(author.now, "re-embed", "", author.actor, f"vectors moved to {embedder.id}"))
    return done
