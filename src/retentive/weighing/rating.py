"""Rating the drafts of one writing that came without an importance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from retentive.errors import InvalidInput
from retentive.stores.protocol import Transaction
from retentive.types import Memory
from retentive.weighing.protocol import Rater

RATED: Final = "importance by the rater "
"""How the journal line of a memory begins that a rater rated."""


@dataclass(frozen=True, slots=True)
class Rating:
    """Which drafts of a writing are rated, by whom, and how new each is."""

    rater: Rater | None
    places: Sequence[int] = ()
    novelty: Sequence[float | None] = ()

    def rated(self, tx: Transaction, drafts: list[Memory]) -> tuple[list[Memory], list[str]]:
        """Return the drafts with the importance of those that had none, and what the journal notes beside each."""
        if self.rater is None:
            return drafts, [""] * len(drafts)
        given = self.rater.rate(tx, [drafts[at] for at in self.places], self.novelty)
        if len(given) != len(self.places) or not all(0 <= value <= 1 for value in given):
            raise InvalidInput(
                f"The rater {self.rater.id!r} must answer {len(self.places)} numbers of 0..1; it gave {given!r}."
            )
        rated, reasons = list(drafts), [""] * len(drafts)
        for at, importance in zip(self.places, given, strict=True):
            rated[at] = drafts[at].changed(importance=float(importance))
            reasons[at] = f"{RATED}{self.rater.id!r}"
        return rated, reasons

    def finish(self, tx: Transaction, kept: Sequence[Memory]) -> None:
        """Let the rater do what needs the ids."""
        if self.rater is not None:
            self.rater.after(tx, [kept[at] for at in self.places])
