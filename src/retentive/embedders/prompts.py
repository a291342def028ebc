"""What some models want written in front of a text, one for questions and one for passages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prompts:
    """Text put before questions and passages, such as `query: ` and `passage: ` for the e5 family."""

    query: str = ""
    passage: str = ""


NO_PROMPTS = Prompts()
