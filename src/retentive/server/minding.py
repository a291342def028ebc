"""The operations of a space that thinks: taking conversations in, its queue of jobs, and a policy of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, get_args

from retentive.adaptive.book import Adaptation
from retentive.errors import InvalidInput
from retentive.jobs import Ran
from retentive.jobs.run import Forecast
from retentive.observe.outcome import Observation
from retentive.server.memories import CURSOR, MOST, NAME
from retentive.server.operations import Answer, Call, Operation
from retentive.server.recalls import POLICY, policy_asked
from retentive.server.shapes import Schema, flag, given, moment, number, record, text, texts, whole
from retentive.space_policy import Applied
from retentive.thinking.again import Rerated
from retentive.types import Job, JobState
from retentive.weighing.catalogue import RATERS
from retentive.wire.values import written

_SPACE = "/v1/spaces/{space}"
IDS: Final = record("Which jobs.", {"ids": texts("Their ids; left out: all that are dead.", maxItems=1000)})


def observe(call: Call) -> Answer:
    """Take a conversation in."""
    asked = given(call.body)
    if "gap" in asked:
        asked["gap"] = timedelta(seconds=asked["gap"])
    return Answer(written(call.space.observe(asked.pop("messages"), **asked)))


def list_jobs(call: Call) -> Answer:
    """List the jobs that are not done."""
    page = call.space.jobs(**{"limit": MOST["default"], **call.query})
    return Answer({"jobs": [written(job) for job in page], "cursor": page.cursor})


def run_jobs(call: Call) -> Answer:
    """Do what is due."""
    return Answer(written(call.space.run_jobs(**given(call.body), progress=call.progress)))


def forecast_jobs(call: Call) -> Answer:
    """Say what the due jobs would take of the language model."""
    return Answer({"forecasts": [written(one) for one in call.space.forecast_jobs()]})


def retry_jobs(call: Call) -> Answer:
    """Let jobs be tried again."""
    return Answer({"jobs": [written(job) for job in call.space.retry_jobs(*_ids(call), once=call.once)]})


def drop_jobs(call: Call) -> Answer:
    """Remove jobs undone."""
    return Answer({"dropped": call.space.drop_jobs(*_ids(call), once=call.once)})


def _ids(call: Call) -> Sequence[str]:
    return call.body.get("ids") or ()


def space_policy(call: Call) -> Answer:
    """Return the policy of recalls that name none."""
    space = call.space
    return Answer({"in_force": written(space.policy_in_force()), "applied": written(space.applied_policy())})


def apply_policy(call: Call) -> Answer:
    """Make a policy the space's own."""
    asked = given(call.body)
    policy = policy_asked(asked.get("policy"), asked.get("policy_toml"))
    if policy is None:
        raise InvalidInput("Which policy? Give policy, the name of a preset, or policy_toml.", field="policy")
    return Answer(written(call.space.apply_policy(policy, asked.get("note", ""), once=call.once)))


def undo_policy(call: Call) -> Answer:
    """Take back the latest policy of the space's own."""
    return Answer({"applied": written(call.space.undo_policy(once=call.once))})


def rate(call: Call) -> Answer:
    """Rate anew how important memories are."""
    return Answer(written(call.space.rate(**given(call.body), progress=call.progress)))


def adaptation(call: Call) -> Answer:
    """Return how the space adapts."""
    return Answer(written(call.space.adaptation()))


def adapt(call: Call) -> Answer:
    """Let weights follow feedback, or stop it."""
    return Answer(written(call.space.adapt(**given(call.body), once=call.once)))


_IN_FORCE: Final[Schema] = {"type": "string", "description": "The policy of recalls that name none, as TOML."}
OPERATIONS: Final = (
    Operation(
        "observe",
        "POST",
        _SPACE + "/observe",
        "write",
        "Take a conversation in: turns as episodes, and the memories they hold",
        observe,
        body=record(
            "A conversation.",
            {
                "messages": {
                    "type": "array",
                    "items": {"type": "object", "additionalProperties": True},
                    "description": "Chat messages as OpenAI, Anthropic or LangChain shape them.",
                    "maxItems": 10_000,
                },
                "session": text("The conversation's name.", **NAME),
                "at": moment("The time of messages without one."),
                "trust": {
                    "type": "object",
                    "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
                    "description": "How far a role or speaker is believed.",
                },
                "extract": text("How: patterns, or none.", maxLength=100),
                "gap": number("Seconds of silence that part episodes.", exclusiveMinimum=0, maximum=31_536_000),
                "dry_run": flag("Only say what would be stored."),
            },
            ["messages"],
        ),
        example={
            "messages": [{"role": "user", "content": "I moved to Lisbon and prefer tea."}],
            "session": "chat-12",
            "dry_run": True,
        },
        answers=Observation,
        tag="mind",
        about="What was observed before adds nothing, so a conversation that grew can be sent whole again.",
        once=True,
        noted="space",
    ),
    Operation(
        "list_jobs",
        "GET",
        _SPACE + "/jobs",
        "read",
        "What waits to be done, is being done, or has failed for good; oldest first",
        list_jobs,
        query={
            "state": {"type": "string", "enum": list(get_args(JobState)), "description": "Only of this state."},
            "kind": text("Only of this kind.", maxLength=63),
            "limit": MOST,
            "cursor": CURSOR,
        },
        answers={"jobs": [Job], "cursor": str | None},
        tag="jobs",
    ),
    Operation(
        "run_jobs",
        "POST",
        _SPACE + "/jobs/run",
        "write",
        "Do what is due",
        run_jobs,
        body=record(
            "Which jobs.",
            {"kinds": texts("Only these kinds."), "limit": whole("How many at most.", minimum=1, maximum=100_000)},
        ),
        example={"limit": 100},
        answers=Ran,
        lane="long",
        tag="jobs",
        once=True,
        noted="space",
    ),
    Operation(
        "forecast_jobs",
        "GET",
        _SPACE + "/jobs/forecast",
        "read",
        "What the jobs that are due would take of the language model, by kind",
        forecast_jobs,
        answers={"forecasts": [Forecast]},
        tag="jobs",
    ),
    Operation(
        "retry_jobs",
        "POST",
        _SPACE + "/jobs/retry",
        "write",
        "Let jobs be tried again at once",
        retry_jobs,
        body=IDS,
        example={},
        answers={"jobs": [Job]},
        tag="jobs",
        once=True,
    ),
    Operation(
        "drop_jobs",
        "POST",
        _SPACE + "/jobs/drop",
        "write",
        "Remove jobs undone",
        drop_jobs,
        body=IDS,
        example={},
        answers={"dropped": int},
        tag="jobs",
        once=True,
    ),
    Operation(
        "space_policy",
        "GET",
        _SPACE + "/policy",
        "read",
        "The policy of recalls that name none",
        space_policy,
        answers={"in_force": _IN_FORCE, "applied": Applied | None},
        tag="policies",
    ),
    Operation(
        "apply_policy",
        "PUT",
        _SPACE + "/policy",
        "write",
        "Make a policy this space's own",
        apply_policy,
        body=record("Which policy.", {**POLICY, "note": text("Why.", maxLength=1000)}),
        example={"policy": "operational", "note": "what this team asks for"},
        answers=Applied,
        tag="policies",
        once=True,
    ),
    Operation(
        "undo_policy",
        "DELETE",
        _SPACE + "/policy",
        "write",
        "Take back the latest policy of this space's own",
        undo_policy,
        answers={"applied": Applied | None},
        tag="policies",
        once=True,
    ),
    Operation(
        "rate",
        "POST",
        _SPACE + "/rate",
        "write",
        "Rate anew how important memories are",
        rate,
        body=record(
            "How.",
            {
                "rater": {"type": "string", "enum": [*RATERS], "description": "Another rater, for this time."},
                "dry_run": flag("Only say how many, and what asking a model would cost."),
            },
        ),
        example={"dry_run": True},
        answers=Rerated,
        lane="long",
        tag="upkeep",
        once=True,
        noted="space",
    ),
    Operation(
        "adaptation",
        "GET",
        _SPACE + "/adaptation",
        "read",
        "How the space adapts to feedback, and what it has learnt",
        adaptation,
        answers=Adaptation,
        tag="policies",
    ),
    Operation(
        "adapt",
        "PUT",
        _SPACE + "/adaptation",
        "write",
        "Let the weights follow feedback in this space, or stop it",
        adapt,
        body=record(
            "How.",
            {
                "on": flag("Whether to adapt; left out: yes."),
                "reset": flag("Forget all that was learnt."),
                "undo": whole("Take back the latest so many steps.", minimum=0, maximum=1000),
            },
        ),
        example={"on": True},
        answers=Adaptation,
        tag="policies",
        once=True,
    ),
)
