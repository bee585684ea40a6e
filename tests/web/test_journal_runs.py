"""The Journal app in a real browser: film strips, searching, a flow in one click, the signed checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from handrail.safety.caller import Caller
from tests.web.apps_stage import Stage, stage
from tests.web.test_apps_records import SETTINGS, _pictured

pytestmark = pytest.mark.slow  # their server side is in tests/unit/web_server


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    home = tmp_path_factory.mktemp("home")
    with stage(home, flows=home / "flows", caller=Caller("mail-agent", "agent", "mcp")) as opened:
        _work(opened)
        yield opened


def _work(desk: Stage) -> None:
    """Two agents, one failure, pictures of all of it."""
    desk.do(desk.world.open(SETTINGS))
    _pictured(desk, 1)
    desk.do(desk.world.session.tap("Display", reason="I make it dark"))
    _pictured(desk, 1)
    desk.do(desk.world.session.tap("nowhere", reason="I try what is not there"))
    other = Caller("shopper", "agent", "mcp")
    desk.do(desk.world.session.run({"type": "press_key", "key": "back"}, caller=other, reason="I go back"))
    _pictured(desk, 1)


def test_a_run_is_a_film_strip_that_keys_and_clicks_walk_through(desk: Stage, page: Page) -> None:
    root = desk.open(page, "journal")
    root.get_by_role("tab", name="Runs").click()
    run = root.locator(".run", has_text="mail-agent")
    expect(run.locator(".frame")).to_have_count(3)
    expect(run).to_contain_text("1 failed")
    first = run.locator(".frame").first
    expect(first.locator("img")).to_have_js_property("complete", True)
    first.click()
    stage_ = run.locator(".film-stage")
    expect(stage_).to_contain_text("Step 1 of 3")
    stage_.get_by_role("button", name="Next step").click()
    expect(stage_).to_contain_text("I make it dark")
    large = stage_.locator("img")
    expect(large).to_have_js_property("complete", True)
    assert large.evaluate("image => image.naturalWidth") == 540
    run.locator(".frame").nth(1).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(stage_).to_contain_text("I try what is not there")
    stage_.get_by_role("button", name="Details").click()
    expect(root.locator(".split-detail")).to_contain_text("nowhere")


def test_the_journal_is_searched_by_label_and_by_agent(desk: Stage, page: Page) -> None:
    root = desk.open(page, "journal")
    root.get_by_label("Search").fill("display")
    expect(root.locator(".row")).to_have_count(1)
    root.get_by_label("Search").fill("")
    expect(root.locator(".row")).to_have_count(4)
    root.locator("[data-filter='actor']").select_option("shopper")
    expect(root.locator(".row")).to_have_count(1)
    root.get_by_role("tab", name="Runs").click()
    expect(root.locator(".run")).to_have_count(1)
    expect(root.locator(".run")).to_contain_text("shopper")


def test_a_session_becomes_a_flow_with_one_click(desk: Stage, page: Page) -> None:
    root = desk.open(page, "journal")
    root.get_by_role("tab", name="Runs").click()
    root.locator(".run", has_text="mail-agent").get_by_role("button", name="Save as a flow").click()
    flows = page.locator(".app-flows")
    expect(flows.locator(".row").first).to_contain_text("recorded")
    [kept] = desk.world.home.joinpath("flows").glob("recorded-*.yaml")
    assert "tap: Display" in kept.read_text()
    expect(flows.locator(".split-detail")).to_contain_text("Display")


def test_the_signed_checkpoint_is_shown_and_saved(desk: Stage, page: Page) -> None:
    root = desk.open(page, "journal")
    root.get_by_role("button", name="Checkpoint").click()
    panel = root.get_by_label("Signed checkpoint")
    with page.expect_download() as saved:
        panel.get_by_role("button", name="Save").click()
    text = saved.value.path().read_text()
    assert panel.get_by_label("The checkpoint", exact=True).inner_text().strip() == text.strip()
    assert text.splitlines()[1].isdecimal()
