"""Every Python block of README and docs runs; every `retentive` line of a shell block runs through the real command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from retentive.policy import presets
from retentive.policy.policy import Policy
from retentive.scoring import signals

from .pages import ROOT, blocks, having, name_of

BY_THEIR_OWN_TESTS = {"docs/cli.md"}  # tests/integration/cli runs every example there
LEFT_OUT = {  # what a line does that a test should not
    "models fetch": "downloads",
    "eval run": "takes minutes",
    "eval compare": "takes minutes",
    "tune": "takes minutes",
}


@pytest.fixture
def _registries() -> object:
    """Give back presets and signals as they were: a page may register its own."""
    before = dict(presets._PRESETS), dict(signals.SIGNALS)
    yield
    for registry, kept in zip((presets._PRESETS, signals.SIGNALS), before, strict=True):
        registry.clear()  # type: ignore[attr-defined]
        registry.update(kept)  # type: ignore[attr-defined]


@pytest.mark.usefixtures("_registries")
@pytest.mark.parametrize("page", having("python"), ids=name_of)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run one after the other, in one namespace, as a reader would paste them."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        if not block.not_run:
            source = "\n" * (block.line - 1) + block.code  # so that a traceback names the page's line
            exec(compile(source, block.place, "exec", dont_inherit=True), namespace)  # noqa: S102 - our own page


@pytest.mark.parametrize("page", having("toml"), ids=name_of)
def test_policy_files_load(page: Path) -> None:
    """A TOML block that is a policy loads as one; any other is TOML at least."""
    import tomllib

    for block in blocks(page, "toml"):
        data = tomllib.loads(block.code)
        if "signals" in data or "base" in data:
            Policy.parse(block.code, block.place)


def shell_lines(page: Path) -> list[str]:
    """Return the commands of a page's shell blocks, continuation lines joined and prompts removed."""
    text = "\n".join(block.code for block in blocks(page, "sh", "bash", "console", "shell") if not block.not_run)
    lines = text.replace("\\\n", " ").splitlines()
    return [re.sub(r"^\$ ", "", line) for line in lines if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("page", having("sh", "bash", "console", "shell"), ids=name_of)
def test_shell_lines_run(page: Path, tmp_path: Path) -> None:
    """`retentive …` runs in a store of the page's own and ends well; `make …` names a target that exists."""
    if name_of(page) in BY_THEIR_OWN_TESTS:
        pytest.skip("its examples have tests of their own")
    folder = str(Path(sys.executable).parent)
    env = {k: v for k, v in os.environ.items() if not k.startswith("RETENTIVE_")}
    env |= {"HOME": str(tmp_path), "RETENTIVE_STORE": str(tmp_path / "store"), "NO_COLOR": "1"}
    env["PATH"] = f"{folder}{os.pathsep}{env['PATH']}"
    for line in shell_lines(page):
        if export := re.fullmatch(r"export (\w+)=(\S+)", line):
            env[export[1]] = export[2]
        elif re.search(r"(^|\| )retentive ", line):
            if not any(f"retentive {verb}" in line for verb in LEFT_OUT):
                run(line, env, tmp_path)
        elif line.startswith("make"):
            assert set(re.findall(r"make ([a-z-]+)", line)) <= targets(), line


def run(line: str, env: dict[str, str], folder: Path) -> None:
    done = subprocess.run(["/bin/bash", "-c", line], env=env, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def targets() -> set[str]:
    """Return the Makefile's targets."""
    text = (ROOT / "Makefile").read_text("utf-8")
    return set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))
