"""Functions and modules stay small: the numbers of the house style, held by a test."""

from __future__ import annotations

import ast
from pathlib import Path
from statistics import median

SOURCE = Path(__file__).resolve().parents[2] / "src/retentive"
MEDIAN, MOST, SHARE, LONGEST, MODULE = 7, 25, 0.9, 60, 400


def functions() -> dict[str, int]:
    """Return the length of every function in lines of code: without decorators, docstring and blank lines."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}"] = _length(node, lines)
    return found


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    body = node.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    described = range(body[0].lineno, (body[0].end_lineno or 0) + 1) if documented else range(0)
    whole = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return sum(1 for number in whole if number not in described and lines[number - 1].strip())


def test_functions_are_short() -> None:
    """Half of all functions have at most 7 lines, nine in ten at most 25."""
    lengths = sorted(functions().values())
    assert median(lengths) <= MEDIAN
    assert lengths[int(SHARE * (len(lengths) - 1))] <= MOST


def test_no_function_is_long() -> None:
    """None has more than 60 lines."""
    assert {name: length for name, length in functions().items() if length > LONGEST} == {}


def test_no_module_is_long() -> None:
    """No module has more than 400 lines."""
    lengths = {
        str(path.relative_to(SOURCE)): len(path.read_text("utf-8").splitlines()) for path in SOURCE.rglob("*.py")
    }
    assert {name: length for name, length in lengths.items() if length > MODULE} == {}
