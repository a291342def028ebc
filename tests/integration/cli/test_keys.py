"""``keys``: made once, shown once, revoked at once; the file is private and is not trusted when it is damaged."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from retentive.errors import InvalidInput, NotFound, RetentiveError, StoreBusy, StoreCorrupt
from retentive.server.keys import KeyRing

Run = Callable[..., Any]
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_a_key_is_shown_once_and_kept_hashed(run: Run, data: Callable[..., Any], tmp_path: Path) -> None:
    """stdout has the key alone; the file, which only its owner may read, has not."""
    shown = run("keys", "create", "--for", "acme", "--write", "--name", "laptop", "--expires", "90d").stdout.strip()
    assert shown.startswith("rtv_")
    file = tmp_path / "store" / ".server" / "keys.json"
    assert shown.split("_", 2)[2] not in file.read_text("utf-8")  # the secret, which may hold underscores itself
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = data("keys", "list")
    assert [(key["right"], key["spaces"], key["name"]) for key in kept] == [("write", ["acme"], "laptop")]
    assert "hash" not in kept[0]
    found = KeyRing(file).check(shown, datetime.now(UTC))
    assert found is not None
    assert found.id == kept[0]["id"]
    assert run("spaces").stdout == ""  # the folder of the keys is no space


def test_lists_say_what_counts(run: Run) -> None:
    """Made, revoked, for all spaces; and that there are none."""
    assert "There are no keys" in run("keys", "list").stderr
    run("keys", "create", "--all-spaces", "--admin")
    made = run("keys", "create", "--for", "a", "--for", "b", "--read").stderr
    name = made.split("key ")[1].split()[0]
    run("keys", "revoke", name)
    table = run("keys", "list").stdout
    assert "all" in table
    assert "a, b" in table
    assert "revoked" in table
    assert run("keys", "revoke", name, "--json").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "--read"), "Which spaces"),
        (("create", "--read", "--for", "a", "--all-spaces"), "Which spaces"),
        (("create", "--for", "a"), "What may it do"),
    ],
)
def test_what_was_forgotten_is_asked(arguments: tuple[str, ...], said: str, run: Run) -> None:
    """Nothing is guessed where access is given."""
    assert said in run("keys", *arguments, code=2).stderr


def test_what_cannot_be_a_key_is_refused(tmp_path: Path) -> None:
    """Rights, spaces and rates are checked before anything is written."""
    ring = KeyRing(tmp_path / "keys.json")
    usual: dict[str, Any] = {"right": "read", "spaces": ["a"], "now": NOW}
    mistakes: list[dict[str, Any]] = [{"right": "god"}, {"spaces": []}, {"spaces": ["a//b"]}, {"rate": 0.0}]
    for mistake in mistakes:
        with pytest.raises(InvalidInput):
            ring.create(**usual | mistake)
    with pytest.raises(NotFound, match="keys list"):
        ring.revoke("nobody", NOW)
    assert not ring.used


def test_a_damaged_file_lets_nobody_in(tmp_path: Path) -> None:
    """It is neither empty nor trusted."""
    file = tmp_path / "keys.json"
    for text in ("{", "{}", '{"retentive-keys-1": [{"id": 7}]}', json.dumps({"retentive-keys-2": []})):
        file.write_text(text, "utf-8")
        with pytest.raises(StoreCorrupt, match="Nobody is let in"):
            KeyRing(file).check("rtv_x", NOW)


def test_two_do_not_change_keys_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one waits, and then says what may be the matter."""
    monkeypatch.setattr("retentive.server.keys._LOCK_SECONDS", 0.0)
    ring = KeyRing(tmp_path / "keys.json")
    (tmp_path / "keys.json.lock").touch()
    with pytest.raises(StoreBusy, match="remove"):
        ring.create(right="read", spaces=None, now=NOW)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs files that may not be written")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    """The error names the setting."""
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(RetentiveError, match=r"serve\.keys"):
            KeyRing(tmp_path / "keys.json").create(right="read", spaces=None, now=NOW)
    finally:
        tmp_path.chmod(0o700)


def test_a_place_that_is_no_folder(tmp_path: Path) -> None:
    """The same, for whoever may write everywhere."""
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(RetentiveError, match=r"serve\.keys"):
        KeyRing(tmp_path / "file" / "keys.json").create(right="read", spaces=None, now=NOW)
