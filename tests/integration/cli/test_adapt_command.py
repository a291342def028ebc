"""`retentive adapt`: shown, switched, taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from retentive import Retentive

Run = Callable[..., Any]


def test_shown_and_taken_back(run: Run, data: Run, tmp_path: Path) -> None:
    """From nothing learnt to a step with its reason, and back."""
    for number in range(6):
        run("remember", f"the roof, note {number}", "--importance", f"0.{number + 2}")
    assert "--on lets them" in run("adapt").stdout
    assert "Nothing has been learnt." in run("adapt", "--on").stdout
    with Retentive(tmp_path / "store", embedder="hash") as memories:
        recall = memories.space("acme/alice").recall("the roof")
        recall.feedback(used=[recall[-1].memory.id])
    told = run("adapt").stdout
    assert "1 answers taught something" in told
    assert "was used though 4 stood above it" in told
    assert len(data("adapt")["learnt"]["moves"]) == 1
    assert data("adapt", "--undo", "1")["learnt"]["moves"] == []
    assert data("adapt", "--reset") == {"on": True, "learnt": None}
    assert data("adapt", "--off") == {"on": False, "learnt": None}
