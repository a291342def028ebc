"""A run as a folder: resumed where it stopped, refused where it differs, a page that needs nothing else."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from retentive.cli.main import root
from retentive.errors import InvalidInput
from retentive.evaluate import plots
from retentive.evaluate.analysis import AGE_NAMES, age_of, analyse, as_text
from retentive.evaluate.baselines import BM25
from retentive.evaluate.datasets import Dataset, load
from retentive.evaluate.misses import NEVER, RANKING
from retentive.evaluate.report import Report
from retentive.evaluate.runner import evaluate
from retentive.evaluate.saved import ANSWERS, CONFIG, PAGE, RESULTS, SavedRun, configuration
from retentive.policy import presets
from retentive.policy.policy import Policy
from retentive.testing.fakes import HashEmbedder

EXAMPLE = load("example")
FRESH = presets.get("freshness.news")
EVERY_CURVE = [
    BM25,
    presets.get("stream"),
    FRESH,
    presets.get("blend").replace(name="power", decay_by="power_law"),
    presets.get("blend").replace(name="flat", decay_by="none"),
    presets.get("retentive"),
]


class Interrupted(Exception):
    """The run was stopped."""


def measured(folder: Path, policies: list[Policy], *, stop_after: int = 10_000, touch: bool = True) -> Report:
    run = SavedRun(folder, configuration(EXAMPLE, policies, HashEmbedder(), touch=touch, text_form="fields"))
    run.begin()

    def step(done: int, _total: int, _label: str) -> None:
        if done >= stop_after:
            raise Interrupted

    report = evaluate(EXAMPLE, policies, embedder=HashEmbedder(), touch=touch, journal=run, progress=step)
    run.finish(report)
    return report


def untimed(report: Report) -> list[object]:
    return [replace(one, seconds=0.0) for one in report.asked]


def test_an_interrupted_run_resumes(tmp_path: Path) -> None:
    """Stopped in the middle, and its last line torn: the rest is asked, and the figures are those of one run."""
    policies = [BM25, presets.get("retentive")]
    whole = measured(tmp_path / "whole", policies)
    with pytest.raises(Interrupted):
        measured(tmp_path / "cut", policies, stop_after=9)
    answers = tmp_path / "cut" / ANSWERS
    finished = answers.read_bytes().count(b"\n")
    assert finished >= 1
    with answers.open("ab") as file:
        file.write(b'{"block": ["boatyard", "retent')
    again = measured(tmp_path / "cut", policies)
    assert untimed(again) == untimed(whole)
    assert answers.read_bytes().count(b"\n") == (tmp_path / "whole" / ANSWERS).read_bytes().count(b"\n") > finished


KILLED = """
import os, signal, sys
from retentive.evaluate.baselines import BM25
from retentive.evaluate.datasets import load
from retentive.evaluate.runner import evaluate
from retentive.evaluate.saved import SavedRun, configuration
from retentive.policy import presets
from retentive.testing.fakes import HashEmbedder

example, policies = load("example"), [BM25, presets.get("retentive")]
run = SavedRun(__import__("pathlib").Path(sys.argv[1]),
               configuration(example, policies, HashEmbedder(), touch=True, text_form="fields"))
run.begin()

def step(done, total, label):
    if done >= 27:
        os.kill(os.getpid(), signal.SIGKILL)

evaluate(example, policies, embedder=HashEmbedder(), touch=True, journal=run, progress=step)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_killed_run_resumes(tmp_path: Path) -> None:
    """`kill -9` in the middle of a block: those before it are there, and the whole is that of one run."""
    policies = [BM25, presets.get("retentive")]
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "run")], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    kept = (tmp_path / "run" / ANSWERS).read_bytes()
    assert kept.endswith(b"\n")
    assert not (tmp_path / "run" / PAGE).exists()
    assert untimed(measured(tmp_path / "run", policies)) == untimed(measured(tmp_path / "whole", policies))
    whole = (tmp_path / "run" / ANSWERS).read_bytes()
    assert whole.startswith(kept)
    assert len(kept) < len(whole)


def test_a_finished_run_asks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made again from the answers alone, even where nothing could be asked any more."""
    report = measured(tmp_path / "run", [BM25])
    monkeypatch.setattr("retentive.memory.Space.recall", None)
    assert measured(tmp_path / "run", [BM25]).rows == report.rows


def test_another_run_is_refused(tmp_path: Path) -> None:
    """Other policies, another folder's files, a damaged configuration: said, with what differs."""
    measured(tmp_path / "run", [BM25], touch=False)
    with pytest.raises(InvalidInput, match="other touch, policies"):
        measured(tmp_path / "run", [BM25.replace(limit=3)])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x", "utf-8")
    with pytest.raises(InvalidInput, match="holds other files"):
        measured(tmp_path / "mine", [BM25])
    (tmp_path / "run" / CONFIG).write_text("{", "utf-8")
    with pytest.raises(InvalidInput, match="cannot be read"):
        measured(tmp_path / "run", [BM25])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    measured(folder, EVERY_CURVE, touch=False)
    return folder


def test_the_page_needs_nothing_else(folder: Path) -> None:
    """No address is fetched, every picture is well-formed, and every section is there."""
    page = (folder / PAGE).read_text("utf-8")
    assert not re.search(r"(src|href)=|@import|url\(|<script", page)
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) >= 8
    for picture in pictures:
        ET.fromstring(picture)  # noqa: S314 - our own page
    for title in ("How sure", "Quality by k", "Where evidence is lost", "Decay", "Cost", "Environment"):
        assert f"<h2>{title}</h2>" in page
    assert "stream: recency" in page
    assert "freshness.news: freshness, fact" in page
    assert "flat: recency" not in page


def test_results_hold_what_the_page_shows(folder: Path) -> None:
    """Intervals hold their means, every pair is compared, all evidence is somewhere."""
    data = json.loads((folder / RESULTS).read_text("utf-8"))["analysis"]
    for line in data["intervals"] + data["by_age"]:
        assert all(value["low"] <= value["mean"] <= value["high"] for value in line["metrics"].values())
    overall = [one for one in data["comparisons"] if one["group"] == "overall"]
    assert len(overall) == 15
    ages = {line["group"] for line in data["by_age"]}
    assert {one["group"] for one in data["comparisons_by_age"]} == ages
    for against in ("comparisons", "comparisons_by_age"):
        assert all(0 < one["p"] <= 1 and one["questions"] > 0 for one in data[against])
    evidence = {sum(counts.values()) for counts in data["misses"].values()}
    assert len(evidence) == 1
    assert {line["group"] for line in data["by_age"]} <= set(AGE_NAMES)


def test_where_evidence_goes() -> None:
    """A floor that nothing reaches cuts all; a channel that finds nothing never recalls; a limit loses in ranking."""
    floored = presets.get("blend").replace(name="floored", floor=99.0)
    wordless = BM25.replace(name="wordless", channels=("recent",), pool=1)
    shallow = BM25.replace(name="shallow")
    report = evaluate(EXAMPLE, [floored, wordless, shallow], embedder=HashEmbedder(), k=(1,))
    found = analyse(report).misses
    pieces = sum(found["floored"].values())
    assert found["floored"]["cut by the floor"] + found["floored"][NEVER] == pieces
    assert found["wordless"][NEVER] > found["wordless"]["came up"]
    assert found["shallow"][RANKING] > 0


def test_a_rotated_memory_is_told_apart(tmp_path: Path) -> None:
    """What rotation alone kept out of the answer is no fault of the ranking."""
    rotating = presets.get("operational").replace(name="rotating", diversity="none", near_duplicate=None)
    report = evaluate(_twice(EXAMPLE), [rotating], embedder=HashEmbedder(), k=(1,), touch=True, store=tmp_path / "s")
    assert analyse(report).misses["rotating +touch"]["rotated out"] > 0


def _twice(dataset: Dataset) -> Dataset:
    """Ask every question twice in a row."""
    conversations = tuple(
        replace(one, questions=tuple(again for question in one.questions for again in (question, question)))
        for one in dataset.conversations
    )
    return replace(dataset, conversations=conversations)


def test_ages() -> None:
    """Each age has one bucket, its lower end in it."""
    assert [age_of(days) for days in (0.0, 1.0, 6.9, 30.0, 364.0, 365.0)] == [
        "under a day", "1-7 days", "1-7 days", "30-90 days", "90-365 days", "over a year",
    ]  # fmt: skip


def test_nothing_scored_says_nothing() -> None:
    """A set of questions without evidence has no interval, and its page no plots."""
    conversations = tuple(
        replace(one, questions=tuple(replace(question, gold=frozenset()) for question in one.questions))
        for one in EXAMPLE.conversations
    )
    report = evaluate(replace(EXAMPLE, conversations=conversations), [BM25], embedder=HashEmbedder())
    assert as_text(analyse(report)) == ""
    assert plots.lines({}, x="k", y="y") == plots.dots({}, x="x") == plots.stacks({}, unit="u") == ""


def test_from_the_command_line(tmp_path: Path) -> None:
    """Two sets go into two folders; the second time they are resumed."""
    sets = [tmp_path / name for name in ("one.json", "two.json")]
    for file in sets:
        file.write_text((Path(plots.__file__).parent / "example.json").read_text("utf-8"), "utf-8")
    arguments = ["--embedder", "hash", "eval", "run", "--no-baselines", "--overall", "--save", str(tmp_path / "runs")]
    arguments += ["--data", str(sets[0]), "--data", str(sets[1])]
    first = CliRunner().invoke(root, arguments)
    assert first.exit_code == 0, first.output
    assert "95 % interval" in first.output
    assert (tmp_path / "runs/two" / PAGE).is_file()
    assert "Resuming" in CliRunner().invoke(root, arguments).output
