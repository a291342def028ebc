"""What is installed: typed, licensed, complete, light, and lazy."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import Distribution, distribution
from importlib.resources import files
from pathlib import PurePosixPath

import pytest

HEAVY = ("numpy", "apsw", "rich", "click", "dateutil", "httpx", "onnxruntime", "asyncio", "mcp", "pydantic", "uvicorn")
WEIGHTS = {".npy", ".npz", ".safetensors", ".onnx", ".bin", ".gguf", ".pt"}
LARGEST = 200_000  # bytes of any one file; a table of weights has millions


@pytest.fixture
def wheel() -> Distribution:
    """Return the installed wheel; an editable install has only a pointer to the tree."""
    found = distribution("retentive")
    if not any(str(file).startswith("retentive/") for file in found.files or ()):
        pytest.skip("installed editable; `make wheel-test` runs this against the wheel")
    return found


def names(installed: Distribution) -> set[str]:
    """Return the files of a distribution but compiled ones."""
    return {str(file) for file in installed.files or () if "__pycache__" not in str(file)}


def loaded_by(statement: str) -> set[str]:
    """Return which heavy packages a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_import_is_lazy() -> None:
    """`import retentive` loads none of the heavy packages."""
    assert loaded_by("import retentive") == set()


def test_the_command_tree_is_lazy() -> None:
    """The root of the command line loads click and nothing else."""
    assert loaded_by("import retentive.cli.main") <= {"click"}


def test_public_names_resolve() -> None:
    """Every exported name is there, and a wrong one says what there is."""
    import retentive

    assert [name for name in retentive.__all__ if getattr(retentive, name, None) is None] == []
    with pytest.raises(AttributeError, match="it has"):
        _ = retentive.Retentiv


def test_types_are_shipped() -> None:
    """Type checkers read our annotations."""
    assert files("retentive").joinpath("py.typed").is_file()


def test_the_licence_is_shipped(wheel: Distribution) -> None:
    """Apache-2.0, as metadata and as a file."""
    assert wheel.metadata["License-Expression"] == "Apache-2.0"
    assert any(PurePosixPath(name).name == "LICENSE" for name in names(wheel))


def test_statements_are_shipped(wheel: Distribution) -> None:
    """Schema, queries and migrations are in the wheel."""
    shipped = {PurePosixPath(name).name for name in names(wheel) if name.endswith(".sql")}
    assert {"schema.sql", "queries.sql"} <= shipped
    assert any("/migrations/" in name for name in names(wheel))


def test_no_weights_are_shipped(wheel: Distribution) -> None:
    """The code's wheel stays small: weights have wheels of their own."""
    assert [name for name in names(wheel) if PurePosixPath(name).suffix in WEIGHTS] == []
    assert {str(file): file.size for file in wheel.files or () if (file.size or 0) > LARGEST} == {}


def test_nothing_else_is_shipped(wheel: Distribution) -> None:
    """The wheel holds the package, its metadata and its script."""
    tops = {PurePosixPath(name).parts[0] for name in names(wheel) if not name.startswith("..")}
    assert {top for top in tops if top != "retentive" and not top.endswith(".dist-info")} == set()
