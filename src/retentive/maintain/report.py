"""What a run of upkeep did: counts by name, and the verdicts of pruning with their reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from retentive.maintain.decide import Verdict


class Upkeep(Mapping[str, int]):
    """Counts of what was done, as a mapping; ``pruned`` says of each pruned memory why."""

    def __init__(self, counts: Mapping[str, int], pruned: tuple[Verdict, ...] = (), *, dry_run: bool = False) -> None:
        self._counts = dict(counts)
        self.pruned = pruned
        self.dry_run = dry_run

    def __getitem__(self, name: str) -> int:
        """Return one count."""
        return self._counts[name]

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._counts)

    def __len__(self) -> int:
        """Return how many counts there are."""
        return len(self._counts)

    def __repr__(self) -> str:
        return f"<Upkeep {self._counts}{' (dry run)' if self.dry_run else ''}>"
