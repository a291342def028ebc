"""Requests over kept connections, tried again where nothing can happen twice.

A request is tried again when it only reads, when doing it twice is doing it once, or when it carries an
Idempotency-Key: the server then answers from its note. One that could not even be sent is always tried again.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, Final
from urllib.parse import quote, urlencode, urlsplit

from retentive.errors import InvalidInput, Unreachable
from retentive.retry import pause_before
from retentive.wire.problems import error_of

TRIES: Final = 5
TIMEOUT: Final = 60.0
KEPT: Final = 32
RETRIED: Final = frozenset({429, 502, 503, 504})
_FAILED: Final = (OSError, http.client.HTTPException)


@dataclass(frozen=True, slots=True)
class Ask:
    """One request."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    safe: bool = True  # whether it may be tried again once it was sent
    upload: Callable[[], IO[bytes]] | None = None  # opens a file that is the body
    timeout: float | None = None


class Transport:
    """Connections to one server, shared between threads."""

    def __init__(
        self,
        address: str,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        tries: int = TRIES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise InvalidInput(f"location={address!r} is not the address of a server, e.g. http://127.0.0.1:7677.")
        if parts.username or parts.password:
            raise InvalidInput("The address of a server holds no password; pass key=…, or set RETENTIVE_KEY.")
        self.address = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._secure = parts.scheme == "https"
        self._host, self._port, self._below = parts.hostname, parts.port, parts.path.rstrip("/")
        self._key, self._timeout, self._tries, self._sleep = key, timeout, tries, sleep
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._tls = ssl.create_default_context() if self._secure else None

    def ask(self, asked: Ask) -> Any:
        """Ask, and return the answer's JSON; None where it has none. Problems are raised as the errors they were."""
        with self.stream(asked) as answer:
            raw = answer.read()
        return json.loads(raw) if raw else None

    @contextmanager
    def stream(self, asked: Ask) -> Iterator[http.client.HTTPResponse]:
        """Ask, and give the answer while it arrives."""
        connection, answer = self._answered(asked)
        whole = False
        try:
            yield answer
            whole = answer.isclosed()
        except _FAILED as error:
            raise self._unreachable(error) from error
        finally:
            self._give_back(connection, whole=whole and not answer.will_close)
            answer.close()

    def close(self) -> None:
        """Close every connection that is not in use."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _answered(self, asked: Ask) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Ask until there is an answer that is no reason to try again."""
        for attempt in range(self._tries):
            connection, fresh = self._taken(asked)
            sent = False
            try:
                self._send(connection, asked)
                sent = True
                answer = connection.getresponse()
            except _FAILED as error:
                connection.close()
                if not (asked.safe or not sent) or attempt + 1 == self._tries:
                    raise self._unreachable(error) from error
                self._sleep(0.0 if not fresh else pause_before(attempt))
                continue
            if answer.status < 300:
                return connection, answer
            error_ = self._error(connection, answer)
            retriable = answer.status in RETRIED and (asked.safe or answer.status == 429)
            if not retriable or attempt + 1 == self._tries:
                raise error_
            self._sleep(pause_before(attempt, answer.getheader("Retry-After")))
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _error(self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse) -> Exception:
        try:
            raw = answer.read()
            body = json.loads(raw) if raw else None
        except (ValueError, *_FAILED):
            body = None
        self._give_back(connection, whole=answer.isclosed() and not answer.will_close)
        return error_of(answer.status, body)

    def _send(self, connection: http.client.HTTPConnection, asked: Ask) -> None:
        headers = {"Accept": "application/json", "User-Agent": "retentive", **asked.headers}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        target = self._below + asked.path + (f"?{urlencode(asked.query, doseq=True)}" if asked.query else "")
        if asked.upload is not None:
            with asked.upload() as file:
                connection.request(asked.method, target, file, headers, encode_chunked=True)
            return
        body = None if asked.body is None else _encoded(asked.body)
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(asked.method, target, body, headers)

    def _taken(self, asked: Ask) -> tuple[http.client.HTTPConnection, bool]:
        """Return a connection, and whether it is a new one."""
        timeout = asked.timeout or self._timeout
        with self._lock:  # the other side closes kept connections when it likes: not for what may be sent but once
            kept = self._idle.pop() if self._idle and asked.safe else None
        if kept is not None:
            if kept.sock is not None:
                kept.sock.settimeout(timeout)
            return kept, kept.sock is None
        if self._tls is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls), True
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout), True

    def _give_back(self, connection: http.client.HTTPConnection, *, whole: bool) -> None:
        """Keep a connection whose answer was read to its end; close any other."""
        with self._lock:
            if whole and len(self._idle) < KEPT:
                self._idle.append(connection)
                return
        connection.close()

    def _unreachable(self, error: Exception) -> Unreachable:
        return Unreachable(
            f"The server at {self.address} did not answer ({type(error).__name__}: {error}). Is `retentive serve` "
            "running there, and is the address right?",
            address=self.address,
        )


def _encoded(body: Any) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"This cannot be sent as JSON: {error}.") from None


def segment(text: str) -> str:
    """Return one segment of a path: also what has slashes in it."""
    return quote(text, safe="")
