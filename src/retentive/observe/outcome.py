"""What observing a conversation gives back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from retentive.llm.protocol import Usage
from retentive.types import Job, Memory

NO_COST: Final = Usage()


@dataclass(frozen=True, slots=True)
class Episode:
    """A stretch of a conversation about one thing: its name (``session/2``), when, why it began, its turns' ids."""

    name: str
    start: datetime
    end: datetime
    why: str  # "start", "gap", "topic", or "" for one that had begun before
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotTaken:
    """What a turn states and was not stored, and why."""

    text: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What `Space.observe` did, or with ``dry_run`` would do."""

    session: str
    turns: tuple[Memory, ...]  # new ones, as stored
    known: int = 0  # turns that were stored before
    skipped: int = 0  # messages that say nothing, or are instructions
    episodes: tuple[Episode, ...] = ()  # those with new turns
    memories: tuple[Memory, ...] = ()  # taken from the new turns
    refused: tuple[NotTaken, ...] = ()
    method: str = "patterns"
    dry_run: bool = False
    jobs: tuple[Job, ...] = ()  # what a language model is to read: `run_jobs` does it
    cost: Usage = NO_COST  # what those jobs will take, as far as can be said before
    notes: tuple[str, ...] = ()
