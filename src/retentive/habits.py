"""What a space has learnt of its own way to recall: a policy of its own.

The verbs are a base of `retentive.Space`, and only delegate. What they need is imported when they are called.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from retentive import space_policy
from retentive.adaptive import book
from retentive.adaptive.book import Adaptation
from retentive.adaptive.decide import undone
from retentive.keeping import Keeper
from retentive.once import done_before, note_done, once_of
from retentive.policy.policy import Policy
from retentive.recalling import policy_of
from retentive.space_policy import Applied
from retentive.stores.protocol import SpaceStore


@dataclass(frozen=True, slots=True)
class InForce:
    """The policy of a recall that names none, and how the space came by it."""

    policy: Policy
    habits: tuple[str, ...] = ()
    own_weights: Mapping[str, float] | None = None  # where weights adapt: those before they were bent


class _Home(Protocol):
    """What is asked of the place that the space is in."""

    policy: Policy


class Habits:
    """The verbs of a space that recalls in its own way."""

    _home: _Home
    path: str

    @property
    @abstractmethod
    def store(self) -> SpaceStore: ...  # noqa: D102 - as in `Space`

    @property
    @abstractmethod
    def _kept(self) -> SpaceStore: ...

    @abstractmethod
    def _keeper(self, store: SpaceStore) -> Keeper: ...

    def _in_force(self) -> InForce:
        """Return the policy of recalls that name none, with what an explanation should say of it."""
        kept = space_policy.own(self._kept)
        if not kept:
            return InForce(self._home.policy)
        own = space_policy.applied(kept, self.path)
        policy, habits = (own.policy, (own.told(),)) if own else (self._home.policy, ())
        adaptation = book.read(kept)
        if not adaptation.on or policy.combine != "sum":
            return InForce(policy, habits)
        known = Adaptation(on=True, learnt=adaptation.about(policy.name, policy.weights))
        return InForce(book.bend(policy, known), (*habits, *known.told()), policy.weights)

    def policy_in_force(self) -> Policy:
        """Return the policy of recalls that name none: this space's own, else the default."""
        return self._in_force().policy

    def applied_policy(self) -> Applied | None:
        """Return the policy that this space has of its own, with when and why; None where the default holds."""
        return space_policy.applied(space_policy.own(self._kept), self.path)

    def apply_policy(self, policy: Policy | str, note: str = "", *, once: str | None = None) -> Applied:
        """Make a policy this space's own: recalls that name none use it, here and after every restart."""
        chosen = policy_of(policy, self._home.policy)
        keeper = self._keeper(self.store)
        asked = once_of(once, "apply_policy", chosen.dump(), note)
        return space_policy.apply(keeper.store, chosen, keeper.author.now, note, asked)

    def adapt(self, *, on: bool = True, reset: bool = False, undo: int = 0, once: str | None = None) -> Adaptation:
        """Let the weights follow feedback in this space, bounded and pulled back toward the policy; or stop it.

        ``reset`` forgets all that was learnt; ``undo`` takes back the latest so many steps.
        """
        if on:
            book.check(self._in_force().policy)
        asked, keeper = once_of(once, "adapt", on, reset, undo), self._keeper(self.store)
        with keeper.store.transaction() as tx:
            known = book.read(space_policy.own(tx))
            if done_before(asked, tx) is not None:
                return known
            learnt = None if reset else known.learnt
            changed = Adaptation(on, undone(learnt, undo) if learnt else None)
            book.write(tx, changed)
            note_done(asked, tx, [], keeper.author.now)
        return changed

    def adaptation(self) -> Adaptation:
        """Return how this space adapts, and what it has learnt so far."""
        return book.read(space_policy.own(self._kept))

    def undo_policy(self, *, once: str | None = None) -> Applied | None:
        """Take back the latest `apply_policy`; returns what is in force of this space's own then, if anything."""
        keeper = self._keeper(self._kept)
        return space_policy.undo(keeper.store, keeper.author.now, once_of(once, "undo_policy"))
