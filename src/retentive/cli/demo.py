"""The demo: what a policy changes, on a small invented history, in seconds and without a network.

Everything shown is computed when it is shown: the plain answer is a cosine ranking over the same vectors, what is
wrong with it is read from the memories themselves, and the curves are the functions that recalls are scored with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from retentive.answer import Recall
from retentive.cli.demo_history import NOW, SPACE, history
from retentive.embedders.protocol import Embedder, checked_vectors, query_vector
from retentive.explain import COLOURS, rich_table, shortened
from retentive.memory import Retentive, Space
from retentive.recall.lines import human_age
from retentive.scoring.decay import ebbinghaus, half_life, hourly_base
from retentive.scoring.freshness import freshness
from retentive.types import Floats, Memory

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

COMPARED: Final = "How and when do I deploy billing?"
ALSO_COMPARED: Final = (
    "When does Mara like her code reviews?",
    "error E4012",
    "How do I reach Mara urgently?",
    "Which database does the billing service use?",
    "Who owns the invoice templates?",
)
EXPLAINED: Final = "What did we decide about payment retries three months ago?"
ASKED_TWICE: Final = "What went wrong with the billing database?"
LATER: Final = timedelta(minutes=12)
SHOWN: Final = 5
BUDGET: Final = 480
DAYS: Final = 240.0


@dataclass(frozen=True, slots=True)
class Plain:
    """One result of a plain vector search, and what is wrong with it, if anything."""

    memory: Memory
    cosine: float
    wrong: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question, answered both ways."""

    question: str
    plain: tuple[Plain, ...]
    recall: Recall


@dataclass(frozen=True, slots=True)
class Demo:
    """Everything the demo shows, computed."""

    memories: int
    comparisons: tuple[Comparison, ...]
    explained: Recall
    first: Recall
    second: Recall
    prompt: Recall


def compute(embedder: Embedder | str | None = None) -> Demo:
    """Remember the history in memory and ask what the demo asks."""
    clock = [NOW]
    with Retentive(":memory:", embedder=embedder, clock=lambda: clock[0]) as home:
        space = home.space(SPACE)
        space.remember_many(history())
        plain = _PlainSearch(space, home.embedder)
        comparisons = tuple(
            Comparison(question, plain.search(question), space.recall(question, touch=False))
            for question in (COMPARED, *ALSO_COMPARED)
        )
        explained = space.recall(EXPLAINED, touch=False)
        prompt = space.recall(ASKED_TWICE, limit=8, token_budget=BUDGET, touch=False)
        first = space.recall(ASKED_TWICE)
        clock[0] = NOW + LATER
        return Demo(len(plain.memories), comparisons, explained, first, space.recall(ASKED_TWICE), prompt)


class _PlainSearch:
    """What a vector store does: the nearest texts, whatever became of them since."""

    def __init__(self, space: Space, embedder: Embedder) -> None:
        self.memories = list(space.list(hidden=True, limit=1000))
        self._embedder = embedder
        self._vectors = checked_vectors(embedder, [memory.text for memory in self.memories])

    def search(self, question: str) -> tuple[Plain, ...]:
        cosines = self._vectors @ query_vector(self._embedder, question)
        nearest = np.argsort(-cosines, kind="stable")[:SHOWN]
        return tuple(Plain(self.memories[i], float(cosines[i]), self._wrong(int(i), NOW)) for i in nearest)

    def _wrong(self, at: int, now: datetime) -> str | None:
        """Say what a vector store cannot know about a memory; all of it stands in the memory's own fields."""
        memory = self.memories[at]
        if memory.superseded_at is not None:
            return f"replaced {human_age(memory.superseded_at, now)}"
        if memory.valid_until is not None and memory.valid_until <= now:
            return f"no longer true since {memory.valid_until:%Y-%m-%d}"
        if memory.pinned:
            return "pinned: in the prompt already"
        return None


def curves(samples: int) -> dict[str, Floats]:
    """Return the decay curves over the demo's span, by the functions that score recalls."""
    days = np.linspace(0.0, DAYS, samples)
    return {
        "half-life of 14 days": half_life(days, 14.0),
        "0.995 an hour (Park et al.)": hourly_base(days * 24),
        "half-life of 30 days, recalled 7 times": ebbinghaus(days, 30.0, 7.0),
        "freshness of an event, 30 days, floor 0.1": freshness(days, 30.0, 0.1),
        "freshness of a fact, 180 days": freshness(days, 180.0, 0.1),
    }


def demo_data(embedder: Embedder | str | None = None) -> dict[str, Any]:
    """Return what the demo shows as JSON-ready data."""
    demo = compute(embedder)
    return {
        "now": NOW.isoformat(),
        "memories": demo.memories,
        "comparisons": [_comparison_data(comparison) for comparison in demo.comparisons],
        "explained": demo.explained.as_dict(),
        "decay": {"days": DAYS, "curves": {name: [round(y, 6) for y in c.tolist()] for name, c in curves(61).items()}},
        "rotation": [_asked_data(demo.first), _asked_data(demo.second)],
        "prompt": demo.prompt.render("xml"),
    }


def _comparison_data(comparison: Comparison) -> dict[str, Any]:
    plain = [
        {"id": found.memory.id, "text": found.memory.text, "cosine": found.cosine, "wrong": found.wrong}
        for found in comparison.plain
    ]
    return {"question": comparison.question, "plain": plain, "policy": _asked_data(comparison.recall)["hits"]}


def _asked_data(recall: Recall) -> dict[str, Any]:
    hits = [{"id": hit.memory.id, "text": hit.memory.text, "score": hit.score} for hit in recall]
    return {"at": recall.trace.now.isoformat(), "hits": hits}


def run_demo(console: Console, *, embedder: Embedder | str | None = None) -> None:
    """Show the demo from beginning to end, without a pause."""
    demo = compute(embedder)
    _say(console, f"{demo.memories} memories of a fictional engineer's assistant; today is {NOW:%d %B %Y}.")
    sections: tuple[tuple[str, list[RenderableType]], ...] = (
        ("1  The same question, two answers", _compared(demo, console)),
        ("2  First place for other questions", [_first_places(demo)]),
        ("3  Why: every score is a sum you can check", _explained(demo)),
        ("4  How memories fade", _curves(console)),
        ("5  Asked again: rotation reaches deeper", _rotation(demo, console)),
        ("6  What the model reads", _prompt(demo)),
    )
    for title, parts in sections:
        console.print()
        console.rule(f"[bold]{title}[/bold]", align="left", characters="-" if console.options.ascii_only else "─")
        for part in parts:
            console.print(part)


def _say(console: Console, words: str) -> None:
    console.print(words, highlight=False)


def _compared(demo: Demo, console: Console) -> list[RenderableType]:
    main = demo.comparisons[0]
    plain = [_cell(found.memory, found.cosine, console, found.wrong) for found in main.plain]
    answer = [_cell(hit.memory, hit.score, console) for hit in main.recall]
    headings = ("plain vector search", f"policy “{main.recall.policy.name}”")
    return [_beside(main.question, headings, plain, answer), _verdict(main)]


def _beside(title: str, headings: tuple[str, str], left: list[Text], right: list[Text]) -> RenderableType:
    """Set two answers side by side, place by place."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, expand=True, title=f"“{title}”", title_justify="left")
    for heading in headings:
        table.add_column(heading, ratio=1)
    for pair in zip_longest(left, right, fillvalue=Text()):
        table.add_row(*pair)
    return table


def _cell(memory: Memory, score: float, console: Console, wrong: str | None = None, new: str | None = None) -> Text:
    """Two lines of text at most, and one that says how old it is and what is wrong or new about it."""
    from rich.text import Text

    half = (console.width - 3) // 2
    cell = Text(f"{score:.2f} ", style="")
    cell.append(shortened(memory.text, 2 * half - 12))
    if wrong:
        return cell.append(f"\n     ✗ {wrong}", style="bold red")
    cell.append(f"\n     {human_age(memory.created_at, NOW)}", style="dim")
    return cell.append(f", {new}" if new else "", style="bold green")


def _verdict(comparison: Comparison) -> Text:
    from rich.text import Text

    bad = sum(found.wrong is not None for found in comparison.plain)
    if not bad:
        return Text("This time the nearest texts are all still true.")
    return Text(
        f"{bad} of the {len(comparison.plain)} nearest texts should not be told any more; no vector shows that."
    )


def _first_places(demo: Demo) -> RenderableType:
    """Show only the first place of further questions, both ways."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, expand=True)
    for heading in ("question", "plain vector search", "policy"):
        table.add_column(heading, ratio=1)
    for comparison in demo.comparisons[1:]:
        first = comparison.plain[0]
        plain = Text(shortened(first.memory.text, 48))
        plain.append(f"\n✗ {first.wrong}" if first.wrong else "", style="bold red")
        hits = comparison.recall.hits
        told = Text(shortened(hits[0].memory.text, 48)) if hits else Text("nothing: none of it is relevant")
        table.add_row(Text(comparison.question), plain, told)
    return table


def _explained(demo: Demo) -> list[RenderableType]:
    from rich.text import Text

    recall = demo.explained
    parts: list[RenderableType] = [Text(f"“{recall.cue}”"), rich_table(recall)]
    if recall.hits:
        terms = " + ".join(f"{name} {s.contribution:.4f}" for name, s in recall[0].signals.items() if s.contribution)
        factors = "".join(f" × {modifier.factor:g}" for modifier in recall[0].modifiers)
        parts.append(Text(f"First: {terms}{factors} = {recall[0].reproduced():.3f}"))
    return parts


def _curves(console: Console) -> list[RenderableType]:
    from rich.text import Text

    from retentive.cli.demo_plot import Canvas

    canvas = Canvas(max(20, min(console.width, 100) - 8), 10, ascii_only=console.options.ascii_only)
    drawn = curves(canvas.samples)
    styles = COLOURS[: len(drawn)]
    for curve, style in zip(drawn.values(), styles, strict=True):
        canvas.draw(curve.tolist(), style)
    canvas.label([curve.tolist() for curve in drawn.values()], "abcde", styles)
    lines = canvas.lines()
    marks = {0: " 1.0 ", len(lines) // 2: " 0.5 ", len(lines) - 1: " 0.0 "}
    plot: list[RenderableType] = [Text(marks.get(at, "     ")).append_text(line) for at, line in enumerate(lines)]
    span = canvas.samples // 2
    axis = f"{'today':<{span // 2}}{f'{DAYS / 2:.0f} days':<{span - span // 2 - 8}}{f'{DAYS:.0f} days':>8}"
    return [*plot, Text(f"     {axis}"), _curve_legend(drawn, styles)]


def _curve_legend(drawn: Mapping[str, Floats], styles: tuple[str, ...]) -> Text:
    from rich.text import Text

    legend = Text()
    for letter, name, style in zip("abcde", drawn, styles, strict=True):
        legend.append(f"     {letter}  ", style=f"bold {style}").append(f"{name}\n")
    legend.rstrip()
    return legend


def _rotation(demo: Demo, console: Console) -> list[RenderableType]:
    from rich.text import Text

    minutes = int(LATER.total_seconds() // 60)
    before = {hit.memory.id for hit in demo.first}
    first = [_cell(hit.memory, hit.score, console) for hit in demo.first]
    second = [
        _cell(hit.memory, hit.score, console, new="not shown before" if hit.memory.id not in before else None)
        for hit in demo.second
    ]
    table = _beside(demo.first.cue, ("first ask", f"{minutes} minutes later"), first, second)
    return [table, Text("For an hour, what was shown counts half when a similar question is asked.")]


def _prompt(demo: Demo) -> list[RenderableType]:
    from rich.text import Text

    recall = demo.prompt
    squeezed = len(recall.compacted.ids) if recall.compacted else 0
    words = (
        f"“{recall.cue}” within {BUDGET} tokens: {len(recall)} whole, {squeezed} compacted, {len(recall.core)} pinned."
    )
    return [Text(words), Text(str(recall.render("xml")), style="dim")]
