"""What limits or hides a row at some time: kept of those rows alone, as most have nothing of the kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Places: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

EVER = np.iinfo(np.int64).max  # an end that was not set
NEVER = np.iinfo(np.int64).min  # a beginning that was not set
TIMES = ("valid_from", "valid_until", "superseded", "suppressed")
ABSENT = np.array([[NEVER], [EVER], [EVER], [EVER]], dtype=np.int64)


class Limits:
    """The four times of the places that have any, in the order of places."""

    def __init__(self) -> None:
        self.places: Places = np.empty(0, dtype=np.int64)
        self._times = np.empty((len(TIMES), 0), dtype=np.int64)

    def put(self, places: Places, times: Sequence[Sequence[int | None]]) -> Mask:
        """Set the times of some places, None where there is none; say which of the places have none at all."""
        told = np.array(
            [[absent if value is None else value for value in column]
             for column, absent in zip(times, ABSENT[:, 0].tolist(), strict=True)], dtype=np.int64,
        )  # fmt: skip
        usual: Mask = (told == ABSENT).all(axis=0)
        self.drop(places)
        if not usual.all():
            everywhere = np.concatenate((self.places, places[~usual]))
            order = np.argsort(everywhere, kind="stable")
            self.places = everywhere[order]
            self._times = np.concatenate((self._times, told[:, ~usual]), axis=1)[:, order]
        return usual

    def drop(self, places: Places) -> None:
        """Leave nothing of some places."""
        if len(self.places):
            kept = ~np.isin(self.places, places)
            self.places, self._times = self.places[kept], self._times[:, kept]

    def holding(self, asked: int, known: int) -> Mask:
        """Say which of them hold at a moment, and were neither superseded nor suppressed as far as known then."""
        valid_from, valid_until, superseded, suppressed = self._times
        holds: Mask = (valid_from <= asked) & (asked < valid_until) & (superseded > known) & (suppressed > known)
        return holds

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what it takes to come back."""
        return {"places": self.places, "times": self._times}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Limits:
        """Come back; `ValueError` where the arrays do not fit together."""
        limits = cls()
        limits.places, limits._times = arrays["places"], arrays["times"]  # ours
        if limits._times.shape != (len(TIMES), len(limits.places)) or limits._times.dtype != np.int64:
            raise ValueError("The limits of the derived file have another form.")
        return limits
