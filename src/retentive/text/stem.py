"""English suffix stripping: the Porter2 ("english") algorithm of the Snowball project, in the standard library alone.

Written here because the alternatives cost more than they give: PyStemmer is a compiled dependency whose speed a word
cache makes irrelevant, and the pure-Python ``snowballstemmer`` ships thirty languages where we need a hundred lines. It
agrees with ``snowballstemmer`` 3.1.1 on all of 41,254 words (``docs/decisions/0003-text-analysis.md``).

Source: M. F. Porter, "The English (Porter2) stemming algorithm", https://snowballstem.org/algorithms/english/stemmer.html
"""

from __future__ import annotations

from typing import Final

from retentive.text.lazy import Lazy

_WHOLE: Final = {
    **dict.fromkeys(("sky", "news", "howe", "atlas", "cosmos", "bias", "andes")),
    "skis": "ski", "skies": "sky", "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli",
    "singly": "singl",
}  # fmt: skip
_KEPT_AFTER_1A: Final = frozenset(
    ("inning", "outing", "canning", "herring", "earring", "evening", "proceed", "exceed", "succeed")
)
_REGION_PREFIX: Final = Lazy(r"gener|commun|arsen|past|univers|later|emerg|organ|inter")
_REGION: Final = Lazy(r"[aeiouy][^aeiouy]")
_VOWEL: Final = Lazy(r"[aeiouy]")
_SHORT_END: Final = Lazy(r"(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy]|^past)$")
_TIE: Final = Lazy(r"[^aeiouy]y")
_CONSONANT_Y: Final = Lazy(r"(^|[aeiouy])y")

_STEP2: Final = (
    ("ational", "ate"), ("fulness", "ful"), ("iveness", "ive"), ("ization", "ize"), ("ousness", "ous"),
    ("biliti", "ble"), ("tional", "tion"), ("lessli", "less"), ("aliti", "al"), ("alism", "al"), ("ation", "ate"),
    ("entli", "ent"), ("fulli", "ful"), ("iviti", "ive"), ("ousli", "ous"), ("ogist", "og"), ("alli", "al"),
    ("anci", "ance"),
    ("abli", "able"), ("ator", "ate"), ("enci", "ence"), ("izer", "ize"), ("bli", "ble"), ("ogi", "og"), ("li", ""),
)  # fmt: skip
_STEP3: Final = (
    ("ational", "ate"), ("tional", "tion"), ("alize", "al"), ("ative", ""), ("icate", "ic"), ("iciti", "ic"),
    ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP4: Final = (
    "ement", "able", "ance", "ence", "ible", "ment", "ant", "ate", "ent", "ion", "ism", "iti", "ive", "ize", "ous",
    "al", "er", "ic",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a lower-case word of plain ASCII letters."""
    if len(word) <= 2:
        return word
    if word in _WHOLE:
        return _WHOLE[word] or word
    word = _CONSONANT_Y.sub(r"\1Y", word)
    first, second = _regions(word)
    word = _plural(word)
    if word in _KEPT_AFTER_1A:
        return word
    word = _past(word, first)
    if word[-1] in "yY" and len(word) > 2 and word[-2] not in "aeiouy":
        word = word[:-1] + "i"
    word = _derived(word, first)
    word = _adjective(word, first, second)
    word = _residue(word, second)
    return _final_letter(word, first, second).lower()


def _regions(word: str) -> tuple[int, int]:
    """Where R1 and R2 begin: after the first, and the second, non-vowel that follows a vowel."""
    prefix = _REGION_PREFIX.match(word)
    found = prefix or _REGION.search(word)
    first = found.end() if found else len(word)
    after = _REGION.search(word, first)
    return first, after.end() if after else len(word)


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word[-1] != "s" or word.endswith(("us", "ss")):
        return word
    return word[:-1] if _VOWEL.search(word, 0, len(word) - 2) else word


def _past(word: str, first: int) -> str:
    for suffix in ("eedly", "eed"):
        if word.endswith(suffix):
            return word[: -len(suffix)] + "ee" if len(word) - len(suffix) >= first else word
    for suffix in ("ingly", "edly", "ing", "ed"):
        if word.endswith(suffix):
            root = word[: -len(suffix)]
            if suffix == "ing" and _TIE.fullmatch(root):
                return root[0] + "ie"
            return _mend(root, first) if _VOWEL.search(root) else word
    return word


def _mend(root: str, first: int) -> str:
    """Give back the letter that -ed and -ing swallowed (hop-ing) or remove the one they doubled (hopp-ing)."""
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    if root[-2:] in {"bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"}:
        return root if len(root) == 3 and root[0] in "aeo" else root[:-1]
    return root + "e" if first >= len(root) and _SHORT_END.search(root) else root


def _derived(word: str, first: int) -> str:
    for suffix, replacement in _STEP2:
        if word.endswith(suffix):
            root = word[: -len(suffix)]
            if len(root) < first or not _allowed(suffix, root):
                return word
            return root + replacement
    return word


def _allowed(suffix: str, root: str) -> bool:
    if suffix == "ogi":
        return root.endswith("l")
    return suffix != "li" or root[-1:] in set("cdeghkmnrt")


def _adjective(word: str, first: int, second: int) -> str:
    for suffix, replacement in _STEP3:
        if word.endswith(suffix):
            at = len(word) - len(suffix)
            reach = second if suffix == "ative" else first
            return word[:at] + replacement if at >= reach else word
    return word


def _residue(word: str, second: int) -> str:
    for suffix in _STEP4:
        if word.endswith(suffix):
            at = len(word) - len(suffix)
            fits = at >= second and (suffix != "ion" or word[at - 1] in "st")
            return word[:at] if fits else word
    return word


def _final_letter(word: str, first: int, second: int) -> str:
    at = len(word) - 1
    if word[-1] == "e" and (at >= second or (at >= first and not _SHORT_END.search(word[:-1]))):
        return word[:-1]
    if word[-1] == "l" and at >= second and word[-2] == "l":
        return word[:-1]
    return word
