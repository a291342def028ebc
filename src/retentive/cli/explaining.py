"""``explain``: a past recall out of the ledger, or where a memory stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import command
from retentive.cli.session import Session
from retentive.cli.shapes import (
    columns,
    journal_table,
    ledger_shape,
    memory_card,
    memory_shape,
    plain,
    seen,
    when,
)
from retentive.errors import NotFound

if TYPE_CHECKING:
    from retentive.memory import Space
    from retentive.types import LedgerEntry, Memory

RECALLS_SHOWN = 5


@command(
    "explain",
    examples=["retentive explain", "retentive explain db-choice", "retentive explain db-choice --json"],
)
@click.argument("id", required=False)
def explain(session: Session, id: str | None) -> None:  # noqa: A002 -- the argument's name in the help
    """Show a past recall (the last one, if none is named), or where a memory stands and what recalled it."""
    space = session.space()
    entry = _last(space) if id is None else space.store.recall_entry(id)
    if entry is not None:
        _explain_recall(session, space, entry)
    else:
        _explain_memory(session, space, _memory(space, str(id)))


def _last(space: Space) -> LedgerEntry:
    latest = space.store.read_ledger(limit=1)
    if not latest:
        raise NotFound(
            f"No recall is in the ledger of {space.path!r} yet; ask something with `retentive recall`.",
            space=space.path,
        )
    return latest[0]


def _memory(space: Space, id: str) -> Memory:  # noqa: A002 -- as everywhere here
    found = space.store.get([id]).get(id)
    if found is None:
        raise NotFound(
            f"{id!r} is neither a recall nor a memory of {space.path!r}; `retentive list` shows memories.", id=id
        )
    return found


def _explain_recall(session: Session, space: Space, entry: LedgerEntry) -> None:
    present = space.store.get(entry.ids)
    hits: list[dict[str, Any]] = [
        {
            "id": hit,
            "score": score,
            "used": hit in entry.used,
            "memory": memory_shape(present[hit]) if hit in present else None,
        }
        for hit, score in zip(entry.ids, entry.scores, strict=True)
    ]
    session.emit({"recall": ledger_shape(entry), "hits": hits}, lambda: _recall_text(entry, hits))


def _recall_text(entry: LedgerEntry, hits: list[dict[str, Any]]) -> str:
    facts = {
        "recall": entry.id,
        "at": when(entry.at),
        "policy": entry.policy,
        "cue": entry.cue,
        "outcome": entry.outcome or "not said",
    }
    rows = [("", "score", "used", "id", "text")]
    for place, hit in enumerate(hits, 1):
        text = seen(hit["memory"]["text"]) if hit["memory"] else "(erased)"
        rows.append((str(place), f"{hit['score']:.4f}", "yes" if hit["used"] else "", seen(hit["id"]), text))
    table = columns(rows) if hits else "Nothing came back."
    return columns([(name, seen(value)) for name, value in facts.items()]) + "\n\n" + table


def _explain_memory(session: Session, space: Space, memory: Memory) -> None:
    recalls = [entry for entry in space.store.read_ledger() if memory.id in entry.ids]
    journal = space.journal(memory.id)
    chain = [link.id for link in space.chain(memory.id)]
    data = {
        "memory": memory_shape(memory),
        "chain": chain,
        "recalls": [ledger_shape(entry) for entry in recalls],
        "journal": [plain(line) for line in journal],
    }
    session.emit(data, lambda: _memory_text(memory, chain, recalls, journal_table(journal)))


def _memory_text(memory: Memory, chain: list[str], recalls: list[LedgerEntry], journal: str) -> str:
    parts = [memory_card(memory), _standing(memory)]
    if len(chain) > 1:
        parts.append("Supersession: " + " → ".join(map(seen, chain)))
    parts.append(_recalled(memory, recalls))
    return "\n\n".join([*parts, "Journal\n" + journal])


def _standing(memory: Memory) -> str:
    if memory.suppressed_at is not None:
        return f"Recall does not return it: forgotten or pruned on {when(memory.suppressed_at)}."
    if memory.superseded_at is not None:
        return f"Recall does not return it: superseded by {seen(memory.superseded_by)} on {when(memory.superseded_at)}."
    if memory.pinned:
        return "It is pinned: always in the core block, never among the hits."
    return "Recall may return it" + (" while it is valid." if memory.valid_until or memory.valid_from else ".")


def _recalled(memory: Memory, recalls: list[LedgerEntry]) -> str:
    if not recalls:
        return "No recall in the ledger returned it."
    rows = []
    for entry in recalls[:RECALLS_SHOWN]:
        place = entry.ids.index(memory.id)
        rank = f"{place + 1} of {len(entry.ids)}"
        used = "used" if memory.id in entry.used else ""
        rows.append((when(entry.at), rank, f"{entry.scores[place]:.4f}", seen(entry.policy), used, seen(entry.cue)))
    more = f" (the last {RECALLS_SHOWN})" if len(recalls) > RECALLS_SHOWN else ""
    return f"Recalled {len(recalls)} times{more}\n" + columns(rows)
