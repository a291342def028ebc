"""The pages and where they are served: at the root, to everybody; what they show they ask for with a key."""

from __future__ import annotations

from pathlib import Path

from starlette.staticfiles import StaticFiles

from retentive.inspector.board import board
from retentive.server.app import Mounted
from retentive.server.service import Service

PATH = "/inspector"


def inspector_mounts(service: Service, reports: Path | None = None) -> list[Mounted]:
    """Return what serves the inspector beside a server's own interface."""
    pages = StaticFiles(packages=[("retentive.inspector", "static")], html=True)
    return [Mounted(PATH, board(service, reports)), Mounted("/", pages, public=True)]
