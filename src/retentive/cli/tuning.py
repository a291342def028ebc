"""``tune``: learn a policy from labelled questions or from one's own recalls, apply it, take it back."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import FORMATS, POLICY, command
from retentive.cli.session import Session, on_terminal, talk

if TYPE_CHECKING:
    from retentive.evaluate.datasets import Dataset
    from retentive.evaluate.tuning import Tuning
    from retentive.evaluate.tuning.run import Progress
    from retentive.memory import Space
    from retentive.policy.policy import Policy


@command(
    "tune",
    examples=[
        "retentive tune --space acme/alice",
        "retentive tune --space acme/alice --apply",
        "retentive tune --space acme/alice --undo",
        "retentive tune --all --out mine.toml",
        "retentive tune --data labelled.json --policy blend --out mine.toml",
    ],
)
@click.option("--data", metavar="FILE", help="Labelled questions; default: the space's own recalls with feedback.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Its format, where its shape does not tell.")
@click.option("--all", "every", is_flag=True, help="Every space of the store: one policy for all.")
@click.option("--policy", type=POLICY, metavar="NAME|FILE", help="The policy to start from; default: the one in force.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write what is found.")
@click.option("--apply", "apply_", is_flag=True, help="Make it the space's own policy, if it is better.")
@click.option("--undo", is_flag=True, help="Take back what was applied last, and do nothing else.")
@click.option("--settings", type=click.IntRange(min=80), default=4000, show_default=True, help="How many to try.")
@click.option("--held-out", type=click.FloatRange(0.1, 0.9), default=0.35, show_default=True, help="Share that judges.")
@click.option("--level", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True, help="How sure to be.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed finds the same policy.")
def tune(session: Session, *, undo: bool, apply_: bool, out: Path | None, **options: Any) -> None:
    """Learn weights, half-lives, floor and band from what proved useful, and judge them on questions held out.

    What does not beat the policy in force on held-out questions is neither written nor applied, and the exit code is 1
    where that was asked for.
    """
    if undo:
        _undo(session, every=options["every"])
        return
    if out and out.suffix != ".toml":
        raise click.BadParameter(f"{str(out)!r} does not end in .toml.", param_hint="--out")
    outcome = _tuned(session, apply_=apply_, **options)
    wanted = bool(out or apply_)
    if outcome.accepted and out:
        out.write_text(outcome.policy.dump(), "utf-8")
    applied = _apply(_spaces(session, every=options["every"]), outcome) if outcome.accepted and apply_ else []
    written = str(out) if out and outcome.accepted else None
    speed = {"settings_a_second": round(outcome.settings_a_second)}
    session.emit({**outcome.as_dict(), **speed, "written": written, "applied": applied}, outcome.as_text)
    _talk_about(outcome, written, applied, wanted=wanted)
    if wanted and not outcome.accepted:
        sys.exit(1)


def _tuned(
    session: Session,
    *,
    apply_: bool,
    data: str | None,
    form: str | None,
    every: bool,
    policy: str | None,
    settings: int,
    held_out: float,
    level: float,
    seed: int,
) -> Tuning:
    from retentive.evaluate.ledger import known_vectors
    from retentive.evaluate.tuning import tune as learn

    dataset = _dataset(session, data, form, every=every)
    base = _base(session, policy, data=data, every=every)
    embedder = session.memories().embedder
    stores = () if data else [space.store for space in _spaces(session, every=every)]
    known = known_vectors(stores, embedder, session.memories().now())
    with _progress() as progress:
        return learn(
            dataset,
            base,
            embedder=embedder,
            settings=settings,
            share=held_out,
            level=level,
            seed=seed,
            progress=progress,
            known=known,
            current=_current(session, data, every=every) if apply_ or not data else None,
        )


def _current(session: Session, data: str | None, *, every: bool) -> Mapping[str, Policy] | Policy:
    """Return what is in force where the found policy would be: that is what it has to beat."""
    own = {space.path: space.policy_in_force() for space in _spaces(session, every=every)}
    if not data:
        return own
    policies = list(own.values()) or [session.memories().policy]
    if any(policy != policies[0] for policy in policies):
        named = ", ".join(sorted({repr(policy.name) for policy in policies}))
        raise click.UsageError(
            f"--all --apply with --data: spaces recall with different policies ({named}), and one set cannot say what "
            "would be better than each. Name one --space, or leave out --data."
        )
    return policies[0]


def _dataset(session: Session, data: str | None, form: str | None, *, every: bool) -> Dataset:
    if data:
        from retentive.evaluate.datasets import load

        return load(data, form)
    from retentive.evaluate.ledger import from_ledger

    return from_ledger({space.path: space.store for space in _spaces(session, every=every)})


def _base(session: Session, policy: str | None, *, data: str | None, every: bool) -> Policy:
    """Return the policy to beat: the one named, else what recalls use now where the questions come from."""
    if policy:
        from retentive.cli.policies import load

        return load(policy)
    if every or (data and session.config.space is None):
        return session.memories().policy
    return session.space().policy_in_force()


def _spaces(session: Session, *, every: bool) -> list[Space]:
    memories = session.memories()
    return [memories.space(path) for path in memories.spaces()] if every else [session.space()]


def _apply(spaces: Sequence[Space], outcome: Tuning) -> list[str]:
    gain = outcome.gain.interval
    note = (
        f"tuned from {outcome.base.name!r} on {outcome.learnt_from} questions, {gain.mean:+.3f} "
        f"[{gain.low:+.3f}, {gain.high:+.3f}] on {outcome.gain.questions} held out"
    )
    for space in spaces:
        space.apply_policy(outcome.policy, note)
    return [space.path for space in spaces]


def _undo(session: Session, *, every: bool) -> None:
    spaces = _spaces(session, every=every)
    if every:
        spaces = [space for space in spaces if space.applied_policy()]
    left: Mapping[str, Any] = {}
    for space in spaces:
        own = space.undo_policy()
        left = {**left, space.path: own.policy.name if own else session.memories().policy.name}
    session.emit({"in_force": left}, "\n".join(f"{path}: {name!r} is in force again." for path, name in left.items()))


def _talk_about(outcome: Tuning, written: str | None, applied: Sequence[str], *, wanted: bool) -> None:
    if written:
        talk(f"Wrote {written}.")
    for path in applied:
        talk(f"{path} recalls with {outcome.policy.name!r} from now on; `retentive tune --undo` takes it back.")
    if wanted and not outcome.accepted:
        talk("Nothing was written or applied.")
    if not wanted and outcome.accepted:
        talk("--apply makes it the space's own policy; --out FILE.toml writes it down.")


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """Show a bar with what is running on a terminal's stderr, and nothing anywhere else."""
    if not on_terminal(err=True):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("remembering", total=None)
        yield lambda done, total, label: bar.update(task, completed=done, total=total, description=label)
