"""From a name to a rater."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final

from retentive.errors import InvalidInput, unknown_name
from retentive.llm.protocol import Llm
from retentive.weighing.offline import OfflineRater
from retentive.weighing.protocol import Rater

RATERS: Final = ("auto", "flat", "offline", "llm")
AUTO: Final = "auto"


def checked_rater(rater: Rater | str | None) -> Rater | str:
    """Refuse what is no rater before anything is remembered by it."""
    if rater is None:
        return AUTO
    if isinstance(rater, str):
        if rater not in RATERS:
            raise unknown_name("rater", rater, RATERS)
        return rater
    if not isinstance(rater, Rater):
        raise InvalidInput(
            f"{type(rater).__name__} is no rater: that has `id`, `rate` and `after` (see retentive.weighing), or is "
            f"one of {', '.join(RATERS)}.",
            value=rater,
        )
    return rater


def resolve_rater(rater: Rater | str, *, reads_prose: bool, llm: Callable[[], Llm | None]) -> Rater | None:
    """Return the rater that a name stands for; None where everything has the same importance.

    ``auto`` rates by features where the embedder reads prose: what is embedded as something else is no text whose words
    could be weighed.
    """
    if not isinstance(rater, str):
        return rater
    if rater == "flat" or (rater == AUTO and not reads_prose):
        return None
    if rater != "llm":
        return OfflineRater()
    if llm() is None:
        raise InvalidInput("rater='llm' needs a language model; name one by llm=, RETENTIVE_LLM or in retentive.toml.")
    made: Rater = import_module("retentive.thinking.rate").LlmRater()
    return made
