"""How figures are written into pages: Markdown tables, and milliseconds with the digits that mean something."""

from __future__ import annotations


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Write a Markdown table."""
    lines = [head, ("---", *["---:"] * (len(head) - 1)), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def ms(value: float | None) -> str:
    """Write milliseconds with two or three digits that mean something."""
    if value is None:
        return ""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
