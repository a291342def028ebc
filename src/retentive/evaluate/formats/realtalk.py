"""REALTALK (danny911kr/REALTALK): one file a chat, sessions of messages with a time each, questions as in LoCoMo."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from retentive.evaluate.formats import locomo, moments
from retentive.evaluate.formats.places import inside

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "commonsense"}


def recognises(data: Any) -> bool:
    """Whether this is a chat, or a list of chats, with ``session_1`` and ``qa`` side by side."""
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and "qa" in first and bool(locomo.sessions(first))


def neutral(data: Any, name: str) -> dict[str, Any]:
    """Return the neutral form."""
    chats = data if isinstance(data, list) else [data]
    spaces = [_space(chat, str(chat.get("file", f"{name}-{at}" if at else name))) for at, chat in enumerate(chats)]
    return {"name": name, "licence": "none stated", "source": "danny911kr/REALTALK", "spaces": spaces}


def _space(chat: Mapping[str, Any], space: str) -> dict[str, Any]:
    memories = []
    with inside(f"chat {space!r}"):
        for session in locomo.sessions(chat):
            for place, one in enumerate(chat[f"session_{session}"]):
                memories.append(locomo.turn(one, _at(chat, one, session, place), session, place))
        asked_at = max((memory["at"] for memory in memories), default="")
        return {
            "space": space,
            "memories": memories,
            "queries": locomo.queries(chat["qa"], space, asked_at, memories, CATEGORIES),
        }


def _at(chat: Mapping[str, Any], one: Mapping[str, Any], session: int, place: int) -> datetime:
    with inside(f"session {session}, turn {place + 1}"):
        return moments.read(one.get("date_time") or chat[f"session_{session}_date_time"])
