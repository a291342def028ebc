"""The inspector's files and what its scoreboard asks, without a browser."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from retentive import Retentive
from retentive.inspector.board import saved
from retentive.inspector.pages import inspector_mounts
from retentive.server.app import application
from retentive.server.keys import KeyRing
from retentive.server.service import Service
from retentive.server.settings import ServeSettings
from retentive.testing.fakes import HashEmbedder

STATIC = Path(str(files("retentive.inspector") / "static"))
FILES = sorted(path for path in STATIC.rglob("*") if path.is_file())


@pytest.fixture
def service(tmp_path: Path) -> Service:
    home = Retentive(tmp_path / "store", embedder=HashEmbedder())
    return Service(home, KeyRing(tmp_path / "keys.json"), ServeSettings(worker=False))


def client(service: Service, reports: Path | None = None) -> TestClient:
    app = application(service, mounts=inspector_mounts(service, reports))
    return TestClient(app, base_url="http://127.0.0.1:7677", client=("127.0.0.1", 50_000))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_comes_from_elsewhere_and_nothing_is_inline(path: Path) -> None:
    """No host but the page's own, no inline script or style, and no way from text to markup."""
    text = path.read_text("utf-8")
    assert set(re.findall(r"https?://([^/\s\"']+)", text)) <= {"www.w3.org"}
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "style="):
        assert way not in text, way
    assert not re.search(r"\son\w+\s*=\s*[\"']", text)


def test_every_import_is_there() -> None:
    """A file that a page imports lies where it says."""
    for path in STATIC.rglob("*.js"):
        for name in re.findall(r'from "(\.[^"]+)"', path.read_text("utf-8")):
            assert (path.parent / name).is_file(), f"{path.name} imports {name}"


def test_the_pages_are_open_and_what_they_ask_is_not(service: Service) -> None:
    """Without a key the frame loads and nothing of a memory does."""
    _, key = service.keys.create(right="read", spaces=["acme"], now=service.home.now())
    with client(service) as http:
        assert http.get("/").headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert http.get("/views/search.js").status_code == 200
        for method, path in (("POST", "/inspector/scenarios"), ("GET", "/inspector/reports"), ("GET", "/v1/spaces")):
            assert http.request(method, path).status_code == 401, path
        bound = {"Authorization": f"Bearer {key}"}
        assert http.get("/inspector/reports", headers=bound).status_code == 403
        assert http.get("/../../etc/passwd").status_code == 404


def test_saved_runs_are_listed_and_what_is_none_is_not(service: Service, tmp_path: Path) -> None:
    """Figures of whole runs, the latest first."""
    row = {"policy": "retentive", "touched": True, "category": "overall", "ndcg@10": 0.5, "any@5": 0.7, "mrr": 0.4}
    for name, text in (
        ("good", json.dumps({"dataset": "locomo", "rows": [row, {**row, "category": "temporal"}]})),
        ("cut", "{"),
        ("other", "[]"),
    ):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "results.json").write_text(text, "utf-8")
    assert saved(None) == {"reports": [], "folder": None}
    with client(service, tmp_path / "runs") as http:
        found = http.get("/inspector/reports").json()
    assert [run["name"] for run in found["reports"]] == ["good"]
    assert found["reports"][0]["rows"] == [{"policy": "retentive +touch", "ndcg": 0.5, "any5": 0.7, "mrr": 0.4}]


def test_the_scenarios_are_played(service: Service) -> None:
    """All of them, on this installation."""
    with client(service) as http:
        verdicts = http.post("/inspector/scenarios").json()["scenarios"]
    assert len(verdicts) > 35
    assert {verdict["outcome"] for verdict in verdicts} == {"pass"}
