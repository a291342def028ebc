"""Space paths: exact, hostile ones included, and no way from one to another."""

from __future__ import annotations

import re
from typing import Any

import pytest
from facade_making import SURROGATE, Opening

from retentive import Retentive
from retentive.errors import InvalidInput
from retentive.paths import space_path

REFUSED: list[tuple[Any, str]] = [
    ("", "there is no default tenant"),
    ((), "there is no default tenant"),
    ("/", "segment '' is empty"),
    ("/a", "segment '' is empty"),
    ("a/", "segment '' is empty"),
    ("a//b", "segment '' is empty"),
    (".", "segment '.' is empty, '.', '..'"),
    ("a/../b", "segment '..' is empty"),
    ("../a", "segment '..'"),
    (" a", "segment ' a'"),
    ("a /b", "segment 'a '"),
    ("a\u00a0", "begins or ends in white space"),
    (("a", "b/c"), "segment 'b/c' contains '/'"),
    (("a", ""), "segment '' is empty"),
    (("a", 1), "segment 1 is not a string"),
    ("a\0b", "contains the control character '\\x00'"),
    ("a\nb", "contains the control character '\\n'"),
    ("a\x7fb", "control character"),
    ("a\u2028b", "control character"),
    (SURROGATE, "control character '\\ud83d'"),
    ("x" * 256, "a segment has 256 characters; at most 255"),
    ("/".join(["abcdefgh"] * 200), "The space path has 1799 characters; at most 1024"),
    (5, "Space path 5 is neither a string nor a tuple"),
    (None, "Space path None is neither"),
    (b"a", "Space path b'a' is neither"),
]


@pytest.mark.parametrize(("path", "says"), REFUSED, ids=[f"{n}" for n in range(len(REFUSED))])
def test_what_two_readers_might_understand_differently_is_refused(home: Retentive, path: Any, says: str) -> None:
    """At the door, by `space`, `drop` and as a shared space; the message names the segment."""
    for use in (lambda: home.space(path), lambda: home.drop(path)):
        with pytest.raises(InvalidInput, match=re.escape(says)):
            use()
    assert home.spaces() == []


HOSTILE = [
    "a", "A", "acme", "acme-corp", "acme/alice", "acme/Alice", "acmealice", "acme%2Falice", "acme\\alice", "acme:alice",
    "é", "e\u0301", "CON", "con", "nul.txt", "aux", "COM1", "...", "..a", "a..b", "a.", "~", "~root", "$HOME", "%00",
    "-rf", "*", "?", "a b", "😀", "\u202eevil", "ß", "ss", "İ", "i", "ﬁ", "fi", "x" * 255, "X" * 255, "日本語/テスト",
    "/".join(["x" * 200] * 5), "index.db", ".hidden", "a'b", 'a"b', "a;b",
]  # fmt: skip


def test_hostile_paths_are_spaces_like_any_other(opening: Opening) -> None:
    """Each keeps its own memory, is listed as written, survives a restart and is dropped alone."""
    home = opening()
    for n, path in enumerate(HOSTILE):
        home.space(path).remember(f"memory {n}", id="m")
    again = opening()
    assert again.spaces() == sorted(HOSTILE)
    for n, path in enumerate(HOSTILE):
        assert [memory.text for memory in again.space(path).list()] == [f"memory {n}"]
        assert [hit.memory.text for hit in again.space(path).recall("memory", policy="blend")] == [f"memory {n}"]
    for path in HOSTILE[::2]:
        assert again.drop(path)
    assert again.spaces() == sorted(HOSTILE[1::2])
    assert all(again.space(path).get("m").text == f"memory {n}" for n, path in enumerate(HOSTILE) if n % 2)


def test_a_path_may_be_given_in_segments(home: Retentive) -> None:
    """`("acme", "alice")` is "acme/alice"."""
    home.space(("acme", "alice")).remember("Tea")
    assert home.space(("acme", "alice")).path == space_path("acme/alice") == "acme/alice"
    assert len(home.space("acme/alice").list()) == 1


def test_a_prefix_contains_nothing(opening: Opening) -> None:
    """`acme` holds neither `acme-corp` nor `acme/alice`: not by recall, id, key, journal, feedback or drop."""
    home = opening()
    paths = ["acme", "acme-corp", "acme/alice", "acme/alice/notes"]
    ids = {path: home.space(path).remember(f"Secret of {path}", key="k").id for path in paths}
    for path in paths:
        space = home.space(path)
        assert [memory.text for memory in space.list(hidden=True)] == [f"Secret of {path}"]
        assert [hit.memory.space for hit in space.recall("Secret", policy="operational")] == [path]
        assert {line.memory_id for line in space.journal()} == {ids[path]}
    home.drop("acme")
    assert home.spaces() == sorted(paths[1:])
