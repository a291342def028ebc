"""LangChain: a retriever whose documents are ranked by a policy, and a chat history kept in a space.

retriever = RetentiveRetriever(space=memories.space("acme/alice"), k=5)
history = RetentiveChatMessageHistory("session-7", memories=memories)
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from retentive.extras import require_extra
from retentive.integrations.transcript import Said, Transcript
from retentive.memory import Retentive
from retentive.recall.outcome import Hit

require_extra("langchain_core", extra="langchain", user="The LangChain integration")

from langchain_core.callbacks import (  # noqa: E402 - behind the message that says how to install it
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.chat_history import BaseChatMessageHistory  # noqa: E402
from langchain_core.documents import Document  # noqa: E402
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict  # noqa: E402
from langchain_core.retrievers import BaseRetriever  # noqa: E402

ROOT = "langchain"


class RetentiveRetriever(BaseRetriever):
    """A retriever over one space: a query is a recall, a document is a hit."""

    space: Any
    """The `Space` to recall from; there is no retriever over several tenants."""

    k: int = 5
    """How many documents at most."""

    policy: Any = None
    """A policy or its name; that of the space's home if not given."""

    filters: dict[str, Any] = {}  # noqa: RUF012 - a pydantic field, copied for each instance
    """More of `Space.recall`'s arguments: kinds, tags, where, since, until, touch."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002
        recall = self.space.recall(query, limit=self.k, policy=self.policy, **self.filters)
        return [document(hit) for hit in recall]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
    ) -> list[Document]:
        return await asyncio.to_thread(self._get_relevant_documents, query, run_manager=run_manager.get_sync())


def document(hit: Hit) -> Document:
    """Return a hit as a document: the text, and beside the memory's own metadata where and when it comes from."""
    memory = hit.memory
    said = {
        "score": hit.score,
        "kind": memory.kind,
        "space": memory.space,
        "created_at": memory.created_at.isoformat(),
        "source": memory.source,
    }
    return Document(id=memory.id, page_content=memory.text, metadata={**memory.metadata, **said})


class RetentiveChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session, in a space of their own; ``limit`` shows only the latest so many."""

    def __init__(self, session_id: str, *, memories: Retentive, root: str = ROOT, limit: int | None = None) -> None:
        self.session_id = session_id
        self.transcript = Transcript(memories, session_id, root)
        self.limit = limit

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # "a property or attribute", says the base
        """The messages, oldest first."""
        return messages_from_dict(self.transcript.entries(self.limit))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages behind the last one."""
        self.transcript.append(
            Said(message_to_dict(message), message.text, message.name or message.type) for message in messages
        )

    def clear(self) -> None:
        """Erase all messages of the session."""
        self.transcript.clear()
