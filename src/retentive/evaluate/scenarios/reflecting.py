"""When a space reflects, and what becomes of its insights (22)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from retentive.evaluate.scenarios.stage import Stage, expect, expect_close, scenario
from retentive.evaluate.scenarios.subject import RetentiveSubject
from retentive.types import Memory

LIKES = (
    "She likes the Postgres database for invoices",
    "Postgres is the database she likes for invoices",
    "For invoices she likes the database Postgres",
)
OTHERS = ("The dog is called Rex", "Rome was hot in May", "The bus leaves at nine")


@scenario(22, "reflection at the budget", "reflection fires at the budget, not before, once")
def reflection_at_the_budget(stage: Stage) -> None:
    """Five points a memory, thirty for a reflection: the fifth is too early, the sixth is enough, and only once.

    Also when four ask at the same moment, and after a restart; and an insight whose evidence falls is listed.
    """
    subject = stage.open_ours("hash", on_disk=True)
    ids = [subject.remember(text) for text in (*LIKES, *OTHERS[:2])]
    early = subject.reflect()
    expect(not early.fired, f"it fired at {early.pressure:g} of {early.budget:g} points")
    expect_close(early.pressure, 25.0, "the pressure of five memories")
    subject.reopen()
    subject.remember(OTHERS[2])
    insight = _once(subject)
    missing = set(insight.derived_from) - set(ids)
    expect(insight.derived_from and not missing, f"the insight rests on {insight.derived_from}, not on memories")
    subject.reopen()
    again = subject.reflect()
    expect(not again.fired, f"after a restart it fired again at {again.pressure:g} points")
    subject.remember("She now likes SQLite", supersedes=[insight.derived_from[0]])
    shaken = [item.memory.id for item in subject.reflect().shaken]
    expect(shaken == [insight.id], f"its evidence was superseded, and {shaken or 'nothing'} is listed as shaken")


def _once(subject: RetentiveSubject) -> Memory:
    """Ask four times at once; exactly one run may fire, and the memories that resemble one another give one insight."""
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda _: subject.reflect(), range(4)))
    fired = [one for one in told if one.fired]
    expect(len(fired) == 1, f"asked four times at once it fired {len(fired)} times")
    expect_close(fired[0].pressure, 30.0, "the pressure of six memories")
    insights = fired[0].insights
    expect(len(insights) == 1, f"three memories that say the same gave {len(insights)} insights")
    expect(insights[0].kind == "reflection", f"the insight is stored as {insights[0].kind!r}")
    return insights[0]
