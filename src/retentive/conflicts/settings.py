"""What is done about what is noticed when a memory is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from retentive.errors import InvalidInput, unknown_name

Mode = Literal["apply", "list", "off"]
Repeated = Literal["merge", "keep"]
MODES: Final = ("apply", "list", "off")
REPEATED: Final = ("merge", "keep")


@dataclass(frozen=True, slots=True)
class Noticing:
    """What is looked for when something is remembered, and from where on it is acted upon.

    ``mode`` is for conflicts: those at least as sure as ``apply_from`` retire the older memory and the others are
    listed ("apply"), all are only listed ("list"), or none is looked for ("off"). ``repetitions`` of what is known
    already reinforce it ("merge"), or are kept beside it ("keep").
    """

    mode: Mode = "apply"
    apply_from: float = 0.9
    repetitions: Repeated = "merge"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise unknown_name("mode of conflicts", self.mode, MODES)
        if self.repetitions not in REPEATED:
            raise unknown_name("way with repetitions", self.repetitions, REPEATED)
        given: object = self.apply_from
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
            raise InvalidInput(f"apply_from={given!r} is not a number of 0..1.", value=given)

    @property
    def idle(self) -> bool:
        """Whether nothing at all is looked for."""
        return self.mode == "off" and self.repetitions == "keep"


NOTICING: Final = Noticing()
EVERYTHING_KEPT: Final = Noticing(mode="off", repetitions="keep")
