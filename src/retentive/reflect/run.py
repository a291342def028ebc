"""Reflecting on a space: claim it, conclude, and store insights and the reset counter in one transaction.

The counter is no number that every write has to move: it is a place in the journal, and the pressure is what was
remembered behind it. A process that dies half-way leaves a claim that runs out; the counter moves only together with
the insights, so nothing is skipped and nothing is concluded twice.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final, Protocol

import numpy as np

from retentive.embedders.protocol import Calibrated, checked_vectors
from retentive.errors import LlmFailed
from retentive.indexing import passage
from retentive.keeping import Keeper
from retentive.recall.request import Tools
from retentive.recall.shaken import shaken
from retentive.reflect.decide import (
    LOOKED_AT,
    SAME,
    Claim,
    Insight,
    Mark,
    Refused,
    Standing,
    believed,
    checked_budget,
    extracted,
    origin,
    read_standing,
    supported,
    themes,
    threshold,
    weight,
    why_not,
    write_standing,
)
from retentive.reflect.outcome import NOTHING, Cost, Reflection, Shaken
from retentive.stores.protocol import Cursor, SpaceStore, Transaction
from retentive.text.sameness import folded
from retentive.types import Draft, Gate, JournalEntry, Memory, Vectors
from retentive.writing import memory_of

SETTING: Final = "reflection"
EXTRACTIVE: Final = "extractive"
_JOURNAL_PAGE: Final = 1000
_JOURNAL_LOOK: Final = 50  # lines at a time where a few are likely enough
_PAGE: Final = 500
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Concluded:
    """What a way of reflecting came to, before it is checked; ``shown`` is all it may name as evidence."""

    method: str
    insights: tuple[Insight, ...]
    shown: frozenset[str]
    questions: tuple[str, ...] = ()
    cost: Cost = NOTHING
    notes: tuple[str, ...] = ()


class Way(Protocol):
    """A way of reflecting on the latest memories."""

    def conclude(self, memories: Sequence[Memory], progress: Progress | None) -> Concluded:
        """Return what they add up to; reads, and never writes. Raises `LlmFailed` where a model failed it."""

    def cost(self, memories: Sequence[Memory]) -> Cost:
        """Return what that would take at most."""


class Extractive:
    """The way without a language model: themes that several memories share, each quoted from one of them."""

    def __init__(self, store: SpaceStore, tools: Tools) -> None:
        self._store, self._tools = store, tools

    def conclude(self, memories: Sequence[Memory], progress: Progress | None) -> Concluded:
        """Gather the memories that no earlier reflection rests on into themes."""
        fresh = self._fresh(memories)
        if not fresh:
            return Concluded(EXTRACTIVE, (), frozenset())
        kept = self._store.vectors([memory.id for memory in fresh])
        fresh = [memory for memory in fresh if memory.id in kept]
        embedder = self._tools.embedder
        alike = threshold(embedder.band if isinstance(embedder, Calibrated) else None)
        importance = np.array([memory.importance for memory in fresh])
        found = themes(np.array([kept[memory.id] for memory in fresh]), importance, alike)
        if progress is not None:
            progress(1, 1)
        return Concluded(
            EXTRACTIVE, tuple(extracted(theme, fresh) for theme in found), frozenset(memory.id for memory in fresh)
        )

    def _fresh(self, memories: Sequence[Memory]) -> list[Memory]:
        used = {name for memory in memories if memory.kind == "reflection" for name in memory.derived_from}
        return [memory for memory in memories if memory.kind != "reflection" and memory.id not in used]

    def cost(self, memories: Sequence[Memory]) -> Cost:  # noqa: ARG002 -- the protocol's argument
        """Return nothing: no model is asked."""
        return NOTHING


def reflect(
    keeper: Keeper,
    tools: Tools,
    way: Way | None,
    *,
    force: bool = False,
    budget: float | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Reflection:
    """Reflect if it is due. ``way`` is how; None, or a model that fails, is the extractive way."""
    return _Run(keeper, tools, way, progress).reflect(budget, force=force, dry_run=dry_run)


def gathered(store: SpaceStore, mark: Mark, enough: float = inf) -> tuple[Mark, float]:
    """Return where the journal ends, and what has gathered behind the mark; where it is enough, no more is read.

    A mark that came with an import of another history names a line that is not there: its time counts then.
    """
    held = not mark.sequence or any(map(mark.is_at, store.read_journal(after=mark.sequence - 1, limit=1)))
    end = mark if held else Mark()
    pressure = 0.0
    page = _JOURNAL_PAGE if enough == inf else _JOURNAL_LOOK
    while pressure < enough and (lines := store.read_journal(after=end.sequence, limit=page)):
        late = [line for line in lines if held or mark.at is None or line.at > mark.at]
        pressure += sum(map(weight, late))
        end = Mark(lines[-1].sequence, lines[-1].at, lines[-1].memory_id)
    return end, round(pressure, 6)


def list_shaken(store: SpaceStore, gate: Gate) -> list[Shaken]:
    """Return every insight that stands while its evidence does not, newest first."""
    insights = list(_every(store, replace(gate, kinds=frozenset({"reflection"}))))
    reasons = shaken(insights, store, gate.known_at)
    return [Shaken(memory, reasons[memory.id]) for memory in insights if memory.id in reasons]


def _every(store: SpaceStore, gate: Gate) -> Iterator[Memory]:
    after = None
    while page := store.page(gate, limit=_PAGE, after=after):
        yield from page
        after = Cursor(page[-1].created_at, page[-1].id)


class _Run:
    def __init__(self, keeper: Keeper, tools: Tools, way: Way | None, progress: Progress | None) -> None:
        self._keeper = keeper
        self._store = keeper.store
        self._author = keeper.author
        self._tools = tools
        self._fallback = Extractive(self._store, tools)
        self._way = way or self._fallback
        self._progress = progress
        self._gate = Gate(true_at=self._author.now)

    def reflect(self, budget: float | None, *, force: bool, dry_run: bool) -> Reflection:
        """Claim, conclude, keep; or say why not."""
        self._keeper.check_embedder()
        standing = self._standing(budget, keep=not dry_run)
        mark, pressure = gathered(self._store, standing.mark)
        refusal = why_not(standing, pressure, self._author.now, force=force)
        told = Reflection(fired=False, reason=refusal or "due", pressure=pressure, budget=standing.budget)
        if dry_run:
            return replace(told, cost=self._way.cost(self._latest()), shaken=self._shaken())
        claim = self._claim(standing) if refusal is None else None
        if claim is None:
            return replace(told, reason=refusal or "another run is reflecting on this space", shaken=self._shaken())
        try:
            reflection = self._concluded(replace(claim, mark=mark), told)
        finally:
            self._release(claim)
        return replace(reflection, shaken=self._shaken())

    def _standing(self, budget: float | None, *, keep: bool) -> Standing:
        """Read what the space keeps; a budget that is given becomes the space's own."""
        standing = read_standing(self._store.setting(SETTING))
        if budget is None or checked_budget(budget) == standing.budget:
            return standing
        if not keep:
            return replace(standing, budget=float(budget))
        with self._store.transaction() as tx:
            standing = replace(read_standing(tx.setting(SETTING)), budget=float(budget))
            tx.set_setting(SETTING, write_standing(standing))
        return standing

    def _latest(self) -> list[Memory]:
        return self._store.page(self._gate, limit=LOOKED_AT)

    def _claim(self, standing: Standing) -> Standing | None:
        """Take the space for this run; None if another was first."""
        claimed = replace(standing, claim=Claim(secrets.token_hex(8), self._author.now))
        with self._store.transaction() as tx:
            if read_standing(tx.setting(SETTING)) != standing:
                return None
            tx.set_setting(SETTING, write_standing(claimed))
        return claimed

    def _release(self, claim: Standing) -> None:
        """Let go of a claim that is still ours: a run that failed must not keep others waiting for its lease."""
        with self._store.transaction() as tx:
            now = read_standing(tx.setting(SETTING))
            if now.claim is not None and now.claim == claim.claim:
                tx.set_setting(SETTING, write_standing(replace(now, claim=None)))

    def _concluded(self, claim: Standing, told: Reflection) -> Reflection:
        memories = self._latest()
        notes: tuple[str, ...] = ()
        try:
            found = self._way.conclude(memories, self._progress)
        except LlmFailed as failure:
            notes = (f"the language model failed, so this is an extractive reflection: {failure.message}",)
            found = self._fallback.conclude(memories, self._progress)
        notes = (*found.notes, *notes)
        told = replace(told, method=found.method, questions=found.questions, cost=found.cost, notes=notes)
        return self._keep(claim, found, told)

    def _keep(self, claim: Standing, found: Concluded, told: Reflection) -> Reflection:
        """Check every insight against what stands now, and store what holds, with the counter reset."""
        checked = [supported(insight, found.shown) for insight in found.insights]
        refused = [item for item in checked if isinstance(item, Refused)]
        drafts = [self._draft(item, found.method) for item in checked if isinstance(item, Insight)]
        vectors = checked_vectors(self._tools.embedder, [passage(draft) for draft in drafts]) if drafts else ()
        doubts = {item.memory.id for item in self._shaken()}
        kept: list[Memory] = []
        taken: list[tuple[str, Vectors]] = []
        with self._store.transaction() as tx:
            if read_standing(tx.setting(SETTING)).claim != claim.claim:
                return replace(told, reason="the lease ran out and another run took over")
            if drafts:
                self._keeper.stamp(tx)
            for draft, vector in zip(drafts, vectors, strict=True):
                outcome = self._admitted(tx, draft, vector, taken, doubts)
                if isinstance(outcome, Refused):
                    refused.append(outcome)
                else:
                    kept.append(self._keeper.insert(tx, outcome, vector))
                    taken.append((folded(outcome.text), vector))
            self._close(tx, claim.mark, told, len(kept))
        return replace(told, fired=True, reason=told.reason, insights=tuple(kept), refused=tuple(refused))

    def _draft(self, insight: Insight, method: str) -> Memory:
        return memory_of(
            Draft(
                insight.text,
                kind="reflection",
                importance=insight.importance,
                source=f"reflection:{method}",
                derived_from=insight.evidence,
                metadata={"method": method},
            ),
            self._author,
        )

    def _admitted(
        self, tx: Transaction, draft: Memory, vector: Vectors, taken: Sequence[tuple[str, Vectors]], doubts: set[str]
    ) -> Memory | Refused:
        """Settle one insight in the transaction: its evidence as it stands now, its trust, and whether it is new."""
        found = [tx.get(name) for name in draft.derived_from]
        evidence = [memory for memory in found if memory is not None and memory.retrievable]
        if not evidence:
            return Refused(draft.text, "its evidence is gone")
        words = folded(draft.text)
        if any(words == other or float(vector @ near) > SAME for other, near in taken):
            return Refused(draft.text, "this run concluded it already")
        before = self._same(words, vector)
        if before is not None and before.id not in doubts:
            return Refused(draft.text, f"{before.id} says it already")
        return draft.changed(
            derived_from=tuple(memory.id for memory in evidence),
            trust=believed(evidence),
            metadata={**draft.metadata, **origin(evidence)},
            supersedes=() if before is None else (before.id,),
        )

    def _same(self, words: str, vector: Vectors) -> Memory | None:
        """Return an earlier insight that says the same."""
        gate = replace(self._gate, kinds=frozenset({"reflection"}))
        like = self._store.memories(self._store.nearest(vector, gate, 5).rows)
        vectors = self._store.vectors([memory.id for memory in like])
        for memory in like:
            if folded(memory.text) == words or float(vector @ vectors.get(memory.id, 0 * vector)) > SAME:
                return memory
        return None

    def _close(self, tx: Transaction, mark: Mark, told: Reflection, kept: int) -> None:
        """Reset the counter: what gathers from here on is behind the new mark."""
        tx.set_setting(SETTING, write_standing(replace(read_standing(tx.setting(SETTING)), mark=mark, claim=None)))
        reason = f"{told.method}: {told.pressure:g} of {told.budget:g} points of importance, {kept} insights"
        tx.journal(JournalEntry(self._author.now, "reflect", "", self._author.actor, reason))

    def _shaken(self) -> tuple[Shaken, ...]:
        return tuple(list_shaken(self._store, self._gate))
