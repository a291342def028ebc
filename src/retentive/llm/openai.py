"""Any endpoint that speaks OpenAI's `POST /chat/completions`: OpenAI, Ollama, vLLM, LM Studio, llama.cpp, OpenRouter.

Endpoints differ in what they accept. What one refuses with a 400 that names it (a JSON schema, `max_tokens`, a
temperature) is left out or written the other way, and that is remembered for as long as this object lives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from retentive.errors import InvalidInput
from retentive.llm.endpoint import Answer, Endpoint, clean_key
from retentive.llm.protocol import Message, Reply, Schema, Usage, estimated_usage
from retentive.llm.tally import Tally

OPENAI: Final = "https://api.openai.com/v1"
_ENDED: Final = {"stop": "stop", "length": "length", "content_filter": "filter", "tool_calls": "stop"}
_SCHEMA_STEPS: Final = ("json_schema", "json_object", "none")


class OpenAILlm:
    """A chat model behind an OpenAI-compatible endpoint.

    Prices are per million tokens; without them costs count as 0. 408, 409, 429, 5xx, time-outs and broken connections
    are tried again `max_retries` times.
    """

    def __init__(
        self,
        base_url: str = OPENAI,
        model: str = "gpt-4o-mini",
        *,
        api_key: str | None = None,
        timeout: float = 60.0,
        max_retries: int = 4,
        max_tokens: int = 2_000,
        input_price: float = 0.0,
        output_price: float = 0.0,
    ) -> None:
        if max_tokens < 1:
            raise InvalidInput(f"max_tokens must be at least 1; got {max_tokens!r}.", value=max_tokens)
        key = clean_key(api_key)
        self.id = f"openai:{model}"
        self._model = model
        self._max_tokens = max_tokens
        self._endpoint = Endpoint(
            base_url,
            {"Authorization": f"Bearer {key}"} if key else {},
            llm=self.id,
            secret=key,
            timeout=timeout,
            max_retries=max_retries,
        )
        self._tally = Tally(input_price, output_price)
        self._schema_step = 0
        self._limit = "max_tokens"
        self._settings: dict[str, Any] = {"temperature": 0}

    def __repr__(self) -> str:
        return f"OpenAILlm({self._endpoint.where!r}, {self._model!r})"

    @property
    def usage(self) -> Usage:
        """What all calls of this object took."""
        return self._tally.total

    def price(self, input_tokens: int, output_tokens: int) -> float:
        """Return what that many tokens cost."""
        return self._tally.price(input_tokens, output_tokens)

    def complete(self, messages: Sequence[Message], *, schema: Schema | None = None) -> str:
        """Return the answer's text."""
        return self.reply(messages, schema=schema).text

    def reply(self, messages: Sequence[Message], *, schema: Schema | None = None) -> Reply:
        """Return the answer with its usage."""
        answer = self._endpoint.post("chat/completions", self._body(messages, schema))
        while answer.status in {400, 422} and self._relax(answer, asked_for_json=schema is not None):
            answer = self._endpoint.post("chat/completions", self._body(messages, schema))
        payload = self._endpoint.read(answer)
        try:
            text, ended = _choice(payload)
        except (TypeError, KeyError, IndexError, AttributeError) as error:
            raise self._endpoint.failed(f"answered something unreadable ({error!r})", answer) from None
        return Reply(text, self._counted(payload, messages, text), ended)

    def close(self) -> None:
        """Close the connections; the model cannot be asked afterwards."""
        self._endpoint.close()

    def _body(self, messages: Sequence[Message], schema: Schema | None) -> dict[str, Any]:
        body = {
            "model": self._model,
            "messages": [dict(message) for message in messages],
            "stream": False,
            self._limit: self._max_tokens,
            **self._settings,
        }
        step = _SCHEMA_STEPS[self._schema_step]
        if schema is not None and step == "json_schema":
            body["response_format"] = {"type": step, "json_schema": {"name": "answer", "schema": dict(schema)}}
        elif schema is not None and step == "json_object":
            body["response_format"] = {"type": step}
        return body

    def _relax(self, answer: Answer, *, asked_for_json: bool) -> bool:
        """Give up what the refusal names; False if it names nothing of ours, or nothing is left to give up."""
        said = answer.text.lower()
        if "max_completion_tokens" in said and self._limit == "max_tokens":
            self._limit = "max_completion_tokens"
        elif "temperature" in said and self._settings:
            self._settings = {}
        elif asked_for_json and self._schema_step < len(_SCHEMA_STEPS) - 1 and _about_format(said):
            self._schema_step += 1
        else:
            return False
        return True

    def _counted(self, payload: Mapping[str, Any], messages: Sequence[Message], text: str) -> Usage:
        """Count by what the endpoint says, else by the characters."""
        stated = payload.get("usage")
        if isinstance(stated, dict) and all(
            isinstance(stated.get(name), int) for name in ("prompt_tokens", "completion_tokens")
        ):
            return self._tally.add(max(stated["prompt_tokens"], 0), max(stated["completion_tokens"], 0))
        guess = estimated_usage(messages, text)
        return self._tally.add(guess.input_tokens, guess.output_tokens, estimated=True)


def _about_format(said: str) -> bool:
    return any(word in said for word in ("response_format", "json_schema", "json_object", "schema", "grammar"))


def _choice(payload: Any) -> tuple[str, str]:
    """Return text and end of the first choice; content may be a text or a list of parts, and null beside a refusal."""
    choice = payload["choices"][0]
    message = choice["message"]
    ended = _ENDED.get(str(choice.get("finish_reason")), "")
    if refusal := message.get("refusal"):
        return str(refusal), "refusal"
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content)
    if content is None:
        content = ""
    if not isinstance(content, str):
        raise TypeError(f"content is {type(content).__name__}")
    return content, ended
