"""One answer over several spaces that a caller names: each is asked on its own, and only what is returned is touched.

There is no search over a store: whoever comes here has said which spaces, by exact paths. Scores are compared between
the spaces, which policies with absolute scores (the default one) allow; under `minmax` each space's best counts alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from retentive.errors import NotFound
from retentive.keeping import Keeper
from retentive.maintain.decide import PruneRules
from retentive.policy.policy import Policy
from retentive.recall.outcome import Hit
from retentive.recall.pipeline import Recalled, recall
from retentive.recall.request import Question, Tools
from retentive.recalling import Filters, policy_of, question_of, write_back
from retentive.stores.protocol import SpaceStore, Store
from retentive.types import Json


class Home(Protocol):
    """What is asked of `retentive.Retentive`."""

    store: Store
    policy: Policy
    actor: str
    kinds: set[str]
    pruning: PruneRules

    @property
    def tools(self) -> Tools:
        """The models that recalls use."""

    def tools_in(self, store: SpaceStore) -> Tools:
        """Return them for one space, with its language."""

    def now(self) -> datetime:
        """Read the clock."""


@dataclass(frozen=True, slots=True)
class Place:
    """One space to look in, and which of its memories may be found there."""

    path: str
    where: Mapping[str, Json] = field(default_factory=dict)
    ids: Collection[str] | None = None
    hidden: bool = False  # also what is expired, superseded or suppressed: then `ids` say which of them


@dataclass(frozen=True, slots=True)
class _Answer:
    question: Question
    recalled: Recalled
    store: SpaceStore


def recall_across(
    home: Home,
    cue: str,
    places: Iterable[Place],
    *,
    policy: Policy | str | None = None,
    limit: int,
    offset: int = 0,
    touch: bool = True,
) -> list[Hit]:
    """Return the best hits of all places together, best first, beginning behind ``offset``.

    Pinned memories are found like any other: whoever asks here has no core block to show them in.
    """
    if limit < 1:
        return []
    chosen = policy_of(policy, home.policy).replace(limit=offset + limit)
    answers = [answer for place in places if (answer := _ask(home, cue, place, chosen)) is not None]
    hits = [(hit, answer) for answer in answers for hit in answer.recalled.outcome.hits]
    hits.sort(key=lambda found: (-found[0].score, -found[0].memory.created_at.timestamp(), found[0].memory.id))
    returned = hits[offset : offset + limit]
    for answer in answers if touch else ():
        _note(answer, [hit for hit, of in returned if of is answer])
    return [hit for hit, _ in returned]


def _ask(home: Home, cue: str, place: Place, policy: Policy) -> _Answer | None:
    """Recall from one space without a trace; None where there is no such space."""
    try:
        store = home.store.open(place.path, create=False)
    except NotFound:
        return None
    now = home.now()
    Keeper(store, lambda: home.tools, now, home.actor, home.kinds, home.pruning).check_embedder()
    question = question_of(cue, None, None, policy, Filters(where=place.where), now)
    ids = None if place.ids is None else frozenset(place.ids)
    question = replace(question, gate=replace(question.gate, ids=ids, pinned=None, hidden=place.hidden))
    return _Answer(question, recall(question, store, home.tools_in(store)), store)


def _note(answer: _Answer, hits: list[Hit]) -> None:
    outcome = replace(answer.recalled.outcome, hits=tuple(hits))
    write_back(answer.question, replace(answer.recalled, outcome=outcome), answer.store, touch=True)
