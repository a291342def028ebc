"""The operations of review: what denies or repeats what, who decides, and what language models have taken."""

from __future__ import annotations

from typing import Final

from retentive.jobs.spending import Spent
from retentive.judging import Judged
from retentive.review import STATES, Conflict, Repetition
from retentive.server.memories import CURSOR, MOST, NAME, REASON
from retentive.server.operations import Answer, Call, Operation
from retentive.server.shapes import flag, given, record, text, whole
from retentive.types import Memory
from retentive.wire.answers import memory_data
from retentive.wire.values import written

ALL: Final = "all"
WHY: Final = record("Why.", {"reason": REASON})


def conflicts(call: Call) -> Answer:
    """List memories that deny older ones."""
    asked = dict(call.query)
    if asked.get("status") == ALL:
        asked["status"] = None
    page = call.space.conflicts(**asked)
    return Answer({"conflicts": [written(one) for one in page], "cursor": page.cursor})


def find_conflicts(call: Call) -> Answer:
    """Look for conflicts among what is there already."""
    found = call.space.find_conflicts(**given(call.body), progress=call.progress)
    return Answer({"conflicts": [written(one) for one in found]})


def judge_conflicts(call: Call) -> Answer:
    """Have the server's language model decide conflicts that wait."""
    return Answer(written(call.space.judge_conflicts(**given(call.body), progress=call.progress)))


def accept(call: Call) -> Answer:
    """Let the newer memory of a conflict supersede the older."""
    return Answer(written(call.space.accept(call.path["id"], **given(call.body), once=call.once)))


def dismiss(call: Call) -> Answer:
    """Say that a conflict is none."""
    return Answer(written(call.space.dismiss(call.path["id"], **given(call.body), once=call.once)))


def repetitions(call: Call) -> Answer:
    """List what was said again."""
    page = call.space.repetitions(**call.query)
    return Answer({"repetitions": [written(one) for one in page], "cursor": page.cursor})


def separate(call: Call) -> Answer:
    """Keep a repetition as a memory of its own."""
    return Answer(memory_data(call.space.separate(call.path["id"], **given(call.body), once=call.once)))


def usage(call: Call) -> Answer:
    """Return what language models have taken."""
    return Answer({"usage": [written(one) for one in call.space.usage()]})


_SPACE = "/v1/spaces/{space}"
OPERATIONS: Final = (
    Operation(
        "conflicts",
        "GET",
        _SPACE + "/conflicts",
        "read",
        "Memories that deny older ones, newest first",
        conflicts,
        query={
            "status": {
                "type": "string",
                "enum": [*STATES, ALL],
                "description": "What became of them; left out: those that wait for a decision.",
            },
            "limit": MOST,
            "cursor": CURSOR,
        },
        answers={"conflicts": [Conflict], "cursor": str | None},
        tag="review",
    ),
    Operation(
        "find_conflicts",
        "POST",
        _SPACE + "/conflicts/find",
        "write",
        "Look for conflicts among the memories that are there already; lists, and never applies",
        find_conflicts,
        body=record("Where.", {"limit": whole("Among the newest so many.", minimum=1, maximum=1_000_000)}),
        example={"limit": 1000},
        answers={"conflicts": [Conflict]},
        lane="long",
        tag="review",
        once=True,
        noted="space",
    ),
    Operation(
        "judge_conflicts",
        "POST",
        _SPACE + "/conflicts/judge",
        "write",
        "Have the server's language model decide conflicts that wait",
        judge_conflicts,
        body=record(
            "Which.",
            {
                "limit": whole("The newest so many.", minimum=1, maximum=10_000),
                "dry_run": flag("Only say how many there are, and what asking would take."),
            },
        ),
        example={"dry_run": True},
        answers=Judged,
        lane="long",
        tag="review",
        about="Where the model is unsure or fails, nothing changes; without one it is 422.",
        once=True,
        noted="space",
    ),
    Operation(
        "accept",
        "POST",
        _SPACE + "/conflicts/{id}/accept",
        "write",
        "Let the newer memory of a conflict supersede the older",
        accept,
        body=WHY,
        example={"reason": "she said so herself"},
        answers=Conflict,
        tag="review",
        once=True,
    ),
    Operation(
        "dismiss",
        "POST",
        _SPACE + "/conflicts/{id}/dismiss",
        "write",
        "Say that a conflict is none; a memory that was retired for it comes back",
        dismiss,
        body=WHY,
        example={"reason": "she said so herself"},
        answers=Conflict,
        tag="review",
        once=True,
    ),
    Operation(
        "repetitions",
        "GET",
        _SPACE + "/repetitions",
        "read",
        "What was said again and only reinforced a memory, newest first",
        repetitions,
        query={"memory": text("Only of this memory, by its id.", **NAME), "limit": MOST, "cursor": CURSOR},
        answers={"repetitions": [Repetition], "cursor": str | None},
        tag="review",
    ),
    Operation(
        "separate",
        "POST",
        _SPACE + "/repetitions/{id}/separate",
        "write",
        "Keep a repetition as a memory of its own after all",
        separate,
        body=WHY,
        example={"reason": "she said so herself"},
        answers=Memory,
        tag="review",
        once=True,
    ),
    Operation(
        "usage",
        "GET",
        _SPACE + "/usage",
        "read",
        "What language models have taken for the space, by kind of work and model",
        usage,
        answers={"usage": [Spent]},
        tag="jobs",
    ),
)
