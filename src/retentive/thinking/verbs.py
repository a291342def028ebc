"""Verbs that think: bases of `retentive.Retentive` and `retentive.Space` that only delegate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from retentive.errors import InvalidInput
from retentive.keeping import Keeper
from retentive.llm.protocol import Llm
from retentive.recall.request import Tools
from retentive.stores.protocol import SpaceStore
from retentive.thinking.pulse import REFLECTIONS, Pulses
from retentive.weighing.catalogue import AUTO, checked_rater, resolve_rater
from retentive.weighing.protocol import Rater

if TYPE_CHECKING:
    from retentive.thinking.again import Rerated

Progress = Callable[[int, int], None]


class HomeThinking:
    """What a place of memories thinks with."""

    _rater_named: Rater | str = AUTO
    _pulses: Pulses

    @property
    @abstractmethod
    def tools(self) -> Tools:
        """The models that recalls use."""

    @property
    @abstractmethod
    def llm(self) -> Llm | None:
        """The language model in use."""

    @property
    def rater(self) -> Rater | str:
        """Who says how important a memory is when nobody does: "auto", "flat", "offline", "llm", or one of your own."""
        return self._rater_named

    @rater.setter
    def rater(self, rater: Rater | str | None) -> None:
        self._rater_named = checked_rater(rater)

    @property
    def reflections(self) -> str:
        """What happens where enough importance has gathered: "queue" puts a reflection on the queue, "off" nothing."""
        return self._pulses.mode

    @reflections.setter
    def reflections(self, mode: str) -> None:
        if mode not in REFLECTIONS:
            raise InvalidInput(f"reflections={mode!r} is none of {', '.join(map(repr, REFLECTIONS))}.", value=mode)
        self._pulses.mode = mode

    @property
    def rater_in_use(self) -> Rater | None:
        """Return the rater that the name stands for here; None where everything has the same importance."""
        return resolve_rater(self._rater_named, reads_prose=self.tools.windows is not None, llm=lambda: self.llm)


class SpaceThinking:
    """What a space does with what it thinks of its memories."""

    _home: Any  # a `Retentive`, which is defined further out

    @property
    @abstractmethod
    def _kept(self) -> SpaceStore: ...

    @abstractmethod
    def _keeper(self, store: SpaceStore) -> Keeper: ...

    def rate(
        self, *, rater: Rater | str | None = None, dry_run: bool = False, progress: Progress | None = None
    ) -> Rerated:
        """Rate anew how important memories are: those nobody rated, those a rater rated, and a collapsed crowd.

        ``rater`` is another one for this time. ``dry_run`` only says how many, and what asking a model would cost.
        """
        from retentive.thinking.again import rate_space  # noqa: PLC0415

        home = self._home
        named = home.rater if rater is None else checked_rater(rater)
        chosen = resolve_rater(named, reads_prose=home.tools.windows is not None, llm=lambda: home.llm)
        return rate_space(self._keeper(self._kept), chosen, home.llm, dry_run=dry_run, progress=progress)
