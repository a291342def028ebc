"""Keeping memories: writing, fetching, listing, changing and forgetting, each as one transaction with its journal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from retentive.conflicts.settings import EVERYTHING_KEPT, Noticing
from retentive.embedders.protocol import Embedder, checked_vectors, identity
from retentive.errors import EmbedderMismatch, Forbidden, InvalidInput, NotFound, StoreBusy, StoreFull, unknown_name
from retentive.indexing import (
    EMBEDDER_SETTING,
    LANGUAGE_SETTING,
    identity_of,
    identity_setting,
    index_terms,
    language_of,
    names_in,
    passage,
    told,
)
from retentive.maintain.decide import RULES, PruneRules
from retentive.maintain.forget import Forgotten, Named, Order, carry_out, choose, cleaned
from retentive.maintain.prune import BATCH, prune_space, reactivated
from retentive.maintain.reembed import re_embed_space
from retentive.maintain.report import Upkeep
from retentive.once import forget_notes, once_of
from retentive.pages import Page, Version, chain_of, check_limit, read_cursor, write_cursor
from retentive.recall.reinforce import read
from retentive.recall.request import Tools
from retentive.recalling import LEDGER_DAYS, LEDGER_KEPT, Filters, gate_of
from retentive.stores.protocol import SpaceStore, Transaction
from retentive.text.languages import ENGLISH
from retentive.types import EmbedderIdentity, Gate, Json, Memory, Vectors
from retentive.weighing.novelty import MOST, novelty
from retentive.weighing.protocol import Rater
from retentive.weighing.rating import Rating
from retentive.writing import (
    Author,
    as_drafts,
    check_version,
    checked_flag,
    checked_id,
    checked_kind,
    checked_metadata,
    checked_name,
    checked_names,
    checked_rule,
    checked_text,
    checked_unit,
    checked_validity,
    entry,
    lead_to,
    likely_ids,
    memory_of,
    new_id,
    place_of,
    supersede,
    taken_over,
)

if TYPE_CHECKING:
    from retentive.conflicts.find import Notice

Progress = Callable[[int, int], None]
Lines = tuple[int, int]
"""Where the journal ended when a transaction began, and where it ends now."""


class Keeper:
    """The verbs of one space at one moment."""

    def __init__(
        self,
        store: SpaceStore,
        tools: Callable[[], Tools],
        now: datetime,
        actor: str,
        kinds: Collection[str],
        rules: PruneRules = RULES,
        rater: Callable[[], Rater | None] = lambda: None,
        noticing: Noticing = EVERYTHING_KEPT,
        language: str = ENGLISH,
    ) -> None:
        self.store = store
        self.noticing = noticing
        self._rater = rater
        self._tools = tools
        self._rules = rules
        self._language = language
        self._spoken: tuple[Transaction, str] | None = None
        self.author = Author(store.path, now, actor, kinds)
        self.after: Callable[[SpaceStore, Sequence[Memory], Lines, datetime], None] | None = None

    def check_embedder(self) -> None:
        """Refuse to mix vectors of two embedders."""
        self._agree(self.store.setting(EMBEDDER_SETTING))

    def _agree(self, setting: Json) -> None:
        stored, current = identity_of(setting), self._identity()
        if stored is not None and stored != current:
            raise EmbedderMismatch(
                f"Space {self.store.path!r} holds vectors of embedder {told(stored)}, but {told(current)} is in "
                f"use. Use {stored.id!r} again, or move every vector with `retentive maintain --re-embed` "
                "(Space.maintain(re_embed=True)).",
                stored=stored,
                current=current,
            )

    @property
    def embedder(self) -> Embedder:
        """The embedder in use."""
        return self._tools().embedder

    def _identity(self) -> EmbedderIdentity:
        found = identity(self._tools().embedder)
        return EmbedderIdentity(found.id, found.dimension, found.fingerprint)

    def remember(
        self, items: Iterable[Any], progress: Progress | None = None, *, once: str | None = None
    ) -> list[Memory]:
        """Validate, embed, look what is denied or repeated, write: all or none. Under a used key, what it gave."""
        given = as_drafts(items)
        asked = once_of(once, "remember", *given)
        if asked and (done := asked.done(self.store.setting(asked.name))) is not None:
            return self._again(done)
        drafts = [memory_of(draft, self.author) for draft in given]
        if not drafts:
            return []
        self.check_embedder()
        vectors = checked_vectors(self._tools().embedder, [passage(memory) for memory in drafts])
        rating = self.rating([at for at, draft in enumerate(given) if draft.importance is None], vectors, drafts)
        looked = self.store.last_line()
        notices = self.noticed(drafts, vectors)
        kept: list[Memory] = []
        with self.store.transaction() as tx:
            done = asked.done(tx.setting(asked.name)) if asked else None  # another process may have been faster
            if done is not None:
                return self._again(done)
            self.stamp(tx)
            if (began := tx.last_line()) != looked:  # others wrote since we looked: it may be what we say
                notices = self.noticed(drafts, vectors)
            drafts, reasons = rating.rated(tx, drafts)
            if len(drafts) > 1:
                tx.expect(likely_ids(drafts))
            for count, (draft, vector, seen, reason) in enumerate(
                zip(drafts, vectors, notices, reasons, strict=True), 1
            ):
                kept.append(self.admit(tx, draft, vector, seen, kept, reason))
                if progress is not None:
                    progress(count, len(drafts))
            rating.finish(tx, kept)
            if asked:
                asked.note(tx, [memory.id for memory in kept], self.author.now)
            lines = began, tx.last_line()
        self.told(kept, lines)
        return kept

    def told(self, kept: Sequence[Memory], lines: Lines) -> None:
        """Let the home know what was written, once it is: enough may have gathered for a reflection."""
        if self.after is not None:
            self.after(self.store, kept, lines, self.author.now)

    def _again(self, ids: Sequence[str]) -> list[Memory]:
        """Return what an earlier request remembered, as it stands now."""
        found = self.store.get(ids)
        return [self._found(found.get(name), name) for name in ids]

    def rating(self, places: Sequence[int], vectors: Vectors, drafts: Sequence[Memory] = ()) -> Rating:
        """Return what rates the drafts at these places; how new they are is looked up before anybody must wait."""
        rater = self._rater() if places else None
        if rater is None:
            return Rating(None)
        band = getattr(self._tools().embedder, "band", None)  # as `Calibrated` has it
        rated = [drafts[at] for at in places] if drafts and len(places) <= MOST else []
        curious = getattr(rater, "curious", None)  # as `CuriousRater` has it
        wanted = [curious(draft) for draft in rated] if curious is not None else []
        asked = [vectors[at] for at in places]
        new = novelty(self.store, asked, wanted or [True] * len(asked), Gate(true_at=self.author.now), band)
        return Rating(rater, places, new)

    def stamp(self, tx: Transaction) -> None:
        """Note the embedder with the first vector; check again, for another process may have been first."""
        setting = tx.setting(EMBEDDER_SETTING)
        self._agree(setting)
        language = self._language_in(tx)
        if setting is None:
            tx.set_setting(EMBEDDER_SETTING, identity_setting(self._identity()))
            if language != ENGLISH:
                tx.set_setting(LANGUAGE_SETTING, language)

    def _language_in(self, tx: Transaction) -> str:
        """Return in which language this transaction stems words; asked once, for nobody else writes meanwhile."""
        if self._spoken is None or self._spoken[0] is not tx:
            self._spoken = tx, language_of(tx, self._language)
        return self._spoken[1]

    def noticed(self, drafts: Sequence[Memory], vectors: Sequence[Vectors] | Vectors) -> list[Notice]:
        """Return what new memories repeat or deny of what is there; to be asked before the transaction begins."""
        from retentive.conflicts.find import notice  # noqa: PLC0415 - the words it reads by are for writers only

        try:
            return notice(self.store, drafts, vectors, self.noticing, Gate(true_at=self.author.now))
        except InvalidInput:
            self.check_embedder()  # another process may have moved the space to another one meanwhile
            raise

    def admit(
        self, tx: Transaction, draft: Memory, vector: Vectors, notice: Notice, kept: Sequence[Memory], reason: str = ""
    ) -> Memory:
        """Write one memory with what it retires, or reinforce what it repeats; ``kept`` is the batch so far."""
        if not notice.repeats and not notice.denials and notice.repeats != 0:
            return self.insert(tx, draft, vector, reason)
        from retentive.conflicts.apply import admit  # noqa: PLC0415

        insert = partial(self.insert, tx, reason=reason)
        return admit(tx, draft, vector, notice, kept, self.noticing, self.author, insert)

    def insert(
        self,
        tx: Transaction,
        memory: Memory,
        vector: Vectors,
        reason: str = "",
        why: Mapping[str, str] = MappingProxyType({}),
    ) -> Memory:
        """Write one memory in a transaction that has been stamped: row, journal, what it retires (``why``, by id)."""
        memory_id = memory.id or new_id(tx, memory)
        place = place_of(tx, memory, memory_id)
        memory = memory.changed(id=memory_id, supersedes=tuple(held.id for held in place.retires))
        if place.successor is not None:
            memory = memory.changed(superseded_at=place.successor.created_at, superseded_by=place.successor.id)
        tx.insert(memory, vector, index_terms(memory, self._language_in(tx)))
        tx.journal(entry("remember", memory, self.author, reason=reason))
        for held in place.retires:
            supersede(tx, held, memory, self.author, why.get(held.id, ""))
        if place.successor is not None:
            lead_to(tx, place.successor, memory, self.author)
        return memory

    def get(self, memory_id: str, *, touch: bool) -> Memory:
        """Fetch one memory; counts as an access, unless the store cannot be written just now."""
        if touch:
            with suppress(StoreBusy, StoreFull, Forbidden):  # as in recall: never lose an answer over a note
                return self._touched(memory_id)
        return self._read(memory_id)

    def _touched(self, memory_id: str) -> Memory:
        with self.store.transaction() as tx:
            memory = self._found(tx.get(checked_id(memory_id)), memory_id)
            access = read(memory.access, self.author.now)
            tx.set_access({memory_id: access})
            return reactivated(self.store, tx, memory.changed(access=access), self._rules, self.author)

    def _read(self, memory_id: str) -> Memory:
        return self._found(self.store.get([checked_id(memory_id)]).get(memory_id), memory_id)

    def _found(self, memory: Memory | None, memory_id: str) -> Memory:
        if memory is None:
            raise NotFound(f"No memory {memory_id!r} in space {self.store.path!r}.", id=memory_id)
        return memory

    def page(
        self, filters: Filters, *, hidden: bool, limit: int, cursor: str | None, pinned: bool | None = None
    ) -> Page:
        """List memories, newest first."""
        check_limit(limit)
        gate = gate_of(filters, self.author.now, hidden=hidden, pinned=pinned)
        found = self.store.page(gate, limit=limit + 1, after=read_cursor(cursor))
        more = len(found) > limit
        return Page(found[:limit], write_cursor(found[limit - 1]) if more else None)

    def update(
        self,
        memory_id: str,
        changes: Mapping[str, Any],
        reason: str,
        *,
        version: str | None = None,
        once: str | None = None,
    ) -> Memory:
        """Change fields; the text only with its vector, terms and names."""
        fields = self._checked(changes)
        asked = once_of(once, "update", memory_id, sorted(changes.items()), reason)
        vector = None
        if "text" in fields:
            self.check_embedder()
            before = self._read(memory_id)
            vector = checked_vectors(self._tools().embedder, [passage(before.changed(text=fields["text"]))])[0]
        with self.store.transaction() as tx:
            if vector is not None:
                self._agree(tx.setting(EMBEDDER_SETTING))  # another process may have moved the vectors meanwhile
            old = self._found(tx.get(checked_id(memory_id)), memory_id)
            if asked and asked.done(tx.setting(asked.name)) is not None:
                return old
            check_version(old, version)
            new = self._changed(old, fields)
            retired = taken_over(tx, old, new)
            new = new.changed(supersedes=tuple(dict.fromkeys([*new.supersedes, *(held.id for held in retired)])))
            tx.replace(new, vector, index_terms(new, self._language_in(tx)))
            tx.journal(entry("update", new, self.author, before=old, reason=reason))
            for held in retired:
                supersede(tx, held, new, self.author)
            if asked:
                asked.note(tx, [new.id], self.author.now)
        return new

    def _checked(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        readers: dict[str, Callable[[Any], Any]] = {
            "text": checked_text,
            "kind": lambda value: checked_kind(value, self.author.kinds),
            "importance": lambda value: checked_unit(value, "importance"),
            "key": lambda value: checked_name(value, "key"),
            "tags": lambda value: checked_names(value, "tags"),
            "source": lambda value: checked_name(value, "source"),
            "metadata": checked_metadata,
            "valid_from": lambda value: checked_validity(value, None)[0],
            "valid_until": lambda value: checked_validity(None, value)[1],
            "pinned": lambda value: checked_flag(value, "pinned"),
            "permanent": lambda value: checked_flag(value, "permanent"),
            "recurs": lambda value: value,  # read as of the memory's own day, once that is known
            "trust": lambda value: checked_unit(value, "trust"),
        }
        for name in changes:
            if name not in readers:
                raise unknown_name("field to update", name, readers)
        if not changes:
            raise InvalidInput(f"Nothing to update: pass at least one of {', '.join(readers)}.")
        return {name: readers[name](value) for name, value in changes.items()}

    def _changed(self, old: Memory, fields: Mapping[str, Any]) -> Memory:
        new = old.changed(**fields, updated_at=self.author.now)
        checked_validity(new.valid_from, new.valid_until)
        checked_rule(new.recurs, new.created_at)
        return new.changed(entities=names_in(new.text, new.speaker)) if "text" in fields else new

    def forget(
        self,
        what: Named,
        order: Order,
        *,
        version: str | None = None,
        once: str | None = None,
    ) -> Forgotten:
        """Hide, or erase and leave a tombstone."""
        about = what.ids[0] if len(what.ids) == 1 else what
        asked = once_of(once, "forget", about, order.erase, order.reason)
        with self.store.transaction() as tx:
            done = asked.done(tx.setting(asked.name)) if asked else None
            if done is not None:
                return Forgotten(tuple(done), order.erase)
            chosen = choose(self.store, tx, what)
            for memory in chosen.values():
                check_version(memory, version)
            if asked and not order.dry_run:
                asked.note(tx, list(chosen), self.author.now)
            told = carry_out(self.store, tx, chosen, what, order, self.author)
        return cleaned(self.store, told)

    def history(self, memory_id: str) -> list[Version]:
        """Return every state, oldest first; an erased memory has none but its journal."""
        lines = self.store.read_journal(checked_id(memory_id))
        if not lines:
            raise NotFound(f"No memory {memory_id!r} in space {self.store.path!r}.", id=memory_id)
        return [
            Version(line.at, line.action, line.reason, line.actor, line.after)
            for line in lines
            if line.after is not None
        ]

    def chain(self, memory_id: str) -> list[Memory]:
        """Walk supersession both ways from any link."""
        return chain_of(self.store, self._read(memory_id))

    def maintain(
        self,
        *,
        re_embed: Embedder | None,
        prune: bool,
        dry_run: bool,
        batch: int = BATCH,
        progress: Progress | None = None,
    ) -> Upkeep:
        """Trim the ledger, prune what nobody needs, and move vectors to another embedder where one is given."""
        if dry_run:
            report = prune_space(self.store, self.author, self._rules, dry_run=True, batch=batch, progress=progress)
            return Upkeep({"pruned": len(report.pruned), "looked_at": report.looked_at}, report.pruned, dry_run=True)
        moved = re_embed_space(self.store, re_embed, self.author, progress) if re_embed is not None else 0
        with self.store.transaction() as tx:
            trimmed = tx.trim_ledger(before=self.author.now - timedelta(days=LEDGER_DAYS), keep=LEDGER_KEPT)
        forget_notes(self.store, self.author.now)
        counts = {"re_embedded": moved, "ledger_trimmed": trimmed}
        if not prune:
            return Upkeep(counts)
        report = prune_space(self.store, self.author, self._rules, batch=batch, progress=progress)
        return Upkeep({**counts, "pruned": len(report.pruned), "looked_at": report.looked_at}, report.pruned)
