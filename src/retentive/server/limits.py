"""How often one caller may ask: a bucket of tokens for each, filled as fast as its rate allows."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

CALLERS: Final = 10_000
"""How many callers are remembered; who was not seen for longest begins with a full bucket again."""
BURST_SECONDS: Final = 10.0
"""How long a caller may have been silent for it to count."""


@dataclass(slots=True)
class Bucket:
    """What one caller has left."""

    tokens: float
    at: float


class RateLimiter:
    """Buckets by caller. Used by the event loop alone, so it needs no lock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, caller: str, rate: float) -> float:
        """Take a token of a caller who may ask ``rate`` times a minute; return how many seconds it has to wait."""
        now, per_second = self._clock(), rate / 60
        most = max(1.0, per_second * BURST_SECONDS)
        bucket = self._buckets.pop(caller, None) or Bucket(most, now)
        bucket.tokens = min(most, bucket.tokens + (now - bucket.at) * per_second)
        bucket.at = now
        self._buckets[caller] = bucket
        if len(self._buckets) > CALLERS:
            self._buckets.popitem(last=False)
        if bucket.tokens < 1:
            return math.ceil((1 - bucket.tokens) / per_second)
        bucket.tokens -= 1
        return 0.0
