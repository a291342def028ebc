"""Test the wheel instead of the source tree: `python scripts/wheel_test.py [INTERPRETER ...]`.

The wheel is built from the sdist, which proves the sdist complete. For every interpreter a fresh environment is made
outside this tree, and the suite runs there beside a copy of everything but `src`. The last interpreter named runs the
whole suite, the ones before it the fast part; without names the one that runs this script is taken.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAST = ("tests/unit", "tests/contract", "tests/packaging")
OF_THE_TREE = ("tests/architecture", "tests/docs")  # they read the sources; the tree's own environment runs them


STUB = "tests/unit/facade/test_asynchronous.py::test_the_stub_is_current"  # the same: it compares two sources


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    """Run a command and end everything if it fails."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=env, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def build(folder: Path) -> list[Path]:
    """Build the wheel, and take the data wheel that the Makefile built."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    data = sorted((ROOT / "models/potion/dist").glob("*.whl"))
    if not data:
        sys.exit("No model data wheel in models/potion/dist; run this through `make wheel-test`.")
    return [*folder.glob("*.whl"), data[-1]]


def lay_out(folder: Path) -> None:
    """Copy every tracked file but the package's source."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in names.split("\0"):
        if name and not name.startswith("src/") and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def install(interpreter: str, folder: Path, wheels: list[Path], tree: Path) -> Path:
    """Make an environment with the wheels and what the suite needs; return its Python."""
    run(interpreter, "-m", "venv", folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = (python, "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq", "install")
    run(*pip, "--upgrade", "pip>=25.1")
    run(*pip, *wheels, "--group", "test", cwd=tree)
    return python


def test(python: Path, tree: Path, *, whole: bool) -> bool:
    """Run the suite there, after making sure that it is the wheel that gets tested."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "RETENTIVE_"))}
    where = "import retentive; print('testing', retentive.__version__, 'at', retentive.__file__, flush=True)"
    run(python, "-c", f"{where}; assert 'site-packages' in retentive.__file__", cwd=tree, env=env)
    chosen = ["tests", *(f"--ignore={name}" for name in OF_THE_TREE)] if whole else existing(tree)
    jobs = os.environ.get("JOBS") or str(os.cpu_count() or 1)
    command = [str(python), "-m", "pytest", "-q", "-n", jobs, "--deselect", STUB, *chosen]
    return subprocess.run(command, cwd=tree, env=env, check=False).returncode == 0


def existing(tree: Path) -> list[str]:
    """Return the folders of the fast part that are there."""
    return [name for name in FAST if (tree / name).is_dir()]


def main() -> int:
    interpreters = sys.argv[1:] or [sys.executable]
    failed = []
    with tempfile.TemporaryDirectory(prefix="retentive-wheel-") as scratch:
        wheels = build(Path(scratch, "dist"))
        tree = Path(scratch, "tree")
        tree.mkdir()
        lay_out(tree)
        for i, interpreter in enumerate(interpreters):
            whole = i == len(interpreters) - 1
            part = "the whole suite" if whole else "the fast part"
            print(f"--- {time.strftime('%H:%M:%S')} the installed wheel under {interpreter}: {part}", flush=True)
            if whole and failed:
                print(f"--- already FAILED under {', '.join(failed)}", flush=True)
            if not test(install(interpreter, Path(scratch, f"env{i}"), wheels, tree), tree, whole=whole):
                failed.append(interpreter)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
