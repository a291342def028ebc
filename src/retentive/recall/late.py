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
SHORT: Final = 400  # characters: most texts are one window, and are not looked at sentence by sentence
CACHED: Final = 8 << 20  # bytes of texts and their word pieces kept between recalls
BESIDE: Final = 128  # bytes that an entry, or an array, takes beside what is in it
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
        return self.of_all([text])[0]

    def of_all(self, texts: Sequence[str]) -> list[list[Ids]]:
        """Return the windows of each text."""
        told = [text[:LONGEST_TEXT] for text in texts]
        with self._lock:
            known = list(map(self._kept.get, told))
            for text, windows in zip(told, known, strict=True):
                if windows is not None:
                    self._kept.move_to_end(text)
        if None not in known:
            return [windows for windows in known if windows is not None]
        found = [self._cut(text) if windows is None else windows for text, windows in zip(told, known, strict=True)]
        new = [(text, cut) for text, cut, windows in zip(told, found, known, strict=True) if windows is None]
        with self._lock:
            for text, cut in new:
                self._keep(text, cut)
        return found

    def _keep(self, text: str, windows: list[Ids]) -> None:
        if text not in self._kept:
            self._kept[text] = windows
            self._size += _weight(text, windows)
        while self._size > CACHED:
            self._size -= _weight(*self._kept.popitem(last=False))

    def _cut(self, text: str) -> list[Ids]:
        if len(text) <= SHORT:
            ids = self.table.token_ids(text)
            if len(ids) <= WINDOW:
                return [np.array(ids, dtype=np.int32)] if ids else []
        return self._cut_long(text)

    def _cut_long(self, text: str) -> list[Ids]:
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


def _weight(text: str, windows: Sequence[Ids]) -> int:
    return BESIDE + len(text) + sum(BESIDE + window.nbytes for window in windows)


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
        cut = self._windows.of_all(texts)
        flat = [window for windows in cut for window in windows]
        answer = np.zeros(len(texts))
        if not flat or not len(self._weights):
            return answer
        best = self._weights @ np.maximum.reduceat(self._cosines(np.concatenate(flat)), _starts(flat), axis=1)
        known = [i for i, windows in enumerate(cut) if windows]
        answer[known] = np.maximum.reduceat(best, _starts([cut[i] for i in known]))
        return np.clip(answer, 0.0, 1.0)

    def _cosines(self, ids: Ids) -> NDArray[np.float32]:
        distinct, back = _distinct(ids)
        rows = self._windows.table.token_rows(distinct)
        rows = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        cosines: NDArray[np.float32] = (self._question @ rows.T)[:, back]
        return cosines


def _distinct(ids: Ids) -> tuple[Ids, NDArray[np.int64]]:
    """Return the ids in order, each once, and where each stands among them; they are few, so counting beats sorting."""
    seen = np.zeros(int(ids.max()) + 1, dtype=np.bool_)
    seen[ids] = True
    distinct = np.flatnonzero(seen)
    place = np.empty(len(seen), dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct.astype(np.int32), place[ids]


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
