"""How a memory is indexed: the text its vector is made from, the terms its lexical entry holds, the names in it.

One home for these three, because writing, importing and re-embedding must agree to the letter: a space notes by which
embedder and in which language it is indexed.
"""

from __future__ import annotations

from typing import Any, Final

from retentive.stores.protocol import SpaceStore, Transaction
from retentive.text.commonwords import MONTHS
from retentive.text.entities import entities, entity_key, name_parts, opening_name
from retentive.text.languages import ENGLISH
from retentive.text.speech import spoken
from retentive.text.tokens import terms
from retentive.types import EmbedderIdentity, Json, Memory

EMBEDDER_SETTING: Final = "embedder"
LANGUAGE_SETTING: Final = "language"
"""In which language the words of a space are stemmed; none is noted where that is English."""


def passage(memory: Memory) -> str:
    """Return the text that is embedded: the words, with the speaker's name where they do not begin with it.

    A date in the vector gains nothing that the temporal channel and the lexical entry do not give better
    (docs/evaluation.md).
    """
    return spoken(memory.text, memory.speaker)


def language_of(space: SpaceStore | Transaction, configured: str = ENGLISH) -> str:
    """Return the language in which a space's words are stemmed; of one that holds nothing yet, the configured one."""
    kept = space.setting(LANGUAGE_SETTING)
    if isinstance(kept, str):
        return kept
    return ENGLISH if configured == ENGLISH or space.setting(EMBEDDER_SETTING) is not None else configured


def index_terms(memory: Memory, language: str) -> list[str]:
    """Return the terms of the lexical entry: date and passage, and the tags and key by which people ask."""
    parts = [spoken_date(memory), passage(memory), *memory.tags]
    if memory.key:
        parts.append(memory.key)
    return [term for part in parts for term in terms(part, language=language)]


def spoken_date(memory: Memory) -> str:
    """Return the day of a memory as people write it: a question that names a date then meets it as words.

    In the lexical entry only; in the vector a date costs long messages more than it gives short ones.
    """
    created = memory.created_at
    return f"{created.day} {MONTHS[created.month - 1]} {created.year}"


def names_in(text: str, speaker: str | None) -> tuple[str, ...]:
    """Return the entity keys of a text: full names, and the parts by which people call them."""
    keys = [entity_key(name) for name in entities(text, speaker=speaker)]
    if speaker:
        keys.append(entity_key(speaker))
    keys.append(opening_name(text))
    whole = [key for key in dict.fromkeys(keys) if key]
    return tuple(dict.fromkeys([*whole, *(part for key in whole for part in name_parts(key))]))


def identity_setting(identity: EmbedderIdentity) -> Json:
    """Return an embedder's identity as a store setting."""
    return {"id": identity.id, "dimension": identity.dimension, "fingerprint": identity.fingerprint}


def told(identity: EmbedderIdentity) -> str:
    """Name an embedder as messages do."""
    weights = f", weights {identity.fingerprint[:12]}" if identity.fingerprint else ""
    return f"{identity.id!r} ({identity.dimension} dimensions{weights})"


def identity_of(setting: Any) -> EmbedderIdentity | None:
    """Read an embedder's identity from a store setting; None where there is none yet."""
    if not isinstance(setting, dict):
        return None
    return EmbedderIdentity(str(setting["id"]), int(setting["dimension"]), str(setting.get("fingerprint", "")))
