"""Selection: floor → rerank → near-duplicates → rotation → diversity → limit.

Rotation stands before MMR and quotas rather than behind them: it changes scores, and those two read scores. Collapsing
near-duplicates stands before rotation, so that a duplicate cannot slip in because its better twin was shown just now.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from retentive.recall.cue import Cue
from retentive.recall.outcome import Cut, Modifier
from retentive.recall.ranking import Ranked
from retentive.recall.request import Question, Tools
from retentive.recall.rerank import rerank
from retentive.recall.retelling import retold
from retentive.scoring.diversity import balanced_kinds, category_quota, collapse_near_duplicates, mmr
from retentive.stores.protocol import SpaceStore
from retentive.text.tokens import identifiers
from retentive.types import Memory

ROTATION: Final = 0.5
RERANKED: Final = 20  # the cross-encoder reads at most this many
CUTS_SHOWN: Final = 50
_DIVERSITY_POOL: Final = 40  # comparisons of all with all look at the best so many
_DIVERSITY_SHARE: Final = 4  # or at so many times the limit


@dataclass(slots=True)
class Chosen:
    """The answer in the making: positions best first, with what was cut on the way."""

    order: list[int]
    ranking: list[int] = field(default_factory=list)  # the order before the limit cut it
    cuts: list[Cut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def select(
    ranked: Ranked, question: Question, cue: Cue, store: SpaceStore, tools: Tools, rotated: Mapping[str, str]
) -> Chosen:
    """Choose from the ranked candidates. ``rotated`` maps ids shown lately to the reason in words."""
    chosen = Chosen(ranked.order())
    _floor(ranked, question, chosen)
    _rerank(ranked, question, cue, store, tools, chosen)
    _collapse(ranked, question, store, chosen)
    _rotate(ranked, cue, store, rotated, chosen)
    _diversify(ranked, question, chosen)
    _limit(ranked, question, chosen)
    return chosen


def _cut(ranked: Ranked, chosen: Chosen, stage: str, gone: Iterable[tuple[int, str]]) -> None:
    ids, scores = ranked.evidence.columns.ids, ranked.scores
    chosen.cuts += [Cut(ids[i], stage, reason, float(scores[i])) for i, reason in gone]


def _floor(ranked: Ranked, question: Question, chosen: Chosen) -> None:
    """Drop what lies below the absolute floor; an empty answer is right when nothing is relevant."""
    selection = question.policy.selection
    if selection.floor is None:
        return
    floor = selection.floor
    values = (ranked.scores if selection.floor_on == "score" else ranked.evidence.relevance)[chosen.order]
    low = values < floor
    below, told = np.array(chosen.order)[low].tolist(), values[low].tolist()
    why = f"{selection.floor_on} %.3f < {floor:g}"
    _cut(ranked, chosen, "floor", [(i, why % value) for i, value in zip(below, told, strict=True)])
    if below and len(below) == len(chosen.order):
        chosen.notes.append(f"nothing reached the {selection.floor_on} floor of {floor:g}: the answer is empty")
    chosen.order = np.array(chosen.order)[~low].tolist()


def _rerank(ranked: Ranked, question: Question, cue: Cue, store: SpaceStore, tools: Tools, chosen: Chosen) -> None:
    """Let a cross-encoder reorder the top by handing the blend's own scores out anew; on any failure leave it be."""
    if tools.reranker is None or not chosen.order or not question.policy.selection.rerank_ms:
        return
    top = chosen.order[:RERANKED]
    memories = store.memories(ranked.evidence.columns.rows[top])
    if len(memories) != len(top):
        chosen.notes.append("rerank skipped: a candidate was erased meanwhile")
        return
    texts = [memory.text for memory in memories]
    deadline = question.policy.selection.rerank_ms
    result = rerank(tools.reranker, cue.utterance, texts, deadline_ms=deadline, breaker=tools.breaker)
    if result.note:
        chosen.notes.append(result.note)
    if result.order is not None:
        wanted = [top[i] for i in result.order]
        chosen.order = [*_handed_out(ranked, top, wanted), *chosen.order[len(top) :]]


def _handed_out(ranked: Ranked, top: list[int], wanted: list[int]) -> list[int]:
    """Give the best score to the first wanted and so on; one that no score can reach (trusted 0) goes to the end."""
    product = ranked.policy.combine == "product"
    factors = {i: math.prod(modifier.factor for modifier in ranked.modifiers.get(i, ())) for i in top}
    fixed = [i for i in wanted if (ranked.scores[i] <= 0 if product else factors[i] == 0)]
    moved = [i for i in wanted if i not in fixed]
    scores = sorted((float(ranked.scores[i]) for i in moved), reverse=True)
    amounts = np.zeros(len(ranked.scores))
    for i, score in zip(moved, scores, strict=True):
        if product:
            ranked.multiply(i, Modifier("rerank", score / float(ranked.scores[i]), "the cross-encoder's order"))
        else:
            amounts[i] = (score - ranked.scores[i]) / factors[i]
    if not product:
        ranked.add("rerank", amounts)
    return [*moved, *fixed]


def _collapse(ranked: Ranked, question: Question, store: SpaceStore, chosen: Chosen) -> None:
    """Keep of near-duplicates of one kind only the best, and of a turn and what was taken from it."""
    threshold = question.policy.selection.near_duplicate
    if threshold is None or len(chosen.order) < 2:
        return
    columns = ranked.evidence.columns
    head, tail = _head(question, chosen.order)
    kinds = [columns.kinds[i] for i in head]
    kept, dropped = collapse_near_duplicates(range(len(head)), columns.vectors[head], kinds, threshold)
    repeats = ((head[i], f"says what {columns.ids[head[j]]} says") for i, j in dropped.items())
    _cut(ranked, chosen, "near-duplicate", repeats)
    left = [head[i] for i in kept]
    repeats_of = retold(ranked, left, store)
    _cut(ranked, chosen, "near-duplicate", ((i, f"retells {columns.ids[j]}") for i, j in repeats_of.items()))
    chosen.order = [*(i for i in left if i not in repeats_of), *tail]


def _head(question: Question, order: list[int]) -> tuple[list[int], list[int]]:
    """Split off the best, which alone can reach the answer: bounded work for whatever compares all with all."""
    size = max(_DIVERSITY_POOL, _DIVERSITY_SHARE * question.policy.selection.limit)
    return order[:size], order[size:]


def _rotate(ranked: Ranked, cue: Cue, store: SpaceStore, rotated: Mapping[str, str], chosen: Chosen) -> None:
    """Halve what was shown within the hour, unless the cue names it exactly."""
    ids = ranked.evidence.columns.ids
    shown = [i for i in chosen.order if ids[i] in rotated]
    if not shown:
        return
    memories = store.memories(ranked.evidence.columns.rows[shown])
    named = {memory.id for memory in memories if names(cue, memory)}
    for i in shown:
        if ids[i] not in named:
            ranked.multiply(i, Modifier("rotation", ROTATION, rotated[ids[i]]))
    chosen.order = ranked.again(chosen.order)


def names(cue: Cue, memory: Memory) -> bool:
    """Whether the cue names this very memory: by id, by key, by an identifier in it, or word for word."""
    if any(name and _says(cue.utterance, name) for name in (memory.id, memory.key, memory.text.strip())):
        return True
    return bool(cue.identifiers and cue.identifiers & identifiers(memory.text))


def _says(utterance: str, name: str) -> bool:
    """Whether whole words of the utterance are this name: the id "1" is not in "2021", nor "tea" in "steak"."""
    asked, wanted = utterance.casefold(), name.casefold()
    at = asked.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        before, behind = asked[max(at - 1, 0) : at], asked[end : end + 1]
        if not (before.isalnum() and wanted[0].isalnum()) and not (behind.isalnum() and wanted[-1].isalnum()):
            return True
        at = asked.find(wanted, end)
    return False


def _diversify(ranked: Ranked, question: Question, chosen: Chosen) -> None:
    """MMR, or at most half the answer of one kind while others wait (`balanced`: while others are nearly as good)."""
    selection = question.policy.selection
    if selection.diversity == "none" or len(chosen.order) < 2:
        return
    head, _ = _head(question, chosen.order)
    columns = ranked.evidence.columns
    if selection.diversity == "mmr":
        picked = mmr(ranked.scores[head], columns.vectors[head], selection.limit, selection.balance)
        first = [head[i] for i in picked]
    elif selection.diversity == "balanced":
        first = balanced_kinds(head, ranked.scores, columns.kinds, selection.limit)
    else:
        first = category_quota(head, columns.kinds, selection.limit)
    taken = set(first)
    passed = [i for i in head[: selection.limit] if i not in taken]
    _cut(ranked, chosen, "diversity", ((i, f"gave way under {selection.diversity}") for i in passed))
    gone = taken | set(passed)
    chosen.order = first + [i for i in chosen.order if i not in gone]


def _limit(ranked: Ranked, question: Question, chosen: Chosen) -> None:
    limit = question.policy.selection.limit
    chosen.ranking = chosen.order
    beyond = list(enumerate(chosen.order[limit : limit + CUTS_SHOWN], limit + 1))
    chosen.order = chosen.order[:limit]
    turned = {i: why for _, i in beyond if i in ranked.modifiers and (why := _rotated_out(ranked, i, chosen.order))}
    _cut(ranked, chosen, "rotation", ((i, f"{turned[i]}, and so ranked {at}") for at, i in beyond if i in turned))
    _cut(ranked, chosen, "limit", ((i, f"ranked {at} with a limit of {limit}") for at, i in beyond if i not in turned))


def _rotated_out(ranked: Ranked, i: int, kept: list[int]) -> str | None:
    """Say why a candidate was shown lately, if without the halving it would have stood above the last one kept."""
    why = next((one.reason for one in ranked.modifiers.get(i, ()) if one.name == "rotation"), None)
    return why if why and kept and ranked.scores[i] / ROTATION > ranked.scores[kept[-1]] else None
