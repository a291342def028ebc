"""Index terms as FTS5 tokens: any string becomes one plain ASCII word, and no two become the same."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

PLAIN = re.compile(r"[a-z0-9]+")
RESERVED = "zz"  # what is not a plain word begins so; a plain word that does is escaped like the rest
LONGEST = 200  # FTS5 cuts tokens silently at 32 KiB; a long term is compared by its digest


def encode_term(term: str) -> str:
    """Return the token of a term: itself where that is plain, else zze with zHEXz escapes, or zzh and a digest."""
    if PLAIN.fullmatch(term) and not term.startswith(RESERVED) and len(term) <= LONGEST:
        return term
    if len(term) > LONGEST:
        return f"{RESERVED}h{hashlib.sha256(term.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return f"{RESERVED}e" + "".join(_escape(character) for character in term)


def _escape(character: str) -> str:
    plain = character != "z" and PLAIN.fullmatch(character)
    return character if plain else f"z{ord(character):x}z"


def document(terms: Sequence[str]) -> str:
    """Return the text that FTS5 indexes for a memory's terms."""
    return " ".join(map(encode_term, terms))
