"""``postgres``: what only a store on PostgreSQL needs."""

from __future__ import annotations

from dataclasses import asdict

import click

from retentive.cli.options import command
from retentive.cli.session import Session, confirm, talk, warn
from retentive.cli.shapes import seen
from retentive.errors import InvalidInput


@click.group("postgres")
def postgres() -> None:
    """Print the statements that make the schema: as it is, partitioned, or distributed by Citus."""


@command(
    "plan",
    store=False,
    space=False,
    examples=[
        "retentive postgres plan",
        "retentive postgres plan --partitions 32 --schema team",
        "retentive postgres plan --citus",
    ],
)
@click.option("--schema", default="retentive", show_default=True, metavar="NAME", help="The schema of the tables.")
@click.option("--citus", is_flag=True, help="Distribute every table by its space, side by side, with Citus.")
@click.option("--partitions", type=int, default=0, metavar="NUMBER", help="Split every table by the hash of its space.")
def plan(session: Session, schema: str, partitions: int, *, citus: bool) -> None:
    """Print the statements that make the schema, for somebody who may run them: pipe them into psql.

    A store that finds its schema made makes nothing itself, and its role needs no right to create.
    """
    from retentive.stores.postgres.planning import plan as planned

    script = planned(schema, citus=citus, partitions=partitions)
    session.emit({"schema": schema, "citus": citus, "partitions": partitions, "sql": script}, script)


@command("index", examples=["retentive postgres index --store postgresql://app@db.example/memories --space acme/big"])
def index(session: Session) -> None:
    """Give a large space an index over its vectors (HNSW, half precision), while it is in use.

    Spaces of more than `exact_up_to` memories are then searched by it; without one they are looked at whole.
    """
    from retentive.stores.locations import store_for
    from retentive.stores.protocol import IndexedStore

    path, store = session.space_path(), store_for(session.config.store)
    click.get_current_context().call_on_close(store.close)
    if not isinstance(store, IndexedStore):
        raise InvalidInput(f"A store in a folder needs no such index ({path!r}); this is for --store postgresql://….")
    made = store.index(path)
    session.emit({"space": path, "made": made}, "")
    talk(f"{path} has an index now." if made else f"{path} had an index already.")


@command(
    "scrub",
    space=False,
    examples=[
        "retentive postgres scrub --store postgresql://app@db.example/memories",
        "retentive postgres scrub --rewrite --yes --store postgresql://app@db.example/memories",
    ],
)
@click.option("--rewrite", is_flag=True, help="Write the tables anew: nobody can use the store meanwhile.")
@click.option("--yes", is_flag=True, help="Do not ask before writing anew.")
def scrub(session: Session, *, rewrite: bool, yes: bool) -> None:
    """Clean the tables of what erasures left in them, and say where else copies may be.

    Without --rewrite, old versions of rows are removed (VACUUM) while the store is in use; their bytes stay in the free
    space of pages until that is used again. With it every table is written anew (VACUUM FULL), which needs room for the
    largest and keeps everybody out; then no byte is left in the tables' files.
    """
    from retentive.stores.locations import store_for
    from retentive.stores.postgres import PostgresStore

    store = store_for(session.config.store)
    click.get_current_context().call_on_close(store.close)
    if not isinstance(store, PostgresStore):
        raise InvalidInput("A store in a folder cleans up itself when it erases; this is for --store postgresql://….")
    if rewrite:
        confirm("Nobody can use the store while its tables are written anew. Go on?", yes=yes)
    done = store.scrub(rewrite=rewrite)
    session.emit(asdict(done), "")
    talk(f"{len(done.clean)} tables are clean{' and written anew' if done.rewritten else ''}.")
    if done.left:
        warn(
            f"not clean: {', '.join(map(seen, done.left))}. Somebody reads an old state or has just written, or the "
            "role does not own them; run it again, or as their owner."
        )
    for place in map(seen, done.remains):
        talk(f"Copies may be in {place}.")


postgres.add_command(plan)
postgres.add_command(scrub)
postgres.add_command(index)
