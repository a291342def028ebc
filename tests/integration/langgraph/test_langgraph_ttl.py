"""Time to live: items expire at once, reading refreshes them unless told not to, sweeping erases."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from langgraph_making import Clock

from retentive import Retentive
from retentive.errors import InvalidInput, StoreBusy

pytest.importorskip("langgraph.store.base", reason="the extra 'langgraph' is not installed")

from retentive.integrations.langgraph import RetentiveStore
from retentive.integrations.sweeping import Sweeper

NS = ("test",)
TEXT = {"content": "the deploy failed"}


def gone(store: RetentiveStore, key: str = "k") -> bool:
    """Whether no way of reading shows an item; none of them refreshes it."""
    got = store.get(NS, key, refresh_ttl=False)
    listed = [item.key for item in store.search(NS, refresh_ttl=False)]
    found = [item.key for item in store.search(NS, query="deploy failed", refresh_ttl=False)]
    assert (got is None) == (key not in listed) == (key not in found)
    return got is None


def test_an_item_expires_unswept(store: RetentiveStore, clock: Clock) -> None:
    """Past its time an item is in no answer, though it was not swept; nor is its namespace."""
    store.put(NS, "k", TEXT, ttl=10)
    clock.tick(minutes=9, seconds=59)
    assert not gone(store)
    clock.tick(seconds=1)
    assert gone(store)
    assert store.list_namespaces() == []


def test_without_a_ttl_nothing_expires(store: RetentiveStore, clock: Clock) -> None:
    """An item without one stays."""
    store.put(NS, "k", TEXT)
    clock.tick(days=9)
    assert not gone(store)


@pytest.mark.parametrize("read", ["get", "list", "search"])
def test_reading_refreshes(store: RetentiveStore, clock: Clock, read: str) -> None:
    """Get and both kinds of search let the time begin anew; with `refresh_ttl=False` they do not."""

    def look(*, refresh: bool) -> None:
        if read == "get":
            store.get(NS, "k", refresh_ttl=refresh)
        else:
            store.search(NS, query="deploy failed" if read == "search" else None, refresh_ttl=refresh)

    store.put(NS, "k", TEXT, ttl=10)
    clock.tick(minutes=6)
    look(refresh=True)
    clock.tick(minutes=6)
    assert not gone(store)
    look(refresh=False)
    clock.tick(minutes=6)
    assert gone(store)
    look(refresh=True)
    assert gone(store)


def test_the_configuration_decides_what_is_not_said(memories: Retentive, clock: Clock) -> None:
    """A default time to live, refreshed on read or not; an item's own goes before it, None keeps it for ever."""
    store = RetentiveStore(memories, ttl={"default_ttl": 5, "refresh_on_read": False})
    store.put(NS, "k", TEXT)
    store.put(NS, "long", {"content": "a deploy failed on staging, long ago"}, ttl=60)
    store.put(NS, "ever", {"content": "whenever it failed, the deploy was late"}, ttl=None)
    clock.tick(minutes=4)
    assert store.get(NS, "k") is not None
    clock.tick(minutes=2)
    assert gone(store)
    assert not gone(store, "long")
    clock.tick(days=1)
    assert gone(store, "long")
    assert not gone(store, "ever")


def test_putting_again_sets_the_time_anew(store: RetentiveStore, clock: Clock) -> None:
    """Also for one that had expired; without a ttl it stays for good."""
    store.put(NS, "k", TEXT, ttl=1)
    clock.tick(minutes=2)
    store.put(NS, "k", TEXT, ttl=1)
    assert not gone(store)
    store.put(NS, "k", TEXT)
    clock.tick(days=1)
    assert not gone(store)


def test_a_refresh_is_not_journaled(store: RetentiveStore, memories: Retentive) -> None:
    """Like every trace of a read: the journal is of what was said, not of who looked."""
    store.put(NS, "k", TEXT, ttl=10)
    before = len(memories.space("test").journal())
    store.get(NS, "k")
    assert len(memories.space("test").journal()) == before


def test_a_sweep_erases_what_is_over(store: RetentiveStore, memories: Retentive, clock: Clock) -> None:
    """Only items whose time has passed, in all namespaces; not a memory whose validity ended."""
    store.put(NS, "k", TEXT, ttl=1)
    store.put(("other",), "k", TEXT, ttl=1)
    store.put(NS, "stays", TEXT)
    kept = memories.space("test").remember("was true once", valid_until=clock.now)
    clock.tick(minutes=1)
    assert store.sweep_ttl() == 2
    assert store.sweep_ttl() == 0
    assert {memory.id for memory in memories.space("test").list(hidden=True)} == {"stays", kept.id}


@pytest.mark.parametrize("ttl", [0, -1, True, "5", float("nan")])
def test_a_ttl_that_is_none(store: RetentiveStore, ttl: Any) -> None:
    """Only a number of minutes above zero is one."""
    with pytest.raises(InvalidInput, match="minutes"):
        store.put(NS, "k", TEXT, ttl=ttl)


def test_sweeping_in_the_background(memories: Retentive, clock: Clock) -> None:
    """A sweeper sweeps until it is stopped; starting twice is one; stopping none is fine."""
    swept = threading.Event()

    class Watched(RetentiveStore):
        def sweep_ttl(self) -> int:
            count = super().sweep_ttl()
            swept.set()
            return count

    with Watched(memories, ttl={"sweep_interval_minutes": 1}) as store:
        assert store.stop_ttl_sweeper()
        store.put(NS, "k", TEXT, ttl=1)
        clock.tick(minutes=1)
        running = store.start_ttl_sweeper(0.0001)
        assert store.start_ttl_sweeper() is running
        assert swept.wait(10)
        assert store.stop_ttl_sweeper()
        assert running.done()
        assert list(memories.space("test").list(hidden=True)) == []


def test_a_sweep_that_fails_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    """It is said once more in the log, and the thread goes on."""
    calls, again = [], threading.Event()

    def sweep() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise StoreBusy("busy")
        again.set()

    sweeper = Sweeper(sweep, 0.001)
    assert again.wait(10)
    assert sweeper.stop()
    assert "StoreBusy" in caplog.text
