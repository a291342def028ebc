"""Requests are tried again where nothing can happen twice, over connections that are kept and may be gone."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from retentive import Retentive
from retentive.client.home import RemoteRetentive
from retentive.client.transport import Ask, Transport
from retentive.errors import InvalidInput, RetentiveError, StoreBusy, Unreachable

Answer = tuple[int, dict[str, str], Any]


class Scripted:
    """A server that answers as it was told, in order, the last one for ever; notes what it was asked."""

    def __init__(self, *answers: Answer | None) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []

    def next(self) -> Answer | None:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serving(script: Scripted) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            script.asked.append((self.command, self.path, dict(self.headers), body))
            answer = script.next()
            if answer is None:  # hang up without a word
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            status, headers, data = answer
            raw = data if isinstance(data, bytes) else json.dumps(data).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(raw)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST = do_PATCH = do_DELETE = do  # noqa: N815 -- the names that the base class looks for

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def pauses() -> list[float]:
    """What was waited for; nobody really waits."""
    return []


@pytest.fixture
def transport(pauses: list[float]) -> Iterator[Callable[..., Transport]]:
    """Make a transport that does not sleep; it is closed at the end."""
    made: list[Transport] = []

    def make(address: str, **more: Any) -> Transport:
        made.append(Transport(address, "rtv_key", sleep=pauses.append, **more))
        return made[-1]

    yield make
    for each in made:
        each.close()


BUSY: Answer = (503, {"Retry-After": "2"}, {"error": "StoreBusy", "detail": "busy"})


def test_a_busy_server_is_asked_again_as_it_says(transport: Callable[..., Transport], pauses: list[float]) -> None:
    """After the pause it names, and with the key each time."""
    script = Scripted(BUSY, BUSY, (200, {}, {"fine": True}))
    with serving(script) as address:
        assert transport(address).ask(Ask("GET", "/v1")) == {"fine": True}
    assert pauses == [2.0, 2.0]
    assert {headers["Authorization"] for _, _, headers, _ in script.asked} == {"Bearer rtv_key"}


def test_it_ends_with_the_servers_error(transport: Callable[..., Transport]) -> None:
    """After as many tries as there are."""
    script = Scripted(BUSY)
    with serving(script) as address, pytest.raises(StoreBusy, match="busy"):
        transport(address, tries=3).ask(Ask("GET", "/v1"))
    assert len(script.asked) == 3


def test_what_might_happen_twice_is_not_asked_again(transport: Callable[..., Transport]) -> None:
    """Neither after an error nor after silence; a full bucket refused it before anything happened."""
    script = Scripted(BUSY)
    with serving(script) as address, pytest.raises(StoreBusy):
        transport(address).ask(Ask("POST", "/v1/x", safe=False))
    assert len(script.asked) == 1
    silent = Scripted(None)
    with serving(silent) as address, pytest.raises(Unreachable):
        transport(address).ask(Ask("POST", "/v1/x", safe=False))
    assert len(silent.asked) == 1
    rated = Scripted((429, {"Retry-After": "1"}, {}), (200, {}, {}))
    with serving(rated) as address:
        assert transport(address).ask(Ask("POST", "/v1/x", safe=False)) == {}


def test_a_write_keeps_its_key_when_it_is_sent_again() -> None:
    """So that the server can tell that it is the same one."""
    memory = {"id": "m1", "space": "a", "text": "x", "created_at": "2026-05-01T12:00:00+00:00"}
    memory["recorded_at"] = memory["created_at"]
    script = Scripted(None, BUSY, (201, {}, memory))
    with serving(script) as address:
        quick = Transport(address, sleep=lambda _seconds: None)
        with RemoteRetentive(address, transport=quick) as remote:
            assert remote.space("a").remember("x").id == "m1"
            assert remote.space("a").remember("x", once="bücher 1").id == "m1"
    keys = [headers["Idempotency-Key"] for _, _, headers, _ in script.asked]
    assert len(set(keys[:3])) == 1
    assert keys[3] == "b%C3%BCcher%201"


def test_a_kept_connection_that_is_gone_costs_nothing(transport: Callable[..., Transport], pauses: list[float]) -> None:
    """Servers close idle connections: a request on one is sent again at once, whatever it is."""
    script = Scripted((200, {}, {}), None, (200, {}, {"again": True}))
    with serving(script) as address:
        asking = transport(address)
        asking.ask(Ask("GET", "/v1"))
        assert asking.ask(Ask("GET", "/v1")) == {"again": True}
        asking.close()
    assert pauses == [0.0]


def test_nobody_there(transport: Callable[..., Transport], pauses: list[float]) -> None:
    """The error names the address and what to look at; every try was made."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unreachable, match="retentive serve") as error:
        transport(f"http://127.0.0.1:{port}", tries=3).ask(Ask("POST", "/v1/x", safe=False))
    assert error.value.details["address"] == f"http://127.0.0.1:{port}"
    assert len(pauses) == 2


def test_an_answer_that_is_no_problem_of_ours(transport: Callable[..., Transport]) -> None:
    """A proxy's page in between: the status tells what it can."""
    for status, kind in ((404, LookupError), (418, InvalidInput), (500, RetentiveError)):
        with serving(Scripted((status, {}, b"<html>"))) as address, pytest.raises(kind, match=str(status)):
            transport(address).ask(Ask("GET", "/v1"))


def test_an_answer_that_breaks_off(transport: Callable[..., Transport]) -> None:
    """It is not taken for a whole one."""
    broken = Scripted((200, {"Content-Length": "100", "Connection": "close"}, b"{"))
    with serving(broken) as address, pytest.raises(Unreachable):
        transport(address).ask(Ask("GET", "/v1"))


@pytest.mark.parametrize("address", ["http://", "ftp://x", "http://u:p@host", "http://host/?q=1", "http://host/#f"])
def test_what_is_no_address(address: str) -> None:
    """It is said so before anything is asked."""
    with pytest.raises(InvalidInput):
        Transport(address)


def test_a_server_below_a_path(transport: Callable[..., Transport]) -> None:
    """A proxy may put it there; https has its own connections."""
    script = Scripted((200, {}, {"spaces": [], "cursor": None}))
    with serving(script) as address, Retentive(f"{address}/memory/") as remote:
        assert remote.spaces() == []
    assert script.asked[0][1].startswith("/memory/v1/spaces")
    secure = transport("https://127.0.0.1:1", tries=1)
    with pytest.raises(Unreachable):
        secure.ask(Ask("GET", "/v1"))
