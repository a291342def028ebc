"""LongMemEval (xiaowu0162/LongMemEval): a question a row, each with a haystack of sessions of its own.

By session, a session is one memory and ``answer_session_ids`` the evidence; by turn, a turn is one and those that carry
``has_answer`` are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from retentive.evaluate.formats import moments
from retentive.evaluate.formats.places import inside

PACE: Final = timedelta(seconds=30)
_SET: Final = {"licence": "MIT", "source": "xiaowu0162/LongMemEval"}


def recognises(data: Any) -> bool:
    """Whether rows have a question with ``haystack_sessions``."""
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and "haystack_sessions" in data[0]


def by_session(data: Any, name: str) -> dict[str, Any]:
    """Return the neutral form, a memory a session."""
    spaces = _rows(data, lambda row: _space(row, _sessions(row), row["answer_session_ids"]))
    return {"name": name, **_SET, "spaces": spaces}


def by_turn(data: Any, name: str) -> dict[str, Any]:
    """Return the neutral form, a memory a turn."""
    return {"name": name, **_SET, "spaces": _rows(data, _by_turns)}


def _rows(data: Any, space: Callable[[Mapping[str, Any]], dict[str, Any]]) -> list[dict[str, Any]]:
    spaces = []
    for number, row in enumerate(data, start=1):
        with inside(f"row {number} ({row.get('question_id')!r})"):
            spaces.append(space(row))
    return spaces


def _haystack(row: Mapping[str, Any]) -> Iterator[tuple[str, datetime, Sequence[Mapping[str, Any]]]]:
    parts = (row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"])
    for session, at, turns in zip(*parts, strict=True):
        yield str(session), moments.read(at), turns


def _sessions(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "id": session,
            "text": "\n".join(f"{turn['role']}: {turn['content']}" for turn in turns),
            "at": moments.written(at),
            "session": session,
        }
        for session, at, turns in _haystack(row)
        if turns
    ]


def _by_turns(row: Mapping[str, Any]) -> dict[str, Any]:
    memories, gold = [], []
    for session, at, turns in _haystack(row):
        for place, turn in enumerate(turns):
            memories.append(_turn(turn, f"{session}:{place}", session, at + place * PACE))
            gold += [f"{session}:{place}"] if turn.get("has_answer") else []
    return _space(row, memories, gold)


def _turn(turn: Mapping[str, Any], name: str, session: str, at: datetime) -> dict[str, Any]:
    text = str(turn["content"]).strip() or "(empty)"
    said = f"{turn['role']}: {text}"
    return {"id": name, "text": said, "at": moments.written(at), "speaker": turn["role"], "session": session}


def _space(row: Mapping[str, Any], memories: list[dict[str, Any]], gold: Sequence[str]) -> dict[str, Any]:
    """``_abs`` at the end of a question's id says that nothing in its haystack answers it."""
    abstains = str(row["question_id"]).endswith("_abs")
    known = {memory["id"] for memory in memories}
    query = {
        "id": str(row["question_id"]),
        "text": row["question"],
        "at": moments.written(moments.read(row["question_date"])),
        "gold": [] if abstains else [one for one in dict.fromkeys(map(str, gold)) if one in known],
        "category": row["question_type"] + ("-abstention" if abstains else ""),
    }
    return {"space": str(row["question_id"]), "memories": memories, "queries": [query]}
