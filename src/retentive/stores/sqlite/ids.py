"""Ids side by side: fixed-width bytes, so that ties settle and answers are named without asking the database."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.sqlite.derived import roomy

LEAST, WIDTH = 24, 40  # bytes: ours have 20, a ULID 26, a UUID 36
WORD = 8
NUL = b"\0"
Places: TypeAlias = NDArray[np.int64]


class Ids:
    """The ids of a cache, by place. Ids that do not fit (long, or ending in NUL) are kept whole beside the array."""

    def __init__(self) -> None:
        self._heads = np.empty(0, dtype=f"S{LEAST}")
        self._odd: dict[int, str] = {}

    def put(self, places: Places, ids: list[str], capacity: int) -> None:
        """Set the ids of some places; they never change afterwards."""
        encoded = [text.encode() for text in ids]
        longest = max((len(raw) for raw in encoded if len(raw) <= WIDTH), default=0)
        width = max(self._heads.dtype.itemsize, -(-longest // WORD) * WORD)
        if capacity > len(self._heads) or width > self._heads.dtype.itemsize:
            grown = np.zeros(max(capacity, len(self._heads)), dtype=f"S{width}")
            grown[: len(self._heads)] = self._heads
            self._heads = grown
        self._heads[places] = encoded
        for place, text, raw in zip(places.tolist(), ids, encoded, strict=True):
            if len(raw) > WIDTH or raw.endswith(b"\0"):
                self._odd[place] = text

    def drop(self, places: Places) -> None:
        """Leave nothing of some places."""
        self._heads[places] = b""
        for place in places.tolist():
            self._odd.pop(place, None)

    def arrays(self, size: int) -> dict[str, NDArray[Any]]:
        """Return what it takes to come back."""
        odd = json.dumps(list(self._odd.items())).encode()
        heads = self._heads[:size].view(np.uint8).reshape(size, self._heads.dtype.itemsize)
        return {"heads": heads, "odd": np.frombuffer(odd, dtype=np.uint8)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], capacity: int) -> Ids:
        """Come back."""
        ids = cls()
        heads = roomy(arrays["heads"], capacity)
        ids._heads = heads.view(f"S{heads.shape[1]}")[:, 0]
        ids._odd = dict(json.loads(arrays["odd"].tobytes()))
        return ids

    def texts(self, places: Places) -> tuple[str, ...]:
        """Return the ids of some places."""
        if self._odd:
            heads = zip(places.tolist(), self._heads[places].tolist(), strict=True)
            return tuple(self._odd.get(place) or head.decode() for place, head in heads)
        heads = self._heads[places].tolist()
        if not heads:
            return ()
        texts = tuple(NUL.join(heads).decode().split("\0"))  # at once: one by one takes three times as long
        return texts if len(texts) == len(heads) else tuple(head.decode() for head in heads)

    def ranks(self, places: Places) -> Places:
        """Return numbers that order the places as their ids do (UTF-8 bytes order as code points do)."""
        ids = np.array(self.texts(places), dtype=object) if self._odd else self._heads[places]
        return np.unique(ids, return_inverse=True)[1]

    def smallest(self, places: Places, limit: int) -> Places:
        """Return the indices of the ``limit`` smallest ids into ``places``, in any order."""
        if limit >= len(places):
            return np.arange(len(places))
        if limit <= 0:
            return np.empty(0, dtype=np.int64)
        if self._odd:
            return np.argsort(self.ranks(places), kind="stable")[:limit]
        return self._smallest(places, limit)

    def _smallest(self, places: Places, limit: int) -> Places:
        """Narrow down by eight bytes at a time: sorting 200,000 strings takes 100 ms, this 5."""
        count = self._heads.dtype.itemsize // WORD
        words = self._heads[places].view(">u8").reshape(len(places), count)
        tied, sure = np.arange(len(places)), [np.empty(0, dtype=np.int64)]
        for word in range(count):
            keys = words[tied, word].astype(np.uint64)
            cut = np.partition(keys, limit - 1)[limit - 1]
            below = tied[keys < cut]
            sure.append(below)
            tied, limit = tied[keys == cut], limit - len(below)
            if limit >= len(tied):
                break
        return np.concatenate((*sure, tied[:limit]))
