"""The labelled pairs: the development half holds its figures, and the committed table is what was measured."""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from retentive.conflicts.decide import judge
from retentive.text.wording import said

FOLDER = Path(__file__).parents[3] / "benchmarks" / "conflicts"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    if not FOLDER.is_dir():
        pytest.skip("the benchmarks are in the repository, not in the package")
    spec = importlib.util.spec_from_file_location("conflicts_run", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["conflicts_run"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_halves_are_apart_and_whole(benchmark: ModuleType) -> None:
    """No pair is in both, none in neither; half or more are no conflicts."""
    one, other = (benchmark.pairs(half) for half in benchmark.HALVES)
    together = {pair.digest for pair in one} | {pair.digest for pair in other}
    lines = (FOLDER / "pairs.tsv").read_text("utf-8").splitlines()[1:]
    assert len(together) == len(one) + len(other) == len(lines) == len(set(lines)) >= 200
    assert sum(pair.label != "conflict" for pair in (*one, *other)) >= len(lines) / 2


def test_the_development_half_holds(benchmark: ModuleType) -> None:
    """Nothing that must not conflict does, and most of what does is found; repetitions are known by their words."""
    pairs = benchmark.pairs("development")
    sure = {pair: (judge(pair.new, pair.old) or None) for pair in pairs}
    applied = [pair for pair, ruling in sure.items() if ruling is not None and ruling.confidence >= 0.9]
    assert [pair for pair in applied if pair.label != "conflict"] == []
    assert len(applied) >= 0.88 * sum(pair.label == "conflict" for pair in pairs)
    assert [pair for pair in pairs if (said(pair.old) == said(pair.new)) != (pair.label == "same")] == []


def test_the_table_is_what_was_measured(benchmark: ModuleType) -> None:
    """The committed results give the committed table, and the development half gives its results again."""
    results = json.loads((FOLDER / "results.json").read_text("utf-8"))
    assert benchmark.table(results) == (FOLDER / "table.md").read_text("utf-8")
    if find_spec("retentive_potion") is None:
        pytest.skip("it was measured with the bundled embedder, which is not installed")
    measured = json.loads(json.dumps(benchmark.measured("development")))
    assert measured["applied_precision"] == results["development"]["applied_precision"]
    assert measured["applied_recall"] == results["development"]["applied_recall"]
