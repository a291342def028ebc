"""Subjects that break one promise each: what a scenario must catch, or it proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from retentive.conflicts.settings import Noticing
from retentive.embedders import Embedder, resolve
from retentive.evaluate.baselines import BM25, VECTOR
from retentive.evaluate.scenarios import Answered, RetentiveSubject, Setting, Subject
from retentive.evaluate.scenarios.subject import HOME, Asked, Facts
from retentive.maintain.decide import PruneRules
from retentive.memory import Space
from retentive.policy.policy import Policy

Maker = Callable[[Setting], Subject]


class PlainVectorStore:
    """What most memories are: texts by cosine, in one heap for everyone, without time, kinds, keys or floors."""

    def __init__(self, setting: Setting) -> None:
        self._embedder: Embedder = resolve(setting.embedder)
        self._texts: list[str] = []

    def remember(self, text: str, *, space: str = HOME, **facts: Unpack[Facts]) -> str:
        """Keep the text and nothing else."""
        self._texts.append(text)
        return str(len(self._texts) - 1)

    def recall(
        self,
        cue: str | None,
        *,
        space: str = HOME,
        limit: int = 5,
        policy: Policy | str | None = None,
        touch: bool = True,
        **asked: Unpack[Asked],
    ) -> list[Answered]:
        """Return the nearest."""
        if not self._texts:
            return []
        scores = self._embedder.embed(self._texts) @ self._embedder.embed([cue or ""])[0]
        best = np.argsort(-scores, kind="stable")[:limit]
        return [Answered(str(row), self._texts[row], float(scores[row])) for row in best]

    def forget(self, memory_id: str, *, space: str = HOME) -> None:
        """Do nothing: it cannot."""

    def reopen(self) -> None:
        """Do nothing: it lives in memory."""

    def close(self) -> None:
        """Do nothing."""


def under(policy: Policy | str) -> Maker:
    """Return our engine with another default policy."""
    return lambda setting: RetentiveSubject(setting, policy)


def bent(**changes: Any) -> Maker:
    """Return our engine with every policy bent."""
    return lambda setting: RetentiveSubject(setting, bend=lambda policy: policy.replace(**changes))


def bent_options(**options: Any) -> Maker:
    """Return our engine with signal options bent in the policies that have them."""

    def bend(policy: Policy) -> Policy:
        return policy.replace(**options) if "freshness" in policy.signals else policy

    return lambda setting: RetentiveSubject(setting, bend=bend)


def without_reinforcement(policy: Policy) -> Policy:
    """Never learn from being read."""
    return policy.replace(touch=False)


def with_a_second_signal(policy: Policy) -> Policy:
    """Let recency in where only similarity should be."""
    return policy.replace(weights={"recency": 0.5}) if "recency" in policy.signals else policy


class Doctored:
    """An answer with some of it replaced."""

    def __init__(self, recall: Any, **replaced: Any) -> None:
        self._recall = recall
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._recall, name)

    def __getitem__(self, index: Any) -> Any:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)


class Doctoring(RetentiveSubject):
    """Our engine with a liar behind it."""

    def __init__(self, setting: Setting, doctor: Callable[[Any], Any]) -> None:
        super().__init__(setting)
        self._doctor = doctor

    def ask(self, *args: Any, **asked: Any) -> Any:
        """Return the doctored answer."""
        return self._doctor(super().ask(*args, **asked))


def doctored(doctor: Callable[[Any], Any]) -> Maker:
    """Return our engine whose answers go through a doctor."""
    return lambda setting: Doctoring(setting, doctor)


def shouting_feedback(recall: Any) -> Any:
    """Give every feedback three times."""

    def feedback(used: Sequence[str] = (), outcome: str | None = None) -> None:
        for _ in range(3):
            recall.feedback(used=used, outcome=outcome)

    return Doctored(recall, feedback=feedback)


def without_core(recall: Any) -> Any:
    """Repeat the pinned ones among the others."""
    hits = [*recall.hits, *(replace(recall.hits[0], memory=memory) for memory in recall.core if recall.hits)]
    return Doctored(recall, hits=tuple(hits))


def without_compacted(recall: Any) -> Any:
    """Drop what did not fit."""
    return Doctored(recall, compacted=None)


def with_a_better_score(recall: Any) -> Any:
    """Show a score that the signals do not give."""
    return Doctored(recall, hits=tuple(replace(hit, score=hit.score + 1e-6) for hit in recall.hits))


def rendered_plainly(recall: Any) -> Any:
    """Paste the texts together."""

    def render(form: str = "xml") -> Any:
        text = "\n".join(hit.memory.text for hit in recall.hits)
        return [{"role": "system", "content": text}] if form == "messages" else f"<memories>{text}</memories>"

    return Doctored(recall, render=render)


class Stateless(RetentiveSubject):
    """Forgets what the agent is doing."""

    def ask(self, cue: str | None, **asked: Any) -> Any:
        """Ask with the utterance alone."""
        asked.pop("state", None)
        return super().ask(cue or "go on", **asked)


class OneRoom(RetentiveSubject):
    """Keeps every tenant in one space."""

    def space(self, path: str = HOME) -> Space:
        """Return the same space for everyone."""
        return super().space(HOME)


class FoldedNames(RetentiveSubject):
    """Tells spaces apart by their names in lower case, as a file system may."""

    def space(self, path: str = HOME) -> Space:
        """Return the space of the folded name."""
        return super().space(path.lower())


class SharedWithEveryone(RetentiveSubject):
    """Lets everyone read the shared space, asked or not."""

    def space(self, path: str = HOME) -> Space:
        """Return the space with the handbook behind it."""
        shared = next(iter(self.setting.shared.values()), None)
        return self.memories.space(path, shared=shared if shared != path else None)


class Unmindful(RetentiveSubject):
    """Does not hear some of what it is told."""

    def __init__(self, setting: Setting, deaf_to: Sequence[str]) -> None:
        super().__init__(setting)
        self._deaf_to = deaf_to

    def remember(self, text: str, *, space: str = HOME, **facts: Any) -> str:
        """Remember without what it is deaf to."""
        heard: Mapping[str, Any] = {name: value for name, value in facts.items() if name not in self._deaf_to}
        return self.space(space).remember(text, **heard).id


class Unforgetting(RetentiveSubject):
    """Cannot forget."""

    def forget(self, memory_id: str, *, space: str = HOME) -> None:
        """Keep it."""


class Ruled(RetentiveSubject):
    """Prunes by rules of its own."""

    def __init__(self, setting: Setting, rules: PruneRules) -> None:
        super().__init__(setting)
        self.memories.pruning = rules


def under_rules(**rules: Any) -> Maker:
    """Return our engine with other limits of pruning."""
    return lambda setting: Ruled(setting, PruneRules(**rules))


class Doubled:
    """A space with some of its verbs replaced."""

    def __init__(self, space: Space, **verbs: Callable[..., Any]) -> None:
        self._space = space
        self.__dict__.update(verbs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._space, name)


class Onlooker(RetentiveSubject):
    """Never counts a fetch as an access."""

    def space(self, path: str = HOME) -> Any:
        """Return the space whose get only looks."""
        space = super().space(path)
        return Doubled(space, get=lambda memory_id, touch=True: space.get(memory_id, touch=False))


class Speechless(RetentiveSubject):
    """Keeps a journal that says what was done and not why."""

    def space(self, path: str = HOME) -> Any:
        """Return the space whose journal has no reasons."""
        space = super().space(path)
        return Doubled(space, journal=lambda *asked: [replace(line, reason="") for line in space.journal(*asked)])


class Heirs(RetentiveSubject):
    """Gives a memory that takes over a key what the one before had."""

    def space(self, path: str = HOME) -> Any:
        """Return the space whose memories inherit the tags of those that they supersede."""
        space = super().space(path)

        def remember(text: str, **facts: Any) -> Any:
            memory = space.remember(text, **facts)
            tags = [tag for name in memory.supersedes for tag in space.get(name, touch=False).tags]
            return space.update(memory.id, tags=tags) if tags else memory

        return Doubled(space, remember=remember)


class TriggerHappy(RetentiveSubject):
    """Takes whatever resembles an older memory for its negation."""

    def remember(self, text: str, *, space: str = HOME, **facts: Unpack[Facts]) -> str:
        """Let every saying retire the nearest before it."""
        near = super().recall(text, space=space, limit=1, touch=False)
        if near and len(set(near[0].text.lower().split()) & set(text.lower().split())) >= 2:
            facts["supersedes"] = [near[0].id]
        return super().remember(text, space=space, **facts)


class Noticed(RetentiveSubject):
    """Does something else about conflicts."""

    def __init__(self, setting: Setting, mode: Any) -> None:
        super().__init__(setting)
        self.memories.noticing = Noticing(mode)


def noticing(mode: str) -> Maker:
    """Return our engine in another mode."""
    return lambda setting: Noticed(setting, mode)


class Amnesiac(RetentiveSubject):
    """Loses over a restart that anything was ever read."""

    def reopen(self) -> None:
        """Reopen and wipe every access."""
        super().reopen()
        store = self.space().store
        with store.transaction() as tx:
            seen = [memory.id for memory in self.space().list(limit=1000)]
            blank = self.space().get(seen[0], touch=False).access
            tx.set_access({memory_id: replace(blank, last_at=None, count=0.0, recent=()) for memory_id in seen})
            tx.trim_ledger(before=self.setting.clock.now, keep=0)


class Hasty(RetentiveSubject):
    """Reflects whenever it is asked to."""

    def reflect(self, **how: Any) -> Any:
        """Do not wait for the budget."""
        return super().reflect(**{**how, "force": True})


class Brooding(RetentiveSubject):
    """Begins to count from nothing after every reflection and restart: it never knows that it has reflected."""

    def reflect(self, **how: Any) -> Any:
        """Reflect, and lose the counter."""
        told = super().reflect(**how)
        with self.space().store.transaction() as tx:
            tx.set_setting("reflection", None)
        return told


class Credulous(RetentiveSubject):
    """Reflects without noticing when evidence falls."""

    def reflect(self, **how: Any) -> Any:
        """Say that nothing is shaken."""
        return replace(super().reflect(**how), shaken=())


class Gullible(RetentiveSubject):
    """Applies whatever tuning found, clear or not."""

    def tune(self, **how: Any) -> Any:
        """Believe it."""
        outcome = super().tune(**how)
        if not outcome.accepted:
            self.space().apply_policy(outcome.policy.replace(weights={"importance": 0.0}))
        return outcome


class Unteachable(RetentiveSubject):
    """Tunes, and recalls as before."""

    def tune(self, **how: Any) -> Any:
        """Take back what was learnt."""
        outcome = super().tune(**how)
        if outcome.accepted:
            self.space().undo_policy()
            self.space().apply_policy(outcome.base)
        return outcome


def deaf(*names: str) -> Maker:
    """Return our engine without hearing some facts."""
    return lambda setting: Unmindful(setting, names)


def bending(bend: Callable[[Policy], Policy]) -> Maker:
    """Return our engine with every policy bent by a function."""
    return lambda setting: RetentiveSubject(setting, bend=bend)


NEAREST_ONLY = {"pool": 10, "over_fetch": 1.0, "channels": ("vector",), "neighbours": 0}

BROKEN: dict[int, dict[str, Maker]] = {
    1: {"plain vector store": PlainVectorStore},
    2: {"plain vector store": PlainVectorStore, "vector order": under(VECTOR)},
    3: {"raw signals": under("focus")},
    4: {"no reinforcement": bending(without_reinforcement)},
    5: {"no refresh floor": bent(refresh_floor_seconds=0.0), "no reinforcement": bending(without_reinforcement)},
    6: {"first touch warms": bent(refresh_on="first")},
    7: {"count multiplies": under("freshness")},
    8: {"feedback thrice": doctored(shouting_feedback)},
    9: {"words only": under(BM25)},
    10: {"vectors only": under(VECTOR)},
    11: {"plain vector store": PlainVectorStore, "no entities": bent(channels=("vector", "lexical"))},
    12: {"pinned repeated": doctored(without_core), "pins ignored": deaf("pinned")},
    13: {"plain vector store": PlainVectorStore, "no sense of time": bent(temporal_intent=False)},
    14: {"plain vector store": PlainVectorStore},
    15: {"plain vector store": PlainVectorStore, "no validity": deaf("valid_until"), "no keys": deaf("key")},
    16: {"plain vector store": PlainVectorStore, "vector order": under(VECTOR)},
    17: {"plain vector store": PlainVectorStore, "no floor": bent(floor=None)},
    18: {"plain vector store": PlainVectorStore, "shared with everyone": SharedWithEveryone},
    19: {"never asked": bent(rerank_ms=0.0)},
    20: {"one room": OneRoom, "folded names": FoldedNames, "plain vector store": PlainVectorStore},
    21: {"everything scored": bent(whole_space_up_to=100_000)},
    22: {"hasty": Hasty, "brooding": Brooding, "credulous": Credulous},
    23: {"recency let in": bending(with_a_second_signal)},
    24: {"stateless": Stateless},
    25: {"dropped in silence": doctored(without_compacted)},
    26: {"pasted together": doctored(rendered_plainly)},
    27: {"no rotation": bent(rotation="off"), "forgotten over a restart": Amnesiac},
    28: {"plain vector store": PlainVectorStore, "no diversity": bent(diversity="none")},
    29: {"plain vector store": PlainVectorStore, "no over-fetch": bent(**NEAREST_ONLY)},
    30: {"plain vector store": PlainVectorStore, "one piece": bent(decompose="never")},
    31: {"half the boost": bent_options(k=0.5), "other half-lives": bent_options(tau_days={"fact": 170.0})},
    32: {"no floor": bent_options(freshness_floor=0.0)},
    33: {"permanence ignored": deaf("permanent")},
    34: {"no boost": bent_options(k=0.0)},
    35: {"no keys": deaf("key"), "heirs": Heirs},
    36: {
        "plain vector store": PlainVectorStore,
        "unforgetting": Unforgetting,
        "age is enough": under_rules(idle_days=0, strength=1e9, superseded_days=None, evidence_kinds=()),
        "evidence ignored": under_rules(evidence_kinds=()),
        "reads ignored": under_rules(superseded_days=None),
        "use ignored": under_rules(idle_days=0, superseded_days=0),
        "pins ignored": deaf("pinned"),
        "never prunes": under_rules(age_days=1e5),
    },
    37: {"fetched as if only looked at": Onlooker, "never prunes": under_rules(age_days=1e5)},
    38: {"journal without reasons": Speechless, "never prunes": under_rules(age_days=1e5)},
    39: {
        "plain vector store": PlainVectorStore,
        "no recurrence": deaf("recurs"),
    },
    40: {
        "plain vector store": PlainVectorStore,
        "negations ignored": noticing("off"),
        "only listed": noticing("list"),
        "trigger-happy": TriggerHappy,
    },
    41: {"gullible": Gullible, "unteachable": Unteachable},
    42: {"a lie": doctored(with_a_better_score)},
    43: {"use rules": under("blend"), "recency of use adds up": under("focus")},
}
