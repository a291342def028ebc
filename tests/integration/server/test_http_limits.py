"""What the server does not take on: too large, too slow, too much at once, not to be understood; each said clearly."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from retentive import Retentive, Space
from retentive.errors import LlmFailed, StoreBusy, StoreCorrupt, StoreFull
from retentive.server.bodies import read_body
from retentive.server.limits import CALLERS, RateLimiter
from retentive.server.logs import set_up
from retentive.server.pools import Pool
from retentive.server.refusals import Overloaded, Refusal, TooSlow
from retentive.server.settings import ServeSettings

Serve = Callable[..., Any]
ALICE = "/v1/spaces/acme%2Falice"


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "said"),
    [
        ("POST", "/memories", {"content": b"{"}, 400, "is not JSON"),
        ("POST", "/memories", {"content": b'{"text": NaN}'}, 400, "NaN"),
        ("POST", "/memories", {"content": b'{"text": "a", "text": "b"}'}, 400, "comes twice"),
        ("POST", "/memories", {"content": b"[" * 100_000}, 400, "is not JSON"),
        ("POST", "/memories", {"content": b"\xff"}, 400, "is not JSON"),
        ("POST", "/memories", {"content": b"x", "headers": {"Content-Type": "text/plain"}}, 415, "text/plain"),
        ("POST", "/memories", {"json": []}, 422, "not an object"),
        ("POST", "/memories", {}, 422, "lacks 'text'"),
        ("POST", "/memories", {"json": {"text": "x", "knd": "fact"}}, 422, "Did you mean 'kind'"),
        ("POST", "/memories", {"json": {"text": 7}}, 422, "body.text=7 is not a string"),
        ("POST", "/memories", {"json": {"text": "x", "importance": 2}}, 422, "at most 1"),
        ("POST", "/memories", {"json": {"text": "x", "pinned": "no"}}, 422, "true or false"),
        ("POST", "/memories", {"json": {"text": "x", "at": "2026-05-01"}}, 422, "time zone"),
        ("POST", "/memories", {"json": {"text": "x", "at": "tomorrow"}}, 422, "ISO 8601"),
        ("POST", "/memories", {"json": {"text": "x", "tags": "a"}}, 422, "a list"),
        ("POST", "/memories", {"json": {"text": "x", "key": ""}}, 422, "too short"),
        ("POST", "/memories", {"json": {"text": "x", "key": "k" * 2000}}, 422, "at most 1,000"),
        ("POST", "/recall", {"json": {"cue": "x", "render": "html"}}, 422, "Unknown body.render 'html'"),
        ("POST", "/maintain", {"json": {"rules": {"tau_days": {"fact": "x"}}}}, 422, "tau_days"),
        ("PATCH", "/memories/x", {"json": {}}, 422, "Nothing to update"),
        ("GET", "/memories", {"params": {"limit": "many"}}, 422, "limit='many' is not a whole number"),
        ("GET", "/memories", {"params": {"limits": "5"}}, 422, "Did you mean 'limit'"),
        ("GET", "/memories?limit=1&limit=2", {}, 422, "given 2 times"),
        ("GET", "/memories", {"params": {"where": "{"}}, 400, "is not JSON"),
        ("GET", "/memories", {"params": {"cursor": "é"}}, 422, "cursor"),
        ("GET", "/memories/%ff", {}, 400, "not UTF-8"),
        ("PUT", "/memories", {"json": {}}, 405, "GET, HEAD, POST is"),
        ("GET", "/nothing", {}, 404, "openapi.json"),
    ],
)
def test_what_is_not_understood_is_said(
    method: str, path: str, sent: dict[str, Any], status: int, said: str, http: TestClient
) -> None:
    """With the value, the place and the remedy, as problem details."""
    answer = http.request(method, ALICE + path, **sent)
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == status
    assert said in told["detail"]
    assert told["instance"] == answer.headers["Retentive-Request"]
    if status == 405:
        assert answer.headers["Allow"] == "GET, HEAD, POST"


def test_a_space_path_that_two_might_read_differently(http: TestClient) -> None:
    """It is refused before anything is opened."""
    for name in ("acme%2F%2Falice", "%2E%2E", "acme%2F", "%20", "a%00b"):
        assert http.get(f"/v1/spaces/{name}/memories").status_code == 422


def test_bodies_have_a_size(serve: Serve) -> None:
    """Whether they say it at first or turn out to be larger; imports have their own."""
    with serve(max_body=100, max_import=200, max_batch=2) as http:
        large = http.post(f"{ALICE}/memories", json={"text": "x" * 200})
        assert large.status_code == 413
        assert "100 bytes" in large.json()["detail"]
        assert http.post(f"{ALICE}/memories", content=iter([b"x" * 60, b"x" * 60])).status_code == 413
        assert http.post(f"{ALICE}/import", content=b"x" * 300).status_code == 413
        assert http.post(f"{ALICE}/import", content=b"x" * 150).status_code == 422
        batch = http.post(f"{ALICE}/memories/batch", json={"memories": [{"text": "x"}] * 3})
        assert "at most 2" in batch.json()["detail"]


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    """The next part has so many seconds."""

    async def never() -> Any:
        await asyncio.Event().wait()

    request = Request({"type": "http", "headers": [], "method": "POST"}, never)
    with pytest.raises(Refusal) as error:
        asyncio.run(read_body(request, ServeSettings(body_timeout=0.01)))
    assert error.value.status == 408


def test_too_much_at_once_is_refused_and_too_long_not_waited_for() -> None:
    """Nobody waits for ever; the work goes on, and its end is waited for when the pool closes."""
    pool = Pool("test", threads=1, queue=1, timeout=0.05)
    let_go, done = threading.Event(), threading.Event()

    def work() -> None:
        let_go.wait(60)
        done.set()

    async def three() -> list[Any]:
        return await asyncio.gather(*(pool.run(work) for _ in range(3)), return_exceptions=True)

    outcomes = asyncio.run(three())
    assert [type(outcome) for outcome in outcomes] == [TooSlow, TooSlow, Overloaded]
    assert not done.is_set()
    let_go.set()
    pool.close()
    assert done.is_set()


def test_an_overloaded_server_says_so(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """503 with Retry-After; the queue shows in the figures; a recall that takes too long is 504."""
    inside, let_go = threading.Event(), threading.Event()

    def slow(*_args: Any, **_more: Any) -> Any:
        inside.set()
        let_go.wait(60)

    monkeypatch.setattr(Space, "shaken", slow)
    with serve(threads=1, queue=0, timeout=0.2) as http:
        answers: list[Any] = []
        asking = threading.Thread(target=lambda: answers.append(http.get(f"{ALICE}/shaken")))
        asking.start()
        assert inside.wait(10)
        refused = http.get(f"{ALICE}/memories")
        assert refused.status_code == 503
        assert refused.headers["Retry-After"] == "1"
        assert 'retentive_working{lane="short"} 1.0' in http.get("/metrics").text
        asking.join(10)
        assert answers[0].status_code == 504
        assert "Idempotency-Key" in answers[0].json()["detail"]
        let_go.set()


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreBusy("b"), 503),
        (StoreFull("f"), 507),
        (StoreCorrupt("c"), 500),
        (LlmFailed("l"), 502),
        (KeyError("k"), 500),
    ],
)
def test_trouble_below_has_its_status(
    error: Exception, status: int, http: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And what nobody expected is a 500 that names the request, with the place in the log."""

    def fail(*_args: Any, **_more: Any) -> Any:
        raise error

    monkeypatch.setattr(Space, "shaken", fail)
    answer = http.get(f"{ALICE}/shaken")
    assert answer.status_code == status
    if isinstance(error, KeyError):
        assert answer.headers["Retentive-Request"] in answer.json()["detail"]
        assert [record.message for record in caplog.records] == ["failed"]


def test_the_log_has_no_text(home: Retentive, serve: Serve) -> None:
    """Lines of JSON: what, how long, whose key; neither cue nor memory nor an exception's message."""
    stream = io.StringIO()
    handler = set_up("info", stream)
    try:
        with serve() as http:
            http.post(f"{ALICE}/memories", json={"text": "the secret text"})
            http.post(f"{ALICE}/recall", json={"cue": "the secret cue"})
        try:
            int("the secret message")
        except ValueError:
            logging.getLogger("retentive.server").exception("failed")
    finally:
        logging.getLogger("retentive").removeHandler(handler)
        logging.getLogger("retentive").propagate = True
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    asked = [line for line in lines if line["event"] == "request"]
    assert [line["operation"] for line in asked] == ["remember", "recall"]
    assert all(line["ms"] > 0 and line["request"] for line in asked)
    assert lines[-1]["error"] == "ValueError"
    assert any("test_http_limits.py" in place for place in lines[-1]["trace"])
    assert "secret" not in stream.getvalue()


def test_cues_are_logged_where_the_operator_says_so(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """`serve.log_text` is for debugging."""
    with caplog.at_level(logging.INFO, "retentive.server"), serve(log_text=True) as http:
        http.post(f"{ALICE}/recall", json={"cue": "Which database?"})
    assert any(getattr(record, "facts", {}).get("cue") == "Which database?" for record in caplog.records)


def test_buckets_fill_again_and_strangers_are_forgotten() -> None:
    """A caller who waits may ask again; memory for callers is bounded."""
    now = [0.0]
    limiter = RateLimiter(lambda: now[0])
    assert [limiter.take("a", 60) for _ in range(11)] == [0.0] * 10 + [1]
    now[0] += 1
    assert limiter.take("a", 60) == 0
    for number in range(CALLERS + 5):
        limiter.take(str(number), 60)
    assert len(limiter._buckets) == CALLERS
