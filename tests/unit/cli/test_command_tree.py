"""Parameter types, shapes and the command tree, without a store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from retentive.cli.main import COMMANDS, main, root
from retentive.cli.options import MOMENT, PAIR, given, importance_of
from retentive.cli.shapes import changes, columns, ledger_shape, memory_card, memory_shape, memory_table, plain
from retentive.config import Secret
from retentive.types import Access, LedgerEntry, Memory

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Yield the path and the command for all, those of groups one by one."""
    context = click.Context(root, info_name="retentive")
    for name in COMMANDS:
        command = root.get_command(context, name)
        assert command is not None
        inner = command.commands if isinstance(command, click.Group) else {"": command}
        yield from ((f"{name} {sub}".strip(), each) for sub, each in inner.items())


TREE = [pytest.param(path, command, id=path) for path, command in every_command()]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_name_of_the_table_is_a_command(name: str) -> None:
    """The root's help is written without importing the commands; each is there and is called so."""
    command = root.get_command(click.Context(root), name)
    assert command is not None
    assert command.name == name


@pytest.mark.parametrize(("path", "command"), TREE)
def test_every_command_shows_an_example_of_itself(path: str, command: click.Command) -> None:
    """``--help`` ends with something to copy, and that is this command."""
    examples = getattr(command, "examples", ())
    assert examples
    assert all(f"retentive {path}" in example for example in examples)
    result = CliRunner().invoke(root, [*path.split(), "--help"])
    assert result.exit_code == 0
    assert all(example in result.stdout for example in examples)


@pytest.mark.parametrize(("path", "command"), TREE)
def test_every_option_says_what_it_does(path: str, command: click.Command) -> None:
    """No option is left to guessing."""
    assert all(param.help for param in command.params if isinstance(param, click.Option))


@pytest.mark.parametrize(("path", "command"), TREE)
def test_every_command_takes_json(path: str, command: click.Command) -> None:
    """``--json`` everywhere."""
    assert "--json" in {flag for param in command.params for flag in param.opts}


def test_the_help_imports_nothing_heavy() -> None:
    """numpy, apsw and rich are for the commands that need them."""
    code = (
        "import sys; from retentive.cli.main import main; main(['--help']);"
        "heavy = {'numpy', 'apsw', 'rich', 'httpx', 'dateutil', 'asyncio'} & set(sys.modules);"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Commands:" in done.stdout


def test_an_unknown_command_names_the_nearest() -> None:
    """A typo is answered with what was likely meant, and exit code 2."""
    result = CliRunner().invoke(root, ["recal"])
    assert result.exit_code == 2
    assert "Did you mean 'recall'" in result.stderr


def test_the_exit_codes_of_help_and_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """Asking what there is, is no failure; a command that does not exist is wrong usage."""
    assert main(["--help"]) == 0
    assert main(["nonsense"]) == 2
    assert "Usage: retentive" in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_is_the_shells_own(shell: str) -> None:
    """The script names the variable that click listens to."""
    result = CliRunner().invoke(root, ["completion", shell])
    assert result.exit_code == 0
    assert "_RETENTIVE_COMPLETE" in result.stdout


def test_completion_completes_commands_and_policies() -> None:
    """What the script calls back answers with names."""
    words = {"COMP_WORDS": "retentive rec", "COMP_CWORD": "1", "_RETENTIVE_COMPLETE": "bash_complete"}
    assert "plain,recall" in CliRunner().invoke(root, [], env=words, prog_name="retentive").stdout
    words |= {"COMP_WORDS": "retentive recall --policy bl", "COMP_CWORD": "3"}
    assert "plain,blend" in CliRunner().invoke(root, [], env=words, prog_name="retentive").stdout


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-01T12:00Z", NOW),
        ("2026-05-01T12:00:00+00:00", NOW),
        ("2026-05-01 14:00+02:00", NOW),
        ("2026-05-01T12:00:00.000001Z", NOW + timedelta(microseconds=1)),
    ],
)
def test_a_moment_is_read_with_its_zone(text: str, expected: datetime) -> None:
    """ISO 8601, as people and programs write it."""
    assert MOMENT.convert(text, None, None) == expected


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("2026-05-01", "write 2026-05-01T00:00Z"),
        ("2026-05-01T12:00", "write 2026-05-01T12:00Z"),
        ("yesterday", "write e.g. 2026"),
        ("", "write e.g. 2026"),
    ],
)
def test_a_naive_or_other_moment_is_refused_with_the_remedy(text: str, remedy: str) -> None:
    """A zone is never guessed."""
    with pytest.raises(click.BadParameter, match=remedy):
        MOMENT.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ticket=7", ("ticket", 7)),
        ('ticket="7"', ("ticket", "7")),
        ("team=core", ("team", "core")),
        ("done=true", ("done", True)),
        ("a=b=c", ("a", "b=c")),
        ("x=", ("x", "")),
        ("x=null", ("x", None)),
        ("x=NaN", ("x", "NaN")),
        ('x={"a": [1]}', ("x", {"a": [1]})),
    ],
)
def test_a_pair_is_json_where_it_is_json(text: str, expected: tuple[str, Any]) -> None:
    """Numbers stay numbers, words need no quotes, and a quoted number is a string."""
    assert PAIR.convert(text, None, None) == expected


@pytest.mark.parametrize("text", ["ticket", "=7", ""])
def test_what_is_no_pair_is_refused(text: str) -> None:
    """The remedy shows one."""
    with pytest.raises(click.BadParameter, match="ticket=7"):
        PAIR.convert(text, None, None)


def test_importance_comes_on_either_scale() -> None:
    """Not on both at once."""
    assert importance_of(0.3, None) == 0.3
    assert importance_of(None, 8) == 0.8
    assert importance_of(None, None) is None
    with pytest.raises(click.UsageError, match="give one"):
        importance_of(0.3, 3)


def test_only_what_was_given_is_passed_on() -> None:
    """The façade's own defaults count for the rest; false and zero were given."""
    options = {"kind": None, "tags": (), "where": (("a", 1),), "pinned": False, "importance": 0.0}
    assert given(options) == {"where": {"a": 1}, "pinned": False, "importance": 0.0}


def a_memory(**fields: Any) -> Memory:
    return Memory("m1", "acme", fields.pop("text", "Likes tea"), NOW, NOW, **fields)


def test_a_memorys_shape_is_whole_and_plain() -> None:
    """Every field is there, times are ISO 8601, and nothing but JSON is in it."""
    shape = memory_shape(a_memory(tags=("a",), metadata={"n": 1}, access=Access(NOW, 1.0, (NOW,))))
    assert shape["created_at"] == "2026-05-01T12:00:00+00:00"
    assert shape["tags"] == ["a"]
    assert shape["access"]["recent"] == ["2026-05-01T12:00:00+00:00"]
    assert shape["valid_until"] is None
    assert shape["retrievable"] is True
    assert set(shape) == {*Memory.__dataclass_fields__, "retrievable"}


def test_a_recalls_shape_has_no_vector() -> None:
    """Nobody reads 256 numbers."""
    shape = ledger_shape(LedgerEntry("r1", NOW, "blend", "x", ("m1",), (0.5,)))
    assert "cue_vector" not in shape
    assert shape["scores"] == [0.5]


def test_plain_hides_secrets_and_spells_out_paths() -> None:
    """Whatever is printed as JSON passes through here."""
    shown = plain({"key": Secret("s"), "path": Path("x"), "at": NOW})
    assert shown == {"key": "***", "path": "x", "at": "2026-05-01T12:00:00+00:00"}


@pytest.mark.parametrize("text", ["\x1b[2Jgone", "a\rb", "\x9b31m", "a\x00b", "\u202eevil"])
def test_a_memory_cannot_move_the_cursor(text: str) -> None:
    """Control characters in a memory are shown, not sent to the terminal."""
    for shown in (memory_table([a_memory(text=text)]), memory_card(a_memory(text=text))):
        assert not set(shown) & {"\x1b", "\r", "\x9b", "\x00", "\u202e"}


def test_a_card_keeps_the_lines_of_a_text() -> None:
    """What was written as two lines is read as two."""
    assert memory_card(a_memory(text="one\ntwo")).endswith("\n\none\ntwo")


def test_columns_align_wide_characters() -> None:
    """A Japanese word takes two columns a character."""
    assert columns([("日本", "x"), ("ab", "y")]) == "日本  x\nab    y"


def test_columns_are_cut_to_the_terminal() -> None:
    """The last one gives way."""
    assert len(columns([("id", "word " * 40)], width=60)) <= 60


def test_changes_name_what_is_different() -> None:
    """A history line says what changed, not everything."""
    assert changes(None, {"text": "new"}) == "new"
    assert changes({"text": "a", "kind": "fact"}, {"text": "b", "kind": "fact"}) == "text: a → b"
    assert changes({"key": "x"}, {"key": None}) == "key: x → nothing"


def test_a_command_whose_extra_is_missing_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line that ends with the command."""
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    result = CliRunner().invoke(root, ["mcp", "--space", "acme/alice"])
    assert result.exit_code == 1
    assert "pip install 'retentive[mcp]'" in result.output
