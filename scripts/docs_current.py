"""Write what the documentation takes from the code; `--check` only says whether it is current.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`; whole files are listed in `FILES`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import docs_imports
import docs_mcp
import docs_picture
import docs_policy

ROOT = Path(__file__).resolve().parents[1]
DECISIONS = ROOT / "docs/decisions"
_PART = re.compile(r"(<!-- generated: ([a-z-]+) -->\n)(?:.*?\n)??(<!-- end -->)", re.DOTALL)


def decisions() -> str:
    """Return the list of decision records, by number."""
    records = sorted(path for path in DECISIONS.glob("[0-9]*.md"))
    return "\n".join(f"- [{path.read_text('utf-8').splitlines()[0].lstrip('# ')}]({path.name})" for path in records)


def conflicts() -> str:
    """Return what detection of conflicts was measured at."""
    return (ROOT / "benchmarks/conflicts/table.md").read_text("utf-8").rstrip("\n")


PARTS: dict[str, Callable[[], str]] = {
    "bands": docs_policy.bands,
    "conflicts": conflicts,
    "constants": docs_policy.constants,
    "decisions": decisions,
    "imports": docs_imports.table,
    "kinds": docs_policy.kinds,
    "mcp-tools": docs_mcp.tools,
    "presets": docs_policy.overview,
    "presets-in-full": docs_policy.details,
    "presets-short": docs_policy.short,
    "settings": docs_policy.settings,
    "signals": docs_policy.signals,
}
PAGES = (
    "README.md",
    "docs/policy.md",
    "docs/architecture.md",
    "docs/changing.md",
    "docs/embedders.md",
    "docs/mcp.md",
    "docs/decisions/index.md",
)
FILES: dict[str, Callable[[], str]] = {
    "docs/images/imports.svg": docs_imports.svg,
    "docs/images/explained-recall.svg": docs_picture.svg,
}


def current() -> dict[Path, str]:
    """Return every page and picture as it should be."""
    pages = {ROOT / name: _filled((ROOT / name).read_text("utf-8")) for name in PAGES}
    return pages | {ROOT / name: draw() for name, draw in FILES.items()}


def _filled(text: str) -> str:
    return _PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n\n{part[3]}", text)


def stale() -> list[str]:
    """Return the pages and pictures that no longer say what the code says; of the recall's picture, by its words."""
    found = []
    for path, text in current().items():
        there = path.read_text("utf-8") if path.exists() else ""
        said = docs_picture.words if "explained-recall" in path.name else str
        if said(there) != said(text):
            found.append(str(path.relative_to(ROOT)))
    return found


def main() -> int:
    if "--check" in sys.argv[1:]:
        names = stale()
        if names:
            print(
                f"Not current: {', '.join(names)}. Run `make docs-current`, and look at what changed.", file=sys.stderr
            )
        return 1 if names else 0
    for path, text in current().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
