"""Rotation: which memories were shown lately, read from the ledger so that a restart does not forget it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

import numpy as np

from retentive.recall.cue import Cue
from retentive.recall.request import Question
from retentive.recall.stance import asks_for
from retentive.stores.protocol import SpaceStore
from retentive.text.tokens import query_terms
from retentive.types import AskedCue, LedgerEntry

SAME_WORDS: Final = 0.75  # of the words of both cues, the share that both have
RECALLS_READ: Final = 200  # the latest recalls that count: bounded, however busy the hour was


def shown_lately(question: Question, cue: Cue, store: SpaceStore) -> dict[str, str]:
    """Return ids of memories shown within the rotation window, with the reason in words."""
    rotation = question.policy.modifiers.rotation
    if rotation == "off":
        return {}
    recalls = _every_recall(question, store) if rotation == "any" else _alike_recalls(question, cue, store)
    suffix = " to a similar question" if rotation == "similar" else ""
    shown: dict[str, str] = {}
    for entry in recalls:
        if entry.at <= question.now:
            minutes = (question.now - entry.at).total_seconds() / 60
            for memory_id in entry.ids:
                shown.setdefault(memory_id, f"shown {minutes:.0f} min ago{suffix}")
    return shown


def _every_recall(question: Question, store: SpaceStore) -> Iterable[LedgerEntry]:
    since = question.now - timedelta(minutes=question.policy.modifiers.rotation_minutes)
    return store.read_ledger(since=since, policy=question.policy.name, limit=RECALLS_READ)


def _alike_recalls(question: Question, cue: Cue, store: SpaceStore) -> Iterable[LedgerEntry]:
    """Look at the cues first: what came back is read only where the same was asked."""
    since = question.now - timedelta(minutes=question.policy.modifiers.rotation_minutes)
    asked = store.asked_since(since, question.policy.name, RECALLS_READ)
    alike = (one for one in asked if _alike(one, cue, question.policy.modifiers.rotation_similarity))
    entries = (store.recall_entry(one.recall_id) for one in alike)
    return [entry for entry in entries if entry is not None]


def _alike(asked: AskedCue, cue: Cue, similarity: float) -> bool:
    """Whether the same was asked: near in meaning, by the same question word, and in three words of four.

    The vectors alone do not tell: to a sentence embedder all questions about one person are near; rotating for those
    cost .03 nDCG@10 on LoCoMo with arctic-s.
    """
    if asked.cue == cue.utterance:
        return True
    if asked.vector is None or asked.vector.shape != cue.vectors[0].shape:
        return False
    if float(np.dot(asked.vector, cue.vectors[0])) < similarity:
        return False
    then, now = set(query_terms(asked.cue)), set(cue.terms[0])
    return len(then & now) >= SAME_WORDS * len(then | now) and asks_for(asked.cue) == asks_for(cue.utterance)
