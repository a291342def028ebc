"""LoCoMo (snap-research/locomo, ``locomo10.json``): a list of conversations in sessions, turns ``D1:3``, questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from retentive.evaluate.formats import moments
from retentive.evaluate.formats.places import inside

PACE: Final = timedelta(seconds=20)  # sessions have a time, turns have none
ASKED_AFTER: Final = timedelta(days=1)  # questions were written about conversations that had ended
CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_PICTURE: Final = ("img_url", "img_file", "blip_caption")
_SESSION: Final = re.compile(r"session_(\d+)")
_TURN: Final = re.compile(r"D:?(\d+):(\d+)")


def recognises(data: Any) -> bool:
    """Whether this is LoCoMo: conversations with ``qa`` beside ``conversation``."""
    return (
        isinstance(data, list) and bool(data) and isinstance(data[0], dict) and {"qa", "conversation"} <= set(data[0])
    )


def neutral(data: Any, name: str) -> dict[str, Any]:
    """Return the neutral form."""
    spaces = [_space(row, number) for number, row in enumerate(data)]
    return {"name": name, "licence": "CC BY-NC 4.0", "source": "snap-research/locomo", "spaces": spaces}


def _space(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    space = str(row.get("sample_id", number))
    with inside(f"conversation {space!r}"):
        talk = row["conversation"]
        memories = [memory for session in sessions(talk) for memory in _turns(talk, session)]
        last = max((memory["at"] for memory in memories), default=None)
        asked_at = moments.written(moments.read(last) + ASKED_AFTER) if last else ""
        asked = queries(row["qa"], space, asked_at, memories, CATEGORIES)
    return {"space": space, "memories": memories, "queries": asked}


def queries(
    asked: Sequence[Mapping[str, Any]],
    space: str,
    asked_at: str,
    memories: Sequence[Mapping[str, Any]],
    categories: Mapping[int, str],
) -> list[dict[str, Any]]:
    """Return the questions about a conversation, all asked at one moment."""
    known = {memory["id"] for memory in memories}
    found = []
    for at, one in enumerate(asked):
        with inside(f"question {at + 1}"):
            found.append(
                {
                    "id": f"{space}/{at}",
                    "text": str(one["question"]),
                    "at": asked_at,
                    "gold": evidence(one.get("evidence", ()), known),
                    "category": categories.get(one["category"], str(one["category"])),
                }
            )
    return found


def sessions(conversation: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the sessions that have turns, in order."""
    numbers = (found[1] for key in conversation if (found := _SESSION.fullmatch(key)) and conversation[key])
    return sorted(map(int, numbers))


def _turns(conversation: Mapping[str, Any], session: int) -> list[dict[str, Any]]:
    with inside(f"session {session}"):
        start = moments.read(conversation[f"session_{session}_date_time"])
    turns = conversation[f"session_{session}"]
    return [turn(one, start + place * PACE, session, place) for place, one in enumerate(turns)]


def turn(one: Mapping[str, Any], at: datetime, session: int, place: int) -> dict[str, Any]:
    """Return one turn as a memory, its text as it stands; a turn that is only a picture is remembered as saying so."""
    with inside(f"session {session}, turn {place + 1}"):
        text = str(one.get("clean_text") or one.get("text") or "")
        memory = {
            "id": one.get("dia_id") or f"D{session}:{place + 1}",
            "text": f"{one['speaker']}: {text if text.strip() else _wordless(one)}",
            "at": moments.written(at),
            "speaker": one["speaker"],
            "session": str(session),
        }
    return memory | ({"caption": one["blip_caption"]} if one.get("blip_caption") else {})


def _wordless(one: Mapping[str, Any]) -> str:
    return "(shared a picture)" if any(one.get(name) for name in _PICTURE) else "(empty)"


def evidence(named: Iterable[str] | str, known: set[str]) -> list[str]:
    """Return the turns that evidence names, in its spellings: ``D8:6; D9:17``, ``D30:05``, ``D:11:26``."""
    texts = [named] if isinstance(named, str) else named
    turns = (f"D{int(a)}:{int(b)}" for text in texts for a, b in _TURN.findall(str(text)))
    return list(dict.fromkeys(one for one in turns if one in known))
