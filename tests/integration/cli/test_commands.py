"""Every command, run for real on a store of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_what_is_remembered_comes_back(run: Run) -> None:
    """The id on stdout is the one that recall and get know."""
    given = run("remember", "Prefers Postgres for relational work", "--kind", "preference").stdout.strip()
    assert given in run("recall", "Postgres for relational work").stdout
    assert "Prefers Postgres" in run("get", given).stdout


@pytest.mark.parametrize("arguments", [["-"], []])
def test_a_text_can_come_from_a_pipe(run: Run, data: Run, arguments: list[str]) -> None:
    """The line end that a shell adds is not remembered, those inside are."""
    given = run("remember", *arguments, input="first line\nsecond line\n").stdout.strip()
    assert data("get", given)["text"] == "first line\nsecond line"


def test_every_field_can_be_given(data: Run, run: Run) -> None:
    """What was said on the command line is what is stored."""
    run("remember", "old", "--id", "old")
    options = {
        "--kind": "decision",
        "--rating": "8",
        "--key": "database",
        "--tag": "stack",
        "--source": "turn:12",
        "--metadata": "ticket=7",
        "--speaker": "Ada",
        "--session": "s1",
        "--at": "2026-01-02T03:04:05Z",
        "--valid-from": "2026-01-01T00:00Z",
        "--valid-until": "2999-01-01T00:00+02:00",
        "--recurs": "yearly",
        "--trust": "0.5",
        "--supersedes": "old",
        "--id": "new",
    }
    memory = data(
        "remember", "We take Postgres", "--pin", "--permanent", *(part for pair in options.items() for part in pair)
    )
    assert (memory["kind"], memory["importance"], memory["key"]) == ("decision", 0.8, "database")
    assert (memory["tags"], memory["source"], memory["metadata"]) == (["stack"], "turn:12", {"ticket": 7})
    assert (memory["speaker"], memory["session"], memory["recurs"]) == ("Ada", "s1", "yearly")
    assert memory["created_at"] == "2026-01-02T03:04:05+00:00"
    assert memory["valid_until"] == "2998-12-31T22:00:00+00:00"
    assert (memory["pinned"], memory["permanent"], memory["trust"]) == (True, True, 0.5)
    assert memory["supersedes"] == ["old"]
    assert data("get", "old")["superseded_by"] == "new"


def test_recall_prints_the_explained_table(seeded: Run) -> None:
    """In a pipe: plain text with every signal of every hit."""
    result = seeded("recall", "Postgres for relational work", "--policy", "blend", "--limit", "1")
    assert "db-choice" in result.stdout
    assert "similarity" in result.stdout
    assert "\x1b" not in result.stdout
    assert "retentive explain r" in result.stderr


@pytest.mark.parametrize("form", ["xml", "markdown", "messages", "json"])
def test_recall_renders_for_a_prompt(seeded: Run, form: str) -> None:
    """Only the block is on stdout."""
    out = seeded("recall", "Postgres for relational work", "--policy", "blend", "--render", form).stdout
    assert "Prefers Postgres" in out
    if form in ("messages", "json"):
        json.loads(out)


def test_recall_gives_its_data(data: Run, seeded: Run) -> None:
    """Hits with score, signals and memory, and the trace."""
    answer = data("recall", "Postgres for relational work", "--policy", "blend")
    assert answer["hits"][0]["memory"]["id"] == "db-choice"
    assert answer["hits"][0]["signals"]["similarity"]["contribution"] == pytest.approx(1.0)
    assert answer["trace"]["policy"] == "blend"


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["--kind", "event", "--kind", "procedure"], {"failure", "gates"}),
        (["--tag", "stack"], {"db-choice"}),
        (["--where", "ticket=7"], {"failure"}),
        (["--where", 'ticket="7"'], set()),
        (["--since", "2999-01-01T00:00Z"], set()),
        (["--until", "2999-01-01T00:00Z"], {"db-choice", "failure", "gates"}),
        (["--as-of", "2001-01-01T00:00Z"], set()),
    ],
)
def test_filters_hold_for_recall_and_list(data: Run, seeded: Run, filters: list[str], expected: set[str]) -> None:
    """One vocabulary for both."""
    assert {memory["id"] for memory in data("list", *filters)} == expected
    answer = data("recall", "the deploy of Postgres tiers", "--policy", "blend", *filters)
    assert {hit["memory"]["id"] for hit in answer["hits"]} == expected


def test_recall_takes_a_policy_from_a_file(seeded: Run, data: Run, home: Path) -> None:
    """What ``policy show`` printed can be changed and used."""
    text = seeded("policy", "show", "blend").stdout.replace("limit = 5", "limit = 1")
    Path("mine.toml").write_text(text, "utf-8")
    assert len(data("recall", "the deploy of Postgres tiers", "--policy", "mine.toml")["hits"]) == 1


def test_recall_follows_the_agents_state(seeded: Run, data: Run) -> None:
    """The cue is made from goal, step and open loops; the words given are the utterance."""
    answer = data("recall", "go on", "--goal", "migrate tiers", "--step", "check gates", "--open-loop", "who approves?")
    assert "migrate tiers" in answer["trace"]["cue"]
    assert answer["trace"]["utterance"] == "go on"


def test_a_dry_recall_leaves_no_trace(seeded: Run, data: Run) -> None:
    """``--no-touch`` counts nothing and writes nothing into the ledger."""
    seeded("recall", "Postgres for relational work", "--policy", "blend", "--no-touch")
    assert data("get", "db-choice", "--no-touch")["access"]["count"] == 0
    assert seeded("explain", code=1).stderr.startswith("retentive: No recall is in the ledger")


def test_now_moves_the_clock_of_one_recall(seeded: Run, data: Run) -> None:
    """Reproducing an answer of another day needs no other clock."""
    answer = data("recall", "Postgres", "--now", "2030-01-01T00:00Z", "--no-touch")
    assert answer["trace"]["now"] == "2030-01-01T00:00:00+00:00"


def test_nothing_asked_is_wrong_usage(run: Run) -> None:
    """A recall without a question says how to ask one."""
    assert "Give a cue" in run("recall", code=2).stderr


def test_a_past_recall_is_explained_by_its_id(seeded: Run, data: Run) -> None:
    """What was asked, what came back with which score; the last one without an id."""
    asked = data("recall", "Postgres for relational work", "--policy", "blend")
    entry = data("explain", asked["id"])
    assert entry["recall"]["cue"] == "Postgres for relational work"
    assert [hit["score"] for hit in entry["hits"]] == [hit["score"] for hit in asked["hits"]]
    assert data("explain") == entry
    text = seeded("explain").stdout
    assert "Prefers Postgres" in text
    assert "blend" in text


def test_a_memory_is_explained_by_its_id(seeded: Run, data: Run) -> None:
    """Where it stands, what recalled it at which place, and its journal."""
    seeded("recall", "Postgres for relational work", "--policy", "blend")
    told = data("explain", "db-choice")
    assert told["memory"]["id"] == "db-choice"
    assert len(told["recalls"]) == 1
    assert told["journal"][0]["action"] == "remember"
    text = seeded("explain", "db-choice").stdout
    assert "1 of" in text
    seeded("forget", "db-choice")
    assert "Recall does not return it" in seeded("explain", "db-choice").stdout


def test_explaining_an_erased_hit_keeps_its_place(seeded: Run, data: Run) -> None:
    """The ledger remembers that something came back, not what it said."""
    seeded("recall", "Postgres for relational work", "--policy", "blend")
    seeded("forget", "db-choice", "--erase", "--yes")
    assert [hit["memory"] for hit in data("explain")["hits"] if hit["id"] == "db-choice"] == [None]
    assert "(erased)" in seeded("explain").stdout


def test_explaining_nothing_known_says_so(seeded: Run) -> None:
    """An id that is neither."""
    assert "neither a recall nor a memory" in seeded("explain", "nobody", code=1).stderr


def test_a_list_goes_on_by_its_cursor(seeded: Run, data: Run) -> None:
    """Pages do not overlap, and ``--all`` is all of them."""
    first = seeded("list", "--limit", "2", "--json")
    cursor = first.stderr.split("--cursor ")[1].split()[0]
    second = data("list", "--limit", "2", "--cursor", cursor)
    ids = [memory["id"] for memory in [*json.loads(first.stdout), *second]]
    assert ids == [memory["id"] for memory in data("list", "--limit", "1", "--all")]
    assert len(set(ids)) == 3


def test_an_update_changes_only_what_it_names(seeded: Run, data: Run) -> None:
    """The rest stays, and the history says both states and why."""
    seeded("update", "db-choice", "--text", "Prefers Postgres 18", "--pin", "--reason", "said so")
    memory = data("get", "db-choice")
    assert (memory["text"], memory["kind"], memory["tags"]) == ("Prefers Postgres 18", "preference", ["stack"])
    assert memory["pinned"]
    versions = data("history", "db-choice")
    assert [version["memory"]["text"] for version in versions][-1] == "Prefers Postgres 18"
    assert versions[-1]["reason"] == "said so"
    assert "→ Prefers Postgres 18" in seeded("history", "db-choice").stdout


def test_an_update_can_clear_and_switch_off(seeded: Run, data: Run) -> None:
    """Empty is a value too."""
    seeded("update", "db-choice", "--pin", "--key", "database", "--valid-until", "2999-01-01T00:00Z")
    seeded("update", "db-choice", "--no-pin", "--clear", "key", "--clear", "tags", "--clear", "valid-until")
    memory = data("get", "db-choice")
    assert (memory["pinned"], memory["key"], memory["tags"], memory["valid_until"]) == (False, None, [], None)


def test_an_update_of_nothing_is_wrong_usage(seeded: Run) -> None:
    """A reason alone is no change."""
    assert "What is to change?" in seeded("update", "db-choice", "--reason", "x", code=2).stderr


def test_forgetting_hides_and_erasing_removes(seeded: Run, data: Run) -> None:
    """Hidden can still be fetched; erased cannot, and every word of it is gone from the journal."""
    told = data("forget", "failure")
    assert (told["ids"], told["erased"], told["complete"]) == (["failure"], False, True)
    assert "failure" not in {memory["id"] for memory in data("list")}
    assert data("get", "failure")["suppressed_at"] is not None
    told = data("forget", "failure", "--erase", "--yes")
    assert (told["ids"], told["erased"], told["complete"]) == (["failure"], True, True)
    assert "No memory" in seeded("get", "failure", code=1).stderr
    assert "E4012" not in seeded("history", "failure", code=0).stdout


def test_either_time_axis(run: Run, data: Run) -> None:
    """--true-at and --known-at in recall, list, get and export; --as-of is both at once."""
    first, second, march = "2026-01-01T00:00Z", "2026-02-01T00:00Z", "2026-03-01T00:00Z"
    run("remember", "Lives in Porto", "--id", "porto", "--at", first, "--valid-until", march)
    run("remember", "Lives in Lisbon", "--id", "lisbon", "--at", second, "--valid-from", march)
    january, april = "2026-01-15T00:00Z", "2026-04-01T00:00Z"
    assert [memory["id"] for memory in data("list", "--true-at", april)] == ["lisbon"]
    assert data("list", "--true-at", april, "--known-at", january) == []
    recalled = data("recall", "Lives in", "--true-at", january, "--policy", "blend")
    assert [hit["memory"]["id"] for hit in recalled["hits"]] == ["porto"]
    assert data("get", "porto", "--as-of", january)["id"] == "porto"
    assert "not yet known" in run("get", "lisbon", "--known-at", january, code=1).stderr
    assert data("export", "then.jsonl", "--as-of", january)["memories"] == 1
    assert "--as-of is both" in run("list", "--as-of", april, "--true-at", april, code=2).stderr
    assert "--resume" in run("export", "then.jsonl", "--as-of", january, "--resume", code=2).stderr


def test_forgetting_by_source_and_person(seeded: Run, data: Run) -> None:
    """A dry run lists and changes nothing; what is left behind is named; --derived takes it along."""
    seeded("remember", "We met Bob Miller", "--id", "met", "--source", "chat:9")
    seeded("remember", "Nothing else from there", "--id", "else", "--source", "chat:9")
    seeded("remember", "Note: we met Bob Miller", "--id", "note")
    assert seeded("forget", "--source", "chat:9", "--dry-run").stdout.split() == ["else", "met"]
    assert data("forget", "--source", "chat:9", "--erase", "--dry-run")["left"] == ["note"]
    told = seeded("forget", "--source", "chat:9", "--erase", "--yes")
    assert "2 memories are erased" in told.stderr
    assert "left: note. Add --derived" in told.stderr
    assert data("forget", "--person", "Bob Miller", "--erase", "--yes")["ids"] == ["note"]
    assert "exactly one of" in seeded("forget", code=1).stderr
    assert "2 memories are hidden" in seeded("forget", "gates", "db-choice").stderr
    assert "would be hidden" in seeded("forget", "failure", "--dry-run").stderr


@pytest.mark.parametrize("arguments", [["forget", "db-choice", "--erase"], ["drop", "acme/alice"]])
def test_what_cannot_be_undone_needs_yes(seeded: Run, data: Run, arguments: list[str]) -> None:
    """Without a terminal nobody can be asked, and nothing happens."""
    assert "--yes" in seeded(*arguments, code=2).stderr
    assert len(data("list")) == 3


def test_spaces_are_listed_and_dropped(seeded: Run, data: Run) -> None:
    """Dropping one leaves the others."""
    seeded("remember", "Hello", "--space", "acme/bob")
    assert data("spaces") == ["acme/alice", "acme/bob"]
    assert data("drop", "acme/bob", "--yes", "--reason", "moved out") == {"space": "acme/bob", "dropped": True}
    assert seeded("spaces").stdout == "acme/alice\n"
    (certificate,) = data("spaces", "--dropped")
    assert (certificate["memories"], certificate["reason"]) == (1, "moved out")
    assert certificate["space"].startswith("blake2b:")
    told = seeded("spaces", "--dropped").stdout
    assert "moved out" in told
    assert "bob" not in told
    assert "Nothing was dropped" in seeded("drop", "acme/bob", "--yes", code=1).stderr


def test_reading_a_misspelt_space_is_an_error_and_creates_nothing(seeded: Run, data: Run) -> None:
    """An empty answer would look like a lost memory."""
    for command in (["list"], ["recall", "x"], ["get", "x"], ["export", "x.jsonl"], ["maintain"]):
        assert "Did you mean 'acme/alice'" in seeded(*command, "--space", "acme/alcie", code=1).stderr
    assert data("spaces") == ["acme/alice"]


def test_no_space_says_how_to_name_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """All three ways are in the message."""
    monkeypatch.delenv("RETENTIVE_SPACE")
    message = run("recall", "x", code=2).stderr
    assert all(way in message for way in ("--space", "RETENTIVE_SPACE", "retentive.toml"))


def test_options_count_before_and_after_the_command(seeded: Run, data: Run) -> None:
    """The one nearest to the command wins."""
    assert "acme/alice" in seeded("--space", "nowhere", "--json", "get", "db-choice", "--space", "acme/alice").stdout


def test_policies_are_listed_shown_and_checked(run: Run, data: Run) -> None:
    """The default first; what is shown is what a file may say; a bad file is named."""
    assert data("policy", "list")[0]["name"] == "retentive"
    assert data("policy", "show", "focus")["name"] == "focus"
    Path("cliff.toml").write_text(run("policy", "show", "blend").stdout.replace("14", "1"), "utf-8")
    result = run("policy", "check", "cliff.toml")
    assert "half-life" in result.stdout + result.stderr
    assert "valid policy" in result.stderr
    assert run("policy", "check", "blend").stdout == ""
    Path("bad.toml").write_text('base = "blend"\n[selection]\nlimt = 3', "utf-8")
    assert "limit" in run("policy", "check", "bad.toml", code=1).stderr


def test_config_show_names_every_origin(run: Run, data: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Value and source of each key, and no secret."""
    Path("retentive.toml").write_text('actor = "me"\n', "utf-8")
    monkeypatch.setenv("RETENTIVE_ENDPOINT_API_KEY", "sk-secret")
    entries = {entry["key"]: entry for entry in data("config", "show", "--space", "mine")}
    assert entries["actor"]["origin"].endswith("retentive.toml")
    assert entries["embedder"] == {"key": "embedder", "value": "hash", "origin": "RETENTIVE_EMBEDDER"}
    assert entries["space"] == {"key": "space", "value": "mine", "origin": "--space"}
    assert entries["endpoint.api_key"]["value"] == "***"
    assert "sk-secret" not in run("config", "show").output


def test_the_actor_is_in_the_journal(run: Run, data: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who wrote comes from the configuration."""
    monkeypatch.setenv("RETENTIVE_ACTOR", "ada")
    run("remember", "x", "--id", "x")
    assert data("history", "x")[0]["actor"] == "ada"


def test_kinds_of_your_own_come_from_the_configuration(run: Run) -> None:
    """A kind nobody registered is a typo; a registered one is not."""
    assert "Unknown kind" in run("remember", "x", "--kind", "support-ticket", code=1).stderr
    Path("retentive.toml").write_text('kinds = ["support-ticket"]\n', "utf-8")
    run("remember", "x", "--kind", "support-ticket")


def test_the_named_config_file_is_read(run: Run, data: Run) -> None:
    """``--config`` replaces the search."""
    Path("other.toml").write_text('actor = "other"\n', "utf-8")
    entries = {entry["key"]: entry["value"] for entry in data("config", "show", "--config", "other.toml")}
    assert entries["actor"] == "other"


def test_a_failure_is_one_clean_line(seeded: Run) -> None:
    """No traceback unless it is asked for."""
    result = seeded("get", "nobody", code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("retentive: No memory 'nobody'")
    assert result.stderr.count("\n") == 1
    with pytest.raises(LookupError):
        seeded("get", "nobody", "--debug")


def test_an_export_moves_to_another_space_by_name_only(seeded: Run, data: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A space from the environment is no reason to re-home somebody's memories; ``--space`` is."""
    assert data("export", "alice.jsonl")["memories"] == 3
    assert data("import", "alice.jsonl")["same"] == 3
    monkeypatch.setenv("RETENTIVE_SPACE", "acme/bob")
    assert "--space acme/bob" in seeded("import", "alice.jsonl", code=1).stderr
    assert data("spaces") == ["acme/alice"]
    assert data("import", "alice.jsonl", "--space", "acme/bob")["added"] == 3
    assert {memory["space"] for memory in data("list")} == {"acme/bob"}


def test_an_export_of_an_import_is_the_same_file(seeded: Run, home: Path) -> None:
    """Through the embedded store as through the reference one: with journal, recalls and accesses."""
    seeded("recall", "Postgres for relational work", "--policy", "blend")
    seeded("update", "failure", "--importance", "0.9")
    seeded("forget", "gates")
    seeded("export", "one.jsonl")
    seeded("drop", "acme/alice", "--yes")
    seeded("import", "one.jsonl")
    seeded("export", "two.jsonl")
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()


def test_conflicts_are_settled_by_the_option(seeded: Run, data: Run) -> None:
    """Error, skip, replace."""
    seeded("export", "alice.jsonl")
    seeded("update", "db-choice", "--text", "Prefers SQLite")
    assert "--on-conflict" in seeded("import", "alice.jsonl", code=1).stderr
    assert data("import", "alice.jsonl", "--on-conflict", "skip")["skipped"] == 1
    assert data("import", "alice.jsonl", "--on-conflict", "replace")["replaced"] == 1
    assert data("get", "db-choice")["text"].startswith("Prefers Postgres")


def test_models_are_listed_and_fetched(run: Run, data: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each with its licence and place, or the command that brings it."""
    assert {model["name"] for model in data("models", "list")} >= {"potion", "arctic-s"}
    monkeypatch.setattr("retentive.models.fetch.fetch_model", lambda name, folder, report: folder / name)
    assert data("models", "fetch", "arctic-s")["path"].endswith("arctic-s")


def test_an_unknown_model_names_the_known_ones(run: Run) -> None:
    """Without touching the network."""
    assert "arctic-s" in run("models", "fetch", "artic-s", code=1).stderr


def test_re_embedding_moves_a_space_to_another_embedder(
    seeded: Run, data: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other embedder is refused with this command in the message; afterwards it is at home."""
    from retentive.testing import fakes

    class WideEmbedder(fakes.HashEmbedder):
        def __init__(self) -> None:
            super().__init__(128)

    monkeypatch.setattr(fakes, "HashEmbedder", WideEmbedder)
    assert "--re-embed" in seeded("recall", "Postgres", code=1).stderr
    assert data("maintain", "--re-embed")["re_embedded"] == 3
    seeded("recall", "Postgres for relational work", "--policy", "blend")
    assert "re-embedded memories" in seeded("maintain", "--re-embed").stdout


def test_the_journal_of_a_space(seeded: Run, data: Run) -> None:
    """Every line with its number, the certificate of an erasure among them, and nothing of what was erased."""
    seeded("remember", "The bicycle stands in Delft", "--id", "bike")
    seeded("forget", "bike", "--erase", "--yes", "--reason", "asked to")
    told = seeded("history").stdout
    assert "1 erased by id" in told
    assert "Delft" not in told
    lines = data("history")
    assert [line["action"] for line in lines][-3:] == ["remember", "erase", "certificate"]
    assert lines[-1]["after"]["erased"] == ["bike"]
    assert data("history", "--after", str(lines[-2]["sequence"])) == lines[-1:]
    assert data("history", "--limit", "2") == lines[:2]
    assert "leave the ID out" in seeded("history", "bike", "--limit", "2", code=2).stderr
