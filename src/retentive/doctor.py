"""What is wrong with an installation, a store and its spaces, each with the remedy.

A finding is data. Nothing is mended unless that was asked for, and nothing stops at the first thing that is wrong: an
examination that fails is itself a finding.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

from retentive.embedders.protocol import Embedder
from retentive.embedders.protocol import identity as embedder_identity
from retentive.errors import RetentiveError
from retentive.indexing import EMBEDDER_SETTING, identity_of
from retentive.maintain.inspect import complete, inspect
from retentive.models.catalogue import MODELS
from retentive.models.folder import FACTS, InstalledModel, installed_models
from retentive.stores.protocol import CheckedStore, MendedStore, SpaceStore, Store
from retentive.types import Gate
from retentive.weighing.calibrate import collapse_of
from retentive.writing import Author

MEND: Final = "Run `retentive doctor --repair`."
RESTORE: Final = "Restore it from a backup or an export, or export what can be read and import that into a new space."
Level = Literal["ok", "warning", "error"]

OLDEST_PYTHON: Final = (3, 11)
OLDEST_SQLITE: Final = (3, 44)
BUNDLED: Final = "retentive_potion"
"""The data wheel with the default embedder's table."""
LITTLE_SPACE: Final = 256 << 20  # bytes on the disk under the store
CLOCK_SLACK: Final = timedelta(minutes=5)
"""How far ahead of our clock a memory may lie before we say so."""
JUDGED: Final = 1_000  # latest memories whose importance is looked at
NOT_BEFORE: Final = datetime(2025, 1, 1, tzinfo=UTC)
"""A clock that shows an earlier time than this code was written is wrong."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is, where, and what to do about it."""

    level: Level
    what: str
    remedy: str = ""
    space: str | None = None


def examine(
    store: Store | None,
    embedder: Embedder | None,
    *,
    folder: Path | None = None,
    models: Path | None = None,
    spaces: Sequence[str] | None = None,
    now: datetime | None = None,
    repair: bool = False,
) -> list[Finding]:
    """Examine the interpreter always; a store, its folder, an embedder and fetched models where they are given.

    ``spaces`` narrows the examination to some spaces of the store. ``repair`` mends what is safe, and says what it did.
    """
    now = now or datetime.now(UTC)
    found = [*_python(), *_sqlite(), *_clock(now)]
    found += _folder(folder) if folder else []
    found += _models(models) if models else []
    found += _embedder(embedder) if embedder else []
    found += _store(store, _Round(store, embedder, now, repair=repair), spaces) if store else []
    return found


def failed(findings: Sequence[Finding]) -> bool:
    """Whether something is wrong, rather than merely worth knowing."""
    return any(finding.level == "error" for finding in findings)


def _python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield Finding("error", f"Python {version} is too old.", "Use Python 3.11 or newer.")
    else:
        yield Finding("ok", f"Python {version}.")


def _sqlite() -> Iterator[Finding]:
    """Look at the SQLite that is used (apsw's own, not the interpreter's)."""
    try:
        import apsw  # noqa: PLC0415 -- a broken installation is a finding, not a crash
    except ImportError as error:
        yield Finding("error", f"SQLite cannot be loaded: {error}.", "Reinstall: pip install --force-reinstall apsw.")
        return
    version = apsw.sqlite_lib_version()
    if tuple(map(int, version.split(".")[:2])) < OLDEST_SQLITE:
        yield Finding("error", f"SQLite {version} is too old.", "Upgrade it: pip install --upgrade apsw.")
        return
    yield Finding("ok", f"SQLite {version}.")


def _clock(now: datetime) -> Iterator[Finding]:
    if now < NOT_BEFORE:
        yield Finding("error", f"The clock shows {now:%Y-%m-%d %H:%M} UTC.", "Set it: every age is measured from it.")
    else:
        yield Finding("ok", f"The clock shows {now:%Y-%m-%d %H:%M} UTC.")


def _folder(folder: Path) -> Iterator[Finding]:
    """Look at the store's folder: whether it can be written, and how much room there is."""
    if not folder.exists():
        yield Finding("warning", f"The store {str(folder)!r} does not exist yet.", "The first `remember` creates it.")
        return
    if not folder.is_dir():
        yield Finding("error", f"The store {str(folder)!r} is a file.", "Give a folder: --store or RETENTIVE_STORE.")
        return
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
        yield Finding("ok", f"The store {str(folder)!r} can be written.")
    except OSError as error:
        remedy = "Give this user the right to write there, or use another --store."
        yield Finding("error", f"The store {str(folder)!r} cannot be written: {error.strerror}.", remedy)
    free = shutil.disk_usage(folder).free
    if free < LITTLE_SPACE:
        yield Finding("warning", f"{free >> 20} MiB are free on the disk of the store.", "Make room.")


def bundled_model() -> InstalledModel | None:
    """Return the default embedder's model as it was installed with the package, without importing it."""
    spec = find_spec(BUNDLED)
    if spec is None or spec.origin is None:
        return None
    found = (model for model in installed_models(Path(spec.origin).parent) if model.path.name == "data")
    return next((replace(model, name="potion") for model in found), None)


def _models(folder: Path) -> Iterator[Finding]:
    """Look at the models, bundled and fetched: each complete, and its files as they were."""
    here = installed_models(folder)
    bundled = bundled_model()
    for model in ([bundled] if bundled else []) + here:
        yield _model(model)
    complete = {model.name for model in here}
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.is_dir() and not path.name.startswith(".") and path.name not in complete:
            remedy = f"Fetch it again: retentive models fetch {path.name}."
            yield Finding(
                "error", f"The model in {str(path)!r} is not complete ({FACTS} is missing or unreadable).", remedy
            )


def _model(model: InstalledModel) -> Finding:
    from retentive.models.static_table import folder_digest  # noqa: PLC0415 -- numpy, only where a model is installed

    if model.name not in MODELS:
        return Finding("ok", f"Model {model.name!r} in {str(model.path)!r} is not one of ours; it was not examined.")
    known = MODELS[model.name]
    names = ("vectors.npy", "scales.npy", "vocab.txt") if known.quantised else tuple(file.name for file in known.files)
    try:
        right = folder_digest(model.path, names) == model.fingerprint
    except OSError:
        right = False
    if right:
        return Finding("ok", f"Model {model.name!r} is whole.")
    remedy = f"Fetch it again: retentive models fetch {model.name}."
    return Finding("error", f"Model {model.name!r} in {str(model.path)!r} differs from what was fetched.", remedy)


def _embedder(embedder: Embedder) -> Iterator[Finding]:
    try:
        shape = embedder.embed(["a probe"]).shape
    except Exception as error:  # noqa: BLE001 -- whatever an embedder raises is what we were asked to find
        yield Finding("error", f"Embedder {embedder.id!r} fails: {error}", "Mend it, or choose another: --embedder.")
        return
    if shape != (1, embedder.dimension):
        what = f"Embedder {embedder.id!r} answers with shape {shape}, not (1, {embedder.dimension})."
        yield Finding("error", what, "Correct its embed() or its dimension.")
    else:
        yield Finding("ok", f"Embedder {embedder.id!r} answers with {embedder.dimension} dimensions.")


@dataclass(frozen=True, slots=True)
class _Round:
    """One examination of a store."""

    store: Store
    embedder: Embedder | None
    now: datetime
    repair: bool


def _store(store: Store, round_: _Round, spaces: Sequence[str] | None) -> Iterator[Finding]:
    try:
        known = store.spaces()
    except RetentiveError as error:
        yield Finding("error", f"The store cannot be read: {error.message}", "See the message.")
        return
    chosen = known if spaces is None else [path for path in known if path in spaces]
    if not chosen:
        yield Finding("ok", "The store holds no space yet.")
    yield from _leftovers(store, repair=round_.repair) if isinstance(store, MendedStore) else ()
    for path in chosen:
        yield from _space(path, round_)


def _leftovers(store: MendedStore, *, repair: bool) -> Iterator[Finding]:
    """Look for what interrupted drops and restores left: it may hold what was meant to be gone."""
    done = store.tidy() if repair else []
    yield from (Finding("ok", f"Repaired: {sentence}") for sentence in done)
    for name in store.leftovers():
        yield Finding("warning", f"{name} is left of an interrupted drop or restore.", "retentive doctor --repair")


def _space(path: str, round_: _Round) -> Iterator[Finding]:
    """Look at one space; the first failure to read it ends its examination, not that of the others."""
    store = round_.store
    try:
        wrong = store.check(path) if isinstance(store, CheckedStore) else []
        if wrong and round_.repair and isinstance(store, MendedStore):
            yield from _mended(store, path, round_)
            wrong = store.check(path) if isinstance(store, CheckedStore) else []
        for sentence in dict.fromkeys(wrong):
            yield Finding("error", sentence, RESTORE if round_.repair else f"{MEND} {RESTORE}", path)
        if not wrong:
            yield from _contents(store.open(path, create=False), round_)
    except RetentiveError as error:
        yield Finding("error", f"It cannot be read: {error.message}", RESTORE, path)


def _mended(store: MendedStore, path: str, round_: _Round) -> Iterator[Finding]:
    """Put right what follows from the rows; vectors only by the embedder that made the others."""
    yield from (Finding("ok", f"Repaired: {sentence}", space=path) for sentence in store.mend(path))
    lacking = store.incomplete(path)
    if not lacking:
        return
    space = round_.store.open(path, create=False)
    if round_.embedder is None or list(_identity(space, round_.embedder)):
        remedy = "Repair with the embedder that made the others: --embedder."
        yield Finding("warning", f"{len(lacking)} memories lack a vector or index terms.", remedy, path)
        return
    yield Finding("ok", f"Repaired: {complete(space, lacking, round_.embedder)}", space=path)


def _contents(space: SpaceStore, round_: _Round) -> Iterator[Finding]:
    now = round_.now
    count = space.count(Gate(true_at=now, hidden=True))
    found = [*_identity(space, round_.embedder), *_future(space, now), *_ratings(space, now), *_dead_jobs(space)]
    found += _troubles(space, round_)
    yield from found
    if not any(finding.level != "ok" for finding in found):
        yield Finding("ok", f"{count} memories, all well.", space=space.path)


def _troubles(space: SpaceStore, round_: _Round) -> Iterator[Finding]:
    """Look through what the space says of itself, and mend what can be mended."""
    for trouble in inspect(space, round_.now, Author(space.path, round_.now, "doctor")):
        if round_.repair and trouble.mend is not None:
            yield Finding("ok", f"Repaired: {trouble.mend()}", space=space.path)
        else:
            yield Finding("warning", trouble.what, trouble.remedy, space.path)


def _identity(space: SpaceStore, embedder: Embedder | None) -> Iterator[Finding]:
    stored = identity_of(space.setting(EMBEDDER_SETTING))
    if stored is None or embedder is None:
        return
    ours = embedder_identity(embedder)
    if (stored.id, stored.dimension, stored.fingerprint) == (ours.id, ours.dimension, ours.fingerprint):
        return
    version = " (another version of it)" if stored.id == ours.id else ""
    yield Finding(
        "error",
        f"Its vectors come from {stored.id!r}, and the embedder in use is {ours.id!r}{version}.",
        f"Use the embedder that made them (--embedder), or run: retentive maintain --re-embed --space {space.path}.",
        space.path,
    )


def _future(space: SpaceStore, now: datetime) -> Iterator[Finding]:
    """Look for memories said later than now: either they were dated wrongly or this clock is behind."""
    count = space.count(Gate(true_at=now, hidden=True, since=now + CLOCK_SLACK))
    if count:
        yield Finding(
            "warning",
            f"{count} memories are dated in the future.",
            "Set the clock, or correct their `at`; until then they count as brand-new.",
            space.path,
        )


def _dead_jobs(space: SpaceStore) -> Iterator[Finding]:
    """Look for work that failed for good: nobody is told otherwise."""
    dead = space.jobs(state="dead")
    if dead:
        kinds = ", ".join(sorted({job.kind for job in dead}))
        remedy = f"See why: retentive jobs list --state dead --space {space.path}; then retry or drop them."
        yield Finding("warning", f"{len(dead)} jobs failed for good ({kinds}).", remedy, space.path)


def _ratings(space: SpaceStore, now: datetime) -> Iterator[Finding]:
    """Look whether importance tells anything apart, among the latest memories."""
    latest = space.page(Gate(true_at=now), limit=JUDGED)
    collapse = collapse_of([memory.importance for memory in latest])
    if collapse is not None:
        remedy = f"Spread them by features: retentive rate --rater offline --space {space.path}."
        yield Finding("warning", f"{collapse.sentence}: it tells nothing apart.", remedy, space.path)


def counts(findings: Sequence[Finding]) -> Mapping[Level, int]:
    """Count findings by level."""
    levels: tuple[Level, ...] = ("ok", "warning", "error")
    return {level: sum(finding.level == level for finding in findings) for level in levels}
