"""Plots as inline SVG: no script, no font, no file beside the page. Numbers in, one string out.

Colours come from classes that the page's style defines for light and dark; a series beyond the eighth repeats a colour
and is told apart by its dashes, or by a hollow mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

COLOURS: Final = ("#1b6ca8", "#d1495b", "#3a7d44", "#d9962b", "#6a4c93", "#0098ae", "#8d6a4f", "#5c6b73")
PALE: Final = ("#8fb8dc", "#eba5ae", "#9cc4a3", "#f0cd95", "#b8a3cf", "#8fd3dd", "#ccb7a2", "#b3bbc1")
DASHES: Final = ("", "6 3", "2 3", "8 3 2 3")
WIDTH: Final = 760
_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 280, 52, 16, 14, 44
_LETTER: Final = 6.3  # the width of a letter at 11 px, a little generous
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Mark:
    """One value, with the ends of its interval where it has one."""

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
    foot = _HEIGHT - _BOTTOM + 16
    parts = [*_frame(highest, x, y), *(_text(at[tick], foot, f"{tick:g}", "middle") for tick in ticks)]
    for number, (name, points) in enumerate(series.items()):
        path = " ".join(f"{at[tick]:.1f},{_y(value, highest):.1f}" for tick, value in sorted(points))
        parts.append(f'<polyline points="{path}" {_stroke(number)}/>')
        parts += (_dot(at[tick], _y(value, highest), number, f"{name}: {value:.3f}") for tick, value in points)
    return _svg(parts, _HEIGHT) + _legend(series, _line_key)


def dots(groups: Mapping[str, Mapping[str, Mark]], *, x: str, top: float = 1.0) -> str:
    """Draw a band a group and in it a dot a series, with its interval as a line: many small values, compared."""
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    if not names:
        return ""
    left, step = _room(groups), 11
    band = step * len(names) + 12
    foot = 8 + band * len(groups)
    parts = [_rule(_x(share * top, left, top), foot, share * top) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for place, (group, marks) in enumerate(groups.items()):
        head = 8 + band * place
        parts.append(_text(left - 10, head + band / 2 + 4, group, "end"))
        parts.append(f'<line class="grid" x1="0" x2="{WIDTH - _RIGHT}" y1="{head + band}" y2="{head + band}"/>')
        for name, mark in marks.items():
            number = names.index(name)
            parts += _mark(mark, left, head + 6 + step * (number + 0.5), number, name, top)
    return _svg([*parts, _text((left + WIDTH) / 2, foot + 34, x, "middle")], foot + 42) + _legend(names, _dot_key)


def _mark(mark: Mark, left: float, y: float, number: int, name: str, top: float) -> Iterator[str]:
    told = f"{name}: {mark.value:.3f}"
    if mark.low is not None and mark.high is not None:
        told += f" [{mark.low:.3f}, {mark.high:.3f}]"
        yield (
            f'<line x1="{_x(mark.low, left, top):.1f}" x2="{_x(mark.high, left, top):.1f}" y1="{y:.1f}" y2="{y:.1f}" '
            f'stroke="{colour(number)}" stroke-width="1.5"/>'
        )
    yield _dot(_x(mark.value, left, top), y, number, told, size=4)


def stacks(rows: Mapping[str, Mapping[str, float]], *, unit: str, muted: str | None = None) -> str:
    """Draw one horizontal bar a row, cut into named parts, the muted one in grey; a negative part is hollow."""
    widest = max((sum(abs(value) for value in row.values()) for row in rows.values()), default=0.0)
    if not widest:
        return ""
    seen = {name: None for row in rows.values() for name, value in row.items() if abs(value) > widest / 1000}
    names = [name for name in seen if name != muted]
    fills = {muted: 'class="muted"'} if muted else {}
    fills |= {name: _fill(place) for place, name in enumerate(names)}
    left, step, parts = _room(rows), 24, []
    scale = (WIDTH - left - _RIGHT) / widest
    for place, (label, row) in enumerate(rows.items()):
        x, y = left, 6 + step * place
        parts.append(_text(left - 10, y + 13, label, "end"))
        for name, value in ((name, row.get(name, 0.0)) for name in fills):
            told = f"{escape(name)}: {value:.4g} {escape(unit)}"
            hollow = ' fill-opacity="0.15"' if value < 0 else ""
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{abs(value) * scale:.2f}" height="17" {fills[name]}{hollow}>'
                f"<title>{told}</title></rect>"
            )
            x += abs(value) * scale
    return _svg(parts, 10 + step * len(rows)) + _legend([*fills], lambda place: _box_key([*fills.values()][place]))


def _fill(number: int) -> str:
    """Return a colour, a pale one the second time round."""
    return f'fill="{colour(number)}"' if number < len(COLOURS) else f'fill="{PALE[number % len(PALE)]}"'


def _room(labels: Mapping[str, object]) -> float:
    """Return how far to the right a plot begins so that its labels have room."""
    return 14 + _LETTER * max(map(len, labels), default=0)


def _x(value: float, left: float, top: float) -> float:
    return left + (WIDTH - left - _RIGHT) * min(max(value / top, 0.0), 1.0)


def _y(value: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * min(max(value / top, 0.0), 1.0)


def _frame(top: float, x: str, y: str) -> list[str]:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        height = _y(share * top, top)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}"/>')
        parts.append(_text(_LEFT - 8, height + 4, f"{share * top:.3g}", "end"))
    middle = _y(top / 2, top)
    parts.append(
        f'<text x="12" y="{middle:.1f}" transform="rotate(-90 12 {middle:.1f})" text-anchor="middle">{escape(y)}</text>'
    )
    parts.append(_text(WIDTH / 2, _HEIGHT - 8, x, "middle"))
    return parts


def _rule(x: float, foot: float, value: float) -> str:
    line = f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="8" y2="{foot:.1f}"/>'
    return line + _text(x, foot + 16, f"{value:.3g}", "middle")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _stroke(number: int) -> str:
    dash = DASHES[number // len(COLOURS) % len(DASHES)]
    return f'fill="none" stroke="{colour(number)}" stroke-width="2" stroke-dasharray="{dash}"'


def _dot(x: float, y: float, number: int, told: str, size: float = 2.5) -> str:
    hollow = number // len(COLOURS) % 2
    fill = 'class="hollow"' if hollow else f'fill="{colour(number)}"'
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" {fill} stroke="{colour(number)}" stroke-width="1.5">'
        f"<title>{escape(told)}</title></circle>"
    )


def _svg(parts: Sequence[str], height: float) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def _legend(names: Mapping[str, object] | Sequence[str], key: Callable[[int], str]) -> str:
    """Write the legend underneath, as text that wraps."""
    keys = (
        f'<span><svg class="key" viewBox="0 0 24 12" xmlns="http://www.w3.org/2000/svg">{key(place)}</svg>'
        f"{escape(name)}</span>"
        for place, name in enumerate(names)
    )
    return f'<p class="legend">{"".join(keys)}</p>'


def _line_key(number: int) -> str:
    return f'<polyline points="0,6 24,6" {_stroke(number)}/>{_dot(12, 6, number, "")}'


def _dot_key(number: int) -> str:
    line = f'<line x1="2" x2="22" y1="6" y2="6" stroke="{colour(number)}" stroke-width="1.5"/>'
    return line + _dot(12, 6, number, "", 4)


def _box_key(fill: str) -> str:
    return f'<rect x="6" y="0" width="12" height="12" {fill}/>'
