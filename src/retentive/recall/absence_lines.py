"""A `WhyNot` as text: the reason first, then the numbers it rests on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from retentive.recall.lines import visible

if TYPE_CHECKING:
    from retentive.recall.absence import Place, WhyNot
    from retentive.recall.outcome import Hit

WIDTH: Final = 100
INDENT: Final = " " * 12


def explain(why: WhyNot) -> str:
    """Return the reasons and the numbers behind them, at most 100 columns wide."""
    parts = [list(_verdict(why)), list(_reasons(why)), list(_channels(why)), list(_arithmetic(why)), list(_notes(why))]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _verdict(why: WhyNot) -> Iterator[str]:
    name, trace = visible(why.memory.id), why.trace
    asked = f'under {trace.policy!r} at {trace.now:%Y-%m-%d %H:%M %Z}, asked "{visible(trace.utterance)}"'
    came = f"came back: it is hit {why.rank}" if why.returned else f"did not come back: {why.kept_out_by}"
    yield from textwrap.wrap(f"{name} {came}, {asked}", WIDTH, subsequent_indent="  ")
    yield from _labelled("text", f'"{visible(why.memory.text)}"'[:200])


def _reasons(why: WhyNot) -> Iterator[str]:
    for reason in why.reasons:
        yield from _labelled(reason.stage, visible(reason.says))
        if reason.remedy:
            yield from _labelled("", f"→ let in by: {visible(reason.remedy)}")


def _channels(why: WhyNot) -> Iterator[str]:
    for place in why.places:
        yield f"{place.channel:<10}  {_standing(place)}"


def _standing(place: Place) -> str:
    rank = f"rank {place.rank}" if place.rank else "no match"
    score = "" if place.score is None or place.channel == "recent" else f", score {place.score:.4g}"
    return f"{rank}{score}, of a pool of {place.bound}" + ("" if place.asked else " (not asked by this policy)")


def _arithmetic(why: WhyNot) -> Iterator[str]:
    hit, last = why.hit, why.last
    if hit is None:
        yield f"{'similarity':<10}  {why.similarity:.3f}"
        return
    yield f"{'score':<10}  {hit.score:.4f}, relevance {hit.relevance:.3f}, similarity {hit.similarity:.3f}"
    if last is not None and not why.returned:
        yield f"{'last hit':<10}  {last.score:.4f}, {visible(last.memory.id)}"
    beside = last if last is not None and not why.returned else None
    yield from _signals(hit, beside)
    for modifier in hit.modifiers:
        yield from _labelled("", f"× {modifier.factor:.3f} {modifier.name}: {visible(modifier.reason)}")


def _signals(hit: Hit, last: Hit | None) -> Iterator[str]:
    for name, signal in hit.signals.items():
        other = None if last is None else last.signals.get(name)
        if not signal.contribution and (other is None or not other.contribution):
            continue
        beside = "" if other is None else f"   (last hit {other.contribution:.4f})"
        yield f"{INDENT}{name:<12} {signal.contribution:>8.4f}{beside}"


def _notes(why: WhyNot) -> Iterator[str]:
    for note in (*why.notes, *why.trace.notes):
        yield from _labelled("note", visible(note))


def _labelled(label: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=f"{label:<10}  ", subsequent_indent=INDENT)
