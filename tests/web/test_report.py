"""The report in a real browser: it opens from a file, asks nobody for anything, and can be used."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from handrail.flow import report
from handrail.flow.run_record import FlowRecord
from tests.unit.flow.records_made import everything, failing_contact, passing, two_phones
from tests.unit.flow.test_report import HOSTILE, hostile_flow
from tests.web.pictures import apart, box_of_mark


@dataclass
class Reader:
    """Somebody who opens reports, and what the browser complained about or fetched meanwhile."""

    page: Page
    folder: Path
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, records: list[FlowRecord], anchor: str = "") -> None:
        path = report.write(records, self.folder)
        self.page.goto(path.as_uri() + anchor)

    def opened(self) -> list[str]:
        return [str(one.get_attribute("id")) for one in self.page.locator("details[open]").all()]

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name)


@pytest.fixture
def reader(browser: Browser, tmp_path: Path) -> Iterator[Reader]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    one = Reader(page, tmp_path / "report")
    page.on("console", lambda message: one.complaints.append(message.text))
    page.on("pageerror", lambda error: one.complaints.append(str(error)))
    page.on("dialog", lambda dialog: one.complaints.append(f"dialog {dialog.message}"))
    page.on("request", lambda request: one.requests.append(request.url))
    yield one
    context.close()


def test_the_file_opens_without_a_complaint_and_without_the_network(reader: Reader) -> None:
    reader.open(everything())
    expect(reader.page.locator("h1")).to_have_text("2 of 6 flows failed")
    reader.button("Expand all").click()
    reader.page.mouse.wheel(0, 20_000)
    assert reader.complaints == []
    assert [url for url in reader.requests if not url.startswith(("file:", "data:image/webp"))] == []


def test_hostile_words_run_nothing(reader: Reader) -> None:
    reader.open([hostile_flow(words) for words in HOSTILE])
    reader.button("Expand all").click()
    for words in HOSTILE:
        expect(reader.page.locator("h2").get_by_text(words, exact=True)).to_be_visible()
    assert reader.complaints == []
    assert reader.page.locator("img, iframe").count() == 0
    assert reader.page.locator("script").count() == 1


@pytest.mark.slow
def test_the_filter_leaves_what_failed(reader: Reader) -> None:
    reader.open(everything())
    reader.button("Failed (3)").click()
    titles = reader.page.locator("h2:visible")
    expect(titles).to_have_text(["A new contact", "Two phones", "A long wait"])
    expect(reader.page.locator("#f1-5")).to_be_visible()
    expect(reader.page.locator("#f1-1")).to_be_hidden()
    expect(reader.button("Failed (3)")).to_have_attribute("aria-pressed", "true")
    reader.button("All (6)").click()
    expect(titles).to_have_count(6)


@pytest.mark.slow
def test_a_filter_that_leaves_nothing_says_so(reader: Reader) -> None:
    reader.open([passing()])
    expect(reader.page.get_by_text("Nothing failed.")).to_be_hidden()
    reader.button("Failed (0)").click()
    expect(reader.page.get_by_text("Nothing failed.")).to_be_visible()


@pytest.mark.slow
def test_all_can_be_expanded_and_collapsed(reader: Reader) -> None:
    reader.open(everything())
    reader.button("Collapse all").click()
    assert reader.opened() == []
    reader.button("Expand all").click()
    assert len(reader.opened()) == reader.page.locator("details").count()


def test_a_keyboard_is_enough(reader: Reader) -> None:
    reader.open([passing()])
    focused = reader.page.locator(":focus")
    reader.page.keyboard.press("Tab")
    expect(focused).to_have_text("Skip to the flows")
    for name in ("All (1)", "Failed (0)", "Expand all", "Collapse all"):
        reader.page.keyboard.press("Tab")
        expect(focused).to_have_text(name)
    reader.page.keyboard.press("Tab")
    assert reader.opened() == ["f1"], "a single flow is open"
    reader.page.keyboard.press("Enter")
    assert reader.opened() == []
    reader.page.keyboard.press("Enter")
    assert reader.opened() == ["f1"]
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("Enter")
    assert reader.opened() == ["f1", "f1-1"]


@pytest.mark.slow
def test_a_link_leads_into_a_closed_step_even_past_the_filter(reader: Reader) -> None:
    reader.open([failing_contact(), passing()])
    reader.button("Failed (1)").click()
    reader.page.evaluate("location.hash = '#f2-2-1'")
    expect(reader.page.locator("#f2-2-1 .facts")).to_be_in_viewport()


@pytest.mark.slow
def test_a_bar_of_the_timeline_leads_to_its_step(reader: Reader) -> None:
    reader.open([failing_contact()])
    reader.page.locator(".lane a").nth(2).click()
    expect(reader.page.locator("#f1-3 .facts")).to_be_in_viewport()


def test_the_mark_is_where_the_element_was(reader: Reader) -> None:
    record = failing_contact()
    touched = record.steps[2].touched
    assert touched
    reader.open([record], "#f1-3")
    shown = reader.page.locator("#f1-3 .zoom svg").first
    expect(shown).to_be_in_viewport()
    image = Image.open(io.BytesIO(shown.screenshot())).convert("RGB")
    scale = image.width / 1080
    for seen, real in zip(box_of_mark(image), touched, strict=True):
        assert abs(seen - real * scale) <= 3, f"{box_of_mark(image)} is not {touched} at {scale}"


@pytest.mark.slow
def test_the_picture_behind_the_mark_is_the_phones_screen(reader: Reader) -> None:
    record = failing_contact()
    before = record.steps[2].before
    assert before
    assert before.png
    reader.open([record], "#f1-3")
    shot = reader.page.locator("#f1-3 .zoom svg").nth(1).screenshot()
    after = record.steps[2].after
    assert after
    assert after.png
    seen = Image.open(io.BytesIO(shot)).convert("RGB")
    distances = [apart(seen, png) for png in (after.png, before.png)]
    assert distances[0] < 8 < distances[1]


@pytest.mark.slow
def test_a_picture_can_be_enlarged_and_made_small_again(reader: Reader) -> None:
    reader.open([failing_contact()], "#f1-3")
    picture = reader.page.locator("#f1-3 .zoom").first
    small = picture.bounding_box()
    picture.click()
    large = picture.bounding_box()
    picture.click()
    assert large["width"] > small["width"] * 1.5
    expect(picture).to_have_css("width", f"{small['width']:g}px")


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_narrow_screen_never_scrolls_sideways(reader: Reader, width: int) -> None:
    reader.page.set_viewport_size({"width": width, "height": 800})
    reader.open([*everything(), hostile_flow("x" * 500)])
    reader.button("Expand all").click()
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_mode_follows_the_reader(reader: Reader) -> None:
    reader.open([passing()])
    ground = "getComputedStyle(document.body).backgroundColor"
    light = reader.page.evaluate(ground)
    reader.page.emulate_media(color_scheme="dark")
    assert reader.page.evaluate(ground) != light


@pytest.mark.slow
def test_paper_gets_no_buttons_and_whole_logs(reader: Reader) -> None:
    reader.open([failing_contact(), two_phones()])
    reader.page.emulate_media(media="print")
    expect(reader.page.locator(".toolbar")).to_be_hidden()
    limit = "getComputedStyle(document.querySelector('#f1-5 pre')).maxHeight"
    assert reader.page.evaluate(limit) == "none"


@pytest.mark.slow
def test_without_scripts_everything_can_still_be_read(browser: Browser, tmp_path: Path) -> None:
    path = report.write([failing_contact()], tmp_path)
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        expect(page.locator(".toolbar")).to_be_hidden()
        page.locator("#f1-3 > summary").click()
        expect(page.locator("#f1-3 .facts")).to_be_visible()
