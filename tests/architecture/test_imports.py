"""Imports point inward only: the contracts in pyproject.toml hold, and cover every part of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_import_contracts_hold() -> None:
    """No import points outward; adapters know types, errors and their protocol."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_config_reads_the_environment() -> None:
    """The environment is read in one module at the edge, and by nothing that is imported without being asked."""
    readers = {
        str(path.relative_to(ROOT / "src/retentive"))
        for path in (ROOT / "src/retentive").rglob("*.py")
        if "os.environ" in (text := path.read_text("utf-8")) or "getenv(" in text
    }
    assert readers <= {"config.py"}
