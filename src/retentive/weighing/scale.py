"""The scale of 1 to 10, anchored by examples: what a model is shown, what the labelled list was rated by."""

from __future__ import annotations

from typing import Final

SCALE: Final[tuple[tuple[int, str], ...]] = (
    (1, "nothing: a greeting, thanks, filler"),
    (2, "small talk: the weather, a passing remark"),
    (3, "a routine detail without consequence: a walk, a tidied desk"),
    (4, "a minor liking, an ordinary event with somebody"),
    (5, "an ordinary fact worth knowing: where somebody works or lives, what a system runs on"),
    (6, "a lasting preference, a plan, a fact that changes some answers"),
    (7, "a commitment, a decision, an appointment, a correction of what was believed"),
    (8, "a change of life or project, a deadline with a penalty, a breakup, a promotion"),
    (9, "health, safety, law or livelihood at stake; a rule whose breach does great harm"),
    (10, "life and death, a birth, a marriage, ruin; what must never be got wrong"),
)


def scale_as_text() -> str:
    """Return the scale as lines."""
    return "\n".join(f"{rating}: {meaning}" for rating, meaning in SCALE)
