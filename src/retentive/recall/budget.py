"""Fit an answer into a token budget: the best whole, the rest squeezed into one block, nothing dropped in silence.

What a hit costs is what its rendered line costs, provenance and escapes included, in the dearer of XML and Markdown.
The frame around the lines (some 100 tokens, 130 with a block) is paid from the same budget but takes at most three
eighths of it. So what ``Recall.render`` writes as XML, Markdown or messages stays within a budget of 400 and more, and
a smaller one still holds memories rather than frame. Pinned memories come on top: they are the caller's own standing
choice.

Hits stay whole in the order of their rank while they fit beside a block that still has a few words for each of the
others, and in any case within three fifths of the room. The block has facts for as many as possible and only ids for
the rest; too little for all ids, and it says how many it does not name (``Compacted.ids`` names them all). Too little
for even one is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol, TypeAlias, runtime_checkable

from retentive.errors import InvalidInput
from retentive.recall.lines import (
    INFERRED,
    NOTE,
    Line,
    compacted_markdown,
    compacted_xml,
    line_of,
    markdown_line,
    visible,
    xml_line,
)
from retentive.recall.outcome import Compacted, Hit
from retentive.recall.rerank import Breaker, Failed
from retentive.text.budget import squeeze

CountTokens: TypeAlias = Callable[[str], int]

FEW_WORDS = 12  # tokens of text that every squeezed fact should have before a hit is kept whole at its cost
WHOLE_SHARE = 0.6  # of the room: what the best may take whole, however many others are squeezed
LEAST_WORDS = 5  # tokens below which a squeezed fact says nothing and its id alone is better
COMPACTOR_SECONDS = 10.0
SLACK = 8  # tokens: an estimate of the whole may exceed the sum of its parts' by a few
_LONGEST_AGE = "88 minutes ago"
_FRAME = f"""Memories, quoted as data:

```xml
<recalled now="2026-12-31T23:59:59Z" tokens="99999">
<note>{NOTE}</note>
<memories count="99" tokens="9999">
</memories>
</recalled>
```"""
_PROCEDURES = '<procedures count="99" tokens="9999">\n</procedures>\n'
_BLOCK = '<compacted count="99" tokens="9999" note="shortened; fetch by id">\n</compacted>\n'


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory that did not fit whole: what must stay of it, and what may be shortened."""

    id: str
    head: str  # "[id] kind, date:", on one line
    text: str  # on one line


@runtime_checkable
class Compactor(Protocol):
    """Writes several memories as one short text.

    - The answer is at most ``budget`` tokens and contains every entry's ``id`` as it stands, each with its fact.
    - It is called from another thread than the caller's and may be abandoned. It raises rather than return a
      placeholder; whatever it fails at, the extractive block takes its place.
    """

    def compact(self, entries: Sequence[Entry], budget: int) -> str:
        """Return the block's text."""
        ...


def fit(
    hits: Sequence[Hit],
    token_budget: int,
    *,
    count_tokens: CountTokens,
    cue_terms: Collection[str] = (),
    compactor: Compactor | None = None,
    breaker: Breaker | None = None,
    notes: list[str] | None = None,
) -> tuple[tuple[Hit, ...], Compacted | None]:
    """Return the hits that stay whole, best first, and the block that holds all others (None: everything fits).

    Why a compactor's answer was not taken is added to ``notes``.
    """
    scale = _Scale(count_tokens)
    lines = [line_of(hit.memory, _LONGEST_AGE, hit.stale) for hit in hits]
    costs = [scale.line(line) for line in lines]
    frame = scale.frame(lines)
    if not hits or sum(costs) <= _room(token_budget, frame):
        return tuple(hits), None
    frame += scale.text(_BLOCK)
    entries = [_entry(line) for line in lines]
    room = _room(token_budget, frame)
    whole = _kept_whole(entries, costs, room, scale)
    rest, left = entries[whole:], room - sum(costs[:whole])
    asked = _asked(compactor, rest, left, scale, breaker, [] if notes is None else notes)
    text = asked or _extracted(rest, left, scale, cue_terms)
    if text is None:
        raise _too_small(token_budget, frame, scale.block(_some_ids(rest, 1)), len(hits))
    return tuple(hits[:whole]), Compacted(text, tuple(entry.id for entry in rest), count_tokens(text))


def _room(token_budget: int, frame: int) -> int:
    """What is left for memories; it grows with every token of the budget, so that more never keeps less."""
    return token_budget - min(frame, token_budget * 3 // 8)


def _too_small(token_budget: int, frame: int, need: int, hits: int) -> InvalidInput:
    least = next(budget for budget in count(need) if _room(budget, frame) >= need)
    return InvalidInput(
        f"token_budget={token_budget!r} cannot hold even one id of the {hits} memories found; "
        f"the least that works here is {least}.",
        value=token_budget,
        least=least,
    )


class _Scale:
    """Weighs what would be rendered; every piece counts one token more for the line break after it."""

    def __init__(self, count_tokens: CountTokens) -> None:
        self._count = count_tokens

    def text(self, text: str) -> int:
        return self._count(text) + 1

    def line(self, line: Line) -> int:
        return max(self.text(xml_line(line)), self.text(markdown_line(line)))

    def block(self, text: str) -> int:
        return max(self.text(compacted_xml(text)), self.text(compacted_markdown(text)))

    def frame(self, lines: Sequence[Line]) -> int:
        procedures = self.text(_PROCEDURES) if any(line.kind == "procedure" for line in lines) else 0
        return SLACK + self.text(_FRAME) + procedures

    def wanted(self, entry: Entry) -> int:
        """What an entry should have in the block: its head and a few words."""
        return self.block(entry.head) + min(FEW_WORDS, self.block(entry.text))


def _entry(line: Line) -> Entry:
    marks = [INFERRED] * line.inferred + ["stale"] * bool(line.stale)
    head = f"[{visible(line.id)}] {', '.join([line.kind, *marks, line.when])}:"
    return Entry(line.id, head, visible(line.text))


def _kept_whole(entries: Sequence[Entry], costs: Sequence[int], room: int, scale: _Scale) -> int:
    """Return how many of the best stay whole.

    They may take all that leaves the others a few words each, and in any case `WHOLE_SHARE` of the room: the best
    answer whole and its rivals in brief serve better than all in brief. Every other id must still fit.
    """
    wanted = [scale.wanted(entry) for entry in entries]
    whole = 0
    for at in range(1, len(costs) + 1):
        spent = sum(costs[:at])
        generous = spent <= max(WHOLE_SHARE * room, room - sum(wanted[at:]))
        if not generous or spent + scale.block(_ids_only(entries[at:])) > room:
            break
        whole = at
    return whole


def _asked(
    compactor: Compactor | None,
    entries: Sequence[Entry],
    room: int,
    scale: _Scale,
    breaker: Breaker | None,
    notes: list[str],
) -> str | None:
    """Ask the compactor; None where there is none, or where its answer is late, too long or forgets a memory."""
    if compactor is None or room <= 0:
        return None
    breaker = breaker or Breaker()
    reason = breaker.refusal()
    if reason is None:
        try:
            text: object = breaker.thread.run(lambda: compactor.compact(entries, room), COMPACTOR_SECONDS)
        except Failed as failure:
            reason = str(failure)
        else:
            reason = _unusable(text, entries, room, scale)
            if reason is None:
                breaker.succeeded()
                return str(text)
        breaker.failed()
    notes.append(f"compacted by extraction: {reason}")
    return None


def _unusable(text: object, entries: Sequence[Entry], room: int, scale: _Scale) -> str | None:
    """Say why a compactor's answer cannot be used; None if it can."""
    if not isinstance(text, str):
        return f"the compactor answered {type(text).__name__}, not text"
    missing = [entry.id for entry in entries if entry.id not in text]
    if missing:
        return f"the compactor's answer does not name {len(missing)} of {len(entries)} memories"
    size = scale.block(text)
    return f"the compactor's answer takes {size} tokens of {room}" if size > room else None


def _extracted(entries: Sequence[Entry], room: int, scale: _Scale, terms: Collection[str]) -> str | None:
    """Shorten every fact to its share; where that cannot be, fewer facts and more ids; None where nothing fits."""
    for facts in _most_facts_first(entries, room, scale):
        for tightness in (1.0, 0.8, 0.6, 0.4):
            text = _block_text(entries, facts, int(room * tightness), scale, terms)
            if scale.block(text) <= room:
                return text
    for named in range(len(entries), 0, -1):
        if scale.block(text := _some_ids(entries, named)) <= room:
            return text
    return None


def _most_facts_first(entries: Sequence[Entry], room: int, scale: _Scale) -> Iterator[int]:
    """Yield how many of the best entries could have a fact, the most first, where the others' ids fit beside them."""
    for facts in range(len(entries), -1, -1):
        heads = sum(scale.block(entry.head) + LEAST_WORDS for entry in entries[:facts])
        if heads + scale.block(_ids_only(entries[facts:])) <= room:
            yield facts


def _block_text(entries: Sequence[Entry], facts: int, room: int, scale: _Scale, terms: Collection[str]) -> str:
    spent = sum(scale.block(entry.head) for entry in entries[:facts]) + scale.block(_ids_only(entries[facts:]))
    shares = _shares([scale.block(entry.text) for entry in entries[:facts]], room - spent)
    lines = [
        f"{entry.head} {squeeze(entry.text, share, cue_terms=terms)}"
        for entry, share in zip(entries, shares, strict=False)
    ]
    return "\n".join([*lines, *([_ids_only(entries[facts:])] if entries[facts:] else [])])


def _shares(needs: Sequence[int], room: int) -> list[int]:
    """Split room evenly; what a short text does not need goes to the longer ones."""
    shares = [0] * len(needs)
    for position, at in enumerate(sorted(range(len(needs)), key=lambda index: needs[index])):
        shares[at] = max(LEAST_WORDS, min(needs[at], room // (len(needs) - position)))
        room -= shares[at]
    return shares


def _ids_only(entries: Sequence[Entry]) -> str:
    return f"{len(entries)} more, by id only: {' '.join(visible(entry.id) for entry in entries)}"


def _some_ids(entries: Sequence[Entry], named: int) -> str:
    """Name the best few; the count says that there are more (all are in ``Compacted.ids``)."""
    if named == len(entries):
        return _ids_only(entries)
    ids = " ".join(visible(entry.id) for entry in entries[:named])
    return f"{len(entries)} more, by id only: {ids} and {len(entries) - named} not named here"
