"""``import`` and ``export``."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import as_of, command, given
from retentive.cli.session import Session, progress_bar, talk
from retentive.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retentive.importers.parts import Refused
    from retentive.importers.run import Imported
    from retentive.transfer import ImportReport, OnConflict

_SHOWN = 20  # records left out that are named one by one
_FILE = click.Path(path_type=Path)


@command("export", examples=["retentive export alice.jsonl", "retentive export alice.jsonl --resume"])
@click.argument("file", type=_FILE)
@click.option("--resume", is_flag=True, help="Go on from where an interrupted export of this file stopped.")
@as_of
def export(session: Session, file: Path, *, resume: bool, **moments: Any) -> None:
    """Write a space to FILE as JSON lines: memories, vectors, journal, recalls and settings, losing nothing.

    With --as-of only the memories that were known and true then, without journal and recalls. FILE gets its name only
    when it is whole; it can be read by you alone.
    """
    from retentive.recalling import Filters, gate_of
    from retentive.transfer import export_space, part_of

    asked = given(moments)
    if asked and resume:
        raise click.UsageError("--resume goes on with a whole export, not with one of a moment.")
    space = session.space()
    gate = gate_of(Filters(**asked), session.memories().now()) if asked else None
    try:
        with progress_bar("exporting") as progress:
            count = export_space(space.store, file, progress=progress, resume=resume, gate=gate)
    except BaseException:
        if part_of(file).is_file():
            talk(f"What was written so far is in {part_of(file)}: add --resume to go on from there.")
        raise
    session.emit({"space": space.path, "file": str(file), "memories": count}, "")
    talk(f"{count} memories of {space.path} are in {file}.")


@command(
    "import",
    examples=[
        "retentive import alice.jsonl",
        "retentive import alice.jsonl --space acme/bob --on-conflict skip",
        "retentive import --from memory-server memory.jsonl",
        "retentive import --from mem0 memories.json --owner alice",
    ],
)
@click.argument("file", type=_FILE)
@click.option(
    "--from",
    "source",
    type=click.Choice(["retentive", "claude", "letta", "markdown", "mem0", "memory-server", "openai", "zep"]),
    default="retentive",
    show_default=True,
    help="Whose file it is: our own export, another memory layer's, notes, or exported conversations.",
)
@click.option("--owner", metavar="NAME", help="Whose memories, where another layer's file holds several people's.")
@click.option("--rejected", type=_FILE, help="Write what could not be kept, and why, to this file (JSON lines).")
@click.option("--extract", metavar="HOW", help="What to draw from conversations: llm, patterns or none.")
@click.option(
    "--on-conflict",
    type=click.Choice(["error", "skip", "replace"]),
    default="error",
    show_default=True,
    help="What counts where the space and the file disagree: neither, the space, or the file.",
)
def import_(
    session: Session, file: Path, source: str, on_conflict: OnConflict, rejected: Path | None, **more: str | None
) -> None:
    """Read an export into a space. Interrupted, it is simply done again: what is there already is stepped over.

    Another space than the one that was exported has to be named with --space.
    """
    if source == "retentive":
        _import_export(session, file, on_conflict)
    else:
        report = _import_foreign(session, file, source, more)
        _talk_of_refused(report.refused, rejected)


def _import_foreign(session: Session, file: Path, source: str, more: Mapping[str, str | None]) -> Imported:
    from retentive.importers.run import import_from

    space = session.space(create=True)
    with progress_bar("importing") as progress:
        report = import_from(space, source, file, **more, progress=progress)
    session.emit({"space": space.path, "file": str(file), **dataclasses.asdict(report)}, "")
    others = {
        "there already": report.same,
        "changed there since": report.updated,
        "erased here before": report.erased,
        "left out": report.skipped,
        "conversations": report.conversations,
    }
    said = [f"{report.added} new", *(f"{count} {what}" for what, count in others.items() if count)]
    talk(f"{space.path}: {', '.join(said)}.")
    return report


def _talk_of_refused(refused: Sequence[Refused], file: Path | None) -> None:
    """Name the records that were left out, the first of many, and write all of them where that was asked."""
    for one in refused[:_SHOWN]:
        talk(f"Left out: {one}.")
    if file is not None:
        lines = [json.dumps(dataclasses.asdict(one), ensure_ascii=False, default=str) for one in refused]
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        talk(f"{len(refused)} left out are in {file}, whole.")
    elif len(refused) > _SHOWN:
        talk(f"… and {len(refused) - _SHOWN} more; --rejected FILE writes all of them to a file.")


def _import_export(session: Session, file: Path, on_conflict: OnConflict) -> None:
    from retentive.transfer import import_file

    _refuse_silent_rehoming(session, file)
    space = session.space(create=True)
    with progress_bar("importing") as progress:
        report = import_file(
            space.store, file, embedder=session.memories().embedder, progress=progress, on_conflict=on_conflict
        )
    session.emit({"space": space.path, "file": str(file), **dataclasses.asdict(report)}, "")
    _talk_about(report, space.path)


def _refuse_silent_rehoming(session: Session, file: Path) -> None:
    """Move memories into another space only where the command itself says so, never because of a setting."""
    from retentive.transfer import exported_space

    target, source = session.space_path(), exported_space(file)
    if source != target and session.config.origins.get("space") != "--space":
        raise InvalidInput(
            f"{str(file)!r} holds space {source!r}, and {session.config.origins.get('space')} says {target!r}. If the "
            f"memories should go there, say so: --space {target}.",
            source=source,
            target=target,
        )


def _talk_about(report: ImportReport, path: str) -> None:
    said = [f"{report.added} new"]
    said += [f"{count} {what}" for what, count in _others(report).items() if count]
    talk(f"{path}: {', '.join(said)}.")


def _others(report: ImportReport) -> dict[str, int]:
    return {
        "there already": report.same,
        "skipped": report.skipped,
        "replaced": report.replaced,
        "embedded anew": report.embedded,
    }
