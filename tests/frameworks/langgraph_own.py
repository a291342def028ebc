"""A pytest plugin that runs LangGraph's own store tests (of `langgraph-checkpoint-sqlite`) over our store instead.

Loaded with `-p langgraph_own` by scripts/integrations_test.py, which unpacks those tests from the published sdist.
Their `SqliteStore` becomes one that opens `RetentiveStore`. What is left out is listed here, each with its reason.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from retentive import Policy, Retentive
from retentive.integrations.langgraph import RetentiveStore
from retentive.policy import Modifiers, Selection, SignalSpec, Sources

INTERNAL = "looks into SQLite's own tables, helpers or migrations"
ONE_VECTOR = "asks for a vector for each field and their best; a memory has one vector, of all of them together"
LEFT_OUT: Mapping[str, str] = {
    "test_vector_store_initialization": INTERNAL,
    "test_nonnull_migrations": INTERNAL,
    "test_escape_glob_literal": INTERNAL,
    "test_namespace_match_pattern": INTERNAL,
    "test_list_namespaces_prefix_uses_indexable_condition": INTERNAL,
    "test_embed_with_path": ONE_VECTOR,
    "test_scores": ONE_VECTOR,
    "test_sql_injection_vulnerability": "expects odd names to be refused; ours are data and match nothing",
    "test_filter_keys_with_hyphens_and_digits": "reads dots in names as paths; LangGraph's `InMemoryStore` does not",
    "test_no_running_loop": "expects sync calls to be refused beside a loop; ours block no loop that is not their own",
    "test_ttl_override_default": "expects a read not to refresh, against the default that `TTLConfig` documents",
    "test_omit_expired_filters_read_paths": INTERNAL,
    "test_omit_expired_disabled_preserves_expired_rows": INTERNAL,
    "test_omit_expired_refresh_ttl_only_refreshes_live_rows": INTERNAL,
    "test_omit_expired_search_pagination": INTERNAL,
    "test_async_omit_expired_filters_read_paths": INTERNAL,
}
PLAIN = Policy(
    name="plain",
    sources=Sources(channels=("vector",), pool=200),
    signals={"similarity": SignalSpec(1.0, "none")},
    modifiers=Modifiers(temporal_intent=False),
    selection=Selection(limit=10, floor=None, diversity="none", near_duplicate=None),
)
"""Cosine alone: their tests are of a vector store."""


class Adapted:
    """Their embeddings as an embedder."""

    id = "langchain"

    def __init__(self, index: Mapping[str, Any]) -> None:
        self.dimension = int(index["dims"])
        self._embeddings = index["embed"]

    def embed(self, texts: Sequence[str]) -> Any:
        return np.array(self._embeddings.embed_documents(list(texts)), np.float32).reshape(len(texts), self.dimension)


class Opened(RetentiveStore):
    """Ours, under the name of theirs."""

    def setup(self) -> None:
        """There is nothing to set up."""

    @classmethod
    @contextmanager
    def from_conn_string(cls, name: str, *, index: Any = None, ttl: Any = None) -> Iterator[RetentiveStore]:
        with TemporaryDirectory() as folder:
            where = ":memory:" if name == ":memory:" else folder
            with Retentive(where, embedder=Adapted(index) if index else None, policy=PLAIN) as home:
                yield cls(home, fields=(index or {}).get("text_fields"), ttl=ttl)


class AsyncOpened(Opened):
    """The same with `await` where theirs has it."""

    async def setup(self) -> None:  # type: ignore[override]  # as theirs
        """There is nothing to set up."""

    async def sweep_ttl(self) -> int:  # type: ignore[override]  # as theirs
        return super().sweep_ttl()

    async def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Any:  # type: ignore[override]  # as theirs
        return super().start_ttl_sweeper(sweep_interval_minutes)

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # type: ignore[override]  # noqa: ASYNC109 # as theirs
        return super().stop_ttl_sweeper(timeout)

    def close(self) -> None:
        """Stop without `await`."""
        RetentiveStore.stop_ttl_sweeper(self)

    @classmethod
    @asynccontextmanager
    async def from_conn_string(  # type: ignore[override]  # as theirs
        cls, name: str, *, index: Any = None, ttl: Any = None
    ) -> AsyncIterator[RetentiveStore]:
        with super().from_conn_string(name, index=index, ttl=ttl) as store:
            yield store


def pytest_configure() -> None:
    """Stand in for their package before their tests import it."""
    package, base, aio = (ModuleType(f"langgraph.store.sqlite{end}") for end in ("", ".base", ".aio"))
    for module in (package, base, aio):
        for name in ("NS_MATCH_FUNCTION", "BaseSqliteStore", "SqliteIndexConfig", "_escape_glob_literal"):
            setattr(module, name, None)
        vars(module).update(SqliteStore=Opened, AsyncSqliteStore=AsyncOpened, _namespace_match_pattern=None)
        sys.modules[module.__name__] = module


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is left out, with its reason."""
    for item in items:
        reason = LEFT_OUT.get(item.name.split("[")[0])
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
