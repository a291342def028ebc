"""The doctor finds what is wrong, says what to do, and exits accordingly."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from retentive.doctor import Finding, bundled_model, examine, failed
from retentive.errors import StoreBusy
from retentive.stores.memory import MemoryStore
from retentive.testing.fakes import HashEmbedder

Run = Callable[..., Any]


def wrong(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.level != "ok"]


def test_a_healthy_installation_is_well(seeded: Run) -> None:
    """Every finding is ok, the space among them, and the exit code is 0."""
    findings = json.loads(seeded("doctor", "--json").stdout)
    assert {finding["level"] for finding in findings} == {"ok"}
    assert any(finding["space"] == "acme/alice" and "3 memories" in finding["what"] for finding in findings)
    assert "0 wrong" in seeded("doctor").stderr


def test_a_store_that_does_not_exist_yet_is_no_failure(run: Run, tmp_path: Path) -> None:
    """Nothing is created by looking."""
    assert "does not exist yet" in run("doctor").stdout
    assert not (tmp_path / "store").exists()


def test_a_damaged_space_is_found_and_named(seeded: Run, tmp_path: Path) -> None:
    """With the remedy, and exit code 1; the other spaces are examined all the same."""
    seeded("remember", "Hello", "--space", "acme/bob")
    [file] = [path for path in (tmp_path / "store").rglob("*.db") if "alice" in path.parent.name]
    for side in file.parent.glob("*.db-*"):
        side.unlink()
    file.write_bytes(b"this is not a database" * 500)
    result = seeded("doctor", "--space", "acme/alice", code=1)
    assert "acme/alice" in result.stdout
    assert "Restore it from a backup or an export" in result.stdout


def test_another_embedder_is_found(seeded: Run) -> None:
    """Before the next recall refuses it."""
    result = seeded("doctor", "--embedder", "nonsense", code=1)
    assert "Unknown embedder" in result.stdout
    store = MemoryStore()
    space = store.open("acme")
    with space.transaction() as tx:
        tx.set_setting("embedder", {"id": "other", "dimension": 3, "fingerprint": ""})
    [finding] = wrong(examine(store, HashEmbedder()))
    assert "'other'" in finding.what
    assert "--re-embed --space acme" in finding.remedy


def test_a_wrong_configuration_is_a_finding(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor examines what it can, and says what stopped it."""
    monkeypatch.setenv("RETENTIVE_STROE", "x")
    result = run("doctor", code=1)
    assert "Did you mean 'RETENTIVE_STORE'" in result.stdout
    assert "SQLite" in result.stdout


def test_a_store_that_is_a_file_is_found(tmp_path: Path) -> None:
    """A path that can never work."""
    (tmp_path / "file").write_text("x")
    assert failed(examine(None, None, folder=tmp_path / "file"))


def test_a_full_disk_is_worth_knowing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a write fails."""
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=10 << 20))
    [finding] = wrong(examine(None, None, folder=tmp_path))
    assert finding == Finding("warning", "10 MiB are free on the disk of the store.", "Make room.")


def test_memories_from_the_future_and_a_wrong_clock_are_found(seeded: Run) -> None:
    """Either the date or the clock is wrong."""
    seeded("remember", "from tomorrow", "--at", "2999-01-01T00:00Z")
    assert "1 memories are dated in the future" in seeded("doctor").stdout
    assert failed(examine(None, None, now=datetime(1970, 1, 2, tzinfo=UTC)))
    assert not failed(examine(None, None, now=datetime.now(UTC) + timedelta(days=1)))


def test_an_embedder_that_fails_or_lies_is_found() -> None:
    """Whatever it raises."""

    class Broken(HashEmbedder):
        def embed(self, texts: Any) -> Any:
            raise OSError("the endpoint is gone")

    class Lying(HashEmbedder):
        def embed(self, texts: Any) -> Any:
            return np.zeros((1, 3), np.float32)

    assert "the endpoint is gone" in wrong(examine(None, Broken()))[0].what
    assert "shape (1, 3)" in wrong(examine(None, Lying()))[0].what


def test_fetched_models_are_verified(tmp_path: Path) -> None:
    """A changed file and a half-fetched folder are both found; a model of your own is left alone."""
    changed = tmp_path / "arctic-s"
    changed.mkdir()
    for name in ("model.onnx", "vocab.txt"):
        (changed / name).write_bytes(b"changed")
    (changed / "model.json").write_text('{"fingerprint": "0"}')
    (tmp_path / "half").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "model.json").write_text('{"fingerprint": "1"}')
    said = [finding.what for finding in wrong(examine(None, None, models=tmp_path))]
    assert len(said) == 2
    assert "differs from what was fetched" in said[0]
    assert "not complete" in said[1]


def test_the_bundled_model_is_whole(tmp_path: Path) -> None:
    """The data wheel is examined like a fetched model."""
    if bundled_model() is None:
        pytest.skip("the data wheel is not installed")
    assert any("'potion' is whole" in finding.what for finding in examine(None, None, models=tmp_path))


def test_a_store_that_cannot_be_listed_is_a_finding() -> None:
    """An examination that fails is a finding, not a crash."""

    class Locked(MemoryStore):
        def spaces(self) -> list[str]:
            raise StoreBusy("somebody else is writing")

    assert "somebody else is writing" in wrong(examine(Locked(), None))[0].what
