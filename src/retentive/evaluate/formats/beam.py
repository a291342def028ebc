"""BEAM (mohammadtavakoli78/BEAM): a folder a chat with ``chat.json`` and its probing questions, or rows with both.

Messages have ids, but a time (``time_anchor``) stands only where a session begins; those behind it follow a minute
apart. Knowledge updates name which message holds the old value and which the new. Chats of ten million tokens are a
list of plans, each with batches of its own; where a chat is cut (``chat_trunecated.json``) its authors ask about that.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from retentive.evaluate.formats import moments
from retentive.evaluate.formats.places import inside

PACE: Final = timedelta(minutes=1)
CHATS: Final = ("chat_trunecated.json", "chat.json")  # their spelling, the one they evaluate on first
PROBES: Final = ("probing_questions/probing_questions.json", "probing_questions.json")
_OLD: Final = ("original_info", "original", "old")
_NEW: Final = ("updated_info", "updated", "new")


Known = dict[str, list[str]]


def recognises(data: Any) -> bool:
    """Whether rows have a chat beside its probing questions."""
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and {"chat", "probing_questions"} <= set(first)


def gathered(folder: Path, parse: Callable[[Path], Any]) -> list[dict[str, Any]]:
    """Return the chats of a folder (or of the folders in it) as rows; empty where there is none."""
    rows = []
    for home in sorted([folder, *(one for one in folder.iterdir() if one.is_dir())], key=_number):
        chat, probes = _first(home, CHATS), _first(home, PROBES)
        if chat and probes:
            rows.append({"conversation_id": home.name, "chat": parse(chat), "probing_questions": parse(probes)})
    return rows


def _first(home: Path, names: Sequence[str]) -> Path | None:
    return next((home / name for name in names if (home / name).is_file()), None)


def _number(home: Path) -> tuple[int, str]:
    return (int(home.name), "") if home.name.isdigit() else (0, home.name)


def neutral(data: Any, name: str) -> dict[str, Any]:
    """Return the neutral form."""
    rows = data if isinstance(data, list) else [data]
    spaces = [_space(row, f"beam-{row.get('conversation_id', number)}") for number, row in enumerate(rows, start=1)]
    return {"name": name, "licence": "CC BY-SA 4.0", "source": "mohammadtavakoli78/BEAM", "spaces": spaces}


def _space(row: Mapping[str, Any], space: str) -> dict[str, Any]:
    with inside(f"chat {space!r}"):
        memories, known = _memories(row["chat"])
        asked_at = max((memory["at"] for memory in memories), default="")
        queries = []
        for ability, questions in _literal(row["probing_questions"]).items():
            for at, one in enumerate(questions):
                with inside(f"question {at + 1} of {ability}"):
                    queries.append(_query(one, f"{space}/{ability}/{at}", ability, asked_at, known))
        return {"space": space, "memories": memories, "queries": queries}


def _literal(value: Any) -> Any:
    """Some copies keep the questions as the text of a Python or JSON literal."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return ast.literal_eval(value)


def _memories(chat: Any) -> tuple[list[dict[str, Any]], Known]:
    """Walk batches → turns → messages; return them, and the names that each of the set's ids stands for.

    Some chats of a million tokens count anew in a later batch. No message is lost: it is named by its batch too, and
    evidence that bears such an id means every message that does, for nobody can tell which was meant.
    """
    at, memories, known = None, [], {}  # type: datetime | None, list[dict[str, Any]], Known
    for session, messages in enumerate(_batches(chat), start=1):
        for place, message in enumerate(messages, start=1):
            with inside(f"batch {session}, message {place}"):
                anchor = message.get("time_anchor")
                at = moments.read(anchor) if anchor else _next(at)
                number = str(message["id"])
                names = known.setdefault(number, [])
                names.append(f"{number}@{session}.{place}" if names else number)
                memories.append(_memory(message, names[-1], at, session))
    return memories, known


def _next(at: datetime | None) -> datetime:
    if at is None:
        raise ValueError("the first message has no time_anchor")
    return at + PACE


def _batches(chat: Any) -> Iterator[list[Mapping[str, Any]]]:
    for batch in chat:
        if not isinstance(batch, dict):
            yield list(_flat(batch))
        elif "turns" in batch:
            yield list(_flat(batch["turns"]))
        else:  # a plan of ten million tokens: the others' names stand beside its own, with nothing in them
            for plan in batch.values():
                yield from _batches(plan or ())


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


def _query(one: Mapping[str, Any], name: str, ability: str, at: str, known: Known) -> dict[str, Any]:
    named = one.get("source_chat_ids") or []
    query = {"id": name, "text": one["question"], "at": at, "category": ability}
    query["gold"] = [] if ability == "abstention" else _ids(named, known)
    if ability == "knowledge_update" and isinstance(named, dict):
        query["current"], query["outdated"] = (
            _ids([named[key] for key in keys if key in named], known) for keys in (_NEW, _OLD)
        )
    return query


def _ids(named: Any, known: Known) -> list[str]:
    """Return the message ids in a number, a list, or a mapping of lists, in order and each once."""
    inner = list(named.values()) if isinstance(named, dict) else named
    if not isinstance(inner, list):
        return known.get(str(inner), [])
    return list(dict.fromkeys(one for part in inner for one in _ids(part, known)))
