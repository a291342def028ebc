"""``usage``."""

from __future__ import annotations

import click

from retentive.cli.options import command
from retentive.cli.session import Session, talk
from retentive.cli.shapes import columns, plain, seen


@command("usage", examples=["retentive usage", "retentive usage --all-spaces --json"])
@click.option("--all-spaces", is_flag=True, help="Every space of the store.")
def usage(session: Session, *, all_spaces: bool) -> None:
    """Show what language models have taken: calls, tokens and cost, by kind of work and model."""
    memories = session.memories()
    paths = memories.spaces() if all_spaces else [session.space().path]
    spent = [(path, one) for path in paths for one in memories.space(path).usage()]
    head = [("space", "work", "model", "calls", "tokens in", "out", "cost")]
    rows = [
        (seen(path), seen(one.purpose), seen(one.model), f"{one.usage.calls:,}", *_tokens(one.usage.input_tokens,
         one.usage.output_tokens, estimated=one.usage.estimated), f"{one.usage.cost:.4f}")
        for path, one in spent
    ]  # fmt: skip
    shapes = [{"space": path, **plain(one)} for path, one in spent]
    session.emit(shapes, lambda: columns(head + rows) if rows else "")
    if not spent:
        talk("No language model was asked yet.")


def _tokens(asked: int, answered: int, *, estimated: bool) -> tuple[str, str]:
    about = "~" if estimated else ""
    return f"{about}{asked:,}", f"{about}{answered:,}"
