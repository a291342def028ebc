"""Where in a published file something does not fit: errors that name the conversation, the turn and the field."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MisfitError(ValueError):
    """What does not fit, with the way to it."""


@contextmanager
def inside(place: str) -> Iterator[None]:
    """Prefix what goes wrong in the block with its place; nested blocks make a path."""
    try:
        yield
    except MisfitError as error:
        raise MisfitError(f"{place}, {error}") from error
    except KeyError as error:
        raise MisfitError(f"{place}: the field {error} is missing") from error
    except (IndexError, TypeError, AttributeError, ValueError, SyntaxError) as error:
        raise MisfitError(f"{place}: {error}") from error
