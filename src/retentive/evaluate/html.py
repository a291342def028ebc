"""A run as one page that needs nothing else: every figure as a table, and plots of what tables hide."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

import numpy as np

from retentive.evaluate import plots
from retentive.evaluate.analysis import AGE_NAMES, Analysis, Comparison, Line
from retentive.evaluate.misses import CAME_UP, PLACES
from retentive.evaluate.report import HEADLINE, OVERALL, TOUCHED, Quality, Report
from retentive.evaluate.statistics import Difference, Interval
from retentive.policy.policy import Policy
from retentive.scoring import decay
from retentive.scoring.freshness import tau_for
from retentive.scoring.signals import options_of
from retentive.types import KINDS, Floats

AGES_DRAWN: Final = (0.0, 1.0, 3.0, 7.0, 14.0, 30.0, 60.0, 90.0, 180.0, 365.0)
STYLE: Final = """
:root{color-scheme:light dark;--ink:#1a1a1a;--soft:#555;--grid:#ddd;--paper:#fff;--box:#f6f6f6;--best:#e8f2ea}
@media (prefers-color-scheme:dark){:root{--ink:#e6e6e6;--soft:#b5b5b5;--grid:#3a3a3a;--paper:#161616;--box:#222;
--best:#20402a}}
body{font:15px/1.5 system-ui,sans-serif;max-width:1060px;margin:2rem auto;padding:0 1rem;color:var(--ink);
background:var(--paper)}
h2{margin-top:2.4rem;border-bottom:1px solid var(--grid)} .said{font-size:17px} .note{color:var(--soft)}
table{border-collapse:collapse;font-size:13px;display:block;overflow-x:auto;font-variant-numeric:tabular-nums}
td,th{padding:2px 7px;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}
td:first-child,th:first-child{text-align:left} td.best{background:var(--best);font-weight:600}
svg{width:100%;height:auto;max-width:900px;display:block} svg text{font:11px system-ui,sans-serif;fill:var(--soft)}
svg .grid{stroke:var(--grid)} svg .hollow{fill:var(--paper)} svg .muted{fill:var(--grid)}
svg.key{display:inline-block;width:24px;height:12px;
margin-right:5px;vertical-align:-1px} .legend{margin:.3rem 0 1.2rem} .legend span{margin-right:1.1rem;font-size:13px;
white-space:nowrap;display:inline-block} summary{cursor:pointer;margin:.6rem 0}
pre{background:var(--box);padding:.8rem;overflow-x:auto;font-size:12px}
"""
Cell = str | tuple[str, bool]
"""A table's cell, and whether it is the best of its column."""


def page(report: Report, analysis: Analysis, config: Mapping[str, Any], environment: Mapping[str, Any]) -> str:
    """Return the page."""
    sections = [
        ("Figures", _figures(report)),
        ("How sure", _comparisons(analysis)),
        ("With write-back", _written_back(analysis)),
        ("Quality by k", _by_k(report, analysis)),
        ("Quality by category", _by_group(_cold(analysis.categories), keep=lambda group: group != OVERALL)),
        ("Quality by age of the evidence", _by_group(_in_order(_cold(analysis.ages)), keep=lambda _group: True)),
        ("Where evidence is lost", _misses(analysis)),
        ("What scores are made of", _parts(analysis, config)),
        ("Decay", _decay(config)),
        ("Cost", _cost(report)),
        ("Configuration", _configuration(config)),
        ("Environment", _json(environment)),
    ]
    body = "".join(f"<h2>{escape(title)}</h2>{content}" for title, content in sections if content)
    title = escape(f"Retrieval quality: {report.dataset}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f'<body><h1>{title}</h1><p>{escape(_what(report))}</p><p class="said">{escape(_said(analysis))}</p>{body}'
        "</body></html>\n"
    )


def _cold(lines: Sequence[Line]) -> list[Line]:
    """Leave out the runs with write-back, which have a section of their own."""
    return [line for line in lines if not line.label.endswith(TOUCHED)]


def _said(analysis: Analysis) -> str:
    """Say in a sentence what the figures come to: the last policy, and the best of the others beside it."""
    lines = _cold(analysis.overall())
    if not lines:
        return "No question of the set labels evidence, so that no recall was measured."
    *others, last = lines
    value = last.metrics[HEADLINE]
    text = f"{last.label}: {HEADLINE} {_share(value.mean)} [{_share(value.low)}, {_share(value.high)}]"
    if not others:
        return f"{text}."
    best = max(others, key=lambda line: line.metrics[HEADLINE].mean)
    gain = _gains(analysis, last.label)[best.label]
    sure = "clear of chance" if gain.clear else "no clear difference"
    return f"{text}; {gain.interval.mean:+.3f} over {best.label}, the best of the others (p {gain.p:.4f}, {sure})."


def _gains(analysis: Analysis, label: str, group: str = OVERALL) -> dict[str, Difference]:
    return {one.against: one.gain for one in analysis.comparisons if one.label == label and one.group == group}


def _what(report: Report) -> str:
    questions = max((row.questions for row in report.rows if row.category == OVERALL), default=0)
    return (
        f"{questions} questions with evidence, {report.memories} memories in {report.conversations} "
        f"space{'s' * (report.conversations != 1)}, embedder {report.embedder}. "
        f"Licence of the set: {report.licence or 'not stated'}."
    )


def _table(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(cell: Cell) -> str:
    text, best = cell if isinstance(cell, tuple) else (cell, False)
    return f'<td class="best">{escape(text)}</td>' if best else f"<td>{escape(text)}</td>"


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def _folded(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def _overall(report: Report) -> list[Quality]:
    return [row for row in report.rows if row.category == OVERALL]


def _figures(report: Report) -> str:
    """Return every metric of every policy, the headline first, the best of each column marked."""
    rows = _overall(report)
    names = sorted(rows[0].metrics, key=lambda name: name not in {HEADLINE, "mrr"}) if rows else []
    columns = {name: [row.metrics.get(name) for row in rows] for name in reversed(names[:2])}
    columns |= {name: [row.metrics.get(name) for row in rows] for name in names[2:]}
    for head, name in (("newest first", "newest_first"), ("empty if none", "abstained")):
        if any(getattr(row, name) is not None for row in rows):
            columns[head] = [getattr(row, name) for row in rows]
    cells = ([row.label, *(_marked(column, at) for column in columns.values())] for at, row in enumerate(rows))
    return _table(["policy", *columns], cells)


def _marked(column: Sequence[float | None], at: int) -> Cell:
    value, known = column[at], [one for one in column if one is not None]
    if value is None:
        return ""
    return (_share(value), bool(value == max(known) > min(known)))


def _share(value: float) -> str:
    """Write .604 as papers do; a share of one stays 1.000."""
    return f"{value:.3f}".removeprefix("0")


def _comparisons(analysis: Analysis) -> str:
    """Return the last policy against each, with intervals; every other pair, and every category, are folded away."""
    lines = _cold(analysis.overall())
    if not lines:
        return ""
    last = lines[-1].label
    note = _note("Percentile bootstrap over questions, 2,000 resamples; p by paired sign flips on the same questions.")
    table = _against(lines, last, _gains(analysis, last))
    pairs = [_pair(one) for one in analysis.comparisons if one.group == OVERALL]
    header = ["policy", "against", f"gain in {HEADLINE}", "95 % interval", "p", "questions"]
    folded = _folded(f"Every pair ({len(pairs)})", _table(header, pairs)) if len(pairs) > 1 else ""
    return note + table + folded + _by_category(analysis, last)


def _against(lines: Sequence[Line], last: str, gains: Mapping[str, Difference]) -> str:
    header = ["policy", f"{HEADLINE} [95 %]", "mrr [95 %]", f"what {last} gains over it", "95 % interval", "p"]
    rows = [
        [line.label, *(_interval(line.metrics[name]) for name in (HEADLINE, "mrr")), *_gain(gains.get(line.label))]
        for line in lines
    ]
    return _table(header if gains else header[:3], rows if gains else [row[:3] for row in rows])


def _by_category(analysis: Analysis, last: str) -> str:
    """Return the last policy's gain over each other in each category and at each age, folded away."""
    categories = [line for line in analysis.categories if line.group != OVERALL]
    return _gains_in("category", categories, analysis.comparisons, last) + _gains_in(
        "age of the evidence", _in_order(analysis.ages), analysis.age_comparisons, last
    )


def _gains_in(what: str, lines: Sequence[Line], comparisons: Sequence[Comparison], last: str) -> str:
    gains = {(one.group, one.against): one.gain for one in comparisons if one.label == last}
    groups = [line for line in lines if line.label == last]
    others = list(dict.fromkeys(against for _, against in gains))
    if not groups or not others:
        return ""
    rows = []
    for line in groups:
        told = [gains[line.group, against] for against in others]
        cells: list[Cell] = [(f"{gain.interval.mean:+.3f} (p {gain.p:.3f})", gain.clear) for gain in told]
        rows.append([f"{line.group} ({line.questions})", *cells])
    head = f"What {last} gains by {what}, marked where the interval leaves out 0"
    return _folded(head, _table([what, *others], rows))


def _interval(value: Interval) -> str:
    return f"{_share(value.mean)} [{_share(value.low)}, {_share(value.high)}]"


def _gain(gain: Difference | None) -> list[str]:
    if gain is None:
        return ["", "", ""]
    return [f"{gain.interval.mean:+.3f}", f"[{gain.interval.low:+.3f}, {gain.interval.high:+.3f}]", f"{gain.p:.4f}"]


def _pair(one: Comparison) -> list[str]:
    return [one.label, one.against, *_gain(one.gain), str(one.gain.questions)]


def _written_back(analysis: Analysis) -> str:
    """Return what answering with write-back on did to each policy, on the same questions."""
    lines = {line.label: line.metrics[HEADLINE] for line in analysis.overall()}
    rows = []
    for label, value in lines.items():
        if (name := label.removesuffix(TOUCHED)) != label:
            gain = _gains(analysis, label).get(name)
            rows.append([name, _share(lines[name].mean), _share(value.mean), *_gain(gain)])
    note = _note("Every question asked in turn with write-back on, in a fresh space for each policy.")
    header = ["policy", f"{HEADLINE} without", "with", "difference", "95 % interval", "p"]
    return note + _table(header, rows) if rows else ""


def _by_k(report: Report, analysis: Analysis) -> str:
    parts = []
    for metric in ("any", "all", "frac"):
        series = {
            line.label: [(float(k), line.metrics[f"{metric}@{k}"].mean) for k in report.depths]
            for line in _cold(analysis.overall())
        }
        drawn = plots.lines(series, x="k (not to scale)", y=f"{metric}@k", top=1.0)
        parts += [f"<h3>{metric}@k</h3>{drawn}"] if drawn else []
    return "".join(parts)


def _in_order(lines: Sequence[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: AGE_NAMES.index(line.group))


def _by_group(lines: Sequence[Line], *, keep: Callable[[str], bool]) -> str:
    groups: dict[str, dict[str, plots.Mark]] = {}
    for line in lines:
        if keep(line.group):
            value = line.metrics[HEADLINE]
            group = groups.setdefault(f"{line.group} ({line.questions})", {})
            group[line.label] = plots.Mark(value.mean, value.low, value.high)
    note = _note(f"{HEADLINE} with its 95 % interval; in brackets how many questions.")
    return note + plots.dots(groups, x=HEADLINE) if groups else ""


def _misses(analysis: Analysis) -> str:
    """Draw what became of the evidence, where any was labelled; places that took none are left out."""
    places = [place for place in PLACES if any(counts[place] for counts in analysis.misses.values())]
    rows = ([label, *(str(counts[place]) for place in (CAME_UP, *places))] for label, counts in analysis.misses.items())
    drawn = {
        label: {place: float(counts[place]) for place in (CAME_UP, *places)}
        for label, counts in analysis.misses.items()
    }
    bars = plots.stacks(drawn, unit="pieces of evidence", muted=CAME_UP)
    return bars + _table(["pieces of evidence", CAME_UP, *places], rows) if bars else ""


def _parts(analysis: Analysis, config: Mapping[str, Any]) -> str:
    """Return score breakdowns: parts of a sum as bars to a scale of their own, factors of a product in a table."""
    sums: dict[str, dict[str, float]] = {}
    factors = []
    for label, both in analysis.parts.items():
        means = {who: found for who, found in both.items() if found}
        policy = Policy.parse(config["policies"][label.removesuffix(TOUCHED)], label)
        if policy.combine == "product":
            factors += [[f"{label}: {who}", _factors(found)] for who, found in means.items()]
            continue
        whole = max((sum(map(abs, found.values())) for found in means.values()), default=0.0) or 1.0
        sums |= {f"{label}: {who}": {name: value / whole for name, value in found.items()}
                 for who, found in means.items()}  # fmt: skip
    note = _note(
        "Mean contribution of each signal: of evidence in the answers, and of the other hits. Each policy has its own "
        "scale, for scores of two policies cannot be compared; what is taken off is hollow."
    )
    drawn = plots.stacks(sums, unit="of the longer bar")
    table = _table(["policies that multiply", "mean of each factor"], factors) if factors else ""
    return note + drawn + table if drawn or table else ""


def _factors(means: Mapping[str, float]) -> str:
    return "  ·  ".join(f"{name} {value:.3g}" for name, value in means.items())


def _decay(config: Mapping[str, Any]) -> str:
    """Draw what age leaves of each signal that decays; policies that agree share a line."""
    curves: dict[tuple[str, tuple[float, ...]], list[str]] = {}
    for name, text in config["policies"].items():
        for signal, curve in _curves(Policy.parse(text, name)).items():
            curves.setdefault((signal, tuple(curve.tolist())), []).append(name)
    series = {
        f"{', '.join(names)}: {signal}": list(zip(AGES_DRAWN, curve, strict=True))
        for (signal, curve), names in curves.items()
    }
    drawn = plots.lines(series, x="age in days (not to scale)", y="value", top=1.0)
    return _note("What age leaves of each signal that decays, before its weight.") + drawn if series else ""


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
        return {f"freshness, {kind}": np.maximum(decay.half_life(ages, tau), floor) for kind, tau in taus.items()}
    by = options["decay_by"]
    if by == "hourly_base":
        return {"recency": decay.hourly_base(ages * 24, options["hourly_base"])}
    if by == "power_law":
        return {"recency": decay.power_law(ages.reshape(-1, 1), options["d"])}
    return {} if by == "none" else {"recency": decay.half_life(ages, options["half_life_days"])}


def _cost(report: Report) -> str:
    """Return what a recall costs, beside what it is worth."""
    rows = _overall(report)
    cells = (
        [row.label, *([_share(row.metrics[HEADLINE])] if HEADLINE in row.metrics else [""]), f"{row.mean_ms:.1f}",
         f"{row.p95_ms:.1f}", f"{row.tokens:.0f}", f"{row.candidates:.0f}"]
        for row in rows
    )  # fmt: skip
    header = ["policy", HEADLINE, "ms", "p95 ms", "tokens of an answer", "candidates scored"]
    note = _note("One recall without embedding the question; no model is called. Compare within a run only.")
    return note + _table(header, cells)


def _configuration(config: Mapping[str, Any]) -> str:
    policies = "".join(_folded(name, f"<pre>{escape(text)}</pre>") for name, text in config["policies"].items())
    return _json({name: value for name, value in config.items() if name != "policies"}) + policies


def _json(data: Mapping[str, Any]) -> str:
    return f"<pre>{escape(json.dumps(data, indent=1, ensure_ascii=False))}</pre>"
