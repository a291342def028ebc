"""From what a caller wants remembered to a memory: validation in one place, above every store."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final

from retentive.errors import Changed, InvalidInput, NotFound, unknown_name
from retentive.indexing import names_in
from retentive.scoring.recurrence import parse_rule
from retentive.stores.protocol import Transaction
from retentive.types import KINDS, MEMORY_FIELDS, SLUG, Draft, JournalEntry, Json, Memory, aware, strings

LONGEST_TEXT: Final = 4_000_000  # characters
LONGEST_NAME: Final = 1_000  # characters of an id, key, tag, source, speaker or session
LONGEST_SPAN: Final = timedelta(days=365_000)
FLAT_IMPORTANCE: Final = 0.5  # what a memory gets that nobody rated
_DRAFT_FIELDS: Final = tuple(item.name for item in fields(Draft))


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes, where and when: what a draft needs to become a memory."""

    space: str
    now: datetime
    actor: str = ""
    kinds: Collection[str] = KINDS


def as_drafts(items: Iterable[str | Mapping[str, Any] | Draft]) -> list[Draft]:
    """Accept several; a lone one is refused, for a string is a sequence of letters and a mapping one of names."""
    if isinstance(items, str | bytes | Mapping | Draft) or not isinstance(items, Iterable):
        raise InvalidInput(
            f"Cannot remember many from {items!r}; pass a list of texts, mappings or Drafts.", value=items
        )
    return [as_draft(item) for item in items]


def as_draft(item: str | Mapping[str, Any] | Draft) -> Draft:
    """Accept a text, a mapping with `remember`'s argument names, or a `Draft`."""
    if isinstance(item, Draft):
        return item
    if isinstance(item, str):
        return Draft(item)
    if not isinstance(item, Mapping):
        raise InvalidInput(f"Cannot remember {item!r}; pass a string, a mapping or a Draft.", value=item)
    for name in item:
        if name not in _DRAFT_FIELDS:
            raise unknown_name("field of a memory", name, _DRAFT_FIELDS)
    if "text" not in item:
        raise InvalidInput(f"A memory needs `text`; got only {', '.join(item) or 'an empty mapping'}.", value=item)
    return Draft(**item)


def memory_of(draft: Draft, author: Author) -> Memory:
    """Validate a draft and turn it into a memory, without an id unless the draft brings one."""
    created = aware(draft.at, "at") if draft.at is not None else author.now
    expires = draft.valid_until if draft.ttl is None else _expiry(draft, created)
    valid_from, valid_until = checked_validity(draft.valid_from, expires)
    text = checked_text(draft.text)
    speaker = checked_name(draft.speaker, "speaker")
    return Memory(
        id=checked_name(draft.id, "id") or "",
        space=author.space,
        text=text,
        created_at=created,
        recorded_at=author.now,
        kind=checked_kind(draft.kind, author.kinds),
        importance=checked_unit(FLAT_IMPORTANCE if draft.importance is None else draft.importance, "importance"),
        key=checked_name(draft.key, "key"),
        tags=checked_names(draft.tags, "tags"),
        source=checked_name(draft.source, "source"),
        metadata=checked_metadata(draft.metadata),
        speaker=speaker,
        session=checked_name(draft.session, "session"),
        entities=names_in(text, speaker),
        valid_from=valid_from,
        valid_until=valid_until,
        supersedes=checked_names(draft.supersedes, "supersedes"),
        derived_from=checked_names(draft.derived_from, "derived_from"),
        pinned=checked_flag(draft.pinned, "pinned"),
        permanent=checked_flag(draft.permanent, "permanent"),
        recurs=checked_rule(draft.recurs, created),
        trust=checked_unit(draft.trust, "trust"),
    )


def _expiry(draft: Draft, created: datetime) -> datetime:
    """Return when a memory with a time to live expires: counted from when it was said, or from when it begins."""
    if draft.valid_until is not None:
        raise InvalidInput("ttl and valid_until both say when it expires; give one.", value=draft.ttl)
    start = created if draft.valid_from is None else aware(draft.valid_from, "valid_from")
    return start + checked_span(draft.ttl)


def checked_span(ttl: Any) -> timedelta:
    """Check a time to live: a timedelta, or seconds, above zero."""
    number = isinstance(ttl, int | float) and not isinstance(ttl, bool)
    try:
        span = timedelta(seconds=ttl) if number else ttl
        if isinstance(span, timedelta) and timedelta(0) < span < LONGEST_SPAN:
            return span
    except (OverflowError, ValueError):
        pass
    raise InvalidInput(f"ttl={ttl!r} is no span of time; pass a timedelta, or seconds above 0.", value=ttl)


def checked_text(text: Any) -> str:
    """Refuse what is no text, is empty, cannot be written as UTF-8, or is absurdly long."""
    if not isinstance(text, str):
        raise InvalidInput(f"A memory's text must be a string, got {type(text).__name__}.", value=text)
    if not text.strip():
        raise InvalidInput(f"A memory's text must not be empty, got {text!r}.", value=text)
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(
            f"The text has {len(text):,} characters; at most {LONGEST_TEXT:,}. Split it into several memories.",
            length=len(text),
        )
    return writable(text, "text")


def writable(text: str, name: str) -> str:
    """Refuse lone surrogates: they cannot be written as UTF-8, by any store or wire."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{name} contains a lone surrogate at position {error.start}; decode it properly first, "
            "e.g. text.encode('utf-16', 'surrogatepass').decode('utf-16').",
            position=error.start,
        ) from None
    return text


def checked_name(value: Any, name: str) -> str | None:
    """Check an optional short string: id, key, source, speaker, session."""
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name} must be a non-empty string, got {value!r}.", value=value)
    if len(value) > LONGEST_NAME:
        raise InvalidInput(f"{name} has {len(value):,} characters; at most {LONGEST_NAME:,}.", length=len(value))
    return writable(value, name)


def checked_id(value: Any) -> str:
    """Check an id that is asked for; one that nobody could have given is simply not found."""
    if not isinstance(value, str):
        raise InvalidInput(f"id={value!r} is not a string; pass a memory's id, e.g. memory.id.", value=value)
    return value


def checked_kind(kind: Any, known: Collection[str]) -> str:
    """Refuse kinds that nobody registered: a typo would silently decay by another half-life."""
    if isinstance(kind, str) and kind in known:
        return kind
    if isinstance(kind, str) and SLUG.fullmatch(kind):
        error = unknown_name("kind", kind, known)
        raise InvalidInput(f"{error.message} Register a new one with register_kind({kind!r}).", **error.details)
    raise InvalidInput(f"kind={kind!r} is not a slug such as 'fact' or 'support-ticket'.", value=kind)


def checked_unit(value: Any, name: str) -> float:
    """Check a number of 0..1."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= 1:
        hint = " For the 1-10 scale use rating(8)." if name == "importance" else ""
        raise InvalidInput(f"{name}={value!r} is not a number of 0..1.{hint}", value=value)
    return float(value)


def checked_flag(value: Any, name: str) -> bool:
    """Check a yes or no: ``pinned="no"`` would otherwise be a yes."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name}={value!r} is neither True nor False.", value=value)
    return value


def checked_names(values: Any, name: str) -> tuple[str, ...]:
    """Check several short strings (tags, ids) and return them without repetition; None is none."""
    if values is None or (isinstance(values, tuple) and not values):
        return ()
    return tuple(dict.fromkeys(_element(value, name) for value in checked_elements(values, name)))


def checked_elements(values: Any, name: str) -> tuple[Any, ...]:
    """Refuse what is no list: a lone string, bytes, a number."""
    if isinstance(values, bytes) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name}={values!r} is not a list of strings.", value=values)
    return strings(values, name)


def _element(value: Any, name: str) -> str:
    text = checked_name(value, f"an element of {name}")
    if text is None:
        raise InvalidInput(f"{name} holds None; leave it out.", value=value)
    return text


def checked_metadata(metadata: Any) -> dict[str, Json]:
    """Return metadata as plain JSON data, so that every store gives back what was put in."""
    if metadata is None or (isinstance(metadata, Mapping) and not metadata):
        return {}
    try:
        named = isinstance(metadata, Mapping) and _named_by_strings(metadata)
        text = json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False) if named else ""
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"metadata is not JSON: {error}.", value=metadata) from None
    if not named:
        raise InvalidInput(f"metadata must map strings to JSON values, got {metadata!r}.", value=metadata)
    plain: dict[str, Json] = json.loads(writable(text, "metadata"))
    return plain


def _named_by_strings(value: object) -> bool:
    """Whether every mapping in it, however deep, has string names: JSON would turn a 1 into "1" without a word."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _named_by_strings(part) for key, part in value.items())
    return not isinstance(value, list | tuple) or all(_named_by_strings(part) for part in value)


def checked_rule(rule: str | None, created: datetime) -> str | None:
    """Check a recurrence rule by reading it."""
    if rule is None:
        return None
    if not isinstance(rule, str):
        raise InvalidInput(f"recurs={rule!r} is not a string; say 'yearly' or give an RFC 5545 rule.", value=rule)
    try:
        parse_rule(rule, created)
    except ValueError as error:
        raise InvalidInput(f"recurs={rule!r}: {error}", value=rule) from None
    return rule


def checked_validity(
    valid_from: datetime | None, valid_until: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Check the span in which a memory is true: aware ends, in order."""
    start = aware(valid_from, "valid_from") if valid_from is not None else None
    end = aware(valid_until, "valid_until") if valid_until is not None else None
    if start and end and start >= end:
        raise InvalidInput(f"valid_from={start.isoformat()} is not before valid_until={end.isoformat()}.")
    return start, end


def check_version(memory: Memory, version: str | None) -> None:
    """Refuse to touch a memory that is not the one its caller saw."""
    if version is not None and memory.version != version:
        raise Changed(
            f"Memory {memory.id!r} was changed since version {version!r} was seen. Fetch it again and decide anew.",
            id=memory.id,
            version=memory.version,
        )


def new_id(tx: Transaction, memory: Memory) -> str:
    """Return an id made from what is remembered, so that the same history gives the same ids on every machine."""
    for ordinal in range(1_000_000):
        digest = _id_of(memory, ordinal)
        if tx.get(digest) is None:
            return digest
    raise InvalidInput("A million memories with one text and time: give them ids of your own.")


def likely_ids(memories: Iterable[Memory]) -> list[str]:
    """Return the ids that new memories bring, or will have unless others have them."""
    return [memory.id or _id_of(memory, 0) for memory in memories]


def _id_of(memory: Memory, ordinal: int) -> str:
    parts = (memory.space, memory.created_at.isoformat(), memory.kind, memory.text, str(ordinal))
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=10).hexdigest()


def content(memory: Memory) -> dict[str, Json]:
    """Return what a memory says and is, without how it was read: what journal and export show."""
    data = dict(zip(_CONTENT, _contents(memory), strict=True))
    for name, value in data.items():
        if value.__class__ in _PLAIN:  # most are
            continue
        if isinstance(value, datetime):
            data[name] = value.isoformat()
        elif isinstance(value, tuple):
            data[name] = list(value)
        elif isinstance(value, Mapping):
            data[name] = dict(value)
    return data


_CONTENT: Final = tuple(name for name in MEMORY_FIELDS if name not in {"access", "space"})
_contents: Final = attrgetter(*_CONTENT)
_PLAIN: Final = frozenset((str, float, int, bool, type(None)))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a new memory stands among those it takes the place of."""

    retires: tuple[Memory, ...] = ()
    successor: Memory | None = None  # said later though told earlier: a backfill does not retire the present


def place_of(tx: Transaction, memory: Memory, memory_id: str) -> Place:
    """Find what a new memory retires: what it names, whatever its age, and what held its key until then."""
    named = [_named(tx, name, memory) for name in memory.supersedes]
    holders = [held for held in tx.holders(memory.key) if held.id != memory_id] if memory.key else []
    newer = [held for held in holders if held.created_at > memory.created_at and held not in named]
    if not newer:
        return Place(_distinct([*holders, *named]))
    older = [held for held in holders if held not in newer]
    successor, before = _between(tx, memory, min(newer, key=lambda held: held.created_at))
    return Place(_distinct([*before, *older, *named]), successor)


def _named(tx: Transaction, name: str, memory: Memory) -> Memory:
    found = tx.get(name)
    if found is None:
        raise NotFound(f"supersedes={name!r}: no memory with this id in space {memory.space!r}.", id=name)
    return found


def _distinct(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    return tuple({memory.id: memory for memory in memories}.values())


def _between(tx: Transaction, memory: Memory, successor: Memory) -> tuple[Memory, list[Memory]]:
    """Walk a key's chain back to the gap where an earlier saying belongs: its successor, and those just before it."""
    seen = {successor.id}
    while True:
        found = [tx.get(name) for name in successor.supersedes if name not in seen]
        links = [held for held in found if held and held.key == memory.key and held.superseded_by == successor.id]
        later = [held for held in links if held.created_at > memory.created_at]
        if not later:
            return successor, links
        successor = min(later, key=lambda held: held.created_at)
        seen.add(successor.id)


def entry(
    action: str, memory: Memory, author: Author, *, before: Memory | None = None, reason: str = ""
) -> JournalEntry:
    """Return the journal line of a change."""
    return JournalEntry(
        at=author.now,
        action=action,
        memory_id=memory.id,
        actor=author.actor,
        reason=reason,
        before=content(before) if before else None,
        after=content(memory),
    )


def taken_over(tx: Transaction, old: Memory, new: Memory) -> list[Memory]:
    """Return what gives way to a memory that takes over a key; one that is retired itself takes nothing over."""
    if not new.key or new.key == old.key or not new.retrievable:
        return []
    return [held for held in tx.holders(new.key) if held.id != new.id]


def supersede(tx: Transaction, old: Memory, new: Memory, author: Author, why: str = "") -> None:
    """Retire ``old`` in favour of ``new`` at once; ``why`` where it was not asked for by key or name.

    One that is superseded already keeps its successor, unless ``new`` was said in between; the journal notes the other.
    """
    moment = max(new.created_at, old.created_at)
    if old.superseded_at is not None and (old.superseded_by != new.superseded_by or moment >= old.superseded_at):
        tx.journal(
            entry("supersede", old, author, before=old, reason=f"superseded by {new.id} as well{why and ': '}{why}")
        )
        return
    retired = old.changed(superseded_at=moment, superseded_by=new.id)
    tx.replace(retired)
    tx.journal(entry("supersede", retired, author, before=old, reason=f"superseded by {new.id}{why and ': '}{why}"))


def lead_to(tx: Transaction, successor: Memory, new: Memory, author: Author) -> None:
    """Let the successor of a backfilled memory name it, in the place of what the new one now leads on from."""
    kept = [name for name in successor.supersedes if name not in new.supersedes]
    changed = successor.changed(supersedes=(*kept, new.id))
    tx.replace(changed)
    tx.journal(entry("update", changed, author, before=successor, reason=f"{new.id} was said before it"))
