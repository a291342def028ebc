"""What language models have taken, by space, kind of work and model: counted in the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from retentive.llm.protocol import Usage
from retentive.stores.protocol import SpaceStore, Transaction

SETTING: Final = "llm_usage"
_NUMBERS: Final = ("calls", "input_tokens", "output_tokens", "cost")


@dataclass(frozen=True, slots=True)
class Spent:
    """What one model took for one kind of work."""

    purpose: str  # "reflect", or the kind of a job such as "rate"
    model: str
    usage: Usage


def note_usage(store: SpaceStore, purpose: str, model: str, usage: Usage) -> None:
    """Add up what calls took; nothing is written where there were none."""
    if not usage.calls:
        return
    with store.transaction() as tx:
        _add(tx, purpose, model, usage)


def _add(tx: Transaction, purpose: str, model: str, usage: Usage) -> None:
    spent = {(one.purpose, one.model): one.usage for one in read_usage(tx.setting(SETTING))}
    spent[purpose, model] = spent.get((purpose, model), Usage()) + usage
    kept: dict[str, dict[str, Any]] = {}
    for (work, name), total in spent.items():
        numbers = {field: getattr(total, field) for field in _NUMBERS}
        kept.setdefault(work, {})[name] = {**numbers, "estimated": total.estimated}
    tx.set_setting(SETTING, kept)


def read_usage(setting: Any) -> list[Spent]:
    """Read what a space keeps, by kind of work, then model; what cannot be read counts as nothing."""
    found = []
    for purpose, models in sorted(setting.items()) if isinstance(setting, dict) else ():
        for model, numbers in sorted(models.items()) if isinstance(models, dict) else ():
            if isinstance(numbers, dict) and all(isinstance(numbers.get(name), int | float) for name in _NUMBERS):
                calls, asked, answered, cost = (numbers[name] for name in _NUMBERS)
                usage = Usage(int(calls), int(asked), int(answered), float(cost), bool(numbers.get("estimated")))
                found.append(Spent(purpose, model, usage))
    return found
