"""The parts of docs/policy.md and README.md that say what the code says: presets, signals, settings, kinds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from retentive.policy import Fusion, Modifiers, Policy, Reinforcement, Selection, SignalSpec, Sources, policy, presets
from retentive.scoring import freshness, importance
from retentive.scoring.signals import SIGNALS, options_of
from retentive.types import KINDS

SECTIONS = (Sources, Fusion, Modifiers, Selection, Reinforcement)
ABOUT = {
    "retentive": "the default: meaning, words, late interaction and context; absolute scores",
    "stream": "recency + importance + relevance, as in Generative Agents (Park et al., UIST 2023)",
    "blend": "the same three over a vector search, two-week recency",
    "assistant": "`blend` for a personal assistant: the last days weigh most",
    "support": "`blend` for support: what was marked important weighs most",
    "coding": "`blend` for code: similarity first, memories stay for months",
    "planning": "`blend` within one task, by its tags; earlier sessions count as background",
    "focus": "few and certain: raw scores, a floor, a token budget",
    "operational": "hybrid search for agents at work: rotation, category quota, frequency",
    "freshness": "rank fusion × freshness by kind",
    "freshness.records": "`freshness` for records that stay true for a year",
    "freshness.news": "`freshness` for news: days",
    "freshness.support": "`freshness` for support: weeks to months",
    "freshness.pkm": "`freshness` for personal notes: people and things stay for years",
}


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Write a Markdown table."""
    names = list(head)
    lines = [f"| {' | '.join(names)} |", f"|{'|'.join(' --- ' for _ in names)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows)])


def code(value: Any) -> str:
    """Write a value as code, as Python and TOML readers both understand it."""
    if isinstance(value, tuple):
        return ", ".join(f"`{item}`" for item in value)
    if isinstance(value, Mapping):
        return "`{" + ", ".join(f"{key} = {item:g}" for key, item in value.items()) + "}`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, int | float) else f"`{value}`" if value is not None else "–"


def overview() -> str:
    """Return one line per preset."""
    rows = [
        (f"`{name}`", ABOUT[name], _score(presets.get(name)), _answer(presets.get(name))) for name in presets.names()
    ]
    return table(("preset", "what it is", "score", "answer"), rows)


def short() -> str:
    """Return one line per preset, for the README: the variants of `freshness` share one."""
    plain = [name for name in presets.names() if "." not in name]
    variants = ", ".join(f"`.{name.partition('.')[2]}`" for name in presets.names() if "." in name)
    rows = [(f"`{name}`", f"{ABOUT[name]}{f' ({variants})' if name == 'freshness' else ''}") for name in plain]
    return table(("policy", "ranks by"), rows)


def _score(chosen: Policy) -> str:
    parts = [f"{spec.weight:g} {name}" for name, spec in chosen.signals.items()]
    return " · ".join(chosen.signals) if chosen.combine == "product" else " + ".join(parts)


def _answer(chosen: Policy) -> str:
    selection = chosen.selection
    parts = [f"top {selection.limit}"]
    parts += [f"{selection.floor_on} ≥ {selection.floor:g}"] if selection.floor is not None else []
    parts += [selection.diversity] if selection.diversity != "none" else []
    parts += [f"{selection.token_budget} tokens"] if selection.token_budget else []
    return ", ".join(parts)


def details() -> str:
    """Return every preset with all of its signals and everything in which it differs from a bare policy."""
    return "\n\n".join(_detail(presets.get(name)) for name in presets.names())


def _detail(chosen: Policy) -> str:
    rows = [_signal_row(name, spec) for name, spec in chosen.signals.items()]
    signals = table(("signal", "weight", "normalised", "options"), rows)
    settings = ", ".join(f"`{name}` = {code(value)}" for name, value in _differences(chosen))
    return (
        f"### `{chosen.name}`\n\n{ABOUT[chosen.name][0].upper()}{ABOUT[chosen.name][1:]}. Combined by "
        f"{chosen.combine}.\n\n{signals}\n\n{settings}; all else as built in."
    )


def _signal_row(name: str, spec: SignalSpec) -> tuple[str, ...]:
    how = spec.normalise
    if how in {"minmax", "population"}:
        how += f" (constant column → {spec.constant:g})"
    options = ", ".join(f"`{key}` = {code(item)}" for key, item in spec.options.items())
    return (f"`{name}`", f"{spec.weight:g}", how, options or ("as built in" if options_of(name) else "–"))


ALWAYS_SHOWN = {"channels", "pool", "limit", "refresh_floor_seconds"}


def _differences(chosen: Policy) -> Iterable[tuple[str, Any]]:
    bare = Policy("bare")
    for section in (item.name for item in dataclasses.fields(Policy)):
        ours, theirs = getattr(chosen, section), getattr(bare, section)
        if dataclasses.is_dataclass(ours) and not isinstance(ours, type):
            for item in dataclasses.fields(ours):
                if item.name in ALWAYS_SHOWN or getattr(ours, item.name) != getattr(theirs, item.name):
                    yield item.name, getattr(ours, item.name)


def signals() -> str:
    """Return one line per signal: what it is, and its options with their defaults."""
    rows = []
    for name, function in SIGNALS.items():
        options = ", ".join(f"`{key}` = {code(value)}" for key, value in options_of(name).items())
        rows.append((f"`{name}`", " ".join((function.__doc__ or "").split()), options))
    return table(("signal", "what it is", "options"), rows)


def settings() -> str:
    """Return every setting of every section, with its built-in value and what is accepted."""
    of_signals = [item for item in dataclasses.fields(SignalSpec) if item.name != "options"]
    found = [(f"`{section.__name__.lower()}`", item) for section in SECTIONS for item in dataclasses.fields(section)]
    found += [("`signals.NAME`", item) for item in of_signals]
    rows = [(where, f"`{item.name}`", code(item.default), _accepted(item)) for where, item in found]
    rows.append(("(top)", "`combine`", code(Policy("bare").combine), _choices("combine")))
    return table(("section", "setting", "built-in", "accepted"), rows)


def _accepted(item: Any) -> str:
    if item.name in policy._CHOICES:  # noqa: SLF001 - the documentation shows what the check reads
        return _choices(item.name)
    if item.name in policy._RANGES:  # noqa: SLF001
        low, high = policy._RANGES[item.name]  # noqa: SLF001
        return f"{low:g} … {high:g}"
    return str(item.type).replace(" | ", " or ").replace("tuple[str, ...]", "list of names")


def _choices(name: str) -> str:
    return ", ".join(f"`{choice}`" for choice in policy._CHOICES[name])  # noqa: SLF001


def kinds() -> str:
    """Return the half-lives of each kind: freshness and importance."""
    rows = [
        (f"`{kind}`", f"{freshness.tau_for(kind):g}", f"{importance.importance_half_life(kind):g}") for kind in KINDS
    ]
    own = (f"{freshness.CUSTOM_TAU_DAYS:g}", f"{importance.CUSTOM_IMPORTANCE_HALF_LIFE_DAYS:g}")
    return table(("kind", "freshness τ, days", "importance h, days"), [*rows, ("a kind of your own", *own)])


CONSTANTS = (  # module, name, what it is
    ("recall.ranking", "TIER", "what tiers multiply a weight by"),
    ("recall.ranking", "CURRENT_BOOST", "what a cue about now multiplies the recency weight by"),
    ("recall.selection", "ROTATION", "what a score shown lately is multiplied by"),
    ("recall.rotation", "RECALLS_READ", "the latest recalls that rotation looks at"),
    ("recall.selection", "RERANKED", "candidates that a cross-encoder reads, at most"),
    ("recall.rerank", "DEADLINE_MS", "milliseconds that a cross-encoder has, unless the policy says otherwise"),
    ("recall.rerank", "FAILURES", "its failures in a row after which nobody asks it"),
    ("recall.rerank", "COOL_DOWN_SECONDS", "for so many seconds"),
    ("recall.channels", "HOP_WEIGHT", "what a memory counts that mentions only a companion of the named entity"),
    ("recall.channels", "HOP_COMPANIONS", "companions of the named entities that are followed"),
    ("recall.evidence", "LATE_TEXTS", "texts that are read for late interaction"),
    ("recall.evidence", "CONTEXT_SEEDS", "candidates whose neighbours in the conversation join"),
    ("recall.evidence", "BM25_CEILING", "k1 + 1: what one term can give at most, in units of its idf"),
    ("recall.late", "WINDOW", "word pieces in one window of a long text"),
    ("recall.context", "FURTHER", "what a neighbour further than one turn away counts"),
    ("recall.context", "ANSWER", "what the turn before counts when it is a question"),
    ("recall.succession", "TOP", "the head of the list that succession looks at"),
    ("recall.succession", "ALIKE", "cosine from which two memories may speak of one matter"),
    ("recall.succession", "STEP", "how far a lifted memory stands above the older one"),
    ("recall.proving", "LOOKED_AT", "procedures among the candidates whose record is read"),
    ("scoring.track_record", "TRIES_FOR_HALF", "outcomes at which half of a record's reach is used"),
    ("recall.pipeline", "CORE_LIMIT", "pinned memories in the core block, at most"),
    ("recall.pipeline", "STALE_AFTER", "half-lives of its kind after which a hit is marked stale"),
    ("stores.ranking", "K1", "BM25: saturation of repeated words"),
    ("stores.ranking", "B", "BM25: how much length counts"),
    ("scoring.fusion", "RRF_K", "reciprocal rank fusion"),
    ("scoring.decay", "PARK_HOURLY_BASE", "hourly base of Park et al."),
    ("scoring.decay", "ACCESSES_KEPT", "accesses that the power law reads"),
    ("scoring.freshness", "FRESHNESS_FLOOR", "floor of freshness, before the boost"),
    ("scoring.freshness", "OCCURRENCE_HALF_LIFE_DAYS", "how a recurring memory fades around its day"),
    ("scoring.importance", "IMPORTANCE_FLOOR", "floor of decayed importance"),
    ("scoring.diversity", "MMR_BALANCE", "λ of MMR"),
    ("scoring.diversity", "NEAR_DUPLICATE_COSINE", "cosine above which two of a kind are one"),
    ("scoring.diversity", "NEARLY_AS_GOOD", "`balanced`: share of a score from which another kind may go first"),
    ("policy.policy", "HALF_LIFE_DAYS_ADVISED", "recency half-lives outside draw a warning"),
    ("writing", "FLAT_IMPORTANCE", "importance of a memory that nobody rated"),
    ("recalling", "LEDGER_KEPT", "recalls that the ledger keeps"),
    ("recalling", "LEDGER_DAYS", "for so many days"),
)


def constants() -> str:
    """Return the constants that no policy sets, with their values as they stand in the code."""
    rows = []
    for module, name, meaning in CONSTANTS:
        value = getattr(import_module(f"retentive.{module}"), name)
        shown = f"{value[0]:g} … {value[1]:g}" if isinstance(value, tuple) else f"{value:g}"
        rows.append((f"`{module}.{name}`", shown, meaning))
    return table(("constant", "value", "what it is"), rows)


def bands() -> str:
    """Return the calibrated bands of the embedders that have one."""
    from retentive.embedders.arctic import ArcticEmbedder  # noqa: PLC0415
    from retentive.embedders.potion import PotionEmbedder  # noqa: PLC0415

    rows = [(f"`{name}`", *(f"{edge:g}" for edge in kind.band))
            for name, kind in (("potion", PotionEmbedder), ("arctic-s", ArcticEmbedder))]  # fmt: skip
    return table(("embedder", "unrelated", "clearly related"), [*rows, ("any other", "0", "1")])
