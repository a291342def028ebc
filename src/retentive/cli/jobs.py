"""``jobs list``, ``run``, ``retry`` and ``drop``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from retentive.cli.options import command
from retentive.cli.rating import priced
from retentive.cli.schedule import SPAN, repeat
from retentive.cli.session import Session, confirm, progress_bar, talk
from retentive.cli.shapes import columns, plain, seen, when

if TYPE_CHECKING:
    from retentive.jobs.run import Ran
    from retentive.types import Job, JobState


@click.group("jobs", short_help="List the work that waits in the queue, and do it.")
def jobs() -> None:
    """List the work that waits in a space's queue, do what is due, retry or drop what failed for good."""


@command("list", examples=["retentive jobs list", "retentive jobs list --state dead --json"])
@click.option("--state", type=click.Choice(["waiting", "running", "dead"]), help="Only these.")
@click.option("--kind", metavar="KIND", help="Only jobs of this kind.")
def list_(session: Session, *, state: JobState | None, kind: str | None) -> None:
    """List the jobs that are not done, first put first. Dead ones failed five times, and wait for you."""
    found = session.space().jobs(state=state, kind=kind)
    session.emit([plain(job) for job in found], lambda: _table(found))
    dead = sum(job.state == "dead" for job in found)
    talk(f"{len(found)} jobs, {dead} of them dead.")
    if dead:
        talk("`retentive jobs retry` tries the dead ones again, `retentive jobs drop` removes them.")


@command("run", examples=["retentive jobs run --dry-run", "retentive jobs run --limit 20 --kind rate"])
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only jobs of this kind; may be repeated.")
@click.option("--dry-run", is_flag=True, help="Only say what is due, and what it would take of the language model.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many jobs (in each space).")
@click.option("--all-spaces", is_flag=True, help="Every space of the store, one after the other.")
@click.option("--every", type=SPAN, metavar="SPAN", help="Go on until interrupted, once in this time: 30s, 5m.")
def run(
    session: Session, *, kinds: tuple[str, ...], dry_run: bool, limit: int | None, all_spaces: bool, every: float | None
) -> None:
    """Do what is due. Any number of processes may run at once; each job is done by one of them."""
    if dry_run:
        _foretell(session, all_spaces=all_spaces)
        return

    def once() -> None:
        memories = session.memories()
        paths = memories.spaces() if all_spaces else [session.space().path]
        told = {}
        for path in paths:
            with progress_bar(f"jobs of {seen(path)}") as progress:
                told[path] = memories.space(path).run_jobs(kinds=kinds or None, limit=limit, progress=progress)
        shapes = {path: plain(ran) for path, ran in told.items()}
        session.emit(shapes if all_spaces else shapes[paths[0]], "")
        for path, ran in told.items():
            for line in _lines(ran):
                talk(f"{seen(path)}: {line}" if all_spaces else line)

    repeat(once, every) if every else once()


def _foretell(session: Session, *, all_spaces: bool) -> None:
    from retentive.reflect.outcome import Cost

    memories = session.memories()
    paths = memories.spaces() if all_spaces else [session.space().path]
    told = [(path, one) for path in paths for one in memories.space(path).forecast_jobs()]
    session.emit([{"space": path, **plain(one)} for path, one in told], "")
    for path, one in told:
        taken = one.usage
        would = "nobody can say what that takes" if taken is None else "no model is asked"
        if taken is not None and taken.calls:
            would = priced(Cost(taken.calls, taken.input_tokens, taken.output_tokens, taken.cost))
        talk(f"{seen(path)}: {one.jobs} jobs of kind {seen(one.kind)} are due: {would}.")
    if not told:
        talk("Nothing is due.")


@command("retry", examples=["retentive jobs retry"])
@click.argument("ids", nargs=-1, metavar="[ID]...")
def retry(session: Session, *, ids: tuple[str, ...]) -> None:
    """Try jobs again at once: those named, or all that are dead."""
    found = session.space().retry_jobs(*ids)
    session.emit([plain(job) for job in found], "")
    talk(f"{len(found)} jobs will be tried again; `retentive jobs run` does it.")


@command("drop", examples=["retentive jobs drop --yes"])
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--yes", is_flag=True, help="Do not ask.")
def drop(session: Session, *, ids: tuple[str, ...], yes: bool) -> None:
    """Remove jobs undone: those named, or all that are dead. The memories they are about stay."""
    confirm("Drop these jobs?" if ids else "Drop all dead jobs?", yes=yes)
    dropped = session.space().drop_jobs(*ids)
    session.emit({"dropped": dropped}, "")
    talk(f"{dropped} jobs dropped.")


def _table(found: list[Job]) -> str:
    rows = [(job.id, job.state, seen(job.kind), f"{job.attempts}×", when(job.due_at), seen(job.error)) for job in found]
    return columns([("job", "state", "kind", "tried", "due", "why it failed last"), *rows]) if rows else ""


def _lines(ran: Ran) -> list[str]:
    lines = [f"{ran.done} done, {len(ran.retried)} to be tried again, {len(ran.died)} dead, {ran.left} left."]
    if ran.lost:
        lines.append(f"{ran.lost} were taken over, dropped or erased meanwhile.")
    if ran.waiting_for_llm:
        lines.append(f"{ran.waiting_for_llm} wait for a language model; name one with llm or RETENTIVE_LLM.")
    if ran.unknown:
        lines.append(f"nothing here does jobs of kind {seen(', '.join(ran.unknown))}.")
    return lines


for each in (list_, run, retry, drop):
    jobs.add_command(each)
