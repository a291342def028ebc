"""Our LangGraph store does what LangGraph's own does, whatever is put, deleted, filtered and listed; and walls hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("langgraph.store.base", reason="the extra 'langgraph' is not installed")

from langgraph.store.base import Op, PutOp
from langgraph.store.memory import InMemoryStore

from retentive import Retentive
from retentive.integrations.langgraph import RetentiveStore
from retentive.integrations.namespaces import namespace_of, path_of
from retentive.testing.fakes import HashEmbedder

LABELS = st.sampled_from(["a", "b", "a-b", "ab", "A", "a/b", "%61", " a", "acme", "acme-corp"])
NAMESPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["k", "l", "k/l", " ", ""])
SCALARS = st.none() | st.integers(-3, 3) | st.sampled_from(["x", "y", "deploy failed", ""])
NAMES = st.sampled_from(["n", "m", "$d", "content"])
ENTRIES = SCALARS | st.lists(SCALARS, max_size=2)
VALUES = st.dictionaries(NAMES, ENTRIES, max_size=3)
OPERATORS = st.dictionaries(st.sampled_from(["$eq", "$ne"]), SCALARS, min_size=1)
FILTERS = st.dictionaries(NAMES, ENTRIES | OPERATORS, max_size=2)
PUTS = st.tuples(NAMESPACES, KEYS, VALUES | st.none()).map(lambda parts: PutOp(*parts))


def filled(puts: Sequence[Op]) -> tuple[RetentiveStore, InMemoryStore]:
    ours = RetentiveStore(Retentive(":memory:", embedder=HashEmbedder(16)))
    theirs = InMemoryStore()
    for put in puts:
        ours.batch([put])
        theirs.batch([put])
    return ours, theirs


def plain(items: Sequence[Any]) -> set[tuple[Any, ...]]:
    return {(item.namespace, item.key, json.dumps(item.value, sort_keys=True)) for item in items}


@settings(deadline=None, max_examples=60)
@given(st.lists(PUTS, max_size=12), NAMESPACES, FILTERS)
def test_reads_equal_those_of_langgraphs_own(puts: list[Op], prefix: tuple[str, ...], wanted: dict[str, Any]) -> None:
    """Every get, every filtered listing below any prefix, and the namespaces that hold something."""
    ours, theirs = filled(puts)
    for put in puts:
        assert isinstance(put, PutOp)
        one, other = ours.get(put.namespace, put.key), theirs.get(put.namespace, put.key)
        assert plain([one] if one else []) == plain([other] if other else [])
    for below in ((), prefix, prefix[:1]):
        asked: dict[str, Any] = {"filter": wanted, "limit": 99}
        assert plain(ours.search(below, **asked)) == plain(theirs.search(below, **asked))
    everywhere = {item.namespace for item in theirs.search((), limit=99)}
    holding = [name for name in theirs.list_namespaces(limit=99) if name in everywhere]
    assert ours.list_namespaces(limit=99) == holding


@settings(deadline=None, max_examples=60)
@given(st.lists(PUTS, max_size=12), NAMESPACES, st.sampled_from(["deploy failed", "x", "n"]))
def test_a_search_stays_below_its_prefix(puts: list[Op], prefix: tuple[str, ...], query: str) -> None:
    """Whatever is asked, every answer's namespace begins with the prefix, label by label, and is really there."""
    ours, theirs = filled(puts)
    for item in ours.search(prefix, query=query, limit=99):
        assert item.namespace[: len(prefix)] == prefix
        there = theirs.get(item.namespace, item.key)
        assert there is not None
        assert there.value == item.value


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=4), st.sampled_from(["", "root", "a/b"]))
def test_namespaces_and_paths_are_one_to_one(labels: list[str], root: str) -> None:
    """Every namespace has a path that leads back to it, below the root and nowhere else."""
    path = path_of(labels, root)
    assert namespace_of(path, root) == tuple(labels)
    assert path.startswith(root)
    assert namespace_of(path, "elsewhere") is None
