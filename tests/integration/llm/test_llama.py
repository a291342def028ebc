"""A real model, end to end: a GGUF file run by llama.cpp in this process.

`make llm-model` fetches the small one that CI runs. RETENTIVE_TEST_GGUF names another by hand. Nothing here asks for
sense, which a model of 135 million parameters has little of: what is tested is that its answers are taken as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.errors import InvalidInput, LlmFailed, MissingExtra
from retentive.llm import Closable, NamedLlm, PricedLlm, ReplyingLlm, ask_json, resolve_llm, user
from retentive.llm.llama import LlamaLlm
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HERE = Path(__file__).resolve().parents[3] / "models/llm/SmolLM2-135M-Instruct.Q4_1.gguf"
SCHEMA = {
    "type": "object",
    "required": ["rating"],
    "properties": {"rating": {"type": "integer", "minimum": 1, "maximum": 10}},
}


@pytest.fixture(scope="module")
def model() -> Path:
    """Where the model lies; skipped where it does not, or llama.cpp is not installed."""
    pytest.importorskip("xllamacpp", reason="the extra 'llama' is not installed")
    found = Path(os.environ.get("RETENTIVE_TEST_GGUF", HERE))
    if not found.is_file():
        pytest.skip(f"{found} is not there: make llm-model")
    return found


@pytest.fixture(scope="module")
def llama(model: Path) -> Iterator[LlamaLlm]:
    """The model, loaded once; short answers, one thread: the machine is shared."""
    llm = LlamaLlm(str(model), context=3_000, threads=1, max_tokens=160)
    yield llm
    llm.close()


def test_a_real_model_answers_in_a_shape(llama: LlamaLlm) -> None:
    """Held to the schema by a grammar, counted in its own tokens; it has every protocol of ours."""
    reply = llama.reply([user("How important is it from 1 to 10 that my father died?")], schema=SCHEMA)
    assert reply.usage.input_tokens > 10
    assert not reply.usage.estimated
    found = ask_json(llama, [user("From 1 to 10, how important is rain?")], SCHEMA).data["rating"]
    assert 1 <= found <= 10
    assert llama.usage.calls == 2
    for protocol in (ReplyingLlm, NamedLlm, PricedLlm, Closable):
        assert isinstance(llama, protocol)


def test_a_real_model_rates_and_reflects(llama: LlamaLlm, tmp_path: Path) -> None:
    """Through the queue and the reflection: whatever it says, no memory is lost and no insight lacks evidence."""
    with Retentive(tmp_path, embedder=HashEmbedder(16), llm=llama, clock=lambda: NOW) as home:
        home.rater = "llm"
        space = home.space("acme/alice")
        kept = space.remember_many(["My father died.", "It rained.", "The contract ends on 1 May."])
        ran = space.run_jobs()
        assert ran.done + len(ran.retried) == 3
        assert {memory.id for memory in space.list()} == {memory.id for memory in kept}
        assert all(0 < memory.importance <= 1 for memory in space.list())
        told = space.reflect(force=True, method="flat")
        ids = {memory.id for memory in kept}
        assert told.fired
        assert all(set(insight.derived_from) <= ids and insight.derived_from for insight in told.insights)
        spent = {one.purpose: one.usage for one in space.usage()}
        assert spent["rate"].output_tokens > 0
        assert spent["reflect"].calls >= 1


def test_more_than_it_can_read_is_refused(llama: LlamaLlm) -> None:
    """With the numbers that say why; afterwards it answers again."""
    with pytest.raises(LlmFailed, match="context"):
        llama.complete([user("word " * 4_000)])
    assert llama.complete([user("Say hello.")])


def test_a_model_that_was_closed_is_loaded_again(model: Path) -> None:
    """Closing releases it, nothing more."""
    llm = LlamaLlm(str(model), context=512, threads=1, max_tokens=4)
    assert llm.complete([user("Hi")])
    llm.close()
    assert llm.complete([user("Hi")])
    llm.close()


def test_what_is_no_model_is_refused_at_once(tmp_path: Path) -> None:
    """By path, before anything is loaded."""
    with pytest.raises(InvalidInput, match="GGUF"):
        resolve_llm(f"llama:{tmp_path / 'absent.gguf'}")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"<html>")
    with pytest.raises(InvalidInput, match="<htm"):
        resolve_llm(f"llama:{broken}")
    with pytest.raises(InvalidInput, match="context"):
        resolve_llm(f"llama:{broken}", options={"context": 0})


def test_a_damaged_file_fails_when_it_is_loaded(tmp_path: Path) -> None:
    """As a model that failed, which jobs try again."""
    pytest.importorskip("xllamacpp", reason="the extra 'llama' is not installed")
    broken = tmp_path / "cut.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(LlmFailed, match="cut"):
        LlamaLlm(str(broken), threads=1).complete([user("Hi")])


def test_the_extra_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(__import__("sys").modules, "xllamacpp", None)
    file = tmp_path / "some.gguf"
    file.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(MissingExtra, match=r"retentive\[llama\]"):
        LlamaLlm(str(file))
