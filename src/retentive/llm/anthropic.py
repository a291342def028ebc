"""Anthropic's `POST /v1/messages`, spoken over httpx alone.

Structured output is a tool that the model must call: its input has the schema's shape.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from retentive.errors import InvalidInput
from retentive.llm.endpoint import Endpoint, clean_key
from retentive.llm.protocol import Message, Reply, Schema, Usage, estimated_usage
from retentive.llm.tally import Tally

ANTHROPIC: Final = "https://api.anthropic.com"
VERSION: Final = "2023-06-01"  # of the wire protocol
TOOL: Final = "answer"
_ENDED: Final = {
    "end_turn": "stop", "stop_sequence": "stop", "tool_use": "stop", "max_tokens": "length", "refusal": "refusal",
}  # fmt: skip


class AnthropicLlm:
    """A Claude model. Prices are per million tokens; without them costs count as 0."""

    def __init__(
        self,
        base_url: str = ANTHROPIC,
        model: str = "claude-3-5-haiku-latest",
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
        self.id = f"anthropic:{model}"
        self._model = model
        self._max_tokens = max_tokens
        self._endpoint = Endpoint(
            base_url,
            {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})},
            llm=self.id,
            secret=key,
            timeout=timeout,
            max_retries=max_retries,
            extra="anthropic",
        )
        self._tally = Tally(input_price, output_price)

    def __repr__(self) -> str:
        return f"AnthropicLlm({self._endpoint.where!r}, {self._model!r})"

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
        answer = self._endpoint.post("v1/messages", self._body(messages, schema))
        payload = self._endpoint.read(answer)
        try:
            text = _text(payload["content"])
            ended = _ENDED.get(str(payload.get("stop_reason")), "")
        except (TypeError, KeyError, AttributeError) as error:
            raise self._endpoint.failed(f"answered something unreadable ({error!r})", answer) from None
        return Reply(text, self._counted(payload, messages, text), ended)

    def close(self) -> None:
        """Close the connections; the model cannot be asked afterwards."""
        self._endpoint.close()

    def _body(self, messages: Sequence[Message], schema: Schema | None) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": self._max_tokens,
            "temperature": 0,
            "stream": False,
            "messages": _turns(messages),
        }
        if told := "\n\n".join(message["content"] for message in messages if message["role"] == "system"):
            body["system"] = told
        if schema is not None:
            body["tools"] = [{"name": TOOL, "description": "Give the answer.", "input_schema": dict(schema)}]
            body["tool_choice"] = {"type": "tool", "name": TOOL}
        return body

    def _counted(self, payload: Mapping[str, Any], messages: Sequence[Message], text: str) -> Usage:
        """Count by what the endpoint says (cached tokens are input too), else by the characters."""
        stated = payload.get("usage")
        if isinstance(stated, dict) and isinstance(stated.get("output_tokens"), int):
            names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            read = sum(count for name in names if isinstance(count := stated.get(name), int))
            return self._tally.add(max(read, 0), max(stated["output_tokens"], 0))
        guess = estimated_usage(messages, text)
        return self._tally.add(guess.input_tokens, guess.output_tokens, estimated=True)


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return the messages but the system's; turns of one role in a row become one, for the roles must alternate."""
    turns: list[dict[str, str]] = []
    for message in messages:
        if message["role"] == "system":
            continue
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1]["content"] += "\n\n" + message["content"]
        else:
            turns.append({"role": message["role"], "content": message["content"]})
    return turns


def _text(content: Any) -> str:
    """Return the tool's input where the model called it, else what it said."""
    for block in content:
        if block.get("type") == "tool_use" and block.get("name") == TOOL:
            return json.dumps(block["input"], ensure_ascii=False)
    return "".join(str(block.get("text", "")) for block in content if block.get("type") == "text")
