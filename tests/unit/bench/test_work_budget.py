"""The guard that reads no clock: it counts the same twice, and what is there stays within its budget."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "work_budget.py"


@pytest.fixture(scope="module")
def guard() -> ModuleType:
    if not SCRIPT.is_file():
        pytest.skip("the scripts are in the repository, not in the package")
    if find_spec("retentive_potion") is None:
        pytest.skip("the work was counted with the bundled embedder, which is not installed")
    spec = importlib.util.spec_from_file_location("work_budget", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_same_work_counts_the_same(guard: ModuleType) -> None:
    """Two runs agree to the last call and statement; otherwise no budget could be tight."""
    first, again = [guard.count(memories=150, recalls=5, writes=5) for _ in range(3)][1:]  # the first fills caches
    assert first == again
    assert first["recall.candidates_scored"] > 0
    assert first["remember.sql_statements"] >= 5


def test_the_engine_stays_within_its_budget(guard: ModuleType) -> None:
    """More work than budgeted is a change to explain: make it cheaper, or `--update` and say why in the commit."""
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr  # in a process of its own: nothing is cached in it yet


def test_what_is_above_its_budget_is_named(guard: ModuleType) -> None:
    """Above by more than the tolerance fails, and so does a counter that nobody budgeted."""
    budget = {"a": 100, "b": 100}
    assert guard.above({"a": 103, "b": 90}, budget) == []
    assert [line.split(":")[0] for line in guard.above({"a": 104, "b": 90, "c": 1}, budget)] == ["c", "a"]


def test_a_budget_that_became_too_wide_is_named(guard: ModuleType) -> None:
    """What got cheaper by more than a tenth can be held there."""
    assert [line.split(":")[0] for line in guard.below({"a": 80, "b": 95}, {"a": 100, "b": 100})] == ["a"]
