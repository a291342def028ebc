"""Options and parameter types that several commands share, and the command class that shows examples."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

from retentive.cli.session import session_of

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Option = Callable[[Decorated], Decorated]

FORMATS: Final = ("neutral", "locomo", "realtalk", "longmemeval", "longmemeval-turns", "beam")
"""`retentive.evaluate.formats.NAMES`, which is not imported for `--help`; a test holds the two together."""


class ExampleCommand(click.Command):
    """A command whose help ends with examples that really run (a test runs every one)."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **more: Any) -> None:
        super().__init__(*args, **more)
        self.examples = tuple(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


def command(
    name: str, *, examples: Sequence[str], store: bool = True, space: bool = True
) -> Callable[[Callable[..., Any]], ExampleCommand]:
    """Make a command: its function gets the session first. It takes the shared options that it has a use for."""

    def decorate(function: Callable[..., Any]) -> ExampleCommand:
        made = click.command(name, cls=ExampleCommand, examples=examples)(_with_session(function))
        made.params += _shared(store=store, space=space)
        return made

    return decorate


def _with_session(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        return function(session_of(click.get_current_context()), *args, **options)

    return run


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic only in later clicks
    """A moment in ISO 8601 with its zone; a naive one is refused, for guessing its zone would reorder memories."""

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read the moment."""
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a moment in ISO 8601; write e.g. 2026-05-01T12:00Z.", param, ctx)
        if moment.tzinfo is None:
            day = value if "T" in value or " " in value else f"{value}T00:00"
            self.fail(f"{value!r} has no time zone; write {day}Z for UTC, or e.g. {day}+02:00.", param, ctx)
        return moment


class Pair(click.ParamType):  # type: ignore[type-arg]  # generic only in later clicks
    """``name=value``, the value read as JSON where it is JSON, else as a string."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Read the pair."""
        if isinstance(value, tuple):
            return value
        name, separator, text = str(value).partition("=")
        if not separator or not name:
            self.fail(f'{value!r} is not name=value; write e.g. ticket=7 or team="core".', param, ctx)
        try:
            return name, json.loads(text, parse_constant=_no_constant)
        except ValueError:
            return name, text


def _no_constant(text: str) -> Any:
    raise ValueError(text)  # NaN and Infinity are no JSON; as words they are strings


class PolicyName(click.ParamType):  # type: ignore[type-arg]  # generic only in later clicks
    """The name of a preset, or a policy's file."""

    name = "policy"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 -- click's signature
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Complete the presets' names."""
        from retentive.policy import presets

        return [CompletionItem(name) for name in presets.names() if name.startswith(incomplete)]


MOMENT = Moment()
PAIR = Pair()
POLICY = PolicyName()


def note(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep a shared option in the session; given twice, the one nearest to the command counts."""
    if value is not None and param.name is not None:
        session_of(ctx).arguments[param.name] = value


def _note_flag(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value and param.name is not None:
        setattr(session_of(ctx), param.name, value)


def _setting(flag: str, metavar: str, text: str) -> click.Option:
    return click.Option([flag], metavar=metavar, help=text, callback=note, expose_value=False)


def _switch(*flags: str, text: str, **more: Any) -> click.Option:
    return click.Option(flags, help=text, callback=_note_flag, expose_value=False, **more)


_STORE = _setting("--store", "FOLDER", "Where memories are kept (RETENTIVE_STORE).")
_SPACE = _setting("--space", "PATH", "Whose memories, e.g. acme/alice (RETENTIVE_SPACE).")
_EMBEDDER = _setting("--embedder", "NAME", "What makes the vectors (RETENTIVE_EMBEDDER).")
_CONFIG = _switch(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    text="Use this file instead of the nearest retentive.toml.",
)
_JSON = _switch("--json", is_flag=True, text="Print one JSON document.")
_DEBUG = _switch("--debug", is_flag=True, text="Show the traceback of an error.")
GLOBAL_OPTIONS = (_SPACE, _STORE, _EMBEDDER, _CONFIG, _JSON, _DEBUG)


def _shared(*, store: bool, space: bool) -> list[click.Parameter]:
    """Return the options that every command takes, without those that it has no use for."""
    unused = {*(() if store else (_STORE, _EMBEDDER)), *(() if space else (_SPACE,))}
    return [option for option in GLOBAL_OPTIONS if option not in unused]


def stack(*options: Option[Any]) -> Option[Any]:
    """Put several options into one decorator, in their order."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


as_of = stack(
    click.option("--as-of", type=MOMENT, help="What was known and true at this moment."),
    click.option("--true-at", type=MOMENT, help="What is true at this moment, by what is known now."),
    click.option("--known-at", type=MOMENT, help="What was known at this moment of what is true now."),
)
kind = click.option("--kind", metavar="KIND", help="fact, preference, event, decision, procedure, …")
filters = stack(
    click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only this kind; may be given again."),
    click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only with this tag; given again: with all."),
    click.option("--where", type=PAIR, multiple=True, help="Only where this metadata is equal, e.g. ticket=7."),
    click.option("--since", type=MOMENT, help="Only said at or after this moment, e.g. 2026-05-01T00:00Z."),
    click.option("--until", type=MOMENT, help="Only said before this moment."),
    as_of,
)
details = stack(
    click.option("--importance", type=float, metavar="0..1", help="How important it is."),
    click.option("--rating", type=float, metavar="1..10", help="The same on the scale that models are asked for."),
    click.option("--key", help="What it answers, e.g. database: a newer one with this key supersedes it."),
    click.option("--tag", "tags", metavar="TAG", multiple=True, help="May be given again."),
    click.option("--source", help="Where it comes from, e.g. turn:12."),
    click.option("--metadata", type=PAIR, multiple=True, help="May be given again, e.g. ticket=7."),
    click.option("--recurs", metavar="RULE", help="yearly, monthly, weekly, or an RFC 5545 RRULE."),
    click.option("--valid-from", type=MOMENT, help="True from this moment."),
    click.option("--valid-until", type=MOMENT, help="True until this moment."),
    click.option("--trust", type=float, metavar="0..1", help="How far the source is believed."),
)


def importance_of(importance: float | None, rating: float | None) -> float | None:
    """Return the importance that either scale gave."""
    if importance is not None and rating is not None:
        raise click.UsageError("--importance and --rating say the same on two scales; give one.")
    if rating is None:
        return importance
    from retentive.types import rating as from_rating

    return from_rating(rating)


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given, as keywords of the façade: no None, no empty tuple, pairs as a mapping."""
    chosen = {name: value for name, value in options.items() if value is not None and value != ()}
    true_at, known_at = chosen.pop("true_at", None), chosen.pop("known_at", None)
    if true_at or known_at:
        if "as_of" in chosen:
            raise click.UsageError("--as-of is both moments at once; give it, or --true-at and --known-at.")
        from retentive.types import AsOf

        chosen["as_of"] = AsOf(true_at, known_at)
    for name in ("where", "metadata"):
        if name in chosen:
            chosen[name] = dict(chosen[name])
    for name in ("tags", "kinds", "supersedes"):
        if name in chosen:
            chosen[name] = list(chosen[name])
    return chosen
