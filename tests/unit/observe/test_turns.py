"""Chat messages of every shape become turns."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from retentive.errors import InvalidInput
from retentive.observe.turns import Read, read_messages

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


def said(*messages: Any) -> list[tuple[str, str, str]]:
    return [(turn.role, turn.speaker, turn.text) for turn in read_messages(messages).turns]


def test_openai_chat_messages() -> None:
    """Roles are speakers unless a name is given; instructions and empty messages are skipped, and counted."""
    read = read_messages(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": "Hello", "name": "anna"},
            {"role": "assistant", "content": None},
            {"role": "assistant", "content": "Hi"},
        ]
    )
    assert [(turn.role, turn.speaker, turn.text) for turn in read.turns] == [
        ("user", "anna", "Hello"),
        ("assistant", "assistant", "Hi"),
    ]
    assert read.skipped == 3


def test_content_parts() -> None:
    """Texts are joined, what is no text is named, and thoughts were not said."""
    parts = [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA"}},
        {"type": "thinking", "thinking": "secret"},
        {"type": "refusal", "refusal": "I can't."},
        "and this",
    ]
    assert said({"role": "user", "content": parts}) == [("user", "user", "Look:\n[image]\n[audio]\nI can't.\nand this")]


def test_tool_calls_and_results() -> None:
    """A call is part of the assistant's turn; a result is a turn of the tool, wherever it stands."""
    messages = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "find", "arguments": '{"q": "tea"}'}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "3 teas"},
        {"role": "assistant", "content": "", "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "look", "input": {"at": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "seen"}]}]},
    ]
    assert said(*messages) == [
        ("assistant", "assistant", '[calls find({"q": "tea"})]'),
        ("tool", "tool", "3 teas"),
        ("assistant", "assistant", "[calls old({})]"),
        ("assistant", "assistant", '[calls look({"at": 1})]'),
        ("tool", "tool", "seen"),
    ]


def test_responses_items() -> None:
    """OpenAI's newer shape, in which calls and outputs are items of their own."""
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {"type": "function_call", "name": "weather", "arguments": '{"in": "Ghent"}', "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": {"sky": "grey"}},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Grey."}]},
    ]
    assert said(*items) == [
        ("user", "user", "Weather?"),
        ("assistant", "assistant", '[calls weather({"in": "Ghent"})]'),
        ("tool", "tool", '{"sky": "grey"}'),
        ("assistant", "assistant", "Grey."),
    ]


def test_langchain_messages() -> None:
    """By their attributes, or as `messages_to_dict` and `dumpd` write them."""
    human = SimpleNamespace(type="human", content="Hello", additional_kwargs={"timestamp": AT.isoformat()}, name=None)
    machine = SimpleNamespace(
        type="ai", content=[{"type": "text", "text": "Hi"}], tool_calls=[{"name": "f", "args": {"a": 1}, "id": "1"}]
    )
    chat = SimpleNamespace(type="chat", role="Moderator", content="Order!")
    chunk = SimpleNamespace(type="AIMessageChunk", content="Chunk")
    saved = {"type": "ai", "data": {"content": "Saved", "additional_kwargs": {}}}
    dumped = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "HumanMessage"],
        "kwargs": {"content": "Dumped", "type": "human"},
    }
    bare = {"lc": 1, "id": ["langchain", "HumanMessage"], "kwargs": {"content": {"type": "text", "text": "Bare"}}}
    assert said(human, machine, chat, chunk, saved, dumped, bare) == [
        ("user", "user", "Hello"),
        ("assistant", "assistant", 'Hi\n[calls f({"a": 1})]'),
        ("user", "Moderator", "Order!"),
        ("assistant", "assistant", "Chunk"),
        ("assistant", "assistant", "Saved"),
        ("user", "user", "Dumped"),
        ("user", "user", "Bare"),
    ]
    assert read_messages([human]).turns[0].at == AT


def test_plain_turns_of_people() -> None:
    """A speaker that is no role is a person."""
    assert said({"speaker": "Maya", "text": "Morning"}, {"role": "Tom", "content": "Hey"}) == [
        ("user", "Maya", "Morning"),
        ("user", "Tom", "Hey"),
    ]


@pytest.mark.parametrize(
    "stated", [AT, "2026-05-01T14:00+02:00", "2026-05-01T12:00:00Z", AT.timestamp(), AT.timestamp() * 1000]
)
@pytest.mark.parametrize("key", ["at", "timestamp", "created_at"])
def test_times(key: str, stated: object) -> None:
    """As datetimes, ISO 8601, seconds or milliseconds."""
    assert read_messages([{"role": "user", "content": "x", key: stated}]).turns[0].at == AT


def test_a_message_says_how_far_it_is_believed() -> None:
    """0..1, read with the message."""
    assert read_messages([{"role": "user", "content": "x", "trust": 0.25}]).turns[0].trust == 0.25


def test_nothing_is_nothing() -> None:
    """No messages, no turns."""
    assert read_messages([]) == Read(())


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ("hello", "no list of messages"),
        ({"role": "user", "content": "x"}, "no list of messages"),
        (7, "no list of messages"),
        ([7], r"messages\[0\]=7 is no chat message"),
        ([{"content": "x"}], "neither role nor speaker"),
        ([{"role": "user", "content": 7}], "neither text nor a list of parts"),
        ([{"role": "user", "content": [7]}], "no content part"),
        ([{"role": "user", "content": "x", "at": "yesterday"}], "no moment"),
        ([{"role": "user", "content": "x", "at": "2026-05-01T12:00"}], "no time zone"),
        ([{"role": "user", "content": "x", "at": 1e300}], "no moment"),
        ([{"role": "user", "content": "x", "at": True}], "no moment"),
        ([{"role": "user", "content": "x", "trust": 2}], "not a number of 0..1"),
    ],
)
def test_what_is_no_message_is_refused(messages: Any, words: str) -> None:
    """With its place and what would be accepted."""
    with pytest.raises(InvalidInput, match=words):
        read_messages(messages)


def test_a_strange_tool_call_is_no_crash() -> None:
    """Calls that are no mappings say nothing."""
    assert said({"role": "assistant", "content": "Hi", "tool_calls": ["odd"]}) == [("assistant", "assistant", "Hi")]
