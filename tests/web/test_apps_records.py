"""Journal, Flows and Console in a real browser: what was done, what can be done again, what is said."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from handrail.safety.caller import Caller
from tests.web.apps_stage import Stage, stage

pytestmark = pytest.mark.slow  # their server side is in tests/unit/web_server
SETTINGS = "com.android.settings"
FLOW = f"""
name: Open the display settings
app: {SETTINGS}
env:
  WHERE: Display
steps:
  - tap: ${{WHERE}}
  - expect_visible: Brightness
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    home = tmp_path_factory.mktemp("home")
    flows = home / "flows"
    flows.mkdir()
    (flows / "display.yaml").write_text(FLOW)
    (flows / "broken.yaml").write_text("name: Broken\nsteps:\n  - tapp: Save\n")
    with stage(home, flows=flows, caller=Caller("mail-agent", "agent", "mcp")) as opened:
        yield opened


def test_the_journal_shows_pictures_changes_and_the_proof(desk: Stage, page: Page) -> None:
    desk.do(desk.world.open(SETTINGS))
    _pictured(desk, 1)
    done = desk.do(desk.world.session.tap("Display", reason="I make it dark"))
    _pictured(desk, 2)
    root = desk.open(page, "journal")
    root.locator(f".row[data-action='{done.action_id}']").click()
    detail = root.locator(".split-detail")
    expect(detail.get_by_role("heading", name="tap “Display”")).to_be_visible()
    expect(detail).to_contain_text("I make it dark")
    expect(detail.locator(".journal-diff")).to_contain_text("Brightness")
    for title in ("Before", "After"):
        picture = detail.get_by_alt_text(f"{title} the action")
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True)
        assert picture.evaluate("image => image.naturalWidth") == 540
    root.get_by_role("button", name="Verify").click()
    expect(root.locator(".notice-ok")).to_contain_text("Nothing was changed")
    root.get_by_label("By whom").select_option("person")
    expect(root.locator(".split-list")).not_to_contain_text("I make it dark")
    root.get_by_label("By whom").select_option("")
    root.get_by_label("Search").fill("make it dark")
    expect(root.locator(".row")).to_have_count(1)
    detail.get_by_role("button", name="Turn this session into a flow").click()
    expect(detail.locator(".journal-flow")).to_contain_text("tap: Display")


def _pictured(desk: Stage, count: int) -> None:
    """So many actions of the last ones have their pictures."""

    def newest() -> bool:
        events = [event for event in desk.world.events() if event.get("action_id")]
        last = list(dict.fromkeys(event["action_id"] for event in events))[-count:]
        seen = {event["action_id"] for event in events if event["kind"] == "pictured"}
        return all(one in seen for one in last)

    desk.until(newest)


def test_a_flow_is_checked_run_and_reported(desk: Stage, page: Page) -> None:
    root = desk.open(page, "flows")
    root.locator(".row[data-file='broken.yaml']").click()
    expect(root.locator(".flows-problems")).to_contain_text("tapp")
    expect(root.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    root.locator(".row[data-file='display.yaml']").click()
    expect(root.locator(".flows-problems")).to_have_count(0)
    expect(root.get_by_label("WHERE")).to_have_value("Display")
    root.get_by_role("button", name="Run", exact=True).click()
    expect(root.locator(".flows-run")).to_have_attribute("data-outcome", "passed", timeout=30_000)
    expect(root.locator(".flows-step.is-passed")).to_have_count(2)
    link = root.get_by_role("button", name="Report")
    link.wait_for()
    with page.context.expect_page() as opened:
        link.click()
    report = opened.value
    expect(report.locator("h1")).to_contain_text("passed")
    assert report.evaluate("() => self.origin") == "null"
    expect(root.locator(".row[data-run]").first).to_contain_text("passed")


def test_what_a_person_says_reaches_the_agent_and_its_words_come_back(desk: Stage, page: Page) -> None:
    root = desk.open(page, "console")
    expect(root).to_contain_text("What should be done?")
    box = root.get_by_label("Message to the agent")
    box.fill("Make it dark, please")
    box.press("Enter")
    [letter] = desk.until(lambda: desk.door.desk.inbox("console").take())
    assert letter["content"] == "Make it dark, please"
    desk.do(_publish(desk, status="acting", message="<b>I open the settings</b>"))
    expect(root.locator(".console-message")).to_have_count(2)
    expect(root.locator(".console-message").last).to_contain_text("<b>I open the settings</b>")
    expect(root.locator(".console-agents")).to_contain_text("mail-agent: working")
    waiting_for = desk.begin(desk.world.session.wait_for({"visible": "never"}, timeout_ms=60_000))
    desk.until(lambda: desk.world.session._queue)
    root.get_by_role("button", name="Stop").click()
    assert waiting_for.result(20).failure_code == "CANCELLED"


async def _publish(desk: Stage, **fields: Any) -> None:
    desk.door.desk.publish("AGENT_STATUS", agentId="mail-agent", **fields)
    await asyncio.sleep(0)


NAMELESS = """root => [...root.querySelectorAll('button, a, input, select, textarea, [tabindex="0"]')]
    .filter(one => !one.ariaLabel && !one.textContent.trim() && !one.labels?.length && !one.title)
    .map(one => one.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("app", ["phone", "approvals", "journal", "flows", "console"])
@pytest.mark.parametrize("width", [360, 1100])
def test_every_control_has_a_name_and_nothing_is_cut_off(
    desk: Stage, page: Page, app: str, width: int
) -> None:
    root = desk.open(page, app, w=width)
    root.locator(".app-bar").wait_for()
    root.locator(".pane-loading").first.wait_for(state="hidden")
    assert root.evaluate(NAMELESS) == []
    assert root.evaluate("root => root.scrollWidth - root.clientWidth") == 0
    bar = root.locator(".app-bar")
    assert bar.evaluate("bar => bar.scrollWidth - bar.clientWidth") == 0
