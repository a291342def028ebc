"""Retelling: a memory taken from a turn, and the turn itself, say one thing; an answer has room for one of them.

Near-duplicates are of one kind, and these two never are. Without this, one question in four about a conversation of
which memories are kept had the same thing twice among its first five hits (decision 64).
"""

from __future__ import annotations

from retentive.recall.ranking import Ranked
from retentive.stores.protocol import SpaceStore

TURN, CONCLUSION = "episode", "reflection"


def retold(ranked: Ranked, head: list[int], store: SpaceStore) -> dict[int, int]:
    """Return who of the head repeats whom: the lower-ranked of a turn and what was taken from it.

    A conclusion rests on several turns and says more than any of them; it repeats none.
    """
    columns = ranked.evidence.columns
    turns = {columns.ids[i]: i for i in head if columns.kinds[i] == TURN}
    taken = [i for i in head if columns.kinds[i] not in {TURN, CONCLUSION}]
    if not turns or not taken:
        return {}
    sources = {memory.id: memory.derived_from for memory in store.memories(columns.rows[taken])}
    place = {i: at for at, i in enumerate(head)}
    repeats: dict[int, int] = {}
    for i in taken:
        for name in sources.get(columns.ids[i], ()):
            turn = turns.get(name)
            if turn is None:
                continue
            better, worse = (i, turn) if place[i] < place[turn] else (turn, i)
            if better not in repeats:
                repeats.setdefault(worse, better)
    return repeats
