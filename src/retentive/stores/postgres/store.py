"""The store on a PostgreSQL server: the spaces of one schema."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence

from retentive.errors import InvalidInput, NotFound
from retentive.stores.postgres import addresses, cleaning, indexes
from retentive.stores.postgres.checking import check
from retentive.stores.postgres.cleaning import Scrubbed
from retentive.stores.postgres.connections import Connections
from retentive.stores.postgres.keys import key_of
from retentive.stores.postgres.links import READ, WRITE, Link, head_of
from retentive.stores.postgres.rows import Row
from retentive.stores.postgres.space import PostgresSpace
from retentive.stores.values import require_storable, storable, to_json
from retentive.types import Json

LONGEST_SPACE = 1_000  # bytes: it stands in every index entry, and one may not be longer than 2,700
CERTIFICATE = "certificate:"
TABLES = (
    "memories accesses vectors staged tags metadata entities terms postings vocabulary journal ledger findings "
    "settings jobs job_memories spaces"
).split()


class PostgresStore:
    """A `Store` on a PostgreSQL server with pgvector. Threads, processes and machines may share it.

    ``url`` is what psycopg and libpq take (``postgresql://user:password@host/database``); behind its question mark the
    options may be given as well (``?schema=team&pool_size=20``). ``prepare=False`` is for poolers that hand out another
    connection for each transaction and know no prepared statements; spaces of more than ``exact_up_to`` memories are
    searched by an index where there is one.
    """

    def __init__(
        self,
        url: str,
        *,
        schema: str = "retentive",
        pool_size: int = 10,
        busy_timeout: float = 5.0,
        prepare: bool = True,
        exact_up_to: int = 20_000,
    ) -> None:
        given = addresses.Terms(url, schema, pool_size, busy_timeout, prepare, exact_up_to)
        self.connections = Connections(addresses.resolved(given))

    def __repr__(self) -> str:
        return f"<PostgresStore {self.connections.place} schema {self.connections.terms.schema!r}>"

    def open(self, space: str, *, create: bool = True) -> PostgresSpace:
        """Return one space."""
        require_storable([("space", space)])
        if not space or len(space.encode()) > LONGEST_SPACE:
            raise InvalidInput(f"A space needs a path of 1 to {LONGEST_SPACE:,} bytes, e.g. 'acme/alice'.", value=space)
        if not self.connections.inside(space, READ, _exists):
            if not create:
                raise NotFound(f"There is no space {space!r} in {self.connections.place}.", space=space)
            self.connections.inside(space, WRITE, _create)
        return PostgresSpace(space, self.connections)

    def spaces(self) -> list[str]:
        """List the paths of the spaces that exist, sorted."""
        return sorted(self.connections.inside("", READ, _listed))

    def marks(self, spaces: Sequence[str]) -> dict[str, str]:
        """Return the numbers of the latest commits in these spaces, by one question for all."""
        listed = self.connections.inside("", READ, _listed)
        return {space: listed[space] for space in spaces if space in listed}

    def drop(self, space: str) -> bool:
        """Remove a space with everything in it, after a transaction that is under way."""
        if not space or not storable(space) or not self.connections.inside(space, READ, _exists):
            return False
        timeout = self.connections.terms.busy_timeout

        def work(link: Link, _: Row | None) -> bool:
            link.local("lock_timeout", f"{max(1, round(1000 * timeout))}ms")
            link.local("retentive.dropping", "on")
            if not link.rows("lock_head"):
                return False
            indexes.remove(link)
            link.run_all([(f"drop_{table}", [{}]) for table in TABLES])
            return True

        with self.connections.alone(space):
            return self.connections.inside(space, WRITE, work)

    def certify(self, certificate: Mapping[str, Json]) -> None:
        """Keep what was done to a whole space among the settings of no space at all, which nobody can open."""
        number = len(self.certificates())
        name = f"{CERTIFICATE}{number:09d}:{secrets.token_hex(8)}"
        written = {"key": key_of(name), "name": name, "value": to_json(dict(certificate), CERTIFICATE)}
        self.connections.inside("", WRITE, lambda link, _: link.run_all([("set_setting", [written])]))

    def certificates(self) -> list[dict[str, Json]]:
        """Return what was done to whole spaces."""
        kept = self.connections.inside("", READ, lambda link, _: link.rows("settings"))
        return [json.loads(value) for name, value in kept if name.startswith(CERTIFICATE)]

    def index(self, space: str) -> bool:
        """Give a large space an index over its vectors, made while the space is in use; False where it had one."""
        head = self.connections.inside(space, READ, lambda _, head: head_of(head, space))
        if head.dimension is None:
            raise InvalidInput(f"Space {space!r} has no memories yet; there is nothing to index.", space=space)
        with self.connections.apart() as connection:
            return indexes.create(connection, self.connections.terms.schema, space, head.dimension)

    def scrub(self, *, rewrite: bool = False) -> Scrubbed:
        """Clean the tables of what erasures left; ``rewrite`` also their pages, which keeps everybody out."""
        self.connections.checked()  # makes the schema where there is none
        with self.connections.apart() as connection:
            return cleaning.scrub(connection, self.connections.terms.schema, rewrite=rewrite)

    def check(self, space: str) -> list[str]:
        """Return what is wrong with a space, in sentences."""
        return self.connections.inside(space, READ, lambda link, head: check(link, head_of(head, space)))

    def close(self) -> None:
        """Close the connections; using the store again opens others."""
        self.connections.close()


def _exists(_: Link, head: Row | None) -> bool:
    return head is not None


def _create(link: Link, _: Row | None) -> None:
    link.run_all([("create_space", [{}])])


def _listed(link: Link, _: Row | None) -> dict[str, str]:
    """Return the spaces, each with what every commit in it changes."""
    link.local("retentive.listing", "on")
    return {space: f"{change}.{last}" for space, change, last in link.rows("list_spaces")}
