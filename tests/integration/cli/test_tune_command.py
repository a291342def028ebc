"""`retentive tune`: from one's own recalls or a file, applied, shown, undone, refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from retentive import Policy
from retentive.cli.main import root
from retentive.cli.tuning import tune

Run = Callable[..., Any]
TOPICS = ("bees", "roof", "tram", "piano", "garden", "sauna", "kitchen", "harbour")
ASPECTS = ("paint", "price", "repair", "owner", "weather")
NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
SEARCH = ("--settings", "160", "--seed", "3")


def lived(tmp_path: Path, space: str = "acme/alice", *, fickle: bool = False) -> None:
    """Ask about everything and say what was useful: what fits, or by turns anything."""
    from retentive import Retentive

    with Retentive(tmp_path / "store", embedder="hash", clock=lambda: NOW) as memories:
        here = memories.space(space)
        ids = {}
        for at, key in enumerate(product(TOPICS, ASPECTS)):
            said = NOW - timedelta(days=2 + at * 7 % 40)
            ids[key] = here.remember("the {}: {}".format(*key), importance=0.2 + 0.15 * (at * 3 % 5), at=said).id
        for number, form in enumerate(("{} {} news", "what of the {} {}")):
            for at, key in enumerate(ids):
                wanted = (key[0], ASPECTS[(at * 7 + number * 3 + at // 3) % 5]) if fickle else key
                recall = here.recall(form.format(*key), policy="support", limit=10)
                recall.feedback(used=[ids[wanted]] if ids[wanted] in {hit.memory.id for hit in recall} else [])


@pytest.fixture
def served_by_support(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every space recall with `support`, which these users are not served well by."""
    monkeypatch.setenv("RETENTIVE_POLICY", "support")


@pytest.mark.usefixtures("served_by_support")
def test_learnt_applied_shown_and_undone(run: Run, data: Run, tmp_path: Path) -> None:
    """From the ledger to the space's own policy, in every place that shows one, and back."""
    lived(tmp_path)
    found = data("tune", *SEARCH)
    assert found["accepted"]
    assert found["settings_a_second"] > 0
    assert (found["applied"], found["written"]) == ([], None)
    told = run("tune", *SEARCH, "--apply", "--out", "mine.toml")
    assert "Better than 'support'" in told.stdout
    assert " settings in " in told.stdout
    assert "acme/alice recalls with 'support+tuned' from now on" in told.stderr
    assert Policy.load("mine.toml").name == "support+tuned"
    assert "'support+tuned' is this space's own since" in run("recall", "bees", "--explain").stdout
    shown = data("config", "show")[-1]
    assert (shown["key"], shown["value"]) == ("policy of the space", "support+tuned")
    assert "applied to acme/alice on" in run("config", "show").stdout
    assert run("tune", "--undo").stdout == "acme/alice: 'support' is in force again.\n"
    assert data("config", "show")[-1]["key"] != "policy of the space"
    assert "nothing to undo" in run("tune", "--undo", code=1).stderr


@pytest.mark.usefixtures("served_by_support")
def test_what_is_not_better_is_refused(run: Run, tmp_path: Path) -> None:
    """Neither written nor applied, said so, and the exit code tells a script; to only look is no failure."""
    lived(tmp_path, fickle=True)
    refused = run("tune", *SEARCH, "--apply", "--out", "mine.toml", code=1)
    assert "stays" in refused.stdout
    assert "Nothing was written or applied." in refused.stderr
    assert not Path("mine.toml").exists()
    run("tune", *SEARCH)


def test_better_than_where_it_began_is_not_enough(run: Run, data: Run, tmp_path: Path) -> None:
    """A policy tuned from a poor one has to beat what the space recalls with, or it would make it worse."""
    lived(tmp_path)
    refused = run("tune", "--policy", "support", *SEARCH, "--apply", code=1)
    assert "'retentive'" in refused.stdout
    assert "stays" in refused.stdout
    assert data("config", "show")[-1]["key"] != "policy of the space"


@pytest.mark.usefixtures("served_by_support")
def test_a_better_policy_may_come_from_elsewhere(run: Run, data: Run, tmp_path: Path) -> None:
    """What the search begins at competes as it stands: a better preset is a gain, tuned or not."""
    lived(tmp_path)
    found = data("tune", "--policy", "coding", *SEARCH, "--apply")
    assert (found["base"], found["beaten"], found["accepted"]) == ("coding", "'support'", True)
    assert found["held_out"]["after"] > found["held_out"]["before"]
    assert run("tune", "--undo").stdout == "acme/alice: 'support' is in force again.\n"


@pytest.mark.usefixtures("served_by_support")
def test_one_policy_for_all(run: Run, data: Run, tmp_path: Path) -> None:
    """`--all` learns from every space, applies to every space, and takes back where there is something to take back."""
    lived(tmp_path)
    lived(tmp_path, "acme/ben")
    run("remember", "bees", "--space", "acme/cora")
    found = data("tune", "--all", *SEARCH, "--apply")
    assert found["applied"] == ["acme/alice", "acme/ben", "acme/cora"]
    assert data("tune", "--all", "--undo") == {"in_force": dict.fromkeys(found["applied"], "support")}
    assert data("tune", "--all", "--undo") == {"in_force": {}}


@pytest.mark.usefixtures("served_by_support")
def test_all_spaces_with_policies_of_their_own(run: Run, data: Run, tmp_path: Path) -> None:
    """Each question is judged against what its own space recalls with; a set from outside cannot say that."""
    lived(tmp_path)
    lived(tmp_path, "acme/ben")
    run("tune", *SEARCH, "--apply")
    found = data("tune", "--all", *SEARCH)
    assert found["beaten"] == "the policies in force"
    run("eval", "from-ledger", "--out", "mine.json")
    refused = run("tune", "--all", "--data", "mine.json", *SEARCH, "--apply", code=2)
    assert "different policies ('support', 'support+tuned')" in " ".join(refused.stderr.split())


def test_from_a_file(run: Run, data: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labelled questions need no space; too few of them are refused with the remedy."""
    monkeypatch.delenv("RETENTIVE_SPACE")
    keys = list(product(TOPICS, ASPECTS))
    at = "2024-06-01T12:00:00Z"
    memories = [
        {"id": f"{a}-{b}", "text": f"the {a}: {b}", "at": at, "importance": 0.2 + 0.15 * (n * 3 % 5), "kind": "event"}
        for n, (a, b) in enumerate(keys)
    ]
    queries = [
        {"id": f"{a}-{b}", "text": f"{a} {b} news", "at": at, "gold": [f"{a}-{b}"], "category": "c"} for a, b in keys
    ]
    space = {"space": "s", "memories": memories, "queries": queries}
    Path("set.json").write_text(json.dumps({"name": "set", "spaces": [space]}), "utf-8")
    assert data("tune", "--data", "set.json", *SEARCH)["base"] == "retentive"
    run("tune", "--data", "set.json", *SEARCH, "--policy", "support", "--out", "mine.toml")
    assert "too few" in run("tune", "--data", "example", code=1).stderr
    assert "not in the form of beam" in run("tune", "--data", "set.json", "--format", "beam", code=1).stderr
    assert ".toml" in run("tune", "--data", "set.json", "--out", "mine.txt", code=2).stderr


@pytest.mark.usefixtures("served_by_support")
def test_a_bar_for_a_person(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the bar names what is running; the answer stays alone on standard output."""
    lived(tmp_path)
    monkeypatch.setattr("retentive.cli.tuning.on_terminal", lambda **_: True)
    told = run("tune", *SEARCH)
    assert told.stdout.splitlines()[0].split() == ["before", "after"]
    assert "--apply makes it the space's own policy" in told.stderr


def test_a_store_out_of_reach_does_not_hide_the_configuration(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks for the configuration may be looking for the reason: it is shown, with a warning."""
    store = tmp_path / "store"
    store.write_text("no folder", "utf-8")
    monkeypatch.setenv("RETENTIVE_STORE", str(store))
    told = run("config", "show")
    assert "embedder" in told.stdout
    assert "the store was not asked for a policy of acme/alice" in told.stderr


def test_examples_parse() -> None:
    """Every example of the help is a call that the command understands."""
    assert root.get_command(None, "tune") is tune  # type: ignore[arg-type]  # the table needs no context
    for example in tune.examples:
        words = example.split()[2:]
        context = tune.make_context("tune", words, resilient_parsing=True)
        assert context.params
