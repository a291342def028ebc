"""The OpenAPI document: written from the table of operations, so that it says what is checked and what is answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Final

from retentive.server.operations import HEADERS, JSON, LINES, Operation
from retentive.server.shapes import Schema
from retentive.wire.problems import MEDIA_TYPE, problem
from retentive.wire.values import schema_of

BYTES: Final = "application/octet-stream"
ABOUT: Final = (
    "Long-term memory for AI agents: what is worth bringing up now, and why. A space is one segment of the path, its "
    "own slashes written %2F. Moments are ISO 8601 with their zone. Errors are problem details (RFC 9457)."
)
PATH_PARAMETERS: Final[dict[str, tuple[str, str]]] = {
    "space": ("Whose memories; slashes as %2F.", "acme/alice"),
    "id": ("Its id.", "0f3a9c1e5b7d2a4c6e80"),
    "name": ("The policy's name.", "blend"),
}
TAGS: Final = {
    "memories": "Remember, fetch, change, forget.",
    "recall": "What is worth bringing up, and why.",
    "mind": "Conversations in.",
    "upkeep": "Maintenance and reflection.",
    "jobs": "The durable queue.",
    "review": "What denies or repeats what.",
    "policies": "How recalls rank.",
    "spaces": "Whole spaces: list, move, drop.",
    "server": "The server itself.",
}
PROBLEM: Final[Schema] = {
    "type": "object",
    "description": "What went wrong and what to do about it (RFC 9457).",
    "properties": {
        "type": {"type": "string", "description": "Of which sort it is."},
        "title": {"type": "string", "description": "The sort in words."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {"type": "string", "description": "What happened here, and the remedy."},
        "instance": {"type": "string", "description": "The request, as the log has it."},
        "error": {"type": "string", "description": "The class of the error in the Python package; may be empty."},
        "details": {"type": "object", "description": "The facts as data.", "additionalProperties": True},
    },
    "required": ["type", "title", "status", "detail", "instance", "error", "details"],
}
REFUSALS: Final[dict[int, str]] = {
    400: "The request cannot be read: its JSON, its path or its encoding.",
    401: "No key, or one that opens nothing.",
    403: "The key does not reach this space, or may not do this; or the page's origin was not let in.",
    404: "There is no such space, memory, recall or policy.",
    408: "The body did not arrive in time.",
    409: "The space holds vectors of another embedder.",
    412: "Somebody changed the memory since the version in If-Match.",
    413: "The body is larger than the server takes.",
    415: "The body is not JSON.",
    421: "The server does not answer to this name.",
    422: "A value was refused; the detail names it and says what would be accepted.",
    429: "The key asks too often; Retry-After says how long to wait.",
    501: "An optional part is not installed on the server.",
    502: "A model that the server uses did not answer.",
    503: "The server or the store is busy; try again after Retry-After.",
    504: "It takes too long; the work goes on.",
    507: "There is no room left under the store.",
}
_EVERY: Final = (400, 401, 403, 404, 409, 421, 422, 429, 501, 502, 503, 504)
_BODIES: Final = (408, 413, 415)


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the whole document."""
    shared: dict[str, Schema] = {"Problem": PROBLEM}
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, shared)
    paths.update(_own_paths())
    if "Memory" in shared:
        shared["Memory"]["properties"] |= {
            "version": {"type": "string", "description": "Its ETag: a digest of all but how it was read."},
            "retrievable": {"type": "boolean", "description": "Whether recall may return it, validity aside."},
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Retentive",
            "version": version("retentive"),
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": said} for name, said in TAGS.items()],
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "schemas": shared,
            "responses": {f"Problem{status}": _refusal(status) for status in REFUSALS},
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A key of `retentive keys create`; needed once any key was made.",
                }
            },
        },
    }


def _described(operation: Operation, shared: dict[str, Schema]) -> dict[str, Any]:
    right = f"Needs the right `{operation.right}`." if operation.right else "Any key may ask."
    said = " ".join(part for part in (operation.about, right) if part)
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": said,
        "tags": [operation.tag],
        "parameters": [
            *_path_parameters(operation.path),
            *_query_parameters(operation),
            *_header_parameters(operation),
        ],
        "responses": _responses(operation, shared),
    }
    if operation.body is not None:
        example = {"example": operation.example} if operation.example is not None else {}
        described["requestBody"] = {"required": True, "content": {JSON: {"schema": operation.body, **example}}}
    if operation.upload:
        schema = {"type": "string", "format": "binary", "description": "What export, or backup, gave."}
        described["requestBody"] = {"required": True, "content": {BYTES: {"schema": schema}, LINES: {"schema": schema}}}
    return described


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": said,
            "schema": {"type": "string", "minLength": 1, "maxLength": 1000},
            "example": example,
        }
        for name, (said, example) in PATH_PARAMETERS.items()
        if f"{{{name}}}" in path
    ]


def _query_parameters(operation: Operation) -> list[dict[str, Any]]:
    return [_query_parameter(name, schema) for name, schema in operation.query.items()]


def _query_parameter(name: str, schema: Schema) -> dict[str, Any]:
    plain = {key: value for key, value in schema.items() if key != "description"}
    parameter = {"name": name, "in": "query", "required": False, "description": schema["description"]}
    if schema.get("type") == "object":  # an object in a query is JSON in one parameter
        return {**parameter, "content": {JSON: {"schema": plain}}}
    return {**parameter, "schema": plain}


def _header_parameters(operation: Operation) -> list[dict[str, Any]]:
    headers: dict[str, str] = {}
    if operation.once:
        headers["Idempotency-Key"] = "A name of your own for this write: asked for again with it, it happens once."
    if operation.etag == "match":
        headers["If-Match"] = "The ETag of the memory as you saw it: 412 if somebody changed it since."
    if operation.etag == "give" and operation.method == "GET":
        headers["If-None-Match"] = "An ETag that you have: 304 if it is still this."
    return [
        {
            "name": name,
            "in": "header",
            "required": False,
            "description": said,
            "schema": HEADERS[name],
        }
        for name, said in headers.items()
    ]


def _responses(operation: Operation, shared: dict[str, Schema]) -> dict[str, Any]:
    found = {str(operation.status): _answer(operation, shared)}
    if operation.etag == "give" and operation.method == "GET":
        found["304"] = {"description": "It is still what you have."}
    statuses = [*_EVERY, *(_BODIES if operation.body or operation.upload else ())]
    statuses += [412] if operation.etag == "match" else []
    statuses += [507] if operation.method != "GET" else []
    for status in sorted(statuses):
        found[str(status)] = {"$ref": f"#/components/responses/Problem{status}"}
    return found


def _answer(operation: Operation, shared: dict[str, Schema]) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": operation.summary}
    if operation.etag:
        answer["headers"] = {"ETag": {"description": "The memory's version.", "schema": {"type": "string"}}}
    if operation.download:
        schema = {"type": "string", **({} if operation.download == LINES else {"format": "binary"})}
        answer["content"] = {operation.download: {"schema": {**schema, "description": operation.summary}}}
    elif operation.answers is not None:
        shown = operation.answer_example if operation.answer_example is not None else _examples().get(operation.name)
        example = {"example": shown} if shown is not None else {}
        answer["content"] = {JSON: {"schema": shape_of(operation.answers, shared), **example}}
    if operation.upload:
        answer["content"][LINES] = {"schema": {"type": "string", "description": "Progress, then the report, as lines."}}
    return answer


@cache
def _examples() -> dict[str, Any]:
    """Return answers as a server gave them: `scripts/openapi_examples.py` writes them down."""
    found: dict[str, Any] = json.loads(files("retentive.server").joinpath("examples.json").read_text("utf-8"))
    return found


def shape_of(answers: Any, shared: dict[str, Schema]) -> Schema:
    """Return the schema of what an operation answers: a type's, or of an object with fields of such types."""
    if isinstance(answers, Mapping) and "type" in answers:
        return dict(answers)
    if isinstance(answers, Mapping):
        fields = {name: shape_of(part, shared) for name, part in answers.items()}
        return {"type": "object", "properties": fields, "required": list(fields)}
    if isinstance(answers, list):
        return {"type": "array", "items": shape_of(answers[0], shared)}
    return schema_of(answers, shared)


def _refusal(status: int) -> dict[str, Any]:
    example = problem(status, "What happened, and what to do.", instance="8f14e45fceea467f9a1b2c3d4e5f6a7b")
    content = {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}
    return {"description": REFUSALS[status], "content": {MEDIA_TYPE: content}}


def _own_paths() -> dict[str, Any]:
    """Describe what is asked by machines that keep watch."""
    status = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}

    def plain(name: str, summary: str, media: str, schema: Schema, **more: Any) -> dict[str, Any]:
        answers = {"200": {"description": summary, "content": {media: {"schema": schema}}}}
        answers["421"] = {"$ref": "#/components/responses/Problem421"}
        for code in more.pop("refusals", ()):
            answers[str(code)] = {"$ref": f"#/components/responses/Problem{code}"}
        return {"get": {"operationId": name, "summary": summary, "tags": ["server"], "responses": answers, **more}}

    ready = plain("ready", "Whether it is ready to serve", JSON, status, security=[])
    ready["get"]["responses"]["503"] = {"description": "Not ready.", "content": {JSON: {"schema": status}}}
    figures = {"type": "string", "description": "Prometheus' text format."}
    return {
        "/health/live": plain("live", "Whether it is alive", JSON, status, security=[]),
        "/health/ready": ready,
        "/metrics": plain("metrics", "Its figures", "text/plain", figures, refusals=(401, 403, 429)),
    }
