"""Plots as inline SVG: no script, no font, no file beside the page. Numbers in, one string out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

COLOURS: Final = ("#1b6ca8", "#d1495b", "#3a7d44", "#edae49", "#6a4c93", "#00798c", "#8d6a4f", "#5c6b73")
DASHES: Final = ("", "6 3", "2 3", "8 3 2 3")
"""Beside the colour, so that lines can be told apart without it."""
WIDTH: Final = 640
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 16, 14, 46
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, with the ends of its interval where it has one."""

    value: float
    low: float | None = None
    high: float | None = None


def colour(at: int) -> str:
    """Return the colour of the series at a place."""
    return COLOURS[at % len(COLOURS)]


def lines(series: Mapping[str, Sequence[Point]], *, x: str, y: str, top: float | None = None) -> str:
    """Draw one line a series; the horizontal axis has the points' own places, evenly apart."""
    ticks = sorted({point[0] for points in series.values() for point in points})
    if not ticks:
        return ""
    highest = top or max((point[1] for points in series.values() for point in points), default=1.0) or 1.0
    at = {tick: _LEFT + (WIDTH - _LEFT - _RIGHT) * place / max(1, len(ticks) - 1) for place, tick in enumerate(ticks)}
    parts = [*_frame(highest, x, y), *_ticks({at[tick]: f"{tick:g}" for tick in ticks})]
    for number, points in enumerate(series.values()):
        path = " ".join(f"{at[tick]:.1f},{_y(value, highest):.1f}" for tick, value in sorted(points))
        dash = DASHES[number // len(COLOURS) % len(DASHES)]
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour(number)}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>'
        )
    return _svg(parts, series)


def bars(groups: Mapping[str, Mapping[str, Bar]], *, y: str, top: float = 1.0) -> str:
    """Draw groups of bars side by side, one bar a series, with whiskers for intervals."""
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    if not names:
        return ""
    slot = (WIDTH - _LEFT - _RIGHT) / len(groups)
    width = slot * 0.8 / len(names)
    parts, labels = _frame(top, "", y), {}
    for place, (group, values) in enumerate(groups.items()):
        start = _LEFT + slot * place + slot * 0.1
        labels[start + slot * 0.4] = group
        for name, bar in values.items():
            parts += _bar(bar, start + width * names.index(name), width, colour(names.index(name)), name, top)
    return _svg([*parts, *_ticks(labels, slanted=len(groups) > 4)], names)


def _bar(bar: Bar, left: float, width: float, fill: str, name: str, top: float) -> Iterator[str]:
    high = _y(bar.value, top)
    yield (
        f'<rect x="{left:.1f}" y="{high:.1f}" width="{max(1.0, width - 1):.1f}" height="{_y(0, top) - high:.1f}" '
        f'fill="{fill}"><title>{escape(name)}: {bar.value:.3f}</title></rect>'
    )
    if bar.low is not None and bar.high is not None:
        middle = left + width / 2
        yield (
            f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{_y(bar.low, top):.1f}" y2="{_y(bar.high, top):.1f}" '
            'stroke="#222" stroke-width="1"/>'
        )


def stacks(rows: Mapping[str, Mapping[str, float]], *, unit: str) -> str:
    """Draw one horizontal bar a row, cut into named parts; negative parts are drawn with their size, and say so."""
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    widest = max((sum(abs(value) for value in row.values()) for row in rows.values()), default=0.0)
    if not widest:
        return ""
    left, step, parts = 150, 26, []
    scale = (WIDTH - left - _RIGHT) / widest
    for place, (label, row) in enumerate(rows.items()):
        x, y = float(left), 8 + step * place
        parts.append(f'<text x="{left - 6}" y="{y + 13}" text-anchor="end">{escape(label)}</text>')
        for name, value in row.items():
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{abs(value) * scale:.2f}" height="18" '
                f'fill="{colour(names.index(name))}"><title>{escape(name)}: {value:.4g} {escape(unit)}</title></rect>'
            )
            x += abs(value) * scale
    return _svg(parts, names, height=16 + step * len(rows))


def _y(value: float, top: float, height: int = 260) -> float:
    return height - _BOTTOM - (height - _BOTTOM - _TOP) * min(max(value / top, 0.0), 1.0)


def _frame(top: float, x: str, y: str) -> list[str]:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        height = _y(share * top, top)
        parts.append(f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{share * top:.3g}</text>')
    parts.append(f'<text x="12" y="{_y(top / 2, top):.1f}" transform="rotate(-90 12 {_y(top / 2, top):.1f})" '
                 f'text-anchor="middle">{escape(y)}</text>')  # fmt: skip
    parts.append(f'<text x="{WIDTH / 2}" y="254" text-anchor="middle">{escape(x)}</text>')
    return parts


def _ticks(labels: Mapping[float, str], *, slanted: bool = False) -> list[str]:
    foot = _y(0, 1) + 16
    placed = 'transform="rotate(18 {x:.1f} {foot})"' if slanted else 'text-anchor="middle"'
    return [
        f'<text x="{x:.1f}" y="{foot}" {placed.format(x=x, foot=foot)}>{escape(text[:20])}</text>'
        for x, text in labels.items()
    ]


def _svg(parts: Sequence[str], names: Mapping[str, object] | Sequence[str], height: int = 260) -> str:
    """Close the picture with a legend underneath, as text that wraps."""
    legend = "".join(
        f'<span><i style="background:{colour(place)}"></i>{escape(name)}</span>' for place, name in enumerate(names)
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
        f'<p class="legend">{legend}</p>'
    )
