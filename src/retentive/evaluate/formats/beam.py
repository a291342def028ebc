"""BEAM (mohammadtavakoli78/BEAM): a folder a chat with ``chat.json`` and its probing questions, or rows with both.

Messages have ids, but a time (``time_anchor``) stands only where a session begins; those behind it follow a minute
apart. Knowledge updates name which message holds the old value and which the new.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from retentive.evaluate.formats import moments

PACE: Final = timedelta(minutes=1)
PROBES: Final = ("probing_questions/probing_questions.json", "probing_questions.json")
_OLD: Final = ("original_info", "original", "old")
_NEW: Final = ("updated_info", "updated", "new")


def recognises(data: Any) -> bool:
    """Whether rows have a chat beside its probing questions."""
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and {"chat", "probing_questions"} <= set(first)


def gathered(folder: Path, parse: Callable[[Path], Any]) -> list[dict[str, Any]]:
    """Return the chats of a folder (or of the folders in it) as rows; empty where there is none."""
    rows = []
    for chat in sorted([*folder.glob("chat.json"), *folder.glob("*/chat.json")], key=_number):
        probes = next((chat.parent / name for name in PROBES if (chat.parent / name).is_file()), None)
        if probes:
            rows.append({"conversation_id": chat.parent.name, "chat": parse(chat), "probing_questions": parse(probes)})
    return rows


def _number(chat: Path) -> tuple[int, str]:
    name = chat.parent.name
    return (int(name), "") if name.isdigit() else (0, name)


def neutral(data: Any, name: str) -> dict[str, Any]:
    """Return the neutral form."""
    rows = data if isinstance(data, list) else [data]
    spaces = [_space(row, f"beam-{row.get('conversation_id', number)}") for number, row in enumerate(rows, start=1)]
    return {"name": name, "licence": "CC BY-SA 4.0", "source": "mohammadtavakoli78/BEAM", "spaces": spaces}


def _space(row: Mapping[str, Any], space: str) -> dict[str, Any]:
    memories = list(_memories(row["chat"]))
    known = {memory["id"] for memory in memories}
    asked_at = max((memory["at"] for memory in memories), default="")
    probes = _literal(row["probing_questions"])
    queries = [
        _query(one, f"{space}/{ability}/{at}", ability, asked_at, known)
        for ability, questions in probes.items()
        for at, one in enumerate(questions)
    ]
    return {"space": space, "memories": memories, "queries": queries}


def _literal(value: Any) -> Any:
    """Some copies keep the questions as the text of a Python or JSON literal."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return ast.literal_eval(value)


def _memories(chat: Any) -> Iterator[dict[str, Any]]:
    """Walk batches → turns → messages; ids that come again in a later batch keep their first message."""
    at, seen = None, set()
    for session, messages in enumerate(_batches(chat), start=1):
        for message in messages:
            anchor = message.get("time_anchor")
            at = moments.read(anchor) if anchor else _next(at)
            if (name := str(message["id"])) not in seen:
                seen.add(name)
                yield _memory(message, name, at, session)


def _next(at: datetime | None) -> datetime:
    if at is None:
        raise ValueError("the first message has no time_anchor")
    return at + PACE


def _batches(chat: Any) -> Iterator[list[Mapping[str, Any]]]:
    for batch in chat:
        yield list(_flat(batch["turns"] if isinstance(batch, dict) and "turns" in batch else batch))


def _flat(part: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(part, dict):
        yield part
    else:
        for inner in part:
            yield from _flat(inner)


def _memory(message: Mapping[str, Any], name: str, at: datetime, session: int) -> dict[str, Any]:
    role = message["role"]
    text = f"{role}: {str(message['content']).strip() or '(empty)'}"
    return {"id": name, "text": text, "at": moments.written(at), "speaker": role, "session": str(session)}


def _query(one: Mapping[str, Any], name: str, ability: str, at: str, known: set[str]) -> dict[str, Any]:
    named = one.get("source_chat_ids", [])
    query = {"id": name, "text": one["question"], "at": at, "category": ability}
    query["gold"] = [] if ability == "abstention" else _ids(named, known)
    if ability == "knowledge_update" and isinstance(named, dict):
        query["current"], query["outdated"] = (
            _ids([named[key] for key in keys if key in named], known) for keys in (_NEW, _OLD)
        )
    return query


def _ids(named: Any, known: set[str]) -> list[str]:
    """Return the message ids in a number, a list, or a mapping of lists, in order and each once."""
    inner = list(named.values()) if isinstance(named, dict) else named
    if not isinstance(inner, list):
        return [str(inner)] if str(inner) in known else []
    return list(dict.fromkeys(one for part in inner for one in _ids(part, known)))
