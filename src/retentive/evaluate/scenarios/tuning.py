"""Learning from a user's own recalls: it follows the user, and it never silently makes answers worse (41)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Final

import numpy as np

from retentive.evaluate.metrics import ndcg_at
from retentive.evaluate.scenarios.stage import Stage, expect, scenario
from retentive.evaluate.scenarios.subject import RetentiveSubject

TOPICS: Final = ("bees", "roof", "tram", "piano", "garden", "sauna", "kitchen", "harbour", "violin", "cellar")
ASPECTS: Final = ("paint", "price", "repair", "owner", "weather")
ASKED: Final = ("{} {} news", "tell me of the {} and its {}")
LATER: Final = ("the latest {} {} word",)
_SETTINGS: Final = 480

Key = tuple[str, str]
Choose = Callable[[Key], Key]  # from what was asked to what proved useful


@scenario(41, "tuning", "tuning on a user's log improves that user's later answers and never silently worsens them")
def tuning(stage: Stage) -> None:
    """One user always needs what was asked for, however unimportant; another uses what chance says."""
    steady = _lived(stage, lambda asked: asked)
    before = _quality(steady)
    outcome = steady.subject.tune(settings=_SETTINGS)
    after = _quality(steady)
    expect(outcome.accepted, f"a clear habit was not learnt: {outcome.verdict}")
    expect(after > before + 0.05, f"after tuning answers are worth {after:.3f}, before {before:.3f}")
    steady.subject.space().undo_policy()
    expect(_quality(steady) == before, "undone, the answers are not what they were")

    chance = np.random.default_rng(7)
    fickle = _lived(stage, lambda asked: (asked[0], ASPECTS[int(chance.integers(len(ASPECTS)))]))
    before = _quality(fickle)
    outcome = fickle.subject.tune(settings=_SETTINGS)
    expect(not outcome.accepted, f"noise was taken for a habit: {outcome.verdict}")
    expect(_quality(fickle) == before, "what was refused changed the answers all the same")


class _Life:
    """A user with memories on some topics, asking about each of them in several ways."""

    def __init__(self, subject: RetentiveSubject) -> None:
        self.subject = subject
        self.ids: dict[Key, str] = {}

    def remember(self, stage: Stage) -> None:
        """Keep a memory of each aspect of each topic; they differ in weight and age, whatever is asked."""
        for at, key in enumerate(product(TOPICS, ASPECTS)):
            weight = 0.2 + 0.15 * (at * 3 % 5)
            said = stage.clock.ago(2 + at * 7 % 40)
            self.ids[key] = self.subject.remember("the {}: {}".format(*key), importance=weight, at=said)

    def ask(self, stage: Stage, choose: Choose) -> None:
        """Ask for everything, day after day, and say what was used where it came up."""
        for form, key in product(ASKED, self.ids):
            stage.clock.pass_(minutes=90)
            recall = self.subject.space().recall(form.format(*key), limit=10)
            useful = self.ids[choose(key)]
            recall.feedback(used=[useful] if useful in {hit.memory.id for hit in recall} else [])


def _lived(stage: Stage, choose: Choose) -> _Life:
    """Live with a policy that puts weight first, as a support desk wants it."""
    subject = stage.open_ours("hash")
    subject.space().apply_policy(subject.policy("support"))
    life = _Life(subject)
    life.remember(stage)
    life.ask(stage, choose)
    return life


def _quality(life: _Life) -> float:
    """Return nDCG@10 of questions in words that the log has not, under the policy in force, leaving no trace."""
    values = []
    for form, (key, memory_id) in product(LATER, life.ids.items()):
        answer = life.subject.space().recall(form.format(*key), touch=False)
        values.append(ndcg_at([hit.memory.id for hit in answer], {memory_id}))
    return float(np.mean(values))
