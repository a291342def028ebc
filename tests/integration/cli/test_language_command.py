"""`retentive language`, run for real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


def test_a_space_says_and_changes_its_language(run: Run, data: Run) -> None:
    """What is asked in another form is found once both are stemmed alike."""
    run("remember", "Die Rechnungen wurden bezahlt")
    assert data("language") == {"language": "english"}
    told = run("language", "german")
    assert "1 memories were indexed anew." in told.stderr
    assert data("language") == {"language": "german"}
    assert data("language", "german") == {"language": "german", "indexed": 0}
    hit = data("recall", "Rechnung", "--explain")["hits"][0]
    assert "lexical" in hit["channels"]


def test_the_configured_language_is_for_new_spaces(run: Run, data: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable decides until something is remembered; a typo is refused with what there is."""
    monkeypatch.setenv("RETENTIVE_LANGUAGE", "spanish")
    run("remember", "Las reuniones son los lunes")
    monkeypatch.delenv("RETENTIVE_LANGUAGE")
    assert data("language") == {"language": "spanish"}
    assert "klingon" in run("language", "klingon", code=1).stderr
