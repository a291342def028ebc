"""What a report's answers say beyond their means: how sure, against whom, by age, and what is lost where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np

from retentive.evaluate.misses import CAME_UP, PLACES
from retentive.evaluate.report import HEADLINE, OVERALL, TOUCHED, Asked, Quality, Report
from retentive.evaluate.statistics import Difference, Interval, difference, intervals

AGES: Final = (
    (1.0, "under a day"),
    (7.0, "1-7 days"),
    (30.0, "7-30 days"),
    (90.0, "30-90 days"),
    (365.0, "90-365 days"),
)
OLDEST: Final = "over a year"
AGE_NAMES: Final = (*(name for _, name in AGES), OLDEST)


@dataclass(frozen=True, slots=True)
class Line:
    """One policy over some questions: each metric with its interval."""

    label: str
    group: str  # overall, a category, or an age
    questions: int
    metrics: dict[str, Interval]

    def as_dict(self) -> dict[str, Any]:
        """Return the line as JSON-ready data."""
        metrics = {name: value.as_dict() for name, value in self.metrics.items()}
        return {"policy": self.label, "group": self.group, "questions": self.questions, "metrics": metrics}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two policies on the same questions, by nDCG@10: what the first gains over the second."""

    label: str
    against: str
    group: str
    gain: Difference

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON-ready data."""
        return {"policy": self.label, "against": self.against, "group": self.group, **self.gain.as_dict()}


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that `analyse` found, policy by policy."""

    categories: tuple[Line, ...]  # overall first
    ages: tuple[Line, ...]
    comparisons: tuple[Comparison, ...]  # overall and by category
    age_comparisons: tuple[Comparison, ...]
    misses: dict[str, dict[str, int]]  # label → place → pieces of evidence; "came up" among them
    parts: dict[str, dict[str, dict[str, float]]]  # label → evidence/others → signal → mean contribution

    def as_dict(self) -> dict[str, Any]:
        """Return the analysis as JSON-ready data."""
        return {
            "intervals": [line.as_dict() for line in self.categories],
            "by_age": [line.as_dict() for line in self.ages],
            "comparisons": [one.as_dict() for one in self.comparisons],
            "comparisons_by_age": [one.as_dict() for one in self.age_comparisons],
            "misses": self.misses,
            "parts": {
                label: {who: {name: round(value, 5) for name, value in means.items()} for who, means in both.items()}
                for label, both in self.parts.items()
            },
        }

    def overall(self) -> list[Line]:
        """Return the lines over all questions."""
        return [line for line in self.categories if line.group == OVERALL]


def label_of(row: Asked | Quality) -> str:
    """Return a policy's name, marked when write-back was on."""
    return f"{row.policy}{TOUCHED}" if row.touched else row.policy


def age_of(days: float) -> str:
    """Return the bucket of an age."""
    return next((name for below, name in AGES if days < below), OLDEST)


def analyse(report: Report) -> Analysis:
    """Look closer at a report's answers."""
    policies: dict[str, list[Asked]] = {}
    for one in report.asked:
        policies.setdefault(label_of(one), []).append(one)
    scored = {label: [one for one in rows if one.scores] for label, rows in policies.items()}
    return Analysis(
        categories=tuple(line for label, rows in scored.items() for line in _lines(label, rows, by_age=False)),
        ages=tuple(line for label, rows in scored.items() for line in _lines(label, rows, by_age=True)),
        comparisons=tuple(_comparisons(scored, by_age=False)),
        age_comparisons=tuple(_comparisons(scored, by_age=True)),
        misses={label: _misses(rows) for label, rows in scored.items()},
        parts={label: _parts(rows) for label, rows in scored.items()},
    )


def _grouped(rows: Sequence[Asked], *, by_age: bool) -> dict[str, list[Asked]]:
    if by_age:
        groups: dict[str, list[Asked]] = {name: [] for name in AGE_NAMES}
        for one in rows:
            groups[age_of(one.age_days or 0.0)].append(one)
        return {name: found for name, found in groups.items() if found}
    groups = {OVERALL: list(rows)} if rows else {}
    for one in rows:
        groups.setdefault(one.question.category, []).append(one)
    return groups


def _lines(label: str, rows: Sequence[Asked], *, by_age: bool) -> list[Line]:
    lines = []
    for group, found in _grouped(rows, by_age=by_age).items():
        names = list(found[0].scores)
        table = np.array([[one.scores[name] for name in names] for one in found])
        lines.append(Line(label, group, len(found), dict(zip(names, intervals(table), strict=True))))
    return lines


def _comparisons(scored: dict[str, list[Asked]], *, by_age: bool) -> list[Comparison]:
    """Compare every two policies, overall and by category or by age; the one listed later with the one before."""
    found = []
    for (against, theirs), (label, ours) in combinations(scored.items(), 2):
        others = _grouped(theirs, by_age=by_age)
        for group, mine in _grouped(ours, by_age=by_age).items():
            gain = difference([one.scores[HEADLINE] for one in mine], [one.scores[HEADLINE] for one in others[group]])
            found.append(Comparison(label, against, group, gain))
    return found


def _misses(rows: Sequence[Asked]) -> dict[str, int]:
    counts = Counter(place for one in rows for place in one.lost.values())
    evidence = sum(len(one.question.gold) for one in rows)
    return {CAME_UP: evidence - counts.total(), **{place: counts[place] for place in PLACES}}


def _parts(rows: Sequence[Asked]) -> dict[str, dict[str, float]]:
    means: dict[str, dict[str, float]] = {}
    for who in ("evidence", "others"):
        found = [one.parts[who] for one in rows if who in one.parts]
        names = dict.fromkeys(name for part in found for name in part)
        means[who] = {name: sum(part.get(name, 0.0) for part in found) / len(found) for name in names}
    return means


def as_text(analysis: Analysis) -> str:
    """Return intervals and paired differences as lines for a terminal: every policy against the last one."""
    lines = analysis.overall()
    if not lines:
        return ""
    last = lines[-1].label
    width = max(len(line.label) for line in lines)
    against = {one.against: one.gain for one in analysis.comparisons if one.label == last and one.group == OVERALL}
    head = f"{HEADLINE} with its 95 % interval" + (f", and what {last!r} gains over each:" if against else ":")
    return "\n".join([head, *(_line(line, width, against.get(line.label)) for line in lines)])


def _line(line: Line, width: int, gain: Difference | None) -> str:
    value = line.metrics[HEADLINE]
    text = f"{line.label:<{width}}  {value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"
    if gain is None:
        return text
    return f"{text}   {gain.interval.mean:+.3f} [{gain.interval.low:+.3f}, {gain.interval.high:+.3f}]  p {gain.p:.4f}"
