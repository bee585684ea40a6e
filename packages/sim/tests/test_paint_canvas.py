"""Shapes land where they are told, smooth at their edges, and never outside their clip."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from handrail_sim.paint import icons
from handrail_sim.paint.canvas import encode, icon, paint
from handrail_sim.paint.images import DRAWINGS, picture
from handrail_sim.paint.scene import (
    Arc,
    Box,
    Fill,
    Line,
    Picture,
    Run,
    Scene,
    Shadow,
    Shape,
    Sign,
    Stroke,
    dimmed,
)
from handrail_sim.view.metrics import line_width

RED = (255, 0, 0, 255)
SCREEN = (0, 0, 100, 100)
BOX = (20, 30, 80, 70)

SHAPES: list[Shape] = [
    Fill(BOX, RED),
    Fill(BOX, RED, radius=12),
    Stroke(BOX, RED, 10, 3),
    Stroke(BOX, RED, 0, 3),
    Line((20, 30), (80, 70), 3, RED),
    Arc(BOX, 0, 300, 4, RED),
    Run("Readable", 20, 60, 20, False, RED),
    Sign("settings", 20, 30, 40, RED),
    Picture("landscape:1", BOX, 8),
]


def drawn(*shapes: Shape, clip: Box = SCREEN) -> Image.Image:
    return paint(Scene(100, 100, tuple((clip, shape) for shape in shapes)))


def name_of(shape: object) -> str:
    return type(shape).__name__


@pytest.mark.parametrize("shape", SHAPES, ids=name_of)
def test_every_shape_leaves_a_mark(shape: Shape) -> None:
    assert drawn(shape).getbbox() is not None


@pytest.mark.parametrize("shape", SHAPES, ids=name_of)
def test_nothing_is_painted_outside_the_clip(shape: Shape) -> None:
    left, top, right, bottom = drawn(shape, clip=(40, 45, 55, 60)).getbbox() or (40, 45, 41, 46)
    assert left >= 40
    assert top >= 45
    assert right <= 55
    assert bottom <= 60


def test_a_shape_that_is_partly_off_the_screen_is_painted_where_it_is_on_it() -> None:
    assert drawn(Fill((-50, -50, 10, 10), RED, radius=4)).getbbox() == (0, 0, 10, 10)


def test_round_corners_are_smooth() -> None:
    image = drawn(Fill(BOX, RED, radius=20))
    reds = {image.getpixel((x, 30 + x % 7)) for x in range(20, 40)}
    assert image.getpixel((20, 30)) == (0, 0, 0)
    assert any(0 < red[0] < 255 for red in reds if isinstance(red, tuple))


def test_only_the_named_corners_are_round() -> None:
    image = drawn(Fill(BOX, RED, radius=12, corners=0b0011))
    assert image.getpixel((20, 30)) == (0, 0, 0)
    assert image.getpixel((20, 69)) == (255, 0, 0)


def test_a_translucent_fill_mixes_with_what_is_below() -> None:
    image = drawn(Fill(SCREEN, (255, 255, 255, 255)), Fill(BOX, (0, 0, 0, 128)))
    assert image.getpixel((50, 50)) == (127, 127, 127)


def test_a_shadow_darkens_around_the_box() -> None:
    image = drawn(Fill(SCREEN, (255, 255, 255, 255)), Shadow((30, 30, 70, 70), 6, 6))
    below, far = image.getpixel((50, 74)), image.getpixel((50, 99))
    assert isinstance(below, tuple)
    assert below[0] < 250
    assert far == (255, 255, 255)


def test_text_ends_where_it_was_measured_to_end() -> None:
    width = line_width("Hamburg", 20)
    box = drawn(Run("Hamburg", 5, 50, 20, False, RED)).getbbox()
    assert box is not None
    assert abs(box[2] - (5 + width)) <= 3


def test_a_letter_that_the_font_lacks_is_seen_as_a_box() -> None:
    assert drawn(Run("漢", 10, 50, 30, False, RED)).getbbox() is not None
    assert drawn(Run("✓", 10, 50, 30, False, RED)).getbbox() is not None


def test_dimmed_shapes_give_the_dimmed_picture() -> None:
    plain = drawn(*SHAPES)
    dark = drawn(*[dimmed(shape, 0.5) for shape in SHAPES])
    for x, y in ((50, 50), (30, 40), (70, 60)):
        before, after = plain.getpixel((x, y)), dark.getpixel((x, y))
        assert isinstance(before, tuple)
        assert isinstance(after, tuple)
        assert all(abs(low - high / 2) <= 2 for low, high in zip(after, before, strict=True))


def test_every_icon_is_a_drawing_of_its_own() -> None:
    seen: dict[bytes, str] = {}
    for name in icons.PATHS:
        mask = icon(name, 48)
        assert mask.getbbox() is not None
        seen.setdefault(mask.tobytes(), name)
    twins = set(icons.PATHS) - set(seen.values())
    assert twins <= {"phone", "call"}


def test_every_other_name_leads_to_an_icon() -> None:
    assert set(icons.ALIASES.values()) <= icons.PATHS.keys()


def test_the_same_name_is_always_the_same_picture_and_another_name_another() -> None:
    whole = (0, 0, 60, 60)
    one = picture("landscape:4", (60, 60), whole, 1.0, 0.0)
    assert one.tobytes() == picture("landscape:4", (60, 60), whole, 1.0, 0.0).tobytes()
    assert one.tobytes() != picture("landscape:5", (60, 60), whole, 1.0, 0.0).tobytes()


@pytest.mark.parametrize("thing", sorted(DRAWINGS))
def test_every_product_is_drawn_inside_its_picture(thing: str) -> None:
    image = picture(f"product:{thing}:1", (64, 64), (0, 0, 64, 64), 1.0, 0.0)
    assert image.getpixel((0, 0)) == image.getpixel((63, 0))
    assert len(image.getcolors(4096) or ()) > 20


def test_a_zoomed_picture_shows_its_middle() -> None:
    whole = (0, 0, 120, 120)
    far = picture("landscape:2", (120, 120), whole, 1.0, 0.0)
    near = picture("landscape:2", (120, 120), whole, 2.0, 0.0)
    middle = far.crop((30, 30, 90, 90)).resize((120, 120)).tobytes()
    apart = [sum(abs(a - b) for a, b in zip(side.tobytes(), middle, strict=True)) for side in (near, far)]
    assert apart[0] * 4 < apart[1]


def test_a_recorded_screenshot_is_shown_and_a_missing_one_is_a_plain_ground(
    tmp_path: Path,
) -> None:
    path = tmp_path / "one.png"
    Image.new("RGB", (20, 20), (9, 8, 7)).save(path)
    assert picture(f"file:{path}", (40, 40), (0, 0, 40, 40), 1.0, 0.0).getpixel((20, 20)) == (9, 8, 7)
    assert picture("file:/nowhere.png", (40, 40), (0, 0, 40, 40), 1.0, 0.0).size == (40, 40)


def test_the_png_holds_exactly_the_picture() -> None:
    image = drawn(*SHAPES)
    with Image.open(io.BytesIO(encode(image))) as read:
        assert read.format == "PNG"
        assert read.mode == "RGB"
        assert read.tobytes() == image.tobytes()
