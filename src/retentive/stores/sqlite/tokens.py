"""Index terms as tokens: any string becomes one word without a space, and no two become the same.

A memory's terms are kept in the database as one line, repetitions included, tokens parted by single spaces: all that
the lexical index is made from.
"""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import Sequence

SEPARATOR = " "
RESERVED = re.compile("[\\\\ \0\ud800-\udfff]")  # would part tokens, end them, or cannot be written as UTF-8
LONGEST = 200  # characters; a longer term is known by its digest
NOTHING = "\\-"  # the term without a character
WIDTH = 24  # bytes of a key; tokens of more are known by their digest: 2 in 100 of a mixed vocabulary
KEY = f"S{WIDTH}"


def encode_term(term: str) -> str:
    """Return the token of a term: itself where that is safe, else with \\HEX; escapes, or \\h and a digest."""
    if term.isalnum() and len(term) <= LONGEST:
        return term
    if not term:
        return NOTHING
    if len(term) > LONGEST:
        return f"\\h{hashlib.sha256(term.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return RESERVED.sub(lambda match: f"\\{ord(match[0]):x};", term)


def document(terms: Sequence[str]) -> str:
    """Return the line that is kept of a memory's terms."""
    line = SEPARATOR.join(terms)
    plain = line.replace(SEPARATOR, "").isalnum() and line.count(SEPARATOR) == len(terms) - 1
    if plain and all(terms) and max(map(len, terms)) <= LONGEST:  # as nearly always
        return line
    return SEPARATOR.join(map(encode_term, terms))


def key(token: str) -> bytes:
    """Return a token as the fixed-width bytes that vocabularies are sorted by."""
    raw = token.encode()
    if len(raw) <= WIDTH:
        return raw
    return b"\\#" + urlsafe_b64encode(hashlib.blake2b(raw, digest_size=16).digest()).rstrip(b"=")
