"""Every list of a space comes page by page, here and over HTTP, and the client puts the pages together by itself."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from retentive import Retentive, Space
from retentive.client import paging
from retentive.errors import InvalidInput
from retentive.jobs import enqueue

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MANY = 5
ALICE = "acme/alice"
List = Callable[..., Any]
LISTS: dict[str, Callable[[Retentive], List]] = {
    "recalls": lambda home: home.space(ALICE).recalls,
    "jobs": lambda home: home.space(ALICE).jobs,
    "conflicts": lambda home: home.space(ALICE).conflicts,
    "repetitions": lambda home: home.space(ALICE).repetitions,
    "certificates": lambda home: home.certificates,
    "certificates of one": lambda home: lambda **asked: home.certificates("acme/gone", **asked),
}
OTHER = {
    "recalls": {"policy": "blend"},
    "jobs": {"state": "dead"},
    "conflicts": {"status": "dismissed"},
    "repetitions": {"memory": "m"},
    "certificates": {"path": "acme/gone"},
}


def seeded(home: Retentive) -> Space:
    """Some of everything that is listed, much of it of one moment."""
    space = home.space(ALICE)
    for name in ("Ada", "Bea", "Cleo", "Dora", "Eve"):
        space.remember(f"{name} works at Acme", kind="fact", at=NOW - timedelta(days=9))
        space.remember(f"{name} no longer works at Acme", kind="fact", at=NOW - timedelta(days=1))
        space.remember(f"{name} no longer works at Acme.", kind="fact", at=NOW)
        space.recall(name)
    space.find_conflicts()
    for finding in space.store.findings(kind="conflict"):
        with space.store.transaction() as tx:
            tx.put_finding(replace(finding, status="open"))
    with space.store.transaction() as tx:
        for number in range(MANY):
            enqueue(tx, "translate", NOW, payload={"number": number})
    for _ in range(MANY):
        home.space("acme/gone").remember("soon gone")
        home.drop("acme/gone")
    return space


def walked(pages: List, size: int) -> Iterator[Any]:
    """Go through a list by its cursor."""
    cursor = None
    while True:
        page = pages(limit=size, cursor=cursor)
        assert 0 < len(page) <= size
        yield from page
        if (cursor := page.cursor) is None:
            return


@pytest.mark.parametrize("name", LISTS)
def test_a_list_comes_page_by_page(
    name: str, local: Retentive, remote: Retentive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each item once, in the order of the whole, by pages of any size; a remote list the same, fetched two by two."""
    seeded(local)
    monkeypatch.setattr(paging, "PAGE", 2)
    near, far = LISTS[name](local), LISTS[name](remote)
    whole = near(limit=100)
    assert len(whole) >= MANY
    assert whole.cursor is None
    for size in (1, 2, len(whole)):
        assert list(walked(near, size)) == whole == list(walked(far, size))
    assert far(limit=100) == whole
    assert far(limit=3) == whole[:3] == near(limit=3)
    assert far(limit=3).cursor == near(limit=3).cursor
    for home in (near, far):
        with pytest.raises(InvalidInput, match="limit=0"):
            home(limit=0)


@pytest.mark.parametrize("name", OTHER)
def test_a_cursor_goes_with_its_list(name: str, local: Retentive, remote: Retentive) -> None:
    """Other filters, another list, and words that no list gave out are refused, here and over HTTP."""
    seeded(local)
    near, far = LISTS[name](local), LISTS[name](remote)
    cursor = near(limit=1).cursor
    bound, at, last = json.loads(base64.urlsafe_b64decode(cursor))
    of_another_list = LISTS["jobs" if name == "recalls" else "recalls"](local)(limit=1).cursor
    forged = [word(bound, at, "\ud83d"), word(bound, 7, last), word(bound, at), word(bound, at[:10], last), "é", "AAAA"]
    for home in (near, far):
        for wrong in (of_another_list, word("0" * 24, at, last), *forged):
            with pytest.raises(InvalidInput, match="cursor="):
                home(limit=1, cursor=wrong)
        with pytest.raises(InvalidInput, match="other filters"):
            home(limit=1, cursor=cursor, **OTHER[name])


def word(*parts: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()


def test_a_forged_number_begins_anew(local: Retentive) -> None:
    """Certificates are counted; what is no number of one is the beginning."""
    seeded(local)
    bound, at, _ = json.loads(base64.urlsafe_b64decode(local.certificates(limit=1).cursor or ""))
    for wrong in ("x", "9" * 40, "-1"):
        assert local.certificates(cursor=word(bound, at, wrong)) == local.certificates()
    assert local.certificates(cursor=word(bound, at, "99")) == []


def test_the_same_moment_elsewhere_is_the_same_query(local: Retentive) -> None:
    """A cursor goes on where ``since`` is written in another time zone."""
    space, since = seeded(local), NOW - timedelta(days=1)
    page = space.recalls(since=since, limit=2)
    there = since.astimezone(timezone(timedelta(hours=5)))
    assert len(space.recalls(since=there, limit=100, cursor=page.cursor)) == MANY - 2
    with pytest.raises(InvalidInput, match="other filters"):
        space.recalls(since=since + timedelta(hours=1), cursor=page.cursor)


def test_what_is_done_meanwhile_leaves_the_place(local: Retentive) -> None:
    """The job that a page ended with is dropped, and the next page begins where it would have."""
    space = seeded(local)
    page, whole = space.jobs(limit=2), space.jobs()
    space.drop_jobs(page[-1].id)
    assert space.jobs(cursor=page.cursor) == whole[2:]
