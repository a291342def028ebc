"""The builder of the data wheel writes the same valid wheel each time."""

import base64
import csv
import importlib.util
import io
import runpy
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

SCRIPT = Path(__file__).parents[3] / "models" / "potion" / "build.py"


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The builder as a module."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("build_potion", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with two small files."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "vectors.npy").write_bytes(bytes(range(256)))
    (folder / "model.json").write_text("{}")
    return folder


def test_the_wheel_has_the_same_bytes_each_time(build: ModuleType, data: Path, tmp_path: Path) -> None:
    """Times, order and compression do not depend on the machine."""
    first = build.write_wheel(tmp_path / "one", build.members(data))
    second = build.write_wheel(tmp_path / "two", build.members(data))
    assert first.read_bytes() == second.read_bytes()


def test_the_record_lists_every_member_with_its_digest(build: ModuleType, data: Path, tmp_path: Path) -> None:
    """As installers verify it."""
    with ZipFile(build.write_wheel(tmp_path, build.members(data))) as wheel:
        record = f"{build.INFO}/RECORD"
        rows = {name: digest for name, digest, _ in csv.reader(io.StringIO(wheel.read(record).decode()))}
        assert set(rows) == set(wheel.namelist())
        for name in set(rows) - {record}:
            digest = base64.urlsafe_b64encode(sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
            assert rows[name] == f"sha256={digest}"


def test_the_module_in_the_wheel_tells_its_folder(build: ModuleType, data: Path, tmp_path: Path) -> None:
    """Path, version and licence are all the code there is."""
    with ZipFile(build.write_wheel(tmp_path, build.members(data))) as wheel:
        wheel.extractall(tmp_path / "site")
    names = runpy.run_path(str(tmp_path / "site" / "retentive_potion" / "__init__.py"))
    assert (names["path"] / "model.json").is_file()
    assert (names["__version__"], names["licence"]) == (build.VERSION, "MIT")


def test_the_licence_travels_with_the_weights(build: ModuleType, data: Path) -> None:
    """MIT asks for it."""
    assert b"Copyright (c) MinishLab" in build.members(data)[f"{build.INFO}/licenses/LICENCE.txt"]
