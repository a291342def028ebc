"""The picture of the imports in docs/architecture.md: layers from pyproject.toml, edges from the code, by grimp."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from pathlib import Path
from xml.sax.saxutils import escape

import grimp

ROOT = Path(__file__).resolve().parents[1]
WIDTH, ROW, BOX, TOP, LABEL = 1120, 74, 34, 60, 8
GROUND = ("types", "errors")  # everything may stand on these: their lines would hide the others
Edges = dict[str, set[str]]


def layers() -> list[list[str]]:
    """Return the layers of the contract, outermost first."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract = next(item for item in data["tool"]["importlinter"]["contracts"] if item["id"] == "layers")
    return [re.findall(r"\w+", layer) for layer in contract["layers"]]


def edges() -> Edges:
    """Return which part of the package imports which, at the level of its direct members."""
    graph = grimp.build_graph("retentive", cache_dir=None)
    found: Edges = defaultdict(set)
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            near, far = _member(module), _member(imported)
            if near and far and near != far:
                found[near].add(far)
    return found


def _member(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def reduced(found: Edges) -> Edges:
    """Leave out what follows from the rest, for the eye: A → C where A → B → C."""
    return {near: {far for far in found[near] if not _another_way(found, near, far)} for near in list(found)}


def _another_way(found: Edges, near: str, far: str) -> bool:
    seen, ahead = set(), [name for name in found.get(near, ()) if name != far]
    while ahead:
        name = ahead.pop()
        if name == far:
            return True
        if name not in seen:
            seen.add(name)
            ahead += found.get(name, ())
    return False


def present() -> list[list[str]]:
    """Return the layers with only those members that exist."""
    there = {p.stem if p.suffix == ".py" else p.name for p in (ROOT / "src/retentive").iterdir()}
    rows = [[name for name in row if name in there] for row in layers()]
    return [row for row in rows if row]


def svg() -> str:
    """Draw the layers as rows, outermost on top, and every import that no other path implies as a line downwards."""
    rows = untangled(present(), reduced(edges()))
    at = {name: _place(i, j, len(row), row) for i, row in enumerate(rows) for j, name in enumerate(row)}
    pairs = [(near, far) for near, fars in sorted(reduced(edges()).items()) for far in sorted(fars)]
    lines = [_line(at[near], at[far]) for near, far in pairs if near in at and far in at and far not in GROUND]
    boxes = [_box(name, *place) for name, place in at.items()]
    height = TOP + ROW * len(rows)
    return "\n".join([_head(height), *lines, *boxes, "</svg>\n"])


def untangled(rows: list[list[str]], found: Edges) -> list[list[str]]:
    """Order each row by where those stand that import it: lines cross less."""
    centre: dict[str, float] = {}
    ordered = []
    for row in rows:
        pull = {name: [centre[near] for near in centre if name in found.get(near, ())] for name in row}
        places = {name: sum(xs) / len(xs) if xs else 0.0 for name, xs in pull.items()}
        best = sorted(row, key=lambda name: (places[name], name))
        centre |= {name: i - (len(best) - 1) / 2 for i, name in enumerate(best)}
        ordered.append(best)
    return ordered


def _head(height: int) -> str:
    fonts = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
    note = "outside · every import points down · not drawn: lines that others imply, and those to types and errors"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-family="{fonts}" '
        'font-size="15">\n<title>What imports what in retentive: every line points downwards</title>\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n'
        f'<text x="{WIDTH / 2:.0f}" y="30" text-anchor="middle" fill="#555">{note}</text>'
    )


def _place(i: int, j: int, size: int, row: list[str]) -> tuple[float, float, float]:
    """Return centre and width of the j-th of ``size`` boxes in row i; rows lean aside in turn, so lines stay apart."""
    width = 10.5 * max(len(name) for name in row) + 26
    lean = (-1, 0, 1, 0)[i % 4] * 130 if size < 3 else 0
    step = min(230.0, (WIDTH - 60) / size)
    return WIDTH / 2 + lean + (j - (size - 1) / 2) * step, TOP + i * ROW + BOX / 2, width


def _line(near: tuple[float, float, float], far: tuple[float, float, float]) -> str:
    x1, y1, x2, y2 = near[0], near[1] + BOX / 2, far[0], far[1] - BOX / 2
    if y2 <= y1:  # within one layer
        y1, y2 = near[1], far[1]
        return f'<path d="M{x1:.0f} {y1:.0f} L{x2:.0f} {y2:.0f}" stroke="#b06000" stroke-width="1.6" fill="none"/>'
    far_away = y2 - y1 > ROW
    bend = (90 if x1 <= x2 else -90) if far_away else 0
    middle = (y1 + y2) / 2
    return (
        f'<path d="M{x1:.0f} {y1:.0f} C{x1 + bend:.0f} {middle:.0f} {x2 + bend:.0f} {middle:.0f} {x2:.0f} {y2:.0f}" '
        f'stroke="#3b6ea8" stroke-opacity="{0.45 if far_away else 0.9}" stroke-width="1.6" fill="none"/>'
    )


def _box(name: str, x: float, y: float, width: float) -> str:
    left, top = x - width / 2, y - BOX / 2
    return (
        f'<g><rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{BOX}" rx="6" fill="#eef3f9" '
        f'stroke="#3b6ea8"/><text x="{x:.0f}" y="{y + 5:.0f}" text-anchor="middle" fill="#12263f">'
        f"{escape(name)}</text></g>"
    )


def table() -> str:
    """Return every edge as text, for those who do not see the picture."""
    found = edges()
    lines = ["| part | imports |", "| --- | --- |"]
    for row in present():
        for name in row:
            imported = ", ".join(f"`{far}`" for far in sorted(found.get(name, ()))) or "nothing of ours"
            lines.append(f"| `{name}` | {imported} |")
    return "\n".join(lines)
