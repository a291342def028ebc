"""Rating without a model: points from the words and from what is new about them, calibrated to the space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from retentive.stores.protocol import Transaction
from retentive.types import Memory
from retentive.weighing.calibrate import importance_of, read_spread, write_spread
from retentive.weighing.features import weigh

SETTING: Final = "importance"
KIND_POINTS: Final = {"decision": 1.0, "procedure": 0.5, "preference": 0.5, "relation": 0.5, "episode": -0.5}
"""What a kind says beside the words: whoever calls something a decision has said why it matters."""
WORTH_ASKING: Final = 7.0  # points from which the space is asked whether it was said before: that costs a search
NOVELTY_POINTS: Final = 1.0  # what lies between a repetition and something new


def points_of(memory: Memory, novelty: float | None = None) -> float:
    """Return the points of a memory on the 1-10 scale, before calibration; ``novelty`` is 0..1, if measured."""
    others = [name for name in memory.entities if not memory.speaker or name not in memory.speaker.casefold()]
    points = weigh(memory.text, len(others)) + KIND_POINTS.get(memory.kind, 0.0)
    return points if novelty is None else points + NOVELTY_POINTS * (novelty - 1)


class OfflineRater:
    """Rates by features of the text, and by how they stand among the space's own."""

    id = "offline"

    def curious(self, memory: Memory) -> bool:
        """Whether it matters that something was said before: a repetition of small talk is small talk in any case."""
        return points_of(memory) >= WORTH_ASKING

    def rate(self, tx: Transaction, memories: Sequence[Memory], novelty: Sequence[float | None]) -> list[float]:
        """Return an importance for each, counting them into the space's spread."""
        points = [points_of(memory, new) for memory, new in zip(memories, novelty, strict=True)]
        spread = read_spread(tx.setting(SETTING)).with_points(points)
        tx.set_setting(SETTING, write_spread(spread))
        return [importance_of(value, spread) for value in points]

    def after(self, tx: Transaction, memories: Sequence[Memory]) -> None:
        """Do nothing more."""
