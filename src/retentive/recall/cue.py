"""Cues: from a string or an agent's state to what the channels are asked with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import numpy as np

from retentive.embedders.protocol import query_vector
from retentive.recall.request import Question, Tools
from retentive.recall.stance import ROLES, asks, role_asked, wants_current, words_of
from retentive.stores.protocol import SpaceStore
from retentive.text.clauses import clauses
from retentive.text.entities import cue_entities
from retentive.text.stopwords import STOP_WORDS
from retentive.text.temporal import TemporalIntent, temporal_intent
from retentive.text.tokens import identifiers, query_terms
from retentive.types import AgentState, Vectors

FIRST_MOMENT: Final = datetime(1, 1, 2, tzinfo=UTC)
NAMED: Final = 0.5  # of the rows with a word, in how many it is a name, for a cue that writes it small
LAST_MOMENT: Final = datetime(9999, 12, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Cue:
    """A question, read: vectors for the dense arm, terms for the lexical one, names, and the time it speaks of."""

    text: str  # what the vectors were made from
    utterance: str  # what the terms were made from
    clauses: tuple[str, ...]
    vectors: Vectors  # row 0 the whole cue, then one row per clause
    terms: tuple[tuple[str, ...], ...]  # likewise
    entities: tuple[str, ...]
    identifiers: frozenset[str]
    intent: TemporalIntent | None
    words: frozenset[str]  # folded, for names
    role: str | None  # whose turns the question is about, where it says "I" or "you suggested"
    wants_current: bool  # the question is about how things stand now

    @property
    def parts(self) -> Vectors:
        """The vectors an answer is compared with: the clauses' where there are some, else the whole cue's."""
        return self.vectors[1:] if self.clauses else self.vectors

    @property
    def about_past(self) -> bool:
        """Whether the cue speaks of a time gone by."""
        return self.intent is not None and self.intent.direction == "past"

    @property
    def window(self) -> tuple[datetime, datetime] | None:
        """The time span the cue names; an open end reaches to the first or last moment there is."""
        if self.intent is None or (self.intent.start is None and self.intent.end is None):
            return None
        return (self.intent.start or FIRST_MOMENT, self.intent.end or LAST_MOMENT)

    def asks_about(self, speaker: str | None) -> bool:
        """Whether the cue is about this speaker: by name, or by role ("I", "you suggested")."""
        if not speaker:
            return False
        if (role := ROLES.get(speaker.casefold())) is not None:
            return role == self.role
        return bool((words_of(speaker) - STOP_WORDS) & self.words)


def state_text(state: AgentState) -> str:
    """Write an agent's state as the text its memories are compared with: what it does now stands first."""
    parts = [state.step, state.goal, *state.open_loops]
    return ". ".join(part.strip() for part in parts if part.strip())


def read_cue(question: Question, tools: Tools) -> Cue:
    """Read a question once, before any channel is asked; the names in it wait for the store (`with_names`).

    The dense arm follows the agent's state where there is one (what it is doing), the lexical arm the user's words.
    """
    text = question.cue or (state_text(question.state) if question.state else "") or question.utterance
    utterance = question.utterance or question.cue or text
    pieces = _parts(question.policy.sources.decompose, utterance)
    wholes = [text, *pieces]
    return Cue(
        text=text,
        utterance=utterance,
        clauses=pieces,
        vectors=np.stack([query_vector(tools.embedder, whole) for whole in wholes]),
        terms=tuple(
            tuple(dict.fromkeys(query_terms(whole, language=tools.language))) for whole in (utterance, *pieces)
        ),
        entities=(),
        identifiers=identifiers(utterance),
        words=words_of(utterance),
        role=role_asked(utterance),
        wants_current=wants_current(utterance),
        intent=temporal_intent(utterance, question.now) if question.policy.modifiers.temporal_intent else None,
    )


def _parts(decompose: str, utterance: str) -> tuple[str, ...]:
    """Return the parts of a cue that are asked one by one: its clauses, or only those that are questions themselves."""
    if decompose == "never":
        return ()
    parts = tuple(clauses(utterance))
    if decompose == "questions":
        parts = tuple(part for part in parts if asks(part))
    return parts if len(parts) > 1 else ()


def with_names(cue: Cue, question: Question, store: SpaceStore) -> Cue:
    """Return the cue with the names in it: those spelt as names, and what the space knows as one."""
    if not {"entity"} & {*question.policy.sources.channels, *question.policy.signals}:
        return cue
    asked: list[str] = []

    def note(key: str) -> bool:
        asked.append(key)
        return False

    cue_entities(cue.utterance, note)  # a first reading, so that the store is asked once
    names = cue_entities(cue.utterance, store.known_entities(asked))
    spelt = frozenset(cue_entities(cue.utterance, ()))
    return replace(cue, entities=tuple(name for name in names if name in spelt or _is_name(name, question, store)))


def _is_name(key: str, question: Question, store: SpaceStore) -> bool:
    """Whether what the cue writes like a word is a name where this space writes it, more often than not.

    A heading makes an entity of "Response Time", and "time" must not become the name of those who have such headings.
    How many rows have the word follows from its idf.
    """
    found = store.mentioning([key], question.gate, 1)
    words = query_terms(key)
    if not len(found.rows) or not words:
        return False
    odds = math.exp(float(store.term_weights(words).max()))
    rows = (store.count(question.gate) + 0.5 - 0.5 * odds) / (1.0 + odds)
    return math.expm1(1.0 / float(found.scores[0])) >= NAMED * rows
