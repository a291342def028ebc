"""A store says where it is: that is what greets whoever starts a server over it."""

from __future__ import annotations

from pathlib import Path

from retentive import Retentive


def test_a_store_says_where_it_is(tmp_path: Path) -> None:
    """By its folder, not by an address in memory."""
    with Retentive(tmp_path / "store") as home:
        assert repr(home) == f"<Retentive over <SqliteStore {str(tmp_path / 'store')!r}>>"
    assert repr(Retentive(":memory:")) == "<Retentive over <MemoryStore>>"
