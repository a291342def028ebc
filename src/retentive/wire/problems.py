"""Errors as RFC 9457 problem details, and problem details as the errors they were.

A problem has the members of the RFC (``type``, ``title``, ``status``, ``detail``, ``instance``), the name of our error
class in ``error``, and its facts in ``details``. Which status a class has stands in one table.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from typing import Any, Final

from retentive import errors
from retentive.errors import RetentiveError
from retentive.wire.values import written

MEDIA_TYPE: Final = "application/problem+json"
URN: Final = "urn:retentive:problem:"

STATUS: Final[dict[type[RetentiveError], int]] = {
    errors.InvalidInput: 422,
    errors.NotFound: 404,
    errors.Forbidden: 403,
    errors.Changed: 412,
    errors.EmbedderMismatch: 409,
    errors.EmbedderFailed: 502,
    errors.LlmFailed: 502,
    errors.MissingExtra: 501,
    errors.StoreBusy: 503,
    errors.StoreFull: 507,
    errors.StoreCorrupt: 500,
    RetentiveError: 500,
}
_TITLES: Final = {
    400: "Bad request",
    401: "A key is needed",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "The request did not arrive in time",
    409: "Conflict",
    411: "Length required",
    412: "It has changed meanwhile",
    413: "Too large",
    415: "Unsupported media type",
    421: "Misdirected request",
    422: "A value was refused",
    429: "Too many requests",
    500: "Internal error",
    501: "Not installed",
    502: "A model did not answer",
    503: "Busy",
    504: "It takes too long",
    507: "No room left",
}
_BY_STATUS: Final = {401: errors.Forbidden, 403: errors.Forbidden, 404: errors.NotFound, 503: errors.StoreBusy}


def status_of(error: RetentiveError) -> int:
    """Return the status of an error: of its class, or of the nearest one above it."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def problem(
    status: int, detail: str, *, error: str = "", instance: str = "", details: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return problem details."""
    title = _TITLES.get(status, "Error")
    slug = _slug(error) if error else _slug(title.replace(" ", "-"))
    body = {"type": URN + slug, "title": title, "status": status, "detail": detail, "instance": instance}
    return {**body, "error": error, "details": written(details or {})}


def problem_of(error: RetentiveError, *, instance: str = "") -> dict[str, Any]:
    """Return an error of ours as problem details; of a class of some inner module the nearest public one is named."""
    public = next(kind for kind in type(error).__mro__ if kind in STATUS)
    return problem(STATUS[public], error.message, error=public.__name__, instance=instance, details=error.details)


def _slug(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def error_of(status: int, body: Any) -> RetentiveError:
    """Return the error that problem details tell of; of an answer that tells nothing, what its status says."""
    told = body if isinstance(body, Mapping) else {}
    kind = _class(told.get("error")) or _BY_STATUS.get(status) or (errors.InvalidInput if 400 <= status < 500 else None)
    message = told.get("detail") or f"The server answered with status {status}."
    facts = told.get("details")
    known = {str(name): value for name, value in facts.items()} if isinstance(facts, Mapping) else {}
    made: RetentiveError = (kind or RetentiveError)(str(message), **{**known, "status": status})
    return made


def _class(name: Any) -> type[RetentiveError] | None:
    found = getattr(errors, name, None) if isinstance(name, str) and not hasattr(builtins, name) else None
    return found if isinstance(found, type) and issubclass(found, RetentiveError) else None
