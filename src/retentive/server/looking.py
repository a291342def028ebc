"""The operations that show and change nothing: recalls as they were answered, and how a memory fades."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from retentive.recall.fading import MOST_POINTS, Fading
from retentive.server.memories import CURSOR
from retentive.server.operations import Answer, Call, Operation
from retentive.server.recalls import POLICY, policy_asked
from retentive.server.shapes import Schema, given, moment, number, text, whole
from retentive.types import LedgerEntry
from retentive.wire.values import written

_SPACE = "/v1/spaces/{space}"
_ENTRY: Final[Schema] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "at": {"type": "string", "format": "date-time"},
        "policy": {"type": "string"},
        "cue": {"type": "string"},
        "ids": {"type": "array", "items": {"type": "string"}},
        "scores": {"type": "array", "items": {"type": "number"}},
        "used": {"type": "array", "items": {"type": "string"}},
        "outcome": {"type": ["string", "null"]},
    },
    "required": ["id", "at", "policy", "cue", "ids", "scores", "used", "outcome"],
}


def recalls(call: Call) -> Answer:
    """List recalls out of the ledger."""
    page = call.space.recalls(**call.query)
    return Answer({"recalls": [_entry(entry) for entry in page], "cursor": page.cursor})


def recall_entry(call: Call) -> Answer:
    """Return one recall out of the ledger."""
    return Answer(_entry(call.space.recall_entry(call.path["id"])))


def _entry(entry: LedgerEntry) -> dict[str, Any]:
    data: dict[str, Any] = written(entry)
    return {name: value for name, value in data.items() if name != "cue_vector"}


def fading(call: Call) -> Answer:
    """Return how a memory fades."""
    asked = given(call.query)
    policy = policy_asked(asked.pop("policy", None), asked.pop("policy_toml", None))
    if "ahead_days" in asked:
        asked["ahead"] = timedelta(days=asked.pop("ahead_days"))
    return Answer(written(call.space.fading(call.path["id"], policy=policy, **asked)))


OPERATIONS: Final = (
    Operation(
        "recalls",
        "GET",
        _SPACE + "/recalls",
        "read",
        "Recalls as they were answered, newest first",
        recalls,
        query={
            "since": moment("Those from this moment on."),
            "policy": text("Those under this policy.", maxLength=200),
            "limit": whole("How many at most.", minimum=1, maximum=1000, default=50),
            "cursor": CURSOR,
        },
        answers={"recalls": [_ENTRY], "cursor": str | None},
        tag="recall",
    ),
    Operation(
        "recall_entry",
        "GET",
        _SPACE + "/recalls/{id}",
        "read",
        "One recall as it was answered",
        recall_entry,
        answers=_ENTRY,
        tag="recall",
    ),
    Operation(
        "fading",
        "GET",
        _SPACE + "/memories/{id}/fading",
        "read",
        "How a memory faded and will fade under a policy",
        fading,
        query={
            **POLICY,
            "ahead_days": number("How far ahead to look.", minimum=0, maximum=36_525),
            "points": whole("How many points of each curve.", minimum=2, maximum=MOST_POINTS),
            "now": moment("As if it were this moment."),
        },
        answers=Fading,
        tag="memories",
        about="Each point is the signal itself, asked at that moment of what was known then.",
    ),
)
