"""Where evidence goes that does not come up: never among the candidates, ranked too low, or cut, and by what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from retentive.evaluate.datasets import Question
from retentive.recall.channels import find
from retentive.recall.cue import read_cue, with_names
from retentive.recall.evidence import gather
from retentive.recalling import Filters, question_of

if TYPE_CHECKING:
    from retentive.answer import Recall
    from retentive.recall.outcome import Hit
    from retentive.recall.request import Tools
    from retentive.stores.protocol import SpaceStore

CAME_UP: Final = "came up"
NEVER: Final = "never recalled"
RANKING: Final = "lost in ranking"
STAGES: Final = {
    "limit": RANKING,
    "diversity": "gave way to another kind",
    "floor": "cut by the floor",
    "near-duplicate": "taken for a near-duplicate",
    "rotation": "rotated out",
}
PLACES: Final = (NEVER, RANKING, *(name for stage, name in STAGES.items() if stage != "limit"))


def lost(
    recall: Recall, question: Question, names: Mapping[str, str], store: SpaceStore, tools: Tools
) -> dict[str, str]:
    """Return where each piece of evidence went that is not in the answer, by the set's own ids."""
    shown = {names[hit.memory.id] for hit in recall}
    shown |= {names[one] for one in recall.compacted.ids} if recall.compacted else set()
    missing = question.gold - shown
    if not missing:
        return {}
    cut = {names[one.id]: STAGES[one.stage] for one in recall.trace.cut}
    gone = {one: cut[one] for one in missing if one in cut}
    if len(gone) == len(missing):
        return gone
    found = {names[one] for one in candidates(recall, question, store, tools)}
    return gone | {one: RANKING if one in found else NEVER for one in sorted(missing - set(gone))}


def candidates(recall: Recall, question: Question, store: SpaceStore, tools: Tools) -> tuple[str, ...]:
    """Return the ids of all that was scored: a trace shows only the best of those that did not make the answer."""
    asked = question_of(question.text, None, None, recall.policy, Filters(), question.at)
    cue = with_names(read_cue(asked, tools), asked, store)
    return gather(asked, cue, find(asked, cue, store), store, tools).columns.ids


def parts(recall: Recall, question: Question, names: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return the mean contribution of each signal: over the evidence in the answer, and over the rest of it."""
    gold = [hit for hit in recall if names[hit.memory.id] in question.gold]
    others = [hit for hit in recall if names[hit.memory.id] not in question.gold]
    return {name: _means(hits) for name, hits in (("evidence", gold), ("others", others)) if hits}


def _means(hits: Iterable[Hit]) -> dict[str, float]:
    rows = [{name: signal.contribution for name, signal in hit.signals.items()} for hit in hits]
    return {name: sum(row.get(name, 0.0) for row in rows) / len(rows) for name in rows[0]}
