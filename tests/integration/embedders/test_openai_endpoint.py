"""An OpenAI-compatible endpoint, spoken to over real HTTP on loopback."""

import json
import logging
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest
from embedding_endpoint import Answer, Endpoint, good, in_base64, serve, vector_of

from retentive.embedders import checked_vectors, query_vector, resolve
from retentive.embedders.openai import OpenAIEmbedder
from retentive.embedders.prompts import Prompts
from retentive.errors import EmbedderFailed, InvalidInput, MissingExtra
from retentive.retry import LONGEST, LONGEST_ASKED, pause_before

KEY = "sk-secret-0123456789"
BUSY: Answer = (429, {"Retry-After": "3"}, b'{"error": {"message": "slow down"}}')
BROKEN: Answer = (500, {}, b"oops")
HANG_UP: Answer = (0, {}, b"")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve() as found:
        yield found


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Write down the pauses instead of sleeping them."""
    pauses: list[float] = []
    monkeypatch.setattr("retentive.embedders.openai.sleep", pauses.append)
    return pauses


@pytest.fixture
def embedder(endpoint: Endpoint, waits: list[float]) -> Iterator[OpenAIEmbedder]:
    made = OpenAIEmbedder(endpoint.url, "m", api_key=KEY, batch_size=3, max_retries=2)
    yield made
    made.close()


def answering(body: Any) -> tuple[int, dict[str, str], bytes]:
    return 200, {}, body if isinstance(body, bytes) else json.dumps(body).encode()


def test_vectors_come_in_the_order_of_the_texts(embedder: OpenAIEmbedder, endpoint: Endpoint) -> None:
    """The answer is put in order by `index`, and batches one after another."""
    texts = [f"{'x' * at} text" for at in range(8)]
    np.testing.assert_array_equal(embedder.embed(texts), np.array([vector_of(text) for text in texts], np.float32))
    assert [len(request["input"]) for request in endpoint.requests] == [3, 3, 2]


def test_the_request_is_as_the_protocol_has_it(embedder: OpenAIEmbedder, endpoint: Endpoint) -> None:
    """The path, the key as bearer, the model and the texts; no `dimensions` unless asked for."""
    embedder.embed(["a"])
    assert endpoint.paths == ["/v1/embeddings"]
    assert endpoint.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert endpoint.requests == [{"model": "m", "input": ["a"], "encoding_format": "float"}]


def test_without_a_key_no_header_is_sent(endpoint: Endpoint) -> None:
    """Local servers want none."""
    OpenAIEmbedder(endpoint.url + "/", "m").embed(["a"])
    assert "Authorization" not in endpoint.headers[0]
    assert endpoint.paths == ["/v1/embeddings"]


def test_dimensions_are_sent_and_known_at_once(endpoint: Endpoint) -> None:
    """A width that was given costs no request and travels with each."""
    embedder = OpenAIEmbedder(endpoint.url, "m", dimensions=3)
    assert (embedder.dimension, endpoint.requests) == (3, [])
    embedder.embed(["a"])
    assert endpoint.requests[0]["dimensions"] == 3


def test_the_dimension_is_learned_from_the_first_answer(embedder: OpenAIEmbedder, endpoint: Endpoint) -> None:
    """Whichever comes first; it is not asked for twice."""
    embedder.embed(["a"])
    assert embedder.dimension == 3
    assert len(endpoint.requests) == 1


def test_the_dimension_can_be_asked_first(embedder: OpenAIEmbedder, endpoint: Endpoint) -> None:
    """A word is sent to learn it, once."""
    assert embedder.dimension == embedder.dimension == 3
    assert len(endpoint.requests) == 1


def test_base64_answers_are_read(embedder: OpenAIEmbedder, endpoint: Endpoint) -> None:
    """Some endpoints send them unasked."""
    endpoint.script.append(in_base64)
    np.testing.assert_array_equal(embedder.embed(["abc"])[0], np.array(vector_of("abc"), np.float32))


def test_answers_without_indexes_are_taken_in_order(embedder: OpenAIEmbedder, endpoint: Endpoint) -> None:
    """As the servers mean it that leave them out."""
    endpoint.script.append(answering({"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]}))
    np.testing.assert_array_equal(embedder.embed(["a", "b"]), np.eye(2, dtype=np.float32))


@pytest.mark.parametrize("trouble", [BUSY, BROKEN, HANG_UP, (503, {}, b""), (408, {}, b"")])
def test_passing_trouble_is_tried_again(
    embedder: OpenAIEmbedder, endpoint: Endpoint, waits: list[float], trouble: Any
) -> None:
    """429, 5xx, 408 and a broken connection: the same request again, after a pause."""
    endpoint.script += [trouble, trouble]
    assert embedder.embed(["a"]).shape == (1, 3)
    assert endpoint.requests == [endpoint.requests[0]] * 3
    assert len(waits) == 2


def test_retry_after_is_honoured(embedder: OpenAIEmbedder, endpoint: Endpoint, waits: list[float]) -> None:
    """The server's own figure decides the pause."""
    endpoint.script.append(BUSY)
    embedder.embed(["a"])
    assert waits == [3.0]


def test_a_slow_answer_is_tried_again(endpoint: Endpoint, waits: list[float]) -> None:
    """A time-out is passing trouble."""
    released = threading.Event()

    def slow(request: dict[str, Any]) -> Any:
        released.wait(10)
        return good(request)

    endpoint.script.append(slow)
    embedder = OpenAIEmbedder(endpoint.url, "m", timeout=1.5, max_retries=1)  # the second has that long too
    assert embedder.embed(["a"]).shape == (1, 3)
    assert len(waits) == 1
    released.set()
    embedder.close()


def test_trouble_that_stays_is_reported(embedder: OpenAIEmbedder, endpoint: Endpoint, waits: list[float]) -> None:
    """After the last attempt, without another pause, with the status and what the endpoint said."""
    endpoint.script += [BROKEN] * 3
    with pytest.raises(EmbedderFailed, match=r"answered 500 for the model 'm'\. It said: 'oops'") as raised:
        embedder.embed(["a"])
    assert raised.value.details == {"embedder": "openai:m", "status": 500}
    assert (len(endpoint.requests), len(waits)) == (3, 2)


def test_an_endpoint_that_is_not_there_is_reported(waits: list[float]) -> None:
    """With the address, the number of attempts and what went wrong."""
    embedder = OpenAIEmbedder("http://127.0.0.1:9/v1", "m", max_retries=1)
    with pytest.raises(EmbedderFailed, match=r"127\.0\.0\.1:9/v1.* could not be reached in 2 attempts \(ConnectError"):
        embedder.embed(["a"])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_not_tried_again(embedder: OpenAIEmbedder, endpoint: Endpoint, status: int) -> None:
    """Asking again would not help; the error quotes the endpoint."""
    endpoint.script.append((status, {}, b'{"error": "no such model"}'))
    with pytest.raises(EmbedderFailed, match=f"answered {status} .*no such model.*Check base_url"):
        embedder.embed(["a"])
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>hello</html>", "unreadable"),
        (b'{"data": [{"index": 0, "embedd', "unreadable"),
        (b"[]", "unreadable"),
        (b'{"data": null}', "unreadable"),
        (b'{"data": ["x", "y"]}', "unreadable"),
        ({"error": "x"}, "unreadable"),
        ({"data": [{"index": 0, "embedding": [1, 2]}]}, "1 vectors for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1, 2]}] * 3}, "3 vectors for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1, 2]}] * 2}, r"indexes \[0, 0\]"),
        ({"data": [{"index": at, "embedding": [1, 2]} for at in (1, 2)]}, r"indexes \[1, 2\]"),
        ({"data": [{"index": at, "embedding": [1] * (at + 1)} for at in (0, 1)]}, "different lengths"),
        ({"data": [{"index": at, "embedding": [1, None]} for at in (0, 1)]}, "unreadable|not finite"),
        ({"data": [{"index": at, "embedding": "!!!"} for at in (0, 1)]}, "unreadable"),
        ({"data": [{"index": at, "embedding": []} for at in (0, 1)]}, "no numbers"),
        ({"data": [{"index": at, "embedding": 5} for at in (0, 1)]}, "unreadable"),
    ],
)
def test_an_unusable_answer_is_refused(embedder: OpenAIEmbedder, endpoint: Endpoint, body: Any, said: str) -> None:
    """Not JSON, cut off, another shape, another count, doubled places: an error, never wrong vectors."""
    endpoint.script.append(answering(body))
    with pytest.raises((EmbedderFailed, InvalidInput), match=said):
        checked_vectors(embedder, ["a", "b"])


def test_a_width_that_changes_is_refused(embedder: OpenAIEmbedder, endpoint: Endpoint) -> None:
    """Another model behind the same name is noticed."""
    embedder.embed(["a"])
    endpoint.script.append(answering({"data": [{"index": 0, "embedding": [1, 2]}]}))
    with pytest.raises(EmbedderFailed, match="answered 2 dimensions where 3 were expected"):
        embedder.embed(["a"])


def test_the_key_is_never_shown(embedder: OpenAIEmbedder, endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    """Not in repr, not in the attributes, not in the log, not in an error that echoes it, nor in its traceback."""
    caplog.set_level(logging.DEBUG)
    endpoint.script.append((401, {}, f"Incorrect API key provided: {KEY}".encode()))
    with pytest.raises(EmbedderFailed, match=r"provided: \[key\]") as raised:
        embedder.embed(["a"])
    shown = [repr(embedder), str(vars(embedder)), caplog.text, *traceback.format_exception(raised.value)]
    assert not any(KEY in text for text in shown)


@pytest.mark.parametrize("key", ["sk-1\nX: y", "sk-\u2019", "two words"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(key: str) -> None:
    """The error does not repeat it."""
    with pytest.raises(InvalidInput, match="api_key holds") as raised:
        OpenAIEmbedder("http://127.0.0.1/v1", "m", api_key=key)
    assert key not in str(raised.value)


def test_a_key_may_have_a_line_break_at_its_end(endpoint: Endpoint) -> None:
    """As one read from a file has."""
    OpenAIEmbedder(endpoint.url, "m", api_key=KEY + "\n").embed(["a"])
    assert endpoint.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_a_password_in_the_address_is_not_shown() -> None:
    """An address may carry a user and a password; repr leaves them out."""
    shown = repr(OpenAIEmbedder("https://user:hunter2@example.org/v1", "m"))
    assert "example.org/v1" in shown
    assert "hunter2" not in shown


def test_prompts_stand_in_front(endpoint: Endpoint) -> None:
    """One for passages and one for questions."""
    embedder = OpenAIEmbedder(endpoint.url, "m", prompts=Prompts(query="query: ", passage="passage: "))
    embedder.embed(["a"])
    query_vector(embedder, "b")
    assert [request["input"] for request in endpoint.requests] == [["passage: a"], ["query: b"]]


def test_long_texts_make_smaller_batches(endpoint: Endpoint) -> None:
    """A request stays below the endpoint's limit, whatever the batch size."""
    OpenAIEmbedder(endpoint.url, "m").embed(["x" * 250_000] * 3)
    assert [len(request["input"]) for request in endpoint.requests] == [1, 1, 1]


def test_no_texts_give_no_rows(endpoint: Endpoint) -> None:
    """An empty batch has the right width."""
    assert OpenAIEmbedder(endpoint.url, "m", dimensions=3).embed([]).shape == (0, 3)
    assert endpoint.requests == []


def test_threads_share_an_embedder(embedder: OpenAIEmbedder) -> None:
    """Each gets the vectors of its own texts."""
    texts = [[f"{'y' * (at % 13)}{at}", "b"] for at in range(40)]
    with ThreadPoolExecutor(8) as pool:
        for asked, got in zip(texts, pool.map(embedder.embed, texts), strict=True):
            np.testing.assert_array_equal(got, np.array([vector_of(text) for text in asked], np.float32))


def test_the_name_resolves(endpoint: Endpoint) -> None:
    """`openai:MODEL`, with the address and the key as options."""
    embedder = resolve("openai:org/m:latest", options={"base_url": endpoint.url, "api_key": KEY})
    assert embedder.id == "openai:org/m:latest"
    assert embedder.embed(["a"]).shape == (1, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "localhost:1/v1"}, "http://"),
        ({"batch_size": 0}, "batch_size must be at least 1; got 0"),
        ({"max_retries": -1}, "max_retries must be at least 0"),
        ({"dimensions": 0}, "dimensions must be at least 1"),
        ({"timeout": 0}, "timeout must be more than 0"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    """By name and value."""
    with pytest.raises(InvalidInput, match=message):
        OpenAIEmbedder(**options)


def test_without_httpx_the_error_prints_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra's exact name."""
    monkeypatch.setitem(__import__("sys").modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"pip install 'retentive\[openai\]'"):
        OpenAIEmbedder()


@pytest.mark.parametrize("attempt", range(12))
def test_pauses_double_up_to_a_limit_with_jitter(attempt: int) -> None:
    """Half to all of the pause, never above the limit."""
    full = min(0.5 * 2**attempt, LONGEST)
    assert all(full / 2 <= pause_before(attempt) <= full for _ in range(50))


def test_retry_after_is_read_in_both_forms() -> None:
    """Seconds or a date, bounded; nonsense and a date gone by do no harm."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert pause_before(0, "7.5", now=now) == 7.5
    assert pause_before(0, format_datetime(now + timedelta(seconds=20), usegmt=True), now=now) == 20
    assert pause_before(0, "86400", now=now) == LONGEST_ASKED
    assert pause_before(0, "-5", now=now) == 0
    assert pause_before(0, format_datetime(now - timedelta(days=1)), now=now) == 0
    for nonsense in ("soon", "", None, "nan", "inf"):
        assert 0 <= pause_before(0, nonsense, now=now) <= LONGEST_ASKED
