"""Late interaction (MaxSim): does each word of the question meet something in the text, and how well?

A long text is compared window by window (whole sentences, at most 64 word pieces) and its best window counts: over a
whole long message every word meets something somewhere, which says nothing. Rare words of the question weigh more.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from retentive.embedders.protocol import TokenTable
from retentive.stores.protocol import SpaceStore
from retentive.text.stopwords import STOP_WORDS
from retentive.text.tokens import chunks, fold, terms
from retentive.types import Floats

Ids = NDArray[np.int32]
WINDOW: Final = 64
LONGEST_TEXT: Final = 20_000  # characters of one text that are looked at: bounded, and far beyond any turn
CACHED_IDS: Final = 2_000_000  # 8 MB of word pieces kept between recalls
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


class Windows:
    """Cuts texts into windows of word pieces, and remembers the latest: thread-safe and bounded."""

    def __init__(self, table: TokenTable) -> None:
        self.table = table
        self._kept: OrderedDict[str, list[Ids]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def of(self, text: str) -> list[Ids]:
        """Return the windows of a text, at least one unless no word of it is known."""
        text = text[:LONGEST_TEXT]
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
        windows = self._cut(text)
        with self._lock:
            if text not in self._kept:
                self._kept[text] = windows
                self._size += _length(windows)
            while self._size > CACHED_IDS:
                self._size -= _length(self._kept.popitem(last=False)[1])
        return windows

    def _cut(self, text: str) -> list[Ids]:
        windows: list[Ids] = []
        current: list[int] = []
        for sentence in _SENTENCE_END.split(text):
            ids = self.table.token_ids(sentence)
            if current and len(current) + len(ids) > WINDOW:
                windows.append(np.array(current, dtype=np.int32))
                current = []
            current.extend(ids)
            while len(current) > WINDOW * 3 // 2:
                windows.append(np.array(current[:WINDOW], dtype=np.int32))
                current = current[WINDOW:]
        return [*windows, np.array(current, dtype=np.int32)] if current else windows


def _length(windows: Sequence[Ids]) -> int:
    return sum(len(window) for window in windows) + 1


class LateInteraction:
    """One question, ready to be compared with texts."""

    def __init__(self, windows: Windows, question: str, store: SpaceStore, language: str) -> None:
        self._windows = windows
        ids, weights = _question_pieces(windows.table, question, store, language)
        rows = windows.table.token_rows(ids).astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        weights = weights * np.sqrt(lengths)
        self._question = rows / lengths[:, None]
        self._weights = (weights / weights.sum()).astype(np.float32) if len(ids) else weights.astype(np.float32)

    def scores(self, texts: Sequence[str]) -> Floats:
        """Return for each text the weighted mean over the question's pieces of the best cosine in its best window."""
        cut = [self._windows.of(text) for text in texts]
        flat = [window for windows in cut for window in windows]
        answer = np.zeros(len(texts))
        if not flat or not len(self._weights):
            return answer
        best = self._weights @ np.maximum.reduceat(self._cosines(np.concatenate(flat)), _starts(flat), axis=1)
        known = [i for i, windows in enumerate(cut) if windows]
        answer[known] = np.maximum.reduceat(best, _starts([cut[i] for i in known]))
        return np.clip(answer, 0.0, 1.0)

    def _cosines(self, ids: Ids) -> NDArray[np.float32]:
        distinct, back = np.unique(ids, return_inverse=True)
        rows = self._windows.table.token_rows(distinct)
        rows = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        cosines: NDArray[np.float32] = (self._question @ rows.T)[:, back]
        return cosines


def _starts(parts: Sequence[Sequence[object] | Ids]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])[:-1]]).astype(np.int64)


def _question_pieces(table: TokenTable, question: str, store: SpaceStore, language: str) -> tuple[Ids, Floats]:
    """Return the distinct pieces of the question's content words, weighted by the root of each word's idf."""
    words = list(dict.fromkeys(word for word in chunks(fold(question)) if any(c.isalnum() for c in word)))
    content = [word for word in words if word not in STOP_WORDS] or words
    leading = [(terms(word, language=language) or [word])[0] for word in content]
    weights = np.sqrt(store.term_weights(leading)) if leading else np.zeros(0)
    pieces: dict[int, float] = {}
    for word, weight in zip(content, weights.tolist(), strict=True):
        for piece in table.token_ids(word):
            pieces.setdefault(piece, max(weight, 1e-3))
    return np.array(list(pieces), dtype=np.int32), np.array(list(pieces.values()), dtype=np.float64)
