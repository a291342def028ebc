"""Putting what a foreign file holds into a space: planned whole, written in batches, once however often it is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from retentive.errors import InvalidInput, unknown_name
from retentive.importers import chats, letta, markdown, mem0, zep
from retentive.importers.parts import Found, Item, Talk
from retentive.knowledge.file import import_graph
from retentive.memory import Space
from retentive.types import Memory

Progress: TypeAlias = Callable[[int, int], None]
BATCH: Final = 500
AGAIN: Final = "imported again"
READERS: Final[Mapping[str, Callable[[Path], Found]]] = {
    "mem0": mem0.read,
    "letta": letta.read,
    "zep": zep.read,
    "markdown": markdown.read,
    "openai": chats.read_openai,
    "claude": chats.read_claude,
}
Part = TypeVar("Part", Item, Talk)
KINDS: Final = (*READERS, "memory-server")
"""Whose files can be read."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did. A graph's entities, observations and relations count as memories, a talk's turns too."""

    added: int = 0
    same: int = 0  # were there already
    erased: int = 0  # were erased here, and stay so
    skipped: int = 0  # records that hold nothing to keep
    conversations: int = 0
    updated: int = 0  # were there with words that their source changed since, and nobody here


def import_from(
    space: Space,
    kind: str,
    source: str | Path,
    *,
    owner: str | None = None,
    extract: str | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Read a file of another memory layer, notes or exported conversations into a space.

    A space is one tenant's: a file that holds memories of several owners needs ``owner`` to say whose are wanted.
    ``extract`` is what `Space.observe` does with conversations. Done again, it adds only what is new.
    """
    if kind not in KINDS:
        raise unknown_name("kind of file", kind, KINDS)
    if kind == "memory-server":
        report = import_graph(space, source)
        return Imported(report.entities + report.observations + report.relations)
    found = READERS[kind](Path(source))
    items, talks = _of_one(found.items, owner), _of_one(found.talks, owner)
    if not items and not talks:
        whose = f" of {owner!r}" if owner is not None else ""
        raise InvalidInput(f"{str(source)!r} holds nothing{whose} that {kind} would write.", kind=kind, owner=owner)
    _refuse_many([*items, *talks], source)
    kept = _remember(space, items, progress)
    turns, known = _observe(space, talks, extract, progress)
    return Imported(kept.added + turns, kept.same + known, kept.erased, found.skipped, len(talks), kept.updated)


def _of_one(parts: Iterable[Part], owner: str | None) -> list[Part]:
    """Return the parts that are one owner's, or nobody's in particular."""
    return [part for part in parts if owner is None or part.owner in {owner, None}]


def _refuse_many(parts: Iterable[Item | Talk], source: str | Path) -> None:
    owners = sorted({part.owner for part in parts if part.owner is not None})
    if len(owners) > 1:
        shown = ", ".join(map(repr, owners[:5])) + (", …" if len(owners) > 5 else "")
        raise InvalidInput(
            f"{str(source)!r} holds memories of {len(owners)} owners ({shown}), and a space is one tenant's. Say whose "
            f"go into this one: owner={owners[0]!r} (--owner).",
            owners=owners,
        )


def _remember(space: Space, items: Iterable[Item], progress: Progress | None) -> Imported:
    """Write what is not there; what was erased here is not brought back by a file."""
    wanted = {str(item.fields["id"]): item for item in items}
    if not wanted:
        return Imported()
    held = space.store.get(list(wanted))
    present = set(held)
    gone = {line.memory_id for line in space.journal() if line.action == "erase"} - present
    fresh = [item.fields for name, item in wanted.items() if name not in present and name not in gone]
    for start in range(0, len(fresh), BATCH):
        batch = fresh[start : start + BATCH]
        space.remember_many(batch)
        if progress is not None:
            progress(start + len(batch), len(fresh))
    moved = [memory for memory in held.values() if _moved(space, memory, wanted[memory.id])]
    for memory in moved:
        space.update(memory.id, text=wanted[memory.id].fields["text"], reason=AGAIN)
    return Imported(len(fresh), len(present) - len(moved), len(gone & set(wanted)), updated=len(moved))


def _moved(space: Space, held: Memory, item: Item) -> bool:
    """Say whether a memory's source has changed its words since, and nobody here did."""
    if held.text == item.fields["text"]:
        return False
    return all(line.reason == AGAIN for line in space.journal(held.id) if line.action == "update")


def _observe(space: Space, talks: Sequence[Talk], extract: str | None, progress: Progress | None) -> tuple[int, int]:
    """Observe conversations; return how many turns were new, and how many were there."""
    new = known = 0
    for done, talk in enumerate(talks, 1):
        told = space.observe(talk.messages, session=talk.session, extract=extract)
        new, known = new + len(told.turns), known + told.known
        if progress is not None:
            progress(done, len(talks))
    return new, known
