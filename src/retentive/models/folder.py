"""Where model files live on this machine, and which are there."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from retentive.config_values import user_data_folder
from retentive.errors import EmbedderFailed, MissingExtra

VARIABLE = "RETENTIVE_MODELS"
FACTS = "model.json"
"""Written last: a model folder that has it is complete."""


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model found in a models folder."""

    name: str
    path: Path
    size: int
    """Bytes on disk."""
    fingerprint: str


def default_models_folder(env: Mapping[str, str], *, platform: str = sys.platform, home: Path | None = None) -> Path:
    """Return `RETENTIVE_MODELS`, else the platform's folder for user data; the caller passes the environment in."""
    if chosen := env.get(VARIABLE):
        return Path(chosen).expanduser()
    return user_data_folder(env, home=home or Path.home(), platform=platform) / "models"


def model_path(name: str, folder: Path | None) -> Path | None:
    """Return the folder of an installed model, or nothing; by default look where the platform keeps user data."""
    path = (folder or default_models_folder({})) / name
    return path if (path / FACTS).is_file() else None


def require_model(name: str, folder: Path | None) -> Path:
    """Return the folder of an installed model, or say how to install it."""
    path = model_path(name, folder)
    if path is None:
        raise MissingExtra(
            f"The model {name!r} is not installed. Run `retentive models fetch {name}`.", model=name, folder=folder
        )
    return path


def installed_models(folder: Path) -> list[InstalledModel]:
    """List the complete models of a folder by name; one that does not exist holds none."""
    if not folder.is_dir():
        return []
    found = (_describe(path) for path in sorted(folder.iterdir()) if not path.name.startswith("."))
    return [model for model in found if model is not None]


def _describe(path: Path) -> InstalledModel | None:
    try:
        facts = json.loads((path / FACTS).read_text("utf-8"))
        size = sum(part.stat().st_size for part in path.iterdir())
        return InstalledModel(path.name, path, size, str(facts["fingerprint"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_fingerprint(path: Path, name: str) -> str:
    """Return the digest of a model's weights from its `model.json`, as it was computed when the files were verified."""
    try:
        return str(json.loads((path / FACTS).read_text("utf-8"))["fingerprint"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderFailed(
            f"{str(path)!r} does not hold the model {name!r} ({error!r}). Run `retentive models fetch {name}`.",
            folder=str(path),
            model=name,
        ) from error
