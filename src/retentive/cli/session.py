"""What the commands share in one run: the arguments given so far, the configuration, the open store, and both voices.

Nothing is opened before a command needs it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retentive.config import Config, load_config
from retentive.errors import NotFound, unknown_name

if TYPE_CHECKING:
    from retentive.memory import Retentive, Space

Progress = Callable[[int, int], None]


class Session:
    """One run of the program."""

    def __init__(self) -> None:
        self.arguments: dict[str, Any] = {}  # by attribute of `Config`
        self.config_file: Path | None = None
        self.json = False
        self.debug = False
        self._config: Config | None = None
        self._memories: Retentive | None = None

    @property
    def config(self) -> Config:
        """The configuration, read once."""
        if self._config is None:
            self._config = load_config(self.arguments, file=self.config_file)
            _set_up_logging(self._config.log_level)
        return self._config

    def memories(self) -> Retentive:
        """Open the store; it is closed when the command ends."""
        if self._memories is None:
            from retentive.memory import Retentive

            self._memories = Retentive(config=self.config)
            self._memories.register_kind(*self.config.kinds)
            click.get_current_context().call_on_close(self._memories.close)
        return self._memories

    def space_path(self) -> str:
        """Return the space to work in; there is no default, for a guess would mix up people."""
        if self.config.space is None:
            raise click.UsageError(
                'Which space? Name it with --space acme/alice, set RETENTIVE_SPACE, or write space = "acme/alice" in '
                "retentive.toml."
            )
        return self.config.space

    def space(self, *, create: bool = False) -> Space:
        """Open the space to work in. Only what writes may create one: a misspelt name is not an empty space."""
        path = self.space_path()
        memories = self.memories()
        space = memories.space(path)
        if not create and space.path not in (known := memories.spaces()):
            raise _no_space(space.path, known)
        return space

    def emit(self, data: Any, text: Callable[[], str] | str | None = None) -> None:
        """Print the answer: ``data`` as one JSON document under ``--json``, else the text."""
        if self.json or text is None:
            say_json(data)
        elif shown := text if isinstance(text, str) else text():
            click.echo(shown)


def _no_space(path: str, known: list[str]) -> NotFound:
    if not known:
        return NotFound(
            f"There is no space {path!r} yet; `retentive remember --space {path} …` creates it.", space=path
        )
    nearest = unknown_name("space", path, known[:20]).message
    return NotFound(f"{nearest} `retentive remember` creates a new one.", space=path)


def session_of(ctx: click.Context) -> Session:
    """Return the session of a run, which lives at the root of the contexts."""
    return ctx.find_root().ensure_object(Session)


def talk(text: str) -> None:
    """Say something to the person at the terminal: on stderr, so that a pipe gets data only."""
    click.echo(text, err=True)


def warn(text: str) -> None:
    """Say that something is legal but likely not what was meant."""
    talk(f"retentive: warning: {text}")


def say_json(data: Any) -> None:
    """Print one JSON document; characters are spelt out only where stdout could not carry them."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    click.echo(json.dumps(data, ensure_ascii=encoding != "utf8", indent=2, allow_nan=False))


def on_terminal(*, err: bool = False) -> bool:
    """Whether a person is reading: colours, bars and questions are for people."""
    return (sys.stderr if err else sys.stdout).isatty()


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be undone; without a terminal only ``--yes`` is an answer."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} That cannot be undone: add --yes to do it without being asked.")
    click.confirm(question + " That cannot be undone.", abort=True, err=True)


@contextmanager
def progress_bar(what: str) -> Iterator[Progress | None]:
    """Draw a bar on stderr while a person is watching; None otherwise."""
    if not on_terminal(err=True):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _set_up_logging(level: str) -> None:
    """Send the log to stderr where more than warnings is wanted; those reach it by themselves."""
    if level == "warning":
        return
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(name)s: %(levelname)s: %(message)s"))
    logger = logging.getLogger("retentive")
    logger.handlers = [handler]
    logger.setLevel(level.upper())
