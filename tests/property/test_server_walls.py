"""Nobody reads or moves another tenant's memories: not by any route, parameter, id, cursor, header or import."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason="the extra 'server' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'server' is not installed")

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from retentive import Retentive, Space
from retentive.jobs import enqueue
from retentive.server.app import OPERATIONS, application
from retentive.server.keys import KeyRing
from retentive.server.operations import Operation
from retentive.server.service import Service
from retentive.server.settings import ServeSettings
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
CANARY = "canary"
OURS = "acme/alice"
THEIRS = ("acme/bob", "acme/alice-2", "acme", "acme/alicе", "other/deep/down")
BLIND = [operation for operation in OPERATIONS if operation.in_space]


@dataclass(frozen=True)
class Place:
    """A server with several tenants, and everything an attacker might have got hold of about the others."""

    http: TestClient
    home: Retentive
    mine: dict[str, str]
    ids: list[str]
    recalls: list[str]
    cursors: list[dict[str, str]]  # by list
    exports: list[bytes]
    before: dict[str, bytes]
    folder: Path

    def state(self) -> dict[str, bytes]:
        """Everything that the others have, in bytes: also how often their memories were read."""
        return {space: exported(self.home, space, self.folder) for space in THEIRS}


def exported(home: Retentive, space: str, folder: Path) -> bytes:
    target = folder / "export.jsonl"
    home.space(space).export(target)
    return target.read_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Six tenants; the attacker has a key with every right, for one of them."""
    folder = tmp_path_factory.mktemp("walls")
    with Retentive(folder / "store", embedder=HashEmbedder(16), clock=lambda: NOW) as home:
        home.space(OURS).remember("mine alone", id="m1", key="database")
        ids, recalls, cursors = [], [], []
        for space in THEIRS:
            theirs = home.space(space)
            kept = theirs.remember_many([f"{CANARY} one of {space}", f"{CANARY} two of {space}", f"{CANARY} three"])
            theirs.remember(f"{CANARY} four", key="database", pinned=True, once="theirs")
            for firm in ("Acme", "Initech"):
                theirs.remember(f"{CANARY} works at {firm}", at=NOW - timedelta(days=2))
                theirs.remember(f"{CANARY} no longer works at {firm}", at=NOW - timedelta(days=1))
            ids += [memory.id for memory in kept]
            theirs.remember(f"{CANARY} no longer works at Acme.", at=NOW)
            theirs.remember(f"{CANARY} NO LONGER works at Acme!", at=NOW)
            theirs.find_conflicts()
            recalls.append([theirs.recall(CANARY).id for _ in range(2)][-1])
            with theirs.store.transaction() as transaction:
                for number in range(2):
                    enqueue(transaction, "translate", NOW, payload={"what": f"{CANARY} {number}"})
            cursors.append({name: str(page.cursor) for name, page in pages_of(theirs).items()})
        before = {space: exported(home, space, folder) for space in THEIRS}
        ring = KeyRing(folder / "keys.json")
        _, secret = ring.create(right="admin", spaces=[OURS], now=NOW)
        service = Service(home, ring, ServeSettings(rate=1e9, threads=2, worker=False))
        mine = {"Authorization": f"Bearer {secret}"}
        with TestClient(application(service), base_url="http://127.0.0.1", client=("127.0.0.1", 1)) as http:
            exports = [stripped(raw) for raw in before.values()]
            yield Place(http, home, mine, ids, recalls, cursors, exports, before, folder)


def pages_of(space: Space) -> dict[str, Any]:
    """The first page of each list of a space, as short as may be, by its operation."""
    return {
        "list_memories": space.list(limit=1),
        "recalls": space.recalls(limit=1),
        "list_jobs": space.jobs(limit=1),
        "conflicts": space.conflicts(limit=1, status=None),
        "repetitions": space.repetitions(limit=1),
    }


def stripped(raw: bytes) -> bytes:
    """An export as an attacker could forge it: names another space, holds no text of theirs."""
    return raw.replace(CANARY.encode(), b"forged")


SEGMENTS = [
    *(quote(space, safe="") for space in (*THEIRS, OURS, OURS, OURS)),
    "acme%2Falice%2F..%2Fbob",
    "acme%2Falice%2F%2E%2E%2Fbob",
    "acme%2falice%252F..%252Fbob",
    "acme%2Falice%00",
    "acme%2FALICE",
    "..%2Facme%2Fbob",
    "%2Facme%2Fbob",
    "acme/bob",
    "%61cme%2Fbob",
    "acme%2Fbob%3F",
    "acme%5Cbob",
]
HEADERS = [
    {},
    {"X-Original-URL": "/v1/spaces/acme%2Fbob/memories"},
    {"X-Space": "acme/bob"},
    {"X-Forwarded-For": "::1"},
    {"Idempotency-Key": "theirs"},
    {"If-Match": "*"},
]


@st.composite
def attacks(draw: st.DrawFn) -> tuple[Operation, str, int, int, dict[str, str]]:
    """One request: an operation, a space as it might be written, and which of their things it names."""
    operation = draw(st.sampled_from(BLIND))
    return (
        operation,
        draw(st.sampled_from(SEGMENTS)),
        draw(st.integers(0, 14)),
        draw(st.integers(0, 4)),
        draw(st.sampled_from(HEADERS)),
    )


def body_for(operation: Operation, place: Place, stolen: str, tenant: int) -> Any:
    """The body that names most of what is theirs."""
    theirs = THEIRS[tenant]
    bodies: dict[str, Any] = {
        "remember": {"text": "x", "id": stolen, "derived_from": [stolen], "key": "database"},
        "remember_many": {"memories": [{"text": "x", "supersedes": [stolen]}]},
        "update": {"text": "overwritten", "key": "database"},
        "recall": {"cue": CANARY, "shared": theirs, "trace": True, "render": "xml", "where": {"space": theirs}},
        "why_not": {"cue": CANARY},
        "feedback": {"recall_id": place.recalls[tenant], "used": [stolen], "outcome": "bad"},
        "observe": {"messages": [{"role": "user", "content": "I like tea"}], "session": theirs},
        "retry_jobs": {"ids": [stolen]},
        "drop_jobs": {"ids": [stolen]},
        "apply_policy": {"policy": "blend"},
        "forget_by": {"ids": [stolen], "erase": True} if tenant % 2 else {"person": CANARY, "derived": True},
        "reflect": {"force": True},
        "maintain": {"rules": {"age_days": 0, "idle_days": 0, "strength": 100}},
        "rate": {"rater": "offline"},
        "find_conflicts": {"limit": 1000},
    }
    return bodies.get(operation.name, {})


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(attack=attacks())
def test_no_request_reaches_another_space(attack: tuple[Any, ...], place: Place) -> None:
    """Whatever is answered, nothing of theirs is in it; whatever is done, nothing of theirs has moved."""
    operation, segment, which, tenant, headers = attack
    stolen = place.ids[which]
    path = operation.path.replace("{space}", segment).replace("{id}", quote(stolen, safe=""))
    query = {"cursor": place.cursors[tenant][operation.name]} if operation.name in place.cursors[tenant] else {}
    more: dict[str, Any] = {}
    if operation.name == "list_memories":
        query["hidden"] = "true"
        query["where"] = json.dumps({"space": THEIRS[tenant]})
    if operation.name in {"export", "get"}:
        query["known_as_of"] = NOW.isoformat()
    if operation.upload:
        more["content"] = place.exports[tenant]
        query["on_conflict"] = "replace"
    elif operation.body is not None:
        more["json"] = body_for(operation, place, stolen, tenant)
    answer = place.http.request(operation.method, path, params=query, headers={**headers, **place.mine}, **more)
    event(f"{operation.name} {answer.status_code}")
    assert answer.status_code < 500
    echoed = answer.text.replace(json.dumps(CANARY), "").replace(repr(CANARY), "")  # our own word, as we sent it
    assert CANARY not in echoed
    assert place.state() == place.before


WHOLE = [operation for operation in OPERATIONS if operation.right and not operation.in_space]


@pytest.mark.parametrize("operation", WHOLE, ids=lambda operation: operation.name)
def test_what_concerns_all_spaces_needs_a_key_for_all(operation: Operation, place: Place) -> None:
    """Every right for one space is none for the store: backups, restoring, what is left of spaces that were."""
    more: dict[str, Any] = {"content": place.exports[0]} if operation.upload else {}
    answer = place.http.request(operation.method, operation.path, headers=place.mine, **more)
    assert answer.status_code == 403
    assert place.state() == place.before


@pytest.mark.parametrize("name", ["recalls", "list_jobs", "conflicts", "repetitions"])
@pytest.mark.parametrize("tenant", range(len(THEIRS)))
def test_a_cursor_of_another_space_is_refused(name: str, tenant: int, place: Place) -> None:
    """It says where their list goes on; ours has no such place. In their space it would go on."""
    (path,) = (operation.path for operation in OPERATIONS if operation.name == name)
    cursor = place.cursors[tenant][name]
    query = {"cursor": cursor, **({"status": "all"} if name == "conflicts" else {})}
    assert cursor != "None"
    answer = place.http.get(path.replace("{space}", quote(OURS, safe="")), params=query, headers=place.mine)
    assert (answer.status_code, answer.json()["error"]) == (422, "InvalidInput")
    assert CANARY not in answer.text
    verb = {"list_jobs": "jobs"}.get(name, name)
    more: dict[str, Any] = {"status": None} if name == "conflicts" else {}
    assert getattr(place.home.space(THEIRS[tenant]), verb)(cursor=cursor, **more)


def test_lists_and_figures_name_nobody_else(place: Place) -> None:
    """Neither page by page, nor by a forged cursor, nor in the figures."""
    for cursor in ("", "YQ==", "AAAA", quote("acme/alica")):
        told = place.http.get("/v1/spaces", params={"cursor": cursor} if cursor else {}, headers=place.mine)
        assert set(told.json().get("spaces", [])) <= {OURS}
    assert place.http.get("/metrics", headers=place.mine).status_code == 403
    assert "bob" not in place.http.get("/health/ready").text


def test_the_attack_is_not_blunt(place: Place) -> None:
    """The owner's own key does read the canary: the test would see one that got out."""
    ring = KeyRing(place.folder / "keys.json")
    _, secret = ring.create(right="read", spaces=["acme/bob"], now=NOW)
    theirs = {"Authorization": f"Bearer {secret}"}
    told = place.http.post("/v1/spaces/acme%2Fbob/recall", json={"cue": CANARY}, headers=theirs)
    assert CANARY in told.text.replace(f'"cue":"{CANARY}"', "")
