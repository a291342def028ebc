"""`retentive bench` measures without a trace in what it measures. No time is asserted anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from retentive import Retentive, policies
from retentive.bench import Plan, copied, measure, probes, synthetic
from retentive.bench.report import Report, Spread
from retentive.bench.watch import CHANNELS, EMBEDDING, SPOKEN, STAGES, Stopwatch, _owner, watched
from retentive.cli.main import root
from retentive.errors import InvalidInput
from retentive.memory import Space
from retentive.recall import pipeline
from retentive.stores.protocol import SpaceStore

SIZE = 60
FEW = Plan(queries=6, warmup=1)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retentive]:
    with Retentive(tmp_path_factory.mktemp("store"), embedder="hash") as memories:
        yield memories


@pytest.fixture(scope="module")
def space(home: Retentive) -> Space:
    return synthetic(home, SIZE)


def trace_of(space: Space) -> tuple[list[object], list[object]]:
    """Return all that a recall could leave behind."""
    return [memory.access for memory in space.list(limit=SIZE)], list(space.store.read_ledger())


# The stopwatch


def test_every_moment_counts_once_for_the_innermost_stage() -> None:
    """Outer stages do not count what inner ones took."""
    ticks = iter(range(100))
    watch = Stopwatch(clock=lambda: float(next(ticks)))
    with watch.timing("outer"), watch.timing("inner"):
        pass
    assert watch.taken() == {"outer": 2.0, "inner": 1.0}
    assert watch.taken() == {}


def test_the_stopwatch_stops_where_an_exception_leaves() -> None:
    """A failure inside a stage ends the stage."""
    watch = Stopwatch()
    with pytest.raises(KeyError), watch.timing("outer"):
        raise KeyError
    assert watch.stage is None


def test_wrapping_is_undone(space: Space) -> None:
    """After the measurement the functions are those that were there before, whatever happened meanwhile."""
    kind = type(space.store)
    before = (vars(pipeline)["find"], kind.nearest)
    with suppress(KeyError), watched(Stopwatch(), kind):
        assert vars(pipeline)["find"] is not before[0]
        assert kind.nearest is not before[1]
        raise KeyError
    assert (vars(pipeline)["find"], kind.nearest) == before


@pytest.mark.parametrize("place", [place for place in SPOKEN if "sqlite" not in place])
def test_every_stage_is_still_there(place: str) -> None:
    """A function that was renamed is no longer timed: then this table wants its new name."""
    assert [name for name in SPOKEN[place] if name not in vars(_owner(place))] == []


def test_every_channel_is_a_question_to_the_store() -> None:
    """The names by which channels are told apart are those of the protocol."""
    assert [name for name in CHANNELS if not hasattr(SpaceStore, name)] == []


# Cues


def test_cues_come_from_memories(space: Space, home: Retentive) -> None:
    """Each cue names the memory that it was taken from, and has a word of it."""
    asked = probes(space.store, 20, home.now(), seed=3)
    assert len(asked) == 20
    for probe in asked:
        memory = space.get(probe.id, touch=False)
        words = {word.strip("?.;").casefold() for word in memory.text.split()}
        assert words & {word.strip("?.;").casefold() for word in probe.cue.split()}


def test_the_seed_decides_the_cues(space: Space, home: Retentive) -> None:
    """The same seed asks the same, another one something else."""
    first, again, other = (probes(space.store, 10, home.now(), seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_seed_decides_the_made_up_memories(tmp_path: Path) -> None:
    """Synthetic spaces of one seed hold the same texts."""
    with Retentive(":memory:", embedder="hash") as one, Retentive(":memory:", embedder="hash") as two:
        texts = [[memory.text for memory in synthetic(home, 20).list()] for home in (one, two)]
    assert texts[0] == texts[1]
    assert len(set(texts[0])) == 20


# Measuring


@pytest.fixture(scope="module")
def report(space: Space, home: Retentive) -> Report:
    return measure(space, home, Plan(queries=6, warmup=1, touch=False))


def test_a_report_has_every_stage_in_order(report: Report) -> None:
    """The stages of the default policy, then the total; nothing that the table would leave out."""
    named = [row[0] for row in report.rows()[1:]]
    assert named[-1] == "total"
    assert set(report.stages) <= set(STAGES)
    assert {EMBEDDING, "channel: vector", "channel: lexical", "evidence", "ranking and selection"} <= set(named)
    assert report.total.p50 <= report.total.p95 <= report.total.p99


def test_a_report_says_what_was_measured(report: Report) -> None:
    """Size, policy, embedder and work stand beside the figures, and all of it is JSON."""
    data = json.loads(json.dumps(report.as_dict()))
    assert (data["memories"], data["queries"], data["policy"], data["touched"]) == (SIZE, 6, "retentive", False)
    assert data["work"]["candidates"] > 0
    assert data["environment"]["sqlite"]
    assert 0 <= data["found"] <= 1
    assert report.embedding is not None


def test_percentiles_are_in_milliseconds() -> None:
    """A spread summarises seconds."""
    assert Spread.of([0.001, 0.002, 0.003]).p50 == pytest.approx(2.0)
    assert Spread.of([]) == Spread(0.0, 0.0, 0.0, 0.0)


def test_without_touch_nothing_is_written(space: Space, home: Retentive, report: Report) -> None:
    """``touch=False`` leaves no trace and has no stage for it to speak of."""
    before = trace_of(space)
    measure(space, home, Plan(queries=3, warmup=0, touch=False))
    assert trace_of(space) == before


def test_with_touch_every_recall_is_written_back_into_the_copy(space: Space, home: Retentive) -> None:
    """The copy gets what a user's recalls would leave; the user's space gets nothing, and the copy is removed."""
    before, progress = trace_of(space), list[tuple[int, int]]()
    with copied(space, home) as twin:
        assert [memory.text for memory in twin.list(limit=SIZE)] == [m.text for m in space.list(limit=SIZE)]
        report = measure(twin, home, FEW, progress=lambda done, of: progress.append((done, of)))
        assert len(twin.store.read_ledger()) == 1 + 2 * 6
    assert "write-back" in report.stages
    assert trace_of(space) == before
    assert progress == [(done, 13) for done in range(1, 14)]
    file: Path = space.store.file  # type: ignore[attr-defined] # an SQLite space has one
    assert [path.name for path in file.parent.parent.iterdir()] == [file.parent.name]


def test_a_store_without_a_file_is_measured_as_it_is() -> None:
    """What lives in memory cannot be copied, and is nobody's only copy."""
    with Retentive(":memory:", embedder="hash") as home:
        space = synthetic(home, 10)
        with copied(space, home) as same:
            assert same is space
        assert measure(space, home, FEW).touched


def test_any_policy_is_measured(space: Space, home: Retentive) -> None:
    """A policy by name or as a value; only its own channels are asked."""
    for policy in ("blend", policies.blend):
        report = measure(space, home, Plan(queries=2, warmup=0, touch=False, policy=policy))
        assert report.policy == "blend"
        assert "channel: lexical" not in report.stages


def test_an_empty_space_has_nothing_to_be_asked_for() -> None:
    """It is refused with the way out."""
    with Retentive(":memory:", embedder="hash") as home, pytest.raises(InvalidInput, match="--synthetic"):
        measure(home.space("a"), home, FEW)


# The command


@pytest.fixture
def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a space in it, and an environment that names it."""
    for name, value in {"STORE": str(tmp_path / "s"), "SPACE": "acme/alice", "EMBEDDER": "hash"}.items():
        monkeypatch.setenv(f"RETENTIVE_{name}", value)
    monkeypatch.chdir(tmp_path)
    with Retentive(tmp_path / "s", embedder="hash") as home:
        home.space("acme/alice").remember_many([f"Ticket {n} was closed by Dana." for n in range(12)])
    return tmp_path / "s"


def test_the_command_prints_a_table(settled: Path) -> None:
    """Data on stdout, what was measured on stderr."""
    result = CliRunner().invoke(root, ["bench", "--queries", "3", "--warmup", "0"])
    assert result.exit_code == 0, result.output
    assert result.stdout.split()[0] == "stage"
    assert result.stdout.rstrip().splitlines()[-1].startswith("total")
    assert "3 recalls of 12 memories in 'acme/alice'" in result.stderr


@pytest.mark.parametrize("more", [[], ["--no-touch"], ["--synthetic", "30"], ["--policy", "blend"]])
def test_the_command_leaves_no_trace(settled: Path, more: list[str]) -> None:
    """Whatever is measured, the user's ledger stays empty, and no copy is left behind."""
    result = CliRunner().invoke(root, ["bench", "--queries", "3", "--warmup", "0", "--json", *more])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["queries"] == 3
    assert len(list(settled.iterdir())) == 1
    with Retentive(settled, embedder="hash") as home:
        assert home.space("acme/alice").store.read_ledger() == []
