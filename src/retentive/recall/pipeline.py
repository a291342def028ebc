"""The pipeline of policy.md §2, in its order: gates → channels → fusion → signals → normalise → combine → modifiers →
floor → rerank → near-duplicates → rotation → diversity → limit → token budget. It reads; it never writes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from retentive.errors import InvalidInput
from retentive.recall.budget import fit
from retentive.recall.channels import Finding, find
from retentive.recall.cue import Cue, read_cue, with_names
from retentive.recall.evidence import Evidence, gather
from retentive.recall.outcome import ChannelReport, Compacted, Hit, Outcome, Trace, Work
from retentive.recall.proving import prove
from retentive.recall.ranking import Ranked, rank
from retentive.recall.request import Question, Tools
from retentive.recall.rotation import shown_lately
from retentive.recall.selection import Chosen, select
from retentive.recall.shaken import shaken
from retentive.recall.stages import UNWATCHED, Stages
from retentive.recall.succession import succeed
from retentive.recall.updates import newest_claims_first
from retentive.scoring.freshness import tau_for
from retentive.scoring.signals import DAY
from retentive.stores.protocol import SpaceStore
from retentive.types import Gate, Memory, Vectors

CORE_LIMIT: Final = 100  # pinned memories shown in a prompt's core block
GHOSTS: Final = 5  # what is kept of those that the limit cut, where weights adapt
STALE_AFTER: Final = 2.0  # half-lives


@dataclass(frozen=True, slots=True)
class Recalled:
    """An outcome with what the write-back needs to know of the cue."""

    outcome: Outcome
    cue_vector: Vectors
    utterance: str
    ghosts: tuple[
        tuple[str, dict[str, float]], ...
    ] = ()  # just cut, with their normalised signals; where weights adapt


@dataclass(frozen=True, slots=True)
class Worked:
    """A recall with everything that was weighed on the way: what an answer is made of, and `absence` looks through."""

    cue: Cue
    finding: Finding
    ranked: Ranked
    chosen: Chosen
    hits: tuple[Hit, ...]
    compacted: Compacted | None
    core: tuple[Memory, ...]


class Measured(NamedTuple):
    """The candidates of a question with their evidence."""

    cue: Cue
    finding: Finding
    evidence: Evidence


def recall(question: Question, store: SpaceStore, tools: Tools) -> Recalled:
    """Answer one question from one space."""
    stages = Stages(tools.watch)
    worked = work_out(question, store, tools, stages)
    outcome = Outcome(worked.hits, worked.core, worked.compacted, trace_of(question, worked))
    ghosts = _ghosts(worked) if question.own_weights is not None else ()
    return Recalled(outcome, worked.cue.vectors[0], worked.cue.utterance, ghosts)


def _ghosts(worked: Worked) -> tuple[tuple[str, dict[str, float]], ...]:
    """Return the first of what the limit cut, with the numbers that ranked them there."""
    ids = worked.ranked.evidence.columns.ids
    cut = [cut.id for cut in worked.chosen.cuts if cut.stage == "limit"][:GHOSTS]
    places = {memory_id: ids.index(memory_id) for memory_id in cut}
    return tuple(
        (memory_id, {name: signal.normalised for name, signal in worked.ranked.signals(at).items()})
        for memory_id, at in places.items()
    )


def work_out(question: Question, store: SpaceStore, tools: Tools, stages: Stages = UNWATCHED) -> Worked:
    """Find, measure, rank and choose."""
    _require_tags(question)
    cue = read_cue(question, tools)  # the embedder may be far away: it is asked before the store is held
    with store.snapshot():
        cue = with_names(cue, question, store)
        stages.ended("cue")
        finding = find(question, cue, store, stages)
        measured = Measured(cue, finding, gather(question, cue, finding, store, tools))
        stages.ended("evidence")
        at_once = tools.reranker is None  # one may be far away too; without it, all that is read is of one state
        worked = _choose(question, measured, store, tools, stages) if at_once else None
    worked = worked or _choose(question, measured, store, tools, stages)
    hits, compacted = _within_budget(question, cue, worked.hits, tools, worked.chosen.notes)
    stages.ended("budget")
    return replace(worked, hits=hits, compacted=compacted)


def _choose(question: Question, measured: Measured, store: SpaceStore, tools: Tools, stages: Stages) -> Worked:
    """Put the candidates in order, and read those that are the answer."""
    cue, finding, evidence = measured
    ranked = rank(question.policy, cue, evidence)
    succeed(ranked, cue)
    updates = newest_claims_first(ranked, cue, store)
    prove(ranked, store)
    stages.ended("rank")
    chosen = select(ranked, question, cue, store, tools, shown_lately(question, cue, store))
    chosen.notes[:0] = updates
    stages.ended("select")
    hits = _doubted(_hits(ranked, finding, chosen, store), store, question.gate)
    stages.ended("read")
    core = store.page(_core_gate(question.gate), limit=CORE_LIMIT)
    stages.ended("core")
    return Worked(cue, finding, ranked, chosen, hits, None, tuple(core))


def _core_gate(gate: Gate) -> Gate:
    """Pinned memories belong into every prompt, whatever the recall was narrowed to; what is not true stays out."""
    return Gate(true_at=gate.true_at, known_at=gate.known_at, pinned=True)


def _require_tags(question: Question) -> None:
    if question.policy.sources.require_tags and not question.gate.tags:
        raise InvalidInput(
            f"Policy {question.policy.name!r} recalls within a task and needs its tags: pass tags=['...'].",
            policy=question.policy.name,
        )


def _hits(ranked: Ranked, finding: Finding, chosen: Chosen, store: SpaceStore) -> tuple[Hit, ...]:
    found = {memory.id: memory for memory in store.memories(ranked.evidence.columns.rows[chosen.order])}
    ids = ranked.evidence.columns.ids
    return tuple(hit_of(ranked, finding, i, found[ids[i]]) for i in chosen.order if ids[i] in found)


def _doubted(hits: tuple[Hit, ...], store: SpaceStore, gate: Gate) -> tuple[Hit, ...]:
    """Mark the hits that rest on evidence which no longer stands."""
    reasons = shaken([hit.memory for hit in hits], store, gate.known_at)
    return tuple(replace(hit, stale=reasons.get(hit.memory.id, hit.stale)) for hit in hits) if reasons else hits


def hit_of(ranked: Ranked, finding: Finding, i: int, memory: Memory) -> Hit:
    """Return a candidate with its arithmetic laid open."""
    evidence = ranked.evidence
    return Hit(
        memory=memory,
        score=float(ranked.scores[i]),
        similarity=float(evidence.pool.cosine[i]),
        relevance=float(evidence.relevance[i]),
        channels=finding.channels_of(int(evidence.columns.rows[i])),
        signals=ranked.signals(i),
        modifiers=tuple(ranked.modifiers.get(i, ())),
        combine="product" if ranked.policy.combine == "product" else "sum",
        stale=doubt(memory, evidence.pool.now),
    )


def doubt(memory: Memory, now: float) -> str | None:
    """Say why a reader should doubt a memory: two half-lives of its kind have passed since it was said."""
    age_days = (now - memory.created_at.timestamp()) / DAY
    half_life = tau_for(memory.kind)
    if memory.permanent or memory.recurs or age_days <= STALE_AFTER * half_life:
        return None
    return f"{age_days:.0f} days old; what is of kind {memory.kind} counts half after {half_life:g}"


def _within_budget(
    question: Question, cue: Cue, hits: tuple[Hit, ...], tools: Tools, notes: list[str]
) -> tuple[tuple[Hit, ...], Compacted | None]:
    selection = question.policy.selection
    if selection.token_budget is None or not hits:
        return hits, None
    kept, compacted = fit(
        hits,
        selection.token_budget,
        count_tokens=tools.count_tokens,
        cue_terms=cue.terms[0],
        compactor=tools.compactor if selection.compaction == "llm" else None,
        breaker=tools.compactor_breaker,
        notes=notes,
    )
    return tuple(kept), compacted


def trace_of(question: Question, worked: Worked) -> Trace:
    """Say as data why a recall came out as it did."""
    cue, finding, ranked, chosen = worked.cue, worked.finding, worked.ranked, worked.chosen
    intent = cue.intent
    return Trace(
        policy=question.policy.name,
        now=question.now,
        cue=cue.text,
        utterance=cue.utterance,
        clauses=cue.clauses,
        entities=cue.entities,
        intent=None
        if intent is None
        else {
            "phrase": intent.phrase,
            "direction": intent.direction,
            "start": intent.start.isoformat() if intent.start else None,
            "end": intent.end.isoformat() if intent.end else None,
        },
        channels=_reports(finding),
        weights=ranked.weights,
        cut=tuple(chosen.cuts),
        work=_work(finding, ranked.evidence),
        habits=question.habits,
        notes=tuple(chosen.notes),
    )


def _reports(finding: Finding) -> dict[str, ChannelReport]:
    reports: dict[str, ChannelReport] = {}
    for name, found in finding.lists:
        before = reports.get(name, ChannelReport(0, 0))
        best = max([float(found.scores.max()), *([before.best] if before.best is not None else [])])
        reports[name] = ChannelReport(before.found + len(found.rows), before.scanned + found.scanned, best)
    return reports


def _work(finding: Finding, evidence: Evidence) -> Work:
    return Work(
        rows_scanned=sum(found.scanned for _, found in finding.lists),
        candidates=len(finding.rows),
        candidates_scored=len(evidence.columns),
        texts_read=len(evidence.texts),
    )
