"""Every verb of the façade does over HTTP what it does in this process."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from retentive import Retentive
from retentive.policy import presets
from retentive.wire.answers import memory_data

ALICE = "/v1/spaces/acme%2Falice"


def remembered(http: TestClient, text: str = "Prefers Postgres for relational work", **fields: Any) -> dict[str, Any]:
    answer = http.post(f"{ALICE}/memories", json={"text": text, **fields})
    assert answer.status_code == 201, answer.text
    data: dict[str, Any] = answer.json()
    return data


def test_remember_keeps_every_field(http: TestClient, home: Retentive) -> None:
    """What comes back is what the store holds, and `Location` leads to it."""
    fields = {
        "kind": "preference",
        "importance": 0.9,
        "key": "database",
        "tags": ["stack"],
        "source": "turn:12",
        "metadata": {"ticket": 7},
        "at": "2026-04-01T12:00:00+02:00",
        "speaker": "Alice",
        "pinned": True,
        "recurs": None,
    }
    answer = http.post(f"{ALICE}/memories", json={"text": "Prefers Postgres", **fields})
    kept = home.space("acme/alice").get(answer.json()["id"], touch=False)
    assert answer.json() == memory_data(kept)
    assert kept.tags == ("stack",)
    assert kept.metadata == {"ticket": 7}
    assert http.get(answer.headers["Location"], params={"touch": "false"}).json() == memory_data(kept)


def test_remember_many_is_all_or_none(http: TestClient, home: Retentive) -> None:
    """A batch with one bad memory writes none; a good one all, in order."""
    good = {"memories": [{"text": "one"}, {"text": "two", "kind": "event"}]}
    bad = {"memories": [{"text": "three"}, {"text": "four", "kind": "no-such-kind"}]}
    assert http.post(f"{ALICE}/memories/batch", json=bad).status_code == 422
    assert home.spaces() == ["acme/alice"] or home.spaces() == []
    answer = http.post(f"{ALICE}/memories/batch", json=good)
    assert [memory["text"] for memory in answer.json()["memories"]] == ["one", "two"]
    assert len(home.space("acme/alice").list()) == 2


def test_recall_finds_explains_and_renders(http: TestClient, home: Retentive) -> None:
    """A recall has its arithmetic, on request its trace and a block for a prompt, and is noted in the ledger."""
    kept = remembered(http)
    remembered(http, "The cat is called Ada")
    answer = http.post(
        f"{ALICE}/recall", json={"cue": "Which Postgres?", "limit": 1, "trace": True, "render": "markdown"}
    ).json()
    hit = answer["hits"][0]
    assert hit["memory"]["id"] == kept["id"]
    assert abs(sum(signal["contribution"] for signal in hit["signals"].values()) - hit["score"]) < 1e-9
    assert answer["trace"]["work"]["candidates"] == 2
    assert "Prefers Postgres" in answer["rendered"]
    assert home.space("acme/alice").store.recall_entry(answer["id"]) is not None


def test_recall_takes_state_filters_and_a_policy_of_ones_own(http: TestClient) -> None:
    """Everything that recall takes in Python it takes here."""
    remembered(http, "Check the gates, then move tiers", kind="procedure", tags=["migration"], metadata={"ticket": 7})
    asked = {
        "state": {"goal": "move tiers", "step": "check the gates", "open_loops": [], "session": None},
        "utterance": "check the gates, then move tiers",
        "policy_toml": presets.get("focus").replace(limit=3).dump(),
        "kinds": ["procedure"],
        "tags": ["migration"],
        "where": {"ticket": 7},
        "since": "2026-01-01T00:00:00Z",
        "as_of": "2026-06-01T00:00:00Z",
        "now": "2026-06-01T00:00:00Z",
        "token_budget": 420,
    }
    answer = http.post(f"{ALICE}/recall", json=asked)
    assert answer.status_code == 200, answer.text
    assert answer.json()["policy"] == "focus"
    assert len(answer.json()["hits"]) == 1


def test_a_policy_is_never_read_from_the_servers_disk(http: TestClient, tmp_path: Path) -> None:
    """A name that is a path is an unknown name."""
    file = tmp_path / "mine.toml"
    file.write_text(presets.get("blend").dump(), "utf-8")
    answer = http.post(f"{ALICE}/recall", json={"cue": "x", "policy": str(file)})
    assert answer.status_code == 422
    assert "Unknown policy" in answer.json()["detail"]
    both = http.post(f"{ALICE}/recall", json={"cue": "x", "policy": "blend", "policy_toml": 'base = "blend"'})
    assert both.status_code == 422


def test_feedback_moves_importance(http: TestClient, home: Retentive) -> None:
    """What was used grows by at most five per cent."""
    kept = remembered(http)
    recall = http.post(f"{ALICE}/recall", json={"cue": "Postgres"}).json()
    answer = http.post(f"{ALICE}/feedback", json={"recall_id": recall["id"], "used": [kept["id"]], "outcome": "good"})
    assert answer.status_code == 204
    moved = home.space("acme/alice").get(kept["id"], touch=False).importance
    assert 0.5 < moved <= 0.5 * 1.05


def test_update_forget_and_what_is_told_of_them(http: TestClient) -> None:
    """A change, its history, the chain of a key, and the journal."""
    first = remembered(http, key="database")
    second = remembered(http, "Now prefers SQLite", key="database", at="2026-05-02T00:00:00Z")
    one = f"{ALICE}/memories/{second['id']}"
    changed = http.patch(one, json={"importance": 0.9, "source": None, "reason": "she said so"})
    assert changed.json()["importance"] == 0.9
    versions = http.get(f"{one}/history").json()["versions"]
    assert [version["action"] for version in versions] == ["remember", "update"]
    assert versions[1]["reason"] == "she said so"
    chain = http.get(f"{one}/chain").json()["memories"]
    assert [memory["id"] for memory in chain] == [first["id"], second["id"]]
    assert http.delete(one, params={"erase": "true", "reason": "asked to"}).status_code == 204
    assert http.get(one).status_code == 404
    actions = [line["action"] for line in http.get(f"{one}/journal").json()["entries"]]
    assert actions == ["remember", "update", "erase"]
    entries = http.get(f"{ALICE}/journal").json()["entries"]
    assert [line["action"] for line in entries[-2:]] == ["erase", "certificate"]
    assert len(entries) == 6


def test_forget_by_source_and_person(http: TestClient) -> None:
    """A dry run first, then all of it; nothing of the kind is not found, two ways at once are refused."""
    ids = {remembered(http, f"We met Bob Miller {i} times", source="chat:7")["id"] for i in range(2)}
    dry = http.post(f"{ALICE}/forget", json={"source": "chat:7", "erase": True, "dry_run": True}).json()
    assert (set(dry["ids"]), dry["dry_run"]) == (ids, True)
    done = http.post(f"{ALICE}/forget", json={"person": "Bob Miller", "erase": True}).json()
    assert (set(done["ids"]), done["erased"], done["complete"]) == (ids, True, True)
    assert http.post(f"{ALICE}/forget", json={"source": "chat:7"}).status_code == 404
    assert http.post(f"{ALICE}/forget", json={"source": "a", "person": "b"}).status_code == 422


def test_list_pages_and_filters(http: TestClient) -> None:
    """Cursors lead through everything once; filters apply before the limit."""
    for day in range(1, 8):
        kind = "event" if day % 2 else "fact"
        remembered(http, f"day {day}", kind=kind, at=f"2026-03-0{day}T00:00:00Z", metadata={"day": day})
    seen: list[str] = []
    cursor: str | None = None
    while True:
        parameters = {"limit": "2", "kinds": "event", **({"cursor": cursor} if cursor else {})}
        page = http.get(f"{ALICE}/memories", params=parameters).json()
        seen += [memory["text"] for memory in page["memories"]]
        if (cursor := page["cursor"]) is None:
            break
    assert seen == ["day 7", "day 5", "day 3", "day 1"]
    where = http.get(f"{ALICE}/memories", params={"where": '{"day": 3}'}).json()["memories"]
    assert [memory["text"] for memory in where] == ["day 3"]


def test_export_and_import_carry_everything(http: TestClient, home: Retentive) -> None:
    """What was exported over HTTP is imported into another space; again, it changes nothing."""
    for number in range(30):
        remembered(http, f"fact number {number}")
    export = http.get(f"{ALICE}/export")
    assert export.headers["Retentive-Memories"] == "30"
    assert json.loads(export.text.splitlines()[0])["space"] == "acme/alice"
    first = http.post("/v1/spaces/acme%2Fbob/import", content=export.content)
    assert first.json()["added"] == 30
    again = http.post("/v1/spaces/acme%2Fbob/import", content=export.content)
    assert (again.json()["added"], again.json()["same"]) == (0, 30)
    assert len(home.space("acme/bob").list(limit=100)) == 30


def test_an_import_tells_how_far_it_is(http: TestClient) -> None:
    """Who accepts lines gets progress, then the result; a damaged file ends in a problem."""
    remembered(http)
    content = http.get(f"{ALICE}/export").content
    lines = {"Accept": "application/x-ndjson"}
    told = http.post("/v1/spaces/acme%2Fbob/import", content=content, headers=lines).text.splitlines()
    assert json.loads(told[-1])["result"]["added"] == 1
    damaged = http.post("/v1/spaces/acme%2Fbob/import", content=content[:-5], headers=lines).text.splitlines()
    assert json.loads(damaged[-1])["error"] == "InvalidInput"


def test_upkeep_and_reflection(http: TestClient) -> None:
    """Maintenance counts, dry or not; reflection says whether it is due."""
    remembered(http)
    dry = http.post(f"{ALICE}/maintain", json={"dry_run": True, "rules": {"age_days": 0, "superseded_days": None}})
    assert dry.json()["dry_run"] is True
    assert http.post(f"{ALICE}/maintain", json={"prune": False}).json()["counts"]["re_embedded"] == 0
    assert http.post(f"{ALICE}/reflect", json={"dry_run": True}).json()["fired"] is False
    assert http.get(f"{ALICE}/shaken").json() == {"shaken": []}


def test_spaces_policies_and_about(http: TestClient, home: Retentive) -> None:
    """What there is, page by page; and what is dropped is gone."""
    for name in ("acme/alice", "acme/bob", "büro/äöü"):
        home.space(name).remember("something")
    first = http.get("/v1/spaces", params={"limit": 2}).json()
    second = http.get("/v1/spaces", params={"limit": 2, "cursor": first["cursor"]}).json()
    assert [*first["spaces"], *second["spaces"]] == ["acme/alice", "acme/bob", "büro/äöü"]
    assert second["cursor"] is None
    assert http.delete("/v1/spaces/b%C3%BCro%2F%C3%A4%C3%B6%C3%BC").json() == {"dropped": True}
    assert home.spaces() == ["acme/alice", "acme/bob"]
    names = [policy["name"] for policy in http.get("/v1/policies").json()["policies"]]
    assert names == list(presets.names())
    assert http.get("/v1/policies/blend").json()["toml"] == presets.get("blend").dump()
    about = http.get("/v1").json()
    assert about["embedder"] == home.embedder.id
    assert about["key"] == {"id": "", "right": "admin", "spaces": None}


def test_the_stores_caches_are_counted(http: TestClient, home: Retentive) -> None:
    """A space that is open, and columns that are at hand, against those that had to be read anew."""
    remembered(http)
    for _ in range(3):
        http.post(f"{ALICE}/recall", json={"cue": "Postgres"})
    home.store.close()  # as the least recently used space is
    http.post(f"{ALICE}/recall", json={"cue": "Postgres"})
    figures = http.get("/metrics").text
    looks = dict(re.findall(r'^retentive_store_cache_total\{(cache="\w+",found="\w+")\} (\S+)$', figures, re.MULTILINE))
    assert float(looks['cache="spaces",found="no"']) == 2
    assert float(looks['cache="spaces",found="yes"']) > 5
    assert float(looks['cache="columns",found="no"']) + float(looks['cache="columns",found="part"']) >= 2
    assert float(looks['cache="columns",found="yes"']) >= 1


def test_health_and_metrics(http: TestClient) -> None:
    """Alive, ready, and counted by operation and stage; no space and no text is in the figures."""
    remembered(http)
    http.post(f"{ALICE}/recall", json={"cue": "Postgres"})
    assert http.get("/health/live").json() == {"status": "live"}
    assert http.get("/health/ready").json() == {"status": "ready"}
    figures = http.get("/metrics").text
    assert 'retentive_requests_total{operation="recall",status="200"} 1.0' in figures
    assert 'retentive_stage_seconds_count{operation="recall",stage="work"} 1.0' in figures
    assert 'retentive_queue_depth{lane="short"} 0.0' in figures
    for stage in ("cue", "gate", "channel:vector", "channel:lexical", "evidence", "rank", "select", "read", "write"):
        assert f'retentive_recall_stage_seconds_count{{stage="{stage}"}} 1.0' in figures
    assert "acme" not in figures
    assert "Postgres" not in figures
