"""The command line speaks to a server where the store is the address of one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from retentive import Retentive
from retentive.cli.main import root
from retentive.server.keys import KeyRing


@pytest.fixture
def afar(address: str, ring: KeyRing, local: Retentive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An environment in which the store is a server that wants a key."""
    for name in [name for name in os.environ if name.startswith(("RETENTIVE_", "XDG_"))]:
        monkeypatch.delenv(name)
    _, secret = ring.create(right="write", spaces=["acme"], now=local.now())
    settings = {"HOME": str(tmp_path), "RETENTIVE_STORE": address, "RETENTIVE_KEY": secret}
    for name, value in {**settings, "RETENTIVE_SPACE": "acme/alice"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return secret


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(root, list(arguments), prog_name="retentive")
    assert result.exit_code == code, result.output
    return result


def told(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def test_the_verbs_work_from_afar(afar: str, local: Retentive) -> None:
    """Remember, recall, list, get, update, history, forget: in the store of the server."""
    kept = told("remember", "Prefers Postgres for relational work", "--kind", "preference")
    assert told("recall", "Postgres", "--no-touch")["hits"][0]["memory"]["id"] == kept["id"]
    assert "Prefers Postgres" in run("recall", "Postgres", "--render", "markdown").stdout
    assert [memory["id"] for memory in told("list")] == [kept["id"]]
    assert told("update", kept["id"], "--importance", "0.9")["importance"] == 0.9
    assert [version["action"] for version in told("history", kept["id"])] == ["remember", "update"]
    assert told("spaces")
    run("forget", kept["id"], "--reason", "asked to")
    assert local.space("acme/alice").get(kept["id"], touch=False).suppressed_at is not None
    assert local.space("acme/alice").journal()[0].actor.startswith("key:")


def test_what_needs_the_files_says_so(afar: str) -> None:
    """And a key is never shown."""
    run("remember", "Prefers Postgres")
    assert "not possible over HTTP" in run("explain", "r1", code=1).output
    shown = run("config", "show").stdout
    assert afar not in shown
    assert "***" in shown
