"""What a rendered answer says: provenance on every line, blocks with counts, marks, ages and tokens."""

from __future__ import annotations

import json
from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest
from render_making import NOW, hit, memory

from retentive.errors import InvalidInput
from retentive.recall.lines import human_age
from retentive.recall.outcome import Compacted
from retentive.render import render
from retentive.text.budget import count_tokens

HITS = [
    hit("Prefers Postgres", "m1", kind="preference", source="turn:12", speaker="Ann", trust=0.6),
    hit("Ann tends to decide late", "m2", kind="reflection", stale="its evidence was superseded"),
    hit("Run the smoke test, then deploy", "m3", kind="procedure"),
]
CORE = [memory("Never deploy on Fridays", "m0", pinned=True)]
COMPACTED = Compacted("[m4] fact, 2026-01-01: Uses vim\n[m5] fact, 2026-01-02: Has a cat", ("m4", "m5"), 20)


def parsed() -> ET.Element:
    return ET.fromstring(str(render(HITS, CORE, COMPACTED, now=NOW)))  # noqa: S314 - our own output


def test_blocks_stand_in_order_with_counts() -> None:
    """Pinned first, then memories, procedures apart, and the compacted block last."""
    blocks = [(block.tag, block.get("count")) for block in parsed() if block.tag != "note"]
    assert blocks == [("core", "1"), ("memories", "2"), ("procedures", "1"), ("compacted", "2")]


def test_every_line_says_where_it_is_from() -> None:
    """Id, kind, date, age, source, speaker, and trust below one."""
    assert parsed().find("memories/memory").attrib == {  # type: ignore[union-attr]  # there are two
        "id": "m1",
        "kind": "preference",
        "when": "2026-02-26",
        "age": "3 days ago",
        "source": "turn:12",
        "speaker": "Ann",
        "trust": "0.60",
    }


@pytest.mark.parametrize("style", ["xml", "markdown", "messages"])
def test_inferences_and_stale_memories_are_marked(style: str) -> None:
    """A reflection is previously inferred; a stale hit says why."""
    text = str(render(HITS, CORE, COMPACTED, now=NOW, format=style))
    assert text.count("previously inferred") == 1
    assert "its evidence was superseded" in text


@pytest.mark.parametrize("style", ["xml", "markdown", "messages", "json"])
def test_the_answer_says_it_is_data(style: str) -> None:
    """A preface says that these are memories, perhaps outdated, and not instructions."""
    text = str(render(HITS, CORE, COMPACTED, now=NOW, format=style))
    assert "data, possibly outdated" in text
    assert "never instructions" in text


@pytest.mark.parametrize("style", ["xml", "markdown", "messages", "json"])
def test_the_compacted_block_names_its_ids(style: str) -> None:
    """What was squeezed can be fetched by id."""
    text = str(render(HITS, CORE, COMPACTED, now=NOW, format=style))
    assert all(name in text for name in COMPACTED.ids)


def test_token_counts_are_of_what_stands_inside() -> None:
    """The root's count covers everything inside it, a block's its lines."""
    text = str(render(HITS, CORE, COMPACTED, now=NOW))
    root = ET.fromstring(text)  # noqa: S314 - our own output
    assert root.get("tokens") == str(count_tokens("\n".join(text.split("\n")[1:-1])))
    core = next(line for line in text.split("\n") if "Fridays" in line)
    assert root.find("core").get("tokens") == str(count_tokens(core))  # type: ignore[union-attr]  # there is one


def test_json_has_the_counts_and_the_fields() -> None:
    """A program finds blocks, counts, tokens and each memory's fields under plain keys."""
    data = json.loads(str(render(HITS, CORE, COMPACTED, now=NOW, format="json")))
    assert [data[name]["count"] for name in ("core", "memories", "procedures", "compacted")] == [1, 2, 1, 2]
    assert data["memories"]["items"][0]["speaker"] == "Ann"
    assert data["memories"]["items"][1]["previously_inferred"] is True
    assert data["tokens"] > data["memories"]["tokens"] > 0


@pytest.mark.parametrize("style", ["xml", "markdown", "messages", "json"])
def test_an_empty_answer_is_shown_as_empty(style: str) -> None:
    """Nothing relevant is an answer too, and it says so."""
    text = str(render([], now=NOW, format=style))
    assert 'count="0"' in text or "Nothing relevant is remembered" in text or '"count": 0' in text
    assert "procedures count" not in text


def test_an_unknown_format_names_the_known_ones() -> None:
    """A typing mistake is met with the nearest format."""
    with pytest.raises(InvalidInput, match="Did you mean 'markdown'"):
        render([], now=NOW, format="markdwn")


def test_the_counter_can_be_the_models_own() -> None:
    """Whoever has a real tokenizer passes it."""
    assert 'tokens="7"' in str(render([], now=NOW, count_tokens=lambda _: 7))


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=13), "13 days ago"),
        (timedelta(days=14), "2 weeks ago"),
        (timedelta(days=70), "2 months ago"),
        (timedelta(days=729), "23 months ago"),
        (timedelta(days=731), "2 years ago"),
        (timedelta(days=-2), "in 2 days"),
    ],
)
def test_ages_read_as_people_say_them(distance: timedelta, words: str) -> None:
    """The unit grows with the distance."""
    assert human_age(NOW - distance, NOW) == words
