"""What docs/mcp.md offers for pasting into clients is what they read, and starts our server."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from retentive.cli.main import COMMANDS, root

from .pages import ROOT

PAGE = (ROOT / "docs/mcp.md").read_text("utf-8")
CLIENTS = dict(re.findall(r"<!-- client: ([a-z-]+) -->\n\n```json\n(.*?)```", PAGE, re.DOTALL))


def test_the_clients_are_there() -> None:
    """Those that the documentation promises."""
    assert {"claude-desktop", "claude-code", "cursor", "vscode"} <= set(CLIENTS)


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_the_configuration_is_what_the_client_reads(client: str) -> None:
    """JSON, under the name that this client looks for, with a type where it wants one."""
    servers: dict[str, Any] = json.loads(CLIENTS[client])["servers" if client == "vscode" else "mcpServers"]
    (server,) = servers.values()
    if client == "vscode":
        assert server["type"] in {"stdio", "http"}
    assert ("command" in server) != ("url" in server)


@pytest.mark.parametrize("client", sorted(name for name in CLIENTS if '"command"' in CLIENTS[name]))
def test_the_command_exists(client: str) -> None:
    """And takes these arguments, a space among them."""
    (servers,) = json.loads(CLIENTS[client]).values()
    (server,) = servers.values()
    assert server["command"] == "retentive"
    name, *arguments = server["args"]
    assert name in COMMANDS
    context = root.make_context("retentive", ["mcp", *arguments], resilient_parsing=True)
    command = root.get_command(context, name)
    assert command is not None
    command.make_context(name, list(arguments), parent=context)
    assert "--space" in arguments
