"""A run as one page that needs nothing else: every figure as a table, and plots of what tables hide."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

import numpy as np

from retentive.evaluate import plots
from retentive.evaluate.analysis import AGE_NAMES, Analysis, Comparison, Line
from retentive.evaluate.misses import PLACES
from retentive.evaluate.report import HEADLINE, OVERALL, Quality, Report
from retentive.policy.policy import Policy
from retentive.scoring import decay
from retentive.scoring.freshness import tau_for
from retentive.scoring.signals import options_of
from retentive.types import KINDS, Floats

AGES_DRAWN: Final = (0.0, 1.0, 3.0, 7.0, 14.0, 30.0, 60.0, 90.0, 180.0, 365.0)
STYLE: Final = """
body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2rem auto;padding:0 1rem;color:#1a1a1a}
h2{margin-top:2.2rem} table{border-collapse:collapse;font-size:13px;display:block;overflow-x:auto}
td,th{padding:2px 8px;text-align:right;border-bottom:1px solid #e3e3e3} td:first-child,th:first-child{text-align:left}
svg{width:100%;height:auto;max-width:760px} svg text{font:11px system-ui,sans-serif;fill:#444}
.legend span{margin-right:1rem;font-size:13px;white-space:nowrap} .legend i{display:inline-block;width:10px;
height:10px;margin-right:4px} pre{background:#f6f6f6;padding:.8rem;overflow-x:auto;font-size:12px}
@media (prefers-color-scheme:dark){body{background:#161616;color:#e6e6e6}svg text{fill:#bbb}td,th{border-color:#333}
pre{background:#222}}
"""


def page(report: Report, analysis: Analysis, config: Mapping[str, Any], environment: Mapping[str, Any]) -> str:
    """Return the page."""
    sections = [
        ("Figures", _figures(report)),
        ("How sure", _comparisons(analysis)),
        ("Quality by k", _by_k(report, analysis)),
        ("Quality by category", _by_group(analysis.categories, keep=lambda group: group != OVERALL)),
        ("Quality by age of the evidence", _by_group(_in_order(analysis.ages), keep=lambda _group: True)),
        ("Where evidence is lost", _misses(analysis)),
        ("What scores are made of", _parts(analysis)),
        ("Decay", _decay(config)),
        ("Cost", _cost(report)),
        ("Configuration", _json(config)),
        ("Environment", _json(environment)),
    ]
    body = "".join(f"<h2>{escape(title)}</h2>{content}" for title, content in sections if content)
    title = escape(f"Retrieval quality: {report.dataset}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f"<body><h1>{title}</h1><p>{escape(_what(report))}</p>{body}</body></html>\n"
    )


def _what(report: Report) -> str:
    questions = max((row.questions for row in report.rows if row.category == OVERALL), default=0)
    return (
        f"{questions} questions with evidence, {report.memories} memories in {report.conversations} spaces, embedder "
        f"{report.embedder}. Licence of the set: {report.licence or 'not stated'}."
    )


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _overall(report: Report) -> list[Quality]:
    return [row for row in report.rows if row.category == OVERALL]


def _figures(report: Report) -> str:
    rows = _overall(report)
    names = list(rows[0].metrics) if rows else []
    extra = [("newest first", "newest_first"), ("empty where none is right", "abstained")]
    extra = [(head, name) for head, name in extra if any(getattr(row, name) is not None for row in rows)]
    header = ["policy", *names, *(head for head, _ in extra)]
    return _table(
        header,
        ([row.label, *(_number(row.metrics.get(name)) for name in names),
          *(_number(getattr(row, name)) for _, name in extra)] for row in rows),
    )  # fmt: skip


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _comparisons(analysis: Analysis) -> str:
    rows = [
        [line.label, *(f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]" for value in _quoted(line))]
        for line in analysis.overall()
    ]
    pairs = [_pair(one) for one in analysis.comparisons if one.group == OVERALL]
    header = ["policy", "against", f"gain in {HEADLINE}", "95 % interval", "p", "questions"]
    note = "<p>Percentile bootstrap over questions, 2,000 resamples; p by paired sign flips on the same questions.</p>"
    return note + _table(["policy", HEADLINE, "mrr"], rows) + (_table(header, pairs) if pairs else "")


def _quoted(line: Line) -> list[Any]:
    return [line.metrics[HEADLINE], line.metrics["mrr"]]


def _pair(one: Comparison) -> list[str]:
    gain = one.gain.interval
    return [
        one.label,
        one.against,
        f"{gain.mean:+.4f}",
        f"[{gain.low:+.4f}, {gain.high:+.4f}]",
        f"{one.gain.p:.4f}",
        str(one.gain.questions),
    ]


def _by_k(report: Report, analysis: Analysis) -> str:
    parts = []
    for metric in ("any", "all", "frac"):
        series = {
            line.label: [(float(k), line.metrics[f"{metric}@{k}"].mean) for k in report.depths]
            for line in analysis.overall()
        }
        parts.append(f"<h3>{metric}@k</h3>{plots.lines(series, x='k', y=f'{metric}@k', top=1.0)}")
    return "".join(parts)


def _in_order(lines: Sequence[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: AGE_NAMES.index(line.group))


def _by_group(lines: Sequence[Line], *, keep: Any) -> str:
    groups: dict[str, dict[str, plots.Bar]] = {}
    for line in lines:
        if keep(line.group):
            value = line.metrics[HEADLINE]
            group = groups.setdefault(f"{line.group} ({line.questions})", {})
            group[line.label] = plots.Bar(value.mean, value.low, value.high)
    return plots.bars(groups, y=HEADLINE) if groups else ""


def _misses(analysis: Analysis) -> str:
    places = ("came up", *PLACES)
    rows = ([label, *(str(counts[place]) for place in places)] for label, counts in analysis.misses.items())
    missed = {label: {place: float(counts[place]) for place in PLACES} for label, counts in analysis.misses.items()}
    return _table(["pieces of evidence", *places], rows) + plots.stacks(missed, unit="pieces of evidence")


def _parts(analysis: Analysis) -> str:
    rows = {f"{label}: {who}": means for label, both in analysis.parts.items() for who, means in both.items() if means}
    return "<p>Mean contribution of each signal: of evidence in the answers, and of the other hits.</p>" + plots.stacks(
        rows, unit="of the score"
    )


def _decay(config: Mapping[str, Any]) -> str:
    series: dict[str, list[plots.Point]] = {}
    for name, text in config["policies"].items():
        for signal, curve in _curves(Policy.parse(text, name)).items():
            series[f"{name}: {signal}"] = list(zip(AGES_DRAWN, curve.tolist(), strict=True))
    drawn = plots.lines(series, x="age in days (not to scale)", y="value", top=1.0)
    return f"<p>What age leaves of each signal that decays, before its weight.</p>{drawn}" if series else ""


def _curves(policy: Policy) -> dict[str, Floats]:
    """Return the decay curves of a policy over `AGES_DRAWN`, for a memory that was never read."""
    ages = np.array(AGES_DRAWN)
    curves: dict[str, Floats] = {}
    for name in ("recency", "novelty", "freshness"):
        spec = policy.signals.get(name)
        if spec is not None and spec.weight:
            options = {**options_of(name), **spec.options}
            curves |= _curve(name, ages, options)
    return curves


def _curve(name: str, ages: Floats, options: Mapping[str, Any]) -> dict[str, Floats]:
    if name == "novelty":
        return {"novelty": decay.half_life(ages, options["fades_in_days"])}
    if name == "freshness":
        taus = {kind: tau_for(kind, options["tau_days"]) for kind in KINDS[:3]}
        floor = options["freshness_floor"]
        return {f"freshness of a {kind}": np.maximum(decay.half_life(ages, tau), floor) for kind, tau in taus.items()}
    by = options["decay_by"]
    if by == "hourly_base":
        return {"recency": decay.hourly_base(ages * 24, options["hourly_base"])}
    if by == "power_law":
        return {"recency": decay.power_law(ages.reshape(-1, 1), options["d"])}
    return {} if by == "none" else {"recency": decay.half_life(ages, options["half_life_days"])}


def _cost(report: Report) -> str:
    rows = (
        [row.label, f"{row.mean_ms:.1f}", f"{row.p95_ms:.1f}", f"{row.tokens:.0f}", f"{row.candidates:.0f}",
         _number(row.metrics.get(HEADLINE))]
        for row in _overall(report)
    )  # fmt: skip
    header = ["policy", "ms", "p95 ms", "tokens of an answer", "candidates scored", HEADLINE]
    return "<p>One recall without embedding the question; no model is called.</p>" + _table(header, rows)


def _json(data: Mapping[str, Any]) -> str:
    return f"<pre>{escape(json.dumps(data, indent=1, ensure_ascii=False))}</pre>"
