"""Spans for OpenTelemetry, where its API is installed (the extra ``otel``): one for each operation, under the caller's.

Where they go is the operator's to say, e.g. ``opentelemetry-instrument retentive serve``. A span has the operation and
how it ended, never a space, a key, or a word of what was asked or remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any


@cache
def _tracer() -> Any:
    """Return the tracer; None where the API is not installed."""
    try:
        return import_module("opentelemetry.trace").get_tracer("retentive")
    except ImportError:
        return None


@contextmanager
def traced(operation: str, headers: Mapping[str, str]) -> Iterator[None]:
    """Put what happens inside into a span; an exception is noted by its type, for its message may quote a memory."""
    tracer = _tracer()
    if tracer is None:
        yield
        return
    context = import_module("opentelemetry.propagate").extract(dict(headers))
    status = import_module("opentelemetry.trace")
    with tracer.start_as_current_span(
        f"retentive.{operation}",
        context=context,
        kind=status.SpanKind.SERVER,
        attributes={"retentive.operation": operation},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except Exception as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(status.Status(status.StatusCode.ERROR))
            raise
