"""Who is let in: keys with their rights and prefixes, names and origins, rates, and what is told of a refusal."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from retentive.errors import Forbidden, InvalidInput
from retentive.server.access import grant_of
from retentive.server.app import Mounted
from retentive.server.keys import KeyRing
from retentive.server.run import check_exposure, greeting
from retentive.server.service import Service
from retentive.server.settings import ServeSettings

Serve = Callable[..., Any]
MakeKey = Callable[..., dict[str, str]]


def test_without_keys_only_this_machine_is_let_in(serve: Serve) -> None:
    """Loopback works; another address, and whatever a proxy passes on, do not."""
    with serve() as http:
        assert http.get("/v1/spaces").status_code == 200
        assert http.get("/v1/spaces", headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 401
    with serve(client="203.0.113.9") as http:
        answer = http.get("/v1/spaces")
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert http.get("/health/live").status_code == 200


def test_from_the_first_key_on_everybody_needs_one(serve: Serve, key: MakeKey) -> None:
    """Also this machine, at once, and also when every key is revoked."""
    with serve() as http:
        assert http.get("/v1/spaces").status_code == 200
        headers = key("read")
        assert http.get("/v1/spaces").status_code == 401
        assert http.get("/v1/spaces", headers=headers).status_code == 200


def test_a_revoked_or_expired_key_opens_nothing(serve: Serve, ring: KeyRing, home: Any) -> None:
    """From the very next request on."""
    made, secret = ring.create(right="read", spaces=None, now=home.now())
    late, old = ring.create(right="read", spaces=None, now=home.now(), expires_at=home.now() - timedelta(seconds=1))
    with serve() as http:
        assert http.get("/v1", headers={"Authorization": f"Bearer {secret}"}).status_code == 200
        assert http.get("/v1", headers={"Authorization": f"Bearer {old}"}).status_code == 401
        ring.revoke(made.id, home.now())
        assert http.get("/v1", headers={"Authorization": f"Bearer {secret}"}).status_code == 401
    assert not late.counts(home.now())


@pytest.mark.parametrize("given", ["", "Basic abc", "Bearer", "Bearer ", "Bearer x", "Bearer rtv_abcdefgh_" + "A" * 43])
def test_what_is_no_key_opens_nothing(given: str, serve: Serve, key: MakeKey) -> None:
    """Whatever its form."""
    key("admin")
    with serve() as http:
        assert http.get("/v1/spaces", headers={"Authorization": given}).status_code == 401


def test_a_key_reaches_whole_segments_only(serve: Serve, key: MakeKey, home: Any) -> None:
    """`acme` has `acme/alice`, and not `acme-corp`; what is refused is refused alike, there or not."""
    for name in ("acme/alice", "acme-corp", "other"):
        home.space(name).remember(f"secret of {name}")
    headers = key("write", "acme")
    with serve() as http:
        assert http.get("/v1/spaces", headers=headers).json()["spaces"] == ["acme/alice"]
        assert http.get("/v1/spaces/acme%2Falice/memories", headers=headers).status_code == 200
        there = http.get("/v1/spaces/acme-corp/memories", headers=headers)
        absent = http.get("/v1/spaces/acme-none/memories", headers=headers)
        assert (there.status_code, absent.status_code) == (403, 403)
        assert there.json()["detail"].replace("corp", "none") == absent.json()["detail"]
        shared = http.post("/v1/spaces/acme%2Falice/recall", headers=headers, json={"cue": "secret", "shared": "other"})
        assert shared.status_code == 403


@pytest.mark.parametrize(
    ("right", "method", "path", "body", "status"),
    [
        ("read", "POST", "/memories", {"text": "x"}, 403),
        ("read", "POST", "/recall", {"cue": "x"}, 200),
        ("read", "POST", "/recall", {"cue": "x", "touch": True}, 403),
        ("read", "GET", "/export", None, 200),
        ("read", "POST", "/feedback", {"recall_id": "r1"}, 403),
        ("read", "POST", "/reflect", {}, 403),
        ("write", "POST", "/memories", {"text": "x"}, 201),
        ("write", "POST", "/maintain", {}, 403),
        ("write", "DELETE", "", None, 403),
        ("admin", "POST", "/maintain", {}, 200),
        ("admin", "DELETE", "", None, 200),
    ],
)
def test_a_right_goes_so_far(
    right: str, method: str, path: str, body: Any, status: int, serve: Serve, key: MakeKey
) -> None:
    """Reading, writing and administering are three things."""
    headers = key(right, "acme")
    with serve() as http:
        answer = http.request(method, f"/v1/spaces/acme{path}", json=body, headers=headers)
        assert answer.status_code == status, answer.text


def test_a_key_that_only_reads_leaves_no_trace(serve: Serve, key: MakeKey, home: Any) -> None:
    """Neither recall nor fetch by it counts as a use."""
    kept = home.space("acme").remember("Prefers Postgres")
    headers = key("read", "acme")
    with serve() as http:
        recall = http.post("/v1/spaces/acme/recall", json={"cue": "Postgres"}, headers=headers).json()
        assert http.get(f"/v1/spaces/acme/memories/{kept.id}", headers=headers).status_code == 200
    assert len(recall["hits"]) == 1
    assert home.space("acme").get(kept.id, touch=False).access.last_at is None
    assert home.space("acme").store.recall_entry(recall["id"]) is None


def test_figures_need_a_key_for_the_whole_store(serve: Serve, key: MakeKey) -> None:
    """They are about all tenants."""
    some, all_ = key("admin", "acme"), key("admin")
    with serve() as http:
        assert http.get("/metrics").status_code == 401
        assert http.get("/metrics", headers=some).status_code == 403
        assert http.get("/metrics", headers=all_).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7677", "localhost.evil.example", ""])
def test_a_name_that_is_not_ours_is_refused(host: str, http: TestClient) -> None:
    """A page that rebinds its name to this machine gets nothing, not even health."""
    for path in ("/v1/spaces", "/health/live", "/docs", "/nothing"):
        assert http.get(path, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:7677", "[::1]:7677", "10.0.0.7", "LOCALHOST:1"])
def test_own_names_and_plain_addresses_are_answered(host: str, http: TestClient) -> None:
    """An address cannot be rebound."""
    assert http.get("/v1/spaces", headers={"Host": host}).status_code == 200


def test_names_count_only_with_keys(serve: Serve, key: MakeKey) -> None:
    """A configured name does not open a server that has no keys."""
    with serve(hosts=("memory.example",)) as http:
        assert http.get("/v1/spaces", headers={"Host": "memory.example"}).status_code == 421
        headers = {**key("read"), "Host": "memory.example"}
        assert http.get("/v1/spaces", headers=headers).status_code == 200


def test_origins_are_closed_unless_opened(serve: Serve) -> None:
    """A page from elsewhere is refused; one that was let in gets CORS headers, also before it asks."""
    page = {"Origin": "https://app.example"}
    asking = {**page, "Access-Control-Request-Method": "POST"}
    with serve() as http:
        assert http.get("/v1/spaces", headers=page).status_code == 403
        assert http.get("/v1/spaces", headers={"Origin": "null"}).status_code == 403
        assert http.options("/v1/spaces", headers=asking).status_code == 403
        assert http.get("/v1/spaces", headers={"Origin": "http://127.0.0.1:7677"}).status_code == 200
        assert "Access-Control-Allow-Origin" not in http.get("/v1/spaces").headers
    with serve(origins=("https://app.example",)) as http:
        answer = http.get("/v1/spaces", headers=page)
        assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"
        assert answer.headers["Vary"] == "Origin"
        before = http.options("/v1/spaces", headers=asking)
        assert before.status_code == 204
        assert "Authorization" in before.headers["Access-Control-Allow-Headers"]


def test_every_answer_has_security_headers(http: TestClient) -> None:
    """Also errors, and none of them allows inline script."""
    for path in ("/v1/spaces", "/nothing", "/health/live"):
        headers = http.get(path).headers
        assert "unsafe-inline" not in headers["Content-Security-Policy"]
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Cache-Control"] == "no-store"


def test_rates_hold_per_key(serve: Serve, key: MakeKey) -> None:
    """A key that asks too often waits; another one does not."""
    slow, other = key("read", rate=6), key("read")
    with serve() as http:
        assert http.get("/v1", headers=slow).status_code == 200
        refused = http.get("/v1", headers=slow)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["Retry-After"]) <= 10
        assert http.get("/v1", headers=other).status_code == 200


def test_denials_are_counted_and_noted_without_keys_or_text(
    serve: Serve, key: MakeKey, caplog: pytest.LogCaptureFixture
) -> None:
    """The audit says who, why and when; never the secret or what was asked."""
    headers = key("read", "acme")
    with caplog.at_level(logging.WARNING, "retentive.audit"), serve() as http:
        http.post("/v1/spaces/other/recall", json={"cue": "the secret question"}, headers=headers)
        http.get("/v1", headers={"Authorization": "Bearer rtv_wrong"})
        figures = http.get("/metrics", headers=key("admin")).text
    assert 'retentive_denials_total{reason="space"} 1.0' in figures
    assert 'retentive_denials_total{reason="bad key"} 1.0' in figures
    facts = [record.facts for record in caplog.records]  # type: ignore[attr-defined]
    assert [fact["reason"] for fact in facts] == ["space", "bad key"]
    told = json.dumps(facts)
    assert "secret question" not in told
    assert headers["Authorization"].removeprefix("Bearer ") not in told
    assert "rtv_" not in told


async def who(scope: Scope, receive: Receive, send: Send) -> None:
    """Tell what the caller may do."""
    grant = grant_of(scope)
    await PlainTextResponse(f"{grant.right} {grant.prefixes}")(scope, receive, send)


def test_other_applications_stand_behind_the_same_guard(serve: Serve, key: MakeKey) -> None:
    """A private one gets the caller's grant; a public one at the root opens neither it nor the API."""
    headers = key("write", "acme")
    with serve(mounts=[Mounted("/mcp", who), Mounted("/", who, public=True)]) as http:
        assert http.get("/mcp").status_code == 401
        assert http.get("/mcp", headers=headers).text == "write ('acme',)"
        assert http.get("/", headers=headers).text == "read ()"
        assert http.get("/page.html").status_code == 200
        assert http.get("/v1/spaces").status_code == 401
        assert http.get("/metrics").status_code == 401
        assert http.get("/mcp", headers={"Host": "evil.example", **headers}).status_code == 421


def test_whoever_came_by_another_way_has_no_grant() -> None:
    """An application that is not behind the guard lets nobody do anything."""
    with pytest.raises(Forbidden, match="guard"):
        grant_of({"type": "http"})


def test_a_server_is_not_opened_to_others_without_keys(home: Any, ring: KeyRing, key: MakeKey) -> None:
    """It refuses to start, and says how; on this machine it says what that means."""
    wide = Service(home, ring, ServeSettings(host="0.0.0.0"))  # noqa: S104 -- what is tested is that it is refused
    here = Service(home, ring)
    with pytest.raises(InvalidInput, match="keys create"):
        check_exposure(wide)
    check_exposure(here)
    assert "no keys" in greeting(here)[1]
    key("read")
    check_exposure(wide)
    assert "needs a key" in greeting(here)[1]
    wide.close()
    here.close()
