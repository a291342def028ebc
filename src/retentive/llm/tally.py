"""Count what calls take, and what that costs."""

from __future__ import annotations

import threading
from typing import Final

from retentive.errors import InvalidInput
from retentive.llm.protocol import Usage

MILLION: Final = 1_000_000  # tokens: the unit of every provider's price list


class Tally:
    """Adds up the usage of one model object, whichever thread asks. Prices are per million tokens."""

    def __init__(self, input_price: float, output_price: float) -> None:
        for name, price in (("input_price", input_price), ("output_price", output_price)):
            if not price >= 0:
                raise InvalidInput(f"{name} is a price per million tokens, 0 or more; got {price!r}.", value=price)
        self._prices = input_price, output_price
        self._lock = threading.Lock()
        self._total = Usage()

    @property
    def total(self) -> Usage:
        """What all calls took."""
        with self._lock:
            return self._total

    def price(self, input_tokens: int, output_tokens: int) -> float:
        """Return what that many tokens cost."""
        return (input_tokens * self._prices[0] + output_tokens * self._prices[1]) / MILLION

    def add(self, input_tokens: int, output_tokens: int, *, estimated: bool = False) -> Usage:
        """Count one call and return its usage."""
        usage = Usage(1, input_tokens, output_tokens, self.price(input_tokens, output_tokens), estimated)
        with self._lock:
            self._total += usage
        return usage
