"""The store on a PostgreSQL server with pgvector: many processes, many machines, one database."""

from retentive.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
