"""Write the answers that the OpenAPI document shows: those of a real server over a small life, shortened.

    python scripts/openapi_examples.py

Run it after operations or answers change; a test holds every example to its schema, and every operation to having one.
"""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from retentive import Retentive, Space
from retentive.jobs import enqueue
from retentive.judging import Judged
from retentive.server.app import OPERATIONS, application
from retentive.server.keys import KeyRing
from retentive.server.operations import Operation
from retentive.server.service import Service
from retentive.server.settings import ServeSettings
from retentive.testing.fakes import HashEmbedder
from retentive.wire.values import written

TARGET = Path(__file__).resolve().parents[1] / "src/retentive/server/examples.json"
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEPT = 2  # entries of a list that are shown


def seeded(space: Space) -> None:
    space.remember("Alice works at Acme", kind="fact", at=NOW - timedelta(days=9))
    before = NOW - timedelta(days=8)
    space.remember("Prefers Postgres for relational work", kind="preference", key="database", at=before)
    space.remember("Alice no longer works at Acme", kind="fact", at=NOW - timedelta(days=1))
    space.remember("Alice no longer works at Acme.", kind="fact", at=NOW)
    space.remember_many([f"The harbour of Lisbon, day {day}, was full of ships" for day in range(12)])
    space.remember("Prefers SQLite for small work", kind="preference", key="database", source="chat:7")
    space.find_conflicts()
    space.recall("harbour")
    with space.store.transaction() as tx:
        enqueue(tx, "translate", NOW, payload={"to": "pt"})


def of(operation: Operation, space: Space) -> dict[str, str]:
    """Return what the ids in a path may be."""
    if operation.path.startswith("/v1/policies"):
        return {"name": "blend"}
    if "/conflicts/" in operation.path:
        return {"id": space.conflicts(status=None)[0].id}
    if "/repetitions/" in operation.path:
        return {"id": space.repetitions()[0].id}
    if "/recalls/" in operation.path:
        return {"id": space.recalls()[0].id}
    return {"id": next(memory.id for memory in space.list() if memory.key == "database")}


def shortened(value: Any) -> Any:
    if isinstance(value, list):
        return [shortened(part) for part in value[: 2 * KEPT if value and not isinstance(value[0], dict) else KEPT]]
    return {name: shortened(part) for name, part in value.items()} if isinstance(value, dict) else value


def answered(operation: Operation, folder: Path) -> Any:
    """Ask one operation of a server of its own."""
    if operation.name == "judge_conflicts":
        return written(Judged(left=1))  # it takes a language model
    with Retentive(folder / "store", embedder=HashEmbedder(16), clock=lambda: NOW) as home:
        space = home.space("acme/alice")
        seeded(space)
        if operation.name == "accept":
            space.dismiss(space.conflicts(status=None)[0].id)
        if operation.name in {"undo_policy", "space_policy"}:
            space.apply_policy("operational", "what this team asks for")
            space.apply_policy("blend")
        if operation.name.startswith("certificates"):
            home.drop("acme/alice", reason="contract ended")
        service = Service(home, KeyRing(folder / "keys.json"), ServeSettings(worker=False))
        with TestClient(application(service), base_url="http://127.0.0.1", client=("127.0.0.1", 1)) as http:
            return _asked(operation, http, home, folder)


def _asked(operation: Operation, http: TestClient, home: Retentive, folder: Path) -> Any:
    space, path = home.space("acme/alice"), operation.path.replace("{space}", "acme%2Falice")
    if "{id}" in path or "{name}" in path:
        for name, value in of(operation, space).items():
            path = path.replace(f"{{{name}}}", value)
    more: dict[str, Any] = {}
    if operation.body is not None:
        more["json"] = {**operation.example, **MORE.get(operation.name, {})}
    if operation.name == "import":
        home.space("other").remember("From elsewhere")
        home.space("other").export(folder / "other.jsonl")
        more["content"] = (folder / "other.jsonl").read_bytes()
    if operation.name == "restore":
        more = {"content": http.get("/v1/backup").content, "params": {"replace": "true"}}
    answer = http.request(operation.method, path, **more)
    if operation.name == "accept":
        return {**http.get("/v1/spaces/acme%2Falice/conflicts?status=all").json()["conflicts"][0], "status": "accepted"}
    if answer.status_code != operation.status:
        raise SystemExit(f"{operation.name}: {answer.text}")
    return answer.json()


MORE: dict[str, dict[str, Any]] = {
    "reflect": {"dry_run": False, "force": True},
    "observe": {"dry_run": False},
    "maintain": {"rules": {"age_days": 1, "idle_days": 1, "strength": 100}},
}


def main() -> None:
    found = {}
    for operation in OPERATIONS:
        if operation.answers is None or operation.answer_example is not None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found[operation.name] = shortened(answered(operation, Path(folder)))
    TARGET.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"Wrote {TARGET}")


if __name__ == "__main__":
    main()
