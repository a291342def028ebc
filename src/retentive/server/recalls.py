"""The operations that ask: recall, feedback on it, reflection, and the policies to ask under."""

from __future__ import annotations

from typing import Any, Final

from retentive.errors import InvalidInput
from retentive.policy import presets
from retentive.policy.policy import Policy
from retentive.policy.toml import restored_policy
from retentive.recall.absence import WhyNot
from retentive.recall.outcome import Hit
from retentive.server.memories import FILTERS, touch_of, with_moments
from retentive.server.operations import Answer, Call, Operation
from retentive.server.shapes import Schema, flag, given, moment, number, record, text, texts, whole
from retentive.types import AgentState, Memory
from retentive.wire.answers import memory_data, recall_data
from retentive.wire.values import written

WORDS: Final = {"maxLength": 100_000}
STATE: Final = record(
    "Where the agent stands.",
    {
        "goal": text("What it wants.", **WORDS),
        "step": text("What it is doing.", **WORDS),
        "open_loops": texts("What is still open."),
        "tags": texts("The task's tags."),
        "session": text("The conversation.", maxLength=1000),
    },
)
POLICY: Final[dict[str, Schema]] = {
    "policy": text("The name of a preset; left out: the server's own policy.", maxLength=200, examples=["operational"]),
    "policy_toml": text("A whole policy as TOML, instead of a name.", maxLength=100_000),
}
QUESTION: Final[dict[str, Schema]] = {
    "cue": text("What is asked.", **WORDS),
    "state": STATE,
    "utterance": text("The user's words beside the agent's state.", **WORDS),
    **POLICY,
    "limit": whole("How many at most; left out: as the policy says.", minimum=1, maximum=1000),
    **FILTERS,
    "now": moment("Answer as if it were this moment."),
    "token_budget": whole("What does not fit is compacted.", minimum=1, maximum=1_000_000),
    "session": text("The conversation that asks.", maxLength=1000),
}
RECALL: Final = record(
    "What to bring up.",
    {
        **QUESTION,
        "touch": flag("Whether this counts as a use of what comes back; left out: where the key may write."),
        "shared": text("A common space that fills up the answer; only read.", maxLength=1024),
        "trace": flag("Also how it came about: channels, cuts, work, and the policy."),
        "render": {"enum": ["xml", "markdown", "messages", "json"], "description": "Also as a block for a prompt."},
    },
)
RECALL_EXAMPLE: Final = {"cue": "What database does she like?", "limit": 5}


def recall(call: Call) -> Answer:
    """Bring up what is worth bringing up now."""
    asked = _question(call)
    shared, trace, render = asked.pop("shared", None), asked.pop("trace", False), asked.pop("render", None)
    if shared is not None:
        call.grant.require("read", shared)
    space = call.home.space(call.path["space"], shared=shared, actor=call.grant.actor)
    asked["touch"] = touch_of(call, asked.get("touch"))
    answer = space.recall(asked.pop("cue", None), **asked)
    data = recall_data(answer, trace=trace)
    return Answer({**data, "rendered": answer.render(render)} if render else data)


def _question(call: Call) -> dict[str, Any]:
    """Return what was asked as the façade takes it."""
    asked = with_moments(given(call.body))
    asked["policy"] = policy_asked(asked.pop("policy", None), asked.pop("policy_toml", None))
    if "state" in asked:
        asked["state"] = AgentState(**given(asked["state"]))
    return asked


def why_not(call: Call) -> Answer:
    """Say what kept a memory out of an answer."""
    asked = _question(call)
    found = call.space.why_not(call.path["id"], asked.pop("cue", None), **asked)
    return Answer({**written(found), "kept_out_by": found.kept_out_by, "explained": found.explain()})


def policy_asked(name: str | None, toml: str | None) -> Policy | None:
    """Return the policy that was asked for. A name is a preset's and never a path: files are the operator's."""
    if name is not None and toml is not None:
        raise InvalidInput("policy and policy_toml name two policies; give one.", field="policy")
    if toml is not None:
        return restored_policy(toml, "policy_toml")
    return presets.get(name) if name is not None else None


def feedback(call: Call) -> Answer:
    """Take feedback on a recall."""
    told = given(call.body)
    call.space.feedback(told.pop("recall_id"), **told, once=call.once)
    return Answer(status=204)


def reflect(call: Call) -> Answer:
    """Draw insights."""
    told = call.space.reflect(**given(call.body), progress=call.progress)
    return Answer({**written(told), "insights": [memory_data(memory) for memory in told.insights]})


def shaken(call: Call) -> Answer:
    """List insights whose evidence fell."""
    return Answer({"shaken": [written(item) for item in call.space.shaken()]})


def list_policies(_call: Call) -> Answer:
    """List the presets."""
    return Answer({"policies": [_policy(name, presets.get(name)) for name in presets.names()]})


def get_policy(call: Call) -> Answer:
    """Return a preset."""
    return Answer(_policy(call.path["name"], presets.get(call.path["name"])))


def _policy(name: str, policy: Policy) -> dict[str, Any]:
    return {"name": name, "weights": policy.weights, "toml": policy.dump()}


_POLICY_SCHEMA: Final[Schema] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "weights": {"type": "object", "additionalProperties": {"type": "number"}},
        "toml": {"type": "string"},
    },
    "required": ["name", "weights", "toml"],
}
_SPACE = "/v1/spaces/{space}"
OPERATIONS: Final = (
    Operation(
        "recall",
        "POST",
        _SPACE + "/recall",
        "read",
        "Bring up what is worth bringing up now",
        recall,
        body=RECALL,
        example=RECALL_EXAMPLE,
        answers={"id": str, "policy": str, "cue": str, "hits": [Hit], "core": [Memory], "notes": [str]},
        tag="recall",
        about="Every hit shows its arithmetic: contributions and modifiers reproduce its score.",
    ),
    Operation(
        "why_not",
        "POST",
        _SPACE + "/memories/{id}/why-not",
        "read",
        "What kept a memory out of the answer to a question",
        why_not,
        body=record("The question, as recall takes it.", QUESTION),
        example={"cue": "What database does she like?"},
        answers=WhyNot,
        tag="recall",
        about="Asks the same as recall, and leaves no trace.",
    ),
    Operation(
        "feedback",
        "POST",
        _SPACE + "/feedback",
        "write",
        "Say which memories of a recall were used, and how it went",
        feedback,
        body=record(
            "Feedback on a recall.",
            {
                "recall_id": text("The recall's id.", maxLength=1000, minLength=1),
                "used": texts("Ids of the memories that were used."),
                "outcome": {"enum": ["good", "bad"], "description": "How it went."},
            },
            ["recall_id"],
        ),
        example={"recall_id": "r1c2d3e4f5a6b7c8d", "used": ["0f3a9c1e5b7d2a4c6e80"], "outcome": "good"},
        status=204,
        once=True,
        tag="recall",
    ),
    Operation(
        "reflect",
        "POST",
        _SPACE + "/reflect",
        "write",
        "Draw insights from the latest memories, if enough has gathered",
        reflect,
        body=record(
            "How to reflect.",
            {
                "force": flag("Do not wait until the budget is reached."),
                "budget": number("How much importance brings it on; the space keeps it.", exclusiveMinimum=0),
                "method": text(
                    "How: with a model by questions or flat, without one extractive.",
                    enum=["questions", "flat", "extractive"],
                ),
                "later": flag("Put it on the queue."),
                "dry_run": flag("Only say whether it is due, and what it would cost."),
            },
        ),
        example={"dry_run": True},
        answers={"fired": bool, "reason": str, "pressure": float, "budget": float, "insights": [Memory]},
        lane="long",
        tag="upkeep",
        once=True,
        noted="space",
    ),
    Operation(
        "shaken",
        "GET",
        _SPACE + "/shaken",
        "read",
        "The insights whose evidence no longer stands",
        shaken,
        answers={"shaken": [{"memory": Memory, "reason": str}]},
        tag="upkeep",
    ),
    Operation(
        "list_policies",
        "GET",
        "/v1/policies",
        "",
        "The presets",
        list_policies,
        answers={"policies": [_POLICY_SCHEMA]},
        tag="policies",
    ),
    Operation(
        "get_policy", "GET", "/v1/policies/{name}", "", "One preset", get_policy, answers=_POLICY_SCHEMA, tag="policies"
    ),
)
