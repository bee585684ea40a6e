"""The Phone app shows the phone's video where browser and phone can, and pictures where one of them can't."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.scenario.world import World
from tests.web.apps_stage import Stage, stage

pytest.importorskip("av")
RESTLESS = "com.handrail.trouble/.RestlessActivity"
BROKEN = """
const Real = window.VideoDecoder;
window.VideoDecoder = class { constructor({ error }) { this.error = error; this.state = "unconfigured"; }
  configure() {
    window.decoders = (window.decoders ?? 0) + 1;
    queueMicrotask(() => this.error(new Error("no")));
  }
  decode() {} close() { this.state = "closed"; } get decodeQueueSize() { return 0; } };
"""

PACE = re.compile(r"^live · \d+ frames/s · \d+ ms late( · single pictures)?$")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def entered(desk: Stage, browser: Browser, script: str) -> Page:
    """A page in which this ran before anything of ours."""
    page = desk.log_in(browser)
    page.locator(".desk-icon").first.wait_for()
    page.add_init_script(script)
    page.reload()
    return page


def opened(desk: Stage, page: Page, how: str) -> Locator:
    root = desk.open(page, "phone")
    root.locator(f".phone-canvas[data-how={how}]").wait_for()
    return root


async def move(w: World) -> None:
    w.phone.start_activity(RESTLESS)


async def recordings(w: World) -> int:
    shell = w.session.surface.inner.device.shell  # type: ignore[attr-defined]
    listed = await shell.run(["ps", "-A", "-o", "ARGS"], check=False)
    return sum("screenrecord" in line for line in listed.text.splitlines())


def leave(desk: Stage, page: Page) -> None:
    desk.close("phone")
    page.context.close()


def test_the_video_is_drawn_its_delay_is_told_and_it_ends_with_the_window(
    desk: Stage, browser: Browser
) -> None:
    page = desk.log_in(browser)
    root = opened(desk, page, "video")
    desk.do(move(desk.world))
    expect(root.locator(".phone-pace")).to_have_text(PACE)
    assert desk.do(recordings(desk.world)) == 1
    wide, high = root.locator(".phone-canvas").evaluate("canvas => [canvas.width, canvas.height]")
    assert (wide, high) == (576, 1280)
    middle = "c => [...c.getContext('2d').getImageData(c.width / 2, c.height / 2, 1, 1).data]"
    assert root.locator(".phone-canvas").evaluate(middle)[3] == 255
    leave(desk, page)
    desk.until(lambda: _ended(desk.world))


async def _ended(w: World) -> bool:
    return await recordings(w) == 0


def test_a_click_on_the_video_lands_where_the_phone_has_it(desk: Stage, browser: Browser) -> None:
    page = desk.log_in(browser)
    root = opened(desk, page, "video")
    root.get_by_role("button", name="Take over").first.click()
    expect(root.locator(".phone-holder")).to_contain_text("Yours")
    before = len(desk.world.inputs())
    canvas = root.locator(".phone-canvas")
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] / 2, "y": box["height"] / 4})
    desk.until(lambda: len(desk.world.inputs()) > before)
    touched = next(one for one in desk.world.inputs()[before:] if "x" in one)
    assert abs(touched["x"] - 540) <= 8
    assert abs(touched["y"] - 600) <= 8
    root.get_by_role("button", name="Hand back").click()
    leave(desk, page)


def test_a_browser_without_a_decoder_gets_pictures(desk: Stage, browser: Browser) -> None:
    page = entered(desk, browser, "delete window.VideoDecoder;")
    root = opened(desk, page, "pictures")
    desk.do(move(desk.world))
    expect(root.locator(".phone-pace")).to_have_text(PACE)
    assert desk.do(recordings(desk.world)) == 0
    leave(desk, page)


def test_a_decoder_that_fails_again_and_again_is_given_up_for_pictures(desk: Stage, browser: Browser) -> None:
    page = entered(desk, browser, BROKEN)
    opened(desk, page, "pictures")
    assert page.evaluate("window.decoders") == 3
    desk.until(lambda: _ended(desk.world))
    leave(desk, page)


def test_a_phone_without_video_is_shown_by_pictures(
    desk: Stage, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    page = desk.log_in(browser)
    opened(desk, page, "pictures")
    leave(desk, page)


def test_what_may_not_be_shown_is_told_and_the_video_comes_back(desk: Stage, browser: Browser) -> None:
    page = desk.log_in(browser)
    root = opened(desk, page, "video")
    desk.do(_bank(desk.world))
    expect(root.locator(".phone-cover")).to_contain_text(re.compile("picture", re.IGNORECASE))
    expect(root.locator(".phone-glass")).to_be_hidden()
    desk.do(desk.world.session.press_key("home"))
    expect(root.locator(".phone-glass")).to_be_visible()
    assert root.locator(".phone-canvas").get_attribute("data-how") == "video"
    leave(desk, page)


async def _bank(w: World) -> None:
    w.phone.start_activity("com.handrail.bank/.CodeActivity")


def test_a_secret_turns_the_video_into_pictures(tmp_path: Path, browser: Browser) -> None:
    with stage(tmp_path) as desk:
        page = desk.log_in(browser)
        root = opened(desk, page, "video")
        desk.world.runtime.secrets.add("WORD", "kingfisher")
        desk.do(desk.world.session.start_app("com.google.android.contacts"))
        desk.do(desk.world.session.tap("Create new contact"))
        typed = desk.do(desk.world.session.type_text("${secret:WORD}", target="First name"))
        assert typed.success, typed.to_json()
        root.locator(".phone-canvas[data-how=pictures]").wait_for()
        page.context.close()
