"""Where one episode of a conversation ends and the next begins: a pause, or another topic. Pure.

Decided turn by turn from what came before, never from what follows: so a conversation that is observed as it grows has
the same episodes as one that is observed at its end.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from retentive.text.lazy import Lazy
from retentive.types import Vectors

Why = Literal["", "start", "gap", "topic"]
GAP: Final = timedelta(minutes=30)  # what analytics of the web have called a new visit for thirty years
LEAST_TURNS: Final = 4  # an episode is at least so long before a topic can end it
LOOKED_BACK: Final = 6  # turns that say what an episode is about
LEAST_TERMS: Final = 4  # a turn with fewer content words ("yes, please") is about whatever was talked about
SHARED_TERMS: Final = 1  # content words that a turn may share with one of them by chance
SHIFT_SHARE: Final = 0.5  # how far between the embedder's unrelated and related a turn may be another topic
_UNCALIBRATED: Final = 0.3
_ANNOUNCED: Final = Lazy(
    r"\W*(?:(?:ok(?:ay)?|so|well|right|great|thanks|thank you|cool|anyway|also)\W+)*"
    r"(?:by the way|btw|anyway|on (?:another|a different|an unrelated) (?:note|topic|subject)"
    r"|(?:changing|to change|let'?s change) (?:the )?(?:topic|subject)|(?:completely |totally )?unrelated"
    r"|new (?:topic|question)|different (?:topic|question|subject)|(?:i have )?another (?:question|topic|thing)"
    r"|switching (?:gears|topics)|moving on|something else)\b",
    re.IGNORECASE,
)
_GREETING: Final = Lazy(
    r"\W*(?:hi|hiya|hello|hey|howdy|good (?:morning|afternoon|evening|day)|morning|greetings|long time no see"
    r"|welcome back)"
    r"(?: (?:again|there|all|everyone|everybody|team|folks|guys|\w+))?\s*(?:[!,.\u2026:)]|$)",
    re.IGNORECASE,
)
_FAREWELL: Final = Lazy(
    r"\b(?:good ?bye|bye|see (?:you|ya)|talk (?:to you )?(?:soon|later)|take care|good night|catch (?:you|up) later"
    r"|cheers|ttyl"
    r"|have a (?:great|good|nice|lovely|wonderful) (?:one|day|evening|night|weekend|week|time))\b[^?]{0,40}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """What segmentation reads of a turn: when, by whom, its words, its content terms and its vector."""

    at: datetime
    speaker: str
    text: str
    terms: Collection[str]
    vector: Vectors


def shift_below(band: tuple[float, float] | None) -> float:
    """Return the cosine below which a turn has nothing to do with what was talked about, on the embedder's scale."""
    if band is None:
        return _UNCALIBRATED
    low, high = band
    return low + SHIFT_SHARE * (high - low)


def begins(before: Sequence[Said], turn: Said, *, gap: timedelta, shift: float) -> Why:
    """Say why a turn begins an episode; ``before`` are the turns of the current one. Empty: it does not."""
    if not before:
        return "start"
    if turn.at - before[-1].at >= gap:
        return "gap"
    return "topic" if _other_topic(before, turn, shift) else ""


def _other_topic(before: Sequence[Said], turn: Said, shift: float) -> bool:
    """Whether a turn leaves the topic: it says so, or shares neither words nor meaning with the latest turns.

    An answer never does: what somebody says after another's question belongs to it. A greeting does, unless it
    answers one: people who come back say hello. The constants are from public conversations joined end to end
    (docs/mind.md has the figures).
    """
    if _ANNOUNCED.match(turn.text):
        return len(before) > 1
    if _GREETING.match(turn.text) and (len(before) >= LEAST_TURNS or _FAREWELL.search(before[-1].text)):
        return not _GREETING.match(before[-1].text)
    answers = before[-1].speaker != turn.speaker and before[-1].text.rstrip().endswith("?")
    if len(before) < LEAST_TURNS or len(turn.terms) < LEAST_TERMS or answers:
        return False
    latest = before[-LOOKED_BACK:]
    if any(len(set(turn.terms) & set(said.terms)) > SHARED_TERMS for said in latest):
        return False
    return max(float(turn.vector @ said.vector) for said in latest) < shift


def content_terms(terms: Collection[str]) -> frozenset[str]:
    """Return the terms that say what a turn is about: words, not figures."""
    return frozenset(term for term in terms if len(term) > 2 and not term.isdigit())
