"""Asking again, and changing what one has seen: idempotency keys and ETags."""

from __future__ import annotations

from starlette.testclient import TestClient

from retentive import Retentive

ALICE = "/v1/spaces/acme%2Falice"
ONE = {"Idempotency-Key": "turn-12"}


def test_a_write_that_is_asked_for_twice_happens_once(http: TestClient, home: Retentive) -> None:
    """Remembering, in a batch or alone, feedback, changing and forgetting."""
    first = http.post(f"{ALICE}/memories", json={"text": "Prefers Postgres"}, headers=ONE)
    again = http.post(f"{ALICE}/memories", json={"text": "Prefers Postgres"}, headers=ONE)
    assert first.json() == again.json()
    other = http.post(f"{ALICE}/memories", json={"text": "Prefers MySQL"}, headers=ONE)
    assert other.status_code == 422
    batch = {"memories": [{"text": "one"}, {"text": "two"}]}
    for _ in range(2):
        assert http.post(f"{ALICE}/memories/batch", json=batch, headers={"Idempotency-Key": "b"}).status_code == 201
    recall = http.post(f"{ALICE}/recall", json={"cue": "Postgres"}).json()
    given = {"recall_id": recall["id"], "used": [first.json()["id"]], "outcome": "good"}
    for _ in range(2):
        assert http.post(f"{ALICE}/feedback", json=given, headers={"Idempotency-Key": "f"}).status_code == 204
    one = f"{ALICE}/memories/{first.json()['id']}"
    for _ in range(2):
        assert http.patch(one, json={"importance": 0.9}, headers={"Idempotency-Key": "u"}).status_code == 200
    for _ in range(2):
        assert http.delete(one, headers={"Idempotency-Key": "d"}).status_code == 204
    actions = [line.action for line in home.space("acme/alice").journal()]
    assert actions == ["remember", "remember", "remember", "feedback", "update", "forget"]


def test_etags_stand_for_what_a_memory_says(http: TestClient) -> None:
    """The same after reading, another after a change; what is known is not sent again."""
    made = http.post(f"{ALICE}/memories", json={"text": "Prefers Postgres"})
    one, tag = made.headers["Location"], made.headers["ETag"]
    assert tag == f'"{made.json()["version"]}"'
    assert http.get(one).headers["ETag"] == tag
    known = http.get(one, headers={"If-None-Match": tag})
    assert (known.status_code, known.content) == (304, b"")
    assert 'retentive_cache_total{cache="etag",found="yes"} 1.0' in http.get("/metrics").text
    changed = http.patch(one, json={"importance": 0.9}, headers={"If-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["ETag"] != tag
    assert http.get(one, headers={"If-None-Match": tag}).status_code == 200


def test_a_change_to_what_was_not_seen_is_refused(http: TestClient) -> None:
    """With 412 and the current version; `*` and a list with the current one pass."""
    made = http.post(f"{ALICE}/memories", json={"text": "Prefers Postgres"})
    one, tag = made.headers["Location"], made.headers["ETag"]
    current = http.patch(one, json={"importance": 0.9}).headers["ETag"]
    late = http.patch(one, json={"importance": 0.1}, headers={"If-Match": tag})
    assert late.status_code == 412
    assert late.json()["details"]["version"] == current.strip('"')
    assert http.delete(one, headers={"If-Match": tag}).status_code == 412
    assert http.delete(one, headers={"If-Match": f'{tag}, "other"'}).status_code == 412
    assert http.patch(one, json={"importance": 0.8}, headers={"If-Match": f"{tag}, {current}"}).status_code == 200
    assert http.delete(one, headers={"If-Match": "*"}).status_code == 204
