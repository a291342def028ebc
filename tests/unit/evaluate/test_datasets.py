"""Reading labelled sets: what is accepted, and how a refusal names the place."""

from __future__ import annotations

import gzip
import json
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from retentive.errors import InvalidInput, NotFound
from retentive.evaluate.datasets import Item, load

SET: dict[str, Any] = {
    "name": "tiny",
    "licence": "none",
    "source": "made up",
    "spaces": [
        {
            "space": "one",
            "memories": [
                {"id": "a", "text": "Ann: hello", "at": "2024-01-01T10:00:00Z", "speaker": "Ann", "session": "1"},
                {"id": "b", "text": "bye", "at": "2024-01-02T10:00:00+02:00", "caption": "a door"},
            ],
            "queries": [
                {"id": "q1", "text": "who?", "at": "2024-02-01T00:00:00Z", "gold": ["a"], "category": "single"},
                {"id": "q2", "text": "why?", "at": "2024-02-01T00:00:00Z", "gold": [], "category": "abstention"},
                {"id": "q3", "text": "no?", "at": "2024-02-01T00:00:00Z", "gold": ["b"], "category": "adversarial"},
            ],
        }
    ],
}


def _written(folder: Path, data: Any, name: str = "set.json") -> Path:
    file = folder / name
    text = json.dumps(data).encode()
    file.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return file


@pytest.mark.parametrize("name", ["set.json", "set.json.gz"])
def test_json_plain_and_gzipped(tmp_path: Path, name: str) -> None:
    """Both forms give the same values."""
    dataset = load(_written(tmp_path, SET, name))
    conversation = dataset.conversations[0]
    assert (dataset.name, dataset.licence, dataset.questions) == ("tiny", "none", 3)
    assert conversation.items[0] == Item("a", "Ann: hello", datetime(2024, 1, 1, 10, tzinfo=UTC), "Ann", "1")
    assert conversation.items[1].at == datetime(2024, 1, 2, 8, tzinfo=UTC)
    assert conversation.items[1].caption == "a door"
    assert conversation.questions[0].gold == {"a"}


@pytest.mark.parametrize("name", ["lines.jsonl", "lines.jsonl.gz"])
def test_json_lines_hold_a_space_each(tmp_path: Path, name: str) -> None:
    """The header may be missing; the file's name then is the set's."""
    file = tmp_path / name
    text = ("\n" + json.dumps(SET["spaces"][0]) + "\n").encode()
    file.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    dataset = load(file)
    assert (dataset.name, dataset.questions) == ("lines", 3)


def test_json_lines_with_a_header(tmp_path: Path) -> None:
    """A line without memories names the set."""
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps({"name": "named", "licence": "L"}) + "\n" + json.dumps(SET["spaces"][0]), "utf-8")
    assert (load(file).name, load(file).licence) == ("named", "L")


def test_which_questions_count(tmp_path: Path) -> None:
    """Without evidence, abstention and adversarial stay out of recall; only abstention asks for an empty answer."""
    questions = load(_written(tmp_path, SET)).conversations[0].questions
    assert [question.scored for question in questions] == [True, False, False]
    assert [question.abstains for question in questions] == [False, True, False]


def test_the_speaker_is_not_said_twice() -> None:
    """A leading name goes, for it is passed beside the text; a text that is nothing else stays."""
    at = datetime(2024, 1, 1, tzinfo=UTC)
    assert Item("a", "Ann: hello", at, "Ann").said == "hello"
    assert Item("a", "Bob: hello", at, "Ann").said == "Bob: hello"
    assert Item("a", "Ann: hello", at).said == "Ann: hello"
    assert Item("a", "Ann: ", at, "Ann").said == "Ann: "


def test_cut_to_the_first_questions(tmp_path: Path) -> None:
    """Cutting keeps the memories and drops conversations that are not asked."""
    data = deepcopy(SET)
    data["spaces"].append({**deepcopy(SET["spaces"][0]), "space": "two"})
    dataset = load(_written(tmp_path, data))
    assert [dataset.first(count).questions for count in (1, 3, 4, 99)] == [1, 3, 4, 6]
    assert [len(dataset.first(count).conversations) for count in (1, 3, 4)] == [1, 1, 2]


def test_the_bundled_example_loads() -> None:
    """It has what every part of a report needs."""
    questions = [question for conversation in load("example").conversations for question in conversation.questions]
    assert any(question.abstains for question in questions)
    assert any(question.current and question.outdated for question in questions)
    assert sum(question.scored for question in questions) >= 8


def _broken(path: list[Any], value: Any) -> Any:
    data = deepcopy(SET)
    inner: Any = data
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return data


MEMORY = ["spaces", 0, "memories", 1]
QUERY = ["spaces", 0, "queries", 0]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["name"], 7, ["name", "expected a text", "7"]),
        (["spaces"], {}, ["spaces", "expected a list"]),
        (["spaces"], [], ["spaces", "no space"]),
        (["spaces", 0], "x", ["spaces[0]", "expected an object", "'x'"]),
        ([*MEMORY, "id"], "a", ["spaces[0].memories[1].id", "stands for another text", "'a'"]),
        ([*MEMORY, "text"], "  ", ["spaces[0].memories[1].text", "not empty"]),
        ([*MEMORY, "at"], "yesterday", ["spaces[0].memories[1].at", "ISO 8601", "'yesterday'"]),
        ([*MEMORY, "at"], "2024-01-01T10:00:00", ["memories[1].at", "no time zone", "Append Z"]),
        ([*MEMORY, "speaker"], 3, ["memories[1].speaker", "expected a text"]),
        ([*QUERY, "gold"], None, ["queries[0].gold", "expected a list"]),
        ([*QUERY, "gold"], ["a", "zz"], ["queries[0].gold[1]", "no memory of this space", "'zz'"]),
        ([*QUERY, "current"], ["zz"], ["queries[0].current[0]", "'zz'"]),
        ([*QUERY, "category"], "", ["queries[0].category"]),
    ],
)
def test_a_refusal_names_the_place(tmp_path: Path, path: list[Any], value: Any, said: list[str]) -> None:
    """File, place inside, value and remedy stand in the message."""
    file = _written(tmp_path, _broken(path, value))
    with pytest.raises(InvalidInput) as refused:
        load(file)
    assert all(part in refused.value.message for part in [str(file), *said]), refused.value.message


def test_a_repeated_memory_is_accepted(tmp_path: Path) -> None:
    """LongMemEval puts a session twice into some haystacks: the same id and text."""
    data = deepcopy(SET)
    data["spaces"][0]["memories"].append(deepcopy(SET["spaces"][0]["memories"][0]))
    assert [item.id for item in load(_written(tmp_path, data)).conversations[0].items] == ["a", "b", "a"]


def test_two_spaces_of_one_name_are_refused(tmp_path: Path) -> None:
    """They would be remembered into one."""
    data = deepcopy(SET)
    data["spaces"].append(deepcopy(SET["spaces"][0]))
    with pytest.raises(InvalidInput, match=r"spaces\[1\].space: it appears twice"):
        load(_written(tmp_path, data))


def test_no_file_and_no_json(tmp_path: Path) -> None:
    """A missing file, a folder, damaged gzip and plain text are told apart."""
    with pytest.raises(NotFound, match="no data file"):
        load(tmp_path / "absent.json")
    with pytest.raises(InvalidInput, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b"{}")[:-4])
    with pytest.raises(InvalidInput, match="damaged"):
        load(tmp_path / "cut.json.gz")
    (tmp_path / "text.json").write_text("hello", "utf-8")
    with pytest.raises(InvalidInput, match="not JSON"):
        load(tmp_path / "text.json")


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    """JSON Lines are refused with the line's number."""
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(SET["spaces"][0]) + "\n{oops\n", "utf-8")
    with pytest.raises(InvalidInput, match=r"line\[2\]: not JSON"):
        load(file)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("importance", 1.5, "expected a number from 0 to 1"),
        ("importance", True, "expected a number from 0 to 1"),
        ("read", "yesterday", "expected a list"),
        ("read", ["yesterday"], "expected a moment in ISO 8601"),
        ("read", ["2026-01-05T10:00:00"], "the moment has no time zone"),
    ],
)
def test_what_is_known_of_a_memory_is_checked(tmp_path: Path, field: str, value: object, message: str) -> None:
    """Importance and past reads are refused with their place where they do not fit."""
    memory = {"id": "m1", "text": "the key", "at": "2026-01-05T10:00:00Z", field: value}
    file = tmp_path / "set.json"
    space = {"space": "s", "memories": [memory], "queries": []}
    file.write_text(json.dumps({"name": "set", "spaces": [space]}), "utf-8")
    with pytest.raises(InvalidInput, match=message):
        load(file)
