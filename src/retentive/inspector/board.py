"""What the scoreboard asks: the behaviours, played here and now, and the figures of saved runs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from retentive.errors import RetentiveError
from retentive.server.access import grant_of
from retentive.server.guard import REQUEST_ID
from retentive.server.operations import JSON
from retentive.server.refusals import encoded, refused
from retentive.server.service import Service

MOST_RUNS = 100


def board(service: Service, reports: Path | None) -> Starlette:
    """Return the application; both questions are of the whole installation, so they take a key for all of it."""

    async def scenarios(request: Request) -> Response:
        return await _answered(request, service, "long", play)

    async def runs(request: Request) -> Response:
        return await _answered(request, service, "short", lambda: saved(reports))

    return Starlette(
        routes=[Route("/scenarios", scenarios, methods=["POST"]), Route("/reports", runs, methods=["GET"])]
    )


async def _answered(request: Request, service: Service, lane: str, work: Any) -> Response:
    try:
        grant_of(request.scope).require("read")
        return Response(encoded(await service.pool(lane).run(work)), media_type=JSON)
    except RetentiveError as error:
        return refused(error, request.scope[REQUEST_ID])


def play() -> dict[str, Any]:
    """Play every scenario in memory."""
    from retentive.evaluate.scenarios import RetentiveSubject, run_all, select  # noqa: PLC0415 - only who asks pays
    from retentive.policy import presets  # noqa: PLC0415

    verdicts = run_all(lambda setting: RetentiveSubject(setting, presets.get("retentive")), select(()))
    return {"scenarios": [verdict.as_dict() for verdict in verdicts]}


def saved(folder: Path | None) -> dict[str, Any]:
    """Return the overall figures of the runs in a folder, the latest first; what is no run is left out."""
    found = [] if folder is None else [run for file in sorted(folder.glob("*/results.json")) if (run := _run(file))]
    latest = sorted(found, key=lambda run: str(run["at"]), reverse=True)[:MOST_RUNS]
    return {"reports": latest, "folder": None if folder is None else str(folder)}


def _run(file: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(file.read_text("utf-8"))
        rows = [_row(row) for row in data["rows"] if row["category"] == "overall"]
        at = datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat()
        return {"name": file.parent.name, "at": at, "dataset": data["dataset"], "rows": rows}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _row(row: dict[str, Any]) -> dict[str, Any]:
    label = f"{row['policy']} +touch" if row["touched"] else row["policy"]
    return {"policy": label, "ndcg": row["ndcg@10"], "any5": row.get("any@5"), "mrr": row.get("mrr")}
