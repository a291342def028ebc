"""A load generator that costs little itself: keep-alive connections over asyncio's streams, one request at a time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Request = Callable[[int], bytes]


@dataclass
class Tally:
    """What came of a run: seconds by request, and how many were not answered with 2xx."""

    seconds: list[float] = field(default_factory=list)
    errors: int = 0
    took: float = 0.0

    def figures(self) -> dict[str, float]:
        ordered = sorted(self.seconds)
        count = len(ordered)

        def at(share: float) -> float:
            return round(1000 * ordered[min(count - 1, int(share * count))], 3) if count else float("nan")

        return {
            "requests": count,
            "errors": self.errors,
            "per_second": round(count / self.took, 1) if self.took else 0.0,
            "p50_ms": at(0.5),
            "p95_ms": at(0.95),
            "p99_ms": at(0.99),
        }


def post(path: str, data: object) -> bytes:
    """Return a POST request as it goes over the wire."""
    body = json.dumps(data).encode()
    lines = (
        f"POST {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join((*lines, "\r\n")).encode() + body


def get(path: str) -> bytes:
    """Return a GET request as it goes over the wire."""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


async def load(port: int, connections: int, seconds: float, request: Request) -> Tally:
    """Ask over so many connections for so long."""
    tally = Tally()
    began = time.perf_counter()
    await asyncio.gather(*(_ask(port, one, began + seconds, request, tally) for one in range(connections)))
    tally.took = time.perf_counter() - began
    return tally


async def _ask(port: int, number: int, until: float, request: Request, tally: Tally) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    turn = number
    while time.perf_counter() < until:
        began = time.perf_counter()
        writer.write(request(turn))
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(_length(head))
        tally.seconds.append(time.perf_counter() - began)
        tally.errors += not head.startswith(b"HTTP/1.1 2")
        turn += 1_000_003  # another question for every turn of every connection
    writer.close()
    await writer.wait_closed()


def _length(head: bytes) -> int:
    at = head.lower().index(b"content-length:") + 15
    return int(head[at : head.index(b"\r\n", at)])
