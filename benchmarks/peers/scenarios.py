"""Let other memory layers take the behaviours' test, each in its own environment; writes the scoreboard.

    python benchmarks/peers/scenarios.py
    python benchmarks/peers/scenarios.py --only chroma --only mem0_plain

Environments are made under .venvs/peers from requirements/*.txt the first time (PEERS_VENVS names another place), by a
Python whose SQLite loads extensions, which some of them need (PEERS_PYTHON names one). A peer that was not run this
time keeps its column, with "not run" for behaviours that are new since. Retentive is the first column, by the same
command. A peer whose program breaks gets no column at all: that is our adapter or environment, and no verdict on it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VENVS = Path(os.environ.get("PEERS_VENVS", HERE.parents[1] / ".venvs/peers"))
SUBJECTS: dict[str, str] = {
    "langgraph_store": "langgraph",
    "langchain_time_weighted": "langchain",
    "llamaindex_recency": "llamaindex",
    "chroma": "chroma",
    "mem0_plain": "mem0",
    "crewai_formula": "crewai",
    "mcp_memory": "mcp_memory_service",
    "mempalace_hybrid": "mempalace",
}
"""Adapter → its environment."""
MARKS = {"pass": "pass", "fail": "**fail**", "not offered": "–"}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", action="append", choices=[*SUBJECTS, "retentive"])
    given = parser.parse_args()
    path = HERE / "results" / "scoreboard.json"
    board: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name in given.only or ("retentive", *SUBJECTS):
        board[name] = played(name)
        kept, asked = tally(board[name]["verdicts"])
        print(f"{board[name]['name']}: {kept} of {asked}", flush=True)
        board = {name: board[name] for name in ("retentive", *SUBJECTS) if name in board}
        path.write_text(json.dumps(board, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (HERE / "scoreboard.md").write_text(markdown(board), "utf-8")


def played(name: str) -> dict[str, Any]:
    """Return what a peer calls itself, how it is used, and its verdicts."""
    command = [str(Path(sys.executable).with_name("retentive")), "eval", "scenarios", "--json"]
    told = {"name": "Retentive", "how": "the default policy"}
    if name != "retentive":
        program = [str(_environment(SUBJECTS[name])), str(HERE / "subjects" / f"{name}.py")]
        hello = subprocess.run(program, input='{"do": "hello"}\n', capture_output=True, text=True, check=True)
        told = {key: value for key, value in json.loads(hello.stdout.splitlines()[0]).items() if key in told}
        command += ["--subject", " ".join(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1} or not done.stdout:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    verdicts = [{k: v for k, v in verdict.items() if k != "seconds"} for verdict in json.loads(done.stdout)]
    broken = next((verdict["reason"] for verdict in verdicts if "PeerFailed" in verdict["reason"]), None)
    if broken:
        raise SystemExit(f"{name} did not run, which is no failure of its memory: {broken}")
    return {**told, "verdicts": verdicts}


def _environment(name: str) -> Path:
    python = VENVS / name / "bin/python"
    if not python.exists():
        subprocess.run([_interpreter(), "-m", "venv", str(VENVS / name)], check=True)
        install = ["-m", "pip", "install", "-q", "-r", str(HERE / f"requirements/{name}.txt")]
        subprocess.run([str(python), *install], check=True)
    return python


def _interpreter() -> str:
    """Return the first Python at hand whose SQLite loads extensions; this one where none does."""
    loads = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"
    for python in (os.environ.get("PEERS_PYTHON"), sys.executable, "/usr/bin/python3", "python3"):
        if python and shutil.which(python):
            tried = subprocess.run([python, "-c", loads], capture_output=True, check=False)
            if tried.returncode == 0:
                return python
    return sys.executable


def tally(verdicts: list[dict[str, Any]]) -> tuple[int, int]:
    """Return how many promises were kept, of those that the peer can be asked about."""
    outcomes = [verdict["outcome"] for verdict in verdicts]
    return outcomes.count("pass"), len(outcomes) - outcomes.count("not offered")


def markdown(board: dict[str, Any]) -> str:
    """Return the table and, below it, the reason for everything that is no pass."""
    peers = list(board.values())
    lines = [
        "# Scoreboard of behaviours",
        "",
        "`python benchmarks/peers/scenarios.py`: the same scenarios, clock, texts and vectors for everyone.",
        "`–`: it has nothing of the kind, and so counts neither way.",
        "",
        f"| | behaviour | {' | '.join(peer['name'] for peer in peers)} |",
        f"|--:|---|{'---|' * len(peers)}",
    ]
    outcomes = [{verdict["number"]: verdict["outcome"] for verdict in peer["verdicts"]} for peer in peers]
    names = {verdict["number"]: verdict["name"] for peer in reversed(peers) for verdict in peer["verdicts"]}
    for number, name in sorted(names.items(), key=lambda pair: int(pair[0])):
        marks = " | ".join(MARKS.get(outcome.get(number, ""), "not run") for outcome in outcomes)
        lines.append(f"| {number} | {name} | {marks} |")
    sums = " | ".join("{} of {}".format(*tally(peer["verdicts"])) for peer in peers)
    lines += [f"| | **kept** | {sums} |", "", "## How each was used, and why it failed or was not asked"]
    for peer in peers:
        lines += ["", f"### {peer['name']}", "", f"{peer['how']}.", ""]
        unexplained = "has no explained answers"
        silent = [v for v in peer["verdicts"] if v["outcome"] == "not offered" and unexplained in v["reason"]]
        if silent:
            numbers = ", ".join(str(verdict["number"]) for verdict in silent)
            lines.append(f"- cannot express {numbers}: they look into explanations, rendering, policies or upkeep")
        for verdict in peer["verdicts"]:
            if verdict["outcome"] != "pass" and verdict not in silent:
                word = "fails" if verdict["outcome"] == "fail" else "cannot express"
                lines.append(f"- {word} {verdict['number']} ({verdict['name']}): {_escaped(verdict['reason'])}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    main()
