"""The figures of an evaluation, and how they are printed: as data, as text for a terminal, as Markdown to commit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from retentive.embedders.protocol import Embedder, identity
from retentive.evaluate.datasets import Dataset, Question
from retentive.evaluate.metrics import NDCG_DEPTH, mean_of, percentile

OVERALL = "overall"
HEADLINE = f"ndcg@{NDCG_DEPTH}"
TOUCHED = " +touch"
"""What follows a policy's name where write-back was on."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as one policy answered it."""

    policy: str
    touched: bool
    question: Question
    ranked: tuple[str, ...]
    scores: dict[str, float]  # empty where recall cannot be measured
    newest: float | None
    seconds: float
    age_days: float | None = None  # of the evidence, when it is asked for
    tokens: int = 0  # of the answer: what a prompt pays for it
    candidates: int = 0  # scored for it
    lost: Mapping[str, str] = field(default_factory=dict)  # evidence that did not come up → at which stage it went
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # mean contributions: of evidence, others


@dataclass(frozen=True, slots=True)
class Quality:
    """The means over some questions of one policy."""

    policy: str
    touched: bool
    category: str
    questions: int  # those that recall was measured on
    metrics: dict[str, float]
    newest_first: float | None  # share of the questions that tell current from outdated
    newest_of: int
    abstained: float | None  # share of empty answers where none is right
    abstained_of: int
    mean_ms: float
    p95_ms: float
    tokens: float
    candidates: float

    @property
    def label(self) -> str:
        """The policy's name, marked when write-back was on."""
        return f"{self.policy}{TOUCHED}" if self.touched else self.policy

    def as_dict(self) -> dict[str, Any]:
        """Return the figures rounded as they are worth quoting."""
        rounded = {name: round(value, 4) for name, value in self.metrics.items()}
        return {
            "policy": self.policy,
            "touched": self.touched,
            "category": self.category,
            "questions": self.questions,
            **rounded,
            "newest_first": None if self.newest_first is None else round(self.newest_first, 4),
            "newest_of": self.newest_of,
            "abstained": None if self.abstained is None else round(self.abstained, 4),
            "abstained_of": self.abstained_of,
            "mean_ms": round(self.mean_ms, 3),
            "p95_ms": round(self.p95_ms, 3),
            "tokens": round(self.tokens, 1),
            "candidates": round(self.candidates, 1),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """Everything measured on one set in one run."""

    dataset: str
    licence: str
    embedder: str
    fingerprint: str
    conversations: int
    memories: int
    text_form: str
    depths: tuple[int, ...]
    rows: tuple[Quality, ...]
    asked: tuple[Asked, ...] = ()  # every answer, for what is computed from them: see `analysis`

    def overall(self, policy: str, *, touched: bool = False) -> Quality:
        """Return a policy's figures over all questions."""
        return next(
            row
            for row in self.rows
            if row.policy == policy and row.touched == touched and row.category == OVERALL
        )  # fmt: skip

    def differences(self) -> dict[str, float]:
        """Return what write-back did to each policy's nDCG@10 (empty unless both were run)."""
        touched = [row for row in self.rows if row.touched and row.category == OVERALL]
        return {row.policy: row.metrics[HEADLINE] - self.overall(row.policy).metrics[HEADLINE] for row in touched}

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready data."""
        return {
            "dataset": self.dataset,
            "licence": self.licence,
            "embedder": self.embedder,
            "fingerprint": self.fingerprint,
            "conversations": self.conversations,
            "memories": self.memories,
            "text_form": self.text_form,
            "rows": [row.as_dict() for row in self.rows],
            "touch_difference": {name: round(value, 4) for name, value in self.differences().items()},
        }

    def as_json(self) -> str:
        """Return the report as indented JSON."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)


def summarise(
    dataset: Dataset, embedder: Embedder, asked: Iterable[Asked], depths: Sequence[int], text_form: str
) -> Report:
    """Average what was asked, overall and by category, in the order in which policies and categories first appear."""
    groups: dict[tuple[str, bool, str], list[Asked]] = {}
    everything = tuple(asked)
    for one in everything:
        for category in (OVERALL, one.question.category):
            groups.setdefault((one.policy, one.touched, category), []).append(one)
    identified = identity(embedder)
    return Report(
        dataset=dataset.name,
        licence=dataset.licence,
        embedder=identified.id,
        fingerprint=identified.fingerprint,
        conversations=len(dataset.conversations),
        memories=sum(len(conversation.items) for conversation in dataset.conversations),
        text_form=text_form,
        depths=tuple(depths),
        rows=tuple(_quality(*key, rows) for key, rows in groups.items()),
        asked=everything,
    )


def _quality(policy: str, touched: bool, category: str, rows: Sequence[Asked]) -> Quality:
    newest = [row.newest for row in rows if row.newest is not None]
    abstaining = [not row.ranked for row in rows if row.question.abstains]
    seconds = [row.seconds for row in rows]
    return Quality(
        policy=policy,
        touched=touched,
        category=category,
        questions=sum(bool(row.scores) for row in rows),
        metrics=mean_of([row.scores for row in rows if row.scores]),
        newest_first=sum(newest) / len(newest) if newest else None,
        newest_of=len(newest),
        abstained=sum(abstaining) / len(abstaining) if abstaining else None,
        abstained_of=len(abstaining),
        mean_ms=1000 * sum(seconds) / len(seconds),
        p95_ms=1000 * percentile(seconds, 0.95),
        tokens=sum(row.tokens for row in rows) / len(rows),
        candidates=sum(row.candidates for row in rows) / len(rows),
    )


def as_text(report: Report, *, by_category: bool = False) -> str:
    """Return the tables as aligned text."""
    return _tables(report, _aligned, by_category=by_category)


def as_markdown(report: Report, *, by_category: bool = False) -> str:
    """Return the tables as Markdown."""
    return _tables(report, _piped, by_category=by_category)


Table = Callable[[Sequence[str], Sequence[Sequence[str]]], str]


def _tables(report: Report, table: Table, *, by_category: bool) -> str:
    categories = list(dict.fromkeys(row.category for row in report.rows))
    parts = [_heading(report)]
    for category in categories if by_category else [OVERALL]:
        rows = [row for row in report.rows if row.category == category]
        if by_category:
            parts.append(f"{category} ({rows[0].questions} questions)")
        parts.append(table(_header(report, rows), [_cells(report, row, rows) for row in rows]))
    if differences := report.differences():
        shown = ", ".join(f"{name} {value:+.4f}" for name, value in differences.items())
        parts.append(f"Write-back moved {HEADLINE} by: {shown}")
    return "\n\n".join(parts) + "\n"


def _heading(report: Report) -> str:
    questions = max((row.questions for row in report.rows if row.category == OVERALL), default=0)
    form = ", dated text" if report.text_form == "dated" else ""
    return (
        f"{report.dataset}: {questions} questions with evidence, {report.memories} memories in "
        f"{report.conversations} spaces, embedder {report.embedder}{form}"
    )


def _columns(report: Report) -> list[tuple[str, str]]:
    """Return the heading and the metric of each quality column: all of them always stand together."""
    columns = [(f"{name}@{k}", f"{name}@{k}") for name in ("any", "all", "frac") for k in report.depths]
    return [*columns, ("MRR", "mrr"), (f"nDCG@{NDCG_DEPTH}", HEADLINE)]


def _header(report: Report, rows: Sequence[Quality]) -> list[str]:
    newest = [f"newest of {rows[0].newest_of}"] if rows[0].newest_of else []
    abstained = [f"empty of {rows[0].abstained_of}"] if rows[0].abstained_of else []
    return ["policy", *(heading for heading, _ in _columns(report)), *newest, *abstained, "tokens", "ms", "p95 ms"]


def _cells(report: Report, row: Quality, rows: Sequence[Quality]) -> list[str]:
    newest = [_share(row.newest_first)] if rows[0].newest_of else []
    abstained = [_share(row.abstained)] if rows[0].abstained_of else []
    values = [_share(row.metrics.get(metric)) for _, metric in _columns(report)]
    return [row.label, *values, *newest, *abstained, f"{row.tokens:.0f}", f"{row.mean_ms:.1f}", f"{row.p95_ms:.1f}"]


def _share(value: float | None) -> str:
    """Write .604 as papers do; a share of one stays 1.000."""
    return "" if value is None else f"{value:.3f}".removeprefix("0")


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for cells in (header, *rows):
        first, *rest = cells
        padded = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _piped(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    ruler = ["---", *(["---:"] * (len(header) - 1))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ruler, *rows))
