"""``mcp``: a space's memories as tools of the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import command
from retentive.cli.session import Session, talk

if TYPE_CHECKING:
    from retentive.mcp.toolbox import Access

_PORT = 7678
"""Beside `retentive serve`, which has 7677."""


@command(
    "mcp",
    examples=[
        "retentive mcp --space acme/alice",
        "retentive mcp --space acme/alice --read-only --tools recall,get_memory",
        "retentive mcp --space acme/alice --http",
        "retentive mcp --space acme/alice --compat memory",
    ],
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP on this machine instead of stdin and stdout.")
@click.option("--port", type=click.IntRange(0, 65_535), default=_PORT, show_default=True, help="Its port; 0: any.")
@click.option("--read-only", is_flag=True, help="Offer only what reads, and leave no trace of reading.")
@click.option("--tools", metavar="NAME,…", help="Offer only these tools.")
@click.option("--allow-erase", is_flag=True, help="Let a model erase text for good, not only hide it.")
@click.option(
    "--compat", type=click.Choice(["memory"]), help="Serve the official memory server's nine tools over this space."
)
def mcp(session: Session, *, http: bool, port: int, read_only: bool, tools: str | None, **more: Any) -> None:
    """Serve one space to an agent by the Model Context Protocol, over stdin and stdout or HTTP.

    The space is said here, by --space or the configuration, and by nothing that the agent says. Needs the extra `mcp`.
    """
    from retentive.extras import require_extra

    require_extra("mcp.server", extra="mcp", user="`retentive mcp`")
    from retentive.mcp.app import server_of
    from retentive.mcp.news import News
    from retentive.mcp.offer import offer

    access = _access(session, writes=not read_only)
    chosen = offer(
        sorted(session.memories().kinds),
        names=_names(tools) or session.config.mcp_tools,
        writes=not read_only,
        erase=more["allow_erase"] or session.config.mcp_erase,
        compat=more["compat"] or session.config.mcp_compat,
    )
    news = News(one_client=not http)
    server = server_of(chosen.toolbox, lambda _request: access, resources=chosen.resources, news=news)
    if http:
        from retentive.mcp.http import serve_http

        serve_http(server, port, lambda address: talk(_greeting(address, access.space.path)), news.close)
    else:
        from retentive.mcp.stdio import serve_stdio

        serve_stdio(server)


def _access(session: Session, *, writes: bool) -> Access:
    from retentive.mcp.toolbox import Access

    return Access(session.space(create=True), session.memories().now, writes)


def _names(tools: str | None) -> list[str] | None:
    return None if tools is None else [name.strip() for name in tools.split(",") if name.strip()]


def _greeting(address: str, path: str) -> str:
    return (
        f"Memories of {path} are at {address}, for everybody on this machine: there are no keys here. End with Ctrl+C."
    )
