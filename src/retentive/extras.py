"""Import an optional dependency, or say how to install it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from retentive.errors import MissingExtra


def require_extra(module: str, *, extra: str, user: str) -> Any:
    """Return a module that an extra brings; `user` names what needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{user} needs {module}, which could not be imported ({error}). Run `pip install 'retentive[{extra}]'`.",
            extra=extra,
            module=module,
        ) from error
