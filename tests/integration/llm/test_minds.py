"""Rating and reflecting through a server that speaks OpenAI's protocol, on loopback: good, bad, slow and in between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import BROKEN, HANG_UP, TRICKLE, Answer, Endpoint, answering, openai_says, serve

from retentive import Retentive, Space
from retentive.llm.openai import OpenAILlm
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXTS = ("Chose Postgres for billing", "Asked for Postgres again", "Moved the reports to Postgres")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as found:
        yield found


def opened(folder: Path, endpoint: Endpoint, timeout: float = 60.0) -> Retentive:
    llm = OpenAILlm(endpoint.url, "m", timeout=timeout, max_retries=0, input_price=1.0, output_price=2.0)
    home = Retentive(folder, embedder=HashEmbedder(16), llm=llm, clock=lambda: NOW)
    home.rater = "llm"
    return home


def space_of(home: Retentive) -> Space:
    space = home.space("acme/alice")
    space.remember_many(TEXTS)
    return space


def reading(request: dict[str, Any]) -> Answer:
    """Answer as a model does that reads what it is asked."""
    asked = json.loads(request["messages"][-1]["content"])
    if "ratings" in json.dumps(request["response_format"]):
        return openai_says(json.dumps({"ratings": [{"id": one["id"], "rating": 8} for one in asked["memories"]]}))
    if "questions" in json.dumps(request["response_format"]):
        return openai_says(json.dumps({"questions": ["Which database does she choose?"]}))
    numbers = [one["n"] for one in asked["memories"]]
    return openai_says(json.dumps({"insights": [{"text": "She chooses Postgres.", "evidence": numbers, "rating": 7}]}))


def test_rating_and_reflecting_end_to_end(tmp_path: Path, endpoint: Endpoint) -> None:
    """The schemas go along, the ratings and the insight come back, and what it took is counted with its price."""
    endpoint.script = [reading]
    with opened(tmp_path, endpoint) as home:
        space = space_of(home)
        assert space.run_jobs().done == 3
        assert {memory.importance for memory in space.list()} == {0.8}
        told = space.reflect(force=True)
        assert [memory.text for memory in told.insights] == ["She chooses Postgres."]
        assert set(told.insights[0].derived_from) <= {memory.id for memory in space.list()}
        spent = {one.purpose: one.usage for one in space.usage()}
    assert (spent["rate"].calls, spent["reflect"].calls) == (1, 2)
    assert spent["reflect"].cost == pytest.approx(2 * (100 * 1.0 + 20 * 2.0) / 1_000_000)
    assert all(request["response_format"]["type"] == "json_schema" for request in endpoint.requests)


@pytest.mark.parametrize(
    "bad",
    [
        BROKEN,
        HANG_UP,
        TRICKLE,
        answering(b"<html>not json</html>"),
        answering({"choices": []}),
        openai_says("I'm sorry, but I can't help with that."),
        openai_says('{"ratings": [{"id"', finish_reason="length"),
        openai_says("and then " * 5_000, finish_reason="length"),
        openai_says(None),
    ],
    ids=["broken", "hangs up", "trickles", "html", "no choice", "refuses", "cut off", "loops", "says nothing"],
)
def test_a_bad_server_loses_nothing(tmp_path: Path, endpoint: Endpoint, bad: Answer) -> None:
    """The memories are there, their ratings wait, the reflection is extractive; once it is well, all is done."""
    endpoint.script = [bad]
    with opened(tmp_path, endpoint, timeout=0.3) as home:
        space = space_of(home)
        ran = space.run_jobs()
        assert (ran.done, len(ran.retried)) == (0, 3)
        told = space.reflect(force=True)
        assert (told.method, len(told.notes)) == ("extractive", 1)
        assert len(space.list(kinds=["fact"])) == 3
    endpoint.script = [reading]
    with opened(tmp_path, endpoint, timeout=60) as home:  # nothing about the repair should hang on how fast it is
        space = home.space(space.path)
        space.retry_jobs(*[job.id for job in space.jobs()])
        assert space.run_jobs().done == 3
