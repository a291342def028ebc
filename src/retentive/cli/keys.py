"""``keys``: who may ask a server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import command
from retentive.cli.schedule import SPAN
from retentive.cli.session import Session, talk
from retentive.cli.shapes import columns, plain, seen, when

if TYPE_CHECKING:
    from retentive.server.keys import Key, KeyRing


@click.group("keys")
def keys() -> None:
    """Make, list and revoke the keys of `retentive serve`.

    A key reaches some spaces, with all below them, and may read, write or administer them. It is shown once, when it
    is made; kept is only its hash.
    """


def _ring(session: Session) -> KeyRing:
    from retentive.server.keys import KeyRing
    from retentive.server.settings import key_file

    return KeyRing(key_file(session.config))


@command(
    "create",
    space=False,
    examples=[
        "retentive keys create --for acme/alice --write --name laptop",
        "retentive keys create --for acme --read --expires 90d --rate 600",
        "retentive keys create --all-spaces --admin",
    ],
)
@click.option(
    "--for", "spaces", metavar="SPACE", multiple=True, help="A space it reaches, with all below; may be given again."
)
@click.option("--all-spaces", is_flag=True, help="It reaches the whole store.")
@click.option("--read", "right", flag_value="read", help="It may recall, list, fetch and export.")
@click.option("--write", "right", flag_value="write", help="And remember, change, forget and import.")
@click.option("--admin", "right", flag_value="admin", help="And maintain and drop; for all spaces: see the metrics.")
@click.option("--name", default="", help="What it is for; shown in lists.")
@click.option("--expires", type=SPAN, metavar="SPAN", help="It counts for this long, e.g. 90d.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), metavar="NUMBER", help="Requests a minute.")
def create(
    session: Session,
    *,
    spaces: tuple[str, ...],
    all_spaces: bool,
    right: str | None,
    expires: float | None,
    **more: Any,
) -> None:
    """Make a key, and print it: this once."""
    if bool(spaces) == all_spaces:
        raise click.UsageError("Which spaces does it reach? Name them with --for acme/alice, or say --all-spaces.")
    if right is None:
        raise click.UsageError("What may it do? Say --read, --write or --admin.")
    now = datetime.now(UTC)
    until = now + timedelta(seconds=expires) if expires else None
    key, secret = _ring(session).create(
        right=right, spaces=None if all_spaces else spaces, now=now, expires_at=until, **more
    )
    session.emit({**_shape(key), "key": secret}, secret)
    talk(f"This is the only time that key {key.id} is shown. Send it as `Authorization: Bearer …`.")


@command("list", space=False, examples=["retentive keys list", "retentive keys list --json"])
def list_(session: Session) -> None:
    """List the keys: what they reach, how far, and whether they count; never the keys themselves."""
    found = _ring(session).list()
    now = datetime.now(UTC)
    session.emit([_shape(key) for key in found], lambda: _table(found, now))
    if not found:
        talk("There are no keys: `retentive serve` lets in whoever is on this machine, and nobody else.")


@command("revoke", space=False, examples=["retentive keys revoke abcdefgh"])
@click.argument("id")
def revoke(session: Session, id: str) -> None:  # noqa: A002 -- the argument's name in the help
    """Let a key open nothing any more; a running server refuses it from the next request on."""
    key = _ring(session).revoke(id, datetime.now(UTC))
    session.emit(_shape(key), "")
    talk(f"Key {key.id} opens nothing any more.")


for _command in (create, list_, revoke):
    keys.add_command(_command)


def _shape(key: Key) -> dict[str, Any]:
    shape: dict[str, Any] = plain(key)
    del shape["hash"]
    return shape


def _table(found: list[Key], now: datetime) -> str:
    if not found:
        return ""
    head = ("id", "right", "spaces", "made", "state", "name")
    return columns([head, *(_row(key, now) for key in found)])


def _row(key: Key, now: datetime) -> tuple[str, ...]:
    spaces = "all" if key.spaces is None else ", ".join(map(seen, key.spaces))
    return (key.id, key.right, spaces, when(key.created_at), _state(key, now), seen(key.name))


def _state(key: Key, now: datetime) -> str:
    if key.revoked_at is not None:
        return f"revoked {when(key.revoked_at)}"
    if key.expires_at is None:
        return "counts"
    return f"{'counts until' if key.counts(now) else 'expired'} {when(key.expires_at)}"
