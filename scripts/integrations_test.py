"""Test the integrations with the real packages: `python scripts/integrations_test.py [NAME ...]`.

For each framework an environment of its own is made (kept in `--envs`, default `.venvs`, so that a second run takes
seconds), with the newest release, Retentive from this tree, the model data wheel and pytest; in it the tests
of that framework run, and the examples of docs/integrations.md that need it. Without names: all. "encryption" is one of
them: its build of SQLite takes the place of the plain one, and `.ci/run` names it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = "tests/frameworks"
EXAMPLES = f"{TESTS}/test_examples_of_docs.py"
BESIDE = ("pytest>=8.3", "hypothesis>=6.115")
SOURCES = (
    "https://files.pythonhosted.org/packages/ee/df/082bb3b2b6f775402046fcdf1e3adfa9cd462846145ab504a76abc52c657/"
    "langgraph_checkpoint_sqlite-3.1.2.tar.gz"
)
"""The published sources that hold LangGraph's own tests of a store."""
DIGEST = "4e3f376fa6f192d6ad2a1a4643b039986f1593552ef870e9e45281575de6fbf2"


@dataclass(frozen=True)
class Framework:
    """What to install, and which tests to run."""

    module: str  # that must be there: without it tests would be skipped and look well
    packages: tuple[str, ...]
    tests: tuple[str, ...]
    own_tests: bool = False
    instead: tuple[str, ...] = ()  # put over what is there: they bring modules of the same name as a package we need


FRAMEWORKS = {
    "langgraph": Framework(
        "langgraph.graph", ("langgraph>=1.0", "pytest-asyncio"), ("tests/integration/langgraph",), own_tests=True
    ),
    "langmem": Framework("langmem", ("langmem",), (f"{TESTS}/test_langmem_real.py",)),
    "mem0": Framework("mem0", ("mem0ai>=2.2",), (f"{TESTS}/test_mem0_real.py",)),
    "mem0-1": Framework("mem0", ("mem0ai>=1.0,<2",), (f"{TESTS}/test_mem0_real.py",)),
    "openai-agents": Framework("agents", ("openai-agents>=0.10",), (f"{TESTS}/test_openai_agents_real.py", EXAMPLES)),
    "pydantic-ai": Framework(
        "pydantic_ai", ("pydantic-ai-slim>=2.0",), (f"{TESTS}/test_pydantic_ai_real.py", EXAMPLES)
    ),
    "llama-index": Framework(
        "llama_index.core", ("llama-index-core>=0.14",), (f"{TESTS}/test_llama_index_real.py", EXAMPLES)
    ),
    "crewai": Framework("crewai", ("crewai>=1.10",), (f"{TESTS}/test_crewai_real.py", EXAMPLES)),
    "chroma": Framework("chromadb", ("chromadb>=1.5",), (f"{TESTS}/test_chroma_real.py", EXAMPLES)),
    "encryption": Framework(
        "apsw; apsw.mc_version",  # the plain build has none
        (),
        ("tests/integration/stores/test_sqlite_encrypted.py", "tests/integration/stores/test_sqlite_keys.py"),
        instead=("apsw-sqlite3mc>=3.53",),
    ),
    "lancedb": Framework("lancedb", ("lancedb>=0.30",), (f"{TESTS}/test_lancedb_real.py", EXAMPLES)),
}
QUIET = {
    "MEM0_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "ANONYMIZED_TELEMETRY": "False",
    "OTEL_SDK_DISABLED": "true",
    "DO_NOT_TRACK": "1",
}
"""What keeps frameworks from phoning home while they are tested."""


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> bool:
    """Run a command, and say whether it ended well."""
    return subprocess.run([str(part) for part in command], cwd=cwd, env=env, check=False).returncode == 0


def environment(name: str, framework: Framework, envs: Path) -> Path | None:
    """Return the Python of a framework's environment, made where it is missing or was made for other packages."""
    data = sorted((ROOT / "models/potion/dist").glob("*.whl"))
    wanted = [*framework.packages, *BESIDE, *(str(path) for path in data)]
    mark = hashlib.sha256(
        "\n".join([*wanted, *framework.instead, (ROOT / "pyproject.toml").read_text("utf-8")]).encode()
    ).hexdigest()
    folder = envs / name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if (folder / "made").is_file() and (folder / "made").read_text() == mark:
        return python
    made = make_environment(folder, python, ("--editable", ROOT, *wanted), framework.instead)
    if made:
        (folder / "made").write_text(mark)
    return python if made else None


def make_environment(folder: Path, python: Path, wanted: tuple[str | Path, ...], instead: tuple[str, ...]) -> bool:
    """Make an environment with these packages: by uv where it is there, which takes seconds, else by pip."""
    if uv := shutil.which("uv"):
        install: tuple[str | Path, ...] = (uv, "pip", "install", "-q", "--python", python)
        made, anew = run(uv, "venv", "-q", "--clear", "--python", sys.executable, folder), "--reinstall"
    else:
        install = (python, "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq", "install")
        made, anew = run(sys.executable, "-m", "venv", "--clear", folder), "--force-reinstall"
    made = made and run(*install, *wanted)
    return made and (not instead or run(*install, anew, "--no-deps", *instead))


def quiet_environment() -> dict[str, str]:
    """Return the environment of a run: none of our settings, no telemetry of others."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "RETENTIVE_"))}
    return {**kept, **QUIET}


def test(python: Path, framework: Framework) -> bool:
    """Run a framework's tests, after making sure that the framework is there."""
    if not run(python, "-W", "ignore", "-c", f"import {framework.module}", env=quiet_environment()):
        return False
    command = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default")
    good = run(*command, *framework.tests, env=quiet_environment())
    return (own_tests(python) and good) if framework.own_tests else good


def own_tests(python: Path) -> bool:
    """Run LangGraph's own tests of a store over ours."""
    with tempfile.TemporaryDirectory(prefix="langgraph-own-") as scratch:
        archive = Path(scratch, "sources.tar.gz")
        with urllib.request.urlopen(SOURCES, timeout=60) as answer:
            archive.write_bytes(answer.read())
        if hashlib.sha256(archive.read_bytes()).hexdigest() != DIGEST:
            print(f"{SOURCES} is not what it was", file=sys.stderr)
            return False
        with tarfile.open(archive) as sources:
            sources.extractall(scratch, filter="data")
        tree = next(path for path in Path(scratch).iterdir() if path.is_dir())
        options = ("-p", "langgraph_own", "-p", "no:cacheprovider", "-W", "ignore", "-o", "addopts=")
        suites = ("tests/test_store.py", "tests/test_async_store.py", "tests/test_ttl.py")
        env = {**quiet_environment(), "PYTHONPATH": str(ROOT / TESTS)}
        command = (python, "-m", "pytest", "-q", *options, "-o", "asyncio_mode=auto", *suites)
        return run(*command, cwd=tree, env=env)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(FRAMEWORKS)} (default: all)")
    parser.add_argument("--envs", type=Path, default=ROOT / ".venvs")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(FRAMEWORKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(FRAMEWORKS)}")
    failed = []
    for name in arguments.names or FRAMEWORKS:
        began = time.monotonic()
        python = environment(name, FRAMEWORKS[name], arguments.envs)
        if python is None or not test(python, FRAMEWORKS[name]):
            failed.append(name)
        print(f"--- {name}: {'FAILED' if name in failed else 'ok'}, {time.monotonic() - began:.0f} s", flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
