"""``config show`` and ``completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from retentive.cli.options import command
from retentive.cli.session import Session, talk, warn
from retentive.cli.shapes import columns, plain, seen
from retentive.errors import RetentiveError


@click.group("config", short_help="Show the configuration and where each value came from.")
def settings() -> None:
    """Show the configuration and where each value came from."""


@command("show", examples=["retentive config show", "retentive config show --json"])
def show(session: Session) -> None:
    """Print each value and where it came from; secrets never print."""
    entries = [{"key": key, "value": plain(value), "origin": origin} for key, value, origin in session.config.entries()]
    rows = [
        (str(each["key"]), "" if each["value"] is None else seen(each["value"]), str(each["origin"]))
        for each in entries
    ]
    if own := _own_policy(session):
        entries.append(own)
        rows.append((str(own["key"]), seen(str(own["value"])), str(own["origin"])))
    session.emit(entries, lambda: columns([("key", "value", "from"), *rows]))
    for path in session.config.files:
        talk(f"Read {path}.")


def _own_policy(session: Session) -> dict[str, str] | None:
    """Return the policy that the space has of its own: there it goes before the one configured."""
    path = session.config.space
    try:
        known = path is not None and path in session.memories().spaces()
        own = session.memories().space(path).applied_policy() if path is not None and known else None
    except RetentiveError as error:  # whoever looks at the configuration may do so because the store cannot be reached
        warn(f"the store was not asked for a policy of {path}: {error.message}")
        return None
    if own is None:
        return None
    origin = f"applied to {path} on {own.at:%Y-%m-%d}" + (f": {own.note}" if own.note else "")
    return {"key": "policy of the space", "value": own.policy.name, "origin": origin}


settings.add_command(show)


@command("completion", store=False, space=False, examples=["retentive completion bash", "retentive completion zsh"])
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(session: Session, shell: str) -> None:
    """Print the script that completes commands; e.g. add `eval "$(retentive completion bash)"` to ~/.bashrc."""
    from retentive.cli.main import PROGRAM, root

    script_of = get_completion_class(shell)
    if script_of is None:
        raise click.UsageError(f"This version of click has no completion for {shell}.")
    script = script_of(root, {}, PROGRAM, "_RETENTIVE_COMPLETE")
    source = script.source_template % script.source_vars()
    session.emit({"shell": shell, "script": source}, source)
