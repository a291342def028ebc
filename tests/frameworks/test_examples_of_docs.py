"""The examples of docs/integrations.md that need a framework of their own run where it is installed."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/integrations.md"
BLOCK = re.compile(r"<!-- not run here: ([\w.]+) -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = BLOCK.findall(PAGE.read_text("utf-8"))


def installed(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:
        return False
    return True


@pytest.mark.parametrize(("module", "code"), EXAMPLES, ids=[module for module, _ in EXAMPLES])
def test_the_example_runs(module: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a reader would paste it, in an empty folder."""
    if not installed(module):
        pytest.skip(f"{module} is not installed here")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(PAGE), "exec", dont_inherit=True), {"__name__": "__main__"})  # noqa: S102 - our own page
