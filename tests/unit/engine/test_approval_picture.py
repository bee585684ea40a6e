"""The picture beside a question: framed, cropped, small."""

import io

import pytest
from PIL import Image

from handrail.engine.approval import mark_screenshot
from handrail.errors import DeviceError

RED = (220, 38, 38)


def png(width: int = 1080, height: int = 2400) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(out, "PNG")
    return out.getvalue()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def reds(picture: Image.Image) -> int:
    return sum(count for count, colour in picture.getcolors(1 << 20) or [] if colour == RED)


def test_the_element_is_framed_and_its_inside_stays_readable() -> None:
    marked = opened(mark_screenshot(png(700, 700), (300, 300, 400, 400)))
    assert reds(marked) > 0
    assert marked.getpixel((marked.width // 2, marked.height // 2)) == (255, 255, 255)


def test_the_picture_shows_what_is_around_and_not_everything() -> None:
    marked = opened(mark_screenshot(png(), (100, 1000, 300, 1100)))
    assert marked.width < 720
    assert marked.height < 800


def test_a_wide_picture_is_made_smaller() -> None:
    assert opened(mark_screenshot(png(), (0, 0, 1080, 2400))).width == 720
    assert opened(mark_screenshot(png(), None)).size == (720, 1600)


@pytest.mark.parametrize(
    "bounds", [(5000, 5000, 6000, 6000), (10, 10, 10, 10), (50, 50, 20, 20), (-9, -9, 0, 0)]
)
def test_without_a_visible_part_the_whole_screen_is_shown(bounds: tuple[int, int, int, int]) -> None:
    marked = opened(mark_screenshot(png(400, 800), bounds))
    assert marked.size == (400, 800)
    assert reds(marked) == 0


def test_an_element_at_the_edge_is_framed_inside_the_picture() -> None:
    assert reds(opened(mark_screenshot(png(400, 800), (-50, -50, 60, 60)))) > 0


@pytest.mark.parametrize("data", [b"", b"no picture", png()[:100]])
def test_a_damaged_screenshot_is_an_error_that_says_so(data: bytes) -> None:
    with pytest.raises(DeviceError, match="can't be read"):
        mark_screenshot(data, None)
