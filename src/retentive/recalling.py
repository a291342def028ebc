"""Asking and writing back: from a caller's arguments to a `Question`, and from an outcome to what the store notes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from retentive.adaptive import book
from retentive.adaptive.decide import Noted, Seen
from retentive.errors import Forbidden, InvalidInput, NotFound, StoreBusy, StoreFull
from retentive.once import once_of
from retentive.policy import presets
from retentive.policy.policy import Policy
from retentive.recall.outcome import Outcome
from retentive.recall.pipeline import Recalled
from retentive.recall.reinforce import touched
from retentive.recall.request import Question
from retentive.recall.stages import Stages, Watch
from retentive.scoring.importance import clamped_feedback
from retentive.scoring.track_record import PROCEDURE, noted
from retentive.stores.protocol import SpaceStore, Transaction
from retentive.types import Access, AgentState, AsOf, Gate, Json, LedgerEntry, Memory, Moment, aware
from retentive.writing import Author, checked_id, checked_metadata, checked_names, entry, writable

LEDGER_KEPT: Final = 10_000
LEDGER_DAYS: Final = 365
TRIM_EVERY: Final = 256  # one write-back in so many also trims the ledger
OUTCOMES: Final = ("good", "bad")
CUE_SETTING: Final = "last_cue"


@dataclass(frozen=True, slots=True)
class Filters:
    """What a caller narrows a recall or a listing to."""

    kinds: Iterable[str] | None = None
    tags: Iterable[str] | None = None
    where: Mapping[str, Json] | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: Moment | None = None


def gate_of(filters: Filters, now: datetime, **more: Any) -> Gate:
    """Turn filters into the gate that every store applies before any limit."""
    true_at, known_at = moments_of(filters.as_of)
    return Gate(
        true_at=true_at or now,
        known_at=known_at,
        kinds=frozenset(checked_names(filters.kinds, "kinds")) if filters.kinds is not None else None,
        tags=frozenset(checked_names(filters.tags, "tags")),
        where=checked_metadata(filters.where),
        since=aware(filters.since, "since") if filters.since is not None else None,
        until=aware(filters.until, "until") if filters.until is not None else None,
        **more,
    )


def moments_of(as_of: Moment | None) -> tuple[datetime | None, datetime | None]:
    """Return when it is to be true and when it was to be known; None is now."""
    if isinstance(as_of, AsOf):
        return as_of.true, as_of.known
    moment = None if as_of is None else aware(as_of, "as_of")
    return moment, moment


def holds(memory: Memory, true_at: datetime | None) -> bool:
    """Whether a memory is true at a moment; None: not asked."""
    if true_at is None:
        return True
    began = memory.valid_from is None or memory.valid_from <= true_at
    return began and (memory.valid_until is None or true_at < memory.valid_until)


def policy_of(policy: Policy | str | None, default: Policy) -> Policy:
    """Accept a preset's name, the path of a TOML file, a policy, or nothing."""
    if policy is None:
        return default
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, str):
        raise InvalidInput(f"policy={policy!r} is no Policy; pass one, a preset's name or a TOML file.", value=policy)
    return Policy.load(policy) if policy.endswith(".toml") else presets.get(policy)


def question_of(
    cue: str | None, state: AgentState | None, utterance: str | None, policy: Policy, filters: Filters, now: datetime
) -> Question:
    """Check that something was asked, and put it into one value."""
    for name, value in (("cue", cue), ("utterance", utterance)):
        if value is not None and not isinstance(value, str):
            raise InvalidInput(f"{name}={value!r} is not a string.", value=value)
        writable(value or "", name)
    if state is not None and not isinstance(state, AgentState):
        raise InvalidInput(f"state={state!r} is no AgentState; pass AgentState(goal=..., step=...).", value=state)
    if not any(part and part.strip() for part in _asked(cue, state, utterance)):
        raise InvalidInput("Nothing was asked: pass a cue, an utterance, or a state with a goal, step or open loops.")
    if state and state.tags and filters.tags is None:
        filters = replace(filters, tags=state.tags)
    return Question(
        policy=policy,
        gate=gate_of(filters, now, pinned=False),
        now=now,
        cue=cue or "",
        utterance=utterance or "",
        state=state,
        session=state.session if state else None,
    )


def _asked(cue: str | None, state: AgentState | None, utterance: str | None) -> list[str | None]:
    asked = [cue, utterance]
    return [*asked, state.goal, state.step, *state.open_loops] if state else asked


def cue_notes(store: SpaceStore, cue: str | None, state: AgentState | None) -> list[str]:
    """Note the cue that an agent gave beside its state, and say so where it stayed the same over a changed state.

    Both are kept as digests in the space, so that the next process of the same agent compares with this one.
    """
    if state is None or not cue:
        return []
    said = {"cue": _digest([cue]), "state": _digest([state.goal, state.step, state.session, *state.open_loops])}
    said["state"] += _digest(list(state.tags))
    last = store.setting(CUE_SETTING)
    if last != said:
        with suppress(StoreBusy, StoreFull, Forbidden), store.transaction() as tx:  # as in `write_back`
            tx.set_setting(CUE_SETTING, dict(said))
    stale = isinstance(last, dict) and last.get("cue") == said["cue"] and last.get("state") != said["state"]
    return ["the cue is the same as last time though the agent's state has changed"] if stale else []


def _digest(parts: Sequence[str | None]) -> str:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=12).hexdigest()


def write_back(
    question: Question, recalled: Recalled, store: SpaceStore, *, touch: bool, watch: Watch | None = None
) -> tuple[str, str | None]:
    """Touch what was returned and note the recall, in one transaction. Returns the recall's id and a note on failure.

    An answer is never lost because it could not be written down: a busy, full or read-only store leaves a note.
    """
    rule, stages = question.policy.reinforcement, Stages(watch)
    if not touch or not (rule.touch or rule.ledger):
        return _recall_id(store, question, recalled.outcome, 0), None
    try:
        with store.transaction() as tx:
            recall_id = _free_id(store, question, recalled.outcome)
            if rule.touch:
                tx.set_access(_accesses(tx, question, recalled.outcome))
            if rule.ledger:
                tx.log_recall(_ledger_entry(recall_id, question, recalled))
                _trim(tx, question.now, recall_id)
            if question.own_weights is not None:
                book.note(tx, _noted(recall_id, question, question.own_weights, recalled))
    except (StoreBusy, StoreFull, Forbidden) as error:
        return _recall_id(store, question, recalled.outcome, 0), f"not written back: {error.message}"
    stages.ended("write")
    return recall_id, None


def _noted(recall_id: str, question: Question, weights: Mapping[str, float], recalled: Recalled) -> Noted:
    """Return an answer as far as it can teach."""
    shown = [
        (hit.memory.id, {name: signal.normalised for name, signal in hit.signals.items()})
        for hit in recalled.outcome.hits
    ]
    seen = [
        [Seen(memory_id, {name: round(values[name], 5) for name in weights}) for memory_id, values in found]
        for found in (shown, recalled.ghosts)
    ]
    return Noted(
        recall_id=recall_id,
        at=question.now.timestamp(),
        cue=recalled.utterance,
        policy=question.policy.name,
        weights=weights,
        shown=tuple(seen[0]),
        ghosts=tuple(seen[1]),
    )


def _accesses(tx: Transaction, question: Question, outcome: Outcome) -> dict[str, Access]:
    """Return the access states that move: of the memories as they stand now, not as they stood when scored."""
    moved = {}
    for hit in outcome.hits:
        memory = tx.get(hit.memory.id)
        if memory is not None:
            access = touched(memory.access, question.now, question.policy.reinforcement)
            if access is not memory.access:
                moved[memory.id] = access
    return moved


def _ledger_entry(recall_id: str, question: Question, recalled: Recalled) -> LedgerEntry:
    hits = recalled.outcome.hits
    return LedgerEntry(
        id=recall_id,
        at=question.now,
        policy=question.policy.name,
        cue=recalled.utterance,
        ids=tuple(hit.memory.id for hit in hits),
        scores=tuple(hit.score for hit in hits),
        cue_vector=recalled.cue_vector,
    )


def _free_id(store: SpaceStore, question: Question, outcome: Outcome) -> str:
    ordinal = 0
    while store.recall_entry(recall_id := _recall_id(store, question, outcome, ordinal)) is not None:
        ordinal += 1
    return recall_id


def _recall_id(store: SpaceStore, question: Question, outcome: Outcome, ordinal: int) -> str:
    """Make an id from what was asked and when, so that a replayed history has the same ids."""
    trace = outcome.trace
    parts = (store.path, question.now.isoformat(), question.policy.name, trace.cue, trace.utterance, str(ordinal))
    return "r" + hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _trim(tx: Transaction, now: datetime, recall_id: str) -> None:
    """Keep the ledger within its limits, on one write-back in `TRIM_EVERY` chosen by the recall's id."""
    if int(recall_id[-2:], 16) % TRIM_EVERY == 0:
        tx.trim_ledger(before=now - timedelta(days=LEDGER_DAYS), keep=LEDGER_KEPT)


def take_feedback(
    store: SpaceStore,
    recall_id: str,
    used: Iterable[str],
    outcome: str | None,
    author: Author,
    *,
    elsewhere: Collection[str] = (),
    answered: Sequence[str] | None = None,
    once: str | None = None,
) -> None:
    """Note what was used and how it went; move the importance of those memories by at most five per cent.

    What was used from ``elsewhere`` (ids of a shared space) is nobody's to move here. ``answered`` is what the recall
    returned, for one that was not noted (``touch=False``); None: only the ledger knows.
    """
    used = checked_names(used, "used")
    chosen = [memory_id for memory_id in used if memory_id not in elsewhere]
    if outcome is not None and outcome not in OUTCOMES:
        raise InvalidInput(f"outcome={outcome!r} is neither 'good' nor 'bad'.", value=outcome)
    asked = once_of(once, "feedback", recall_id, used, outcome)
    with store.transaction() as tx:
        if asked and asked.done(tx.setting(asked.name)) is not None:
            return
        noted = store.recall_entry(checked_id(recall_id))
        if noted is not None:
            tx.log_feedback(recall_id, chosen, outcome)
        elif answered is None and not used:
            raise NotFound(
                f"No recall {recall_id!r} is noted in space {author.space!r}: say which memories were used.",
                id=recall_id,
            )
        returned = noted.ids if noted is not None else answered or ()
        for memory_id in chosen or (returned if outcome and not used else ()):
            memory = tx.get(memory_id)
            if memory is not None:
                _reinforce(tx, memory, outcome or "used", author)
            elif chosen:  # of the recall's own memories one may have been erased since; that is nobody's mistake
                raise NotFound(f"used={memory_id!r}: no memory with this id in {author.space!r}.", id=memory_id)
        if chosen and outcome != "bad":
            book.take_feedback(tx, recall_id, chosen, author.now.timestamp())
        if asked:
            asked.note(tx, chosen, author.now)


def _reinforce(tx: Transaction, memory: Memory, verdict: str, author: Author) -> None:
    moved = memory.changed(importance=float(clamped_feedback(memory.importance, verdict)))
    if memory.kind == PROCEDURE and verdict in OUTCOMES:
        moved = moved.changed(metadata=noted(memory.metadata, verdict))
    if moved != memory:
        tx.replace(moved)
        tx.journal(entry("feedback", moved, author, before=memory, reason=verdict))
