"""The real command line over a store in a temporary folder, with the embedder that needs no model."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from retentive.cli.main import root

Run = Callable[..., Result]
FAILURE = ("--metadata", "ticket=7", "--source", "chat:7")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder and an environment in which nothing of this machine's user counts."""
    for name in [name for name in os.environ if name.startswith(("RETENTIVE_", "XDG_"))]:
        monkeypatch.delenv(name)
    work = tmp_path / "home" / "work"
    work.mkdir(parents=True)
    settings = {
        "HOME": str(tmp_path / "home"),
        "USERPROFILE": str(tmp_path / "home"),
        "RETENTIVE_STORE": str(tmp_path / "store"),
        "RETENTIVE_SPACE": "acme/alice",
        "RETENTIVE_EMBEDDER": "hash",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def run(home: Path) -> Run:
    """Run a command; unless told otherwise it has to succeed."""

    def invoke(*arguments: str, code: int = 0, **more: Any) -> Result:
        result = CliRunner().invoke(root, list(arguments), prog_name="retentive", **more)
        if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture
def data(run: Run) -> Callable[..., Any]:
    """Run a command with ``--json`` and read what it printed: one document, nothing else."""

    def invoke(*arguments: str, **more: Any) -> Any:
        return json.loads(run(*arguments, "--json", **more).stdout)

    return invoke


@pytest.fixture
def seeded(run: Run) -> Run:
    """A space in which something is remembered, all of one moment so that words decide."""
    for memory in (
        ("Prefers Postgres for relational work", "--id", "db-choice", "--kind", "preference", "--tag", "stack"),
        ("The deploy failed with error E4012", "--id", "failure", "--kind", "event", *FAILURE),
        ("Check the gates, then move tiers", "--id", "gates", "--kind", "procedure", "--tag", "migration"),
    ):
        run("remember", *memory, "--at", "2026-05-01T12:00Z")
    return run
