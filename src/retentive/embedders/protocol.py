"""What an embedder is, and the one place where its answers are checked.

An embedder is any object with `id`, `dimension` and `embed`. Everything else is a separate small protocol that the
engine asks for with `isinstance`, so that a user's own embedder stays three lines long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from retentive.errors import InvalidInput

Vectors = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    - `embed` returns one row per text, in the order given, as float32 of shape `(len(texts), dimension)`; for no texts
      the shape is `(0, dimension)`. Length does not matter: the engine normalises. A row of zeros has no direction and
      is refused.
    - The same text gives the same vector whatever stands beside it, today and after a restart.
    - `id` names the model, not the instance: vectors with the same `id` (and `fingerprint`) may be compared.
    - It may be called from several threads at once. It raises rather than return a placeholder.
    """

    @property
    def id(self) -> str:
        """Name the model whose vectors these are."""
        ...

    @property
    def dimension(self) -> int:
        """The number of columns of every answer."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return `(len(texts), dimension)` vectors, row by row for the texts."""
        ...


@runtime_checkable
class QueryEmbedder(Protocol):
    """An embedder that reads a question otherwise than a passage (a prompt in front, most often)."""

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape `(dimension,)`, comparable with those of `embed`."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that can also give one vector per token, for late interaction (MaxSim)."""

    def embed_tokens(self, text: str) -> Vectors:
        """Return `(tokens, any width)` rows of length one, at least one row; the width never changes."""
        ...


@runtime_checkable
class QueryTokenEmbedder(Protocol):
    """A token embedder that reads a question otherwise than a passage, or knows which of its words tell most."""

    def embed_query_tokens(self, text: str) -> Vectors:
        """Return rows as `embed_tokens` does, but scaled: a row's length is its token's weight, and they sum to one."""
        ...


@runtime_checkable
class TokenTable(Protocol):
    """An embedder whose token vectors are a table: late interaction then looks each distinct token up once."""

    def token_ids(self, text: str) -> list[int]:
        """Return the table's rows for the known tokens of a text, in order; empty where none is known."""
        ...

    def token_rows(self, ids: NDArray[np.int32]) -> Vectors:
        """Return the rows as trained: the direction is the meaning, the length the token's own weight."""
        ...


@runtime_checkable
class Fingerprinted(Protocol):
    """An embedder that knows the digest of its weights; it is stamped beside every vector."""

    @property
    def fingerprint(self) -> str:
        """A digest that changes whenever the vectors would."""
        ...


@runtime_checkable
class Calibrated(Protocol):
    """An embedder whose cosines were measured; absolute floors and the `band` normaliser read this."""

    @property
    def band(self) -> tuple[float, float]:
        """The cosine of unrelated pairs, and that of clearly related ones."""
        ...


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What must agree before two vectors may be compared."""

    id: str
    dimension: int
    fingerprint: str = ""


def identity(embedder: Embedder) -> EmbedderIdentity:
    """Return what to stamp beside the vectors of an embedder; the fingerprint is empty where it has none."""
    fingerprint = getattr(embedder, "fingerprint", "")  # as `Fingerprinted` has it, without looking all of it through
    return EmbedderIdentity(embedder.id, embedder.dimension, fingerprint)


def checked_vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Embed texts and return unit rows, or say which text the embedder failed on and what to do."""
    answer = embedder.embed(texts)
    return _units(embedder, _as_matrix(embedder, answer, len(texts)))


def query_vector(embedder: Embedder, text: str) -> Vectors:
    """Embed a question, by the embedder's own way for questions where it has one; a unit vector."""
    if isinstance(embedder, QueryEmbedder):
        answer = np.asarray(embedder.embed_query(text))
        return cast("Vectors", _units(embedder, _as_matrix(embedder, np.atleast_2d(answer), 1))[0])
    return cast("Vectors", checked_vectors(embedder, [text])[0])


def query_tokens(embedder: TokenEmbedder, text: str) -> Vectors:
    """Return a question's token rows, scaled by weights that sum to one (equal ones unless the embedder knows better).

    MaxSim against a passage is then `(query_tokens(e, q) @ e.embed_tokens(p).T).max(axis=1).sum()`, within -1 to 1.
    """
    if isinstance(embedder, QueryTokenEmbedder):
        return embedder.embed_query_tokens(text)
    rows = embedder.embed_tokens(text)
    return rows / np.float32(len(rows))


def _as_matrix(embedder: Embedder, answer: object, rows: int) -> Vectors:
    """Read the answer as float32 of the promised shape; anything else is the embedder's fault and is named."""
    expected = (rows, embedder.dimension)
    try:
        matrix = np.asarray(answer, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise _refused(
            embedder, f"something that is no array of numbers ({type(answer).__name__})", expected
        ) from error
    if rows == 0 and matrix.size == 0:
        return matrix.reshape(expected)
    if matrix.shape != expected:
        raise _refused(embedder, f"an array of shape {matrix.shape}", expected)
    return matrix


def _refused(embedder: Embedder, got: str, expected: tuple[int, int]) -> InvalidInput:
    return InvalidInput(
        f"Embedder {embedder.id!r} returned {got} for {expected[0]} texts; expected {expected}, one row per text. "
        "Correct its embed() or its `dimension`.",
        embedder=embedder.id,
        expected=expected,
    )


def _units(embedder: Embedder, matrix: Vectors) -> Vectors:
    """Scale every row to length one; in float64, for the squares of large float32 values overflow."""
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    usable = np.isfinite(lengths) & (lengths > 0)
    if not usable.all():
        raise _unusable(embedder, matrix, int(np.argmin(usable)))
    units: Vectors = np.divide(matrix, lengths[:, None]).astype(np.float32)
    return units


def _unusable(embedder: Embedder, matrix: Vectors, row: int) -> InvalidInput:
    what = "only zeros" if not matrix[row].any() else "a value that is not finite (NaN or infinity)"
    return InvalidInput(
        f"Embedder {embedder.id!r} returned {what} for the text at index {row}; such a vector has no direction. "
        "Leave that text out, or make embed() raise or fall back where the model has no answer.",
        embedder=embedder.id,
        index=row,
    )
