"""The written reference says what the program does."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).parents[3]
SCRIPT = REPOSITORY / "scripts" / "cli_reference.py"


@pytest.fixture
def reference() -> ModuleType:
    if not SCRIPT.is_file():
        pytest.skip("the scripts are in the repository, not in the package")
    spec = importlib.util.spec_from_file_location("cli_reference", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_current(reference: ModuleType) -> None:
    """docs/cli.md is what scripts/cli_reference.py writes; run it after changing a command."""
    assert (REPOSITORY / "docs" / "cli.md").read_text("utf-8") == reference.reference()


def test_the_table_of_keys_is_current(reference: ModuleType) -> None:
    """docs/configuration.md lists every key."""
    page = (REPOSITORY / "docs" / "configuration.md").read_text("utf-8")
    assert page == reference.configuration(page)
    assert reference.keys_table() in page
