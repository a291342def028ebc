"""OpenAI's and Anthropic's protocols, spoken over real HTTP on loopback."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from chat_endpoint import (
    BROKEN,
    BUSY,
    HANG_UP,
    TRICKLE,
    Answer,
    Endpoint,
    answering,
    anthropic_says,
    openai_says,
    serve,
)

from retentive.errors import InvalidInput, LlmFailed, MissingExtra
from retentive.llm import Closable, NamedLlm, PricedLlm, ReplyingLlm, Usage, ask_json, assistant, system, user
from retentive.llm.anthropic import AnthropicLlm
from retentive.llm.openai import OpenAILlm
from retentive.retry import LONGEST
from retentive.testing.llm import fenced

KEY = "sk-secret-0123456789"
SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
QUESTION = [system("Be exact."), system("Be brief."), user("How"), user("many?")]
Model = OpenAILlm | AnthropicLlm
GOOD: dict[str, Answer] = {
    "openai": openai_says("four"),
    "anthropic": anthropic_says({"type": "text", "text": "fo"}, {"type": "text", "text": "ur"}),
}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as found:
        yield found


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Write down the pauses instead of sleeping them."""
    pauses: list[float] = []
    monkeypatch.setattr("retentive.llm.endpoint.sleep", pauses.append)
    return pauses


def made(provider: str, endpoint: Endpoint, **options: Any) -> Model:
    chosen = {"api_key": KEY, "max_retries": 2, "timeout": 10.0, "input_price": 1.0, "output_price": 5.0, **options}
    if provider == "openai":
        return OpenAILlm(endpoint.url + "/v1", "m", **chosen)
    return AnthropicLlm(endpoint.url, "m", **chosen)


both = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@both
def test_an_answer_with_its_usage(provider: str, endpoint: Endpoint) -> None:
    """The text comes back; tokens and cost are counted per call and in all."""
    endpoint.script = [GOOD[provider]]
    llm = made(provider, endpoint)
    reply = llm.reply(QUESTION)
    once = Usage(1, 100, 20, 100 / 1e6 + 20 * 5 / 1e6)
    assert (reply.text, reply.ended, reply.usage) == ("four", "stop", once)
    assert llm.complete(QUESTION) == "four"
    assert llm.usage == once + once
    assert llm.price(1_000_000, 1_000_000) == 6.0
    for power in (NamedLlm, ReplyingLlm, PricedLlm, Closable):
        assert isinstance(llm, power)
    llm.close()


def test_the_request_is_as_openai_has_it(endpoint: Endpoint) -> None:
    """Path, bearer, model, messages, no streaming; the schema as `response_format` where one is given."""
    endpoint.script = [GOOD["openai"]]
    llm = made("openai", endpoint, max_tokens=50)
    llm.complete(QUESTION)
    llm.complete(QUESTION, schema=SCHEMA)
    assert endpoint.paths == ["/v1/chat/completions"] * 2
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    plain = {"model": "m", "messages": QUESTION, "stream": False, "max_tokens": 50, "temperature": 0}
    assert endpoint.requests[0] == plain
    shape = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    assert endpoint.requests[1] == {**plain, "response_format": shape}


def test_the_request_is_as_anthropic_has_it(endpoint: Endpoint) -> None:
    """System apart, turns that alternate, the version header, and the schema as a tool that must be called."""
    endpoint.script = [anthropic_says({"type": "tool_use", "id": "t", "name": "answer", "input": {"n": 4}})]
    llm = made("anthropic", endpoint, max_tokens=50)
    assert ask_json(llm, [*QUESTION, assistant("4?"), user("Yes.")], SCHEMA).data == {"n": 4}
    assert endpoint.paths == ["/v1/messages"]
    assert endpoint.headers[0]["x-api-key"] == KEY
    assert endpoint.headers[0]["anthropic-version"] == "2023-06-01"
    turns = [("user", "How\n\nmany?"), ("assistant", "4?"), ("user", "Yes.")]
    assert endpoint.requests[0] == {
        "model": "m",
        "max_tokens": 50,
        "temperature": 0,
        "stream": False,
        "system": "Be exact.\n\nBe brief.",
        "messages": [{"role": role, "content": content} for role, content in turns],
        "tools": [{"name": "answer", "description": "Give the answer.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "tool", "name": "answer"},
    }


@both
def test_without_a_key_no_header_is_sent(provider: str, endpoint: Endpoint) -> None:
    """Local servers want none, and no system message is no field."""
    endpoint.script = [GOOD[provider]]
    made(provider, endpoint, api_key=None).complete([user("Hi")])
    assert not {"authorization", "x-api-key"} & set(endpoint.headers[0])
    assert "system" not in endpoint.requests[0]


@both
@pytest.mark.parametrize("trouble", [BUSY, BROKEN, HANG_UP, answering(b"", 529), answering(b"", 408)])
def test_passing_trouble_is_tried_again(provider: str, trouble: Answer, endpoint: Endpoint, waits: list[float]) -> None:
    """429, 5xx, 408 and broken connections: again after a pause, which the server may choose."""
    endpoint.script = [trouble, trouble, GOOD[provider]]
    assert made(provider, endpoint).complete(QUESTION) == "four"
    assert len(waits) == 2
    assert all(0 < pause <= LONGEST for pause in waits)
    assert waits == [3.0, 3.0] or trouble is not BUSY


@both
@pytest.mark.parametrize(
    ("trouble", "said"), [(BUSY, "answered 429"), (BROKEN, "answered 500"), (HANG_UP, "could not be reached in 3")]
)
def test_lasting_trouble_is_llm_failed(provider: str, trouble: Answer, said: str, endpoint: Endpoint) -> None:
    """After the last attempt the error says what came, where, and for which model."""
    endpoint.script = [trouble]
    with pytest.raises(LlmFailed, match=said) as caught:
        made(provider, endpoint).complete(QUESTION)
    assert f"{provider}:m" in str(caught.value)
    assert len(endpoint.requests) == 3


@both
@pytest.mark.parametrize(
    "garbage",
    [
        b"<html>gateway</html>",
        b"",
        b"\xff\xfe\x00",
        b"[" * 200_000,
        [],
        {},
        None,
        7,
        {"choices": [], "content": None},
        {"choices": [{"message": {"content": 7}}], "content": 7},
        {"choices": [{"message": None}], "content": ["text"]},
        {"choices": "four", "content": [{"type": "tool_use", "name": "answer"}]},
        b'data: {"choices": [{"delta": {"content": "four"}}]}\n\ndata: [DONE]\n\n',
    ],
)
def test_garbage_is_llm_failed(provider: str, garbage: Any, endpoint: Endpoint) -> None:
    """Whatever a server answers with 200, the error quotes some of it."""
    endpoint.script = [answering(garbage)]
    with pytest.raises(LlmFailed, match=r"It said|no JSON|unreadable") as caught:
        made(provider, endpoint).complete(QUESTION)
    assert len(str(caught.value)) < 1_200


@both
def test_a_trickle_ends_at_the_time_out(provider: str, endpoint: Endpoint) -> None:
    """A byte now and then does not prolong the time-out."""
    endpoint.script = [TRICKLE]
    with pytest.raises(LlmFailed, match="beyond the time-out"):
        made(provider, endpoint, timeout=0.15, max_retries=0).complete(QUESTION)


@both
def test_too_much_is_not_read(provider: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer beyond the limit is broken off."""
    monkeypatch.setattr("retentive.llm.endpoint.LARGEST", 1_000)
    endpoint.script = [answering(b" " * 100_000)]
    with pytest.raises(LlmFailed, match="more than 1,000 bytes"):
        made(provider, endpoint, max_retries=0).complete(QUESTION)


@both
def test_no_server_is_llm_failed(provider: str, endpoint: Endpoint) -> None:
    """A refused connection names the address, without the password in it."""
    endpoint.url = "http://ada:lovelace@127.0.0.1:9"
    with pytest.raises(LlmFailed, match=r"127\.0\.0\.1:9.* could not be reached") as caught:
        made(provider, endpoint, max_retries=0).complete(QUESTION)
    assert "lovelace" not in str(caught.value)


@both
def test_the_key_is_never_shown(provider: str, endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    """Not in repr, errors, tracebacks or logs, not even when the server echoes it."""
    caplog.set_level(logging.DEBUG)
    endpoint.script = [answering({"error": f"bad key {KEY}"}, 401)]
    llm = made(provider, endpoint)
    with pytest.raises(LlmFailed, match=r"\[key\]") as caught:
        llm.complete(QUESTION)
    shown = "".join(traceback.format_exception(caught.value)) + repr(llm) + caplog.text + str(caught.value.details)
    assert KEY not in shown
    assert len(endpoint.requests) == 1  # a 401 is not tried again
    with pytest.raises(InvalidInput, match="api_key") as refused:
        made(provider, endpoint, api_key="sk secret\n word")
    assert "sk secret" not in str(refused.value)


def test_what_an_endpoint_does_not_take_is_given_up(endpoint: Endpoint) -> None:
    """A schema, then JSON mode; `max_tokens`; a temperature: left out or renamed, and remembered."""

    def picky(request: dict[str, Any]) -> Answer:
        if "max_tokens" in request:
            return answering({"error": "Use 'max_completion_tokens' instead of 'max_tokens'"}, 400)
        if "temperature" in request:
            return answering({"error": "temperature must be 1"}, 400)
        if "response_format" in request:
            return answering({"error": f"response_format {request['response_format']['type']} unsupported"}, 422)
        return openai_says(fenced({"n": 4}))

    endpoint.script = [picky]
    llm = made("openai", endpoint)
    assert ask_json(llm, QUESTION, SCHEMA).data == {"n": 4}
    assert len(endpoint.requests) == 5
    assert ask_json(llm, QUESTION, SCHEMA).data == {"n": 4}
    assert len(endpoint.requests) == 6
    endpoint.script = [answering({"error": "temperature, response_format, max_completion_tokens"}, 400)]
    with pytest.raises(LlmFailed, match="answered 400"):
        llm.complete(QUESTION, schema=SCHEMA)


@pytest.mark.parametrize(
    ("answer", "text", "ended"),
    [
        (openai_says([{"type": "text", "text": "fo"}, {"type": "text", "text": "ur"}]), "four", "stop"),
        (openai_says(None), "", "stop"),
        (openai_says("fo", finish_reason="length"), "fo", "length"),
        (openai_says("", finish_reason="content_filter"), "", "filter"),
        (openai_says("", message={"content": None, "refusal": "I won't."}), "I won't.", "refusal"),
        (answering({"choices": [{"message": {"content": "four"}}]}), "four", ""),
    ],
)
def test_how_openai_answers_end(answer: Answer, text: str, ended: str, endpoint: Endpoint) -> None:
    """Parts are joined, null is nothing, and a cut, filtered or refused answer says so."""
    endpoint.script = [answer]
    reply = made("openai", endpoint).reply(QUESTION)
    assert (reply.text, reply.ended) == (text, ended)


@both
def test_without_stated_usage_it_is_estimated(provider: str, endpoint: Endpoint) -> None:
    """An endpoint that does not count, or counts nonsense, is counted by characters."""
    body = {"choices": [{"message": {"content": "four"}}], "content": [{"type": "text", "text": "four"}]}
    for usage in (None, {"prompt_tokens": "many", "output_tokens": "many"}):
        endpoint.script = [answering({**body, "usage": usage})]
        found = made(provider, endpoint).reply(QUESTION).usage
        assert (found.calls, found.output_tokens, found.estimated) == (1, 1, True)


def test_how_anthropic_answers_end(endpoint: Endpoint) -> None:
    """A refusal and a cut say so."""
    endpoint.script = [anthropic_says({"type": "text", "text": "No."}, stop_reason="refusal")]
    assert made("anthropic", endpoint).reply(QUESTION).ended == "refusal"
    endpoint.script = [anthropic_says(stop_reason="max_tokens")]
    assert made("anthropic", endpoint).reply(QUESTION).ended == "length"


@both
def test_threads_share_a_model(provider: str, endpoint: Endpoint) -> None:
    """Many at once, and every call is counted."""
    endpoint.script = [GOOD[provider]]
    llm = made(provider, endpoint)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: llm.complete(QUESTION), range(24))) == {"four"}
    assert llm.usage.calls == 24


@both
@pytest.mark.parametrize(
    ("options", "named"),
    [({"timeout": 0}, "timeout"), ({"max_retries": -1}, "max_retries"), ({"max_tokens": 0}, "max_tokens"),
     ({"input_price": -1}, "input_price")],
)  # fmt: skip
def test_wrong_options_are_named(provider: str, options: dict[str, Any], named: str, endpoint: Endpoint) -> None:
    """Each value is checked when the model is made."""
    with pytest.raises(InvalidInput, match=named):
        made(provider, endpoint, **options)


@both
def test_the_extra_is_named(provider: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without httpx the error has the command that installs it; an address must be one."""
    with pytest.raises(InvalidInput, match="http://"):
        (OpenAILlm if provider == "openai" else AnthropicLlm)("localhost:1", "m")
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=rf"pip install 'retentive\[{provider}\]'"):
        made(provider, endpoint)


def test_bodies_are_json(endpoint: Endpoint) -> None:
    """Text of every script arrives as it is."""
    endpoint.script = [GOOD["openai"]]
    made("openai", endpoint).complete([user("naïve 日本 \u202e 😀")])
    assert endpoint.requests[0]["messages"][0]["content"] == "naïve 日本 \u202e 😀"
    assert json.dumps(endpoint.requests[0])
