"""Retrieval policies: the frozen value, the presets, and TOML both ways."""

from retentive.policy.policy import (
    Fusion,
    Modifiers,
    Policy,
    PolicyWarning,
    Reinforcement,
    Selection,
    SignalSpec,
    Sources,
)

__all__ = [
    "Fusion",
    "Modifiers",
    "Policy",
    "PolicyWarning",
    "Reinforcement",
    "Selection",
    "SignalSpec",
    "Sources",
]
