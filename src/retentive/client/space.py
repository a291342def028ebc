"""One tenant's memories on a server: the same verbs as `Space`, each one request."""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Never

from retentive.answer import Feedback, Recall
from retentive.client.looking import RemoteLooking
from retentive.client.minding import LONG, RemoteMind
from retentive.client.reviewing import RemoteReview
from retentive.client.sending import draft_data, fields_of, keyed, moments, plain, policy_data, state_data
from retentive.client.transport import Ask, Transport, segment
from retentive.errors import InvalidInput
from retentive.keeping import Keeper
from retentive.maintain.decide import PruneRules
from retentive.maintain.forget import Forgotten, Named, Order, named
from retentive.memory import Space
from retentive.pages import Page, Version
from retentive.policy.policy import Policy
from retentive.recall.absence import WhyNot
from retentive.recall.request import Tools
from retentive.stores.protocol import SpaceStore
from retentive.transfer import part_of
from retentive.types import AgentState, Draft, JournalEntry, Json, Memory, Moment
from retentive.wire.answers import recall_of
from retentive.wire.problems import error_of
from retentive.wire.values import read
from retentive.writing import checked_id

if TYPE_CHECKING:
    from retentive.client.home import RemoteRetentive

Progress = Callable[[int, int], None]
PAGE: Final = 1_000
LINES: Final = "application/x-ndjson"


class RemoteSpace(RemoteReview, RemoteMind, RemoteLooking, Space):
    """One tenant's memories on a server. Safe to share between threads."""

    _home: RemoteRetentive

    @property
    def store(self) -> SpaceStore:
        """There are no rows here: they are the server's."""
        return self._elsewhere("store")

    @property
    def _kept(self) -> SpaceStore:
        return self._elsewhere("this")

    def _keeper(self, store: SpaceStore, rules: PruneRules | None = None) -> Keeper:  # noqa: ARG002
        return self._elsewhere("this")

    @property
    def _recall_tools(self) -> Tools:
        return self._elsewhere("this")

    def _elsewhere(self, name: str) -> Never:
        raise InvalidInput(f"{name!r} is not possible over HTTP: do it where the store is.", name=name)

    @property
    def _transport(self) -> Transport:
        return self._home.transport

    def _ask(self, method: str, path: str, **more: Any) -> Any:
        return self._transport.ask(Ask(method, f"/v1/spaces/{segment(self.path)}{path}", **more))

    def _one(self, memory_id: str, path: str = "") -> str:
        return f"/memories/{segment(checked_id(memory_id))}{path}"

    def remember(self, text: str, *, once: str | None = None, **fields: Any) -> Memory:
        """Remember one text."""
        given = {name: value for name, value in fields.items() if value is not None}
        data = self._ask("POST", "/memories", body=draft_data({"text": text, **given}), headers=keyed(once))
        return read(Memory, data)

    def remember_many(
        self,
        items: Iterable[str | Mapping[str, Any] | Draft],
        *,
        progress: Progress | None = None,
        once: str | None = None,
    ) -> builtins.list[Memory]:
        """Remember many texts: one request, one transaction, all or none."""
        if isinstance(items, str | bytes | Mapping | Draft) or not isinstance(items, Iterable):
            raise InvalidInput(f"Cannot remember many from {items!r}; pass a list of texts, mappings or Drafts.")
        drafts = [draft_data(item) for item in items]
        if not drafts:
            return []
        answer = self._ask("POST", "/memories/batch", body={"memories": drafts}, headers=keyed(once))
        if progress is not None:
            progress(len(drafts), len(drafts))
        return [read(Memory, memory) for memory in answer["memories"]]

    def recall(self, cue: str | None = None, *, touch: bool = True, **asked: Any) -> Recall:
        """Bring up what is worth bringing up now."""
        body = {**self._question(cue, **asked), "trace": True, **({} if touch else {"touch": False})}
        if self._shared is not None and self._shared != self.path:
            body["shared"] = self._shared
        data = self._ask("POST", "/recall", body=body)
        return recall_of(data, self._feedback_on_answer(data, noted=touch))

    def _question(  # type: ignore[override]  # here a question is JSON
        self,
        cue: str | None,
        *,
        state: AgentState | None = None,
        policy: Policy | str | None = None,
        as_of: Moment | None = None,
        **asked: Any,
    ) -> dict[str, Any]:
        """Return a question as the server takes it."""
        chosen = policy if policy is not None else self._home.asked_policy
        return {**fields_of(cue=cue, state=state_data(state), **asked), **moments(as_of), **policy_data(chosen)}

    def _feedback_on_answer(self, data: Mapping[str, Any], *, noted: bool) -> Feedback:
        """Return how a recall gives feedback: what came from the shared space is read and never moved."""
        shown = [hit["memory"] for hit in data["hits"]]
        own = [memory["id"] for memory in shown if memory["space"] == self.path]
        foreign = {memory["id"] for memory in (*shown, *data["core"]) if memory["space"] != self.path}

        def give(recall_id: str, used: Sequence[str], outcome: str | None) -> None:
            mine = [name for name in used if name not in foreign]
            if not noted and outcome and not used:
                mine = own  # the server has no note of what it answered
            if mine or (noted and not used):
                self.feedback(recall_id, used=mine, outcome=outcome)

        return give

    def why_not(self, id: str, cue: str | None = None, **asked: Any) -> WhyNot:  # noqa: A002
        """Say what kept a memory out of the answer to a question."""
        return read(WhyNot, self._ask("POST", self._one(id, "/why-not"), body=self._question(cue, **asked)))

    def feedback(
        self, recall_id: str, *, used: Iterable[str] = (), outcome: str | None = None, once: str | None = None
    ) -> None:
        """Say which memories of a recall were used, and how it went ("good" or "bad")."""
        body = fields_of(recall_id=checked_id(recall_id), used=used, outcome=outcome)
        self._ask("POST", "/feedback", body=body, headers=keyed(once))

    def get(self, id: str, *, touch: bool = True, as_of: Moment | None = None) -> Memory:  # noqa: A002
        """Fetch one memory by its id, retrievable or not; counts as an access unless ``touch=False``."""
        query = {**moments(as_of), **({} if touch else {"touch": "false"})}
        return read(Memory, self._ask("GET", self._one(id), query=query))

    def list(
        self,
        *,
        kinds: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
        where: Mapping[str, Json] | None = None,
        as_of: Moment | None = None,
        limit: int = 50,
        **filters: Any,
    ) -> Page:
        """List memories, newest first; ``hidden=True`` shows superseded, forgotten and expired ones as well."""
        query = {**fields_of(kinds=kinds, tags=tags, **filters), **moments(as_of)}
        if where is not None:
            query["where"] = json.dumps(plain(where, "where"))
        flags = {name: str(value).lower() for name, value in query.items() if isinstance(value, bool)}
        page = self._ask("GET", "/memories", query={**query, **flags, "limit": limit})
        return Page([read(Memory, memory) for memory in page["memories"]], page["cursor"])

    def update(
        self,
        id: str,  # noqa: A002
        *,
        reason: str = "",
        version: str | None = None,
        once: str | None = None,
        **changes: Any,
    ) -> Memory:
        """Change fields of a memory; a changed text is embedded anew. The journal keeps what it was."""
        body = {name: plain(value, name) for name, value in changes.items()}
        if reason:
            body["reason"] = plain(reason, "reason")
        return read(Memory, self._ask("PATCH", self._one(id), body=body, headers=keyed(once, version)))

    def forget(
        self,
        id: str | Iterable[str] | None = None,  # noqa: A002
        *,
        source: str | None = None,
        person: str | None = None,
        erase: bool = False,
        derived: bool = False,
        dry_run: bool = False,
        reason: str = "",
        version: str | None = None,
        once: str | None = None,
    ) -> Forgotten:
        """Hide memories from recall for good; ``erase=True`` removes every word of them and leaves tombstones."""
        what = named(id, source, person)
        if version is not None:
            return self._forget_one(what, Order(erase, derived, dry_run, reason), version, once)
        said = {"ids": list(what.ids), "source": source, "person": person, "reason": reason}
        flags = {"erase": erase, "derived": derived, "dry_run": dry_run}
        body = {name: value for name, value in {**said, **flags}.items() if value}
        return read(Forgotten, self._ask("POST", "/forget", body=body, headers=keyed(once, None)))

    def _forget_one(self, what: Named, order: Order, version: str, once: str | None) -> Forgotten:
        """Forget one memory if nobody changed it since."""
        if len(what.ids) != 1 or order.derived or order.dry_run:
            raise InvalidInput("version= goes with one id, without derived and dry_run.", value=version)
        query = {**({"erase": "true"} if order.erase else {}), **({"reason": order.reason} if order.reason else {})}
        self._ask("DELETE", self._one(what.ids[0]), query=query, headers=keyed(once, version))
        return Forgotten(what.ids, order.erase)

    def history(self, id: str) -> builtins.list[Version]:  # noqa: A002
        """Return every state a memory has had, oldest first."""
        return [read(Version, version) for version in self._ask("GET", self._one(id, "/history"))["versions"]]

    def journal(
        self,
        id: str | None = None,  # noqa: A002
        *,
        after: int = 0,
        limit: int | None = None,
    ) -> builtins.list[JournalEntry]:
        """Return what was done, in order: to one memory, or in the whole space."""
        if id is not None:
            lines = [read(JournalEntry, line) for line in self._ask("GET", self._one(id, "/journal"))["entries"]]
            return [line for line in lines if line.sequence > after][:limit]
        found: list[JournalEntry] = []
        while limit is None or len(found) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(found))
            page = self._ask("GET", "/journal", query={"after": after, "limit": size})
            found += [read(JournalEntry, line) for line in page["entries"]]
            if (following := page["after"]) is None:
                break
            after = following
        return found

    def chain(self, id: str) -> builtins.list[Memory]:  # noqa: A002
        """Return the supersession chain a memory belongs to, oldest first."""
        return [read(Memory, memory) for memory in self._ask("GET", self._one(id, "/chain"))["memories"]]

    def export(self, path: str | Path, *, as_of: Moment | None = None, progress: Progress | None = None) -> int:
        """Write everything to a JSONL file; it gets its name only when it is whole."""
        target = Path(path)
        asked = Ask("GET", f"/v1/spaces/{segment(self.path)}/export", moments(as_of), timeout=LONG)
        with self._transport.stream(asked) as answer:
            total, done = int(answer.getheader("Retentive-Memories") or 0), 0
            part = part_of(target)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                for line in answer:
                    file.write(line)
                    done += line.startswith(b'{"type":"memory"')
                    if progress is not None and done % PAGE == 0:
                        progress(done, total)
        part.replace(target)
        if progress is not None:
            progress(total, total)
        return total

    def import_(self, path: str | Path, *, progress: Progress | None = None) -> int:
        """Read a JSONL export into this space; returns the number of memories added."""
        source = Path(path)
        size = str(source.stat().st_size)
        asked = Ask(
            "POST",
            f"/v1/spaces/{segment(self.path)}/import",
            headers={"Accept": LINES, "Content-Length": size, "Content-Type": LINES, **keyed(None)},
            upload=lambda: source.open("rb"),
            timeout=LONG,
        )
        with self._transport.stream(asked) as answer:
            for line in answer:
                told = json.loads(line)
                if "result" in told:
                    answer.read()
                    return int(told["result"]["added"])
                if "done" not in told:
                    raise error_of(int(told.get("status", 500)), told)
                if progress is not None:
                    progress(told["done"], told["total"])
        raise error_of(500, None)

    def __repr__(self) -> str:
        return f"<Space {self.path!r} at {self._transport.address}>"
