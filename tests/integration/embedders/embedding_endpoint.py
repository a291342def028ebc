"""A small HTTP server on loopback that speaks OpenAI's `POST /v1/embeddings`."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

Answer = tuple[int, dict[str, str], bytes]


def vector_of(text: str) -> list[float]:
    """What the server answers for a text, so that a test can tell whose vector it got."""
    return [float(len(text)), 1.0, float(sum(map(ord, text)) % 97)]


def good(request: dict[str, Any], **changes: Any) -> Answer:
    """Answer as OpenAI does, but out of order, as the protocol allows."""
    data = [
        {"object": "embedding", "index": at, "embedding": vector_of(text)} for at, text in enumerate(request["input"])
    ]
    body = {"object": "list", "data": data[::-1], "model": request["model"], "usage": {"total_tokens": 1}, **changes}
    return 200, {}, json.dumps(body).encode()


def in_base64(request: dict[str, Any]) -> Answer:
    """Answer with base64 of little-endian float32."""
    rows = [base64.b64encode(np.array(vector_of(text), "<f4").tobytes()).decode() for text in request["input"]]
    return 200, {}, json.dumps({"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]}).encode()


@dataclass
class Endpoint:
    """What the server will answer next (then `good` for ever), and what it was asked."""

    url: str
    script: list[Answer | Callable[[dict[str, Any]], Answer]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, path: str, headers: dict[str, str], raw: bytes) -> Answer:
        """Take the next answer from the script."""
        request = json.loads(raw)
        with self.lock:
            self.requests.append(request)
            self.headers.append(headers)
            self.paths.append(path)
            planned = self.script.pop(0) if self.script else good
        return planned(request) if callable(planned) else planned


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            status, headers, body = endpoint.answer(self.path, dict(self.headers), raw)
            if status == 0:  # hang up without a word
                self.close_connection = True
                return
            try:
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client did not wait

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class names it so
            pass

    return Handler


@contextmanager
def serve() -> Iterator[Endpoint]:
    """Serve on a free port of loopback until the block is left."""
    found = Endpoint("")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(found))
    found.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
