"""All phones in a real browser: live tiles with their agents, one enlarged, and names that people give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from handrail.clock import SystemClock
from handrail.safety.caller import Caller
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.web.apps_stage import Stage, stage
from tests.web.test_desk_access import checked

pytestmark = pytest.mark.slow  # their server side is in tests/unit/web_server
SETTINGS = "com.android.settings"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Two phones of the same make, one of them idle."""
    with stage(tmp_path_factory.mktemp("home"), caller=Caller("mail-agent", "agent", "mcp")) as opened:
        other = serve([Phone(clock=SystemClock())], port=0)
        [served] = opened.do(other.__aenter__())
        opened.do(opened.world.runtime.session(served.address, helper="none"))
        yield opened
        opened.do(other.__aexit__(None, None, None))


@pytest.fixture
def page(desk: Stage, browser: Browser) -> Iterator[Page]:
    with desk.visited(browser, viewport={"width": 1440, "height": 900}) as opened:
        yield opened


def test_every_phone_is_live_with_its_agent_and_its_last_action(desk: Stage, page: Page) -> None:
    root = desk.open(page, "wall")
    expect(root.locator(".tile")).to_have_count(2)
    for tile in root.locator(".tile").all():
        expect(tile.locator(".tile-canvas")).to_be_visible()
    ours = root.locator(f".tile[data-device='{desk.world.serial}']")
    before = int(ours.locator("canvas").get_attribute("data-frames") or 0)
    desk.do(desk.world.open(SETTINGS))
    desk.do(desk.world.session.tap("Display", reason="I make it dark"))
    expect(ours.locator(".tile-last")).to_contain_text("mail-agent tap “Display”")
    expect(root.locator(".tile").filter(has_text="Nothing was done here yet")).to_have_count(1)
    page.wait_for_function(
        "([tile, before]) => Number(tile.querySelector('canvas').dataset.frames) > before",
        arg=[ours.element_handle(), before],
    )


def test_a_tile_is_enlarged_by_a_click_and_opens_the_phone(desk: Stage, page: Page) -> None:
    root = desk.open(page, "wall")
    tile = root.locator(f".tile[data-device='{desk.world.serial}']")
    tile.locator("canvas").wait_for()
    small = tile.bounding_box()
    tile.locator(".tile-screen").click()
    expect(tile.get_by_role("button", name="Back to all phones")).to_be_visible()
    large = tile.bounding_box()
    assert large["width"] > small["width"] * 1.5
    boxes = [one.bounding_box() for one in root.locator(".tile").all()]
    assert not _overlap(boxes[0], boxes[1])
    tile.locator(".tile-screen").press("Escape")
    expect(tile.get_by_role("button", name="Back to all phones")).to_be_hidden()
    tile.locator(".tile-screen").click()
    tile.get_by_role("button", name="Open and take over").click()
    phone = page.locator(".app-phone")
    expect(phone.get_by_label("Phone", exact=True)).to_have_value(desk.world.serial)


def _overlap(one: object, other: object) -> bool:
    assert isinstance(one, dict)
    assert isinstance(other, dict)
    apart = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
    return not (apart or one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"])


def test_a_name_given_on_the_wall_is_seen_in_the_other_apps(desk: Stage, page: Page) -> None:
    desk.do(desk.world.open(SETTINGS))
    root = desk.open(page, "wall")
    tile = root.locator(f".tile[data-device='{desk.world.serial}']")
    tile.get_by_role("button", name="Rename").click()
    tile.get_by_label("Name of this phone").fill("Kitchen phone")
    tile.get_by_label("Name of this phone").press("Enter")
    expect(tile.locator(".tile-name")).to_have_text("Kitchen phone")
    desk.close("wall")
    phone = desk.open(page, "phone")
    expect(phone.get_by_label("Phone", exact=True).locator("option", has_text="Kitchen phone")).to_have_count(
        1
    )
    desk.close("phone")
    journal = desk.open(page, "journal")
    journal.get_by_role("tab", name="Runs").click()
    expect(journal.locator(".run").first).to_contain_text("on Kitchen phone")
    page.reload()
    expect(page.locator(".app-journal")).to_be_visible()
    desk.close("journal")


def test_a_name_of_another_phone_is_refused_in_words(desk: Stage, page: Page) -> None:
    root = desk.open(page, "wall")
    names = root.locator(".tile-name").all_inner_texts()
    tile = root.locator(f".tile[data-device='{desk.world.serial}']")
    tile.get_by_role("button", name="Rename").click()
    tile.get_by_label("Name of this phone").fill("127.0.0.1:9")
    tile.get_by_label("Name of this phone").press("Enter")
    expect(page.locator("#toasts")).to_contain_text("This name can't be used")
    tile.get_by_label("Name of this phone").press("Escape")
    assert root.locator(".tile-name").all_inner_texts() == names


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_wall_and_the_films_can_be_read_by_everybody(
    desk: Stage, browser: Browser, scheme: str, width: int
) -> None:
    desk.do(desk.world.open(SETTINGS))
    size: Any = {"width": width, "height": 844}
    page = desk.log_in(browser, viewport=size, color_scheme=scheme)
    for app, inside in (("wall", ".tile-canvas"), ("journal", ".run .frame")):
        root = desk.open(page, app)
        if app == "journal":
            root.get_by_role("tab", name="Runs").click()
        root.locator(inside).first.wait_for()
        root.locator(".tile-screen, .frame").first.click()
        checked(page)
        assert root.evaluate("root => root.scrollWidth - root.clientWidth") == 0
        desk.close(app)
    page.context.close()
