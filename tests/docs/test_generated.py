"""What the documentation takes from the code is current."""

from __future__ import annotations

import re
import sys
from types import ModuleType

import pytest

from .pages import ROOT


@pytest.fixture(scope="module")
def docs() -> ModuleType:
    """Import scripts/docs_current.py, which is no package."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import docs_current as module  # type: ignore[import-not-found, unused-ignore]
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    found: ModuleType = module
    return found


def test_generated_parts_are_current(docs: ModuleType) -> None:
    """Tables and pictures say what the code says; `make docs-current` rewrites them."""
    assert docs.stale() == []


def test_the_picture_of_a_recall_is_a_real_one(docs: ModuleType) -> None:
    """The picture in the README shows the texts and scores of a recall that can be made again."""
    picture = docs.docs_picture.words((ROOT / "docs/images/explained-recall.svg").read_text("utf-8"))
    for hit in docs.docs_picture.recall():
        assert f"{hit.score:.3f}" in picture
        assert hit.memory.text[:40] in picture


def test_pictures_load_nothing_from_elsewhere() -> None:
    """No picture refers to another host."""
    for picture in (ROOT / "docs/images").glob("*.svg"):
        hosts = re.findall(r"https?://([^/\s\"']+)", picture.read_text("utf-8"))
        assert set(hosts) <= {"www.w3.org", "www.textualize.io"}, picture  # a name space, and a comment of rich
