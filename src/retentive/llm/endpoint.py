"""Talk JSON to a model's HTTP endpoint: time-outs, retries with backoff and jitter, a limit on what it may answer.

No key is shown, not in `repr`, not in an error, not in a log line; what an endpoint says in an error is quoted with the
key blotted out, for some echo it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, Final
from weakref import finalize

from retentive.errors import InvalidInput, LlmFailed
from retentive.extras import require_extra
from retentive.retry import RETRIED, pause_before

EXCERPT: Final = 300
LARGEST: Final = 8_000_000  # bytes of an answer; who sends more is broken, or means no good


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint answered."""

    status: int
    body: bytes
    retry_after: str | None = None

    @property
    def text(self) -> str:
        """The body as text, however it was encoded."""
        return self.body.decode("utf-8", "replace")


class Broken(Exception):
    """No usable answer came: time-out, broken connection, too much."""


class Endpoint:
    """One endpoint with one key. ``timeout`` is for a whole attempt, from connecting to the last byte."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        llm: str,
        secret: str = "",
        timeout: float = 60.0,
        max_retries: int = 4,
        extra: str = "openai",
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise InvalidInput(f"base_url must begin with http:// or https://; got {base_url!r}.", base_url=base_url)
        if not timeout > 0:
            raise InvalidInput(f"timeout must be more than 0 seconds; got {timeout!r}.", value=timeout)
        if max_retries < 0:
            raise InvalidInput(f"max_retries must be at least 0; got {max_retries!r}.", value=max_retries)
        self._httpx = require_extra("httpx", extra=extra, user=f"The language model {llm!r}")
        self._client = self._httpx.Client(base_url=base_url, headers=dict(headers), timeout=timeout)
        self._llm, self._secret = llm, secret
        self._timeout, self._max_retries = timeout, max_retries
        finalize(self, self._client.close)  # whoever forgets close() leaves no socket behind

    @property
    def where(self) -> str:
        """The address without a user name or password that it may carry."""
        return str(self._client.base_url.copy_with(username=None, password=None))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Post until an answer comes that is no invitation to try again; every other status is the caller's to read."""
        broken = ""
        for attempt in range(self._max_retries + 1):
            last = attempt == self._max_retries
            try:
                answer = self._attempt(path, body)
            except Broken as error:
                broken, answer = str(error), None
            if answer is not None and (last or answer.status not in RETRIED):
                return answer
            if not last:
                sleep(pause_before(attempt, answer.retry_after if answer else None))
        raise self.failed(f"could not be reached in {self._max_retries + 1} attempts ({broken})")

    def _attempt(self, path: str, body: Mapping[str, Any]) -> Answer:
        """Post once. The deadline is ours: the client's own begins anew with every byte that trickles in."""
        deadline = monotonic() + self._timeout
        try:
            with self._client.stream("POST", path, json=body) as answer:
                parts, size = [], 0
                for part in answer.iter_bytes():
                    parts.append(part)
                    size += len(part)
                    _check_progress(size, deadline)
                return Answer(answer.status_code, b"".join(parts), answer.headers.get("retry-after"))
        except (self._httpx.TransportError, self._httpx.DecodingError) as error:
            raise Broken(f"{type(error).__name__}: {self.blotted(str(error))}") from None

    def read(self, answer: Answer) -> Any:
        """Return the JSON of an answer; anything but success with JSON is `LlmFailed`."""
        if not 200 <= answer.status < 300:
            raise self.failed(f"answered {answer.status}", answer)
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            raise self.failed("answered something that is no JSON", answer) from None

    def failed(self, what: str, answer: Answer | None = None) -> LlmFailed:
        """Return the error that says what the endpoint did."""
        said = f" It said: {self.blotted(answer.text)[:EXCERPT]!r}." if answer is not None else ""
        return LlmFailed(
            f"The endpoint {self.where!r} {what} for {self._llm!r}.{said} "
            "Check base_url, model, api_key and the endpoint's own log.",
            llm=self._llm,
            status=None if answer is None else answer.status,
        )

    def blotted(self, text: str) -> str:
        """Return a text without the key."""
        return text.replace(self._secret, "[key]") if self._secret else text


def _check_progress(size: int, deadline: float) -> None:
    if size > LARGEST:
        raise Broken(f"more than {LARGEST:,} bytes")
    if monotonic() > deadline:
        raise Broken("the answer went on beyond the time-out")


def clean_key(api_key: str | None) -> str:
    """Strip a key; refuse one that no header can hold, without showing it (the client's own error would)."""
    key = (api_key or "").strip()
    if not (key.isascii() and (key.isprintable() or not key)) or " " in key:
        raise InvalidInput("api_key holds a space, a line break or a character outside ASCII; copy it again.")
    return key
