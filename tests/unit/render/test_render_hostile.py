"""No memory text can pass for anything but that memory, in any format."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt
from render_hostile import INJECTIONS
from render_making import NOW, hit, memory

from retentive.recall.lines import NOTE, legal, visible
from retentive.recall.outcome import Compacted
from retentive.render import render

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
PARTS = re.compile(r"<(/?)([a-z]+)(?: [a-z]+=\"[^\"<>]*\")*>")
"""Every tag that we write; nothing else in the output may begin with an angle bracket."""


def hostile(text: str) -> dict[str, Any]:
    """An answer in which everything that others can write is the same hostile text."""
    everything: dict[str, Any] = {"source": text, "speaker": text, "tags": (text,), "metadata": {text: text}}
    return {
        "hits": [
            hit(text, text, stale=text, **everything),
            hit(text, "m2", kind="procedure", **everything),
            hit(text, "m3", kind="reflection", trust=0.5, **everything),
        ],
        "core": [memory(text, "m4", pinned=True, **everything)],
        "compacted": Compacted(f"[m5] fact, 2026-01-01: {text}\n[m6] {text}", ("m5", "m6"), 10),
    }


@pytest.mark.parametrize("text", INJECTIONS)
def test_xml_has_exactly_our_elements_and_gives_every_text_back(text: str) -> None:
    """A strict parser sees the expected elements only, and reads each text as it was."""
    root = ET.fromstring(str(render(**hostile(text), now=NOW)))  # noqa: S314 - our own output
    assert [child.tag for child in root] == ["note", "core", "memories", "procedures", "compacted"]
    found = root.findall("*/memory")
    assert len(root.findall(".//*")) == 5 + len(found)
    assert [element.text or "" for element in found] == [legal(text)] * 4
    assert {element.get("source") for element in found} == {legal(text)}
    assert root.find("memories/memory").get("id") == legal(text)  # type: ignore[union-attr]  # the tags were compared


@pytest.mark.parametrize("style", ["xml", "markdown", "messages"])
@pytest.mark.parametrize("text", INJECTIONS)
def test_no_line_begins_with_memory_text(text: str, style: str) -> None:
    """Every line of a prompt begins with our own words, whatever line breaks a text contains."""
    rendered = render(**hostile(text), now=NOW, format=style)
    content = rendered if isinstance(rendered, str) else rendered[0]["content"]
    ours = ("<", "- [m", "- **", "## Recalled", "### ", NOTE, "Memories, quoted", "```xml", "```")
    dashed = "- "  # a further line of the compacted block
    for line in content.splitlines():
        assert not line or line.startswith((*ours, dashed)), line
    assert len(content.splitlines()) == content.count("\n") + 1


@pytest.mark.parametrize("style", ["xml", "markdown", "messages", "json"])
@pytest.mark.parametrize("text", INJECTIONS)
def test_nothing_unseen_is_left(text: str, style: str) -> None:
    """Controls, direction overrides, zero-width and tag characters are shown, and UTF-8 can hold the answer."""
    rendered = render(**hostile(text), now=NOW, format=style)
    content = rendered if isinstance(rendered, str) else rendered[0]["content"]
    assert not UNSEEN.search(content)
    assert content.encode("utf-8")


@pytest.mark.parametrize("text", INJECTIONS)
def test_xml_tags_are_ours(text: str) -> None:
    """Whatever begins with an angle bracket is a tag we wrote: plain-text readers see the same structure."""
    rendered = str(render(**hostile(text), now=NOW))
    assert "<" not in PARTS.sub("", rendered)
    names = {name for _, name in PARTS.findall(rendered)}
    assert names == {"recalled", "note", "core", "memories", "procedures", "compacted", "memory"}


@pytest.mark.parametrize("text", INJECTIONS)
def test_markdown_renders_as_plain_list_items(text: str) -> None:
    """A Markdown parser with tables, strikethrough and HTML on finds our headings and lists, and plain text in them."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = parser.parse(str(render(**hostile(text), now=NOW, format="markdown")))
    blocks = {token.type for token in tokens}
    assert blocks == {
        *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline"),
        *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    }
    assert sum(token.type == "list_item_open" for token in tokens) == 4 + len(f"{text}\n{text}".split("\n"))
    inline = {child.type for token in tokens for child in token.children or ()}
    assert inline <= {"text", "strong_open", "strong_close"}
    said = ["".join(child.content for child in token.children or ()) for token in tokens]
    assert sum(visible(text).strip() in line for line in said) >= 4


@pytest.mark.parametrize("text", INJECTIONS)
def test_json_gives_everything_back(text: str) -> None:
    """JSON loses nothing at all and carries no markup that a page or a fence would act on."""
    rendered = str(render(**hostile(text), now=NOW, format="json"))
    data = json.loads(rendered)
    assert [item["text"] for item in data["memories"]["items"]] == [text, text]
    assert data["procedures"]["items"][0]["metadata"] == {text: text}
    assert not set("<>&`") & set(rendered)


@pytest.mark.parametrize("text", INJECTIONS)
def test_messages_have_only_the_users_role(text: str) -> None:
    """Memories never speak as the system, the developer or the assistant."""
    messages = render(**hostile(text), now=NOW, format="messages")
    assert isinstance(messages, list)
    assert [set(message) for message in messages] == [{"role", "content"}]
    assert messages[0]["role"] == "user"
    body = messages[0]["content"].split("```xml\n", 1)[1].rsplit("\n```", 1)[0]
    assert ET.fromstring(body).tag == "recalled"  # noqa: S314 - our own output


def test_the_list_is_long_enough() -> None:
    """At least forty different attempts."""
    assert len(set(INJECTIONS)) >= 40
