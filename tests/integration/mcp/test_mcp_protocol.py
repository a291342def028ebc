"""The official Python client talks to `retentive mcp`: over stdio and over HTTP, in both eras of the protocol."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="the extra 'mcp' is not installed")

import httpx
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from npm_peers import INSPECTOR, peer
from served import address_of, begun

Command = Callable[..., StdioServerParameters]
Started = Callable[..., str]
Server = StdioServerParameters | str
EIGHT = {"remember", "recall", "get_memory", "update_memory", "forget", "list_memories", "reflect", "feedback"}


def talked(server: Server, talk: Callable[[Client], Awaitable[Any]], *, mode: str = "auto") -> Any:
    """Connect, talk, and return what came of it; a server that hangs fails instead of waiting for ever."""

    async def run() -> Any:
        with anyio.fail_after(60):
            async with Client(server, mode=mode) as client:
                return await talk(client)

    return anyio.run(run)


def said(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


async def a_life(client: Client) -> None:
    """Remember, recall, correct, forget: the client itself holds each answer to the schema the tool published."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == EIGHT
    assert all(tool.output_schema and tool.annotations and tool.description for tool in tools.values())
    hints = {name: tool.annotations for name, tool in tools.items() if tool.annotations}
    assert hints["recall"].read_only_hint is True
    assert hints["forget"].destructive_hint is True
    assert hints["remember"].destructive_hint is False

    kept = await client.call_tool("remember", {"text": "Prefers Postgres for work <b>", "key": "db", "pinned": True})
    assert not kept.is_error
    memory = kept.structured_content["id"]
    await client.call_tool("remember", {"text": "The deploy failed with error E4012", "kind": "event"})
    recalled = await client.call_tool("recall", {"query": "deploy error E4012", "limit": 2})
    assert [hit["kind"] for hit in recalled.structured_content["memories"]] == ["event"]
    assert [core["id"] for core in recalled.structured_content["core"]] == [memory]
    assert "Postgres for work &lt;b&gt;" in said(recalled)
    used = [recalled.structured_content["memories"][0]["id"]]
    noted = {"recall_id": recalled.structured_content["recall_id"], "used": used, "outcome": "good"}
    for name, arguments in (
        ("feedback", noted),
        ("get_memory", {"id": memory}),
        ("list_memories", {"limit": 1}),
        ("update_memory", {"id": memory, "importance": 0.8}),
        ("reflect", {}),
        ("forget", {"id": memory}),
    ):
        result = await client.call_tool(name, arguments)
        assert not result.is_error, said(result)
        assert result.structured_content


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_stdio(command: Command, mode: str) -> None:
    """A whole life over the pipes, as clients of this year and of last year speak."""
    talked(command(), a_life, mode=mode)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_http(started: Started, mode: str) -> None:
    """The same over streamable HTTP."""
    talked(started(), a_life, mode=mode)


def test_errors_are_answers_that_a_model_can_act_on(command: Command) -> None:
    """A wrong value comes back with the remedy; only a tool or resource that does not exist is the protocol's error."""

    async def talk(client: Client) -> None:
        for name, arguments, remedy in (
            ("recall", {"query": "x", "limit": "five"}, "pass a whole number from 1 to 50"),
            ("recall", {"query": "x", "space": "acme/bob"}, "Leave it out"),
            ("get_memory", {"id": "nowhere"}, "No memory 'nowhere'"),
            ("remember", {"text": "x", "kind": "fakt"}, "Did you mean 'fact'?"),
            ("list_memories", {"since": "2026-05-01"}, "pass 2026-05-01T00:00:00Z"),
            ("forget", {"id": "x", "erase": True}, "Unknown argument"),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert remedy in said(result)
        with pytest.raises(MCPError, match="Did you mean 'recall'"):
            await client.call_tool("recal", {})
        with pytest.raises(MCPError, match="There is no resource"):
            await client.read_resource("retentive://acme/bob/core")

    talked(command(), talk)


def test_resources(command: Command) -> None:
    """What is pinned and what is recent, quoted as data."""

    async def talk(client: Client) -> list[str]:
        await client.call_tool("remember", {"text": "Be brief </core> <b>", "pinned": True})
        await client.call_tool("remember", {"text": "Tea at four"})
        listed = (await client.list_resources()).resources
        assert [resource.uri for resource in listed] == ["retentive://acme/alice/core", "retentive://acme/alice/recent"]
        assert {resource.mime_type for resource in listed} == {"application/xml"}
        return [str((await client.read_resource(resource.uri)).contents[0]) for resource in listed]

    core, recent = talked(command(), talk)
    assert "Be brief &lt;/core&gt;" in core
    assert "Tea" not in core
    assert recent.index("Tea at four") < recent.index("Be brief")


def test_read_only_and_the_allow_list(command: Command) -> None:
    """What is not offered is neither listed nor called."""

    async def talk(client: Client) -> list[str]:
        with pytest.raises(MCPError, match="Unknown tool 'remember'"):
            await client.call_tool("remember", {"text": "x"})
        return [tool.name for tool in (await client.list_tools()).tools]

    assert talked(command("--read-only"), talk) == ["recall", "get_memory", "list_memories"]
    assert talked(command("--tools", "recall, get_memory"), talk) == ["recall", "get_memory"]


def test_erasing_is_allowed_by_whoever_starts_the_server(command: Command, tmp_path: Path) -> None:
    """Then the text is in no file any more."""

    async def talk(client: Client) -> None:
        kept = await client.call_tool("remember", {"text": "xyzzyplugh is the password"})
        erased = await client.call_tool("forget", {"id": kept.structured_content["id"], "erase": True})
        assert erased.structured_content["erased"] is True

    talked(command("--allow-erase"), talk)
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert files
    assert not any(b"xyzzyplugh" in path.read_bytes() for path in files)


def test_the_command_line_and_the_server_share_a_store(command: Command, environment: dict[str, str]) -> None:
    """What an agent remembers, a person at the terminal finds, and the other way round."""

    def typed(*arguments: str) -> str:
        line = [sys.executable, "-m", "retentive", *arguments]
        return subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout

    async def talk(client: Client) -> Any:
        await client.call_tool("remember", {"text": "Said by the agent"})
        typed("remember", "Said at the terminal")
        return (await client.call_tool("list_memories", {})).structured_content["memories"]

    both = {"Said by the agent", "Said at the terminal"}
    assert {memory["text"] for memory in talked(command(), talk)} == both
    assert {memory["text"] for memory in json.loads(typed("list", "--json"))} == both


def test_nothing_but_protocol_on_stdout(environment: dict[str, str]) -> None:
    """Every line is a message, also when something is wrong with what came in."""
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "this is no JSON",
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "remember", "arguments": {"text": "x" * 10}}}),
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "retentive", "mcp"],
        env=environment | {"RETENTIVE_LOG_LEVEL": "debug"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        for line in lines:
            process.stdin.write(line + "\n")
        process.stdin.flush()
        answers: list[dict[str, Any]] = []
        while not any(answer.get("id") == 2 for answer in answers):
            answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(timeout=30) == 0
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)


def test_without_a_space_it_says_so(environment: dict[str, str]) -> None:
    """On stderr, with exit code 2: a client shows that to its user."""
    del environment["RETENTIVE_SPACE"]
    line = [sys.executable, "-m", "retentive", "mcp"]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Which space?" in done.stderr


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://localhost:{port}"}, 200),
        ({"Host": "localhost:{port}"}, 200),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Host": "127.0.0.1:{port}.evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
@pytest.mark.parametrize("era", ["2025-06-18", "2026-07-28"])
def test_pages_of_elsewhere_are_refused(local: str, headers: dict[str, str], status: int, era: str) -> None:
    """DNS rebinding: a name that resolves to this machine, or a page of another origin, gets nothing."""
    port = local.rsplit(":", 1)[1].removesuffix("/mcp")
    sent = ACCEPT | {name: value.format(port=port) for name, value in headers.items()}
    if era != "2025-06-18":
        if status == 200:
            return  # the client's own test speaks this era
        sent["MCP-Protocol-Version"] = era
    answer = httpx.post(local, content=json.dumps(INITIALIZE), headers={"Content-Type": "application/json", **sent})
    assert answer.status_code == status, answer.text
    if status != 200:
        assert "retentive" not in answer.text.lower()


def test_a_body_too_large_is_refused(local: str) -> None:
    """Before it is read into memory."""
    answer = httpx.post(local, content=b" " * (5 * 1024 * 1024), headers=ACCEPT | {"Content-Type": "application/json"})
    assert answer.status_code == 413


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Serve one address for all tests that only knock."""
    import os

    folder = tmp_path_factory.mktemp("local")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RETENTIVE_")}
    environment |= {"HOME": str(folder), "RETENTIVE_STORE": str(folder / "store"), "RETENTIVE_EMBEDDER": "hash"}
    line = [sys.executable, "-m", "retentive", "mcp", "--space", "a", "--http", "--port", "0"]
    with subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said_first = process.stderr.readline()
        yield next(word.rstrip(",") for word in said_first.split() if word.startswith("http://"))
        process.terminate()


def test_a_subscriber_over_http_hears_of_changes(started: Started) -> None:
    """The answer to `subscriptions/listen` is a stream; the server ends it when it is told to end."""
    uri = "retentive://acme/alice/core"

    async def talk(client: Client) -> str:
        async with client.listen(resource_subscriptions=["retentive://acme%2Falice/core"]) as subscription:
            await client.call_tool("remember", {"text": "Be brief", "pinned": True})
            return getattr(await anext(aiter(subscription)), "uri", "")

    assert talked(started(), talk) == uri


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")  # how last year's clients subscribe
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("arguments", "uri", "tool", "given"),
    [
        ((), "retentive://acme/alice/recent", "remember", {"text": "Tea at four"}),
        (("--compat", "memory"), "memory://knowledge-graph", "create_entities", {"entities": []}),
    ],
)
def test_a_subscriber_hears_of_changes(
    command: Command, mode: str, arguments: tuple[str, ...], uri: str, tool: str, given: dict[str, Any]
) -> None:
    """On stdio, in both eras; reading is no change, and whoever unsubscribed hears nothing."""

    async def run() -> list[str]:
        heard: list[str] = []
        told = anyio.Event()

        async def listen(message: Any) -> None:
            if isinstance(message, types.ResourceUpdatedNotification):
                heard.append(message.params.uri)
                told.set()

        async with Client(command(*arguments), mode=mode, message_handler=listen) as client:
            if mode == "legacy":
                await client.subscribe_resource(uri)
                await client.call_tool(tool, given)
                with anyio.fail_after(30):
                    await told.wait()
                await client.unsubscribe_resource(uri)
                await client.call_tool(tool, given)
                await client.list_tools()
            else:
                async with client.listen(resource_subscriptions=[uri]) as subscription:
                    await client.call_tool(tool, given)
                    with anyio.fail_after(30):
                        return [getattr(await anext(aiter(subscription)), "uri", "")]
        return heard

    assert anyio.run(run) == [uri]


def test_the_official_inspector(environment: dict[str, str]) -> None:
    """Its command line lists and calls our tools and reads our resources."""
    inspector, server = [*peer(INSPECTOR), "--cli"], str(Path(sys.executable).with_name("retentive"))

    def inspected(*arguments: str) -> Any:
        line = [*inspector, server, "mcp", *arguments]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    assert {tool["name"] for tool in inspected("--method", "tools/list")["tools"]} == EIGHT
    kept = inspected("--method", "tools/call", "--tool-name", "remember", "--tool-arg", "text=Tea at four")
    assert kept["isError"] is False
    found = inspected("--method", "tools/call", "--tool-name", "recall", "--tool-arg", "query=Tea at four", "limit=1")
    assert [memory["id"] for memory in found["structuredContent"]["memories"]] == [kept["structuredContent"]["id"]]
    (_, recent) = inspected("--method", "resources/list")["resources"]
    assert "Tea at four" in inspected("--method", "resources/read", "--uri", recent["uri"])["contents"][0]["text"]


def test_the_official_inspector_over_http(started: Started, environment: dict[str, str]) -> None:
    """The same program over streamable HTTP."""
    line = [*peer(INSPECTOR), "--cli", started(), "--transport", "http", "--method", "tools/list"]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {tool["name"] for tool in json.loads(done.stdout)["tools"]} == EIGHT


@contextmanager
def whole_server(environment: dict[str, str], folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start `retentive serve`; it is told to end, and has to end well."""
    for needed in ("prometheus_client", "uvicorn"):
        pytest.importorskip(needed, reason="the extra 'server' is not installed")
    with begun({**environment, "RETENTIVE_SERVE_WORKER": "false"}, folder) as process:
        assert process.stderr is not None
        address = address_of(process)
        greeting = ""
        while "MCP" not in greeting:
            said_next = process.stderr.readline()
            assert said_next, greeting
            greeting += said_next
        try:
            yield address, process
        finally:
            process.terminate()
            assert process.wait(timeout=60) in {0, -signal.SIGTERM}  # uvicorn ends as told, once it is done


def key_for(environment: dict[str, str], space: str, *rights: str) -> dict[str, str]:
    made = [sys.executable, "-m", "retentive", "keys", "create", "--for", space, *rights]
    key = subprocess.run(made, env=environment, capture_output=True, text=True, check=True).stdout.split()[0]
    return {"Authorization": f"Bearer {key}"}


def test_the_whole_server_with_a_key(environment: dict[str, str], tmp_path: Path) -> None:
    """`retentive serve` in a process of its own: the official client, with a key that is bound to one space."""
    del environment["RETENTIVE_SPACE"]
    key = key_for(environment, "acme/alice", "--write")

    async def run(address: str) -> None:
        async with (
            create_mcp_http_client(key) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            await a_life(client)

    with whole_server(environment, tmp_path) as (address, _):
        anyio.run(run, address)


def test_a_subscriber_over_http_hears_of_its_own_space_alone(environment: dict[str, str], tmp_path: Path) -> None:
    """Whoever writes there, also past MCP; not of another tenant's space; and the server ends while one listens."""
    del environment["RETENTIVE_SPACE"]
    alice, bob = key_for(environment, "acme/alice", "--read"), key_for(environment, "acme/bob", "--write")
    writer = key_for(environment, "acme/alice", "--write")
    mine, other = "retentive://acme/alice/recent", "retentive://acme/bob/recent"

    async def run(address: str, process: subprocess.Popen[str]) -> list[str]:
        heard: list[str] = []
        async with (
            create_mcp_http_client(alice) as http,
            httpx.AsyncClient(base_url=address) as plain,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
            client.listen(resource_subscriptions=[mine, other]) as subscription,
        ):
            for space, key in (("acme%2Fbob", bob), ("acme%2Falice", writer)):
                path = f"/v1/spaces/{space}/memories"
                assert (await plain.post(path, json={"text": "Tea at four"}, headers=key)).status_code == 201
            with anyio.fail_after(30):
                heard.append(getattr(await anext(aiter(subscription)), "uri", ""))
            process.terminate()
            with anyio.fail_after(25):
                heard += [getattr(event, "uri", "") async for event in subscription]
        return heard

    with whole_server(environment, tmp_path) as (address, process):
        assert set(anyio.run(run, address, process)) == {mine}
        process.wait(timeout=25)  # less than it waits for requests that do not end by themselves


def test_a_store_on_a_server(command: Command, environment: dict[str, str], tmp_path: Path) -> None:
    """`--store http://…`: an agent's own process in front of memories that are kept elsewhere, both sets of tools."""
    for needed in ("prometheus_client", "uvicorn"):
        pytest.importorskip(needed, reason="the extra 'server' is not installed")
    entity = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}

    async def graph(client: Client) -> Any:
        await client.call_tool("create_entities", {"entities": [entity]})
        return (await client.call_tool("read_graph", {})).structured_content

    with begun(environment, tmp_path) as process:
        assert process.stderr is not None
        afar = ["--store", address_of(process)]
        while "MCP" not in (said_next := process.stderr.readline()):
            assert said_next
        try:
            talked(command(*afar), a_life)
            assert talked(command(*afar, "--compat", "memory"), graph)["entities"] == [entity]
        finally:
            process.terminate()
