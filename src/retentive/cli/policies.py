"""``policy list``, ``show`` and ``check``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import POLICY, command
from retentive.cli.session import Session, talk
from retentive.cli.shapes import columns

if TYPE_CHECKING:
    from retentive.policy.policy import Policy


@click.group("policy", short_help="List, show and check the policies that rank memories.")
def policy() -> None:
    """List, show and check the policies that rank memories."""


def load(name: str) -> Policy:
    """Return a preset by its name, or a policy from its file."""
    from retentive.policy import presets
    from retentive.policy.policy import Policy

    if name.endswith(".toml") or Path(name).is_file():
        return Policy.load(name)
    return presets.get(name)


@command("list", store=False, space=False, examples=["retentive policy list", "retentive policy list --json"])
def list_(session: Session) -> None:
    """List the presets, the default first."""
    from retentive.policy import presets

    found = [presets.get(name) for name in presets.names()]
    rows = [("policy", "limit", "channels", "weights"), *(_row(each) for each in found)]
    session.emit([_shape(each) for each in found], lambda: columns(rows))


def _row(each: Policy) -> tuple[str, ...]:
    join = " × " if each.combine == "product" else " + "
    weights = join.join(f"{name} {weight:g}" for name, weight in each.weights.items() if weight)
    return (each.name, str(each.selection.limit), ", ".join(each.sources.channels), weights)


def _shape(each: Policy) -> dict[str, Any]:
    """Return a policy as JSON: exactly what its TOML says."""
    return tomllib.loads(each.dump())


@command(
    "show",
    store=False,
    space=False,
    examples=["retentive policy show retentive", "retentive policy show blend > mine.toml"],
)
@click.argument("name", type=POLICY)
def show(session: Session, name: str) -> None:
    """Print a policy as TOML: a file to change, and to recall with."""
    found = load(name)
    session.emit(_shape(found), lambda: found.dump().rstrip("\n"))


@command("check", store=False, space=False, examples=["retentive policy check blend"])
@click.argument("name", type=POLICY)
def check(session: Session, name: str) -> None:
    """Read a policy strictly, and say what is legal in it but likely not meant."""
    from retentive.policy.policy import advice

    found = load(name)
    remarks = advice(found)
    session.emit({"policy": found.name, "advice": remarks}, "\n".join(remarks))
    talk(f"{found.name} is a valid policy" + ("; see the advice above." if remarks else "."))


for each in (list_, show, check):
    policy.add_command(each)
