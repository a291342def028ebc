"""The tools that write: `remember`, `update_memory`, `forget`, `reflect`, `feedback`.

What a model may not say about a memory is not among their arguments: its id, how far its source is trusted, and that it
is exempt from upkeep. Erasing, which nothing undoes, is on offer only where whoever runs the server allows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from retentive.mcp.schemas import anything, choice, flag, moment, number, read_moment, record, text, texts
from retentive.mcp.toolbox import Access, Answer, Hints, Tool
from retentive.mcp.wording import MEMORIES, MEMORY, NOTE, ids, memory_data, quoted
from retentive.recalling import OUTCOMES

_ADDS: Final = Hints()
_CHANGES: Final = Hints(destructive=True, idempotent=True)
_MOMENTS: Final[tuple[str, ...]] = ("at", "valid_from", "valid_until")
_ID: Final = text("The memory's id, as `recall` and `list_memories` give it.")
_REASON: Final = text("Why, for the journal.")


def changing_tools(kinds: Sequence[str], *, erase: bool = False) -> tuple[Tool, ...]:
    """Return the tools that write, for a store with these kinds; ``erase`` lets `forget` erase."""
    return (_remember_tool(kinds), _update_tool(kinds), _forget_tool(erase=erase), _reflect_tool(), _feedback_tool())


def _details(kinds: Sequence[str]) -> dict[str, Any]:
    return {
        "kind": choice("What sort of memory it is; fact if not said.", kinds),
        "importance": number("How important it is: 0.9 for what must not be missed, 0.2 for chatter.", 0, 1),
        "key": text("What it answers, e.g. 'database': a newer memory with this key supersedes the older one."),
        "tags": texts("Short labels to filter by."),
        "source": text("Where it comes from, e.g. 'turn:12' or a URL."),
        "metadata": anything('Anything to find it by, e.g. {"ticket": 7}.'),
        "valid_from": moment("True from this moment."),
        "valid_until": moment("True until this moment."),
        "recurs": text("yearly, monthly, weekly or an RFC 5545 rule: resurfaces near its day."),
        "pinned": flag("Show it with every recall. Rarely."),
    }


def _remember_tool(kinds: Sequence[str]) -> Tool:
    return Tool(
        "remember",
        "Remember",
        "Keep one fact, preference, decision, event or procedure for later conversations. One self-contained statement "
        "a call, with the names in it: 'Alice prefers Postgres for relational work', not 'she prefers it'. Use `key` "
        "for what has one current answer. Keep no secrets and nothing you would not show again.",
        record(
            {
                "text": text("The statement, understandable on its own."),
                **_details(kinds),
                "speaker": text("Who said it."),
                "session": text("The id of this conversation."),
                "at": moment("When it was said, if not now."),
                "supersedes": texts("Ids of memories that this one makes outdated."),
            },
            required=["text"],
        ),
        record({"id": text("Its id."), "memory": MEMORY}, required=["id", "memory"]),
        _ADDS,
        _remember,
        "Call `remember` when you learn something that will matter in a later conversation.",
    )


def _remember(access: Access, arguments: dict[str, Any]) -> Answer:
    memory = access.space.remember(**_with_moments(arguments))
    words = f"Remembered as {ids([memory.id])}."
    if memory.supersedes:
        words += f" It supersedes {ids(memory.supersedes)}."
    if memory.superseded_by:
        words += f" What was said later, {ids([memory.superseded_by])}, still stands."
    return Answer(words, {"id": memory.id, "memory": memory_data(memory, access.now())}, changed=True)


def _with_moments(arguments: dict[str, Any]) -> dict[str, Any]:
    moments = {name: read_moment(arguments[name], name) for name in _MOMENTS if name in arguments}
    return {**arguments, **moments}


def _update_tool(kinds: Sequence[str]) -> Tool:
    return Tool(
        "update_memory",
        "Update a memory",
        "Correct a memory in place; its history keeps what it was. If the world changed rather than the record being "
        "wrong, `remember` the new state with the same key instead.",
        record(
            {"id": _ID, "text": text("The corrected statement."), **_details(kinds), "reason": _REASON},
            required=["id"],
        ),
        record({"memory": MEMORY}, required=["memory"]),
        _CHANGES,
        _update,
    )


def _update(access: Access, arguments: dict[str, Any]) -> Answer:
    changes = _with_moments(arguments)
    memory = access.space.update(changes.pop("id"), **changes)
    now = access.now()
    return Answer(f"Updated.\n\n{quoted([memory], now)}", {"memory": memory_data(memory, now)}, changed=True)


def _forget_tool(*, erase: bool) -> Tool:
    arguments = {"id": _ID, "reason": _REASON}
    if erase:
        arguments["erase"] = flag("Also remove its text for good. Nothing brings it back: only when the user asks.")
    return Tool(
        "forget",
        "Forget",
        "Hide a memory from recall for good. Its history stays"
        + ("; `erase` removes its text as well." if erase else ", so a mistake can be undone."),
        record(arguments, required=["id"]),
        record({"id": text("Its id."), "erased": flag("Whether its text is gone.")}, required=["id", "erased"]),
        _CHANGES,
        _forget,
        "Call `forget` when the user asks you to forget something.",
    )


def _forget(access: Access, arguments: dict[str, Any]) -> Answer:
    erase = arguments.get("erase", False)
    access.space.forget(arguments["id"], erase=erase, reason=arguments.get("reason", ""))
    words = f"{'Erased' if erase else 'Forgotten'}: {ids([arguments['id']])}."
    return Answer(words, {"id": arguments["id"], "erased": erase}, changed=True)


def _reflect_tool() -> Tool:
    return Tool(
        "reflect",
        "Reflect",
        "Draw insights from the latest memories, each with the ids it rests on. Does nothing until enough has "
        "gathered, unless `force` is given.",
        record({"force": flag("Do not wait until enough has gathered.")}),
        record(
            {
                "note": text("How to read this."),
                "fired": flag("Whether anything was done."),
                "reason": text("Why, or why not."),
                "method": text("How: questions, flat or extractive."),
                "insights": MEMORIES,
            },
            required=["note", "fired", "reason", "method", "insights"],
        ),
        Hints(open_world=True),  # the language model, where one is configured
        _reflect,
        slow=True,
    )


def _reflect(access: Access, arguments: dict[str, Any]) -> Answer:
    told = access.space.reflect(force=arguments.get("force", False))
    now = access.now()
    data = {
        "note": NOTE,
        "fired": told.fired,
        "reason": told.reason,
        "method": told.method,
        "insights": [memory_data(memory, now) for memory in told.insights],
    }
    words = f"{'Reflected' if told.fired else 'Not reflected'}: {told.reason}."
    if told.insights:
        words += "\n\n" + quoted(told.insights, now, name="insights")
    return Answer(words, data, changed=told.fired)


def _feedback_tool() -> Tool:
    return Tool(
        "feedback",
        "Feedback",
        "Say which memories of a recall you used and how it went. It teaches what matters: importance moves by at most "
        "5 % a call.",
        record(
            {
                "recall_id": text("The id that `recall` gave."),
                "used": texts("Ids of the memories you used."),
                "outcome": choice("How it went.", OUTCOMES),
            },
            required=["recall_id"],
        ),
        record({"recall_id": text("Which recall."), "used": texts("Which memories.")}, required=["recall_id", "used"]),
        _ADDS,
        _feedback,
        "Call `feedback` after you used what `recall` returned.",
    )


def _feedback(access: Access, arguments: dict[str, Any]) -> Answer:
    used = arguments.get("used", [])
    access.space.feedback(arguments["recall_id"], used=used, outcome=arguments.get("outcome"))
    return Answer("Noted.", {"recall_id": arguments["recall_id"], "used": used}, changed=True)
