"""Where model files live on this machine, and which are there."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
    home = home or Path.home()
    if platform == "win32":
        base = Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "retentive" / "models"


def model_path(name: str, folder: Path | None) -> Path | None:
    """Return the folder of an installed model, or nothing; by default look where the platform keeps user data."""
    path = (folder or default_models_folder({})) / name
    return path if (path / FACTS).is_file() else None


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
