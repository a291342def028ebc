"""The program as a process: streams, signals, terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = [sys.executable, "-m", "retentive"]
posix = pytest.mark.skipif(os.name == "nt", reason="signals and pseudo-terminals are POSIX")


def process(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments], capture_output=True, text=True, encoding="utf-8", check=False, timeout=60, **more
    )


def test_python_m_is_the_program(seeded: Any) -> None:
    """Exit codes reach the shell, data stdout, talk stderr."""
    done = process("recall", "Postgres for relational work", "--policy", "blend", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["hits"]
    assert process("get", "nobody").returncode == 1
    assert process("get").returncode == 2


def test_two_processes_write_one_store(home: Path) -> None:
    """What one remembers the other recalls."""
    assert process("remember", "from a process of its own", "--id", "a").returncode == 0
    assert "process of its own" in process("get", "a").stdout


def test_a_console_that_lacks_characters_is_no_failure(home: Path) -> None:
    """ASCII and code-page consoles get escapes, JSON stays JSON."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert process("remember", "Tee 🍵 für zwei", "--id", "tea").returncode == 0
    shown = process("get", "tea", env=environment)
    assert shown.returncode == 0, shown.stderr
    assert json.loads(process("get", "tea", "--json", env=environment).stdout)["text"] == "Tee 🍵 für zwei"


@posix
def test_a_closed_pipe_is_quiet(home: Path) -> None:
    """``retentive list | head -1`` ends without a traceback."""
    for number in range(3):
        process("remember", f"number {number} " + "x" * 100_000)
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen([*PROGRAM, "list", "--json"], stdout=writer, stderr=subprocess.PIPE, text=True) as running:
        os.close(writer)
        _, talk = running.communicate(timeout=60)
    assert "Traceback" not in talk
    assert "Exception" not in talk


@posix
def test_an_interrupt_exits_with_130(home: Path, tmp_path: Path) -> None:
    """Ctrl-C says nothing but a line end."""
    running = subprocess.Popen(
        [*PROGRAM, "remember", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - a background job ignores it
    )
    assert running.stdin is not None
    running.stdin.write("more than a pipe holds " * 10_000)  # returns once the program reads its standard input
    running.stdin.flush()
    running.send_signal(signal.SIGINT)
    _, talk = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in talk


def on_terminal(*arguments: str, answer: str = "", **environment: str) -> tuple[int, str]:
    """Run the program on a pseudo-terminal; return its exit code and everything it showed."""
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        os.execve(PROGRAM[0], [*PROGRAM, *arguments], {**plain, "TERM": "xterm-256color", **environment})  # noqa: S606
    shown = b""
    if answer:
        while b"[y/N]" not in shown:
            shown += os.read(terminal, 1024)
        os.write(terminal, answer.encode())
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # Linux says so at the end
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode("utf-8", "replace")


@posix
def test_a_terminal_gets_colour_bars(seeded: Any) -> None:
    """And ``NO_COLOR`` gets the bars alone."""
    question = ("recall", "Postgres for relational work", "--policy", "blend")
    code, shown = on_terminal(*question)
    assert code == 0
    assert "█" in shown
    assert "\x1b[36m" in shown
    _, plain = on_terminal(*question, NO_COLOR="1")
    assert "█" in plain
    assert "\x1b[36m" not in plain


@posix
@pytest.mark.parametrize(("answer", "left"), [("y\r", 2), ("n\r", 3)])
def test_a_terminal_is_asked_before_erasing(seeded: Any, data: Any, answer: str, left: int) -> None:
    """And no means no."""
    on_terminal("forget", "db-choice", "--erase", answer=answer)
    assert len(data("list", "--hidden")) == left


@posix
def test_a_terminal_sees_an_export_advance(seeded: Any) -> None:
    """The bar is on stderr, and only there."""
    code, shown = on_terminal("export", "alice.jsonl")
    assert code == 0
    assert "exporting" in shown
    assert "exporting" not in process("export", "alice.jsonl").stderr
