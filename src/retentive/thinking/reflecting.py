"""The verb: now or by the queue, with a model or without, and what it took counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from retentive.jobs.handlers import Desk, Worked
from retentive.jobs.queue import enqueue
from retentive.jobs.spending import note_usage
from retentive.keeping import Keeper
from retentive.llm.protocol import Llm, Usage, model_id
from retentive.policy.policy import Policy
from retentive.recall.request import Tools
from retentive.reflect.decide import checked_budget
from retentive.reflect.outcome import Reflection
from retentive.reflect.run import Progress, reflect
from retentive.thinking.reflect import Mind, way_of
from retentive.types import Job, Json

KIND: Final = "reflect"


def reflect_space(
    keeper: Keeper,
    tools: Tools,
    llm: Llm | None,
    policy: Policy,
    *,
    force: bool,
    budget: float | None,
    method: str | None,
    later: bool,
    dry_run: bool,
    progress: Progress | None,
) -> Reflection:
    """Reflect if it is due, or put that on the queue."""
    taken: list[Usage] = []
    way = way_of(method, None if llm is None else Mind(keeper, tools, llm, policy, taken.append))
    if later and not dry_run:
        told = reflect(keeper, tools, way, force=force, budget=budget, dry_run=True)
        put(keeper, force=force, budget=budget, method=method)
        return replace(told, reason="put on the queue")
    try:
        return reflect(keeper, tools, way, force=force, budget=budget, dry_run=dry_run, progress=progress)
    finally:
        if llm is not None:
            note_usage(keeper.store, KIND, model_id(llm), sum(taken, Usage()))


def put(keeper: Keeper, *, force: bool, budget: float | None, method: str | None) -> Job:
    """Put a reflection on the queue; while one waits, another is the same, but for one that nobody asked for."""
    asked = payload(force=force, budget=None if budget is None else checked_budget(budget), method=method)
    with keeper.store.transaction() as tx:
        job = enqueue(tx, KIND, keeper.author.now, payload=asked, key=KIND)
        if job.state == "waiting" and job.payload == payload():
            job = replace(job, payload=asked)
            tx.put_job(job)
    return job


def payload(*, force: bool = False, budget: float | None = None, method: str | None = None) -> dict[str, Json]:
    """Return what a reflection on the queue is asked to be; by itself it is one that has to be due."""
    return {"force": force, "budget": budget, "method": method}


class ReflectHandler:
    """Does the jobs of kind "reflect": with a model where there is one, without where there is none."""

    needs_llm = False
    batch = 1

    def forecast(self, jobs: Sequence[Job], desk: Desk) -> Usage:
        """Return what one reflection takes at most; whether it is due turns out when it is its turn."""
        method = jobs[0].payload.get("method")
        mind = None if desk.llm is None else Mind(desk.keeper, desk.tools, desk.llm, desk.policy, desk.spend)
        way = way_of(method if isinstance(method, str) else None, mind)
        cost = reflect(desk.keeper, desk.tools, way, dry_run=True).cost
        return Usage(cost.calls, cost.tokens_in, cost.tokens_out, cost.price, estimated=True)

    def work(self, jobs: Sequence[Job], desk: Desk) -> Worked:
        """Reflect; the claim of the reflection itself keeps it from happening twice."""
        asked = jobs[0].payload
        budget = asked.get("budget")
        mind = None if desk.llm is None else Mind(desk.keeper, desk.tools, desk.llm, desk.policy, desk.spend)
        method = asked.get("method")
        reflect(
            desk.keeper,
            desk.tools,
            way_of(method if isinstance(method, str) else None, mind),
            force=bool(asked.get("force")),
            budget=float(budget) if isinstance(budget, int | float) else None,
        )
        return Worked()
