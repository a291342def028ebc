"""What decides how important a memory is that nobody rated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from retentive.stores.protocol import Transaction
from retentive.types import Memory


@runtime_checkable
class Rater(Protocol):
    """Rates what is remembered without an importance. Runs inside the transaction that writes: it must be quick.

    A rater that needs time (a model) rates provisionally in `rate`, and puts a job on the queue in `after`.
    """

    @property
    def id(self) -> str:
        """The name, which the journal notes beside the memory."""

    def rate(self, tx: Transaction, memories: Sequence[Memory], novelty: Sequence[float | None]) -> list[float]:
        """Return an importance of 0..1 for each, in order.

        ``novelty`` says how unlike the space each is, from 0 (said before) to 1; None where nobody measured.
        """

    def after(self, tx: Transaction, memories: Sequence[Memory]) -> None:
        """Do what needs the ids, behind the insertion of those that were rated."""


@runtime_checkable
class CuriousRater(Protocol):
    """Optional: a rater that says for which memories it wants to know how new they are; others are not looked up."""

    def curious(self, memory: Memory) -> bool:
        """Whether the novelty of this memory matters."""
