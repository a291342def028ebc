"""Every write takes an Idempotency-Key: asked for again it is not done again, whichever it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from retentive import Retentive, Space
from retentive.jobs import enqueue
from retentive.once import PREFIX
from retentive.server.app import OPERATIONS
from retentive.server.operations import Operation
from retentive.server.pools import Pool
from retentive.server.refusals import TooSlow

ALICE = "/v1/spaces/acme%2Falice"
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEY = {"Idempotency-Key": "one"}
Asked = tuple[str, dict[str, Any] | None]


WRITES = [operation for operation in OPERATIONS if operation.writes]


def test_every_operation_that_writes_takes_a_key() -> None:
    """One that does not is a bug: a request that got no answer could not be sent again."""
    assert [operation.name for operation in WRITES if not operation.once] == []
    assert [operation.name for operation in OPERATIONS if operation.once and not operation.writes] == []


def seeded(space: Space) -> None:
    """Give a space something for every verb: a conflict, a repetition, a policy, a dead job, a recall."""
    space.remember("Alice works at Acme", at=NOW - timedelta(days=9))
    space.remember("Alice no longer works at Acme", at=NOW - timedelta(days=1))
    space.remember("Alice no longer works at Acme.", at=NOW)
    space.remember_many([f"The harbour of Lisbon, day {day}, was full of ships" for day in range(12)])
    space.find_conflicts()
    space.apply_policy("operational", "first")
    space.apply_policy("blend", "second")
    space.recall("harbour")
    with space.store.transaction() as tx:
        for number in range(2):
            job = enqueue(tx, "observe", NOW, payload={"number": number})
            tx.put_job(type(job)(**{**{name: getattr(job, name) for name in job.__slots__}, "state": "dead"}))


def conflict(space: Space, *statuses: str) -> str:
    return next(one.id for one in space.conflicts(status=None) if one.status in statuses)


def a_memory(space: Space) -> str:
    return f"{ALICE}/memories/{space.list().__getitem__(0).id}"


ASKED: dict[str, Callable[[Space], Asked]] = {
    "remember": lambda space: (f"{ALICE}/memories", {"text": "Moved to Porto"}),
    "remember_many": lambda space: (f"{ALICE}/memories/batch", {"memories": [{"text": "Moved to Porto"}]}),
    "update": lambda space: (a_memory(space), {"importance": 0.9}),
    "forget": lambda space: (a_memory(space), None),
    "forget_by": lambda space: (f"{ALICE}/forget", {"person": "Alice"}),
    "feedback": lambda space: (
        f"{ALICE}/feedback",
        {"recall_id": space.recalls()[0].id, "used": list(space.recalls()[0].ids[:1]), "outcome": "good"},
    ),
    "reflect": lambda space: (f"{ALICE}/reflect", {"force": True}),
    "observe": lambda space: (
        f"{ALICE}/observe",
        {"messages": [{"role": "user", "content": "I prefer tea in the morning."}], "session": "chat"},
    ),
    "rate": lambda space: (f"{ALICE}/rate", {"rater": "offline"}),
    "maintain": lambda space: (
        f"{ALICE}/maintain",
        {"rules": {"age_days": 1, "idle_days": 1, "strength": 100}},
    ),
    "run_jobs": lambda space: (f"{ALICE}/jobs/run", {"limit": 1}),
    "retry_jobs": lambda space: (f"{ALICE}/jobs/retry", {"ids": [space.jobs()[0].id]}),
    "drop_jobs": lambda space: (f"{ALICE}/jobs/drop", {"ids": [space.jobs()[0].id]}),
    "apply_policy": lambda space: (f"{ALICE}/policy", {"policy": "stream"}),
    "undo_policy": lambda space: (f"{ALICE}/policy", None),
    "adapt": lambda space: (f"{ALICE}/adaptation", {"on": True}),
    "find_conflicts": lambda space: (f"{ALICE}/conflicts/find", {"limit": 100}),
    "judge_conflicts": lambda space: (f"{ALICE}/conflicts/judge", {"limit": 1}),
    "accept": lambda space: (f"{ALICE}/conflicts/{conflict(space, 'open')}/accept", {}),
    "dismiss": lambda space: (f"{ALICE}/conflicts/{conflict(space, 'open', 'applied')}/dismiss", {}),
    "separate": lambda space: (f"{ALICE}/repetitions/{space.repetitions()[0].id}/separate", {}),
    "set_language": lambda space: (f"{ALICE}/language", {"language": "none"}),
    "import": lambda space: (f"{ALICE}/import", None),
    "drop": lambda space: (f"{ALICE}?reason=moved", None),
    "restore": lambda space: ("/v1/restore?replace=true", None),
}


def state(home: Retentive) -> dict[str, Any]:
    """Return all that a second request must not move."""
    space = home.space("acme/alice")
    settings = space.store.settings().items()
    return {
        "journal": [(line.action, line.memory_id) for line in space.journal()],
        "memories": [memory.version for memory in space.list(hidden=True, limit=500)],
        "jobs": [(job.id, job.state, job.attempts) for job in space.jobs()],
        "settings": {name: value for name, value in settings if not name.startswith(PREFIX)},
    }


@pytest.fixture
def llm_home(home: Retentive, request: pytest.FixtureRequest) -> Retentive:
    """The store, with something for every verb to do."""
    seeded(home.space("acme/alice"))
    return home


@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.name)
def test_asked_for_again_it_is_not_done_again(
    operation: Operation, llm_home: Retentive, http: TestClient, tmp_path: Path
) -> None:
    """The second answer is the first one, and nothing moved in between."""
    home, space = llm_home, llm_home.space("acme/alice")
    if operation.name == "accept":  # the one of the seed was sure enough to be applied at once
        one = space.conflicts(status="applied")[0]
        space.dismiss(one.id)
        with space.store.transaction() as tx:
            finding = tx.finding(one.id)
            assert finding is not None
            tx.put_finding(type(finding)(**{n: getattr(finding, n) for n in finding.__slots__} | {"status": "open"}))
    url, body = ASKED[operation.name](space)
    sent: dict[str, Any] = {} if body is None else {"json": body}
    if operation.upload:
        home.space("other").remember("from elsewhere")
        home.space("other").export(tmp_path / "other.jsonl")
        sent = {"content": (tmp_path / "other.jsonl").read_bytes()}
    if operation.name == "restore":
        sent = {"content": http.get("/v1/backup").content}
    first = http.request(operation.method, url, headers=KEY, **sent)
    if operation.name == "judge_conflicts":  # there is no model here: what fails is not noted, and may be tried again
        assert first.status_code == 422
        assert "takes a language model" in http.request(operation.method, url, headers=KEY, **sent).json()["detail"]
        return
    assert first.status_code in {200, 201, 204}, first.text
    if operation.name in {"drop", "restore"}:
        space.remember("written since")
    before = state(home)
    again = http.request(operation.method, url, headers=KEY, **sent)
    assert (again.status_code, state(home)) == (first.status_code, before)
    if operation.noted:
        assert again.headers["Idempotency-Replayed"] == "true"
    if operation.name not in {"update", "forget", "feedback"}:  # these tell how things stand
        assert settled(again) == settled(first)
    if body:
        other = {**body, "reason": "another"} if "reason" in (operation.body or {}).get("properties", {}) else None
        if other is not None:
            assert http.request(operation.method, url, headers=KEY, json=other).status_code == 422


def settled(answer: Any) -> Any:
    """Return an answer without what a note leaves out: words of a model or a memory that was refused."""
    if not answer.content:
        return None
    data = answer.json()
    return {name: part for name, part in data.items() if name not in {"refused", "questions"}}


def test_every_write_has_its_case() -> None:
    """A new operation that writes gets a line above."""
    assert {operation.name for operation in WRITES} == set(ASKED)


def test_a_note_holds_no_text(llm_home: Retentive, http: TestClient) -> None:
    """Insights come back as they stand now, from their ids; erased, they are nowhere."""
    first = http.post(f"{ALICE}/reflect", json={"force": True}, headers=KEY).json()
    assert first["insights"]
    space = llm_home.space("acme/alice")
    noted = json.dumps({name: value for name, value in space.store.settings().items() if name.startswith(PREFIX)})
    assert all(memory["text"] not in noted for memory in first["insights"])
    assert "harbour" not in noted
    space.forget(first["insights"][0]["id"], erase=True)
    again = http.post(f"{ALICE}/reflect", json={"force": True}, headers=KEY).json()
    assert again["fired"] is True
    texts = [memory["text"] for memory in again["insights"]]
    assert first["insights"][0]["text"] not in texts


def test_what_only_looks_is_not_noted(llm_home: Retentive, http: TestClient) -> None:
    """A dry run may be asked for under the same key with other words."""
    before = state(llm_home)
    assert http.post(f"{ALICE}/maintain", json={"dry_run": True}, headers=KEY).status_code == 200
    assert http.post(f"{ALICE}/maintain", json={"dry_run": True, "prune": False}, headers=KEY).status_code == 200
    assert state(llm_home) == before
    assert http.post(f"{ALICE}/jobs/run", json={}, headers=KEY).status_code == 200
    assert http.post("/v1/spaces/nobody/jobs/run", json={}, headers=KEY).status_code == 200
    assert "nobody" not in llm_home.spaces()


def test_a_key_stands_for_one_request(llm_home: Retentive, http: TestClient) -> None:
    """Also where the server keeps the note."""
    assert http.post(f"{ALICE}/rate", json={"rater": "offline"}, headers=KEY).status_code == 200
    assert http.post(f"{ALICE}/rate", json={"rater": "flat"}, headers=KEY).status_code == 422
    assert http.post(f"{ALICE}/maintain", json={}, headers=KEY).status_code == 422


def test_a_server_that_died_while_dropping(
    llm_home: Retentive, http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was made anew since is not dropped; what was not dropped yet is."""
    drop = llm_home.store.drop

    def dies(path: str) -> bool:
        raise RuntimeError("power cut")

    def drops_and_dies(path: str) -> bool:
        drop(path)
        raise RuntimeError("power cut")

    monkeypatch.setattr(llm_home.store, "drop", dies)
    assert http.delete(ALICE, headers=KEY).status_code == 500
    monkeypatch.setattr(llm_home.store, "drop", drops_and_dies)
    assert http.delete(ALICE, headers=KEY).status_code == 500
    assert llm_home.spaces() == []
    llm_home.space("acme/alice").remember("made anew since")
    monkeypatch.setattr(llm_home.store, "drop", drop)
    assert http.delete(ALICE, headers=KEY).json() == {"dropped": True}
    assert llm_home.spaces() == ["acme/alice"]
    assert http.delete(ALICE, headers={"Idempotency-Key": "two"}).json() == {"dropped": True}
    assert http.delete(ALICE, headers={"Idempotency-Key": "three"}).json() == {"dropped": False}
    llm_home.space("acme/alice").remember("once more")
    assert http.delete(ALICE, headers={"Idempotency-Key": "three"}).json() == {"dropped": False}


def test_dropping_where_nothing_can_be_noted(llm_home: Retentive, http: TestClient, tmp_path: Path) -> None:
    """Keys may lie on a disk that is read only: the space goes all the same."""
    (tmp_path / "done").write_text("no folder")
    assert http.delete(ALICE, headers=KEY).json() == {"dropped": True}


def test_the_same_work_waits_for_itself() -> None:
    """A second request under a key begins when the first has ended, also when nobody waits for that any more."""

    async def play() -> list[str]:
        pool = Pool("long", 2, 4, 0.2)
        loop = asyncio.get_running_loop()
        told: list[str] = []
        go = asyncio.Event()
        import threading

        gate = threading.Event()

        def slow() -> str:
            loop.call_soon_threadsafe(go.set)
            gate.wait(10)
            told.append("first")
            return "first"

        first = asyncio.ensure_future(pool.run(slow, turn="key"))
        await go.wait()
        assert await pool.run(lambda: "another", turn="other key") == "another"
        for _ in range(2):
            with pytest.raises(TooSlow):
                await pool.run(lambda: told.append("too early"), turn="key")
        with pytest.raises(TooSlow):
            await first
        gate.set()
        await pool.run(lambda: told.append("second"), turn="key")
        pool.close()
        return told

    assert asyncio.run(play()) == ["first", "second"]
