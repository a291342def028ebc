"""``recall``: the question this project exists for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import MOMENT, POLICY, command, filters, given, stack
from retentive.cli.session import Session, on_terminal, say_json, talk

if TYPE_CHECKING:
    from retentive.answer import Recall
    from retentive.policy.policy import Policy
    from retentive.types import AgentState

FORMATS = ("xml", "markdown", "messages", "json")


asking = stack(
    click.option("--policy", type=POLICY, metavar="NAME|FILE", help="A preset, or a policy in a TOML file."),
    click.option("--limit", type=click.IntRange(min=1), help="How many at most; else the policy's own number."),
    filters,
    click.option("--now", type=MOMENT, help="Answer as if it were this moment."),
    click.option("--token-budget", type=click.IntRange(min=1), help="What does not fit is compacted into one block."),
    click.option("--goal", help="The agent's goal: the cue follows its state."),
    click.option("--step", help="The agent's current step."),
    click.option("--open-loop", "open_loops", multiple=True, help="A question still open; may be given again."),
    click.option("--utterance", help="The user's words beside the agent's state."),
    click.option("--session", "conversation", help="The conversation that asks."),
)
"""What can be asked with: the options of `recall` and of whatever follows a recall."""


@command(
    "recall",
    examples=[
        'retentive recall "What database does she like?" --limit 3',
        'retentive recall "deploy error E4012" --policy operational --kind fact --kind event --where ticket=7',
        'retentive recall "run migration 0042" --goal "migrate tiers" --open-loop "who approves?" --render xml',
        'retentive recall "What did we decide?" --as-of 2026-03-01T00:00Z --no-touch --json',
    ],
)
@click.argument("cue", required=False)
@asking
@click.option("--no-touch", is_flag=True, help="Do not count this as a use of what comes back.")
@click.option("--render", type=click.Choice(FORMATS), help="Print the block for a prompt instead of the table.")
@click.option("--explain", "detail", is_flag=True, help="Show every signal's arithmetic, and what was cut and why.")
def recall(session: Session, cue: str | None, *, render: Any, detail: bool, no_touch: bool, **options: Any) -> None:
    """Ask what is worth bringing up now, and see why each memory came back."""
    asked = asked_with(cue, options)
    answer = session.space().recall(**asked, touch=not no_touch)
    if render is not None:
        _print_rendered(answer, render)
    elif session.json:
        say_json(answer.as_dict())
    else:
        _print_table(answer, detail=detail)
    _talk_about(answer, told=render is None and not session.json)


def asked_with(cue: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Return a question and its options as the keywords of `Space.recall`."""
    question = _question(cue, options)
    options["policy"] = policy_of(options["policy"])
    return {**question, **given(options)}


def policy_of(name: str | None) -> Policy | str | None:
    """Return a policy from its file, or a preset's name as it is."""
    if name is None or not (name.endswith(".toml") or Path(name).is_file()):
        return name
    from retentive.policy.policy import Policy

    return Policy.load(name)


def _question(cue: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Take the question out of the options: a plain cue, or the agent's state with the user's words beside it."""
    conversation = options.pop("conversation")
    state = _state(options.pop("goal"), options.pop("step"), options.pop("open_loops"), conversation)
    utterance = options.pop("utterance")
    if state is None:
        question = {"cue": cue, "utterance": utterance}
    else:
        question = {"state": state, "utterance": utterance or cue}
    if not any(question.values()):
        raise click.UsageError('What is asked? Give a cue, e.g. retentive recall "Which database?", or --goal.')
    return given({**question, "session": conversation})


def _state(goal: str | None, step: str | None, open_loops: tuple[str, ...], session: str | None) -> AgentState | None:
    if not (goal or step or open_loops):
        return None
    from retentive.types import AgentState

    return AgentState(goal=goal or "", step=step or "", open_loops=open_loops, session=session)


def _print_rendered(answer: Recall, form: str) -> None:
    rendered = answer.render(form)
    if isinstance(rendered, str):
        click.echo(rendered)
    else:
        say_json(rendered)


def _print_table(answer: Recall, *, detail: bool) -> None:
    """Print bars for a person; a pipe, or who wants every number, gets the whole table."""
    if not on_terminal():
        click.echo(answer.explain())
        return
    from rich.console import Console

    from retentive.explain import rich_table

    Console().print(rich_table(answer, detail=detail))


def _talk_about(answer: Recall, *, told: bool) -> None:
    """Say beside the answer what it cannot say itself; a table has told that it is empty."""
    if not answer and not told:
        talk("Nothing relevant is remembered." + (" Pinned memories are in the core block." if answer.core else ""))
    elif answer:
        talk(f"`retentive explain {answer.id}` shows this answer again.")
