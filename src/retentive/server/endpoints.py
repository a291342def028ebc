"""From a request to an operation and back: reading, checking, handing over to a thread, writing.

The event loop only moves bytes. Parsing, checking, the work itself and writing JSON happen in a thread.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from retentive.errors import Forbidden, InvalidInput, RetentiveError, unknown_name
from retentive.paths import space_path
from retentive.server.access import Grant, grant_of
from retentive.server.bodies import read_body, received_file, sent_file
from retentive.server.guard import AUDIT, REQUEST_ID
from retentive.server.logs import REQUESTS
from retentive.server.operations import HEADERS, JSON, LINES, Answer, Call, Operation
from retentive.server.refusals import Refusal, encoded, refused
from retentive.server.service import Service
from retentive.server.shapes import checked, from_query, parsed
from retentive.server.tracing import traced

RAW: Final = "retentive.raw_path"
"""Where the path stands in a scope as it was sent: ``acme%2Falice`` is one segment."""


@dataclass(slots=True)
class Timing:
    """When each stage of a request ended."""

    began: float = field(default_factory=time.perf_counter)
    stages: dict[str, float] = field(default_factory=dict)
    _last: float = field(init=False)

    def __post_init__(self) -> None:
        self._last = self.began

    def mark(self, stage: str) -> None:
        """End a stage."""
        now = time.perf_counter()
        self.stages[stage] = now - self._last
        self._last = now


class Endpoint:
    """Answers every request for one path."""

    def __init__(self, service: Service, operations: Mapping[str, Operation]) -> None:
        self._service = service
        self._operations = dict(operations)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request, timing = Request(scope, receive), Timing()
        method = "GET" if request.method == "HEAD" else request.method
        operation = self._operations.get(method)
        response = await self._response(operation, request, timing)
        await response(scope, receive, send)
        if operation is not None:
            self._note(operation, request, response.status_code, timing)

    async def _response(self, operation: Operation | None, request: Request, timing: Timing) -> Response:
        request_id = request.scope[REQUEST_ID]
        try:
            return await self._answered(self._checked(operation, request), request, timing)
        except ClientDisconnect:
            return Response(status_code=400)
        except RetentiveError as error:
            self._note_denial(error, request)
            return refused(error, request_id)
        except Exception:  # noqa: BLE001 -- the server's edge: whatever broke, the next request is served
            REQUESTS.exception("failed", extra={"facts": {"request": request_id}})
            return refused(_broken(request_id), request_id)

    def _checked(self, operation: Operation | None, request: Request) -> Operation:
        if operation is not None:
            return operation
        allowed = ", ".join(sorted({*self._operations, *({"HEAD"} if "GET" in self._operations else ())}))
        raise Refusal(f"{request.method} is not possible here; {allowed} is.", status=405, headers={"Allow": allowed})

    async def _answered(self, operation: Operation, request: Request, timing: Timing) -> Response:
        grant = grant_of(request.scope)
        path = _path_of(request)
        _require(grant, operation, path)
        if operation.upload:
            return await self._uploaded(operation, request, grant, path, timing)
        raw = await read_body(request, self._service.settings) if operation.body else b""
        timing.mark("body")

        def work() -> tuple[Answer, bytes]:
            timing.mark("queue")
            call = self._call(operation, request, grant, path, body=_body_of(operation, request, raw))
            if self._service.settings.log_text:
                REQUESTS.info("asked", extra={"facts": {"operation": operation.name, **_words(call.body)}})
            timing.mark("check")
            with traced(operation.name, request.headers):
                answer = self._done(operation, call)
            timing.mark("work")
            written = encoded(answer.data) if answer.data is not None else b""
            timing.mark("encode")
            return answer, written

        answer, written = await self._service.pool(operation.lane).run(work, turn=_turn(operation, request, path))
        self._count(operation, answer)
        if answer.file is not None:
            return sent_file(answer.file, answer.headers, operation.download)
        return Response(written, answer.status, dict(answer.headers), JSON if written else None)

    def _call(self, operation: Operation, request: Request, grant: Grant, path: Mapping[str, str], **more: Any) -> Call:
        return Call(
            home=self._service.home,
            grant=grant,
            settings=self._service.settings,
            path=path,
            query=_query_of(operation, request),
            **_conditions(operation, request),
            **more,
        )

    async def _uploaded(
        self, operation: Operation, request: Request, grant: Grant, path: Mapping[str, str], timing: Timing
    ) -> Response:
        """Take a file in, then work on it; who asks for lines is told how far it is."""
        upload = await received_file(request, self._service.settings)
        timing.mark("body")
        progress = Progress() if LINES in request.headers.get("accept", "") else None

        def work() -> Answer:
            try:
                timing.mark("queue")
                call = self._call(operation, request, grant, path, upload=upload, progress=progress and progress.tell)
                with traced(operation.name, request.headers):
                    return self._done(operation, call)
            finally:
                upload.unlink(missing_ok=True)
                timing.mark("work")

        pool, turn = self._service.pool(operation.lane), _turn(operation, request, path)
        if progress is None:
            answer = await pool.run(work, turn=turn)
            return Response(encoded(answer.data), headers=dict(answer.headers), media_type=JSON)
        task = asyncio.ensure_future(pool.run(work, turn=turn))
        lines = _lines(task, progress, request.scope[REQUEST_ID])
        return StreamingResponse(lines, media_type=LINES)

    def _done(self, operation: Operation, call: Call) -> Answer:
        """Do what is asked, and say so to whoever listens."""
        answer = self._service.deeds.answer(operation, call)
        if operation.writes and operation.in_space:
            self._service.changed(call.path["space"])
        return answer

    def _count(self, operation: Operation, answer: Answer) -> None:
        if operation.etag == "give" and operation.method == "GET":
            self._service.metrics.caches.labels("etag", "yes" if answer.status == 304 else "no").inc()
        if operation.name == "recall" and isinstance(answer.data, dict):
            self._service.metrics.hits.observe(len(answer.data["hits"]))

    def _note(self, operation: Operation, request: Request, status: int, timing: Timing) -> None:
        metrics, name = self._service.metrics, operation.name
        seconds = time.perf_counter() - timing.began
        metrics.requests.labels(name, str(status)).inc()
        metrics.seconds.labels(name).observe(seconds)
        for stage, taken in timing.stages.items():
            metrics.stages.labels(name, stage).observe(taken)
        if REQUESTS.isEnabledFor(logging.INFO):
            grant = request.scope.get("retentive.grant")
            REQUESTS.info(
                "request",
                extra={
                    "facts": {
                        "operation": name,
                        "status": status,
                        "ms": round(seconds * 1000, 3),
                        "key": grant.key_id if isinstance(grant, Grant) else "",
                        "request": request.scope[REQUEST_ID],
                    }
                },
            )

    def _note_denial(self, error: RetentiveError, request: Request) -> None:
        if not isinstance(error, Forbidden):
            return
        reason = str(error.details.get("reason", "other"))
        self._service.metrics.denials.labels(reason).inc()
        facts = {"reason": reason, "method": request.method, "request": request.scope[REQUEST_ID]}
        AUDIT.warning("denied", extra={"facts": {**facts, "key": grant_of(request.scope).key_id}})


def _words(body: Any) -> dict[str, Any]:
    """Return what was asked in words, for operators who want it in the log."""
    return {name: body[name] for name in ("cue", "utterance", "text") if isinstance(body, dict) and body.get(name)}


def _broken(request_id: str) -> RetentiveError:
    return RetentiveError(f"Something went wrong here; the log has it under {request_id}.")


class Progress:
    """How far some work is: told by a thread, asked by the event loop."""

    def __init__(self) -> None:
        self.latest: tuple[int, int] | None = None

    def tell(self, done: int, total: int) -> None:
        """Say how far it is."""
        self.latest = (done, total)


async def _lines(task: asyncio.Future[Answer], progress: Progress, request_id: str) -> AsyncIterator[bytes]:
    """Yield progress as lines while some work goes on, then what came of it."""
    told: tuple[int, int] | None = None
    while not task.done():
        await asyncio.wait([task], timeout=0.25)
        if progress.latest is not None and progress.latest != told:
            told = progress.latest
            yield encoded({"done": told[0], "total": told[1]}) + b"\n"
    try:
        yield encoded({"result": (await task).data}) + b"\n"
    except RetentiveError as error:
        yield bytes(refused(error, request_id).body) + b"\n"


def _path_of(request: Request) -> dict[str, str]:
    """Return the path's parameters as they were meant; a space's segments are parted by ``%2F``."""
    found = {name: _decoded(str(value)) for name, value in request.path_params.items()}
    if "space" in found:
        found["space"] = space_path(found["space"])
    return found


def _decoded(segment: str) -> str:
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"The path has {segment!r}, which is not UTF-8.", malformed=True) from None


def _require(grant: Grant, operation: Operation, path: Mapping[str, str]) -> None:
    if operation.right:
        grant.require(operation.right, path.get("space"))


def _turn(operation: Operation, request: Request, path: Mapping[str, str]) -> tuple[str, str] | None:
    """Return what one request at a time may do: work under a key, which another under the same key has to wait for."""
    key = request.headers.get("Idempotency-Key")
    return (path.get("space", ""), key) if operation.noted and key is not None else None


def _query_of(operation: Operation, request: Request) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        found.setdefault(name, []).append(value)
    for name in found:
        if name not in operation.query:
            raise unknown_name("parameter", name, operation.query)
    return {name: from_query(operation.query[name], values, name) for name, values in found.items()}


def _body_of(operation: Operation, request: Request, raw: bytes) -> Any:
    if operation.body is None:
        return None
    kind = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if raw and kind != JSON:
        raise Refusal(f"The body is {kind!r}; send {JSON}.", status=415)
    return checked(operation.body, parsed(raw, "The body") if raw else {}, "body")


def _conditions(operation: Operation, request: Request) -> dict[str, Any]:
    """Return what the headers ask for beside the request itself."""
    found: dict[str, Any] = {}
    if operation.once and (once := _header(request, "Idempotency-Key")) is not None:
        found["once"] = once
    if operation.etag == "match" and (match := _header(request, "If-Match")) is not None:
        found["if_match"] = _tags(match)
    if operation.etag == "give" and (match := _header(request, "If-None-Match")) is not None:
        found["if_none_match"] = _tags(match)
    return found


def _header(request: Request, name: str) -> str | None:
    given = request.headers.get(name)
    return given if given is None else str(checked(HEADERS[name], given, name))


def _tags(header: str) -> tuple[str, ...]:
    return tuple(part.strip().removeprefix("W/").strip('"') for part in header.split(","))
