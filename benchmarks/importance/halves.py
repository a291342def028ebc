"""The labelled texts, and which half each belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text with its rating on the anchored scale of 1 to 10."""

    text: str
    rating: int

    @property
    def held_out(self) -> bool:
        """Whether it is in the half that nothing was tuned on: by a digest of the text, so that none can be moved."""
        return bool(blake2b(self.text.encode(), digest_size=1).digest()[0] & 1)


def labelled(name: str = "texts.tsv") -> list[Labelled]:
    """Read a labelled list."""
    lines = (HERE / name).read_text("utf-8").splitlines()
    pairs = [line.split("\t", 1) for line in lines if line and not line.startswith("#")]
    return [Labelled(text, int(rating)) for rating, text in pairs]
