"""Tenant walls: whatever a space is asked, told, given to import or handed over as an id, it reads no other (§8.20)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from retentive.errors import RetentiveError
from retentive.memory import Retentive, Space
from retentive.policy import presets
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2024, 6, 15, 12, tzinfo=UTC)
CUE = "Vera keeps the vault code 4711 under PAY-2207"
MARK = "behind the portrait of Zebulon"
"""What nobody asks for: where it turns up, something was read."""
HIDDEN = f"{CUE} {MARK}"

SEGMENTS = st.one_of(
    st.sampled_from(
        ["acme", "Acme", "acme-corp", "acme%2Falice", "alice", "ALICE", "alice2", "%", "_", "*", "acmé", "acme\u0301"]
    ),
    st.text("aAb%_*-.é'\";\\", min_size=1, max_size=6).filter(lambda text: text.strip(".") != ""),
)
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
POLICIES = st.sampled_from([name for name in presets.names() if name != "planning"])


@dataclass
class Pair:
    """A victim with a secret, and an attacker with a memory of its own, in one store."""

    victim: Space
    attacker: Space
    secret_id: str
    own_id: str
    victims_recall: str
    victims_cursor: str | None
    folder: Path


def _pair(memories: Retentive, victim_path: str, attacker_path: str, folder: Path) -> Pair:
    victim, attacker = memories.space(victim_path), memories.space(attacker_path)
    secret = victim.remember(
        CUE,
        key="vault",
        tags=["t"],
        metadata={"room": 7},
        speaker=MARK,
        session="s1",
        importance=1.0,
        at=NOW,
        id="one",
    )
    victim.remember(f"Vera sleeps {MARK}", tags=["t"], metadata={"room": 7}, at=NOW, session="s1")
    own = attacker.remember("Nothing to see here", tags=["t"], metadata={"room": 7}, at=NOW, session="s1", id="one")
    recall = victim.recall(CUE, now=NOW)
    return Pair(victim, attacker, secret.id, own.id, recall.id, victim.list(limit=1).cursor, folder)


def _import_of_the_victims_name(pair: Pair) -> object:
    """Import the attacker's own export after its every mention of the space was made the victim's."""
    file = pair.folder / "own.jsonl"
    pair.attacker.export(file)
    text = file.read_text("utf-8").replace(f'"{pair.attacker.path}"', f'"{pair.victim.path}"')
    file.write_text(text, "utf-8")
    return pair.attacker.import_(file)


ATTACKS: dict[str, Callable[[Pair], object]] = {
    "update by id": lambda pair: pair.attacker.update(pair.secret_id, pinned=True),
    "erase by id": lambda pair: pair.attacker.forget(pair.secret_id, erase=True),
    "same id": lambda pair: pair.attacker.remember("Mine", id=pair.secret_id),
    "same key": lambda pair: pair.attacker.remember("The vault is mine", key="vault"),
    "supersedes": lambda pair: pair.attacker.remember("Supersedes a stranger", supersedes=["two", pair.secret_id]),
    "derived from": lambda pair: pair.attacker.remember("Derived", derived_from=[pair.secret_id]),
    "feedback on the victim's recall": lambda pair: pair.attacker.feedback(
        pair.victims_recall, used=[pair.secret_id], outcome="bad"
    ),
    "feedback on all of it": lambda pair: pair.attacker.feedback(pair.victims_recall, outcome="bad"),
    "import": _import_of_the_victims_name,
    "maintain": lambda pair: pair.attacker.maintain(),
}

READS: dict[str, Callable[[Pair, str], object]] = {
    "cue": lambda pair, policy: list(pair.attacker.recall(CUE, policy=policy, limit=50, now=NOW)),
    "entity": lambda pair, policy: list(pair.attacker.recall("What of Vera?", policy=policy, limit=50, now=NOW)),
    "filters": lambda pair, policy: list(
        pair.attacker.recall("vault", policy=policy, tags=["t"], where={"room": 7}, session="s1", limit=50, now=NOW)
    ),
    "as of": lambda pair, policy: list(pair.attacker.recall(CUE, policy=policy, as_of=NOW, limit=50)),
    "list": lambda pair, _: list(pair.attacker.list(hidden=True, limit=500)),
    "cursor": lambda pair, _: list(pair.attacker.list(hidden=True, limit=500, cursor=pair.victims_cursor)),
    "get": lambda pair, _: pair.attacker.get(pair.secret_id, touch=False),
    "history": lambda pair, _: pair.attacker.history(pair.secret_id),
    "chain": lambda pair, _: pair.attacker.chain(pair.secret_id),
    "journal": lambda pair, _: pair.attacker.journal(),
    "export": lambda pair, _: (
        pair.attacker.export(pair.folder / "all.jsonl"),
        (pair.folder / "all.jsonl").read_text(),
    )[1],
    "explain": lambda pair, policy: pair.attacker.recall(CUE, policy=policy, now=NOW).as_dict()["hits"],
}


def _state(space: Space) -> list[object]:
    """Everything a space knows, its reading state included."""
    return [*space.list(hidden=True, limit=500), *space.journal()]


def _check(location: str | Path, victim: str, attacker: str, attacks: list[str], policy: str, folder: Path) -> None:
    with Retentive(location, embedder=HashEmbedder(), clock=lambda: NOW) as memories:
        pair = _pair(memories, victim, attacker, folder)
        before = _state(pair.victim)
        for name in attacks:
            with suppress(RetentiveError):
                ATTACKS[name](pair)
            for way, read in READS.items():
                with suppress(RetentiveError):
                    assert MARK not in repr(read(pair, policy)), f"after {name!r}, {way!r} read the other space"
        assert _state(pair.victim) == before, f"{attacks} changed another space"
        memories.drop(attacker)
        assert _state(pair.victim) == before, "dropping one space changed another"
        assert victim in memories.spaces()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PATHS, PATHS, st.lists(st.sampled_from(sorted(ATTACKS)), min_size=1, max_size=4), POLICIES)
def test_no_way_into_another_space_in_memory(victim: str, attacker: str, attacks: list[str], policy: str) -> None:
    """Cue, filter, id, key, supersedes, cursor, feedback and import stay inside their space."""
    assume(victim != attacker)
    with tempfile.TemporaryDirectory() as folder:
        _check(":memory:", victim, attacker, attacks, policy, Path(folder))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PATHS, PATHS, st.lists(st.sampled_from(sorted(ATTACKS)), min_size=1, max_size=3), POLICIES)
def test_no_way_into_another_space_on_disk(victim: str, attacker: str, attacks: list[str], policy: str) -> None:
    """The same over files, where names meet a file system."""
    assume(victim != attacker)
    with tempfile.TemporaryDirectory() as folder:
        _check(Path(folder) / "store", victim, attacker, attacks, policy, Path(folder))


@settings(max_examples=20, deadline=None)
@given(PATHS, PATHS, PATHS)
def test_a_shared_space_is_read_only_where_it_was_opted_into(owner: str, guest: str, stranger: str) -> None:
    """Who opts in reads it; nobody else does; and it learns nothing of its readers."""
    assume(len({owner, guest, stranger}) == 3)
    with Retentive(":memory:", embedder=HashEmbedder(), clock=lambda: NOW) as memories:
        handbook = memories.space(owner)
        handbook.remember(CUE, at=NOW)
        before = _state(handbook)
        reader = memories.space(guest, shared=owner)
        assert [hit.memory.text for hit in reader.recall(CUE)] == [CUE]
        own = reader.remember("Vera is my neighbour", at=NOW)
        assert {hit.memory.id for hit in reader.recall("Vera")} >= {own.id}
        assert not memories.space(stranger).recall(CUE)
        assert not memories.space(guest).list(hidden=True, since=NOW, limit=5)[0].text.startswith(CUE)
        assert _state(handbook) == before
        assert own.text not in repr(list(handbook.recall("Vera is my neighbour", limit=50)))
