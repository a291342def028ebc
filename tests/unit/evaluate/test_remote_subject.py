"""Another memory layer takes the test: a program that answers JSON lines."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from retentive.cli.main import root
from retentive.evaluate.scenarios import RetentiveSubject, Setting
from retentive.evaluate.scenarios.remote import PeerFailed, SubjectProgram, play
from retentive.evaluate.scenarios.subject import Clock
from retentive.testing.fakes import HashEmbedder

PROGRAM = """
import json, sys

kept = {}
for line in sys.stdin:
    asked = json.loads(line)
    do, number = asked["do"], asked.get("subject")
    answer = {}
    if do == "hello":
        answer = {"name": "plain", "how": "by the vector", "expresses": EXPRESSES}
    elif do == "open":
        kept[number] = []
    elif do == "remember":
        memory_id = f"m{len(kept[number])}"
        kept[number].append((memory_id, asked["text"], asked["vector"], asked["space"]))
        answer = {"id": memory_id}
    elif do == "recall":
        rows = [row for row in kept[number] if row[3] == asked["space"]]
        scored = [(sum(a * b for a, b in zip(row[2], asked["vector"])), row) for row in rows]
        best = sorted(scored, key=lambda pair: -pair[0])[: asked["limit"]]
        answer = {"hits": [{"id": row[0], "text": row[1], "score": score} for score, row in best]}
    elif do == "forget":
        answer = FORGET
    print(json.dumps(answer), flush=True)
"""
Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a program and return the command that runs it."""

    def write(source: str = PROGRAM, expresses: tuple[str, ...] = (), forget: dict[str, str] | None = None) -> str:
        text = source.replace("EXPRESSES", repr(list(expresses))).replace("FORGET", repr(forget or {}))
        file = tmp_path / "peer.py"
        file.write_text(text, "utf-8")
        return shlex.join([sys.executable, str(file)])

    return write


def test_pass_fail_and_what_it_has_no_word_for(make: Make) -> None:
    """A vector store keeps the walls, answers what it should not, and is not asked about importance or explanations."""
    name, verdicts = play(make(), ["2", "17", "20", "25"])
    found = {verdict.number: verdict for verdict in verdicts}
    assert name == "plain"
    assert found[20].outcome == "pass"
    assert found[17].outcome == "fail"
    assert found[2].outcome == "not offered"
    assert found[2].reason.startswith("it knows no importance; ")
    assert found[25].reason == "plain has no explained answers"


def test_what_it_says_it_knows_it_is_held_to(make: Make) -> None:
    """A program that claims to rank by importance, and does not, fails."""
    _, verdicts = play(make(expresses=("importance",)), ["2"])
    assert verdicts[0].outcome == "fail"


def test_a_part_of_a_promise_proves_little(make: Make) -> None:
    """Of pruning only forgetting can be asked of others: kept or not, it is not counted."""
    command = make(forget={"cannot": "it keeps everything"})
    _, verdicts = play(command, ["36"])
    assert (verdicts[0].outcome, verdicts[0].reason) == ("not offered", "plain: it keeps everything")
    deletes = PROGRAM.replace("answer = FORGET", "kept[number] = [r for r in kept[number] if r[0] != asked['id']]")
    _, verdicts = play(make(deletes), ["36"])
    assert (verdicts[0].outcome, verdicts[0].reason) == ("not offered", "it knows no pruning; the rest holds")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import sys; sys.exit(3)", "ended without an answer to 'hello'"),
        ("print('hello there', flush=True); input(); input()", "which is no JSON"),
        ('print(\'{"error": "no model"}\', flush=True); input()', "no model"),
    ],
)
def test_a_program_that_does_not_answer(make: Make, source: str, message: str) -> None:
    """Says what came instead of an answer."""
    with pytest.raises(PeerFailed, match=message), SubjectProgram(make(source)):
        pass


def test_a_program_that_is_not_there() -> None:
    """Names the command."""
    with pytest.raises(PeerFailed, match="'/nowhere/peer' cannot be started"), SubjectProgram("/nowhere/peer"):
        pass


def test_an_error_on_the_way_is_a_broken_promise(make: Make) -> None:
    """What a peer raises is its answer; the program goes on with the next scenario."""
    full = "answer = {'error': 'disk full'} if do == 'recall' else answer\n    print("
    failing = PROGRAM.replace("print(", full)
    _, verdicts = play(make(failing), ["17", "20"])
    assert [verdict.reason for verdict in verdicts] == ["PeerFailed: disk full"] * 2


def test_it_runs_only_while_it_is_open(make: Make) -> None:
    """Asked outside its block it says so; a subject closed after its program is closed in peace."""
    program = SubjectProgram(make())
    with program:
        subject = program.open(Setting(Clock(), HashEmbedder()))
        memory_id = subject.remember("bees", kind="event", tags=["a"], at=Clock().ago(3), metadata={"n": 1})
        assert [hit.id for hit in subject.recall("bees", kinds=["event"])] == [memory_id]
        subject.forget(memory_id)
        subject.reopen()
    subject.close()
    with pytest.raises(PeerFailed, match="is not running"):
        subject.recall("bees")
    assert not isinstance(subject, RetentiveSubject)


def test_from_the_command_line(make: Make) -> None:
    """`--subject` plays the same, says how many it was asked, and exits 1 where a promise is broken."""
    command = make()
    told = CliRunner().invoke(root, ["eval", "scenarios", "--only", "20", "--only", "25", "--subject", command])
    assert told.exit_code == 0
    assert "1 of 1 behaviours hold under 'plain'; 1 it cannot express" in told.stderr
    failed = CliRunner().invoke(root, ["eval", "scenarios", "--only", "17", "--subject", command, "--json"])
    assert failed.exit_code == 1
    assert json.loads(failed.stdout)[0]["outcome"] == "fail"
