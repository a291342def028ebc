"""The demo computes what it shows, reads on eighty columns without colour, and is the same every time."""

from __future__ import annotations

import json
from io import StringIO
from itertools import pairwise

import pytest
from rich.console import Console

from retentive.cli.demo import Demo, compute, curves, demo_data, run_demo
from retentive.cli.demo_history import NOW, history
from retentive.cli.demo_plot import Canvas
from retentive.explain import cells
from retentive.testing.fakes import HashEmbedder


@pytest.fixture(scope="module")
def demo() -> Demo:
    return compute(HashEmbedder())


def shown(width: int = 80, color: bool = False, encoding: str = "utf-8") -> str:
    class Stream(StringIO):
        @property
        def encoding(self) -> str:  # type: ignore[override]  # rich reads it to choose its characters
            return encoding

    stream = Stream()
    console = Console(file=stream, width=width, force_terminal=color, color_system="standard" if color else None)
    run_demo(console, embedder=HashEmbedder())
    return stream.getvalue()


def test_the_history_is_what_it_says() -> None:
    """Some sixty memories over fourteen months, with replaced facts, procedures, reflections and one pinned rule."""
    items = list(history())
    assert 55 <= len(items) <= 70
    assert 390 < (NOW - items[0]["at"]).days < 430
    assert items == sorted(items, key=lambda item: item["at"])
    assert {"procedure", "reflection", "decision", "preference"} <= {item["kind"] for item in items}
    keys = [item["key"] for item in items if "key" in item]
    assert len(keys) > len(set(keys))
    assert sum(bool(item.get("pinned")) for item in items) == 1


def test_what_is_wrong_with_the_plain_answer_is_read_from_the_memories(demo: Demo) -> None:
    """A result is called replaced where, and only where, something took its place."""
    found = [plain for comparison in demo.comparisons for plain in comparison.plain]
    assert any(plain.wrong for plain in found)
    for plain in found:
        bad = plain.memory.superseded_at is not None or plain.memory.pinned
        assert (plain.wrong is not None) == bad


def test_the_policy_tells_nothing_that_was_replaced(demo: Demo) -> None:
    """No superseded memory in any of its answers."""
    recalls = [comparison.recall for comparison in demo.comparisons]
    assert all(hit.memory.retrievable for recall in [*recalls, demo.first, demo.second] for hit in recall)


def test_rotation_reaches_deeper(demo: Demo) -> None:
    """The second ask shows something that the first did not, and says why the rest counts less."""
    before = {hit.memory.id for hit in demo.first}
    assert {hit.memory.id for hit in demo.second} - before


def test_the_demo_fits_eighty_columns_in_any_case() -> None:
    """Monochrome: no line wider than the terminal, no escape sequence, every part there."""
    text = shown()
    assert max(map(cells, text.splitlines())) <= 80
    assert "\x1b" not in text
    for part in ("plain vector search", "replaced", "How memories fade", "12 minutes later", "<recalled"):
        assert part in text


def test_the_demo_is_the_same_every_time() -> None:
    """Nothing depends on the day or on chance."""
    assert shown() == shown()


def test_colour_adds_nothing_but_colour() -> None:
    """On a terminal there are escape sequences; the words are the same."""
    assert "\x1b[" in shown(color=True)


def test_an_ascii_terminal_gets_a_plot_of_dots() -> None:
    """Where braille cannot be shown, the curves are dots."""
    canvas = Canvas(40, 5, ascii_only=True)
    canvas.draw([x / 79 for x in range(80)], "red")
    assert all(line.plain.isascii() for line in canvas.lines())


def test_curves_run_from_one_to_their_end() -> None:
    """Each starts at one, never rises, and the floor holds."""
    for name, curve in curves(50).items():
        assert curve[0] == pytest.approx(1.0), name
        assert all(later <= earlier for earlier, later in pairwise(curve))
    assert curves(50)["freshness of an event, 30 days, floor 0.1"][-1] == pytest.approx(0.1)


def test_curves_are_joined_and_lettered() -> None:
    """A steep fall leaves no gap, and each curve carries its letter."""
    canvas = Canvas(10, 4)
    steep = [1.0] * 10 + [0.0] * 10
    canvas.draw(steep, "red")
    canvas.label([steep, [0.5] * 20], "ab", ["red", "blue"])
    lines = [line.plain for line in canvas.lines()]
    assert all(line.strip() for line in lines)
    assert "a" in "".join(lines)
    assert "b" in "".join(lines)


def test_the_data_is_json() -> None:
    """What is shown can be had as data."""
    data = json.loads(json.dumps(demo_data(HashEmbedder())))
    assert set(data) == {"now", "memories", "comparisons", "explained", "decay", "rotation", "prompt"}
    assert data["comparisons"][0]["plain"][0]["cosine"] > 0
