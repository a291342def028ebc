"""Public sets in the form their authors publish them: small hand-made files of that shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retentive.cli import options as cli
from retentive.errors import InvalidInput
from retentive.evaluate import formats
from retentive.evaluate.datasets import Dataset, load

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I keep bees."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "", "blip_caption": "a hive", "img_url": ["x"]},
            ],
            "session_2_date_time": "10:04 am on 1 June, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "I bought a boat."}],
            "session_3_date_time": "10:04 am on 2 June, 2023",
        },
        "qa": [
            {"question": "What does Ann keep?", "answer": "bees", "evidence": ["D1:01; D9:9"], "category": 4},
            {"question": "When did Bo buy it?", "answer": 2023, "evidence": ["D2:1"], "category": 2},
            {"question": "Who sold it?", "adversarial_answer": "Ann", "evidence": ["D2:1"], "category": 5},
        ],
    }
]
REALTALK = {
    "name": {"speaker_1": "Ann", "speaker_2": "Bo"},
    "session_1_date_time": "29.12.2023, 01:06:31",
    "session_1": [
        {"speaker": "Ann", "dia_id": "D1:1", "clean_text": "Rain again.", "date_time": "29.12.2023, 01:06:31"},
        {"speaker": "Bo", "clean_text": "I ran anyway.", "img_file": []},
    ],
    "session_1_observation": {"Ann": [["It rains", "D1:1"]]},
    "events_session_1": {"agent_a": {"sub-event": [], "date": "29 December, 2023"}},
    "qa": [{"question": "Who ran?", "answer": "Bo", "evidence": ["D1:2"], "category": 1}],
}
LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which bicycle did I buy?",
        "answer": "a red one",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s1", "answer_1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": ""}],
            [
                {"role": "user", "content": "I bought a red bicycle", "has_answer": True},
                {"role": "assistant", "content": "Nice", "has_answer": False},
            ],
        ],
        "answer_session_ids": ["answer_1"],
    }
]
LONGMEMEVAL.append({**LONGMEMEVAL[0], "question_id": "q2_abs"})
CHAT = [
    {
        "batch_number": 1,
        "time_anchor": "March-15-2024",
        "turns": [
            [
                {"role": "user", "id": 0, "content": "The limit is 100", "time_anchor": "March-15-2024"},
                {"role": "assistant", "id": 1, "content": "Noted"},
            ]
        ],
    },
    {
        "batch_number": 2,
        "turns": [
            [
                {"role": "user", "id": 2, "content": "The limit is 250 now", "time_anchor": "April-01-2024"},
                {"role": "user", "id": 1, "content": "an id that came before"},
            ]
        ],
    },
]
PROBES = {
    "abstention": [{"question": "Who is Rita?", "ideal_response": "unknown"}],
    "knowledge_update": [
        {"question": "What is the limit?", "source_chat_ids": {"original_info": [0], "updated_info": [2]}}
    ],
    "event_ordering": [{"question": "In which order?", "source_chat_ids": [[0, 2], 77]}],
    "summarization": [{"question": "Sum up", "source_chat_ids": 1}],
}


def read(tmp_path: Path, data: Any, form: str | None = None) -> Dataset:
    file = tmp_path / "published.json"
    file.write_text(json.dumps(data), "utf-8")
    return load(file, form)


def test_locomo(tmp_path: Path) -> None:
    """Turns follow their session's time, evidence in every spelling is found, categories get their names."""
    conversation = read(tmp_path, LOCOMO).conversations[0]
    assert [(item.id, item.said, item.session) for item in conversation.items] == [
        ("D1:1", "I keep bees.", "1"),
        ("D1:2", "(shared a picture)", "1"),
        ("D2:1", "I bought a boat.", "2"),
    ]
    assert conversation.items[1].at.isoformat() == "2023-05-08T13:56:20+00:00"
    assert conversation.items[1].caption == "a hive"
    assert [(one.category, set(one.gold), one.scored) for one in conversation.questions] == [
        ("single-hop", {"D1:1"}, True),
        ("temporal", {"D2:1"}, True),
        ("adversarial", {"D2:1"}, False),
    ]
    assert conversation.questions[0].at.isoformat() == "2023-06-02T10:04:00+00:00"  # a day after the last turn


def test_texts_stay_as_published_and_ids_in_every_spelling(tmp_path: Path) -> None:
    """Blanks at the ends stay; a turn without words says whether it was a picture; `D:1:2` is `D1:2`."""
    turns = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": " Hi.\n"},
        {"speaker": "Ann", "dia_id": "D1:2", "text": " "},
    ]
    asked = [{"question": 7, "evidence": ["D:1:2", "D"], "category": 9}]
    row = {"sample_id": 3, "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}}
    conversation = read(tmp_path, [{**row, "qa": asked}]).conversations[0]
    assert [item.text for item in conversation.items] == ["Ann:  Hi.\n", "Ann: (empty)"]
    assert (conversation.space, conversation.questions[0].text) == ("3", "7")
    assert conversation.questions[0].gold == {"D1:2"}
    assert conversation.questions[0].category == "9"


def test_realtalk_alone_and_as_a_folder(tmp_path: Path) -> None:
    """A message has its own time, else its session's; a folder of chats is one set, each named by its file."""
    conversation = read(tmp_path, REALTALK).conversations[0]
    assert [item.at.second for item in conversation.items] == [31, 31]
    folder = tmp_path / "chats"
    folder.mkdir()
    for name in ("Chat_1", "Chat_2"):
        (folder / f"{name}.json").write_text(json.dumps(REALTALK), "utf-8")
    dataset = load(folder)
    assert [one.space for one in dataset.conversations] == ["Chat_1", "Chat_2"]
    assert dataset.conversations[0].questions[0].category == "multi-hop"


def test_longmemeval_by_session_and_by_turn(tmp_path: Path) -> None:
    """By session unless turns are asked for; `_abs` answers nothing."""
    first, second = read(tmp_path, LONGMEMEVAL).conversations
    assert [item.text for item in first.items][1] == "user: I bought a red bicycle\nassistant: Nice"
    assert first.questions[0].gold == {"answer_1"}
    assert second.questions[0].abstains
    turns = read(tmp_path, LONGMEMEVAL, "longmemeval-turns").conversations[0]
    assert turns.questions[0].gold == {"answer_1:0"}
    assert (turns.items[1].said, turns.items[3].speaker) == ("(empty)", "assistant")
    assert turns.questions[0].at.isoformat() == "2023-05-30T23:40:00+00:00"


def check_beam(dataset: Dataset) -> None:
    conversation = dataset.conversations[0]
    assert [(item.id, item.at.isoformat()) for item in conversation.items] == [
        ("0", "2024-03-15T00:00:00+00:00"),
        ("1", "2024-03-15T00:01:00+00:00"),
        ("2", "2024-04-01T00:00:00+00:00"),
        ("1@2.2", "2024-04-01T00:01:00+00:00"),
    ]
    questions = {one.category: one for one in conversation.questions}
    update = questions["knowledge_update"]
    assert [set(ids) for ids in (update.gold, update.current, update.outdated)] == [{"0", "2"}, {"2"}, {"0"}]
    assert questions["abstention"].abstains
    assert questions["event_ordering"].gold == {"0", "2"}
    assert questions["summarization"].gold == {"1", "1@2.2"}  # nobody can tell which was meant


def test_beam_as_folders(tmp_path: Path) -> None:
    """Chats and probing questions in folders, by number; what a set of copies keeps as rows reads the same."""
    for number in ("10", "2"):
        (tmp_path / number / "probing_questions").mkdir(parents=True)
        (tmp_path / number / "chat.json").write_text(json.dumps(CHAT), "utf-8")
        (tmp_path / number / "probing_questions/probing_questions.json").write_text(json.dumps(PROBES), "utf-8")
    dataset = load(tmp_path)
    assert [one.space for one in dataset.conversations] == ["beam-2", "beam-10"]
    check_beam(dataset)


@pytest.mark.parametrize("probes", [PROBES, str(PROBES), json.dumps(PROBES)])
def test_beam_as_rows(tmp_path: Path, probes: Any) -> None:
    """Rows with the chat as lists, the questions as data or as the text of a literal."""
    rows = [{"conversation_id": "1", "chat": [batch["turns"] for batch in CHAT], "probing_questions": probes}]
    check_beam(read(tmp_path, rows))


def test_beam_of_ten_million_tokens(tmp_path: Path) -> None:
    """A list of plans, each row naming all of them and holding its own; the set's ids run through."""
    later = [{"batch_number": 1, "turns": [[{"role": "user", "id": 9, "content": "Bye", "time_anchor": None}]]}]
    chat = [{"plan-1": CHAT, "plan-2": None}, {"plan-1": None, "plan-2": later}]
    rows = [{"conversation_id": "1", "chat": chat, "probing_questions": PROBES, "plans": []}]
    items = read(tmp_path, rows).conversations[0].items
    assert [(item.id, item.session) for item in items][-2:] == [("1@2.2", "2"), ("9", "3")]
    assert items[-1].at.isoformat() == "2024-04-01T00:02:00+00:00"


def test_beam_asks_about_the_chat_that_was_cut(tmp_path: Path) -> None:
    """Its authors evaluate on `chat_trunecated.json` where it exists; a folder of one chat is a set too."""
    (tmp_path / "chat.json").write_text(json.dumps(CHAT), "utf-8")
    (tmp_path / "chat_trunecated.json").write_text(json.dumps(CHAT[:1]), "utf-8")
    (tmp_path / "probing_questions.json").write_text(json.dumps(PROBES), "utf-8")
    conversation = load(tmp_path).conversations[0]
    assert len(conversation.items) == 2
    assert {one.category: set(one.gold) for one in conversation.questions}["knowledge_update"] == {"0"}


@pytest.mark.parametrize("form", [LOCOMO, LONGMEMEVAL])
def test_rows_as_json_lines(tmp_path: Path, form: Any) -> None:
    """Copies of public sets come as a row a line as well."""
    file = tmp_path / "published.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in form), "utf-8")
    assert load(file) == read(tmp_path, form)


def without(data: Any, *path: str | int) -> Any:
    """Return a copy that lacks one field."""
    copied = json.loads(json.dumps(data))
    inner = copied
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return copied


@pytest.mark.parametrize(
    ("data", "path", "said"),
    [
        (LOCOMO, (0, "conversation", "session_2_date_time"), "conversation 'conv-1', session 2: the field"),
        (LOCOMO, (0, "conversation", "session_1", 1, "speaker"), "session 1, turn 2: the field 'speaker' is missing"),
        (LOCOMO, (0, "qa", 2, "category"), "conversation 'conv-1', question 3: the field 'category' is missing"),
        (LONGMEMEVAL, (1, "answer_session_ids"), r"row 2 \('q2_abs'\): the field 'answer_session_ids' is missing"),
        ([REALTALK], (0, "session_1", 0, "speaker"), "chat 'published', session 1, turn 1: the field 'speaker'"),
        ([REALTALK], (0, "qa", 0, "question"), "question 1: the field 'question' is missing"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, data: Any, path: tuple[str | int, ...], said: str) -> None:
    """The conversation, the turn or question, and the field."""
    with pytest.raises(InvalidInput, match=said):
        read(tmp_path, without(data, *path))


def test_moments_and_questions_that_do_not_fit_are_named(tmp_path: Path) -> None:
    """A date in another form, a date that is none, probing questions cut off in the middle."""
    row = {"chat": CHAT, "conversation_id": "1", "probing_questions": {"summarization": [{}]}}
    with pytest.raises(InvalidInput, match="chat 'beam-1', question 1 of summarization: the field 'question'"):
        read(tmp_path, [row])
    with pytest.raises(InvalidInput, match="chat 'beam-1': "):
        read(tmp_path, [{**row, "probing_questions": "{'summarization': ["}])
    for wrong in ("8th of May", 20230508):
        dated = [{**LONGMEMEVAL[0], "question_date": wrong}]
        with pytest.raises(InvalidInput, match=f"row 1 .*{wrong}"):
            read(tmp_path, dated)


def test_what_is_not_in_the_form_is_refused(tmp_path: Path) -> None:
    """A damaged file, another form by name, a chat that begins without a time, an unknown name, an empty folder."""
    with pytest.raises(InvalidInput, match="not in the form of locomo"):
        read(tmp_path, [{"qa": [], "conversation": {"session_1": [{"text": "x"}]}}])
    with pytest.raises(InvalidInput, match="not in the form of beam as published"):
        read(tmp_path, LOCOMO, "beam")
    with pytest.raises(InvalidInput, match="no time_anchor"):
        read(tmp_path, [{"chat": [[{"role": "user", "id": 0, "content": "x"}]], "probing_questions": {}}])
    with pytest.raises(InvalidInput, match="Did you mean 'locomo'"):
        read(tmp_path, LOCOMO, "locomoo")
    with pytest.raises(InvalidInput, match="expected an object"):
        read(tmp_path, LOCOMO, "neutral")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="cannot be read"):
        load(tmp_path / "empty")
    (tmp_path / "empty" / "list.json").write_text("[]", "utf-8")
    with pytest.raises(InvalidInput, match=r"list\.json' is no conversation"):
        load(tmp_path / "empty")


def test_the_command_line_knows_the_formats() -> None:
    """The list that `--help` shows is the real one."""
    assert cli.FORMATS == formats.NAMES
