"""`Retentive("http://…")` is the same API: what it answers is what the store answers in this process."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from retentive import AgentState, AsyncRetentive, Policy, Retentive, Space, policies
from retentive.client.home import RemoteRetentive
from retentive.client.space import RemoteSpace
from retentive.client.transport import Ask
from retentive.errors import Changed, Forbidden, InvalidInput, NotFound, RetentiveError
from retentive.maintain.decide import PruneRules
from retentive.server.app import OPERATIONS
from retentive.server.keys import KeyRing
from retentive.types import AsOf, Draft
from retentive.wire.values import read

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ELSEWHERE = {"now", "close"}  # no verbs of a store


def seeded(space: Space) -> list[str]:
    drafts: list[Any] = [
        {"text": "Prefers Postgres for relational work", "kind": "preference", "key": "database", "tags": ["stack"]},
        Draft("The deploy failed with error E4012", kind="event", metadata={"ticket": 7}, at=NOW - timedelta(days=3)),
        "Check the gates, then move tiers",
        {"text": "Pinned: answers in German", "pinned": True},
    ]
    return [memory.id for memory in space.remember_many(drafts)]


NOT_ASKED = {
    "store": "rows are the server's; what is done with them are the verbs",
    "embedder": "a model of the server's process",
    "tools": "the same",
    "tools_for": "the same",
    "tools_in": "the same",
    "llm": "the same",
    "rater": "set where the server is configured",
    "rater_in_use": "the same",
    "reflections": "the same",
    "previous": "an embedder that is being given up: set where the store is",
    "watch": "what the server measures is in its /metrics",
    "register_job": "a handler is code, and runs where the store is",
    "register_kind": "kinds are the server's configuration; here it is checked that it has them",
    "now": "the clock that answers is the server's",
    "space": "asks nothing",
    "close": "closes connections",
}
"""What is no question to a server, and why."""
ASKS: dict[str, str | tuple[str, ...]] = {  # where the operation is not called as the verb is
    "spaces": "list_spaces",
    "list": "list_memories",
    "forget": ("forget", "forget_by"),
    "journal": ("journal", "journal_of_memory"),
    "jobs": "list_jobs",
    "policy_in_force": "space_policy",
    "applied_policy": "space_policy",
    "import_": "import",
    "certificates": ("certificates", "certificates_of_space"),
}
OF_THE_SERVER = {"about", "list_policies", "get_policy"}
"""Operations that are no verbs: who the server is, and the presets, which every installation has itself."""


def verbs_of(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


@pytest.mark.parametrize(("far", "near"), [(RemoteRetentive, Retentive), (RemoteSpace, Space)])
def test_every_verb_is_asked_of_the_server(far: type, near: type) -> None:
    """Each has an operation and a method of the client, or a reason above; none looks for a store in this process."""
    known = {operation.name for operation in OPERATIONS}
    for verb in verbs_of(near) - set(NOT_ASKED):
        named = ASKS.get(verb, verb)
        assert known.issuperset(named if isinstance(named, tuple) else (named,)), f"{verb}: no operation"
        assert getattr(far, verb) is not getattr(near, verb), f"{verb}: no method of the client"
    assert verbs_of(far) - verbs_of(near) <= {"about", "kinds", "store"}


def test_every_operation_is_a_verb() -> None:
    """Nothing can be done over HTTP that the library does not do; and what is excused above is there to be excused."""
    verbs = verbs_of(Space) | verbs_of(Retentive)
    asked = {name for named in ASKS.values() for name in ([named] if isinstance(named, str) else named)}
    assert {operation.name for operation in OPERATIONS} - verbs - asked == OF_THE_SERVER
    assert set(NOT_ASKED) | set(ASKS) <= verbs


def test_every_verb_can_be_awaited(address: str) -> None:
    """The asynchronous API is derived from this one, over HTTP as well."""
    far = AsyncRetentive(address)
    for waiting, near in ((far, Retentive), (far.space("acme/alice"), Space)):
        functions = {name for name, _ in inspect.getmembers(near, inspect.isfunction) if not name.startswith("_")}
        plain = {name for name in functions if not inspect.iscoroutinefunction(getattr(waiting, name))}
        assert plain <= set(NOT_ASKED), near


@pytest.mark.parametrize(("far", "near"), [(RemoteRetentive, Retentive), (RemoteSpace, Space)])
def test_every_argument_is_taken(far: type, near: type) -> None:
    """By name, or by what takes all names."""
    for name, verb in inspect.getmembers(near, inspect.isfunction):
        if name.startswith("_") or name in ELSEWHERE:
            continue
        mine = inspect.signature(getattr(far, name)).parameters
        if not any(one.kind is one.VAR_KEYWORD for one in mine.values()):
            assert set(inspect.signature(verb).parameters) <= set(mine), name


def test_memories_are_the_same_values(local: Retentive, remote: Retentive) -> None:
    """Written there and read here, every field."""
    ids = seeded(remote.space("acme/alice"))
    far, near = remote.space("acme/alice"), local.space("acme/alice")
    assert [far.get(name, touch=False) for name in ids] == [near.get(name, touch=False) for name in ids]
    assert [memory.version for memory in far.list()] == [memory.version for memory in near.list()]
    assert far.list(kinds=["event"], where={"ticket": 7}, hidden=True)[0].metadata == {"ticket": 7}
    for pinned in (True, False, None):
        assert list(far.list(pinned=pinned)) == list(near.list(pinned=pinned))
    assert [memory.id for memory in far.list(pinned=True)] == [ids[3]]
    assert far.history(ids[0]) == near.history(ids[0])
    assert far.journal() == near.journal()
    assert far.journal(ids[0]) == near.journal(ids[0])
    assert far.journal(after=1, limit=2) == near.journal(after=1, limit=2)
    assert remote.spaces() == local.spaces() == ["acme/alice"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda space: space.recall("Which Postgres?", touch=False),
        lambda space: space.recall("error E4012", policy="operational", kinds=["event"], limit=3, touch=False),
        lambda space: space.recall("gates", policy=policies.blend.replace(limit=2), touch=False, now=NOW),
        lambda space: space.recall(
            state=AgentState(goal="move tiers", open_loops=["who approves?"]), utterance="gates", touch=False
        ),
        lambda space: space.recall("deploy", since=NOW - timedelta(days=5), until=NOW, token_budget=60, touch=False),
    ],
)
def test_recalls_are_the_same_answers(ask: Callable[[Space], Any], local: Retentive, remote: Retentive) -> None:
    """Hits with their arithmetic, trace, explanation and prompt block, to the last bit."""
    seeded(local.space("acme/alice"))
    ask(local.space("acme/alice"))  # the first recall of a space looks at its rows otherwise than the later ones
    far, near = ask(remote.space("acme/alice")), ask(local.space("acme/alice"))
    assert (far.id, far.hits, far.core, far.compacted) == (near.id, near.hits, near.core, near.compacted)
    assert far.policy == near.policy
    assert far.trace == near.trace
    assert far.explain() == near.explain()
    assert far.render("markdown") == near.render("markdown")
    assert all(hit.reproduced() == hit.score for hit in far)


def test_feedback_from_afar(local: Retentive, remote: Retentive) -> None:
    """On an answer, on one that left no trace, and never on a shared space."""
    ids = seeded(local.space("acme/alice"))
    common = local.space("acme/common").remember("Postgres is approved for all teams")
    space = remote.space("acme/alice", shared="acme/common")
    answer = space.recall("Postgres relational work")
    assert common.id in {hit.memory.id for hit in answer}
    answer.feedback(used=[ids[0], common.id], outcome="good")
    assert local.space("acme/alice").get(ids[0], touch=False).importance > 0.5
    assert local.space("acme/common").get(common.id, touch=False).importance == 0.5
    before = local.space("acme/alice").get(ids[0], touch=False).importance
    space.recall("Postgres relational work", touch=False, limit=1).feedback(outcome="bad")
    assert local.space("acme/alice").get(ids[0], touch=False).importance < before
    untouched = local.space("acme/alice").get(ids[0], touch=False).importance
    space.recall("Postgres", touch=False).feedback(used=[common.id])
    assert local.space("acme/alice").get(ids[0], touch=False).importance == untouched


def test_changing_and_forgetting(local: Retentive, remote: Retentive) -> None:
    """With version and once, as in this process."""
    space = remote.space("acme/alice")
    near = local.space("acme/alice")
    first = space.remember("Prefers Postgres", key="database", importance=0.7)
    second = space.remember("Prefers SQLite now", key="database", once="turn-2")
    assert space.remember("Prefers SQLite now", key="database", once="turn-2") == second
    assert [memory.id for memory in space.chain(first.id)] == [first.id, second.id]
    changed = space.update(second.id, tags=("a", "b"), source=None, valid_until=NOW + timedelta(days=1), reason="so")
    assert changed == local.space("acme/alice").get(second.id, touch=False)
    with pytest.raises(Changed):
        space.update(second.id, importance=0.1, version=second.version)
    space.forget(second.id, erase=True, reason="asked", version=changed.version)
    with pytest.raises(NotFound, match=second.id):
        space.get(second.id)
    third = space.remember("We met Bob Miller", source="chat:7")
    assert space.forget([first.id, third.id], dry_run=True) == near.forget([first.id, third.id], dry_run=True)
    assert space.forget(source="chat:7", erase=True, derived=True, reason="asked").ids == (third.id,)
    with pytest.raises(NotFound):
        space.forget(person="Bob Miller")
    with pytest.raises(InvalidInput, match="goes with one id"):
        space.forget(source="chat:7", version="v")


def test_upkeep_reflection_jobs_policy_and_conversations(local: Retentive, remote: Retentive) -> None:
    """The verbs that think give the same values."""
    far, near = remote.space("acme/alice"), local.space("acme/alice")
    ids = seeded(near)
    rules = PruneRules(age_days=1, idle_days=1, strength=100)
    dry, same = far.maintain(dry_run=True, pruning=rules), near.maintain(dry_run=True, pruning=rules)
    assert (dict(dry), dry.pruned, dry.dry_run) == (dict(same), same.pruned, True)
    assert dict(far.maintain(pruning=False)) == {"re_embedded": 0, "ledger_trimmed": 0}
    assert far.reflect(dry_run=True) == near.reflect(dry_run=True)
    assert far.shaken() == near.shaken()
    why, known = far.why_not(ids[1], "Postgres", limit=1), near.why_not(ids[1], "Postgres", limit=1)
    assert (why.reasons, why.places, why.rank, why.explain()) == (
        known.reasons,
        known.places,
        known.rank,
        known.explain(),
    )
    talk = [{"role": "user", "content": "I prefer tea in the morning."}]
    near.recall("Which Postgres?", now=NOW)
    assert far.recalls(limit=3) == near.recalls(limit=3)
    assert far.recall_entry(near.recalls()[0].id) == near.recalls()[0]
    assert far.fading(ids[0], points=7) == near.fading(ids[0], points=7)
    told = far.observe(talk, session="chat-1", at=NOW)
    assert told.turns
    assert near.observe(talk, session="chat-1", at=NOW).known == len(told.turns)
    assert far.jobs() == near.jobs()
    assert far.forecast_jobs() == near.forecast_jobs()
    assert far.run_jobs(limit=5).done == 0
    assert remote.run_jobs(limit=1)["acme/alice"].done == 0
    assert (far.retry_jobs(), far.drop_jobs()) == ([], 0)
    assert far.applied_policy() is None
    applied = far.apply_policy("operational", note="ours")
    assert far.policy_in_force() == applied.policy == policies.operational
    assert far.applied_policy() == near.applied_policy() == applied
    assert far.undo_policy() is None
    assert far.rate(dry_run=True) == near.rate(dry_run=True)
    assert far.adapt(on=True) == near.adaptation() == far.adaptation()
    assert far.language() == near.language() == "english"
    assert far.set_language("none") == len(near.list(hidden=True))
    assert far.language() == near.language() == "none"


def test_conflicts_and_repetitions(local: Retentive, remote: Retentive) -> None:
    """What denies and repeats what, decided from afar as from near."""
    far, near = remote.space("acme/alice"), local.space("acme/alice")
    near.remember("Alice works at Acme", at=NOW - timedelta(days=9))
    near.remember("Alice no longer works at Acme", at=NOW - timedelta(days=1))
    near.remember("Alice works at Acme.", at=NOW)
    near.find_conflicts()
    assert far.find_conflicts() == near.find_conflicts()
    for status in ("open", "applied", None):
        assert far.conflicts(status=status) == near.conflicts(status=status)
    known = near.conflicts(status=None)
    assert known
    assert far.dismiss(known[0].id, reason="both are true").status == "dismissed"
    assert near.conflicts(status="dismissed")[0].id == known[0].id
    assert far.repetitions() == near.repetitions()
    assert far.repetitions(known[0].newer.id, limit=5) == near.repetitions(known[0].newer.id, limit=5)
    assert far.usage() == near.usage() == []
    with pytest.raises(InvalidInput, match="takes a language model"):
        far.judge_conflicts(dry_run=True)
    for decide in (far.accept, far.separate):
        with pytest.raises(NotFound):
            decide("nobody")


@pytest.mark.parametrize(
    "moment",
    [NOW - timedelta(days=1), AsOf(true=NOW), AsOf(known=NOW - timedelta(days=2)), AsOf(NOW, NOW)],
)
def test_the_past_on_both_axes(moment: Any, local: Retentive, remote: Retentive, tmp_path: Path) -> None:
    """What was true and what was known, asked apart, is the same from afar."""
    far, near = remote.space("acme/alice"), local.space("acme/alice")
    kept = near.remember("Lives in Berlin", at=NOW - timedelta(days=9), valid_until=NOW + timedelta(hours=1))
    assert list(far.list(as_of=moment)) == list(near.list(as_of=moment))
    assert far.get(kept.id, as_of=moment) == near.get(kept.id, as_of=moment)
    asked = {"touch": False, "as_of": moment}
    assert far.recall("Berlin", **asked).hits == near.recall("Berlin", **asked).hits
    assert far.export(tmp_path / "far", as_of=moment) == near.export(tmp_path / "near", as_of=moment)


def test_export_and_import(local: Retentive, remote: Retentive, tmp_path: Path) -> None:
    """The same bytes; progress is told; what is damaged is refused with its line."""
    seeded(local.space("acme/alice"))
    told: list[tuple[int, int]] = []
    count = remote.space("acme/alice").export(tmp_path / "far.jsonl", progress=lambda *step: told.append(step))
    assert count == local.space("acme/alice").export(tmp_path / "near.jsonl") == 4
    assert (tmp_path / "far.jsonl").read_bytes() == (tmp_path / "near.jsonl").read_bytes()
    assert told[-1] == (4, 4)
    assert remote.space("acme/bob").import_(tmp_path / "far.jsonl") == 4
    assert len(local.space("acme/bob").list()) == 4
    (tmp_path / "cut.jsonl").write_bytes((tmp_path / "far.jsonl").read_bytes()[:-9])
    with pytest.raises(InvalidInput, match="line"):
        remote.space("acme/eve").import_(tmp_path / "cut.jsonl")


def test_backup_and_restore(local: Retentive, remote: Retentive, tmp_path: Path) -> None:
    """A backup from afar is the same folder as one from near, and either is restored by either."""
    for name in ("acme/alice", "acme/bob"):
        seeded(local.space(name))
    told: list[tuple[int, int]] = []
    fetched = remote.backup(tmp_path / "far", progress=lambda done, total: told.append((done, total)))
    near = local.backup(tmp_path / "near")
    assert [one.space for one in fetched.spaces] == [one.space for one in near.spaces] == ["acme/alice", "acme/bob"]
    assert told == [(2, 2)]
    assert sorted(path.name for path in (tmp_path / "far").iterdir()) == ["000001.db", "000002.db", "backup.json"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".far")] == []
    with pytest.raises(InvalidInput, match="exists"):
        remote.backup(tmp_path / "far")
    with pytest.raises(NotFound, match="nobody"):
        remote.backup(tmp_path / "none", spaces=["nobody"])
    assert not (tmp_path / "none").exists()

    before = list(local.space("acme/alice").list())
    assert remote.drop("acme/alice", reason="contract ended")
    assert [one.reason for one in remote.certificates("acme/alice")] == ["contract ended"]
    assert remote.certificates() == local.certificates()
    with pytest.raises(InvalidInput, match="exist already"):
        remote.restore(tmp_path / "far")
    one = ["acme/alice"]
    done = remote.restore(tmp_path / "far", spaces=one, progress=lambda done, total: told.append((done, total)))
    assert [one.space for one in done.spaces] == ["acme/alice"]
    assert list(local.space("acme/alice").list()) == before
    local.space("acme/bob").remember("since")
    assert len(remote.restore(tmp_path / "near", replace=True).spaces) == 2
    assert "since" not in [memory.text for memory in local.space("acme/bob").list()]
    assert told == [(2, 2), (1, 1)]


def test_errors_are_the_errors_of_the_library(remote: Retentive, local: Retentive) -> None:
    """Class, message and facts."""
    for ask in (
        lambda home: home.space("acme/alice").get("nobody"),
        lambda home: home.space("acme/alice").remember("x", kind="facct"),
        lambda home: home.space("acme/alice").remember("   "),
        lambda home: home.space("acme/alice").recall("x", policy="blendd"),
        lambda home: home.space("acme/alice").feedback("r-none"),
        lambda home: home.space("acme//alice"),
        lambda home: home.space("acme/alice").update("nobody", importance=0.4),
    ):
        with pytest.raises(RetentiveError) as far:
            ask(remote)  # type: ignore[no-untyped-call]
        with pytest.raises(RetentiveError) as near:
            ask(local)  # type: ignore[no-untyped-call]
        assert type(far.value) is type(near.value)
        assert far.value.message == near.value.message


@pytest.mark.parametrize(
    "send",
    [
        lambda space: space.remember("x", at=datetime(2026, 1, 1)),  # noqa: DTZ001 -- naive on purpose
        lambda space: space.remember("x", tags="stack"),
        lambda space: space.remember("x", metadata={"n": float("nan")}),
        lambda space: space.remember("x", metadata={"o": object()}),
        lambda space: space.remember("x", metadata={1: 2}),
        lambda space: space.remember("\ud800"),
        lambda space: space.remember(7),
        lambda space: space.remember("x", nonsense=1),
        lambda space: space.remember_many("one text"),
        lambda space: space.recall("x", state="no state"),
        lambda space: space.recall("x", policy=7),
        lambda space: space.recall("x", kinds="fact"),
        lambda space: space.feedback("r1", used="id"),
        lambda space: space.get(7),
    ],
)
def test_what_cannot_be_sent_is_refused_here(send: Callable[[Any], Any], remote: Retentive) -> None:
    """As the library refuses it, and nothing is written."""
    with pytest.raises(InvalidInput):
        send(remote.space("acme/alice"))
    assert remote.spaces() == []


def test_a_policy_of_ones_own(address: str, local: Retentive, tmp_path: Path) -> None:
    """The client's default, a file here, and the server's where nothing was said."""
    seeded(local.space("acme/alice"))
    mine = replace(policies.blend, name="mine").replace(limit=1)
    (tmp_path / "mine.toml").write_text(mine.dump(), "utf-8")
    for given in (mine, str(tmp_path / "mine.toml")):
        with Retentive(address, policy=given) as remote:
            assert remote.space("acme/alice").recall("gates", touch=False).policy == mine
            assert remote.space("acme/alice").policy_in_force() == mine
    with Retentive(address) as remote:
        assert remote.space("acme/alice").recall("gates", touch=False).policy == local.policy
        assert remote.space("acme/alice").recall("x", policy=str(tmp_path / "mine.toml"), touch=False).policy == mine


def test_keys_open_and_bind(address: str, ring: KeyRing, local: Retentive) -> None:
    """The key goes with every request; its bounds come back as `Forbidden`."""
    seeded(local.space("acme/alice"))
    _, secret = ring.create(right="read", spaces=["acme"], now=NOW)
    with Retentive(address) as nobody, pytest.raises(Forbidden, match="key"):
        nobody.spaces()
    with Retentive(address, key=secret) as reader:
        assert reader.spaces() == ["acme/alice"]
        assert len(reader.space("acme/alice").recall("Postgres")) > 0
        with pytest.raises(Forbidden, match="'write'"):
            reader.space("acme/alice").remember("x")
        with pytest.raises(Forbidden, match="does not reach"):
            reader.space("other").list()
        with pytest.raises(Forbidden):
            reader.drop("acme/alice")


def test_what_is_the_servers_cannot_be_given_here(address: str, remote: Retentive) -> None:
    """Models, stores, kinds and handlers are set up where the store is."""
    with pytest.raises(InvalidInput, match="embedder is the server's"):
        Retentive(address, embedder="hash")
    with pytest.raises(TypeError, match="nonsense"):
        Retentive(address, nonsense=1)  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="location"):
        Retentive(":memory:", key="rtv_x")
    kind = type("Mine", (Retentive,), {})
    with pytest.raises(InvalidInput, match="derive it from RemoteRetentive"):
        kind(address)
    remote.register_kind()
    remote.register_kind("fact")
    with pytest.raises(InvalidInput, match="kinds ="):
        remote.register_kind("ticket")
    for use in (
        lambda: remote.store,
        lambda: remote.llm,
        lambda: remote.embedder,
        lambda: remote.language,
        lambda: remote.space("a").store,
        lambda: remote.space("a", actor="me"),
        lambda: remote.register_job("x", object()),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidInput, match="not possible over HTTP"):
            use()
    assert remote.drop("nobody") is False
    assert "http://127.0.0.1" in repr(remote)
    assert "http://127.0.0.1" in repr(remote.space("acme"))


async def awaited(address: str) -> list[Any]:
    async with AsyncRetentive(address) as memories:
        space = memories.space("acme/alice")
        kept = await space.remember("Prefers Postgres")
        recall = await space.recall("Postgres")
        return [kept, recall[0].memory, await memories.spaces()]


def test_the_same_with_await(address: str, local: Retentive) -> None:
    """`AsyncRetentive` over HTTP."""
    import asyncio

    kept, recalled, spaces = asyncio.run(awaited(address))
    assert kept.id == recalled.id == local.space("acme/alice").list()[0].id
    assert spaces == ["acme/alice"]


def test_policies_travel_whole(remote: Retentive) -> None:
    """Every preset comes back equal from its TOML."""
    assert isinstance(remote, RemoteRetentive)
    told = remote.transport
    for shown in told.ask(Ask("GET", "/v1/policies"))["policies"]:
        assert read(Policy, shown["toml"]) == policies.get(shown["name"])
