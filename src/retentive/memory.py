"""The façade: what users touch. It validates nothing, ranks nothing and stores nothing itself; it delegates."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from retentive.answer import Feedback, Recall
from retentive.config import Config
from retentive.conflicts.settings import NOTICING, Noticing
from retentive.custody import Custody, HomeCustody
from retentive.embedders.catalogue import resolve
from retentive.embedders.protocol import Embedder
from retentive.errors import InvalidInput, NotFound
from retentive.habits import Habits, InForce
from retentive.jobs.verbs import HomeJobs, SpaceJobs
from retentive.keeping import Keeper
from retentive.llm.protocol import Llm
from retentive.looking import Looking
from retentive.maintain.decide import RULES, PruneRules
from retentive.maintain.prune import BATCH
from retentive.maintain.report import Upkeep
from retentive.mind import Mind
from retentive.observing import Observing
from retentive.opening import become_remote, is_remote, store_of, system_clock
from retentive.paths import space_path
from retentive.policy import presets
from retentive.policy.policy import Policy
from retentive.recall.compacting import LlmCompactor
from retentive.recall.outcome import Outcome
from retentive.recall.pipeline import recall
from retentive.recall.request import Question, Tools
from retentive.recall.rerank import Breaker, Reranker
from retentive.recall.shared import filled_up
from retentive.recalling import Filters, cue_notes, policy_of, question_of, take_feedback, write_back
from retentive.records import Records
from retentive.reviewing import Reviewing
from retentive.speaking import HomeSpeaking, SpaceSpeaking
from retentive.stores.memory import MemoryStore
from retentive.stores.protocol import SpaceStore, Store
from retentive.text.languages import ENGLISH
from retentive.thinking.pulse import Pulses
from retentive.thinking.verbs import HomeThinking, SpaceThinking
from retentive.tools import LazyLlm, token_windows
from retentive.types import KINDS, SLUG, AgentState, Draft, Json, Memory, Moment, aware
from retentive.writing import checked_elements, checked_kind

Clock = Callable[[], datetime]
Progress = Callable[[int, int], None]


class Retentive(HomeJobs, HomeThinking, HomeCustody, HomeSpeaking):
    """A place where agents' memories live, apart from one another in spaces.

    ``location`` is a directory (one SQLite file per space), ``":memory:"``, or a URL: ``postgresql://…``, or
    ``http://…`` of a server, which may want a ``key``. The embedder is loaded at the first use, so that listing spaces
    costs nothing.
    """

    def __init__(
        self,
        location: str | Path | None = None,
        *,
        embedder: Embedder | str | None = None,
        llm: Llm | str | None = None,
        policy: Policy | str | None = None,
        clock: Clock | None = None,
        store: Store | None = None,
        reranker: Reranker | None = None,
        config: Config | None = None,
        key: str | None = None,
    ) -> None:
        if is_remote(location, config):
            given = {"embedder": embedder, "llm": llm, "store": store, "reranker": reranker}
            become_remote(self, location, key=key, policy=policy, clock=clock, config=config, **given)
            return
        if key is not None:
            raise InvalidInput(f"key=… is for the address of a server; location={location!r} is none.")
        self.store: Store = store_of(location, store, config)
        self.policy = policy_of(
            policy if policy is not None else (config.policy if config else None), presets.retentive
        )
        self.clock = clock or system_clock
        self.actor = config.actor if config else ""
        self.kinds: set[str] = set(KINDS)
        self.pruning = PruneRules(**config.pruning()) if config else RULES
        self.noticing = Noticing(**config.noticing()) if config else NOTICING
        self._config = config
        self._embedder = embedder
        self._llm = LazyLlm(llm, config)
        self._reranker = reranker
        self._lock = threading.Lock()
        self._tools: Tools | None = None
        self.job_handlers = {}
        self.rater = config.rater if config else None
        self.language = config.language if config else ENGLISH
        self._pulses = Pulses()
        self.reflections = config.reflections if config else "queue"

    @property
    def embedder(self) -> Embedder:
        """The embedder in use."""
        return self.tools.embedder

    @property
    def llm(self) -> Llm | None:
        """The language model in use, made at the first need; None where none was named."""
        return self._llm.get()

    @property
    def tools(self) -> Tools:
        """The models that recalls use, made at the first need."""
        with self._lock:
            if self._tools is None:
                embedder = self._resolved()
                models = self._config.models if self._config else None
                breaker = Breaker() if self._reranker else None
                self._tools = Tools(
                    embedder,
                    self._reranker,
                    breaker,
                    windows=token_windows(embedder, models),
                    compactor=LlmCompactor(self._llm.get),
                    compactor_breaker=Breaker(),
                )
            return self._tools

    def _resolved(self) -> Embedder:
        config = self._config
        if self._embedder is not None or config is None:
            return resolve(self._embedder, models_folder=config.models if config else None)
        return resolve(config.embedder, models_folder=config.models, options=config.embedder_options())

    def now(self) -> datetime:
        """Read the clock."""
        return aware(self.clock(), "the clock's answer")

    def register_kind(self, *kinds: str) -> None:
        """Allow kinds of your own, slugs such as ``support-ticket``; they decay with the half-life of "custom"."""
        for kind in kinds:
            if not SLUG.fullmatch(kind):
                raise InvalidInput(f"kind={kind!r} is not a slug such as 'support-ticket'.", value=kind)
            self.kinds.add(kind)

    def space(
        self,
        path: str | tuple[str, ...],
        *,
        shared: str | tuple[str, ...] | None = None,
        actor: str | None = None,
    ) -> Space:
        """Return one tenant's space; nothing is created before something is remembered.

        ``shared`` opts in to a second, common space that fills up answers. It is only read: nothing of this tenant,
        not even which memories it looked at, is written there. ``actor`` is who writes, as the journal notes it.
        """
        return Space(self, space_path(path), space_path(shared) if shared is not None else None, actor)

    def spaces(self) -> list[str]:
        """List the spaces that exist."""
        return self.store.spaces()

    def close(self) -> None:
        """Release files and connections."""
        self.store.close()
        self._llm.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Retentive over {self.store!r}>"


class Space(Records, Mind, Custody, Habits, SpaceJobs, Observing, SpaceThinking, Looking, Reviewing, SpaceSpeaking):
    """One tenant's memories: the only way to any of them. Safe to share between threads."""

    def __init__(self, home: Retentive, path: str, shared: str | None = None, actor: str | None = None) -> None:
        self.path = path
        self._home: Retentive = home
        self._shared = shared
        self._actor = home.actor if actor is None else actor

    @property
    def store(self) -> SpaceStore:
        """The rows underneath."""
        return self._home.store.open(self.path)

    @property
    def _kept(self) -> SpaceStore:
        """The rows underneath for whoever only reads: of a space that does not exist, those of an empty one."""
        try:
            return self._home.store.open(self.path, create=False)
        except NotFound:
            return MemoryStore().open(self.path)

    def _keeper(self, store: SpaceStore, rules: PruneRules | None = None) -> Keeper:
        home = self._home
        rules, rater, tools = rules or home.pruning, lambda: home.rater_in_use, lambda: home.tools_for(store)
        keeper = Keeper(store, tools, home.now(), self._actor, home.kinds, rules, rater, home.noticing, home.language)
        keeper.after = home._pulses.after  # noqa: SLF001 - a space is a part of its home
        return keeper

    @property
    def _recall_tools(self) -> Tools:
        return self._home.tools_in(self._kept)

    def remember(
        self,
        text: str,
        *,
        kind: str = "fact",
        importance: float | None = None,
        key: str | None = None,
        tags: Iterable[str] = (),
        source: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        at: datetime | None = None,
        once: str | None = None,
        **more: Any,
    ) -> Memory:
        """Remember one text. ``at`` is when it was said; ``key`` retires what held that key before.

        Said again with the same ``once``, it is remembered once: for callers who try again.

        ``more`` takes the other fields of `Draft`: speaker, session, valid_from, valid_until, supersedes,
        derived_from, pinned, permanent, recurs, trust, id, ttl.
        """
        fields = {
            "text": text,
            "kind": kind,
            "importance": importance,
            "key": key,
            "tags": tags,
            "source": source,
            "metadata": metadata or {},
            "at": at,
        }
        return self._keeper(self.store).remember([{**fields, **more}], once=once)[0]

    def remember_many(
        self,
        items: Iterable[str | Mapping[str, Any] | Draft],
        *,
        progress: Progress | None = None,
        once: str | None = None,
    ) -> list[Memory]:
        """Remember many texts: one embedding batch, one transaction, all or none; with ``once``, only once."""
        return self._keeper(self.store).remember(items, progress, once=once)

    def recall(
        self,
        cue: str | None = None,
        *,
        state: AgentState | None = None,
        utterance: str | None = None,
        policy: Policy | str | None = None,
        limit: int | None = None,
        kinds: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
        where: Mapping[str, Json] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: Moment | None = None,
        now: datetime | None = None,
        touch: bool = True,
        token_budget: int | None = None,
        session: str | None = None,
    ) -> Recall:
        """Bring up what is worth bringing up now.

        ``touch=False`` reads without leaving a trace. ``as_of`` answers what was known and true then; ``now`` moves
        the clock for this recall only.
        """
        filters = Filters(kinds, tags, where, since, until, as_of)
        keeper = self._keeper(self._kept)
        tools = self._home.tools_for(keeper.store)
        with keeper.store.snapshot():  # two settings, read as one
            question = self._question(
                (cue, state, utterance), policy, filters, now, session, limit=limit, token_budget=token_budget
            )
            keeper.check_embedder()
        recalled = recall(question, keeper.store, tools)
        notes = cue_notes(keeper.store, cue, state) if touch else []
        recall_id, failure = write_back(question, recalled, keeper.store, touch=touch, watch=tools.watch)
        outcome = recalled.outcome
        if question.gate.known_at is not None:
            from retentive.transfer.past import outcome_as_known  # noqa: PLC0415 - only those who ask for the past

            outcome = outcome_as_known(outcome, keeper.store, question.gate.known_at)
        outcome = _noted(outcome, [*notes, failure] if failure else notes)
        if self._shared and self._shared != self.path:
            outcome = self._with_shared(outcome, question, self._shared)
        return Recall(recall_id, question.policy, outcome, self._feedback_on(outcome))

    def _question(
        self,
        asked: tuple[str | None, AgentState | None, str | None],
        policy: Policy | str | None,
        filters: Filters,
        now: datetime | None,
        session: str | None,
        **settings: int | None,
    ) -> Question:
        """Put a caller's arguments into one value; ``settings`` are fields of the policy, None for its own."""
        moment = aware(now, "now") if now is not None else self._home.now()
        force = self._in_force() if policy is None else InForce(policy_of(policy, self._home.policy))
        chosen = force.policy
        named = {name: value for name, value in settings.items() if value is not None}
        known = replace(filters, kinds=self._known(filters.kinds))
        question = question_of(*asked, chosen.replace(**named) if named else chosen, known, moment)
        return replace(
            question, session=session or question.session, habits=force.habits, own_weights=force.own_weights
        )

    def _known(self, kinds: Iterable[str] | None) -> tuple[str, ...] | None:
        """Refuse kinds that nobody registered: a typo would silently give an empty answer."""
        if kinds is None:
            return None
        return tuple(checked_kind(kind, self._home.kinds) for kind in checked_elements(kinds, "kinds"))

    def _with_shared(self, outcome: Outcome, question: Question, path: str) -> Outcome:
        """Fill up from the shared space; there nothing is touched or noted."""
        try:
            store = self._home.store.open(path, create=False)
        except NotFound:
            return outcome
        self._keeper(store).check_embedder()
        return filled_up(outcome, question, store, self._home.tools_in(store))

    def _feedback_on(self, outcome: Outcome) -> Feedback:
        """Return how a recall gives feedback: what came from the shared space is read and never moved."""
        foreign = {memory.id for memory in outcome.core if memory.space != self.path}
        foreign |= {hit.memory.id for hit in outcome.hits if hit.memory.space != self.path}
        own = [hit.memory.id for hit in outcome.hits if hit.memory.space == self.path]

        def give(recall_id: str, used: Sequence[str], verdict: str | None) -> None:
            keeper = self._keeper(self._kept)
            take_feedback(keeper.store, recall_id, used, verdict, keeper.author, elsewhere=foreign, answered=own)

        return give

    def feedback(
        self, recall_id: str, *, used: Iterable[str] = (), outcome: str | None = None, once: str | None = None
    ) -> None:
        """Say which memories of a recall were used, and how it went ("good" or "bad")."""
        keeper = self._keeper(self._kept)
        take_feedback(keeper.store, recall_id, used, outcome, keeper.author, once=once)

    def maintain(
        self,
        *,
        re_embed: bool = False,
        pruning: PruneRules | bool = True,
        dry_run: bool = False,
        batch: int = BATCH,
        progress: Progress | None = None,
    ) -> Upkeep:
        """Run upkeep once: trims the ledger and takes out of recall what nobody needs any more; deletes nothing.

        ``pruning`` are other rules for this run, or False for none; ``dry_run`` only says what would be pruned, and
        why. ``re_embed=True`` moves every vector to the embedder in use.
        """
        rules = pruning if isinstance(pruning, PruneRules) else None
        target = self._home.embedder if re_embed else None
        keeper = self._keeper(self._kept, rules)
        return keeper.maintain(
            re_embed=target, prune=pruning is not False, dry_run=dry_run, batch=batch, progress=progress
        )

    def __repr__(self) -> str:
        return f"<Space {self.path!r}>"


def _noted(outcome: Outcome, notes: builtins.list[str]) -> Outcome:
    if not notes:
        return outcome
    return replace(outcome, trace=replace(outcome.trace, notes=(*outcome.trace.notes, *notes)))
