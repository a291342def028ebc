"""The inspector in a real browser, as a developer uses it when memory misbehaves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

Served = Any  # the fixture of conftest.py
VIEWS = ("search", "compare", "timeline", "recalls", "review", "scoreboard", "health")


def _expect(what: Any) -> Any:
    from playwright.sync_api import expect

    return expect(what)


def told(page: Page, words: str | re.Pattern[str], timeout: float = 30_000) -> None:
    """Wait until the page says it."""
    _expect(page.locator("#status")).to_contain_text(words, timeout=timeout)


def ask(page: Page, served: Served, cue: str = "which database for work") -> None:
    page.goto(served.page("search"))
    page.fill("#cue", cue)
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")


def test_a_hit_shows_its_arithmetic(page: Page, served: Served) -> None:
    """The bar has a piece for each contribution, and they add up to the score that is shown."""
    ask(page, served)
    first = page.locator(".hit").first
    score = float(first.locator(".rank").last.inner_text())
    first.locator("summary").click()
    rows = first.locator("tbody tr")
    contributions = [float(rows.nth(i).locator("td").last.inner_text()) for i in range(rows.count())]
    assert sum(contributions) == pytest.approx(score, abs=0.01)
    shown = sum(value > 0 for value in contributions)
    assert first.locator(".bar > span").count() >= shown > 1
    assert "score" in (first.locator(".bar").get_attribute("aria-label") or "")


def test_a_knob_asks_again_and_says_what_moved(page: Page, served: Served) -> None:
    """Moving a slider re-ranks live, under a policy of another name; nothing is noted in the ledger."""
    before = len(served.get("/v1/spaces/acme%2Falice/recalls")["recalls"])
    ask(page, served, "gates flag work")
    knob = page.locator("#signals-recency-weight")
    knob.focus()
    for _ in range(20):
        page.keyboard.press("PageUp")  # by keyboard alone
    told(page, "retentive-turned")
    assert page.locator(".slider output[for=signals-recency-weight]").inner_text() != "0.002"
    assert len(served.get("/v1/spaces/acme%2Falice/recalls")["recalls"]) == before


def test_a_turned_policy_is_kept_and_taken_back(page: Page, served: Served) -> None:
    """As the space's own, by name; and as a file that the library reads."""
    from retentive import Policy

    page.on("dialog", lambda dialog: dialog.accept())
    ask(page, served)
    page.locator("#signals-late-weight").focus()
    page.keyboard.press("Home")
    told(page, "-turned")
    with page.expect_download() as waiting:
        page.click("text=Download as a policy")
    policy = Policy.load(waiting.value.path())
    assert (policy.name, policy.weights["late"]) == ("retentive-turned", 0.0)
    page.click("text=Make it this space's")
    told(page, "is now the policy")
    assert served.get("/v1/spaces/acme%2Falice/policy")["applied"] is not None
    page.click("text=Take it back")
    told(page, "in force again")
    assert served.get("/v1/spaces/acme%2Falice/policy")["applied"] is None


def test_a_memory_tells_its_story(page: Page, served: Served) -> None:
    """Text, decay curve with each reading, chain and journal; from the hit with one click."""
    ask(page, served)
    page.locator(f".hit[data-id='{served.ids['new']}'] >> text=Open the memory").click()
    page.wait_for_selector("svg.plot path")
    assert page.locator("svg.plot circle.read").count() >= 1
    assert page.locator("ol li", has_text="Prefers Postgres for work").count() == 1
    assert page.locator("table", has_text="The journal").locator("tbody tr").count() >= 1
    page.select_option("#fading-policy", "freshness")
    page.wait_for_selector(".legend:has-text('freshness')")


def test_two_policies_side_by_side(page: Page, served: Served) -> None:
    """Each answer says how it stands to the other."""
    page.goto(served.page("compare", "&cue=gates+and+work&other=operational"))
    page.wait_for_selector("section[aria-label='Under operational'] .hit")
    assert "in both answers" in page.inner_text("#status")


def test_why_a_memory_did_not_come_back(page: Page, served: Served) -> None:
    """The superseded one was kept out by a gate."""
    ask(page, served)
    page.fill("#why-id", served.ids["old"])
    page.click("text=Explain")
    page.wait_for_selector("pre:has-text('superseded')")


def test_a_recall_is_replayed_as_of_then(page: Page, served: Served) -> None:
    """What came back then comes back as of then."""
    page.goto(served.page("recalls"))
    page.locator("button", has_text="Replay as of then").first.click()
    page.wait_for_selector("article p.good")


def test_a_conflict_is_settled(page: Page, served: Served) -> None:
    """Both sayings, the reason, and a decision that holds."""
    found = served.get("/v1/spaces/acme%2Falice/conflicts")["conflicts"]
    assert found
    page.goto(served.page("review"))
    card = page.locator(".conflict").first
    _expect(card).to_contain_text("Noor studies physics")
    card.locator("text=Both hold").click()
    told(page, "Dismissed")
    assert len(served.get("/v1/spaces/acme%2Falice/conflicts")["conflicts"]) == len(found) - 1


def test_the_timeline_goes_back_day_by_day(page: Page, served: Served) -> None:
    """Superseded ones only when asked for."""
    page.goto(served.page("timeline"))
    page.wait_for_selector(".day")
    shown = page.locator(".card").count()
    page.check("#hidden")
    page.click("form button:has-text('Show')")
    _expect(page.locator(".card")).to_have_count(shown + 1)


def test_what_a_memory_says_stays_text(page: Page, served: Served) -> None:
    """Markup in a memory neither runs nor shows as anything but what it is."""
    for view in ("timeline", f"memory&id={served.ids['bad']}"):
        name, _, rest = view.partition("&")
        page.goto(served.page(name, f"&{rest}" if rest else ""))
        page.wait_for_selector(".text:has-text('onerror')")
        assert page.locator("main img, main script").count() == 0
        assert "owned" not in page.title()


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_fits_a_phone_and_names_its_controls(page: Page, served: Served, view: str) -> None:
    """No sideways scrolling at a phone's width; every control has a name for a screen reader; dark as well."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(color_scheme="dark")
    page.goto(served.page(view, "&cue=work"))
    page.wait_for_selector("main h1")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    nameless = """() => [...document.querySelectorAll('button, input, select, a')]
        .filter((each) => !each.textContent.trim() && !each.ariaLabel && !(each.labels && each.labels.length))
        .map((each) => each.outerHTML)"""
    assert page.evaluate(nameless) == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 22, 29)"


def test_the_scenarios_are_played_here(page: Page, served: Served) -> None:
    """Each with its outcome."""
    page.goto(served.page("scoreboard"))
    page.click("text=Run the scenarios")
    told(page, re.compile(r"\d+ of \d+ scenarios pass"), timeout=120_000)
    assert page.locator("tbody .bad").count() == 0


def test_a_space_without_memories_says_so(page: Page, served: Served) -> None:
    """An empty state that tells what to do, and an error that says what is wrong."""
    page.goto(f"{served.address}/#/timeline?space=acme%2Fnobody")
    page.wait_for_selector("#status.failed, .empty")
