"""Times as published sets write them: in English words, with dots or with slashes, never with a zone. Read as UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_FORMS: Final = (
    "%I:%M %p on %d %B, %Y",  # LoCoMo: 1:56 pm on 8 May, 2023
    "%Y/%m/%d %H:%M",  # LongMemEval, its weekday in brackets taken out: 2023/05/20 (Sat) 02:21
    "%Y/%m/%d",
    "%d.%m.%Y, %H:%M:%S",  # REALTALK: 29.12.2023, 01:06:31
    "%d.%m.%Y, %H:%M",
    "%B-%d-%Y",  # BEAM: March-15-2024
    "%B %d, %Y",
)
_WEEKDAY: Final = re.compile(r"\s*\([A-Za-z]{3,9}\)\s*")


def read(text: str) -> datetime:
    """Return the moment that a text names; a `ValueError` for what no set writes."""
    if not isinstance(text, str):
        raise TypeError(f"expected a moment as a text, got {text!r}")
    plain = _WEEKDAY.sub(" ", text).strip()
    for form in _FORMS:
        try:
            return datetime.strptime(plain, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        moment = datetime.fromisoformat(plain)
    except ValueError:
        raise ValueError(f"{text!r} is no moment as the published sets write them") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def written(moment: datetime) -> str:
    """Return a moment as the neutral form has it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
