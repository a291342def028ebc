"""Examining one space: what must belong together, and the numbers that ranking trusts."""

from __future__ import annotations

from retentive.stores.postgres.filed import check_filed
from retentive.stores.postgres.links import Head, Link


def check(link: Link, head: Head) -> list[str]:
    """Return what is wrong with a space, in sentences."""
    ((vectorless, termless, odd, memories, terms, miscounted, orphans, unwalled),) = link.rows("complaints")
    counted = (
        (vectorless, "memories have no vector"),
        (termless, "memories have no index terms"),
        (odd, f"vectors are not of the {head.dimension} numbers that the space says"),
        (miscounted, "terms are miscounted in the vocabulary"),
        (orphans, "access states belong to no memory"),
    )
    complaints = [f"{count} {what}." for count, what in counted if count]
    complaints += check_filed(link)
    if memories != head.memories:
        complaints.append(f"The space says it has {head.memories} memories, and has {memories}.")
    if terms != head.terms:
        complaints.append(f"The space says it has {head.terms} index terms, and has {terms}.")
    if unwalled:
        complaints.append(
            "The role is a superuser or has BYPASSRLS: row-level security does not hold it; connect as another one."
        )
    return complaints
