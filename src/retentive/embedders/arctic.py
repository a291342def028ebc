"""The strong offline embedder: snowflake-arctic-embed-s, int8 ONNX, run by `onnxruntime` alone.

Texts go through the network one at a time, several threads side by side. The weights are quantised dynamically: a
batch shares its scales, so a text's vector would depend on what stands beside it (cosine .995 to itself, measured),
and a batch is no faster on a CPU than single texts, which need no padding. One thread a text also leaves ONNX no idle
threads to spin; the vectors are the same, bit for bit, whatever the number of threads.

A question needs the prefix the model was trained with: without it recall@10 falls from .68 to .49 on LoCoMo.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from retentive.embedders.protocol import Vectors
from retentive.embedders.wordless import Wordless
from retentive.embedders.wordpiece import WordPiece
from retentive.errors import EmbedderFailed, InvalidInput
from retentive.extras import require_extra
from retentive.models.folder import read_fingerprint, require_model

QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
LONGEST = 512
"""Tokens, the two special ones included; the rest of a longer text is not read."""
MOST_THREADS = 8
"""More than this is for the caller to ask for: the store and the server want cores too."""


class ArcticEmbedder:
    """snowflake-arctic-embed-s from a folder with `model.onnx`, `vocab.txt` and `model.json`; 384 dimensions."""

    reads_prose = True  # late interaction may borrow the bundled token table

    id = "snowflake-arctic-embed-s-int8"
    dimension = 384
    band = (0.49, 0.67)
    """Between a question and a passage, which is what recall compares; two passages lie at .73 and .88."""

    def __init__(self, folder: Path, *, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise InvalidInput(f"threads must be at least 1; got {threads!r}. Leave it out for one per core.")
        self.fingerprint = read_fingerprint(folder, "arctic-s")
        self._threads = threads or min(os.cpu_count() or 1, MOST_THREADS)
        vocabulary = (folder / "vocab.txt").read_text("utf-8")
        self._tokens = WordPiece(vocabulary.splitlines())
        self._first, self._last = (self._tokens.ids[token] for token in ("[CLS]", "[SEP]"))
        self._prefix = self._tokens.encode(QUERY_PREFIX)
        self._wordless = Wordless(self._tokens, vocabulary, self.dimension)
        self._session = _session(folder / "model.onnx")

    def __repr__(self) -> str:
        return f"ArcticEmbedder({self.dimension} dimensions, {self.fingerprint[:12]}, threads={self._threads})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text: the state of its first token."""
        answer = np.empty((len(texts), self.dimension), np.float32)
        if len(texts) < 2 or self._threads == 1:
            for at, text in enumerate(texts):
                answer[at] = self._passage(text)
            return answer
        with ThreadPoolExecutor(min(self._threads, len(texts)), "retentive-arctic") as pool:
            for at, vector in enumerate(pool.map(self._passage, texts)):
                answer[at] = vector
        return answer

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a question, asked with the model's prefix."""
        if self._wordless.covers(self._tokens.encode(text, LONGEST)):
            return self._wordless.direction(text)
        return self._first_state(self._tokens.encode(QUERY_PREFIX + text, LONGEST - 2))

    def embed_tokens(self, text: str) -> Vectors:
        """Return the unit states of the text's own tokens, those around it left out."""
        ids = self._tokens.encode(text, LONGEST - 2)
        if self._wordless.covers(ids):
            return self._wordless.direction(text).reshape(1, self.dimension)
        return _units(self._states(ids)[1:-1])

    def embed_query_tokens(self, text: str) -> Vectors:
        """Return the states of a question's own tokens, read behind the prefix, each with the same weight.

        Without the prefix MaxSim over the top 30 lowers recall@10 on LoCoMo (.729 to .703); with it, it is .767.
        """
        ids = self._tokens.encode(text, LONGEST - 2 - len(self._prefix))
        if self._wordless.covers(ids):
            return self._wordless.direction(text).reshape(1, self.dimension)
        states = self._states([*self._prefix, *ids])
        return _units(states[1 + len(self._prefix) : -1]) / np.float32(len(ids))

    def _passage(self, text: str) -> Vectors:
        ids = self._tokens.encode(text, LONGEST - 2)
        if self._wordless.covers(ids):
            return self._wordless.direction(text)
        return self._first_state(ids)

    def _first_state(self, ids: list[int]) -> Vectors:
        return _units(self._states(ids)[:1]).reshape(self.dimension)

    def _states(self, ids: list[int]) -> Vectors:
        """Run the network over one text and return the last state of every token."""
        inputs = np.array([[self._first, *ids, self._last]], np.int64)
        feed = {"input_ids": inputs, "attention_mask": np.ones_like(inputs), "token_type_ids": np.zeros_like(inputs)}
        try:
            states: Vectors = self._session.run(["last_hidden_state"], feed)[0][0]
        except Exception as error:  # as in _session
            raise EmbedderFailed(
                f"onnxruntime failed on a text of {len(ids)} tokens ({error}). If memory ran out, use fewer threads.",
                tokens=len(ids),
            ) from error
        return states


def load_arctic(models_folder: Path | None = None, *, threads: int | None = None) -> ArcticEmbedder:
    """Load arctic-s from the models folder."""
    return ArcticEmbedder(require_model("arctic-s", models_folder), threads=threads)


def _session(path: Path) -> Any:
    """Open the network for one thread a call; several calls may run in it at once."""
    onnxruntime = require_extra("onnxruntime", extra="onnx", user="The embedder 'arctic-s'")
    onnxruntime.disable_telemetry_events()  # its Windows build reports to Microsoft otherwise; we phone nobody
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it would keep the memory of the longest text seen for ever
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises classes of its own, a dozen, without a common base
        raise EmbedderFailed(
            f"onnxruntime cannot read {str(path)!r} ({error}). Run `retentive models fetch arctic-s` again.",
            path=str(path),
        ) from error


def _units(rows: Vectors) -> Vectors:
    units: Vectors = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return units
