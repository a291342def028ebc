"""``maintain`` and ``doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from retentive.cli.options import command
from retentive.cli.session import Session, on_terminal, progress_bar, talk
from retentive.cli.shapes import columns, plain, seen
from retentive.errors import RetentiveError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from retentive.doctor import Finding

    T = TypeVar("T")

_REPORTED = {"re_embedded": "re-embedded memories", "ledger_trimmed": "recalls trimmed from the ledger"}
_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


@command("maintain", examples=["retentive maintain", "retentive maintain --re-embed --embedder hash"])
@click.option("--re-embed", is_flag=True, help="Make every vector anew with the embedder in use; can be interrupted.")
def maintain(session: Session, *, re_embed: bool) -> None:
    """Keep a space in order. With --re-embed move it to another embedder while it stays in use."""
    space = session.space()
    with progress_bar("re-embedding" if re_embed else "maintaining") as progress:
        report = space.maintain(re_embed=re_embed, progress=progress)
    shape = plain(report)
    session.emit(shape, lambda: columns([(_REPORTED.get(name, name), seen(value)) for name, value in shape.items()]))


@command("doctor", examples=["retentive doctor", "retentive doctor --json"])
def doctor(session: Session) -> None:
    """Examine the installation, the store and its spaces (or the one named); exit 1 if something is wrong."""
    from retentive.doctor import counts, failed

    findings = _examine(session)
    session.emit([plain(finding) for finding in findings], lambda: _table(findings))
    number = counts(findings)
    talk(f"{number['error']} wrong, {number['warning']} worth knowing, {number['ok']} well.")
    if failed(findings):
        click.get_current_context().exit(1)


def _examine(session: Session) -> list[Finding]:
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
    return [*examine(store, embedder, folder=folder, models=config.models, spaces=spaces), *broken]


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
