"""The bystanders of a scenario: memories that are there so that being found means something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from retentive.evaluate.scenarios.geometry import Placed, small_talk
from retentive.evaluate.scenarios.subject import Clock, Facts, Subject

STEP = 37
"""Ages walk the range in steps that are prime to it, so that neither cosine nor writing order goes with age."""


def crowd(
    subject: Subject,
    placed: Placed,
    cue: str,
    cosines: Sequence[float],
    clock: Clock,
    *,
    oldest_days: float = 120,
    **facts: Unpack[Facts],
) -> list[str]:
    """Remember small talk at these cosines to the cue, 2 days to ``oldest_days`` old; return the ids."""
    ids = []
    for at, (text, cosine) in enumerate(zip(small_talk(len(cosines)), cosines, strict=True)):
        placed.put(text, {cue: cosine})
        age = 2 + (at * STEP) % max(1, round(oldest_days - 2))
        told: Facts = {"importance": 0.3, "at": clock.ago(age)}
        told.update(facts)
        ids.append(subject.remember(text, **told))
    return ids


HOUSEHOLD = (
    "The spare key hangs behind the fuse box",
    "Rubbish is collected on Tuesday mornings",
    "The dishwasher needs salt every six weeks",
    "Our neighbour keeps two beagles",
    "The attic window sticks when it rains",
    "Grandfather's watch runs four minutes fast",
    "We paint the fence every second spring",
    "The bakery on the corner closes on Mondays",
    "A heron nests by the canal",
    "The piano was tuned in autumn",
    "The tram to the harbour leaves every ten minutes",
    "Tulips bloom along the south wall",
)
"""Twelve true things of daily life, for scenarios in which meaning is measured and not set."""


def household(subject: Subject, clock: Clock, *, spacing_days: float = 7) -> list[str]:
    """Remember the twelve, one every ``spacing_days`` back from yesterday."""
    return [
        subject.remember(text, at=clock.ago(1 + spacing_days * number), importance=0.4)
        for number, text in enumerate(HOUSEHOLD)
    ]
