"""An index over the vectors of one large space: HNSW in half precision, partial, made while the space is in use.

One index for each large space, not one for all: neighbours of other tenants never crowd a search, and a small space,
where looking at every vector is exact and fast, pays nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retentive.errors import InvalidInput
from retentive.stores.postgres import driver, large
from retentive.stores.postgres.channels import MARGIN, nearest, ranked
from retentive.stores.postgres.keys import key_of
from retentive.stores.postgres.links import Head, Link
from retentive.stores.postgres.statements import quoted
from retentive.stores.ranking import cosines
from retentive.stores.values import as_vector
from retentive.types import Found, Gate, Vectors

if TYPE_CHECKING:
    from psycopg import Connection

WIDEST = 4_000  # numbers: what an HNSW index in half precision takes
BROADEST = 1_000  # the most candidates that pgvector keeps in sight
PATIENCE = 200_000  # rows walked past for a gate before the exact way is taken

# The server proves by the space's value that a partial index fits, and may not choose to sort instead of using it.
NEAR = """SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_sort = off;
SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = {sight};
SET LOCAL hnsw.max_scan_tuples = {patience}"""
MADE = b"""SELECT c.relname, x.indisvalid FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indexrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s AND starts_with(c.relname, %(prefix)s)"""
AS_BEFORE = b"SET LOCAL plan_cache_mode = auto; SET LOCAL enable_sort = on"


def index_name(space: str, dimension: int) -> str:
    """Return the name of a space's index; another dimension is another index."""
    return f"{_prefix(space)}{dimension}"


def _prefix(space: str) -> str:
    return f"vectors_near_{key_of(space).hex[:24]}_"


def searched(link: Link, head: Head, vector: Vectors, gate: Gate, limit: int) -> Found:
    """Return the rows of highest cosine, by the index where the space has one and it answers in full."""
    found = None
    if head.dimension is not None and large.is_large(link, head):
        index = _qualified(link.schema, link.space, head.dimension)
        if link.rows("index_is_there", {"index": index}):
            found = _by_index(link, head, as_vector(vector, head.dimension), gate, max(limit, 0))
    return nearest(link, head, vector, gate, limit) if found is None else found


def _by_index(link: Link, head: Head, vector: Vectors, gate: Gate, limit: int) -> Found | None:
    """Return what the index finds; None where too little passes the gate for it to be sure of the best."""
    looked = link.rows("sampled", {"vector": vector, "rows": large.spread(head)}, gate)
    if len(looked) < large.RARE:
        return None
    wanted = 2 * limit + MARGIN
    link.connection.execute(NEAR.format(sight=min(2 * wanted, BROADEST), patience=PATIENCE).encode())
    near = link.rows("nearest_by_index", {"vector": vector, "limit": wanted}, gate, dimension=len(vector))
    link.connection.execute(AS_BEFORE)
    if len(near) < wanted:
        return None  # the index gave up, or fewer pass: only looking at all of them tells
    scores = cosines(np.stack([row[5] for row in near]), vector)
    chosen, ordered = ranked(near, scores, limit)
    sample = np.array([score for (score,) in looked])
    low, high = min(float(sample.min()), float(scores.min())), float(scores.max())
    return Found(chosen, ordered, len(near) + len(looked), low, high, float(sample.mean()))


def _qualified(schema: str, space: str, dimension: int) -> str:
    return f"{quoted(schema)}.{quoted(index_name(space, dimension))}"


def create(connection: Connection[Any], schema: str, space: str, dimension: int) -> bool:
    """Make the index of a space unless it is there; nobody waits for it. One left half-made is made anew."""
    from psycopg import sql  # noqa: PLC0415 # whoever has a connection has it

    if dimension > WIDEST:
        raise InvalidInput(
            f"An index takes vectors of at most {WIDEST:,} numbers; those of {space!r} have {dimension:,}.",
            value=dimension,
        )
    made = dict(connection.execute(MADE, {"schema": schema, "prefix": _prefix(space)}).fetchall())
    if made.pop(index_name(space, dimension), False):
        return False
    for index in {*made, index_name(space, dimension)}:
        connection.execute(f"DROP INDEX IF EXISTS {quoted(schema)}.{quoted(index)}".encode())
    kind = connection.execute("SELECT relkind FROM pg_class WHERE oid = %s::regclass", (f"{quoted(schema)}.vectors",))
    statement = sql.SQL(
        "CREATE INDEX {concurrently} {name} ON {schema}.vectors USING hnsw "
        "((embedding::halfvec({dimension})) halfvec_ip_ops) "
        "WITH (ef_construction = 128) WHERE space = {space} AND vector_dims(embedding) = {dimension}"
    ).format(
        concurrently=sql.SQL("" if kind.fetchone() == ("p",) else "CONCURRENTLY"),
        name=sql.Identifier(index_name(space, dimension)),
        schema=sql.Identifier(schema),
        dimension=sql.Literal(dimension),
        space=sql.Literal(driver.escaped(space)),
    )
    connection.execute(statement)
    return True


def remove(link: Link) -> None:
    """Take the indexes of a space away."""
    bindings = {"schema": link.schema, "prefix": _prefix(link.space)}
    for index, _ in link.connection.execute(MADE, bindings).fetchall():
        link.connection.execute(f"DROP INDEX {quoted(link.schema)}.{quoted(index)}".encode())
