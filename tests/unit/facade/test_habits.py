"""A space's own policy: in force where none is named, kept, explained, and undone step by step."""

from __future__ import annotations

import asyncio
import warnings
from datetime import UTC, datetime
from pathlib import Path

import pytest

from retentive import AsyncRetentive, Retentive, policies
from retentive.errors import InvalidInput, NotFound
from retentive.space_policy import STEPS_KEPT, keep, own
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
HERS = policies.blend.replace(name="hers", weights={"recency": 0.25})


def opened(location: str | Path = ":memory:") -> Retentive:
    return Retentive(location, embedder=HashEmbedder(), clock=lambda: NOW)


def test_it_is_the_default_of_its_space_alone(tmp_path: Path) -> None:
    """A recall that names no policy uses it, after a restart too; one that names another and other spaces do not."""
    with opened(tmp_path) as memories:
        for name in ("ann", "ben"):
            memories.space(name).remember("bees like the garden")
        applied = memories.space("ann").apply_policy(HERS, "she said so")
        assert (applied.policy, applied.at, applied.note) == (HERS, NOW, "she said so")
    with opened(tmp_path) as memories:
        ann, ben = memories.space("ann"), memories.space("ben")
        assert ann.recall("bees").policy == HERS
        assert ann.recall("bees", limit=2).policy == HERS.replace(limit=2)
        assert ann.recall("bees", policy="focus").policy == policies.focus
        assert ben.recall("bees").policy == policies.retentive
        assert (ann.policy_in_force(), ben.policy_in_force()) == (HERS, policies.retentive)
        assert ben.applied_policy() is None


def test_the_explanation_says_so() -> None:
    """Since when and why, as text and as data; nothing where the default holds."""
    with opened() as memories:
        space = memories.space("ann")
        space.remember("bees like the garden")
        assert space.recall("bees").trace.habits == ()
        space.apply_policy("blend", "she said so")
        recall = space.recall("bees")
        said = "'blend' is this space's own since 2024-06-01: she said so"
        assert said in recall.explain()
        assert list(recall.as_dict()["trace"]["habits"]) == [said]


def test_undone_step_by_step() -> None:
    """Each undo takes one step back, to the default at last; beyond it there is nothing to undo."""
    with opened() as memories:
        space = memories.space("ann")
        space.apply_policy("blend")
        space.apply_policy(HERS)
        back = space.undo_policy()
        assert back is not None
        assert back.policy == policies.blend
        assert space.undo_policy() is None
        assert space.policy_in_force() == policies.retentive
        with pytest.raises(NotFound, match="'ann' has no policy of its own"):
            space.undo_policy()


def test_only_the_latest_steps_are_kept() -> None:
    """However often it is tuned, the setting does not grow without end."""
    with opened() as memories:
        space = memories.space("ann")
        for number in range(STEPS_KEPT + 5):
            space.apply_policy(HERS.replace(name=f"p{number}"))
        assert len(own(space.store)["applied"]) == STEPS_KEPT


def test_it_travels_with_an_export(tmp_path: Path) -> None:
    """A space that moves keeps its habits."""
    with opened() as memories:
        memories.space("ann").remember("bees")
        memories.space("ann").apply_policy(HERS)
        memories.space("ann").export(tmp_path / "ann.jsonl")
        memories.space("new").import_(tmp_path / "ann.jsonl")
        assert memories.space("new").policy_in_force() == HERS


def test_a_kept_policy_does_not_warn_again() -> None:
    """Whoever applied a policy with a cliff was warned; every recall after it is quiet."""
    with opened() as memories:
        space = memories.space("ann")
        space.apply_policy(policies.coding)  # 90 days
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert space.recall("bees").policy == policies.coding


def test_a_damaged_one_is_named() -> None:
    """What a later version wrote and this one cannot read is said, with the way out."""
    with opened() as memories:
        space = memories.space("ann")
        space.apply_policy(HERS)
        with space.store.transaction() as tx:
            keep(tx, "applied", [{"toml": 'name = "x"\nwarp = 9\n', "at": NOW.isoformat(), "note": ""}])
        with pytest.raises(InvalidInput, match="retentive tune --undo"):
            space.recall("bees")
        assert space.undo_policy() is None


def test_the_same_with_await() -> None:
    """The asynchronous API has the same verbs."""

    async def play() -> None:
        async with AsyncRetentive(":memory:", embedder=HashEmbedder()) as memories:
            space = memories.space("ann")
            await space.apply_policy(HERS)
            assert await space.policy_in_force() == HERS
            await space.undo_policy()

    asyncio.run(play())
