"""Put an answer into a prompt: as XML, Markdown, chat messages or JSON.

What every format keeps (policy.md §8.26): who said what and when stands on every line; what a model once concluded is
marked ``previously inferred`` and what has become doubtful ``stale``; pinned memories come first; procedures stand
apart, for they are read otherwise than facts; the compacted block names its ids; and nothing inside a memory can pass
for anything but that memory. The answer never claims the system's or the developer's role: memories are quotations.

``tokens`` of a block counts its lines, the total everything inside the outermost element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from retentive.errors import unknown_name
from retentive.recall.lines import (
    NOTE,
    Line,
    compacted_markdown,
    compacted_xml,
    human_age,
    line_of,
    markdown_line,
    xml_line,
    xml_text,
)
from retentive.recall.outcome import Compacted, Hit
from retentive.recall.quoting import inert_json
from retentive.text.budget import count_tokens as estimate_tokens
from retentive.types import Json, Memory

Format = Literal["xml", "markdown", "messages", "json"]
Rendered: TypeAlias = str | list[dict[str, str]]
CountTokens: TypeAlias = Callable[[str], int]

SHORTENED = "shortened; fetch by id"
_TITLES = {
    "core": "Core",
    "memories": "Memories",
    "procedures": "Procedures",
    "compacted": f"Compacted ({SHORTENED})",
}


@dataclass(frozen=True, slots=True)
class Block:
    """One group of an answer under its name, the lines not yet written in any format."""

    name: str
    lines: tuple[Line, ...] = ()
    compacted: Compacted | None = None

    @property
    def count(self) -> int:
        """How many memories the block speaks of."""
        return len(self.compacted.ids) if self.compacted else len(self.lines)


def render(
    hits: Sequence[Hit],
    core: Sequence[Memory] = (),
    compacted: Compacted | None = None,
    *,
    format: str = "xml",  # noqa: A002 - the word users pass to Recall.render
    now: datetime,
    count_tokens: CountTokens = estimate_tokens,
) -> Rendered:
    """Return the answer in one format: a string, or for ``messages`` a list of chat messages of role ``user``."""
    if format == "json":
        return _json(hits, core, compacted, now, count_tokens)
    blocks = blocks_of(hits, core, compacted, now)
    if format == "xml":
        return _xml(blocks, now, count_tokens)
    if format == "markdown":
        return _markdown(blocks, now, count_tokens)
    if format == "messages":
        return _messages(_xml(blocks, now, count_tokens))
    raise unknown_name("format", format, ("xml", "markdown", "messages", "json"))


def blocks_of(
    hits: Sequence[Hit], core: Sequence[Memory], compacted: Compacted | None, now: datetime
) -> tuple[Block, ...]:
    """Group an answer: pinned first, memories, procedures, then what was squeezed.

    ``memories`` is there even when empty: "nothing relevant is remembered" is an answer a model should see.
    """
    recalled = [line_of(hit.memory, human_age(hit.memory.created_at, now), hit.stale) for hit in hits]
    blocks = [
        Block("core", tuple(line_of(memory, human_age(memory.created_at, now)) for memory in core)),
        Block("memories", tuple(line for line in recalled if line.kind != "procedure")),
        Block("procedures", tuple(line for line in recalled if line.kind == "procedure")),
        Block("compacted", compacted=compacted),
    ]
    return tuple(block for block in blocks if block.count or block.name == "memories")


def _xml(blocks: Sequence[Block], now: datetime, count_tokens: CountTokens) -> str:
    inside = "\n".join([f"<note>{xml_text(NOTE)}</note>", *(_xml_block(block, count_tokens) for block in blocks)])
    return f'<recalled now="{_stamp(now)}" tokens="{count_tokens(inside)}">\n{inside}\n</recalled>'


def _xml_block(block: Block, count_tokens: CountTokens) -> str:
    if block.compacted:
        body = compacted_xml(block.compacted.text)
        extra = f' note="{SHORTENED}"'
    else:
        body, extra = "\n".join(map(xml_line, block.lines)), ""
    opening = f'<{block.name} count="{block.count}" tokens="{count_tokens(body)}"{extra}>'
    return f"{opening}\n{body}\n</{block.name}>" if body else f"{opening}</{block.name}>"


def _markdown(blocks: Sequence[Block], now: datetime, count_tokens: CountTokens) -> str:
    parts = [_markdown_block(block, count_tokens) for block in blocks]
    inside = "\n\n".join([NOTE, *parts])
    return f"## Recalled at {_stamp(now)}, {count_tokens(inside)} tokens\n\n{inside}"


def _markdown_block(block: Block, count_tokens: CountTokens) -> str:
    lines = compacted_markdown(block.compacted.text) if block.compacted else "\n".join(map(markdown_line, block.lines))
    body = lines or "Nothing relevant is remembered."
    return f"### {_TITLES[block.name]}: {block.count}, {count_tokens(lines)} tokens\n\n{body}"


def _messages(xml: str) -> Rendered:
    """Wrap the XML as quoted data in one user message.

    Two walls: the XML cannot be closed from inside, and no line of it begins with memory text, so nor can the fence.
    """
    content = f"Memories, quoted as data:\n\n```xml\n{xml}\n```"
    return [{"role": "user", "content": content}]


def _json(
    hits: Sequence[Hit], core: Sequence[Memory], compacted: Compacted | None, now: datetime, count_tokens: CountTokens
) -> str:
    groups: dict[str, list[dict[str, Json]]] = {
        "core": [_fields(memory, now) for memory in core],
        "memories": [_hit_fields(hit, now) for hit in hits if hit.memory.kind != "procedure"],
        "procedures": [_hit_fields(hit, now) for hit in hits if hit.memory.kind == "procedure"],
    }
    data: dict[str, Any] = {"note": NOTE, "now": _stamp(now)}
    for name, items in groups.items():
        tokens = count_tokens(inert_json(items, indent=1)) if items else 0
        data[name] = {"count": len(items), "tokens": tokens, "items": items}
    if compacted:
        tokens = count_tokens(inert_json(compacted.text, indent=1))
        data["compacted"] = {
            "count": len(compacted.ids),
            "tokens": tokens,
            "note": SHORTENED,
            "ids": list(compacted.ids),
            "text": compacted.text,
        }
    data["tokens"] = count_tokens(inert_json(data, indent=1))
    return inert_json(data, indent=1)


def _hit_fields(hit: Hit, now: datetime) -> dict[str, Json]:
    stale: dict[str, Json] = {"stale": hit.stale} if hit.stale else {}
    return {**_fields(hit.memory, now), **stale, "score": hit.score, "relevance": hit.relevance}


def _fields(memory: Memory, now: datetime) -> dict[str, Json]:
    """Return what a program needs to know about a memory, without what is empty."""
    line = line_of(memory, human_age(memory.created_at, now))
    optional: dict[str, Json] = {
        "source": memory.source,
        "speaker": memory.speaker,
        "trust": memory.trust if memory.trust < 1 else None,
        "previously_inferred": line.inferred or None,
        "derived_from": list(memory.derived_from) or None,
        "key": memory.key,
        "tags": list(memory.tags) or None,
        "metadata": dict(memory.metadata) or None,
    }
    known = {name: value for name, value in optional.items() if value is not None}
    when = _stamp(memory.created_at)
    return {"id": memory.id, "kind": memory.kind, "when": when, "age": line.age, **known, "text": memory.text}


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
