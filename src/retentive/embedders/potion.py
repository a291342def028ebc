"""The bundled default: potion-base-8M, a table of 29,528 token vectors, read with numpy alone.

A text's vector is the sum of its tokens' rows; there is no network to run. The table is int8 with a scale per row
(cosine error below 0.0004 on every row) and stays memory-mapped: a process that embeds little reads little, and several
processes share the pages.

Unknown words beside known ones are left out, as the model was trained; a text without a single known word gets a
direction of its own (`wordless`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retentive.embedders.protocol import Vectors
from retentive.embedders.wordless import Wordless
from retentive.embedders.wordpiece import WordPiece
from retentive.errors import MissingExtra
from retentive.models.folder import model_path, read_fingerprint

DATA_PACKAGE = "retentive_potion"
BLOCK = 1024
"""Tokens gathered at a time: their 1 MB of float32 rows stays in the cache, and long texts need no more than that."""
ALL_TOKENS = 4096
"""Up to here `embed_tokens` gives a row per token; a longer text gives each distinct token once, at most 30 MB."""
ROW_LENGTH = np.float32(97.0)
"""The median length of the table's rows, and so the weight of a hashed direction beside a punctuation mark."""


class PotionEmbedder:
    """Static embeddings from a folder with `vectors.npy`, `scales.npy`, `vocab.txt` and `model.json`."""

    id = "potion-base-8M-int8"
    band = (0.05, 0.52)

    def __init__(self, folder: Path) -> None:
        self.fingerprint = read_fingerprint(folder, "potion")
        table = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
        self._table: NDArray[np.int8] = np.asarray(table)
        self._scales: Vectors = np.load(folder / "scales.npy", allow_pickle=False)
        vocabulary = (folder / "vocab.txt").read_text("utf-8")
        self._tokens = WordPiece(vocabulary.splitlines())
        self.dimension = int(self._table.shape[1])
        self._wordless = Wordless(self._tokens, vocabulary, self.dimension)

    def __repr__(self) -> str:
        return f"PotionEmbedder({self.dimension} dimensions, {self.fingerprint[:12]})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text."""
        answer = np.empty((len(texts), self.dimension), np.float32)
        start = 0
        for group in self._groups(texts):
            self._sum_group(group, answer[start : start + len(group)])
            for at, ids in enumerate(group, start):
                if self._wordless.covers(ids):
                    answer[at] += ROW_LENGTH * self._wordless.direction(texts[at])
            start += len(group)
        return _units(answer)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question; the model reads it as any text, without the cost of a batch."""
        ids = self._known(text)
        if self._wordless.covers(ids):
            return self.embed([text]).reshape(self.dimension)
        return _units(self._sum(ids)[None]).reshape(self.dimension)

    def embed_tokens(self, text: str) -> Vectors:
        """Return the unit rows of the known tokens, or the one hashed row of a text that has none."""
        ids = self._known(text)
        if not ids:
            return self.embed([text])
        if len(ids) > ALL_TOKENS:
            ids = list(dict.fromkeys(ids))
        return _units(self._table[ids].astype(np.float32))

    def embed_query_tokens(self, text: str) -> Vectors:
        """Return the rows of a question's known tokens, weighted by the square of their length in the table.

        The model's authors made frequent words short (SIF), so that the length says how much a word tells. Measured on
        the development halves against equal weights (MaxSim at 0.7 over the top 30, nDCG@10): LoCoMo .509 / .466,
        REALTALK .485 / .446, BEAM .291 / .250.
        """
        ids = self._known(text)[:ALL_TOKENS]
        if not ids:
            return self.embed([text])
        rows = self._table[ids].astype(np.float32)
        weights = np.einsum("ij,ij->i", rows, rows) * self._scales[ids] ** 2
        weighted: Vectors = _units(rows) * (weights / weights.sum())[:, None]
        return weighted

    def token_ids(self, text: str) -> list[int]:
        """Return the table's rows for the known tokens of a text."""
        return self._known(text)

    def token_rows(self, ids: NDArray[np.int32]) -> Vectors:
        """Return those rows as trained, the scale applied."""
        rows: Vectors = self._table[ids].astype(np.float32)
        rows *= self._scales[ids][:, None]
        return rows

    def _known(self, text: str) -> list[int]:
        ids = self._tokens.encode(text)
        unknown = self._tokens.unknown
        return [at for at in ids if at != unknown] if unknown in ids else ids

    def _groups(self, texts: Sequence[str]) -> Iterator[list[list[int]]]:
        """Tokenise, and hand out runs of texts that together fit a block; a longer text stands alone."""
        group: list[list[int]] = []
        size = 0
        for text in texts:
            ids = self._known(text)
            if group and size + len(ids) > BLOCK:
                yield group
                group, size = [], 0
            group.append(ids)
            size += len(ids)
        if group:
            yield group

    def _sum_group(self, group: list[list[int]], out: Vectors) -> None:
        """Sum the scaled rows of each text: one gather, then a product each (`add.reduceat` takes twice as long)."""
        if len(group) == 1:
            out[0] = self._sum(group[0])
            return
        flat = np.fromiter(chain.from_iterable(group), np.int32)
        rows = self._table[flat].astype(np.float32)
        scales = self._scales[flat]
        start = 0
        for row, ids in zip(out, group, strict=True):
            end = start + len(ids)
            np.dot(scales[start:end], rows[start:end], out=row)
            start = end

    def _sum(self, ids: list[int]) -> Vectors:
        total = np.zeros(self.dimension, np.float32)
        for start in range(0, len(ids), BLOCK):
            part = ids[start : start + BLOCK]
            total += self._scales[part] @ self._table[part].astype(np.float32)
        return total


def _units(rows: Vectors) -> Vectors:
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows


def load_potion(models_folder: Path | None) -> PotionEmbedder:
    """Load potion from the installed data wheel, else from the models folder."""
    folder = _package_folder() or model_path("potion", models_folder)
    if folder is None:
        raise MissingExtra(
            "The default embedder's weights are not installed. Run `pip install retentive-potion`, "
            "or `retentive models fetch potion`.",
            model="potion",
        )
    return PotionEmbedder(folder)


def _package_folder() -> Path | None:
    """Find the data wheel without importing it; one inside a zip cannot be mapped and does not count."""
    spec = find_spec(DATA_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "data"
    return folder if (folder / "model.json").is_file() else None
