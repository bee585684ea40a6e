"""Windows become a picture: what is on top hides, dims and blackens as on a phone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from handrail_sim import paint
from handrail_sim.paint import PAINTERS, Reduction, compose
from handrail_sim.paint.palette import DARK, LIGHT, resolve
from handrail_sim.paint.scene import Fill, Picture, Run, Shape, Sign, Stroke
from handrail_sim.view import (
    Style,
    View,
    avatar,
    button,
    card,
    checkbox,
    chip,
    column,
    divider,
    fab,
    field,
    frame,
    icon,
    image,
    progress,
    radio,
    scroll,
    slider,
    spacer,
    spinner,
    switch,
    tabs,
    text,
)
from handrail_sim.view.units import Units
from handrail_sim.view.windows import Window

SIZE = (360, 640)
SCREEN = (0, 0, *SIZE)
UNITS = Units(1.0, 1.0)


def window(content: View, kind: str = "application", **more: object) -> Window:
    made = Window("test", "com.example", kind, lambda: content, area=SCREEN, units=UNITS, **more)  # type: ignore[arg-type]
    assert made.root is content
    return made


def runs(*windows: Window, dark: bool = False, now_ms: float = 0.0) -> list[Run]:
    shapes = compose(windows, *SIZE, dark=dark, now_ms=now_ms).scene.shapes
    return [shape for _, shape in shapes if isinstance(shape, Run)]


def everything() -> View:
    return column(
        text("Headline", "headline"),
        field("name", "Ada", style=Style(kind="field", role="outlined", size=16, label="Name", error="no")),
        field("code", "1234", password=True, style=Style(kind="field", role="filled", size=16)),
        button("Save"),
        button("Not now", role="outlined", enabled=False),
        chip("Chip", True),
        checkbox("Check", True),
        radio("Radio", False),
        switch("Switch", True),
        slider(30.0),
        progress(50.0),
        spinner(),
        tabs(["One", "Two"], 0, lambda _: None),
        divider(),
        card(text("In a card")),
        icon("search"),
        avatar("Ada"),
        image("landscape:1"),
        fab("add", "Add"),
        height="fill",
    )


@pytest.mark.parametrize("dark", [False, True])
def test_every_widget_can_be_painted_and_twice_the_same(dark: bool) -> None:
    first, second = (paint.png([window(everything())], *SIZE, dark=dark, now_ms=40) for _ in range(2))
    assert first == second


def test_dark_and_light_pictures_differ() -> None:
    light, dark = (paint.render([window(everything())], *SIZE, dark=dark) for dark in (False, True))
    assert light.getpixel((359, 1)) == resolve("surface", False)[:3]
    assert dark.getpixel((359, 1)) == resolve("surface", True)[:3]


def test_both_themes_name_the_same_colours() -> None:
    assert LIGHT.keys() == DARK.keys()


def test_words_are_painted_inside_their_view() -> None:
    label = text("Inside", margin=20.0)
    (run,) = runs(window(column(label)))
    assert run.x == label.x
    assert label.y < run.baseline < label.y + label.h


def test_words_at_the_end_of_their_view_end_there() -> None:
    label = text("End", width="fill", style=Style(kind="text", align="end"))
    (run,) = runs(window(column(label)))
    assert 300 < run.x < 360


def test_a_secure_window_is_black() -> None:
    picture = paint.render([window(everything(), secure=True)], *SIZE)
    assert picture.getcolors() == [(SIZE[0] * SIZE[1], (0, 0, 0))]


def test_signs_of_the_bars_turn_white_over_a_secure_window() -> None:
    bar = window(icon("wifi"), "status_bar")
    for secure, white in ((True, True), (False, False)):
        shapes = compose([window(text("x"), secure=secure), bar], *SIZE).scene.shapes
        sign = next(shape for _, shape in shapes if isinstance(shape, Sign))
        assert (sign.colour == (255, 255, 255, 255)) is white


def test_a_dialog_dims_what_is_behind_it() -> None:
    behind = window(column(height="fill", style=Style(background="#ffffff")))
    dialog = window(text("Sure?"), "dialog", placement="center", dim=0.6)
    picture = paint.render([behind, dialog], *SIZE)
    assert picture.getpixel((5, 5)) == (102, 102, 102)


def test_an_app_hides_the_app_below_it() -> None:
    assert [run.text for run in runs(window(text("Below")), window(text("Above")))] == ["Above"]


def test_what_scrolled_out_of_sight_is_not_painted_over_its_neighbours() -> None:
    tall = column(*[text(f"Row {number}", height=50.0) for number in range(20)])
    view = column(scroll(tall, height=120.0), spacer(0.0, weight=1.0), height="fill")
    picture = paint.render([window(view)], *SIZE)
    assert picture.crop((0, 121, *SIZE)).getcolors() == [(360 * 519, resolve("surface", False)[:3])]


def test_an_invisible_view_is_not_painted() -> None:
    hidden = text("In the dump only")
    hidden.painted = False
    assert runs(window(column(text("Ghost", visible=False), hidden))) == []


def test_ink_suits_the_ground() -> None:
    (run,) = runs(window(column(text("On primary"), style=Style(background="primary"))))
    assert run.colour == resolve("on_primary", False)


def test_a_disabled_button_is_fainter() -> None:
    on, off = (runs(window(button("Save", enabled=enabled)))[0] for enabled in (True, False))
    assert off.colour[3] < on.colour[3]


def test_a_password_is_painted_as_dots() -> None:
    hidden = field("code", "1234", password=True)
    assert [run.text for run in runs(window(hidden))] == ["••••"]


def focused_field(words: str, selection: tuple[int, int]) -> Window:
    shown = field("name", words)
    made = window(shown)
    shown.focused, shown.selection = True, selection
    return made


def test_the_cursor_blinks_with_the_clock() -> None:
    made = focused_field("Ada", (3, 3))
    on, off, again = (compose([made], *SIZE, now_ms=now).scene for now in (0.0, 500.0, 1000.0))
    assert on == again
    assert len(on.shapes) == len(off.shapes) + 1


def test_selected_text_has_a_tinted_ground() -> None:
    tinted = compose([focused_field("Ada Lovelace", (4, 8))], *SIZE).scene.shapes
    plain = compose([focused_field("Ada Lovelace", (12, 12))], *SIZE, now_ms=500.0).scene.shapes
    assert len(tinted) == len(plain) + 1


def test_a_long_line_is_shifted_so_that_its_cursor_is_seen() -> None:
    words = "a line that is much longer than the field that it was typed into, by far"
    (run,) = runs(focused_field(words, (len(words), len(words))))
    assert run.x < 0


def test_a_spinner_turns_with_the_clock_only() -> None:
    made = window(spinner())
    first, later = (compose([made], *SIZE, now_ms=now).scene for now in (0.0, 350.0))
    assert first != later
    assert first == compose([made], *SIZE, now_ms=0.0).scene


def test_a_pressed_button_looks_pressed() -> None:
    shown = button("Save")
    made = window(shown)
    before = compose([made], *SIZE).scene
    shown.pressed = True
    assert compose([made], *SIZE).scene != before


def test_a_frame_keeps_its_moment_when_the_views_change() -> None:
    label = text("Before")
    made = window(frame(label))
    taken = paint.frame([made], *SIZE)
    before = taken.png()
    label.text, label.lines = "After", ["After"]
    assert taken.png() == before


def test_a_view_without_style_is_dressed_by_its_class() -> None:
    plain = View(cls="android.widget.CheckBox", text="Recorded", checked=True)
    styled = checkbox("Recorded", True)
    for view in (plain, styled):
        view.style = replace(view.style, size=16.0)
    shapes = [type(shape) for _, shape in compose([window(plain)], *SIZE).scene.shapes]
    assert shapes == [type(shape) for _, shape in compose([window(styled)], *SIZE).scene.shapes]


def test_the_framebuffer_has_four_bytes_for_every_pixel() -> None:
    raw = paint.frame([window(text("x"))], *SIZE).rgba()
    assert len(raw) == SIZE[0] * SIZE[1] * 4
    assert set(raw[3::4]) == {255}


def test_every_kind_has_a_painter_that_survives_an_empty_view() -> None:
    for kind in PAINTERS:
        assert paint.png([window(View(style=Style(kind=kind)))], *SIZE)


def test_wallpaper_reaches_behind_the_bars_and_their_signs_turn_white() -> None:
    home = window(frame(text("Maps"), height="fill", style=Style(kind="image", image="wallpaper")))
    home.area = (0, 24, 360, 592)
    home.relayout()
    shapes = compose([home, window(icon("wifi"), "status_bar")], *SIZE).scene.shapes
    pictures = [shape for _, shape in shapes if isinstance(shape, Picture)]
    assert [shape.box for shape in pictures] == [SCREEN]
    assert {shape.colour for _, shape in shapes if isinstance(shape, Run | Sign)} == {(255, 255, 255, 255)}


def test_a_full_surface_over_the_wallpaper_makes_the_signs_dark_again() -> None:
    home = window(frame(height="fill", style=Style(kind="image", image="wallpaper")))
    shade = window(frame(height="fill", style=Style(background="surface")), "shade")
    shapes = compose([home, shade, window(icon("wifi"), "status_bar")], *SIZE).scene.shapes
    sign = next(shape for _, shape in shapes if isinstance(shape, Sign))
    assert sign.colour != (255, 255, 255, 255)


def test_the_keyboard_goes_on_behind_the_navigation_bar() -> None:
    keys = Window("keys", "ime", "ime", lambda: column(height="fill"), area=(0, 400, 360, 592), units=UNITS)
    picture = paint.render([window(text("x")), keys], *SIZE)
    assert picture.getpixel((5, 639)) == resolve("keyboard", False)[:3]
    assert picture.getpixel((5, 399)) == resolve("surface", False)[:3]


def test_a_thumbnail_shows_another_window_small_unless_it_is_secure() -> None:
    other = window(text("Tiny", style=Style(kind="text", size=40.0)))
    small = View(style=Style(kind="thumbnail"), width=90.0, height=160.0, tag=other)
    (run,) = runs(window(column(small)))
    assert (run.text, run.size) == ("Tiny", 10.0)
    other.secure = True
    assert runs(window(column(small))) == []


@pytest.mark.parametrize("shape", [Fill(SCREEN, (1, 2, 3, 255), 8), Sign("add", 40, 80, 24, (1, 2, 3, 255))])
def test_what_is_reduced_keeps_its_place_in_proportion(shape: Shape) -> None:
    small = Reduction(SCREEN, (100, 100, 190, 260)).shape(shape)
    if isinstance(small, Fill):
        assert (small.box, small.radius) == ((100, 100, 190, 260), 2)
    else:
        assert small == Sign("add", 110, 120, 6, (1, 2, 3, 255))


def test_a_page_title_is_not_written_over_the_page() -> None:
    page = View(cls="android.webkit.WebView", text="Title", layout="column", children=[text("Body")])
    assert [run.text for run in runs(window(page))] == ["Body"]


def test_the_name_of_an_app_stands_below_its_icon() -> None:
    style = Style(kind="app_icon", icon="settings", size=13.0, align="center")
    tile = text("Settings", style=style, width=90.0, height=96.0)
    shapes = [shape for _, shape in compose([window(column(tile))], *SIZE).scene.shapes]
    sign = next(shape for shape in shapes if isinstance(shape, Sign))
    run = next(shape for shape in shapes if isinstance(shape, Run))
    assert run.baseline > sign.y + sign.size


def test_frames_can_be_painted_in_several_threads_at_once() -> None:
    taken = [paint.frame([window(everything())], *SIZE, dark=dark) for dark in (False, True)] * 3
    with ThreadPoolExecutor(3) as pool:
        painted = list(pool.map(lambda one: one.png(), taken))
    assert painted[:2] * 3 == painted


@pytest.mark.parametrize("kind", ["switch", "checkbox", "radio"])
def test_a_control_in_a_small_box_stays_inside_it(kind: str) -> None:
    small = View(style=Style(kind=kind), checked=True, width=20.0, height=12.0)
    shapes = compose([window(column(small))], *SIZE).scene.shapes[1:]
    boxes = [shape.box for _, shape in shapes if isinstance(shape, Fill | Stroke)]
    assert boxes
    for left, top, right, bottom in boxes:
        assert 0 <= left < right <= 20
        assert 0 <= top < bottom <= 12
