"""Putting what a foreign file holds into a space: planned whole, written in batches, once however often it is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from retentive.errors import InvalidInput, unknown_name
from retentive.importers import chats, letta, markdown, mem0, zep
from retentive.importers.parts import Found, Item, Refused, Talk
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
    skipped: int = 0  # records that could not be kept; `refused` names each
    conversations: int = 0
    updated: int = 0  # were there with words that their source changed since, and nobody here
    refused: tuple[Refused, ...] = field(default=(), compare=False)


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
        left = f" Its first record: {found.refused[0]}." if found.refused else ""
        said = f"{str(source)!r} holds nothing{whose} that {kind} would write.{left}"
        raise InvalidInput(said, kind=kind, owner=owner)
    _refuse_many([*items, *talks], source)
    refused = list(found.refused)
    kept = _remember(space, items, progress, refused)
    told = _observe(space, talks, extract, progress, refused)
    return Imported(
        added=kept.added + told.added,
        same=kept.same + told.same,
        erased=kept.erased,
        skipped=len(refused),
        conversations=told.conversations,
        updated=kept.updated,
        refused=tuple(refused),
    )


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


def _remember(space: Space, items: Iterable[Item], progress: Progress | None, refused: list[Refused]) -> Imported:
    """Write what is not there; what was erased here is not brought back by a file."""
    wanted = _by_id(items, refused)
    if not wanted:
        return Imported()
    held = space.store.get(list(wanted))
    present = set(held)
    gone = {line.memory_id for line in space.journal() if line.action == "erase"} - present
    fresh = [item for name, item in wanted.items() if name not in present and name not in gone]
    added = 0
    for start in range(0, len(fresh), BATCH):
        batch = fresh[start : start + BATCH]
        added += _written(space, batch, refused)
        if progress is not None:
            progress(start + len(batch), len(fresh))
    moved = [memory for memory in held.values() if _moved(space, memory, wanted[memory.id])]
    for memory in moved:
        space.update(memory.id, text=wanted[memory.id].fields["text"], reason=AGAIN)
    return Imported(added, len(present) - len(moved), len(gone & set(wanted)), updated=len(moved))


def _by_id(items: Iterable[Item], refused: list[Refused]) -> dict[str, Item]:
    """Return the items by id; of two that differ under one id the later counts, and the other is named."""
    wanted: dict[str, Item] = {}
    for item in items:
        before = wanted.get(item.fields["id"])
        if before is not None and before.fields["text"] != item.fields["text"]:
            reason = f"has the id {item.fields['id']!r}, as {item.place} behind it has with other words"
            refused.append(Refused(before.place, reason, "give one of them another id", before.record))
        wanted[item.fields["id"]] = item
    return wanted


def _written(space: Space, batch: Sequence[Item], refused: list[Refused]) -> int:
    """Write items at once; where one of them cannot be, each for itself, so that the others are."""
    try:
        return len(space.remember_many([item.fields for item in batch]))
    except InvalidInput as error:
        if len(batch) == 1:
            refused.append(_turned_down(batch[0], error))
            return 0
    half = len(batch) // 2
    return _written(space, batch[:half], refused) + _written(space, batch[half:], refused)


def _turned_down(part: Item | Talk, error: InvalidInput) -> Refused:
    return Refused(part.place, f"was refused ({error})", "change that, and import the file again", part.record)


def _moved(space: Space, held: Memory, item: Item) -> bool:
    """Say whether a memory's source has changed its words since, and nobody here did."""
    if held.text == item.fields["text"]:
        return False
    return all(line.reason == AGAIN for line in space.journal(held.id) if line.action == "update")


def _observe(
    space: Space, talks: Sequence[Talk], extract: str | None, progress: Progress | None, refused: list[Refused]
) -> Imported:
    """Observe conversations; one that cannot be is named, and the others are."""
    new = known = talked = 0
    for done, talk in enumerate(talks, 1):
        try:
            told = space.observe(talk.messages, session=talk.session, extract=extract)
        except InvalidInput as error:
            refused.append(_turned_down(talk, error))
        else:
            new, known, talked = new + len(told.turns), known + told.known, talked + 1
        if progress is not None:
            progress(done, len(talks))
    return Imported(new, known, conversations=talked)
