"""Any endpoint that speaks OpenAI's `POST /embeddings`: OpenAI itself, Ollama, vLLM, LM Studio, llama.cpp, TEI.

The key is never shown: not in `repr`, not in an error, not in a log line. What an endpoint says in an error is quoted
with the key blotted out, for some endpoints echo it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from time import sleep
from typing import Any
from weakref import finalize

import numpy as np

from retentive.embedders.prompts import NO_PROMPTS, Prompts
from retentive.embedders.protocol import Vectors
from retentive.errors import EmbedderFailed, InvalidInput
from retentive.extras import require_extra
from retentive.retry import RETRIED, pause_before

OPENAI = "https://api.openai.com/v1"
CHARACTERS = 400_000
"""A request holds no more than this (OpenAI takes 300,000 tokens), whatever the batch size."""
EXCERPT = 300
PROBE = "dimension"


class OpenAIEmbedder:
    """An embedding model behind an OpenAI-compatible endpoint.

    `dimensions` is sent along, for models that can shorten their vectors; without it the width is learned from the
    first answer. 408, 409, 429, 5xx, time-outs and broken connections are tried again `max_retries` times.
    """

    reads_prose = True  # late interaction may borrow the bundled token table

    def __init__(
        self,
        base_url: str = OPENAI,
        model: str = "text-embedding-3-small",
        *,
        api_key: str | None = None,
        dimensions: int | None = None,
        batch_size: int = 128,
        timeout: float = 30.0,
        max_retries: int = 4,
        prompts: Prompts = NO_PROMPTS,
    ) -> None:
        _check_at_least("batch_size", batch_size, 1)
        _check_at_least("max_retries", max_retries, 0)
        if timeout <= 0:
            raise InvalidInput(f"timeout must be more than 0 seconds; got {timeout!r}.", value=timeout)
        if dimensions is not None:
            _check_at_least("dimensions", dimensions, 1)
        self.id = f"openai:{model}"
        self._model = model
        self._dimension = dimensions
        self._sent = {} if dimensions is None else {"dimensions": dimensions}
        self._batch_size = batch_size
        self._max_retries = max_retries
        self._prompts = prompts
        self._client, self._blot = _client(base_url, api_key, timeout)
        finalize(self, self._client.close)  # whoever forgets close() leaves no socket behind

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._where!r}, {self._model!r})"

    @property
    def dimension(self) -> int:
        """The width of the vectors; the first time it is asked before any text was embedded, a word is sent."""
        if self._dimension is None:
            self._request([PROBE])
        return self._dimension or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        return self._embed([self._prompts.passage + text for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question."""
        vector: Vectors = self._embed([self._prompts.query + text])[0]
        return vector

    def close(self) -> None:
        """Close the connections; the embedder cannot be used afterwards."""
        self._client.close()

    @cached_property
    def _where(self) -> str:
        """The endpoint without a user name or password that its address may carry."""
        return str(self._client.base_url.copy_with(username=None, password=None))

    def _embed(self, texts: list[str]) -> Vectors:
        parts = [self._request(part) for part in self._batches(texts)]
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    def _batches(self, texts: list[str]) -> Iterator[list[str]]:
        part: list[str] = []
        size = 0
        for text in texts:
            if part and (len(part) == self._batch_size or size + len(text) > CHARACTERS):
                yield part
                part, size = [], 0
            part.append(text)
            size += len(text)
        if part:
            yield part

    def _request(self, texts: list[str]) -> Vectors:
        """Send one batch and read its answer; the first answer settles the dimension."""
        body = {"model": self._model, "input": texts, "encoding_format": "float", **self._sent}
        answer = self._post(body)
        try:
            matrix = read_embeddings(answer.json(), len(texts))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise self._failed(f"answered something unreadable ({error})", answer) from error
        if self._dimension is None:
            self._dimension = matrix.shape[1]
        if matrix.shape[1] != self._dimension:
            raise self._failed(f"answered {matrix.shape[1]} dimensions where {self._dimension} were expected", answer)
        return matrix

    def _post(self, body: dict[str, Any]) -> Any:
        """Post until an answer comes that is worth reading, waiting longer each time."""
        for attempt in range(self._max_retries):
            answer, _ = self._attempt(body)
            if answer is not None and answer.status_code not in RETRIED:
                return self._accepted(answer)
            sleep(pause_before(attempt, answer.headers.get("retry-after") if answer is not None else None))
        answer, broken = self._attempt(body)
        if answer is None:
            raise self._failed(f"could not be reached in {self._max_retries + 1} attempts ({broken})")
        return self._accepted(answer)

    def _attempt(self, body: dict[str, Any]) -> tuple[Any, str]:
        """Post once: the answer, or nothing and what broke on the way."""
        import httpx  # noqa: PLC0415 -- an extra; the constructor has made sure that it is there

        try:
            return self._client.post("embeddings", json=body), ""
        except httpx.TransportError as error:
            return None, f"{type(error).__name__}: {self._blot(str(error))}"

    def _accepted(self, answer: Any) -> Any:
        if not answer.is_success:
            raise self._failed(f"answered {answer.status_code}", answer)
        return answer

    def _failed(self, what: str, answer: Any = None) -> EmbedderFailed:
        said = f" It said: {self._blot(answer.text)[:EXCERPT]!r}." if answer is not None else ""
        return EmbedderFailed(
            f"The embedding endpoint {self._where!r} {what} for the model {self._model!r}.{said} "
            "Check base_url, model, api_key and the endpoint's own log.",
            embedder=self.id,
            status=None if answer is None else answer.status_code,
        )


def read_embeddings(payload: Any, count: int) -> Vectors:
    """Read the vectors of an answer by `index`; raise `ValueError` where they are not `count`."""
    items = payload["data"]
    if len(items) != count:
        raise ValueError(f"{len(items)} vectors for {count} texts")
    places = [item.get("index", at) for at, item in enumerate(items)]
    if sorted(places) != list(range(count)):
        raise ValueError(f"the indexes {places[:10]} are not 0 to {count - 1}, each once")
    rows = [_row(item["embedding"]) for item in items]
    if len({len(row) for row in rows}) != 1:
        raise ValueError("vectors of different lengths")
    if not len(rows[0]):
        raise ValueError("vectors with no numbers in them")
    return np.array([row for _, row in sorted(zip(places, rows, strict=True), key=lambda pair: pair[0])], np.float32)


def _row(embedding: Any) -> Vectors:
    """Read a vector: a list of numbers, or base64 of little-endian float32, which some endpoints send unasked."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    return np.array(embedding, np.float32)


def _client(base_url: str, api_key: str | None, timeout: float) -> tuple[Any, Callable[[str], str]]:
    """Make the HTTP client, and the function that blots the key out of a text."""
    httpx = require_extra("httpx", extra="openai", user="An OpenAI-compatible embedder")
    if not base_url.startswith(("http://", "https://")):
        raise InvalidInput(f"base_url must begin with http:// or https://; got {base_url!r}.", base_url=base_url)
    key = _clean_key(api_key)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    client = httpx.Client(base_url=base_url, headers=headers, timeout=timeout)
    return client, lambda text: text.replace(key, "[key]") if key else text


def _clean_key(api_key: str | None) -> str:
    """Strip the key; refuse one that no header can hold, without showing it (the client's own error would)."""
    key = (api_key or "").strip()
    if not (key.isascii() and (key.isprintable() or not key)) or " " in key:
        raise InvalidInput("api_key holds a space, a line break or a character outside ASCII; copy it again.")
    return key


def _check_at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise InvalidInput(f"{name} must be at least {least}; got {value!r}.", name=name, value=value)
