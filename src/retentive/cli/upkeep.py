"""``maintain`` and ``doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import command
from retentive.cli.schedule import SPAN, pruning_limits, repeat
from retentive.cli.session import Session, on_terminal, progress_bar, talk
from retentive.cli.shapes import columns, plain, seen
from retentive.errors import RetentiveError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from retentive.doctor import Finding
    from retentive.maintain.report import Upkeep

    T = TypeVar("T")

_REPORTED = {
    "re_embedded": "re-embedded memories",
    "ledger_trimmed": "recalls trimmed from the ledger",
    "looked_at": "memories old enough to look at",
    "pruned": "memories pruned",
}
_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


@command(
    "maintain",
    examples=[
        "retentive maintain",
        "retentive maintain --dry-run --prune-age-days 90 --prune-idle-days 30",
        "retentive maintain --re-embed --embedder hash",
    ],
)
@click.option("--dry-run", is_flag=True, help="Only say what would be pruned, and why.")
@click.option("--no-prune", is_flag=True, help="Trim the ledger only.")
@click.option("--re-embed", is_flag=True, help="Make every vector anew with the embedder in use; can be interrupted.")
@click.option("--all-spaces", is_flag=True, help="Every space of the store, one after the other.")
@click.option("--every", type=SPAN, metavar="SPAN", help="Go on until interrupted, once in this time: 30m, 6h, 1d.")
@click.option("--batch", type=click.IntRange(min=1), default=500, show_default=True, help="Memories per transaction.")
@pruning_limits
def maintain(
    session: Session, *, dry_run: bool, re_embed: bool, all_spaces: bool, every: float | None, **options: Any
) -> None:
    """Keep a space in order: trim the ledger, and take out of recall what nobody needs any more.

    Nothing is deleted: what is pruned stays readable by its id, comes back when it is fetched, and the journal says
    why. With --re-embed move the space to another embedder while it stays in use.
    """
    if dry_run and (re_embed or every):
        raise click.UsageError("--dry-run only says what would be pruned; it goes neither with --re-embed nor --every.")

    def once() -> None:
        paths = session.memories().spaces() if all_spaces else [session.space().path]
        reports = {path: _maintained(session, path, dry_run=dry_run, re_embed=re_embed, **options) for path in paths}
        shapes = [{"space": path, **_shape(report)} for path, report in reports.items()]
        session.emit(shapes if all_spaces else _shape(reports[paths[0]]), lambda: _told(reports, named=all_spaces))

    repeat(once, every) if every else once()


def _maintained(session: Session, path: str, *, no_prune: bool, **options: Any) -> Upkeep:
    with progress_bar("re-embedding" if options["re_embed"] else "maintaining") as progress:
        return session.memories().space(path).maintain(pruning=not no_prune, progress=progress, **options)


def _shape(report: Upkeep) -> dict[str, Any]:
    reasons = [{"id": verdict.id, "reason": verdict.reason} for verdict in report.pruned]
    return {**report, "dry_run": report.dry_run, "reasons": reasons}


def _told(reports: Mapping[str, Upkeep], *, named: bool) -> str:
    parts = []
    for path, report in reports.items():
        counts = [(_said(name, report), seen(value)) for name, value in report.items()]
        verdicts = [(seen(verdict.id), seen(verdict.reason)) for verdict in report.pruned]
        lines = [seen(path) if named else "", columns(counts), columns(verdicts)]
        parts.append("\n".join(line for line in lines if line))
    return "\n\n".join(parts)


def _said(name: str, report: Upkeep) -> str:
    return "memories that would be pruned" if report.dry_run and name == "pruned" else _REPORTED.get(name, name)


@command("doctor", examples=["retentive doctor", "retentive doctor --json", "retentive doctor --repair"])
@click.option("--repair", is_flag=True, help="Mend what is safe; what is not is named, with what to do.")
def doctor(session: Session, *, repair: bool) -> None:
    """Examine the installation, the store and its spaces (or the one named); exit 1 if something is wrong."""
    from retentive.doctor import counts, failed

    findings = _examine(session, repair=repair)
    session.emit([plain(finding) for finding in findings], lambda: _table(findings))
    number = counts(findings)
    talk(f"{number['error']} wrong, {number['warning']} worth knowing, {number['ok']} well.")
    if failed(findings):
        click.get_current_context().exit(1)


def _examine(session: Session, *, repair: bool) -> list[Finding]:
    """Collect what can be had; what cannot is a finding beside the others."""
    from retentive.doctor import examine
    from retentive.embedders.catalogue import resolve

    broken: list[Finding] = []
    config = _tried(broken, "The configuration", lambda: session.config)
    if config is None:
        return [*examine(None, None), *broken]
    embedder = _tried(
        broken,
        "The embedder",
        lambda: resolve(config.embedder, models_folder=config.models, options=config.embedder_options()),
    )
    folder = None if config.store.startswith(":") or "://" in config.store else Path(config.store)
    there = folder is None or folder.is_dir()
    memories = _tried(broken, "The store", session.memories) if there and embedder is not None else None
    spaces = None if config.space is None else [config.space]
    store = None if memories is None else memories.store
    return [*examine(store, embedder, folder=folder, models=config.models, spaces=spaces, repair=repair), *broken]


def _tried(broken: list[Finding], what: str, make: Callable[[], T]) -> T | None:
    from retentive.doctor import Finding

    try:
        return make()
    except RetentiveError as error:
        broken.append(Finding("error", f"{what}: {error.message}", "The message says what to do."))
        return None


def _table(findings: Sequence[Finding]) -> str:
    lines = []
    for finding in findings:
        level = f"{finding.level:<7}"
        mark = click.style(level, fg=_COLOURS[finding.level]) if on_terminal() else level
        place = f"{seen(finding.space)}: " if finding.space else ""
        lines.append(f"{mark}  {place}{seen(finding.what)}")
        if finding.remedy:
            lines.append(f"{'':<7}  → {finding.remedy}")
    return "\n".join(lines)
