"""A backup as one file that travels: a plain tar of its manifest and its spaces, and nothing else."""

from __future__ import annotations

import re
import shutil
import tarfile
from pathlib import Path
from typing import Final

from retentive.backup import MANIFEST
from retentive.errors import InvalidInput

TAR: Final = "application/x-tar"
_NAMES: Final = re.compile(rf"{re.escape(MANIFEST)}|\d{{6}}\.db")


def pack(folder: Path, target: Path) -> None:
    """Write a backup's folder into one file."""
    with tarfile.open(target, "w") as archive:
        for file in sorted(folder.iterdir()):
            archive.add(file, arcname=file.name, recursive=False)


def unpack(source: Path, folder: Path) -> None:
    """Read such a file into a new folder; a name, link or device that no backup has is refused, and nothing is left."""
    folder.mkdir(mode=0o700)
    try:
        with tarfile.open(source, "r:") as archive:
            for member in archive:
                _take(archive, member, folder)
    except (tarfile.TarError, EOFError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise InvalidInput(f"This is no backup as the server gives it: {error}.", malformed=True) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    held = archive.extractfile(member) if member.isreg() and _NAMES.fullmatch(member.name) else None
    if held is None:
        raise InvalidInput(f"{member.name!r} is no file of a backup.", malformed=True)
    if (folder / member.name).exists():
        raise InvalidInput(f"{member.name!r} is in there twice.", malformed=True)
    with held, (folder / member.name).open("xb") as file:
        shutil.copyfileobj(held, file)
