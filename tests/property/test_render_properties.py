"""Whatever a memory contains, a rendered answer keeps its structure and gives the text back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from retentive.recall.budget import fit
from retentive.recall.lines import human_age, legal, markdown_text, visible
from retentive.recall.outcome import Compacted, Hit, Signal
from retentive.render import render
from retentive.text.budget import count_tokens
from retentive.types import KINDS, Memory

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MARKUP = "<>&\"'`*_[](){}#+-.!|~$^@:=\\/ \t\n\r\x0b\x0c\x85\u2028\u2029\u202e\u200b\ufeff\x00\x1b\ud800\ufffewx1é中👩"
anything = st.text(st.characters(), max_size=60)
markup = st.lists(st.sampled_from([*MARKUP, "```", "~~~", "---", "</memory>", "\n\n", "://", "www."]), max_size=30)
texts = anything | markup.map("".join)
moments = st.datetimes(datetime.min, datetime.max, timezones=st.just(UTC))  # noqa: DTZ901


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    then = draw(moments)
    fields: dict[str, Any] = {
        "kind": draw(st.sampled_from(KINDS)),
        "source": draw(st.none() | texts),
        "speaker": draw(st.none() | texts),
        "trust": draw(st.floats(0, 1)),
        "tags": tuple(draw(st.lists(texts, max_size=2))),
    }
    name = draw(texts.filter(bool))
    return Memory(id=name, space="s", text=draw(texts), created_at=then, recorded_at=then, **fields)


@st.composite
def hits(draw: st.DrawFn) -> Hit:
    stale = draw(st.none() | texts)
    return Hit(draw(memories()), 0.5, 0.5, 0.5, ("vector",), {"similarity": Signal(0.5, 0.5, 1, 0.5)}, stale=stale)


answers = st.fixed_dictionaries(
    {
        "hits": st.lists(hits(), max_size=4),
        "core": st.lists(memories(), max_size=2),
        "compacted": st.none() | st.builds(Compacted, texts, st.tuples(texts), st.just(3)),
    }
)


@given(answers)
def test_xml_is_well_formed_and_round_trips(answer: dict[str, Any]) -> None:
    """A strict parser finds one element per memory and reads every text and attribute as it was."""
    root = ET.fromstring(str(render(**answer, now=NOW)))  # noqa: S314 - our own output
    shown = [*answer["core"]]
    for procedure in (False, True):
        shown += [hit.memory for hit in answer["hits"] if (hit.memory.kind == "procedure") == procedure]
    elements = root.findall("*/memory")
    assert [element.text or "" for element in elements] == [legal(memory.text) for memory in shown]
    assert [element.get("id") for element in elements] == [legal(memory.id) for memory in shown]
    assert [element.get("source", "") for element in elements] == [legal(memory.source or "") for memory in shown]
    assert all(
        child.tag in {"note", "core", "memories", "procedures", "compacted", "memory"}
        for child in root.iter()
        if child is not root
    )


@given(answers)
def test_every_line_of_markdown_begins_with_our_words(answer: dict[str, Any]) -> None:
    """No line begins with memory text, and a parser sees headings, lists and plain text only."""
    rendered = str(render(**answer, now=NOW, format="markdown"))
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(rendered)
    assert {token.type.removesuffix("_open").removesuffix("_close") for token in tokens} <= {
        *("heading", "paragraph", "inline", "bullet_list", "list_item")
    }
    assert {child.type for token in tokens for child in token.children or ()} <= {"text", "strong_open", "strong_close"}
    assert all(line == "" or line[0] in "#-RN" for line in rendered.splitlines())


@given(texts)
def test_escaped_markdown_reads_as_the_visible_text(text: str) -> None:
    """What a parser shows for an escaped text is the text, folded, with the unseen made visible."""
    inline = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parseInline(f"x {markdown_text(text)} x")
    assert "".join(child.content for child in inline[0].children or ()) == f"x {visible(text)} x"


@given(answers)
def test_json_round_trips(answer: dict[str, Any]) -> None:
    """Everything is read back exactly, lone surrogates included."""
    data = json.loads(str(render(**answer, now=NOW, format="json")))
    assert [item["text"] for item in data["core"]["items"]] == [memory.text for memory in answer["core"]]
    assert data["memories"]["count"] + data["procedures"]["count"] == len(answer["hits"])


@given(moments, moments)
def test_ages_never_fail(then: datetime, now: datetime) -> None:
    """Any two moments have a distance in words."""
    assert human_age(then, now)


@given(st.lists(hits(), min_size=1, max_size=8, unique_by=lambda hit: visible(hit.memory.id)), st.integers(400, 900))
def test_a_fitted_answer_stays_within_its_budget(found: list[Hit], budget: int) -> None:
    """What is rendered costs at most the budget, and every memory is either whole or named as compacted."""
    kept, compacted = fit(found, budget, count_tokens=count_tokens)
    assert list(kept) == found[: len(kept)]
    assert [hit.memory.id for hit in kept] + list(compacted.ids if compacted else ()) == [
        hit.memory.id for hit in found
    ]
    now = NOW + timedelta(days=1)
    for style in ("xml", "markdown", "messages"):
        rendered = render(kept, (), compacted, now=now, format=style)
        text = rendered if isinstance(rendered, str) else rendered[0]["content"]
        assert count_tokens(text) <= budget, style
