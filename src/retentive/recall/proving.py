"""Procedures that worked go before those that failed: the only kind that is judged by what came of using it."""

from __future__ import annotations

from typing import Final

from retentive.recall.outcome import Modifier
from retentive.recall.ranking import Ranked
from retentive.scoring.track_record import PROCEDURE, proven, record_of
from retentive.stores.protocol import SpaceStore

LOOKED_AT: Final = 40  # the best procedures among the candidates: bounded work


def prove(ranked: Ranked, store: SpaceStore) -> None:
    """Multiply the scores of procedures by their records."""
    reach = ranked.policy.modifiers.track_record
    columns = ranked.evidence.columns
    if not reach or PROCEDURE not in columns.kinds:
        return
    found = [i for i in ranked.order() if columns.kinds[i] == PROCEDURE and ranked.scores[i] > 0][:LOOKED_AT]
    records = {memory.id: record_of(memory.metadata) for memory in store.memories(columns.rows[found])}
    for i in found:
        record = records.get(columns.ids[i])
        if record is not None and record.tries:
            ranked.multiply(i, Modifier("track record", proven(record, reach), str(record)))
