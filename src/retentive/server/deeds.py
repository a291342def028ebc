"""Work of many steps under an Idempotency-Key: asked for again, it is answered from a note and not begun anew.

What one transaction does, the façade notes in that transaction (`once`). Upkeep, reflection, imports and whatever asks
a language model take several: their answer is noted in the space when they have ended. A request that comes again
while they still work waits for them (`Pool.run`); one that comes after a crash in their midst does the rest, for each
of them steps over what is done. A space that is dropped takes its notes with it, so that is noted beside the keys.

No text is noted: a memory is kept as its id and read again, so that what is erased is nowhere.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from retentive.errors import NotFound
from retentive.once import KEPT, Once, once_of
from retentive.server.operations import Answer, Call, Operation
from retentive.stores.protocol import SpaceStore
from retentive.wire.answers import memory_data
from retentive.wire.values import written

LOG: Final = logging.getLogger("retentive.deeds")
REPLAYED: Final = {"Idempotency-Replayed": "true"}
CHUNK: Final = 1 << 20
_REFERENCE: Final = "memory:id"
_TEXTS: Final = {"questions": [], "refused": [], "payload": {}, "text": ""}
"""Fields of answers that hold words of memories or of a model, and what a note has in their place."""
_GONE: Final = object()


@dataclass(frozen=True, slots=True)
class Deeds:
    """The notes of one server; ``folder`` is for those that no space can keep."""

    folder: Path

    def answer(self, operation: Operation, call: Call) -> Answer:
        """Do what is asked, unless it was done under this key."""
        if call.once is None or not operation.noted or _changes_nothing(call):
            return operation.run(call)
        asked = once_of(call.once, operation.name, *_asked(call))
        assert asked is not None  # noqa: S101 -- a key was given
        if operation.noted == "space":
            return _noted(operation, call, asked)
        about = repr((call.path.get("space", ""), asked.key)).encode()
        note = self.folder / f"{hashlib.blake2b(about, digest_size=16).hexdigest()}.json"
        if operation.noted == "dropping":
            return self._dropped(operation, call, asked, note)
        return self._beside(operation, call, asked, note)

    def _beside(self, operation: Operation, call: Call, asked: Once, note: Path) -> Answer:
        """Do what concerns many spaces, and note its answer beside the keys."""
        before = _read(note)
        if before is not None and asked.done(before) is not None:
            return Answer(before["answer"], headers=REPLAYED)
        answer = operation.run(call)
        self._write(note, {"asked": asked.asked, "answer": answer.data})
        return answer

    def _dropped(self, operation: Operation, call: Call, asked: Once, note: Path) -> Answer:
        """Drop a space once: not again one that was made anew under its name since."""
        before, first = _read(note), _first_line(call, call.path["space"])
        if before is None or asked.done(before) is None:
            self._write(note, {"asked": asked.asked, "first": first, "done": False})
        elif before["done"] or first != before["first"]:
            return Answer({"dropped": before["first"] is not None}, headers=REPLAYED)
        answer = operation.run(call)
        self._write(note, {"asked": asked.asked, "first": first, "done": True})
        return answer

    def _write(self, note: Path, said: Mapping[str, Any]) -> None:
        try:
            self._written(note, said)
        except OSError as error:  # keys may lie where nothing can be written: the space is dropped all the same
            LOG.warning("not noted", extra={"facts": {"path": str(note), "error": str(error.strerror)}})

    def _written(self, note: Path, said: Mapping[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = note.with_suffix(f".{os.getpid()}.part")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(json.dumps(said))
            file.flush()
            os.fsync(file.fileno())
        part.replace(note)
        old = time.time() - KEPT.total_seconds()
        for other in self.folder.iterdir():
            if other.stat().st_mtime < old:
                other.unlink(missing_ok=True)


def _changes_nothing(call: Call) -> bool:
    return isinstance(call.body, dict) and bool(call.body.get("dry_run"))


def _asked(call: Call) -> tuple[Any, ...]:
    """Return what makes one request another than the next."""
    said = json.dumps([dict(call.path), dict(call.query), call.body], sort_keys=True, default=str)
    return (said, _digest(call.upload)) if call.upload is not None else (said,)


def _digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            digest.update(block)
    return digest.hexdigest()


def _noted(operation: Operation, call: Call, asked: Once) -> Answer:
    store = _store(call)
    noted: Any = store.setting(asked.name) if store is not None else None
    if store is not None and asked.done(noted) is not None:
        return Answer(_restored(noted["answer"], store), headers=REPLAYED)
    answer = operation.run(call)
    if (store := _store(call)) is not None:
        at = call.home.now().isoformat()
        with store.transaction() as tx:
            tx.set_setting(asked.name, {"asked": asked.asked, "at": at, "answer": _bare(answer.data)})
    return answer


def _store(call: Call) -> SpaceStore | None:
    """Return the rows of the space, if it is there: a note alone does not make one."""
    try:
        return call.home.store.open(call.path["space"], create=False)
    except NotFound:
        return None


def _first_line(call: Call, space: str) -> list[Any] | None:
    """Return what tells a space from another that is made later under its name; None where there is none."""
    try:
        lines = call.home.store.open(space, create=False).read_journal(limit=1)
    except NotFound:
        return None
    return [lines[0].at.isoformat(), lines[0].memory_id] if lines else []


def _read(note: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(note.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found


def _bare(value: Any) -> Any:
    """Return an answer without texts: memories as their ids."""
    if isinstance(value, list):
        return [_bare(part) for part in value]
    if not isinstance(value, dict):
        return value
    if {"id", "space", "text", "kind", "importance"} <= value.keys():
        return {_REFERENCE: value["id"], "versioned": "version" in value}
    return {name: _TEXTS[name] if name in _TEXTS else _bare(part) for name, part in value.items()}


def _restored(value: Any, store: SpaceStore) -> Any:
    """Return an answer with its memories as they stand now; what lost one is left out of its list."""
    found = _filled(value, store)
    if found is _GONE:
        raise NotFound(f"What this answer was about is not in space {store.path!r} any more.")
    return found


def _filled(value: Any, store: SpaceStore) -> Any:
    if isinstance(value, list):
        return [part for part in (_filled(item, store) for item in value) if part is not _GONE]
    if not isinstance(value, dict):
        return value
    if _REFERENCE in value:
        memory = store.get([value[_REFERENCE]]).get(value[_REFERENCE])
        if memory is None:
            return _GONE
        return memory_data(memory) if value["versioned"] else written(memory)
    parts = {name: _filled(part, store) for name, part in value.items()}
    return _GONE if any(part is _GONE for part in parts.values()) else parts
