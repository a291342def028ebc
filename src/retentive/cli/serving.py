"""``serve``: the store over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from retentive.cli.options import command, note
from retentive.cli.session import Session, talk
from retentive.extras import require_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from retentive.server.app import Mounted
    from retentive.server.service import Service

_REPEATED = "May be given again."


def _setting(flag: str, name: str, metavar: str, text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(flag, name, metavar=metavar, help=text, callback=note, expose_value=False)


def _noted_all(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> None:
    note(ctx, param, value or None)


def _settings(flag: str, name: str, metavar: str, text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        flag, name, metavar=metavar, help=f"{text} {_REPEATED}", multiple=True, callback=_noted_all, expose_value=False
    )


@command(
    "serve",
    space=False,
    examples=[
        "retentive serve --port 8000",
        "retentive serve --check",
        "retentive serve --check --port 8000 --allow-origin https://agents.example.com",
    ],
)
@_setting("--host", "serve_host", "ADDRESS", "Where to listen (127.0.0.1); anything wider needs a key.")
@_setting("--port", "serve_port", "NUMBER", "At which port (7677); 0: any free one.")
@_settings("--allow-host", "serve_hosts", "NAME", "A name that the server has for others.")
@_settings("--allow-origin", "serve_origins", "URL", "Web pages that may call it.")
@_setting("--keys", "serve_keys", "FILE", "Where its keys are kept.")
@click.option(
    "--reports",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of runs saved by `retentive eval run --save`, for the inspector's scoreboard.",
)
@click.option("--check", is_flag=True, help="Only check that everything is in order to serve, and say how it would be.")
def serve(session: Session, *, check: bool, reports: Path | None) -> None:
    """Serve the store over HTTP, until interrupted; requests under way are finished first.

    Without keys it listens on this machine only. `retentive keys create` makes one.
    """
    require_extra("uvicorn", extra="server", user="`retentive serve`")
    require_extra("starlette", extra="server", user="`retentive serve`")
    require_extra("prometheus_client", extra="server", user="`retentive serve`")
    from retentive.inspector.pages import inspector_mounts
    from retentive.server.run import check_exposure, greeting
    from retentive.server.run import serve as run

    service = _service(session)
    mounts = [*_mounts(session, service), *inspector_mounts(service, reports)]

    def say() -> None:
        for line in greeting(service):
            talk(line)
        if any(mounted.path == "/mcp" for mounted in mounts):
            talk("Agents reach it by MCP at /mcp.")

    if check:
        check_exposure(service)
        service.warm_up()
        say()
        service.close()
        return
    run(service, mounts=mounts, started=say)


def _mounts(session: Session, service: Service) -> list[Mounted]:
    """Return what is served beside our own interface: MCP, where its extra is installed."""
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        return []
    from retentive.mcp.offer import offer
    from retentive.server.agents import mcp_mount

    config = session.config
    kinds = sorted(service.home.kinds)
    chosen = offer(kinds, names=config.mcp_tools, erase=config.mcp_erase, compat=config.mcp_compat)
    return [mcp_mount(service, chosen, default=config.space)]


def _service(session: Session) -> Service:
    from retentive.server.keys import KeyRing
    from retentive.server.logs import set_up
    from retentive.server.service import Service
    from retentive.server.settings import key_file, settings_of

    config = session.config
    set_up(config.log_level)
    memories, settings = session.memories(), settings_of(config)
    if settings.worker and memories.reflections == "queue":
        memories.reflections = "off"  # the worker looks by itself, as often as serve.reflect_every says and no oftener
    return Service(memories, KeyRing(key_file(config)), settings)
