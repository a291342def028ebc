"""The document says what the server does: it is complete, and what is asked as it says is answered as it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("schemathesis", reason="schemathesis is not installed")

import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from live_server import listening
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS
from starlette.testclient import TestClient

from retentive import Retentive, Space
from retentive.server.app import OPERATIONS, application
from retentive.server.keys import KeyRing
from retentive.server.openapi import document
from retentive.server.service import Service
from retentive.server.settings import ServeSettings
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
VERBS_ELSEWHERE = {"import_": "import", "list": "list_memories", "policy_in_force": "space_policy"}
VERBS_ELSEWHERE |= {"applied_policy": "space_policy", "jobs": "list_jobs"}


def test_every_verb_of_a_space_has_an_operation() -> None:
    """Under its own name, or the one it has to have here."""
    verbs = {name for name in dir(Space) if not name.startswith("_") and callable(getattr(Space, name))}
    known = {operation.name for operation in OPERATIONS}
    assert {VERBS_ELSEWHERE.get(name, name) for name in verbs} <= known


def test_every_operation_is_described_with_examples(http: TestClient) -> None:
    """Summary, parameters, body with an example, answer, and the problems it may end in."""
    told = http.get("/openapi.json").json()
    for operation in OPERATIONS:
        described = told["paths"][operation.path][operation.method.lower()]
        assert described["operationId"] == operation.name
        assert all(one["description"] for one in described["parameters"])
        assert {"400", "401", "403", "422", "429", "503"} <= set(described["responses"])
        if operation.body is not None:
            content = described["requestBody"]["content"]["application/json"]
            assert "example" in content, operation.name
            assert all(schema.get("description") for schema in content["schema"]["properties"].values())
    names = [one["operationId"] for methods in told["paths"].values() for one in methods.values()]
    assert len(names) == len(set(names))


def test_every_answer_is_shown_as_it_is() -> None:
    """Each operation that answers has an example of it, and the example is what its schema says."""
    told = json.loads(json.dumps(document(OPERATIONS)))
    for operation in OPERATIONS:
        if operation.answers is None:
            continue
        answer = told["paths"][operation.path][operation.method.lower()]["responses"][str(operation.status)]
        content = answer["content"]["application/json"]
        assert "example" in content, f"{operation.name}: run scripts/openapi_examples.py"
        checked = Draft202012Validator({**content["schema"], "components": told["components"]})
        wrong = [error.message for error in checked.iter_errors(content["example"])]
        assert wrong == [], operation.name


def test_the_examples_work(http: TestClient, home: Retentive) -> None:
    """Each body shown is taken as it stands."""
    kept = home.space("acme/alice").remember("Prefers Postgres", id="0f3a9c1e5b7d2a4c6e80")
    home.space("acme/alice").remember("Said elsewhere", source="chat:7", speaker="Alice")
    recall = home.space("acme/alice").recall("Postgres")
    for operation in OPERATIONS:
        if operation.example is None:
            continue
        path = operation.path.replace("{space}", "acme%2Falice").replace("{id}", kept.id)
        body = json.loads(json.dumps(operation.example).replace("r1c2d3e4f5a6b7c8d", recall.id))
        answer = http.request(operation.method, path, json=body)
        if operation.tag == "review" and answer.status_code in {404, 422}:
            continue  # there is nothing to decide, and nobody to judge; the clients' tests have what there is
        assert answer.status_code == operation.status, (operation.name, answer.text)


def test_there_is_a_page_for_people_without_script(http: TestClient) -> None:
    """Every operation is on it; its style is a file of its own, for the policy forbids any other."""
    page = http.get("/docs")
    assert page.headers["Content-Type"].startswith("text/html")
    assert "<script" not in page.text
    assert " style=" not in page.text
    assert all(f'id="{operation.name}"' in page.text for operation in OPERATIONS)
    assert http.get("/docs/style.css").headers["Content-Type"].startswith("text/css")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """A server with something in it."""
    folder: Path = tmp_path_factory.mktemp("api")
    with Retentive(folder / "store", embedder=HashEmbedder(16), clock=lambda: NOW) as home:
        home.space("acme/alice").remember_many(["Prefers Postgres", "The deploy failed with E4012"])
        ring = KeyRing(folder / "keys.json")
        _, secret = ring.create(right="admin", spaces=None, now=NOW)
        service = Service(home, ring, ServeSettings(rate=1e9, threads=2, worker=False))
        with listening(application(service)) as url:
            yield url, {"Authorization": f"Bearer {secret}"}


FOUND: list[Any] = list(schemathesis.openapi.from_dict(document(OPERATIONS)).get_all_operations())
DESCRIBED = {found.ok().definition.raw["operationId"]: found.ok() for found in FOUND}
BEYOND = CHECKS.get_by_names(["positive_data_acceptance"])
"""A schema cannot say everything: that something was asked at all, that an id exists, that a moment lies in time."""
MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", DESCRIBED)
def test_whatever_is_asked_is_answered_as_described(name: str, mode: Any, api: tuple[str, dict[str, str]]) -> None:
    """No 5xx; status, media type, headers and body are those of the document; nonsense is refused, sense is not."""

    @settings(max_examples=5, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(DESCRIBED[name].as_strategy(generation_mode=mode))
    def asked(case: Any) -> None:
        case.call_and_validate(base_url=address, headers=headers, excluded_checks=BEYOND)

    address, headers = api
    try:
        asked()
    except Unsatisfiable:
        pytest.skip("there is nothing to get wrong in it")
