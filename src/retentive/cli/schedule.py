"""Doing something again and again until told to stop, and the limits of pruning as options."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import click

from retentive.cli.options import note
from retentive.cli.session import talk, warn
from retentive.errors import RetentiveError, StoreBusy, StoreFull

SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])")
LONGEST: Final = 366 * SECONDS["d"]


class Span(click.ParamType):  # type: ignore[type-arg]  # generic only in later clicks
    """A span of time such as 30m, 6h or 1d, in seconds."""

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the span."""
        if isinstance(value, float):
            return value
        match = _SPAN.fullmatch(str(value).strip())
        seconds = float(match[1]) * SECONDS[match[2]] if match else 0.0
        if not 0 < seconds <= LONGEST:
            self.fail(f"{value!r} is not a span of time up to a year; write e.g. 30m, 6h or 1d.", param, ctx)
        return seconds


SPAN: Final = Span()
_LIMITS: Final = (
    ("--prune-age-days", "Prune only what is older than this (365)."),
    ("--prune-idle-days", "… and was not used for longer than this (180)."),
    ("--prune-strength", "… and is weaker than this: its kind's half-life times its use (0.1)."),
    ("--prune-superseded-days", "… and was superseded for longer than this, or never read (365)."),
)


def pruning_limits(function: Any) -> Any:
    """Add the options that move the limits of pruning; they count as configuration, like ``[prune]`` in a file."""
    for flag, text in reversed(_LIMITS):
        function = click.option(flag, metavar="NUMBER", help=text, callback=note, expose_value=False)(function)
    return function


def repeat(once: Callable[[], None], seconds: float) -> None:
    """Do it now and then once in so many seconds, until SIGINT or SIGTERM; a store that is busy or full is tried again.

    The next turn is counted from the end of the last one, so that turns never pile up.
    """
    with _told_to_stop() as stop:
        while not stop.is_set():
            try:
                once()
            except (StoreBusy, StoreFull) as error:
                warn(f"{error.message} The next turn tries again.")
            except RetentiveError:
                talk("Stopped: this will not mend itself.")
                raise
            stop.wait(seconds)


@contextmanager
def _told_to_stop() -> Iterator[threading.Event]:
    """Let a running turn end before the program does."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
