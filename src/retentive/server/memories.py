"""The operations on memories: remember, fetch, list, change, forget, and what became of them."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from retentive.errors import Forbidden, InvalidInput
from retentive.maintain.forget import Forgotten
from retentive.pages import Version
from retentive.server.operations import Answer, Call, Operation
from retentive.server.shapes import Schema, flag, given, moment, number, optional, record, text, texts, whole
from retentive.types import AsOf, JournalEntry, Memory
from retentive.wire.answers import memory_data
from retentive.wire.values import written

NAME: Final = {"maxLength": 1000, "minLength": 1}
METADATA: Final[Schema] = {
    "type": "object",
    "description": "Any JSON object of your own.",
    "additionalProperties": True,
}
KIND: Final = text("A kind: fact, preference, event, …, or one that the server registers.", maxLength=63)

CHANGEABLE: Final[dict[str, Schema]] = {
    "text": text("What to remember.", minLength=1, maxLength=4_000_000),
    "kind": KIND,
    "importance": number("How important, 0 to 1; left out, the server decides.", minimum=0, maximum=1),
    "key": optional(text("What it answers; a newer one with the same key supersedes it.", **NAME)),
    "tags": texts("Words to filter by."),
    "source": optional(text("Where it comes from, e.g. turn:12.", **NAME)),
    "metadata": METADATA,
    "valid_from": optional(moment("True from this moment.")),
    "valid_until": optional(moment("True until this moment.")),
    "pinned": flag("Always in the prompt's core block."),
    "permanent": flag("Never decays."),
    "recurs": optional(text("yearly, monthly, weekly or an RFC 5545 rule.", maxLength=1000)),
    "trust": number("How far the source is believed, 0 to 1.", minimum=0, maximum=1),
}
DRAFT: Final = {
    **CHANGEABLE,
    "at": moment("When it was said; left out: now."),
    "speaker": optional(text("Who said it.", **NAME)),
    "session": optional(text("The conversation it belongs to.", **NAME)),
    "supersedes": texts("Ids of memories that it takes the place of."),
    "derived_from": texts("Ids of memories that it was concluded from."),
    "id": optional(text("An id of your own.", **NAME)),
    "ttl": number("True for so many seconds from when it was said, instead of valid_until.", exclusiveMinimum=0),
}
MOMENTS: Final[dict[str, Schema]] = {
    "as_of": moment("What was known and true at this moment."),
    "true_as_of": moment("What was true at this moment, as it is known now (or at known_as_of)."),
    "known_as_of": moment("What was known at this moment, and is true now (or at true_as_of)."),
}
FILTERS: Final[dict[str, Schema]] = {
    "kinds": texts("Only these kinds.", examples=[["fact", "decision"]]),
    "tags": texts("Only with all of these tags."),
    "where": {"type": "object", "description": "Only where this metadata is equal.", "additionalProperties": True},
    "since": moment("Only said at or after this moment."),
    "until": moment("Only said before this moment."),
    **MOMENTS,
}
REASON: Final = text("Why, for the journal.", maxLength=1000)
FORGET: Final[dict[str, Schema]] = {
    "ids": texts("These memories."),
    "source": text("Everything that comes from this source.", **NAME),
    "person": text("Everything that names this person.", **NAME),
    "erase": flag("Remove text and vector from every file, leave tombstones."),
    "derived": flag("Also what was concluded from it, or says it word for word."),
    "dry_run": flag("Only say what would be forgotten."),
    "reason": REASON,
}
MOST: Final = whole("How many at most.", minimum=1, maximum=10_000, default=100)
CURSOR: Final = text("Where the last page ended: its `cursor`.", maxLength=4096)
EXAMPLE: Final = {"text": "Prefers Postgres for relational work", "kind": "preference", "key": "database"}
BATCH: Final = record(
    "Several memories: all are remembered, or none.",
    {
        "memories": {
            "type": "array",
            "items": record("A memory to be.", DRAFT, ["text"]),
            "maxItems": 100_000,
            "description": "The memories to be.",
        }
    },
    ["memories"],
)


def remember(call: Call) -> Answer:
    """Remember one text."""
    memory = call.space.remember(**given(call.body), once=call.once)
    return Answer(memory_data(memory), 201, {"Location": location_of(memory), **_tag(memory)})


def remember_many(call: Call) -> Answer:
    """Remember several texts."""
    most = call.settings.max_batch
    if len(call.body["memories"]) > most:
        raise InvalidInput(
            f"The batch has {len(call.body['memories'])} memories; at most {most} at once (serve.max_batch). Split it.",
            limit=most,
        )
    kept = call.space.remember_many([given(item) for item in call.body["memories"]], once=call.once)
    return Answer({"memories": [memory_data(memory) for memory in kept]}, 201)


def location_of(memory: Memory) -> str:
    """Return where a memory is found."""
    return f"/v1/spaces/{quote(memory.space, safe='')}/memories/{quote(memory.id, safe='')}"


def with_moments(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what was asked with its moments on the two time axes as the façade takes them."""
    true, known = asked.pop("true_as_of", None), asked.pop("known_as_of", None)
    if true is None and known is None:
        return asked
    if "as_of" in asked:
        raise InvalidInput("as_of is both axes at once; give it, or true_as_of and known_as_of.", field="as_of")
    return {**asked, "as_of": AsOf(true, known)}


def touch_of(call: Call, asked: bool | None) -> bool:
    """Whether a reading counts as a use: as asked, else where the key may write."""
    if asked and not call.grant.may("write"):
        raise Forbidden("touch=true writes, and this key may only read; leave touch out.", reason="right")
    return call.grant.may("write") if asked is None else asked


def get(call: Call) -> Answer:
    """Fetch one memory."""
    asked = with_moments(dict(call.query))
    memory = call.space.get(call.path["id"], **{**asked, "touch": touch_of(call, asked.get("touch"))})
    known = memory.version in call.if_none_match or "*" in call.if_none_match
    return Answer(None if known else memory_data(memory), 304 if known else 200, _tag(memory))


def _tag(memory: Memory) -> dict[str, str]:
    """Return the ETag: it stands for what a memory says and is, not for how often it was read."""
    return {"ETag": f'"{memory.version}"'}


def _version(call: Call) -> str | None:
    """Return the version that a change may be made to, as If-Match says."""
    if call.if_match is None or "*" in call.if_match:
        return None
    if len(call.if_match) == 1:
        return call.if_match[0]
    current = call.space.get(call.path["id"], touch=False).version
    return current if current in call.if_match else call.if_match[0]


def list_memories(call: Call) -> Answer:
    """List memories."""
    page = call.space.list(**with_moments(dict(call.query)))
    return Answer({"memories": [memory_data(memory) for memory in page], "cursor": page.cursor})


def update(call: Call) -> Answer:
    """Change a memory."""
    changes = dict(call.body)
    reason = changes.pop("reason", "")
    memory = call.space.update(call.path["id"], reason=reason, version=_version(call), once=call.once, **changes)
    return Answer(memory_data(memory), headers=_tag(memory))


def forget(call: Call) -> Answer:
    """Forget a memory."""
    call.space.forget(call.path["id"], **call.query, version=_version(call), once=call.once)
    return Answer(status=204)


def forget_by(call: Call) -> Answer:
    """Forget several memories, or those of a source or a person."""
    asked = given(call.body)
    return Answer(written(call.space.forget(asked.pop("ids", None), **asked, once=call.once)))


def history(call: Call) -> Answer:
    """Return every state of a memory."""
    return Answer({"versions": [written(version) for version in call.space.history(call.path["id"])]})


def chain(call: Call) -> Answer:
    """Return the chain a memory is in."""
    return Answer({"memories": [memory_data(memory) for memory in call.space.chain(call.path["id"])]})


def journal_of(call: Call) -> Answer:
    """Return what was done to a memory."""
    return Answer({"entries": [written(line) for line in call.space.journal(call.path["id"])]})


_ALL = "/v1/spaces/{space}/memories"
_ONE = _ALL + "/{id}"
OPERATIONS: Final = (
    Operation(
        "remember",
        "POST",
        _ALL,
        "write",
        "Remember a text",
        remember,
        body=record("A memory to be.", DRAFT, ["text"]),
        example=EXAMPLE,
        answers=Memory,
        status=201,
        once=True,
        etag="give",
        about="A newer memory with the same `key` supersedes the older one at once. The space is made if it is new.",
    ),
    Operation(
        "remember_many",
        "POST",
        _ALL + "/batch",
        "write",
        "Remember several texts, all or none",
        remember_many,
        body=BATCH,
        example={"memories": [EXAMPLE, {"text": "Moved to Lisbon", "kind": "event"}]},
        answers={"memories": [Memory]},
        status=201,
        once=True,
    ),
    Operation(
        "list_memories",
        "GET",
        _ALL,
        "read",
        "List memories, newest first",
        list_memories,
        query={
            **FILTERS,
            "pinned": flag("Only pinned memories, or only the others."),
            "hidden": flag("Also superseded, forgotten and expired ones."),
            "limit": whole("How many at most.", minimum=1, maximum=1000, default=50),
            "cursor": CURSOR,
        },
        answers={"memories": [Memory], "cursor": str | None},
        about='`where` is a JSON object, e.g. `where={"ticket":7}`; lists are repeated, e.g. `kinds=fact&kinds=event`.',
    ),
    Operation(
        "get",
        "GET",
        _ONE,
        "read",
        "Fetch one memory, whether recall may return it or not",
        get,
        query={"touch": flag("Whether it counts as a use; left out: where the key may write."), **MOMENTS},
        answers=Memory,
        etag="give",
    ),
    Operation(
        "update",
        "PATCH",
        _ONE,
        "write",
        "Change a memory; the journal keeps what it was",
        update,
        body=record("What to change.", {**CHANGEABLE, "reason": REASON}, nulls=False, minProperties=1),
        example={"importance": 0.9, "reason": "she said so twice"},
        answers=Memory,
        once=True,
        etag="match",
    ),
    Operation(
        "forget",
        "DELETE",
        _ONE,
        "write",
        "Hide a memory from recall, or erase it",
        forget,
        query={"erase": flag("Remove text and vector, leave a tombstone."), "reason": REASON},
        status=204,
        once=True,
        etag="match",
    ),
    Operation(
        "forget_by",
        "POST",
        "/v1/spaces/{space}/forget",
        "write",
        "Hide or erase several memories: by ids, by source, or by a person they name",
        forget_by,
        body=record("What to forget: exactly one of ids, source and person.", FORGET),
        example={"source": "chat:7", "erase": True, "dry_run": True},
        answers=Forgotten,
        once=True,
        about="`left` names what was concluded from it or says it word for word; `derived` takes that along.",
    ),
    Operation(
        "history",
        "GET",
        _ONE + "/history",
        "read",
        "Every state that a memory has had, oldest first",
        history,
        answers={"versions": [Version]},
    ),
    Operation(
        "journal_of_memory",
        "GET",
        _ONE + "/journal",
        "read",
        "What was done to a memory, in order",
        journal_of,
        answers={"entries": [JournalEntry]},
    ),
    Operation(
        "chain",
        "GET",
        _ONE + "/chain",
        "read",
        "The supersession chain a memory belongs to, oldest first",
        chain,
        answers={"memories": [Memory]},
    ),
)
