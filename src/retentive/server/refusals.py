"""What the server itself refuses, before the façade is asked: each with its status, and how it is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from retentive.errors import InvalidInput, RetentiveError, StoreBusy
from retentive.wire.problems import MEDIA_TYPE, problem, problem_of

RETRY_SECONDS: Final = 1


class Refusal(RetentiveError):
    """A request that the server did not take up; ``status`` says of which sort."""

    status = 400

    def __init__(
        self, message: str, /, *, status: int | None = None, headers: Mapping[str, str] | None = None, **details: object
    ) -> None:
        super().__init__(message, **details)
        self.status = status or type(self).status
        self.headers = dict(headers or {})


class Overloaded(Refusal):
    """More requests are waiting than the server takes on; try again in a moment."""

    status = 503


class TooSlow(Refusal):
    """The work did not end in time; it goes on, and a write may still happen."""

    status = 504


def problem_for(error: RetentiveError, request_id: str) -> dict[str, Any]:
    """Return the problem details of an error."""
    if isinstance(error, Refusal):
        return problem(error.status, error.message, instance=request_id, details=error.details)
    told = problem_of(error, instance=request_id)
    if isinstance(error, InvalidInput) and error.details.get("malformed"):
        told["status"] = 400
    return told


def refused(error: RetentiveError, request_id: str) -> Response:
    """Return the answer to a request that failed."""
    told = problem_for(error, request_id)
    headers = dict(error.headers) if isinstance(error, Refusal) else {}
    if isinstance(error, StoreBusy | Overloaded):
        headers["Retry-After"] = str(RETRY_SECONDS)
    return Response(encoded(told), told["status"], headers, MEDIA_TYPE)


def encoded(data: Any) -> bytes:
    """Return JSON as bytes; a lone surrogate, which UTF-8 cannot hold, stays an escape."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")
