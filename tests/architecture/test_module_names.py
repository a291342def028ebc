"""What a file is called: pytest imports test modules by their bare names, so that two of one name shadow each other."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_no_two_test_modules_share_a_name() -> None:
    """Otherwise the second is not collected at all, and only where both are asked for."""
    names = Counter(path.name for path in TESTS.rglob("*.py") if path.name not in {"__init__.py", "conftest.py"})
    assert [name for name, count in names.items() if count > 1] == []
