"""The player of a report and the film of a run, in a real browser, from files and without a network."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from handrail.film.write import CAPTION, write_film
from handrail.flow import report
from handrail.flow.filming import flow_scenes
from tests.unit.flow.records_made import failing_contact, passing
from tests.web.pictures import apart

AT = """async ([at]) => {
  const film = document.querySelector("video");
  await new Promise((done) => { film.onseeked = done; film.currentTime = at; });
  const canvas = document.createElement("canvas");
  canvas.width = film.videoWidth; canvas.height = film.videoHeight;
  canvas.getContext("2d").drawImage(film, 0, 0);
  return canvas.toDataURL("image/png");
}"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    shown = context.new_page()
    complaints: list[str] = []
    shown.on("console", lambda message: complaints.append(message.text))
    shown.on("pageerror", lambda error: complaints.append(str(error)))
    yield shown
    assert complaints == []
    context.close()


def picture_in(frame: Locator) -> Image.Image:
    return Image.open(io.BytesIO(frame.locator("svg").screenshot())).convert("RGB")


def test_picture_steps_and_time_line_move_together(page: Page, tmp_path: Path) -> None:
    record = failing_contact()
    page.goto(report.write([record], tmp_path).as_uri())
    player = page.get_by_role("region", name="Player: A new contact")
    frame, now, scrub = (
        player.locator(".frame:visible"),
        player.locator("[aria-current]"),
        player.get_by_role("slider"),
    )
    head = page.locator(".timeline .head")
    expect(now).to_contain_text("start_app")
    page.keyboard.press("ArrowRight")  # nothing has the focus: the first player hears it
    page.keyboard.press("ArrowRight")
    expect(now).to_contain_text("Tap Create new contact")
    expect(page.locator(".step.now #f1-2")).to_have_count(1)
    left = head.evaluate("one => parseFloat(one.style.left)")
    assert left == pytest.approx(830 / record.duration_ms * 100, abs=0.5)
    page.keyboard.press("ArrowRight")
    after = record.steps[1].after
    assert apart(picture_in(frame), after.png or b"") < 6
    page.keyboard.press("ArrowLeft")
    expect(now).to_contain_text("Tap Create new contact")
    player.get_by_role("button", name="Type the last name").click()
    expect(scrub).to_have_value("1930")
    before = record.steps[3].before
    assert apart(picture_in(frame), before.png or b"") < 10, "the same screen, with a mark on it"
    scrub.fill("4400")
    expect(now).to_contain_text("Tap Save contact")
    page.locator(".lane a").nth(2).click()
    expect(now).to_contain_text("Type the first name")


@pytest.mark.slow
def test_it_plays_to_the_end_and_stops_there(page: Page, tmp_path: Path) -> None:
    page.clock.install()
    page.goto(report.write([failing_contact()], tmp_path).as_uri())
    play = page.locator(".play")
    play.click()
    expect(play).to_have_text("Pause")
    page.clock.run_for(30_000)
    expect(play).to_have_text("Play")
    expect(page.locator(".player [aria-current]")).to_contain_text("Tap Save contact")


def test_a_flow_without_pictures_has_no_player(page: Page, tmp_path: Path) -> None:
    page.goto(report.write([passing()], tmp_path).as_uri())
    expect(page.locator(".player")).to_have_count(0)


@pytest.mark.slow
def test_the_film_opens_and_shows_each_steps_screenshot(browser: Browser, tmp_path: Path) -> None:
    record = failing_contact()
    marks = write_film(flow_scenes(record), tmp_path / "a.mp4")
    film = base64.b64encode((tmp_path / "a.mp4").read_bytes()).decode()
    page = browser.new_page()
    page.set_content(f'<video muted preload="auto" src="data:video/mp4;base64,{film}"></video>')
    page.wait_for_function("document.querySelector('video').readyState >= 2")
    assert page.evaluate("document.querySelector('video').duration") > marks[-1].over_ms / 1000
    for step, mark in zip(record.steps, marks, strict=True):
        for picture, at_ms in ((step.before, mark.at_ms), (step.after, mark.over_ms)):
            if picture is None or picture.png is None:
                continue
            drawn = page.evaluate(AT, [(at_ms + 50) / 1000])
            seen = Image.open(io.BytesIO(base64.b64decode(drawn.partition(",")[2]))).convert("RGB")
            seen = seen.crop((0, 0, seen.width, seen.height - CAPTION))
            assert apart(seen, picture.png) < 4, f"step {mark.number}"
            real = Image.open(io.BytesIO(picture.png)).convert("RGB").resize(seen.size)
            corners = zip(
                seen.resize((1, 1)).getpixel((0, 0)), real.resize((1, 1)).getpixel((0, 0)), strict=True
            )
            assert all(abs(one - other) <= 4 for one, other in corners), "colours are the same"
    page.close()
