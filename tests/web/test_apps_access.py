"""The desk's own apps without a mouse, without good eyes, in the dark and in the light."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from handrail.safety.caller import Caller
from tests.npm import modules
from tests.scenario.people import PAY_RULE
from tests.web.apps_stage import Stage, stage

pytestmark = pytest.mark.slow

CHECKS = (Path(__file__).parent / "access_checks.js").read_text()
APPS = ("approvals", "console", "flows", "journal", "phone", "settings", "studio", "wall")
SETTINGS = "com.android.settings"
FLOW = "name: Add Ada\nsteps:\n  - start_app: com.google.android.contacts\n  - tap: Create new contact\n"
UNSEEN = """root => {
  const all = [...root.querySelectorAll("button, a[href], input, select, textarea, summary, [tabindex]")];
  const unseen = [];
  for (const one of all) {
    const shown = one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0;
    if (!shown) continue;
    const before = JSON.stringify(look(one));
    one.focus({ focusVisible: true });
    const what = one.outerHTML.slice(0, 100);
    if (document.activeElement !== one) unseen.push(`takes no focus: ${what}`);
    else if (JSON.stringify(look(one)) === before) unseen.push(`shows no focus: ${what}`);
    one.blur();
  }
  return unseen;
  function look(e) {
    const { outlineStyle, outlineWidth, boxShadow, borderColor } = getComputedStyle(e);
    return [outlineStyle, outlineWidth, boxShadow, borderColor, getComputedStyle(e.parentElement).boxShadow];
  }
}"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    flows = tmp_path_factory.mktemp("flows")
    (flows / "ada.yaml").write_text(FLOW)
    home, caller = tmp_path_factory.mktemp("home"), Caller("shopper", "agent", "mcp")
    with stage(home, flows=flows, caller=caller, policy=PAY_RULE) as opened:
        for action in ({"type": "start_app", "package": SETTINGS}, {"type": "tap", "target": "Display"}):
            assert opened.do(opened.world.session.run(action, caller=caller)).success
        opened.do(opened.world.session.run({"type": "tap", "target": "Nowhere"}, caller=caller))
        yield opened


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, desk: Stage, browser: Browser) -> Iterator[Page]:
    opened = desk.log_in(browser, color_scheme=request.param)
    yield opened
    opened.context.close()


@pytest.mark.parametrize("app", APPS)
def test_every_app_has_names_contrast_and_a_focus_that_is_seen(desk: Stage, page: Page, app: str) -> None:
    root = desk.open(page, app).first
    page.wait_for_load_state("networkidle")
    if app in ("phone", "studio"):
        root.locator(".phone-canvas[data-frames]").wait_for()
    try:
        found: dict[str, Any] = page.evaluate(CHECKS)
        assert found == {"nameless": [], "structure": [], "faint": []}
        assert root.evaluate(UNSEEN) == []
    finally:
        desk.close(app)


@pytest.fixture(scope="module")
def axe() -> str:
    """axe-core's rules as a script; the test skips where npm can't bring it."""
    return (modules("axe-core") / "axe-core" / "axe.min.js").read_text()


@pytest.mark.parametrize("app", APPS)
def test_axe_finds_nothing_wrong_in_an_app(desk: Stage, page: Page, axe: str, app: str) -> None:
    desk.open(page, app)
    page.wait_for_load_state("networkidle")
    try:
        page.evaluate(axe)
        violations = page.evaluate("async () => (await axe.run()).violations")
        assert not [(one["id"], one["nodes"][0]["html"]) for one in violations]
    finally:
        desk.close(app)


def test_a_person_opens_the_phone_takes_it_and_presses_its_keys_without_a_mouse(
    desk: Stage, browser: Browser
) -> None:
    page = desk.log_in(browser)
    page.locator(".desk-icon").first.wait_for()
    press = page.keyboard.press
    press("F6")
    labels = [str(one.get_attribute("aria-label")) for one in page.locator(".desk-icon").all()]
    for _ in range(labels.index(next(one for one in labels if one.startswith("Phone")))):
        press("ArrowDown")
    press("Enter")
    canvas = page.locator(".phone-canvas[data-frames]")
    canvas.wait_for()
    tab_to(page, "Take over")
    press("Enter")
    page.get_by_role("button", name="Hand back").wait_for()
    before = len(desk.world.inputs())
    tab_to(page, "Home")
    press("Enter")
    desk.until(lambda: len(desk.world.inputs()) > before)
    tab_to(page, "Hand back", "Shift+Tab")
    press("Enter")
    page.get_by_role("button", name="Take over").wait_for()
    desk.close("app-phone")
    page.context.close()


def test_the_keys_are_listed_wherever_the_focus_is_unless_somebody_types(
    desk: Stage, browser: Browser
) -> None:
    page = desk.log_in(browser)
    root = desk.open(page, "journal")
    help_card = page.get_by_role("dialog", name="Keyboard shortcuts")
    root.locator("input").first.focus()
    page.keyboard.press("?")
    expect(help_card).to_have_count(0)
    root.locator("button").first.focus()
    page.keyboard.press("?")
    expect(help_card).to_be_visible()
    desk.close("journal")
    page.context.close()


def test_a_number_that_changes_all_the_time_is_not_read_out(desk: Stage, browser: Browser) -> None:
    page = desk.log_in(browser)
    root = desk.open(page, "phone")
    root.locator(".phone-canvas[data-frames]").wait_for()
    assert root.locator("[role=status] .phone-pace, [aria-live] .phone-pace, .phone-pace[role]").count() == 0
    assert root.locator(".phone-app[role=status]").count() == 1
    desk.close("phone")
    page.context.close()


def tab_to(page: Page, name: str, key: str = "Tab") -> None:
    """As often as it takes; a page in which it can't be reached fails."""
    told = "() => document.activeElement.ariaLabel || document.activeElement.textContent.trim()"
    for _ in range(60):
        page.keyboard.press(key)
        if page.evaluate(told) == name:
            return
    raise AssertionError(f"{name!r} can't be reached by {key}")
