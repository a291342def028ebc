"""What a space can do beyond keeping and recalling: reflect on what it holds.

The verbs are a base of `retentive.Space`, and only delegate. What they need is imported when they are called.
"""

from __future__ import annotations

import builtins
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from retentive.keeping import Keeper
from retentive.recall.request import Tools
from retentive.stores.protocol import SpaceStore
from retentive.types import Gate

if TYPE_CHECKING:
    from retentive.reflect.outcome import Reflection, Shaken

Progress = Callable[[int, int], None]


class Mind:
    """The verbs of a space that think."""

    @property
    @abstractmethod
    def store(self) -> SpaceStore:
        """The rows underneath."""

    @property
    @abstractmethod
    def _kept(self) -> SpaceStore: ...

    @abstractmethod
    def _keeper(self, store: SpaceStore) -> Keeper: ...

    @property
    @abstractmethod
    def _recall_tools(self) -> Tools: ...

    _home: Any  # a `Retentive`, which is defined further out

    def reflect(
        self,
        *,
        force: bool = False,
        budget: float | None = None,
        method: str | None = None,
        later: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Reflection:
        """Draw insights from the latest memories, if enough importance has gathered since the last time.

        ``budget`` is how much (30 on the 1-10 scale); given once, the space keeps it. ``force`` does not wait for it.
        ``method`` is "questions" (with a language model the default), "flat" or "extractive". ``later`` puts it on the
        queue; ``dry_run`` only says whether it is due and what it would cost.
        """
        from retentive.thinking.reflecting import reflect_space  # noqa: PLC0415

        writes = (later or budget is not None) and not dry_run  # an empty space keeps its budget too
        keeper, space = self._keeper(self.store if writes else self._kept), cast("Any", self)
        if budget is not None:
            self._home._pulses.forget(keeper.store.path)  # noqa: SLF001 - as in `Space`
        return reflect_space(
            keeper, self._recall_tools, self._home.llm, space.policy_in_force(),
            force=force, budget=budget, method=method, later=later, dry_run=dry_run, progress=progress,
        )  # fmt: skip

    def shaken(self) -> builtins.list[Shaken]:
        """List the insights whose evidence was superseded, forgotten or erased, with what became of it."""
        from retentive.reflect.run import list_shaken  # noqa: PLC0415

        store = self._kept
        return list_shaken(store, Gate(true_at=self._keeper(store).author.now))
