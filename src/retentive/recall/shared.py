"""Filling up an answer from a shared space: behind the caller's own hits, within the same limit and token budget."""

from __future__ import annotations

from dataclasses import replace

from retentive.errors import InvalidInput
from retentive.recall.budget import fit
from retentive.recall.outcome import Outcome
from retentive.recall.pipeline import recall
from retentive.recall.request import Question, Tools
from retentive.stores.protocol import SpaceStore


def filled_up(own: Outcome, question: Question, store: SpaceStore, tools: Tools) -> Outcome:
    """Add what the shared space has to say, as far as there is room; one answer is one budget, not two."""
    selection = question.policy.selection
    room = selection.limit - len(own.hits)
    if room <= 0 or own.compacted is not None:
        return own
    policy = question.policy.replace(limit=room, token_budget=None)
    more = recall(replace(question, policy=policy), store, tools).outcome
    joined = replace(own, hits=own.hits + more.hits, core=own.core + more.core)
    if selection.token_budget is None or not more.hits:
        return joined
    try:
        hits, compacted = fit(joined.hits, selection.token_budget, count_tokens=tools.count_tokens)
    except InvalidInput:  # the own hits fill the budget to the last id
        left_out = f"{len(more.hits)} memories of the shared space did not fit the token budget"
        return replace(own, trace=replace(own.trace, notes=(*own.trace.notes, left_out)))
    return replace(joined, hits=hits, compacted=compacted)
