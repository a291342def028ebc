"""The façade against plain models: what holds a key when, what a page shows, and what validation lets through."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retentive import Retentive, Space
from retentive.errors import InvalidInput, NotFound, RetentiveError
from retentive.paths import space_path
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def fresh() -> Space:
    return Retentive(":memory:", embedder=HashEmbedder(8), clock=lambda: NOW).space("s")


def day(n: float) -> datetime:
    return NOW + timedelta(days=n)


@few
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 8)), unique=True, max_size=12), st.integers(-1, 9))
def test_each_day_knows_the_latest_saying_of_each_key(told: list[tuple[str, int]], asked: int) -> None:
    """However the sayings were told, `as_of` a day is the latest of each key up to it, and chains hold all of a key."""
    space = fresh()
    for key, said in told:
        space.remember(f"{key}{said}", id=f"{key}{said}", key=key, at=day(said))
    expected = {f"{key}{max(said for k, said in told if k == key and said <= asked)}" for key, n in told if n <= asked}
    assert {memory.id for memory in space.list(as_of=day(asked))} == expected
    for key, said in told:
        chain = [memory.id for memory in space.chain(f"{key}{said}")]
        assert chain == [f"{key}{n}" for n in sorted(n for k, n in told if k == key)]


@few
@given(st.lists(st.integers(0, 3), max_size=30), st.integers(1, 10))
def test_pages_are_the_list(days: list[int], size: int) -> None:
    """Newest first, then by id, whatever the page size and however many share a moment."""
    space = fresh()
    space.remember_many([{"text": f"n{n}", "at": day(-age)} for n, age in enumerate(days)])
    pages: list[str] = []
    cursor = None
    while True:
        page = space.list(limit=size, cursor=cursor)
        assert len(page) <= size
        pages += [memory.id for memory in page]
        cursor = page.cursor
        if cursor is None:
            break
    whole = sorted(space.list(limit=1_000), key=lambda memory: (-memory.created_at.timestamp(), memory.id))
    assert pages == [memory.id for memory in whole]
    assert len(pages) == len(days)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@few
@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_metadata_comes_back_and_can_be_asked_for(metadata: dict[str, Any]) -> None:
    """Any JSON mapping is kept to the letter, and finds its memory as a filter."""
    space = fresh()
    space.remember("Other", metadata={"other": 1})
    try:
        memory = space.remember("Text", metadata=metadata)
    except InvalidInput as refused:
        assert "lone surrogate" in str(refused)  # noqa: PT017 - refused for this reason or not at all
        return
    assert space.get(memory.id).metadata == json.loads(json.dumps(metadata))
    assert memory.id in {found.id for found in space.list(where=metadata)}


junk: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3)
)
junk |= st.lists(st.text(max_size=3) | st.integers(), max_size=3) | st.dictionaries(st.text(max_size=3), st.integers())
FIELDS = (
    "text kind importance key tags source metadata at speaker session valid_from valid_until supersedes derived_from "
    "pinned permanent recurs trust id"
).split()


@settings(few, max_examples=300)
@given(st.dictionaries(st.sampled_from(FIELDS), junk, max_size=4))
def test_junk_is_refused_as_ours_or_kept_whole(fields: dict[str, Any]) -> None:
    """No argument of `remember` ends in anything but our own errors; what is refused is not there afterwards."""
    space = fresh()
    try:
        memory = space.remember(**{"text": "Text", **fields})
    except RetentiveError:
        assert not space.list(hidden=True)
        assert not space.journal()
    else:
        assert space.get(memory.id, touch=False) == memory


@few
@given(st.sampled_from(["recall", "list", "get", "update", "forget", "chain", "history", "feedback"]), st.data())
def test_junk_arguments_end_in_our_own_errors(verb: str, data: st.DataObject) -> None:
    """The other verbs likewise: a wrong value is `InvalidInput` or `NotFound`, never an `AttributeError` from below."""
    with TemporaryDirectory() as folder, Retentive(folder, embedder=HashEmbedder(8), clock=lambda: NOW) as home:
        space = home.space("s")
        space.remember("Text", id="m")
        _use(space, verb, data)


def _use(space: Space, verb: str, data: st.DataObject) -> None:
    names = {
        "recall": ["state", "utterance", "policy", "limit", "kinds", "tags", "where", "since", "until", "as_of", "now"],
        "list": ["kinds", "tags", "where", "since", "until", "as_of", "limit", "cursor"],
        "update": ["text", "kind", "importance", "key", "tags", "metadata", "valid_until", "pinned", "recurs", "trust"],
        "feedback": ["used", "outcome"],
    }.get(verb, [])
    more = data.draw(st.dictionaries(st.sampled_from(names), junk, max_size=2)) if names else {}
    first = [] if verb == "list" else [data.draw(junk | st.just("m"))]
    with suppress(InvalidInput, NotFound):
        getattr(space, verb)(*first, **more)


@settings(few, max_examples=200)
@given(st.text(max_size=12) | st.lists(st.text(max_size=5), max_size=3).map(tuple))
def test_a_space_path_is_exact_or_refused(path: str | tuple[str, ...]) -> None:
    """What passes is its own segments joined, and passes again unchanged."""
    try:
        checked = space_path(path)
    except InvalidInput:
        return
    segments = path.split("/") if isinstance(path, str) else list(path)
    assert checked.split("/") == segments
    assert space_path(checked) == checked
