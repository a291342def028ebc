"""The OpenAI Agents SDK: a session whose items are kept in a space, exactly as they were and recallable.

    session = RetentiveSession("session-7", memories=memories)
    result = await Runner.run(agent, "hello", session=session)

It is the SDK's `Session` by its protocol, so that nothing of the SDK is imported here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from retentive.integrations.transcript import Said, Transcript
from retentive.memory import Retentive, Space

ROOT = "openai-agents"


class RetentiveSession:
    """The history of one conversation. ``session_settings`` is the SDK's `SessionSettings`, whose limit counts."""

    def __init__(
        self, session_id: str, *, memories: Retentive, root: str = ROOT, session_settings: Any | None = None
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._transcript = Transcript(memories, session_id, root)

    @property
    def space(self) -> Space:
        """Where the conversation is kept: recall from it what was said."""
        return self._transcript.space

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items, oldest first; with a limit the latest so many."""
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        return await asyncio.to_thread(self._transcript.entries, limit)

    async def add_items(self, items: list[Any]) -> None:
        """Add items behind the last one."""
        said = [Said(item, "\n".join(_words(item)), _speaker(item)) for item in items]
        await asyncio.to_thread(self._transcript.append, said)

    async def pop_item(self) -> Any | None:
        """Take back the last item; None where there is none."""
        return await asyncio.to_thread(self._transcript.pop)

    async def clear_session(self) -> None:
        """Erase all items."""
        await asyncio.to_thread(self._transcript.clear)


def _words(item: Any) -> Iterator[str]:
    """Yield what an item says: its content, a call's name and arguments, a tool's output."""
    if not isinstance(item, Mapping):
        return
    content = item.get("content")
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, str):
            yield text
    for name in ("name", "arguments", "output"):
        if isinstance(item.get(name), str):
            yield item[name]


def _speaker(item: Any) -> str | None:
    role = item.get("role") if isinstance(item, Mapping) else None
    return role if isinstance(role, str) and role.strip() else None
