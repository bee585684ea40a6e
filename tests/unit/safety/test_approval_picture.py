"""The picture beside a question: framed, cropped, small."""

import io

import pytest
from PIL import Image

from handrail.errors import DeviceError
from handrail.safety.approval_request import mark_screenshot
from tests.cases import each

RED = (220, 38, 38)


def png(width: int = 1080, height: int = 2400) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(out, "PNG")
    return out.getvalue()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def reds(picture: Image.Image) -> int:
    return sum(count for count, colour in picture.getcolors(1 << 20) or [] if colour == RED)


def framed(picture: Image.Image) -> tuple[int, int, int, int]:
    """The first and the last red pixel of each axis."""
    mask = [[picture.getpixel((x, y)) == RED for x in range(picture.width)] for y in range(picture.height)]
    rows = [y for y, row in enumerate(mask) if any(row)]
    columns = [x for x in range(picture.width) if any(row[x] for row in mask)]
    return columns[0], rows[0], columns[-1], rows[-1]


def test_the_element_is_framed_and_its_inside_stays_readable() -> None:
    marked = opened(mark_screenshot(png(400, 500), (200, 300, 240, 350)))
    assert framed(marked) == (196, 296, 244, 354)
    assert marked.crop((200, 300, 240, 350)).getcolors() == [(40 * 50, (255, 255, 255))]
    assert reds(marked) == 49 * 59 - 41 * 51


def test_the_frame_grows_with_the_picture() -> None:
    small = opened(mark_screenshot(png(700, 100), (300, 40, 340, 60)))
    large = opened(mark_screenshot(png(1080, 100), (300, 40, 340, 60)))
    assert framed(small)[0] == 296
    assert framed(large)[0] == 294


@pytest.mark.parametrize(
    ("bounds", "size"),
    [
        ((100, 1000, 300, 1100), (620, 740)),
        ((400, 1000, 480, 1100), (720, 740)),
        ((700, 10, 800, 20), (700, 340)),
        ((900, 2300, 1300, 2500), (500, 420)),
    ],
)
def test_the_picture_shows_what_is_around_and_not_everything(
    bounds: tuple[int, int, int, int], size: tuple[int, int]
) -> None:
    assert opened(mark_screenshot(png(), bounds)).size == size


def test_a_wide_picture_is_made_smaller() -> None:
    assert opened(mark_screenshot(png(), (0, 0, 1080, 2400))).size == (720, 1600)
    assert opened(mark_screenshot(png(), None)).size == (720, 1600)
    assert opened(mark_screenshot(png(3000, 2), None)).size == (720, 1)
    assert opened(mark_screenshot(png(720, 10), None)).size == (720, 10)


@each(
    "bounds",
    [
        (5000, 5000, 6000, 6000),
        (10, 10, 10, 20),
        (10, 10, 20, 10),
        (50, 50, 20, 20),
        (-9, -9, 0, 0),
    ],
)
def test_without_a_visible_part_the_whole_screen_is_shown(bounds: tuple[int, int, int, int]) -> None:
    marked = opened(mark_screenshot(png(400, 800), bounds))
    assert marked.size == (400, 800)
    assert reds(marked) == 0


def test_an_element_at_the_edge_is_framed_inside_the_picture() -> None:
    assert framed(opened(mark_screenshot(png(400, 300), (-50, -50, 60, 80)))) == (0, 0, 64, 84)
    assert framed(opened(mark_screenshot(png(400, 300), (350, 250, 500, 600)))) == (316, 246, 369, 299)


@each("data", [b"", b"no picture", png()[:100]])
def test_a_damaged_screenshot_is_an_error_that_says_so(data: bytes) -> None:
    with pytest.raises(DeviceError, match="can't be read"):
        mark_screenshot(data, None)
