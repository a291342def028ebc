"""``observe``."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import MOMENT, command
from retentive.cli.session import Session, progress_bar, talk
from retentive.cli.shapes import columns, memory_shape, plain, seen
from retentive.errors import InvalidInput

if TYPE_CHECKING:
    from retentive.observe.outcome import Observation
    from retentive.types import Memory


@command(
    "observe",
    examples=[
        "retentive observe chat.json",
        "retentive observe chat.json --session standup-2026-05-01 --dry-run",
        "retentive observe chat.json --trust assistant=0.8 --gap 60",
    ],
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--session", help="The conversation's name, where the file gives none.")
@click.option("--at", type=MOMENT, help="The time of messages that state none; now, if not given.")
@click.option("--trust", metavar="ROLE=0..1", multiple=True, help="How far a role or speaker is believed.")
@click.option("--extract", metavar="HOW", help="llm (as jobs; where a model is named), patterns or none.")
@click.option("--gap", type=float, default=30, show_default=True, help="Minutes of silence that end an episode.")
@click.option("--dry-run", is_flag=True, help="Only say what would be stored.")
def observe(
    session: Session,
    /,
    file: Path,
    at: datetime | None,
    trust: tuple[str, ...],
    extract: str | None,
    gap: float,
    *,
    dry_run: bool,
    **options: Any,
) -> None:
    """Take in the conversation in FILE (JSON, or JSON lines; `-` reads stdin): turns as episodes, memories from them.

    Messages may have OpenAI's, Anthropic's or LangChain's shape. What was observed before adds nothing.
    """
    from retentive.observe.files import read_conversations

    conversations = read_conversations(_text(file), str(file))
    if options["session"] and len(conversations) > 1:
        raise click.UsageError(f"--session names one conversation, and {file} holds {len(conversations)}.")
    space = session.space(create=True)
    wish: dict[str, Any] = {"at": at, "trust": _trust(trust), "extract": extract, "gap": timedelta(minutes=gap)}
    with progress_bar("observing") as progress:
        told = [
            space.observe(
                conversation.messages,
                session=options["session"] or conversation.session,
                dry_run=dry_run,
                progress=progress,
                **wish,
            )
            for conversation in conversations
        ]
    session.emit([_shape(one) for one in told], lambda: "\n".join(filter(None, map(_taken, told))))
    for one in told:
        talk(_summary(one))


def _text(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{str(file)!r} cannot be read: {error}.", file=str(file)) from error


def _trust(pairs: tuple[str, ...]) -> dict[str, float]:
    found = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            raise click.UsageError(f"--trust {pair!r} is not ROLE=0..1, e.g. tool=0.5.") from None
    return found


def _shape(told: Observation) -> dict[str, Any]:
    shape: dict[str, Any] = plain(told)
    return {
        **shape,
        "turns": [memory_shape(turn) for turn in told.turns],
        "memories": [memory_shape(memory) for memory in told.memories],
    }


def _taken(told: Observation) -> str:
    return columns([_row(memory) for memory in told.memories])


def _row(memory: Memory) -> tuple[str, ...]:
    return seen(memory.id), ", ".join([memory.kind, *memory.tags]), seen(memory.speaker), seen(memory.text)


def _summary(told: Observation) -> str:
    would = "would be stored" if told.dry_run else "stored"
    return (
        f"{seen(told.session)}: {len(told.turns)} turns {would} in {len(told.episodes)} episodes, {told.known} known, "
        f"{told.skipped} skipped; {len(told.memories)} memories taken ({told.method}), {len(told.refused)} refused."
        f"{_queued(told)}"
    )


def _queued(told: Observation) -> str:
    """Say what is left to a language model, and what it will take."""
    if not told.cost.calls:
        return ""
    cost = told.cost
    price = f", about {cost.cost:.4f} at your prices" if cost.cost else ""
    would = "It would take" if told.dry_run else "`retentive jobs run` asks the model:"
    return f" {would} {cost.calls} calls, some {cost.input_tokens} tokens in and {cost.output_tokens} out{price}."
