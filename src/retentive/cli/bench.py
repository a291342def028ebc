"""``bench``: how long recalls take here, and where the time goes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from retentive.cli.options import POLICY, command
from retentive.cli.session import Session, progress_bar, talk

if TYPE_CHECKING:
    from retentive.bench import Report
    from retentive.memory import Retentive, Space


@command(
    "bench",
    examples=[
        "retentive bench --queries 50",
        "retentive bench --policy blend --no-touch --json",
        "retentive bench --synthetic 2000 --queries 50 --warmup 10",
    ],
)
@click.option("--queries", type=click.IntRange(min=1), metavar="N", default=200, show_default=True, help="How many.")
@click.option(
    "--warmup",
    type=click.IntRange(min=0),
    metavar="N",
    default=20,
    show_default=True,
    help="Recalls before the first that counts.",
)
@click.option("--policy", type=POLICY, metavar="NAME|FILE", help="A preset, or a policy in a TOML file.")
@click.option("--no-touch", is_flag=True, help="Only read: no write-back, and no copy of the space.")
@click.option("--synthetic", type=click.IntRange(min=1), metavar="N", help="A temporary space of N made-up memories.")
@click.option("--seed", type=int, metavar="N", default=0, show_default=True, help="Another one asks other cues.")
def bench(
    session: Session,
    *,
    queries: int,
    warmup: int,
    policy: str | None,
    no_touch: bool,
    synthetic: int | None,
    seed: int,
) -> None:
    """Ask a space for its own words, and print how long each stage of a recall takes.

    Recalls are written back, as always, but into a copy of the space beside it on the same disk: yours is only read,
    and the copy is removed in the end. The total is measured apart from the stages, on the code as it is.
    """
    from retentive.bench import Plan, measure
    from retentive.cli.recalling import policy_of

    plan = Plan(queries, warmup, policy_of(policy), not no_touch, seed)
    with _subject(session, synthetic, seed=seed, copy=plan.touch) as (home, space), progress_bar("asking") as progress:
        report = measure(space, home, plan, progress=progress)
    session.emit(report.as_dict(), lambda: _table(report))
    talk(report.summary())


@contextmanager
def _subject(session: Session, synthetic: int | None, *, seed: int, copy: bool) -> Iterator[tuple[Retentive, Space]]:
    """Give what is measured: a made-up space, a copy of the user's, or the user's own, which then is only read."""
    if synthetic is not None:
        with _made_up(session, synthetic, seed) as subject:
            yield subject
        return
    home, space = session.memories(), session.space()
    if not copy:
        yield home, space
        return
    from retentive.bench import copied

    with copied(space, home) as twin:
        yield home, twin


@contextmanager
def _made_up(session: Session, size: int, seed: int) -> Iterator[tuple[Retentive, Space]]:
    from retentive.bench import synthetic
    from retentive.embedders import resolve
    from retentive.memory import Retentive

    config = session.config
    embedder = resolve(config.embedder, models_folder=config.models, options=config.embedder_options())
    with (
        tempfile.TemporaryDirectory(prefix="retentive-bench-") as folder,
        Retentive(folder, embedder=embedder, policy=config.policy) as home,
    ):
        with progress_bar("remembering") as progress:
            space = synthetic(home, size, seed=seed, progress=progress)
        yield home, space


def _table(report: Report) -> str:
    rows = report.rows()
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *numbers]).rstrip())
    return "\n".join(lines)
