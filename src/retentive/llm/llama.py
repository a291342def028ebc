"""A GGUF model in this process, by llama.cpp (`xllamacpp`): no endpoint, no key, nothing leaves the machine.

Structured output is a grammar that llama.cpp holds the model to. xllamacpp brings a server that listens on loopback; it
is given a key that nobody else knows, and we talk to it by calls.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from retentive.errors import InvalidInput, LlmFailed
from retentive.extras import require_extra
from retentive.llm.protocol import Message, Reply, Schema, Usage, estimated_usage
from retentive.llm.tally import Tally

MAGIC: Final = b"GGUF"
_ENDED: Final = {"stop": "stop", "length": "length"}


class LlamaLlm:
    """A model file, loaded when it is first asked.

    ``context`` is how many tokens question and answer may have together; ``threads`` is half the processors where
    nobody says, for llama.cpp's threads spin while they wait for one another. Asked by several threads at once it
    answers one after the other.
    """

    def __init__(
        self,
        model: str,
        *,
        context: int = 8_192,
        threads: int | None = None,
        max_tokens: int = 2_000,
        gpu_layers: int = -1,
        input_price: float = 0.0,
        output_price: float = 0.0,
    ) -> None:
        path = Path(model).expanduser()
        for name, value in (("context", context), ("max_tokens", max_tokens), ("threads", threads)):
            if value is not None and value < 1:
                raise InvalidInput(f"{name} must be at least 1; got {value!r}.", value=value)
        _check_file(path)
        self.id = f"llama:{path.stem}"
        self._path = path
        self._xllamacpp = require_extra("xllamacpp", extra="llama", user=f"The language model {self.id!r}")
        self._context, self._max_tokens, self._gpu_layers = context, max_tokens, gpu_layers
        self._threads = threads or max(1, (os.cpu_count() or 2) // 2)
        self._tally = Tally(input_price, output_price)
        self._lock = threading.Lock()
        self._server: Any = None

    def __repr__(self) -> str:
        return f"LlamaLlm({str(self._path)!r})"

    @property
    def usage(self) -> Usage:
        """What all calls of this object took."""
        return self._tally.total

    def price(self, input_tokens: int, output_tokens: int) -> float:
        """Return what that many tokens cost: nothing, unless somebody set a price on the electricity."""
        return self._tally.price(input_tokens, output_tokens)

    def complete(self, messages: Sequence[Message], *, schema: Schema | None = None) -> str:
        """Return the answer's text."""
        return self.reply(messages, schema=schema).text

    def reply(self, messages: Sequence[Message], *, schema: Schema | None = None) -> Reply:
        """Return the answer with its usage."""
        body: dict[str, Any] = {
            "messages": [dict(message) for message in messages],
            "max_tokens": self._max_tokens,
            "temperature": 0,
        }
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(schema)},
            }
        with self._lock:
            answer = self._asked(body)
        try:
            choice = answer["choices"][0]
            text, ended = str(choice["message"].get("content") or ""), _ENDED.get(str(choice["finish_reason"]), "")
        except (KeyError, IndexError, TypeError, AttributeError):
            raise self._failed(_complaint(answer)) from None
        return Reply(text, self._counted(answer, messages, text), ended)

    def close(self) -> None:
        """Release the weights; asked again, the model is loaded again."""
        with self._lock:
            self._server = None

    def _asked(self, body: Mapping[str, Any]) -> Any:
        try:
            if self._server is None:
                self._server = self._loaded()
            return self._server.handle_chat_completions(dict(body))
        except (RuntimeError, ValueError) as error:
            raise self._failed(str(error)) from error

    def _loaded(self) -> Any:
        params = self._xllamacpp.CommonParams()
        params.model.path = str(self._path)
        params.n_ctx, params.n_gpu_layers, params.n_parallel = self._context, self._gpu_layers, 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.verbosity, params.warmup = -1, False
        params.api_keys = [secrets.token_hex(16)]
        return self._xllamacpp.Server(params)

    def _counted(self, answer: Any, messages: Sequence[Message], text: str) -> Usage:
        stated = answer.get("usage")
        if isinstance(stated, dict) and {"prompt_tokens", "completion_tokens"} <= set(stated):
            return self._tally.add(int(stated["prompt_tokens"]), int(stated["completion_tokens"]))
        guess = estimated_usage(messages, text)
        return self._tally.add(guess.input_tokens, guess.output_tokens, estimated=True)

    def _failed(self, what: str) -> LlmFailed:
        return LlmFailed(f"{self.id!r} failed: {what}. Check the model file and `context`.", llm=self.id)


def _check_file(path: Path) -> None:
    """Refuse what is no GGUF file before anything large is loaded."""
    try:
        with path.open("rb") as file:
            head = file.read(len(MAGIC))
    except OSError as error:
        raise InvalidInput(
            f"llm='llama:{path}' cannot be read: {error.strerror}. Give the path of a GGUF file.", path=str(path)
        ) from error
    if head != MAGIC:
        raise InvalidInput(f"{str(path)!r} is no GGUF file (it begins {head!r}).", path=str(path))


def _complaint(answer: Any) -> str:
    """Return what llama.cpp said instead of an answer."""
    error = answer.get("error") if isinstance(answer, dict) else None
    return str(error.get("message", error))[:300] if isinstance(error, dict) else "it answered something unreadable"
