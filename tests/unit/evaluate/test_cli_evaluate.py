"""`retentive eval` as a person or a script calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from retentive.cli.main import root


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(root, ["--embedder", "hash", "eval", *arguments])


def test_run_prints_baselines_beside_the_policy() -> None:
    """Without data it takes the bundled example; the default policy and four baselines stand in the table."""
    result = _run("run", "--overall")
    assert result.exit_code == 0, result.output
    names = [line.split()[0] for line in result.output.splitlines()[2:8]]
    assert names == ["policy", "bm25", "vector", "rrf60", "min-max", "retentive"]


def test_run_by_category_without_baselines() -> None:
    """Each category has a table of its own."""
    result = _run("run", "--no-baselines", "--policy", "blend")
    assert result.exit_code == 0, result.output
    assert "update (2 questions)" in result.output
    assert "bm25" not in result.output


def test_run_as_json_and_files(tmp_path: Path) -> None:
    """The same figures as data on stdout, as JSON and as Markdown in files."""
    for name in ("out.json", "out.md"):
        result = _run("run", "--no-baselines", "--json", "--limit-queries", "2", "--out", str(tmp_path / name))
        assert result.exit_code == 0, result.output
        report = json.loads(result.stdout)[0]
        assert report["rows"][0]["questions"] == 2
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))[0]["dataset"] == "example"
    assert "| retentive |" in (tmp_path / "out.md").read_text("utf-8")


def test_run_with_touch_prints_the_difference() -> None:
    """Both runs and what lies between them, from one command."""
    result = _run("run", "--no-baselines", "--overall", "--touch")
    assert "retentive +touch" in result.output
    assert "Write-back moved ndcg@10 by: retentive" in result.output


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run", "--policy", "retentiv"], 1, "Did you mean 'retentive'?"),
        (["run", "--data", "absent.json"], 1, "no data file"),
        (["run", "--out", "table.txt"], 2, "name a .json or .md file"),
        (["scenarios", "--only", "99"], 1, "Unknown scenario '99'"),
    ],
)
def test_mistakes_name_what_there_is(arguments: list[str], code: int, said: str) -> None:
    """Usage errors exit 2, the rest 1, each with a remedy."""
    result = _run(*arguments)
    assert result.exit_code == code
    assert said in result.output


def test_scenarios_by_number_and_name() -> None:
    """Two promises that hold: exit 0, a line each."""
    result = _run("scenarios", "--only", "31", "--only", "permanent")
    assert result.exit_code == 0, result.output
    assert [line.split()[:2] for line in result.stdout.splitlines()] == [["31", "pass"], ["33", "pass"]]


def test_a_broken_promise_exits_1() -> None:
    """`focus` mixes raw signals and drowns a tight cosine band; the reason is printed."""
    result = _run("scenarios", "--policy", "focus", "--only", "3")
    assert result.exit_code == 1
    assert "FAIL" in result.stdout
    assert "came first" in result.stdout


def test_scenarios_as_json() -> None:
    """One object a scenario."""
    verdicts = json.loads(_run("scenarios", "--only", "33", "--json").stdout)
    assert verdicts[0]["outcome"] == "pass"
    assert set(verdicts[0]) == {"number", "name", "promise", "outcome", "reason", "seconds"}
