"""Tuning: weights, half-lives, floor and band learnt from labelled questions, believed only on held-out ones."""

from retentive.evaluate.tuning.outcome import Change, Tuning
from retentive.evaluate.tuning.run import tune

__all__ = ["Change", "Tuning", "tune"]
