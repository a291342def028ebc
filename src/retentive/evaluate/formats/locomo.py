"""LoCoMo (snap-research/locomo, ``locomo10.json``): a list of conversations in sessions, turns ``D1:3``, questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from retentive.evaluate.formats import moments

PACE: Final = timedelta(seconds=20)  # sessions have a time, turns have none
CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_SESSION: Final = re.compile(r"session_(\d+)")
_TURN: Final = re.compile(r"D(\d+):(\d+)")


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
    memories = [memory for session in sessions(row["conversation"]) for memory in _turns(row["conversation"], session)]
    known = {memory["id"] for memory in memories}
    asked_at = max((memory["at"] for memory in memories), default="")
    space = str(row.get("sample_id", number))
    queries = [
        {
            "id": f"{space}/{at}",
            "text": str(one["question"]),
            "at": asked_at,
            "gold": evidence(one.get("evidence", ()), known),
            "category": CATEGORIES.get(one["category"], str(one["category"])),
        }
        for at, one in enumerate(row["qa"])
    ]
    return {"space": space, "memories": memories, "queries": queries}


def sessions(conversation: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the sessions that have turns, in order."""
    numbers = (found[1] for key in conversation if (found := _SESSION.fullmatch(key)) and conversation[key])
    return sorted(map(int, numbers))


def _turns(conversation: Mapping[str, Any], session: int) -> list[dict[str, Any]]:
    start = moments.read(conversation[f"session_{session}_date_time"])
    turns = conversation[f"session_{session}"]
    return [turn(one, start + place * PACE, session) for place, one in enumerate(turns)]


def turn(one: Mapping[str, Any], at: datetime, session: int) -> dict[str, Any]:
    """Return one turn as a memory; a turn that is only a picture is remembered as saying so."""
    text = str(one.get("clean_text") or one.get("text") or "").strip() or "(shared a picture)"
    memory = {
        "id": one["dia_id"],
        "text": f"{one['speaker']}: {text}",
        "at": moments.written(at),
        "speaker": one["speaker"],
        "session": str(session),
    }
    return memory | ({"caption": one["blip_caption"]} if one.get("blip_caption") else {})


def evidence(named: Iterable[str] | str, known: set[str]) -> list[str]:
    """Return the turns that evidence names: the set also writes ``D8:6; D9:17`` in one string, and ``D30:05``."""
    texts = [named] if isinstance(named, str) else named
    turns = (f"D{int(a)}:{int(b)}" for text in texts for a, b in _TURN.findall(str(text)))
    return list(dict.fromkeys(one for one in turns if one in known))
