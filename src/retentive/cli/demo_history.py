"""The demo's history: fourteen months of an engineer's assistant, invented, with what real histories are full of.

Stale look-alikes of newer facts, facts replaced under one key, trivia, near-duplicates, a decision among chatter about
it, an exact error code, a birthday, a pinned rule, procedures, and two conclusions that a model once drew. The demo
computes what it shows of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

NOW: Final = datetime(2026, 10, 14, 9, 30, tzinfo=UTC)
"""A Wednesday. The demo is the same on every day it is run."""

SPACE: Final = "demo/mara"

# (days ago, kind, importance, text, further fields)
_ROWS: Final[tuple[tuple[float, str, float, str, dict[str, Any]], ...]] = (
    (421, "entity", 0.6, "Mara Lindqvist leads the billing team at Tidewater; she is who I assist.", {}),
    (420, "fact", 0.7, "The billing service's database is MySQL 5.7 on db-old-3.", {"key": "billing-database"}),
    (419, "fact", 0.4, "The billing service's MySQL database is backed up nightly at 02:00.",
     {"key": "billing-backup"}),
    (415, "event", 0.2, "Mara tried the new ramen place on Kanal Street and found it too salty.", {}),
    (410, "preference", 0.5, "Mara likes her code reviews before lunch.", {"key": "review-time"}),
    (402, "decision", 0.6, "Decided about payment retries: five times, one minute apart.", {"key": "payment-retries"}),
    (398, "fact", 0.3, "Staging lives at staging.tidewater.example behind basic auth.", {}),
    (391, "event", 0.2, "The office coffee machine was broken for a week.", {}),
    (380, "relation", 0.5, "Jonas Weber owns the invoice templates and reports to Mara.", {"key": "invoice-templates"}),
    (363, "fact", 0.9, "Birthday of Mara's daughter Edda, who wants a microscope.",
     {"recurs": "yearly", "permanent": True}),
    (365, "event", 0.4, "The billing database ran out of disk during the October close; MySQL went read-only.", {}),
    (352, "preference", 0.4, "Mara prefers Slack to email for anything urgent.", {"key": "urgent-channel"}),
    (340, "fact", 0.3, "The team's stand-up is at 09:15.", {"key": "stand-up"}),
    (333, "event", 0.2, "Mara watched a documentary about deep-sea squid.", {}),
    (321, "fact", 0.5, "Deploys of the billing service go out on Tuesday and Thursday.", {"key": "deploy-days"}),
    (310, "procedure", 0.6, "To deploy billing: merge to main, wait for CI, run `make ship`, watch the dashboard.",
     {"key": "deploy-billing"}),
    (300, "event", 0.3, "A load test of the billing database reached 900 writes per second before it locked up.", {}),
    (292, "fact", 0.3, "Mara's laptop is a ThinkPad running Fedora.", {}),
    (281, "event", 0.2, "Mara complained that the billing database is slow again.", {}),
    (280, "event", 0.2, "Mara complained that the billing database was slow again today.", {}),
    (268, "preference", 0.5, "Mara wants answers short, with the command first and the reason after.",
     {"key": "style"}),
    (255, "decision", 0.8, "We decided to leave MySQL: too many lock waits at month's end.", {}),
    (246, "event", 0.3, "Compared Postgres, CockroachDB and Aurora for billing; Priya ran the benchmarks.", {}),
    (240, "event", 0.3, "Long discussion about which database billing should move to; nothing settled.", {}),
    (233, "event", 0.2, "The plant on Mara's desk died. She asked for one that survives neglect.", {}),
    (221, "entity", 0.5, "Priya Raman is the database administrator; ask her before any schema change.", {}),
    (210, "fact", 0.9, "The billing service's database is PostgreSQL 16 on pg-main.", {"key": "billing-database"}),
    (209, "fact", 0.5, "Billing's Postgres is backed up with pgBackRest every six hours.", {"key": "billing-backup"}),
    (203, "event", 0.3, "Migration weekend: the last MySQL rows were copied at 04:10 on Sunday.", {}),
    (196, "preference", 0.4, "Mara now reviews code after three in the afternoon.", {"key": "review-time"}),
    (187, "fact", 0.4, "Error E4012 means that the card issuer's token has expired; ask for the card again.",
     {"source": "runbook/payments.md"}),
    (186, "fact", 0.3, "Errors from the card issuer are logged under payments.issuer.", {}),
    (185, "fact", 0.3, "Error E4021 is a timeout at the card issuer and can be retried.", {}),
    (176, "event", 0.2, "Mara is learning to juggle and can do three balls.", {}),
    (164, "fact", 0.4, "Search keeps its index in Elasticsearch 8.", {}),
    (158, "fact", 0.4, "The analytics team keeps its data in a ClickHouse database.", {}),
    (150, "event", 0.3, "A vendor pitched a managed database for billing; Mara declined.", {"trust": 0.6}),
    (139, "procedure", 0.7, "If a payment webhook fails: check payments.issuer, replay it, then tell #billing-ops.",
     {}),
    (126, "event", 0.2, "Mara's train was late; she joined the retro from the platform.", {}),
    (112, "relation", 0.4, "Jonas moved to the platform team; Lena Ortiz now owns the invoice templates.",
     {"key": "invoice-templates"}),
    (101, "reflection", 0.6, "Mara distrusts any plan that has no way back; she asks for the rollback first.", {}),
    (95, "event", 0.3, "Talked through payment retries: customers complained about five charges within minutes.", {}),
    (92, "decision", 0.9, "Decided about payment retries: twice, after one hour and after one day.",
     {"key": "payment-retries"}),
    (88, "event", 0.3, "Lena asked whether retries should also apply to refunds. No answer yet.", {}),
    (74, "fact", 0.6, "Deploys of the billing service go out on Monday and Wednesday, never after 15:00.",
     {"key": "deploy-days"}),
    (66, "event", 0.2, "Mara switched from coffee to green tea. It lasted four days.", {}),
    (58, "fact", 0.5, "Connections to billing's Postgres go through PgBouncer on port 6432.", {}),
    (45, "event", 0.3, "The September close took 41 minutes, down from three hours.", {}),
    (38, "reflection", 0.5, "The month's end close is fast since billing left MySQL.", {}),
    (33, "preference", 0.5, "For urgent things Mara wants a phone call, not Slack.", {"key": "urgent-channel"}),
    (27, "procedure", 0.7, "To deploy billing: merge to main, run `tide ship billing --canary`, then promote.",
     {"key": "deploy-billing"}),
    (21, "event", 0.3, "A payment retry ran twice because two workers took the same job.", {}),
    (16, "fact", 0.5, "Payment jobs are locked with SELECT … FOR UPDATE SKIP LOCKED since the double retry.", {}),
    (12, "event", 0.2, "Mara asked for a recipe for pea soup.", {}),
    (9, "fact", 0.4, "Reports read from the replica pg-read-2.", {}),
    (7, "event", 0.4, "Lena will be on leave until the end of the month; Tomas stands in.", {}),
    (5, "event", 0.2, "Mara said the new office chairs squeak.", {}),
    (3, "decision", 0.7, "We decided to upgrade billing's Postgres to 17 in November, rollback plan first.", {}),
    (2, "event", 0.3, "Priya asked for a freeze of schema changes until the Postgres upgrade is done.", {}),
    (1, "event", 0.2, "Mara wondered aloud whether squid sleep.", {}),
    (300, "fact", 1.0, "Never run anything against the production database without Mara's word.",
     {"pinned": True, "permanent": True}),
)  # fmt: skip


def history() -> Iterator[dict[str, Any]]:
    """Yield the memories as ``remember_many`` takes them, oldest first, under ids that name their day."""
    for at, (days, kind, importance, text, more) in enumerate(sorted(_ROWS, key=lambda row: -row[0]), 1):
        moment = NOW - timedelta(days=days)
        fields = {"source": "chat", **more}
        yield {"id": f"d{at:02}", "text": text, "kind": kind, "importance": importance, "at": moment, **fields}
