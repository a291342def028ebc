"""Whatever is added and asked through mem0's interface, nobody reads what is not in the scope that was named."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from retentive import Retentive
from retentive.compat.mem0 import Memory
from retentive.testing.fakes import HashEmbedder

IDS = st.sampled_from(["a", "A", "a-b", "a/b", "%61", "*", "a.b", "user", "mem0", "agent/ops", ".."])
SCOPES = st.fixed_dictionaries({}, optional={"user_id": IDS, "agent_id": IDS, "run_id": IDS}).filter(bool)
TEXTS = st.sampled_from(["the deploy failed", "likes tea", "deploy"])
FILTERS = st.sampled_from([{}, {"n": 1}, {"n": {"gte": 0}}, {"OR": [{"user_id": "a"}, {"n": 1}]}, {"user_id_": "*"}])


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(SCOPES, TEXTS), max_size=8), SCOPES, FILTERS, TEXTS)
def test_answers_are_of_the_scope_named(
    added: list[tuple[dict[str, Any], str]], scope: dict[str, str], wanted: dict[str, Any], query: str
) -> None:
    """Searches and listings, and what deleting a scope takes along; a user's memories answer to that user alone."""
    memory = Memory(memories=Retentive(":memory:", embedder=HashEmbedder(16)))
    for number, (whose, text) in enumerate(added):
        memory.add(f"{text} {number}", metadata={"n": number % 2, "user_id": "forged"}, **whose)
    for answer in (
        memory.search(query, filters={**scope, **wanted}, top_k=99, threshold=0),
        memory.get_all(filters={**scope, **wanted}, top_k=99, show_expired=True),
    ):
        for item in answer["results"]:
            assert {name: item.get(name) for name in scope} == scope
            assert "user_id" in scope or "user_id" not in item
    before = {item["id"] for whose, _ in added for item in memory.get_all(filters=whose, top_k=99)["results"]}
    memory.delete_all(**scope)
    after = {item["id"] for whose, _ in added for item in memory.get_all(filters=whose, top_k=99)["results"]}
    for name in before - after:
        assert memory.get(name) is None
    assert memory.get_all(filters=scope, top_k=99)["results"] == []
    assert after == {name for name in before if memory.get(name) is not None}
