"""A user's own recalls as a set: what was asked, and what proved useful.

The ledger notes every recall, and feedback says which memories were used: that is evidence, from the one person whose
questions count. A recall of which nobody said what was used labels nothing and is left out. Such a set knows only what
was found once: it can tell a better order from a worse, and hardly a better search.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from retentive.embedders.protocol import Embedder, Vectors, identity
from retentive.errors import InvalidInput
from retentive.evaluate.cache import Known
from retentive.evaluate.datasets import Conversation, Dataset, Item, Question
from retentive.indexing import EMBEDDER_SETTING, identity_of, passage
from retentive.stores.protocol import Cursor, SpaceStore
from retentive.types import EmbedderIdentity, Gate, LedgerEntry, Memory

CATEGORY: Final = "ledger"
_PAGE: Final = 500
_ITEM: Final = ("id", "text", "at", "speaker", "session", "caption", "kind", "importance", "read")


def from_ledger(spaces: Mapping[str, SpaceStore], *, since: datetime | None = None, name: str = "ledger") -> Dataset:
    """Return the recalls with feedback of some spaces as a set; `InvalidInput` where there is none."""
    found = [conversation(store, path, since=since) for path, store in spaces.items()]
    kept = tuple(one for one in found if one.questions)
    if not kept:
        raise InvalidInput(
            f"No recall in {', '.join(map(repr, spaces)) or 'any space'} has feedback that names what was used. "
            "Give it with recall.feedback(used=[...]) or `retentive explain`, then try again.",
            spaces=list(spaces),
        )
    return Dataset(name, "yours", "the ledger of this store", kept)


def conversation(store: SpaceStore, path: str, *, since: datetime | None = None) -> Conversation:
    """Return one space's memories with the recalls that say what was used, oldest first."""
    recalls = store.read_ledger()
    entries = [entry for entry in recalls if entry.used and (since is None or entry.at >= since)]
    if not entries:
        return Conversation(path, (), ())
    memories = list(_memories(store, entries[0].at))
    known = {memory.id for memory in memories}
    read = _read(recalls)
    ordered = sorted(memories, key=lambda one: (one.created_at, one.id))
    items = tuple(_item(memory, read.get(memory.id, ())) for memory in ordered)
    asked = (question for entry in reversed(entries) if (question := _question(entry, known)))
    return Conversation(path, items, tuple(asked))


def known_vectors(spaces: Iterable[SpaceStore], embedder: Embedder, now: datetime) -> Known:
    """Return the vectors that spaces have of what they hold, where this embedder made them."""
    present = identity(embedder)
    mine = EmbedderIdentity(present.id, present.dimension, present.fingerprint)
    known: dict[str, Vectors] = {}
    for store in spaces:
        if identity_of(store.setting(EMBEDDER_SETTING)) == mine:
            memories = list(_memories(store, now))
            vectors = store.vectors([memory.id for memory in memories])
            known |= {passage(memory): vectors[memory.id] for memory in memories if memory.id in vectors}
    return known


def _memories(store: SpaceStore, moment: datetime) -> Iterable[Memory]:
    """Walk every memory that can be recalled, a page at a time."""
    gate = Gate(true_at=moment)
    after: Cursor | None = None
    while page := store.page(gate, limit=_PAGE, after=after):
        yield from page
        after = Cursor(page[-1].created_at, page[-1].id)


def _read(recalls: Iterable[LedgerEntry]) -> dict[str, list[datetime]]:
    """Return when each memory was recalled, oldest first: what is known of its use at any later moment."""
    moments: dict[str, list[datetime]] = {}
    for entry in recalls:
        for memory_id in entry.ids:
            moments.setdefault(memory_id, []).append(entry.at)
    return {memory_id: sorted(found) for memory_id, found in moments.items()}


def _item(memory: Memory, read: Iterable[datetime]) -> Item:
    return Item(
        id=memory.id,
        text=memory.text,
        at=memory.created_at,
        speaker=memory.speaker,
        session=memory.session,
        kind=memory.kind,
        importance=memory.importance,
        read=tuple(read),
    )


def _question(entry: LedgerEntry, known: set[str]) -> Question | None:
    gold = frozenset(entry.used) & known
    if not gold or not entry.cue.strip():
        return None
    return Question(entry.id, entry.cue, entry.at, gold, entry.outcome or CATEGORY)


def save(dataset: Dataset, path: Path) -> None:
    """Write a set in the neutral form; `datasets.load` reads it back."""
    path.write_text(json.dumps(as_neutral(dataset), ensure_ascii=False, indent=1) + "\n", "utf-8")


def as_neutral(dataset: Dataset) -> dict[str, Any]:
    """Return a set as JSON-ready data in the neutral form."""
    head = {"name": dataset.name, "licence": dataset.licence, "source": dataset.source}
    return head | {"spaces": [_space(one) for one in dataset.conversations]}


def _space(one: Conversation) -> dict[str, Any]:
    return {
        "space": one.space,
        "memories": [_filled(item, _ITEM) for item in one.items],
        "queries": [
            _filled(item, ("id", "text", "at", "gold", "category", "current", "outdated")) for item in one.questions
        ],
    }


def _filled(value: Item | Question, names: Iterable[str]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name in names:
        field = getattr(value, name)
        if isinstance(field, datetime):
            plain[name] = field.isoformat()
        elif isinstance(field, frozenset):
            plain[name] = sorted(field)
        elif isinstance(field, tuple):
            plain |= {name: [moment.isoformat() for moment in field]} if field else {}
        elif field is not None:
            plain[name] = field
    return plain


def summary(dataset: Dataset) -> str:
    """Say in a line what the set holds."""
    outcomes = Counter(one.category for space in dataset.conversations for one in space.questions)
    kinds = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
    memories = sum(len(space.items) for space in dataset.conversations)
    spaces = len(dataset.conversations)
    return f"{dataset.questions} recalls with feedback ({kinds}) over {memories} memories in {spaces} spaces"
