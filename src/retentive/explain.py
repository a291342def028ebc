"""Say why a recall came out as it did: a table to read, and the same with bars for a terminal.

Every number shown is taken from the hits themselves, so the table cannot tell another story than the ranking did: the
contributions and modifiers of a hit reproduce its score.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from retentive.policy.policy import Policy
from retentive.recall.lines import human_age, visible
from retentive.recall.outcome import Compacted, Cut, Hit, Signal, Trace
from retentive.types import Memory

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

WIDTH: Final = 100
CUTS_SHOWN: Final = 3
BAR: Final = 24
INDENT: Final = " " * 12
COLOURS: Final = ("cyan", "magenta", "yellow", "green", "blue", "red", "bright_cyan", "bright_magenta")
GLYPHS: Final = "█▓▒░▚▞▤▥"
"""One per signal beside the colour, so that bars can be told apart without it."""
RELATIVE_SCORES: Final = (
    "Scores must not be compared between recalls: min-max measures each hit against the others found with it. "
    "Relevance and similarity are absolute and may be."
)


class Explainable(Protocol):
    """What an explanation reads; a ``Recall`` has it all."""

    @property
    def policy(self) -> Policy: ...  # noqa: D102
    @property
    def hits(self) -> Sequence[Hit]: ...  # noqa: D102
    @property
    def core(self) -> Sequence[Memory]: ...  # noqa: D102
    @property
    def compacted(self) -> Compacted | None: ...  # noqa: D102
    @property
    def trace(self) -> Trace: ...  # noqa: D102


def explain(recall: Explainable) -> str:
    """Return the explained table as plain text, at most 100 columns wide."""
    parts = [list(_question(recall)), *(_hit(place, hit, recall.trace) for place, hit in enumerate(recall.hits, 1))]
    parts += [list(_beside(recall)), list(_remarks(recall))]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def relative_scores(policy: Policy) -> bool:
    """Whether scores under this policy depend on which other memories were candidates."""
    return any(spec.normalise in {"minmax", "population"} for spec in policy.signals.values())


def _question(recall: Explainable) -> Iterator[str]:
    trace = recall.trace
    count = len(recall.hits)
    yield f"{count} {'hit' if count == 1 else 'hits'} under {trace.policy!r} at {trace.now:%Y-%m-%d %H:%M %Z}".rstrip()
    yield from _labelled("cue", f'"{visible(trace.cue)}"')
    if trace.utterance and trace.utterance != trace.cue:
        yield from _labelled("utterance", f'"{visible(trace.utterance)}"')
    if trace.clauses:
        yield from _labelled("clauses", " | ".join(map(visible, trace.clauses)))
    if trace.entities:
        yield from _labelled("entities", ", ".join(map(visible, trace.entities)))
    if trace.intent:
        yield from _labelled("time", _intent(trace.intent))
    yield from _labelled("channels", ", ".join(_channel(name, report) for name, report in trace.channels.items()))
    for habit in trace.habits:
        yield from _labelled("policy", visible(habit))
    yield from _labelled("weights", ", ".join(f"{name} {weight:g}" for name, weight in trace.weights.items()))


def _labelled(label: str, text: str) -> list[str]:
    """Return ``label  text`` wrapped under itself; nothing where there is nothing to say."""
    if not text:
        return []
    return textwrap.wrap(text, WIDTH, initial_indent=f"{label:<10}  ", subsequent_indent=INDENT)


def _intent(intent: Mapping[str, Any]) -> str:
    start, end = intent.get("start"), intent.get("end")
    window = f", window {str(start)[:10]} to {str(end)[:10]}" if start and end else ""
    return f'"{visible(str(intent.get("phrase", "")))}" points to the {_direction(intent)}{window}'


def _direction(intent: Mapping[str, Any]) -> str:
    direction = str(intent.get("direction", "?"))
    return {"current": "present"}.get(direction, direction)


def _channel(name: str, report: Any) -> str:
    best = f", best {report.best:.3f}" if report.best is not None else ""
    return f"{name} {report.found} of {report.scanned}{best}"


def _hit(place: int, hit: Hit, trace: Trace) -> list[str]:
    memory = hit.memory
    about = f"{human_age(memory.created_at, trace.now)}, {memory.kind}"
    head = f"{place:>2}  {hit.score:>7.4f} "
    lines = [head + shortened(visible(memory.text), WIDTH - len(head))]
    lines += textwrap.wrap(
        f"{about}, by {', '.join(hit.channels) or 'no channel'}; similarity {hit.similarity:.3f}, "
        f"relevance {hit.relevance:.3f}; id {visible(memory.id)}",
        WIDTH,
        initial_indent=INDENT,
        subsequent_indent=INDENT,
    )
    return [*lines, *_arithmetic(hit), *_doubt(hit)]


def _arithmetic(hit: Hit) -> Iterator[str]:
    if hit.signals:
        yield f"{INDENT}{'signal':<12} {'raw':>10}   {'normalised':>10}   {'weight':>7}   {'contribution':>12}"
    for name, signal in hit.signals.items():
        yield (
            f"{INDENT}{name:<12} {signal.raw:>10.4f} → {signal.normalised:>10.4f} × {signal.weight:>7.3f} = "
            f"{signal.contribution:>12.4f}"
        )
    for modifier in hit.modifiers:
        yield from textwrap.wrap(
            f"× {modifier.factor:.3f} {modifier.name}: {visible(modifier.reason)}",
            WIDTH,
            initial_indent=INDENT,
            subsequent_indent=INDENT + "  ",
        )


def _doubt(hit: Hit) -> list[str]:
    if not hit.stale:
        return []
    return textwrap.wrap(f"stale: {visible(hit.stale)}", WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)


def _beside(recall: Explainable) -> Iterator[str]:
    """What the hits are not: pinned, compacted, cut."""
    if recall.core:
        yield from _labelled("pinned", f"{len(recall.core)} in the core block, never among the hits")
    if recall.compacted:
        named = ", ".join(map(visible, recall.compacted.ids))
        yield from _labelled("compacted", f"{len(recall.compacted.ids)} over the token budget: {named}")
    for stage, cuts in _by_stage(recall.trace.cut).items():
        shown = "; ".join(f"{visible(cut.id)} at {cut.score:.4f}, {visible(cut.reason)}" for cut in cuts[:CUTS_SHOWN])
        more = f"; and {len(cuts) - CUTS_SHOWN} more" if len(cuts) > CUTS_SHOWN else ""
        yield from _labelled("cut", f"{len(cuts)} by {stage}: {shown}{more}")


def _by_stage(cuts: Sequence[Cut]) -> dict[str, list[Cut]]:
    stages: dict[str, list[Cut]] = {}
    for cut in cuts:
        stages.setdefault(cut.stage, []).append(cut)
    return stages


def _remarks(recall: Explainable) -> Iterator[str]:
    work = recall.trace.work
    yield from _labelled(
        "work",
        f"{work.rows_scanned} rows scanned, {work.candidates} candidates, {work.candidates_scored} scored, "
        f"{work.texts_read} texts read",
    )
    for note in recall.trace.notes:
        yield from _labelled("note", visible(note))
    if recall.hits and relative_scores(recall.policy):
        yield from _labelled("scores", RELATIVE_SCORES)


def cells(text: str) -> int:
    """Return how many columns a text takes in a terminal: wide characters two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shortened(text: str, columns: int) -> str:
    """Cut a text to at most so many columns, an ellipsis in place of what is gone."""
    if cells(text) <= columns:
        return text
    taken, used = "", 1
    for character in text:
        used += cells(character)
        if used > columns:
            break
        taken += character
    return f"{taken.rstrip()}…"


def rich_table(recall: Explainable, *, detail: bool = False) -> Group:
    """Return the hits with a stacked bar each (what each signal added), for a rich console.

    ``detail`` adds every signal's arithmetic under its hit.
    """
    from rich.console import Group  # noqa: PLC0415 - rich takes 50 ms to import, and most recalls never draw
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    styles = _styles(recall)
    table = Table(box=None, pad_edge=False, show_header=False, expand=False)
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(width=BAR, no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    best = max((abs(hit.score) for hit in recall.hits), default=0.0)
    for place, hit in enumerate(recall.hits, 1):
        table.add_row(str(place), f"{hit.score:.3f}", _bar(hit, best, styles), _told(hit, recall.trace, detail))
    empty = [] if recall.hits else [Text("Nothing relevant is remembered.", style="italic")]
    remarks = [Text(line, style="dim") for line in _footer(recall)]
    return Group(*empty, table, _legend(styles), *remarks)


def _styles(recall: Explainable) -> dict[str, tuple[str, str]]:
    """Give every signal that can be seen in some bar its colour and glyph, in the order in which they were combined."""
    best = max((abs(hit.score) for hit in recall.hits), default=0.0)
    seen = dict.fromkeys(
        name
        for hit in recall.hits
        for name, part in _parts(hit).items()
        if best > 0 and 2 * part * BAR * hit.score >= best
    )
    order = dict.fromkeys(name for hit in recall.hits for name in hit.signals if name in seen)
    return {name: (GLYPHS[at % len(GLYPHS)], COLOURS[at % len(COLOURS)]) for at, name in enumerate(order)}


def _bar(hit: Hit, best: float, styles: Mapping[str, tuple[str, str]]) -> Text:
    """Draw a score as long as it is beside the best, each signal's part of it in its own colour and glyph."""
    from rich.text import Text  # noqa: PLC0415

    bar = Text()
    if best <= 0 or hit.score <= 0:
        return bar
    if hit.combine == "product":
        return Text(GLYPHS[0] * max(1, round(BAR * hit.score / best)), style=COLOURS[0])
    drawn, reached = 0, 0.0
    for name, part in _parts(hit).items():
        reached += part * BAR * hit.score / best
        if name not in styles:  # too little to be seen: its share goes to the next
            continue
        glyph, colour = styles[name]
        bar.append(glyph * (round(reached) - drawn), style=colour)
        drawn = round(reached)
    return bar


def _parts(hit: Hit) -> dict[str, float]:
    """Return each signal's share of what was added; what a signal took away has no length."""
    added = {name: max(0.0, signal.contribution) for name, signal in hit.signals.items()}
    whole = sum(added.values())
    return {name: value / whole for name, value in added.items() if whole > 0}


def _told(hit: Hit, trace: Trace, detail: bool) -> Text:
    from rich.text import Text  # noqa: PLC0415

    memory = hit.memory
    told = Text(shortened(visible(memory.text), 160))
    facts = [memory.kind, human_age(memory.created_at, trace.now), "+".join(hit.channels)]
    facts += [f"× {modifier.factor:.2g} {visible(modifier.reason)}" for modifier in hit.modifiers]
    facts += [f"stale: {visible(hit.stale)}"] if hit.stale else []
    told.append("\n" + " · ".join(fact for fact in facts if fact), style="dim")
    for name, signal in hit.signals.items() if detail else ():
        told.append(f"\n{_sum(name, signal)}", style="dim")
    return told


def _sum(name: str, signal: Signal) -> str:
    return f"{name} {signal.raw:.3f} → {signal.normalised:.3f} × {signal.weight:.2f} = {signal.contribution:.3f}"


def _legend(styles: Mapping[str, tuple[str, str]]) -> Text:
    from rich.text import Text  # noqa: PLC0415

    legend = Text()
    for name, (glyph, colour) in styles.items():
        legend.append(f"{glyph} {name}  ", style=colour)
    return legend


def _footer(recall: Explainable) -> list[str]:
    """What a reader of the bars should know besides."""
    trace = recall.trace
    said = [f"time: {_intent(trace.intent)}"] if trace.intent else []
    said += [f"cut by {stage}: {len(cuts)}" for stage, cuts in _by_stage(trace.cut).items()]
    said += [f"compacted: {len(recall.compacted.ids)}"] if recall.compacted else []
    said += [f"pinned: {len(recall.core)}"] if recall.core else []
    return [*(["; ".join(said)] if said else []), *(visible(note) for note in trace.notes)]
