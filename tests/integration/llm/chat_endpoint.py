"""A small HTTP server on loopback that speaks OpenAI's chat completions and Anthropic's messages."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], bytes]
BUSY: Answer = (429, {"Retry-After": "3"}, b'{"error": {"message": "slow down"}}')
BROKEN: Answer = (500, {}, b"oops")
HANG_UP: Answer = (0, {}, b"")
TRICKLE: Answer = (-1, {}, b"")


def answering(body: Any, status: int = 200) -> Answer:
    """Answer with JSON, or with bytes as they are."""
    return status, {}, body if isinstance(body, bytes) else json.dumps(body).encode()


def openai_says(content: Any, **changes: Any) -> Answer:
    """Answer as OpenAI does."""
    message = {"role": "assistant", "content": content, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **changes}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return answering({"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage})


def anthropic_says(*blocks: dict[str, Any], stop_reason: str = "end_turn") -> Answer:
    """Answer as Anthropic does."""
    usage = {"input_tokens": 90, "cache_read_input_tokens": 10, "output_tokens": 20}
    body = {"type": "message", "role": "assistant", "content": blocks, "stop_reason": stop_reason, "usage": usage}
    return answering(body)


@dataclass
class Endpoint:
    """What the server will answer next (the last one for ever), and what it was asked."""

    url: str
    script: list[Answer | Callable[[dict[str, Any]], Answer]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    gone: threading.Event = field(default_factory=threading.Event)  # the test is over: stop trickling

    def answer(self, path: str, headers: dict[str, str], raw: bytes) -> Answer:
        """Take the next answer from the script."""
        request = json.loads(raw)
        with self.lock:
            self.requests.append(request)
            self.headers.append({name.lower(): value for name, value in headers.items()})
            self.paths.append(path)
            planned = self.script.pop(0) if len(self.script) > 1 else self.script[0]
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
                self.send_response(status if status > 0 else 200)
                for name, value in {"Content-Length": str(1_000_000 if status < 0 else len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                while status < 0 and not endpoint.gone.wait(0.02):  # byte by byte, never done
                    self.wfile.write(b" ")
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
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        found.gone.set()
        server.shutdown()
        server.server_close()
        thread.join()
