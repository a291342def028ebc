"""Rotation: which memories were shown lately, read from the ledger so that a restart does not forget it."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import numpy as np

from retentive.recall.cue import Cue
from retentive.recall.request import Question
from retentive.stores.protocol import SpaceStore
from retentive.types import LedgerEntry

RECALLS_READ: Final = 200  # the latest recalls that count: bounded, however busy the hour was


def shown_lately(question: Question, cue: Cue, store: SpaceStore) -> dict[str, str]:
    """Return ids of memories shown within the rotation window, with the reason in words."""
    modifiers = question.policy.modifiers
    if modifiers.rotation == "off":
        return {}
    since = question.now - timedelta(minutes=modifiers.rotation_minutes)
    shown: dict[str, str] = {}
    for entry in store.read_ledger(since=since, policy=question.policy.name, limit=RECALLS_READ):
        if entry.at <= question.now and (modifiers.rotation == "any" or _similar(entry, cue, question)):
            minutes = max(0.0, (question.now - entry.at).total_seconds() / 60)
            for memory_id in entry.ids:
                shown.setdefault(memory_id, f"shown {minutes:.0f} min ago{_to(modifiers.rotation)}")
    return shown


def _to(rotation: str) -> str:
    return " to a similar question" if rotation == "similar" else ""


def _similar(entry: LedgerEntry, cue: Cue, question: Question) -> bool:
    if entry.cue_vector is None or entry.cue_vector.shape != cue.vectors[0].shape:
        return entry.cue == cue.utterance
    return float(np.dot(entry.cue_vector, cue.vectors[0])) >= question.policy.modifiers.rotation_similarity
