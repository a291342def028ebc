"""The root of the command tree: which commands there are, and what happens when one fails.

The table below stands for the commands until one is asked for, so that ``retentive --help`` imports none of them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final

import click

from retentive.cli.options import GLOBAL_OPTIONS
from retentive.cli.session import session_of, warn
from retentive.errors import RetentiveError

PROGRAM: Final = "retentive"
INTERRUPTED: Final = 130
"""128 + SIGINT, as shells have it."""

COMMANDS: Final = {
    "remember": ("writing", "Remember a text."),
    "observe": ("observing", "Take in a conversation: its turns, and the memories they hold."),
    "recall": ("recalling", "Ask what is worth bringing up now, and see why."),
    "get": ("reading", "Show one memory by its id."),
    "list": ("reading", "List memories, newest first."),
    "update": ("writing", "Change a memory."),
    "forget": ("writing", "Hide a memory from recall, or erase it."),
    "history": ("reading", "Show every state that a memory had."),
    "explain": ("explaining", "Show a past recall, or where a memory stands."),
    "why-not": ("whynot", "Say what kept a memory out of an answer."),
    "spaces": ("spaces", "List the spaces of the store."),
    "drop": ("spaces", "Remove a space with everything in it."),
    "policy": ("policies", "List, show and check the policies that rank memories."),
    "import": ("moving", "Read an export into a space."),
    "export": ("moving", "Write a space to a file, losing nothing."),
    "migrate": ("migrating", "Move spaces from one store to another."),
    "postgres": ("postgres", "Print the schema for PostgreSQL; index large spaces."),
    "backup": ("backing", "Copy every space while the store is in use."),
    "restore": ("backing", "Put the spaces of a backup back."),
    "reflect": ("reflecting", "Draw insights from what was remembered lately; list the shaken ones."),
    "language": ("language", "Say or change the language in which words are stemmed."),
    "rate": ("rating", "Rate anew how important memories are."),
    "jobs": ("jobs", "List the work that waits in the queue, and do it."),
    "usage": ("usage", "Show what language models have taken: calls, tokens, cost."),
    "conflicts": ("reviewing", "List, accept and dismiss memories that deny older ones."),
    "repetitions": ("reviewing", "List what was said again, and take it apart again."),
    "maintain": ("upkeep", "Keep a space in order; re-embed it for another embedder."),
    "serve": ("serving", "Serve the store over HTTP."),
    "keys": ("keys", "Make, list and revoke the keys of the server."),
    "models": ("models", "List and fetch embedding models."),
    "doctor": ("upkeep", "Examine the installation, the store and the spaces."),
    "config": ("settings", "Show the configuration and where each value came from."),
    "eval": ("evaluate", "Measure retrieval quality, and run the behaviours as scenarios."),
    "tune": ("tuning", "Learn a policy from your own recalls or labelled questions."),
    "adapt": ("adapting", "Let a space's weights follow feedback; show, undo or stop it."),
    "bench": ("bench", "Measure how long recalls take, stage by stage."),
    "mcp": ("mcp", "Serve a space to an agent by the Model Context Protocol."),
    "demo": ("tour", "See in seconds, offline, what a policy changes."),
    "completion": ("settings", "Print the script that completes commands in your shell."),
}
_ATTRIBUTES: Final = {
    "import": "import_",
    "eval": "evaluate",
    "list": "list_",
    "config": "settings",
    "why-not": "why_not",
}
"""Where a command's name in its module is another one."""


class Failed(click.ClickException):
    """An error on one clean line; the traceback is behind ``--debug``."""

    def show(self, file: Any = None) -> None:
        """Print it to stderr."""
        click.echo(f"{PROGRAM}: {self.message}", file=file, err=file is None)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for, and whose help reads the table."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table: as one meets them, not by the alphabet."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"retentive.cli.{COMMANDS[cmd_name][0]}")
        found: click.Command = getattr(module, _ATTRIBUTES.get(cmd_name, cmd_name))
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else " `retentive --help` lists them."
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command asked for, and turn what Retentive raises on purpose into one line."""
        with _warnings_as_talk():
            try:
                return super().invoke(ctx)
            except RetentiveError as error:
                if session_of(ctx).debug:
                    raise
                raise Failed(error.message) from error
            except KeyboardInterrupt:
                click.echo(err=True)
                ctx.exit(INTERRUPTED)


@contextmanager
def _warnings_as_talk() -> Iterator[None]:
    """Say warnings on stderr without the file and line that mean nothing to whoever typed a command."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = lambda message, *_rest, **_more: warn(str(message))
        yield


@click.group(
    PROGRAM,
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`retentive COMMAND --help` shows examples. Data goes to stdout, talk to stderr.",
)
@click.version_option(package_name="retentive", message="%(prog)s %(version)s")
def root() -> None:
    """Long-term memory for AI agents: what is worth bringing up now, and why."""


root.params += GLOBAL_OPTIONS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, 1 for a failure, 2 for wrong usage, 130 when interrupted."""
    _speak_unicode()
    try:
        root.main(args=None if arguments is None else list(arguments), prog_name=PROGRAM)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:  # how click always ends
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def _speak_unicode() -> None:
    """Never die of a console that cannot show a character: memories are written in every script."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
