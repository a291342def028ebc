"""MCP at `/mcp`: the key and the address decide whose memories, and how far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra 'mcp' is not installed")

from starlette.testclient import TestClient

from retentive import Retentive
from retentive.mcp.offer import offer
from retentive.server.agents import mcp_mount
from retentive.server.app import application
from retentive.server.keys import KeyRing
from retentive.server.service import Service
from retentive.server.settings import ServeSettings

Key = Callable[..., dict[str, str]]
Agents = Callable[..., AbstractContextManager[TestClient]]
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
READING = ["recall", "get_memory", "list_memories"]


@pytest.fixture
def agents(home: Retentive, ring: KeyRing) -> Agents:
    """Serve the store with MCP mounted."""

    @contextmanager
    def serving(default: str | None = None, **offered: Any) -> Iterator[TestClient]:
        service = Service(home, ring, ServeSettings(worker=False))
        mount = mcp_mount(service, offer(sorted(home.kinds), **offered), default=default)
        app = application(service, mounts=[mount])
        with TestClient(app, base_url="http://127.0.0.1:7677", client=("127.0.0.1", 50_000)) as client:
            yield client

    return serving


Headers = dict[str, str] | None


def posted(client: TestClient, method: str, key: Headers = None, path: str = "/mcp", **params: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return client.post(path, json=message, headers={**HEADERS, **(key or {})})


def asked(client: TestClient, method: str, key: Headers = None, path: str = "/mcp", **params: Any) -> Any:
    answer = posted(client, method, key, path, **params)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def called(client: TestClient, tool: str, key: Headers = None, path: str = "/mcp", **arguments: Any) -> Any:
    return asked(client, "tools/call", key, path, name=tool, arguments=arguments)


def test_a_key_for_one_space_works_on_that(agents: Agents, key: Key, home: Retentive) -> None:
    """Each agent finds its own memories at the same address, and the journal notes which key wrote."""
    alice, bob = key("write", "acme/alice"), key("write", "acme/bob")
    with agents() as client:
        kept = called(client, "remember", alice, text="Alice's deploy gates")["structuredContent"]["id"]
        called(client, "remember", bob, text="Bob's deploy gates")
        found = called(client, "recall", alice, query="deploy gates")["structuredContent"]["memories"]
        assert [memory["id"] for memory in found] == [kept]
        assert called(client, "get_memory", bob, id=kept)["isError"] is True
        assert asked(client, "resources/list", bob)["resources"][0]["uri"] == "retentive://acme/bob/core"
        read = posted(client, "resources/read", bob, uri="retentive://acme/alice/recent").json()
        assert "There is no resource" in read["error"]["message"]
    assert home.space("acme/alice").journal(kept)[0].actor.startswith("key:")


def test_the_address_names_a_space_that_the_key_reaches(agents: Agents, key: Key) -> None:
    """With slashes as they are or encoded; whole segments, as everywhere."""
    acme = key("write", "acme")
    with agents() as client:
        kept = called(client, "remember", acme, "/mcp/acme/alice", text="Tea at four")["structuredContent"]["id"]
        for path in ("/mcp/acme/alice", "/mcp/acme%2Falice", "/mcp/acme/alice/"):
            listed = called(client, "list_memories", acme, path)["structuredContent"]["memories"]
            assert [memory["id"] for memory in listed] == [kept]
        assert called(client, "list_memories", acme)["structuredContent"]["memories"] == []  # the space acme itself


@pytest.mark.parametrize(
    "path",
    ["/mcp/acme-corp", "/mcp/other", "/mcp/acm", "/mcp/other%2Facme", "/mcp/acme/../other", "/mcp/acme%2F..%2Fother"],
)
def test_the_address_of_another_space_is_refused(agents: Agents, key: Key, home: Retentive, path: str) -> None:
    """Alike whether it exists or not, before the protocol has seen anything."""
    home.space("other").remember("xyzzyplugh")
    home.space("acme-corp").remember("xyzzyplugh")
    with agents() as client:
        answer = posted(client, "tools/list", key("write", "acme"), path)
        assert answer.status_code in {403, 404, 422}
        assert "xyzzyplugh" not in answer.text


def test_a_key_that_may_only_read(agents: Agents, key: Key, home: Retentive) -> None:
    """Is offered what reads, leaves no trace, and is told why it may not write."""
    home.space("acme/alice").remember("Tea at four")
    reader = key("read", "acme/alice")
    with agents() as client:
        assert [tool["name"] for tool in asked(client, "tools/list", reader)["tools"]] == READING
        assert len(called(client, "recall", reader, query="Tea at four")["structuredContent"]["memories"]) == 1
        refused = posted(client, "tools/call", reader, name="remember", arguments={"text": "x"}).json()
        assert "you may only read" in refused["error"]["message"]
    assert home.space("acme/alice").list()[0].access.last_at is None


def test_who_reaches_all_has_to_name_one(agents: Agents, key: Key) -> None:
    """A space is never guessed; the operator's default counts for those who reach everything, and for nobody else."""
    everything, two = key("write"), key("write", "acme/alice", "acme/bob")
    with agents() as client:
        for headers in (everything, two):
            answer = posted(client, "tools/list", headers)
            assert answer.status_code == 400
            assert "/mcp/acme/alice" in answer.json()["detail"]
        assert asked(client, "tools/list", two, "/mcp/acme/bob")["tools"]
    with agents("me/assistant") as client:
        assert asked(client, "resources/list", everything)["resources"][0]["uri"] == "retentive://me/assistant/core"
        assert posted(client, "tools/list", two).status_code == 400


def test_without_a_key_where_keys_are(agents: Agents, key: Key) -> None:
    """The guard stands before MCP as before everything else."""
    key("write", "acme/alice")
    with agents() as client:
        assert posted(client, "tools/list").status_code == 401
        assert posted(client, "tools/list", {"Authorization": "Bearer rtv_wrong"}).status_code == 401
        assert posted(client, "tools/list", {"Origin": "https://evil.example"}).status_code == 403
        assert posted(client, "tools/list", {"Host": "evil.example"}).status_code == 421


def test_without_any_keys_this_machine_is_let_in(agents: Agents) -> None:
    """As everywhere in the server; the space still has to be named."""
    with agents("acme/alice") as client:
        called(client, "remember", text="Tea at four")
        assert len(called(client, "list_memories")["structuredContent"]["memories"]) == 1


def test_other_methods_and_other_bodies(agents: Agents) -> None:
    """Only POST, only JSON, not too much of it, and an address that can be read."""
    with agents("acme/alice") as client:
        answer = client.get("/mcp", headers=HEADERS)
        assert answer.status_code == 405
        assert answer.headers["Allow"] == "POST"
        assert client.post("/mcp", content=b"x", headers={**HEADERS, "Content-Type": "text/plain"}).status_code == 400
        large = {**HEADERS, "Content-Type": "application/json"}
        assert client.post("/mcp", content=b" " * (5 * 1024 * 1024), headers=large).status_code == 413
        assert posted(client, "tools/list", path="/mcp/%ff").status_code == 400


def test_what_the_operator_chose_is_offered(agents: Agents) -> None:
    """An allow-list, or the official memory server's tools."""
    with agents("a", names=["recall"]) as client:
        assert [tool["name"] for tool in asked(client, "tools/list")["tools"]] == ["recall"]
    with agents("a", compat="memory") as client:
        assert len(asked(client, "tools/list")["tools"]) == 9
        entity = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
        called(client, "create_entities", entities=[entity])
        assert called(client, "read_graph")["structuredContent"]["entities"] == [entity]


def test_requests_and_denials_are_counted(agents: Agents, key: Key) -> None:
    """In the server's own figures."""
    admin, acme = key("admin"), key("write", "acme")
    with agents() as client:
        asked(client, "tools/list", acme)
        posted(client, "tools/list", acme, "/mcp/other")
        figures = client.get("/metrics", headers=admin).text
    assert 'operation="mcp",status="200"' in figures
    assert 'reason="space"' in figures
