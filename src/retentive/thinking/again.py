"""Rating a space anew: what nobody rated, what a rater rated, and the crowd where ratings have collapsed.

What a person said about a memory's importance stays, unless nearly everything was said to be equally important.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from retentive.keeping import Keeper
from retentive.llm.protocol import Llm
from retentive.reflect.outcome import NOTHING, Cost
from retentive.stores.protocol import Cursor, SpaceStore, Transaction
from retentive.thinking.rate import LlmRater, enqueue_rating, usage_of
from retentive.types import Gate, Memory
from retentive.weighing.calibrate import CROWDED, Collapse, Spread, collapse_of, importance_of, write_spread
from retentive.weighing.offline import SETTING, points_of
from retentive.weighing.protocol import Rater
from retentive.weighing.rating import RATED
from retentive.writing import FLAT_IMPORTANCE, entry

PAGE: Final = 500
APART: Final = 0.1  # how far from the crowd a rating must lie to have been meant
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Rerated:
    """What rating a space anew did, or would do (``dry_run``)."""

    looked_at: int
    changed: int  # given another importance now
    queued: int = 0  # put to the language model, on the queue
    collapse: Collapse | None = None  # how ratings had collapsed before
    cost: Cost = NOTHING
    dry_run: bool = False


def rate_space(
    keeper: Keeper, rater: Rater | None, llm: Llm | None, *, dry_run: bool, progress: Progress | None = None
) -> Rerated:
    """Rate a space anew; without a rater nothing is done but looking at how ratings are spread."""
    store = keeper.store
    memories = [memory for memory in all_of(store, Gate(true_at=keeper.author.now)) if memory.kind != "reflection"]
    collapse = collapse_of([memory.importance for memory in memories])
    wanted = _wanted(store, memories, collapse) if rater is not None else []
    told = Rerated(len(memories), 0, collapse=collapse, dry_run=dry_run)
    if isinstance(rater, LlmRater):
        return _asked(keeper, wanted, llm, told, progress)
    return _weighed(keeper, rater, memories, wanted, told, progress)


def all_of(store: SpaceStore, gate: Gate) -> Iterator[Memory]:
    """Yield every memory that passes a gate, page by page."""
    after = None
    while page := store.page(gate, limit=PAGE, after=after):
        yield from page
        after = Cursor(page[-1].created_at, page[-1].id)


def _wanted(store: SpaceStore, memories: Sequence[Memory], collapse: Collapse | None) -> list[Memory]:
    """Return those whose importance nobody stated, or that stand in the crowd of a collapsed space."""
    rated = _rated_by_raters(store)
    crowd = collapse.value if collapse is not None and collapse.share >= CROWDED else None
    return [
        memory
        for memory in memories
        if memory.importance == FLAT_IMPORTANCE
        or rated.get(memory.id) == memory.importance
        or (collapse is not None and (crowd is None or abs(memory.importance - crowd) <= APART))
    ]


def _rated_by_raters(store: SpaceStore) -> dict[str, float]:
    """Return what raters gave last, by memory: the journal knows."""
    found: dict[str, float] = {}
    after = 0
    while lines := store.read_journal(after=after, limit=1_000):
        for line in lines:
            if line.reason.startswith(RATED) and line.after is not None:
                given = line.after.get("importance")
                found[line.memory_id] = float(given) if isinstance(given, int | float) else -1.0
        after = lines[-1].sequence
    return found


def _weighed(
    keeper: Keeper,
    rater: Rater | None,
    memories: Sequence[Memory],
    wanted: Sequence[Memory],
    told: Rerated,
    progress: Progress | None,
) -> Rerated:
    """Rate by features, all against the spread of the whole space as it is now."""
    spread = Spread().with_points(points_of(memory) for memory in memories)
    given = {memory.id: importance_of(points_of(memory), spread) for memory in wanted}
    moved = [memory for memory in wanted if given[memory.id] != memory.importance]
    if told.dry_run or rater is None or not moved:
        return Rerated(told.looked_at, len(moved), collapse=told.collapse, dry_run=told.dry_run)
    changed = 0
    for at in range(0, len(moved), PAGE):
        with keeper.store.transaction() as tx:
            tx.set_setting(SETTING, write_spread(spread))
            changed += sum(_move(tx, keeper, memory, given[memory.id], rater.id) for memory in moved[at : at + PAGE])
        if progress is not None:
            progress(min(at + PAGE, len(moved)), len(moved))
    return Rerated(told.looked_at, changed, collapse=told.collapse)


def _move(tx: Transaction, keeper: Keeper, seen: Memory, importance: float, rater: str) -> bool:
    """Give a memory another importance, unless somebody changed it since it was looked at."""
    memory = tx.get(seen.id)
    if memory is None or memory.importance != seen.importance:
        return False
    new = memory.changed(importance=importance, updated_at=keeper.author.now)
    tx.replace(new)
    tx.journal(entry("update", new, keeper.author, before=memory, reason=f"{RATED}{rater!r}"))
    return True


def _asked(
    keeper: Keeper, wanted: Sequence[Memory], llm: Llm | None, told: Rerated, progress: Progress | None
) -> Rerated:
    """Put all to the model, on the queue."""
    taken = usage_of(wanted, llm)
    cost = Cost(taken.calls, taken.input_tokens, taken.output_tokens, taken.cost)
    if not told.dry_run:
        for at in range(0, len(wanted), PAGE):
            with keeper.store.transaction() as tx:
                for memory in wanted[at : at + PAGE]:
                    enqueue_rating(tx, memory)
            if progress is not None:
                progress(min(at + PAGE, len(wanted)), len(wanted))
    return Rerated(told.looked_at, 0, len(wanted), told.collapse, cost, told.dry_run)
