"""The report of a run as people see it: in a browser, without a network, whole on a wide and on a narrow screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import chromium
from click.testing import CliRunner

from retentive.cli.main import root

CUT_OFF = """() => [...document.querySelectorAll('svg:not(.key)')].flatMap(svg => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text, rect, circle')].filter(part => {
        const box = part.getBoundingClientRect();
        return box.left < frame.left - 1 || box.right > frame.right + 1
            || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
    }).map(part => part.textContent);
})"""
"""Text and shapes that stick out of their picture, and so are cut off."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    policies = ("freshness.records", "operational", "retentive")
    arguments = ["--embedder", "hash", "eval", "run", "--touch", "--save", str(folder)]
    for policy in policies:
        arguments += ["--policy", policy]
    ran = CliRunner().invoke(root, arguments)
    assert ran.exit_code == 0, ran.output
    return folder / "report.html"


@pytest.mark.parametrize("width", [1280, 420])
def test_the_report_is_whole_in_a_browser(browser: Any, report: Path, width: int) -> None:
    """Nothing is fetched, no picture is cut off, the page itself never scrolls sideways, and details open."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(report.as_uri())
    assert fetched == [report.as_uri()]
    assert page.locator("svg:not(.key)").count() >= 7
    assert page.evaluate(CUT_OFF) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert "over" in page.locator(".said").inner_text()
    titles = page.locator("h2").all_inner_texts()
    assert titles[:4] == ["Figures", "How sure", "With write-back", "Quality by k"]
    assert page.locator("summary", has_text="by age of the evidence").count() == 1
    page.locator("summary", has_text="Every pair").click()
    assert page.locator("details[open] td").first.is_visible()
    page.close()


def test_what_is_best_is_marked(browser: Any, report: Path) -> None:
    """In every column of the figures at least one row, and never one that another beats."""
    page = browser.new_page()
    page.goto(report.as_uri())
    table = page.locator("table").first
    rows = [row.locator("td").all() for row in table.locator("tbody tr").all()]
    assert len(rows) == 14
    for at in range(1, len(rows[0])):
        column = [(float(row[at].inner_text()), row[at].get_attribute("class")) for row in rows if row[at].inner_text()]
        top = max(value for value, _ in column)
        assert {value for value, marked in column if marked == "best"} <= {top}
    page.close()
