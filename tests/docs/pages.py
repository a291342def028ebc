"""The pages of the documentation and the blocks of code in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(
    r"(?P<before><!--[^\n]*-->\n)?^(?P<indent> *)```(?P<language>\w+)\n(?P<code>.*?)^ *```$", re.MULTILINE | re.DOTALL
)
NOT_RUN = "<!-- not run"


@dataclass(frozen=True)
class Block:
    """One fenced block: on which page, from which line, in which language."""

    page: Path
    line: int
    language: str
    code: str
    not_run: bool

    @property
    def place(self) -> str:
        """Name the block as an editor would."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path, *languages: str) -> list[Block]:
    """Return the blocks of a page in some languages, in order."""
    text = page.read_text("utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        if match["language"] in languages:
            line = text.count("\n", 0, match.start("code")) + 1
            skipped = (match["before"] or "").startswith(NOT_RUN)
            found.append(Block(page, line, match["language"], match["code"], skipped))
    return found


def having(*languages: str) -> list[Path]:
    """Return the pages that have such blocks."""
    return [page for page in PAGES if blocks(page, *languages)]


def name_of(page: Path) -> str:
    """Return a page's path as a test's name."""
    return str(page.relative_to(ROOT))
