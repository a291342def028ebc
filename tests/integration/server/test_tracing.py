"""Spans: one for each operation, under the caller's trace, without a word of what was asked."""

from __future__ import annotations

import pytest

pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.testclient import TestClient

ALICE = "/v1/spaces/acme%2Falice"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What is exported."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("tests")
    monkeypatch.setattr("retentive.server.tracing._tracer", lambda: tracer)
    return exporter


def test_an_operation_is_a_span_of_the_callers_trace(http: TestClient, spans: InMemorySpanExporter) -> None:
    """With its name and the error's type; neither text nor space nor message is in it."""
    http.post(f"{ALICE}/memories", json={"text": "the secret text"}, headers={"traceparent": PARENT})
    http.get(f"{ALICE}/memories/the-secret-id")
    done = spans.get_finished_spans()
    assert [span.name for span in done] == ["retentive.remember", "retentive.get"]
    assert done[0].parent is not None
    assert f"{done[0].parent.trace_id:032x}" == PARENT.split("-")[1]
    assert dict(done[1].attributes or {}) == {"retentive.operation": "get", "error.type": "NotFound"}
    told = "".join(span.to_json() for span in done)
    assert "secret" not in told
    assert "acme" not in told


def test_without_the_api_nothing_is_traced(http: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is missed."""
    monkeypatch.setattr("retentive.server.tracing._tracer", lambda: None)
    assert http.post(f"{ALICE}/memories", json={"text": "x"}).status_code == 201
