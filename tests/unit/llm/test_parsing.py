"""Answers of language models, as they come."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.llm.parsing import parse_answer
from retentive.llm.shape import Misshapen
from retentive.llm.tolerant import Unreadable, read_value
from retentive.testing.llm import fenced, injected, looping, malformed, refusing, truncated

RATING = {"type": "integer", "minimum": 1, "maximum": 10}
ITEM = {
    "type": "object",
    "required": ["n", "rating"],
    "properties": {"n": {"type": "integer"}, "rating": RATING, "why": {"type": "string", "maxLength": 10}},
}
SCHEMA = {
    "type": "object",
    "required": ["ratings"],
    "properties": {"ratings": {"type": "array", "items": ITEM, "minItems": 1, "maxItems": 3}},
}
GOOD: dict[str, Any] = {"ratings": [{"n": 1, "rating": 8}, {"n": 2, "rating": 3}]}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        fenced(GOOD),
        injected(GOOD),
        f"<think>Perhaps {{'ratings': [1]}}?</think>{json.dumps(GOOD)}",
        json.dumps(GOOD["ratings"]),  # the bare list
        '{"ratings": [{"n": 1, "rating": 8,}, {"n": 2, "rating": 3},],}',
        "{'ratings': [{'n': 1, 'rating': '8/10'}, {n: 2, rating: 3.2}]}",
        '{"ratings": [{"n": "1", "rating": "8"}, {"n": 2, "rating": 3}, {"n": 3}, "noise"]}',
        '{"ratings": {"items": [{"n": 1, "rating": 8}, {"n": 2, "rating": 3}]}} trailing words',
        '{"ratings": [ // the first\n {"n": 1, "rating": 8}, /* and */ {"n": 2, "rating": 3}]}',
        "{“ratings”: [{“n”: 1, “rating”: 8}, {“n”: 2, “rating”: 3}]}",
    ],
)
def test_what_is_plainly_meant_is_read(text: str) -> None:
    """Fences, prefaces, thoughts, commas, quotes, comments, types and wrappers do not matter."""
    assert parse_answer(text, SCHEMA).data == GOOD


def test_a_cut_answer_keeps_its_whole_elements() -> None:
    """The element in which the answer broke off is dropped; those before it are kept, and it says that it was cut."""
    text = json.dumps(GOOD)
    parsed = parse_answer(text[: text.rindex("3")], SCHEMA)
    assert parsed.data == {"ratings": [{"n": 1, "rating": 8}]}
    assert parsed.cut
    assert parsed.dropped == 1


def test_a_number_at_the_cut_is_not_believed() -> None:
    """ "1" may have been the beginning of "10"."""
    assert read_value('{"a": 2, "b": 1').data == {"a": 2}


def test_elements_of_no_use_are_counted() -> None:
    """Elements without what is required are dropped and counted; more than the most are cut."""
    parsed = parse_answer(json.dumps({"ratings": [{"n": n, "rating": n} for n in range(1, 6)] + [{"n": 1}]}), SCHEMA)
    assert len(parsed.data["ratings"]) == 3
    assert parsed.dropped == 1


def test_numbers_are_held_to_their_bounds() -> None:
    """A rating of 100 is a 10, one of -3 a 1; text is shortened; an optional member of no use is left out."""
    text = '{"ratings": [{"n": 1, "rating": 100, "why": "because it matters"}, {"n": 2, "rating": -3, "why": [1]}]}'
    first, second = parse_answer(text, SCHEMA).data["ratings"]
    assert first == {"n": 1, "rating": 10, "why": "because it"}
    assert second == {"n": 2, "rating": 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (malformed(), "JSON|lacks"),
        (refusing(), "no JSON"),
        (looping(), "no JSON"),
        ("", "empty"),
        ("   \n", "empty"),
        (None, "NoneType"),
        ("null", "no object"),
        ('{"other": 1}', "lacks ratings"),
        ('{"ratings": []}', "usable elements"),
        ('{"ratings": [{"n": true, "rating": 1}]}', "usable elements"),
        (truncated({"ratings": [{"n": 1, "rating": 8}]}, 0.3), "usable elements|lacks"),
    ],
)
def test_what_holds_no_answer_says_why(text: Any, reason: str) -> None:
    """Prose, refusals, loops, nothing, and the wrong shape are refused with the reason."""
    with pytest.raises(Misshapen, match=reason):
        parse_answer(text, SCHEMA)


def test_choices_flags_and_texts() -> None:
    """Enums ignore case, yes is true, and a number becomes text where text is wanted."""
    schema = {
        "type": "object",
        "required": ["kind", "sure", "text"],
        "properties": {
            "kind": {"type": "string", "enum": ["fact", "event"]},
            "sure": {"type": "boolean"},
            "text": {"type": "string", "minLength": 2},
            "any": {},
        },
    }
    given_ = '{"kind": " FACT", "sure": "Yes", "text": 42, "any": [1]}'
    assert parse_answer(given_, schema).data == {"kind": "fact", "sure": True, "text": "42", "any": [1]}
    for bad in ('"kind": "rumour"', '"sure": 1', '"text": "x"', '"text": {}'):
        name, _, value = bad.partition(":")
        data = json.loads(given_) | {json.loads(name): json.loads(value)}
        with pytest.raises(Misshapen, match=json.loads(name)):
            parse_answer(json.dumps(data), schema)


def test_half_a_character_cannot_come_in() -> None:
    """A lone surrogate, which no store can hold, becomes the replacement sign; a pair becomes its character."""
    assert read_value(r'["\ud83d\ude00", "\ud83d", "\uzzzz", "\q\n"]').data == ["😀", "�", "�", "q\n"]


def test_hostile_nesting_ends() -> None:
    """A hundred thousand brackets are refused, in linear time: quadratic would outlast all patience."""
    for text in ("[" * 100_000, '{"a":' * 100_000, "[{" * 50_000, "{" * 100_000, "[1" * 100_000):
        with pytest.raises(Misshapen):
            parse_answer(text, SCHEMA)


@pytest.mark.parametrize("text", ["{1: 2}", '{"a" 2}', "[nonsense here]", "", "1", "tru", "{'a': /"])
def test_what_is_no_value_is_unreadable(text: str) -> None:
    """Neither JSON nor the beginning of any; a scalar at the very end may be half of one."""
    with pytest.raises(Unreadable):
        read_value(text)


@pytest.mark.parametrize("text", ["{", "[", "{'a", "{a", "{a:", "[tru", "[1", "[1,", "['x"])
def test_what_breaks_off_keeps_what_was_complete(text: str) -> None:
    """Every beginning of a value is read as far as it goes."""
    assert read_value(text).cut


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12))
def test_real_json_is_read_as_itself(value: Any) -> None:
    """What is JSON already is read as JSON reads it."""
    text = json.dumps([value])
    assert read_value(text).data == json.loads(text)


@settings(max_examples=200)
@given(st.text(alphabet="{}[]\":,'ab1 \\u/*tn.-", max_size=60))
def test_garbage_is_refused_or_read(text: str) -> None:
    """No text whatever raises anything but `Misshapen`."""
    with contextlib.suppress(Misshapen):
        parse_answer(text, SCHEMA)
