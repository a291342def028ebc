"""Write docs/cli.md from the command tree, and the table of docs/configuration.md from the keys.

Run it after changing a command, an option or a key: `python scripts/cli_reference.py`. A test says when it was
forgotten.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from retentive.cli.main import COMMANDS, root
from retentive.cli.options import GLOBAL_OPTIONS
from retentive.config import CONFIG_VARIABLE, KEYS

DOCS = Path(__file__).parent.parent / "docs"
TABLE = re.compile(r"(?<=<!-- keys -->\n).*?(?=<!-- /keys -->)", re.DOTALL)
INTRODUCTION = """# Command line

<!-- Written by scripts/cli_reference.py; change the commands, not this page. -->

Data goes to stdout, talk to stderr. `--json` prints one JSON document instead of text: lists are arrays, times are ISO
8601 in UTC, every field is always there. Exit codes: 0; 1 for a failure, with one line on stderr (`--debug` shows the
traceback); 2 for wrong usage; 130 when interrupted. Colours and progress bars appear on a terminal only, and `NO_COLOR`
is honoured. `retentive completion bash|zsh|fish` prints the script that completes commands in your shell.

Every command that reads or writes memories needs a space: `--space acme/alice`, `RETENTIVE_SPACE`, or `space` in
[`retentive.toml`](configuration.md). There is no default, and nothing falls back to another space.
"""


def reference() -> str:
    """Return the whole page."""
    parts = [INTRODUCTION, "## Options of every command\n", _options(list(GLOBAL_OPTIONS))]
    parts.append("A command takes those that it has a use for, before or after its name.\n")
    context = click.Context(root, info_name="retentive")
    for name in COMMANDS:
        if command := root.get_command(context, name):
            parts += _pages(command, f"retentive {name}")
    return "\n".join(parts)


def _pages(command: click.Command, path: str) -> Iterator[str]:
    yield f"## {path}\n"
    yield _description(command) + "\n"
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from (part.replace("## ", "### ", 1) for part in _pages(inner, f"{path} {name}"))
        return
    own = [param for param in command.params if param not in GLOBAL_OPTIONS]
    arguments = " ".join(_argument(param) for param in own if isinstance(param, click.Argument))
    yield f"    {path} [OPTIONS] {arguments}".rstrip() + "\n"
    yield _options([param for param in own if isinstance(param, click.Option)])
    if examples := getattr(command, "examples", ()):
        yield "\n".join(["```sh", *examples, "```", ""])


def _description(command: click.Command) -> str:
    paragraphs = (command.help or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs).strip()


def _argument(param: click.Argument) -> str:
    name = param.metavar or str(param.name).upper()
    return name if param.required else f"[{name}]"


def _options(options: list[click.Option]) -> str:
    if not options:
        return ""
    rows = [f"| `{_flags(option)}` | {_help(option)} |" for option in options]
    return "\n".join(["| option | meaning |", "|---|---|", *rows, ""])


def _flags(option: click.Option) -> str:
    flags = "/".join([*option.opts, *option.secondary_opts])
    return flags if option.is_flag else f"{flags} {_value(option)}".replace("|", "\\|")


def _value(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    return option.metavar or {"integer range": "N", "float": "N"}.get(option.type.name, option.type.name.upper())


def _help(option: click.Option) -> str:
    default = f" Default: {option.default}." if option.show_default and not option.is_flag else ""
    return ((option.help or "") + default).replace("|", "\\|")


def keys_table() -> str:
    """Return the table of configuration keys."""
    rows = [f"| `{key.name}` | `{key.variable}` | {key.meaning} | {key.default} | `{key.example}` |" for key in KEYS]
    return "\n".join(["| key | variable | meaning | default | example |", "|---|---|---|---|---|", *rows, ""])


def configuration(page: str) -> str:
    """Return the configuration page with its table renewed."""
    return TABLE.sub(lambda _found: keys_table(), page)


def main() -> int:
    """Write both pages."""
    (DOCS / "cli.md").write_text(reference(), "utf-8")
    path = DOCS / "configuration.md"
    path.write_text(configuration(path.read_text("utf-8")), "utf-8")
    print(f"Wrote {DOCS / 'cli.md'} and the table of {path} ({CONFIG_VARIABLE} is described by hand).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
