"""Whether a finger can reach an element, and where."""

from __future__ import annotations

import pytest

from handrail.errors import ElementNotInteractable
from handrail.screen.node import CLIPPED, Node, Screen, ScreenPoint
from handrail.screen.parse import parse
from handrail.screen.reach import element_at, tap_point, touch_targets, visible_part
from tests.cases import each
from tests.unit.screen.drawn import Box, node, screen, windows

BOX: Box = (100, 1000, 500, 1200)


def button(text: str, box: Box = BOX, flags: str = "clickable", **more: str) -> str:
    return node("Button", text=text, box=box, flags=flags, **more)


def named(drawn: Screen, text: str) -> Node:
    return next(one for one in drawn.nodes if one.text == text)


def refused(drawn: Screen, text: str) -> ElementNotInteractable:
    with pytest.raises(ElementNotInteractable) as failure:
        tap_point(drawn, named(drawn, text))
    return failure.value


def test_a_free_element_is_touched_in_its_centre() -> None:
    drawn = screen(button("Send"))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)


def test_the_centre_is_that_of_the_visible_part() -> None:
    scroller = node("ListView", button("Send"), box=(0, 0, 1080, 1100), flags="scrollable")
    drawn = screen(scroller)
    assert visible_part(drawn, named(drawn, "Send")) == (100, 1000, 500, 1100)
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1050)


def test_what_hangs_over_the_edge_of_the_screen_is_touched_inside() -> None:
    drawn = screen(button("Send", (900, 2300, 1500, 2600)))
    assert tap_point(drawn, named(drawn, "Send")) == (990, 2350)


def test_a_disabled_element_is_not_touched() -> None:
    failure = refused(screen(button("Send", flags="clickable disabled")), "Send")
    assert failure.details["reason"] == "disabled"
    assert failure.message == 'Button "Send" is disabled'


def test_a_text_in_a_disabled_row_is_not_touched() -> None:
    drawn = screen(
        node("LinearLayout", node("TextView", text="Send", box=BOX), box=BOX, flags="clickable disabled")
    )
    assert refused(drawn, "Send").details["reason"] == "disabled"


def test_an_element_without_size_is_not_touched() -> None:
    assert refused(screen(button("Send", (100, 100, 100, 200))), "Send").details["reason"] == "zero-size"


def test_an_element_below_the_screen_is_not_touched() -> None:
    failure = refused(screen(button("Send", (0, 2500, 500, 2600))), "Send")
    assert failure.details["reason"] == "off-screen"
    assert "scroll_to" in failure.hint


def test_an_element_outside_its_scroll_container_is_not_touched() -> None:
    drawn = screen(node("ListView", button("Send"), box=(0, 0, 1080, 900), flags="scrollable"))
    assert refused(drawn, "Send").details["reason"] == "off-screen"


def test_what_the_dump_calls_invisible_is_not_touched() -> None:
    failure = refused(screen(button("Send", visible_to_user="false")), "Send")
    assert failure.details["reason"] == "off-screen"
    assert failure.message == 'Button "Send" is not visible'


def test_the_place_of_what_is_off_the_screen_is_told() -> None:
    failure = refused(screen(button("Send", (0, 2500, 500, 2600))), "Send")
    assert failure.message == 'Button "Send" is off the screen, at [0,2500][500,2600]'


def test_a_covered_button_is_not_tapped() -> None:
    failure = refused(screen(button("Send"), button("Accept cookies", (0, 900, 1080, 1300))), "Send")
    assert failure.details["reason"] == "covered"
    assert 'covered by Button "Accept cookies"' in failure.message


def test_a_half_covered_button_is_tapped_where_it_is_free() -> None:
    drawn = screen(button("Send"), button("Menu", (50, 900, 420, 1300)))
    x, y = tap_point(drawn, named(drawn, "Send"))
    assert 420 <= x < 500
    assert 1000 <= y < 1200


def test_a_button_covered_in_the_middle_is_tapped_beside_it() -> None:
    drawn = screen(button("Send"), button("Bubble", (250, 1050, 350, 1150)))
    x, y = tap_point(drawn, named(drawn, "Send"))
    assert named(drawn, "Send").bounds.holds(x, y)
    assert not named(drawn, "Bubble").bounds.holds(x, y)


def test_a_cover_beside_the_centre_does_not_move_the_touch() -> None:
    drawn = screen(button("Send"), button("Menu", (50, 900, 250, 1300)))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)


def test_a_button_is_tapped_above_what_covers_its_lower_part() -> None:
    drawn = screen(button("Send"), button("Menu", (0, 1050, 1080, 1300)))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1025)


def test_a_wide_free_place_is_taken_before_a_nearer_narrow_one() -> None:
    """A strip of 20 px is narrower than a finger."""
    left, right = button("Left", (100, 1000, 420, 1200)), button("Right", (440, 1000, 460, 1200))
    drawn = screen(button("Send"), left, right)
    assert tap_point(drawn, named(drawn, "Send")) == (480, 1100)


def test_of_two_places_wide_enough_for_a_finger_the_nearer_is_taken() -> None:
    """30 px are wide enough; the 40 px farther away are no better."""
    left, right = button("Left", (100, 1000, 400, 1200)), button("Right", (430, 1000, 460, 1200))
    drawn = screen(button("Send"), left, right)
    assert tap_point(drawn, named(drawn, "Send")) == (415, 1100)


def test_what_the_dump_calls_invisible_does_not_cover() -> None:
    drawn = screen(button("Send"), button("Menu", (0, 900, 1080, 1300), visible_to_user="false"))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)


def test_a_text_drawn_over_a_button_lets_the_touch_through() -> None:
    drawn = screen(button("Send"), node("TextView", text="hint", box=(0, 900, 1080, 1300)))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)


def test_a_scroll_container_drawn_over_a_button_lets_the_touch_through() -> None:
    over = node("ListView", box=(0, 900, 1080, 1300), flags="scrollable clickable")
    drawn = screen(button("Send"), over)
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)


def test_what_is_drawn_earlier_does_not_cover() -> None:
    drawn = screen(button("Backdrop", (0, 900, 1080, 1300)), button("Send"))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)


def test_the_drawing_order_of_the_dump_decides() -> None:
    late = button("Send", drawing_order="2")
    drawn = screen(late, button("Backdrop", (0, 900, 1080, 1300), drawing_order="1"))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)


def test_what_the_dump_draws_next_covers() -> None:
    early = button("Send", drawing_order="1")
    drawn = screen(early, button("Menu", (0, 900, 1080, 1300), drawing_order="2"))
    assert refused(drawn, "Send").details["reason"] == "covered"


def test_a_dialog_window_covers_whatever_it_holds() -> None:
    dialog = node(
        "FrameLayout", node("TextView", text="Sure?", box=(90, 800, 990, 900)), box=(90, 800, 990, 1400)
    )
    drawn = parse(windows(node("FrameLayout", button("Send")), dialog))
    assert refused(drawn, "Send").details["reason"] == "covered"


def dialog_at(box: Box, *inside: str, **more: str) -> str:
    return node("FrameLayout", *inside, box=box, **more)


def test_what_stands_beside_a_dialog_is_not_touched_either() -> None:
    """Android gives the touch to the dialog, which closes."""
    dialog = dialog_at((90, 1400, 990, 1800), button("OK", (100, 1600, 500, 1700)))
    drawn = parse(windows(node("FrameLayout", button("Send")), dialog))
    failure = refused(drawn, "Send")
    assert failure.details["reason"] == "covered"
    assert "takes every touch" in failure.message
    assert tap_point(drawn, named(drawn, "OK")) == (300, 1650)


def test_a_toast_and_another_apps_little_window_are_no_dialogs() -> None:
    toast = dialog_at((90, 2000, 990, 2100), node("TextView", text="Saved", box=(90, 2000, 990, 2100)))
    video = dialog_at((600, 1900, 1000, 2100), button("Pause", (700, 1950, 800, 2000)), package="com.tv")
    drawn = parse(windows(node("FrameLayout", button("Send")), toast, video))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)


def test_the_bar_with_cut_and_copy_stops_no_touch_beside_it() -> None:
    bar = dialog_at((90, 700, 990, 850), button("Cut", (100, 720, 300, 830)))
    drawn = parse(windows(node("FrameLayout", button("Send")), bar))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)


def test_suggestions_under_the_focused_field_stop_no_touch_beside_them() -> None:
    field = node("EditText", text="Ad", box=(0, 300, 1080, 420), flags="clickable focused")
    offers = dialog_at((0, 430, 1080, 900), button("Ada", (0, 440, 1080, 540)))
    drawn = parse(windows(node("FrameLayout", field, button("Send")), offers))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)


def test_a_system_overlay_as_large_as_the_screen_covers_nothing() -> None:
    """The gesture bar, the corners and the screen decor are windows of the system over everything."""
    overlay = node("FrameLayout", package="com.android.systemui")
    drawn = parse(windows(node("FrameLayout", button("Send")), overlay))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)
    assert element_at(drawn, 300, 1100) is named(drawn, "Send")


def keyboard(top: int, key: Box) -> str:
    ime = "com.example.inputmethod.latin"
    letter = node("android.view.View", text="q", box=key, package=ime)
    return node("FrameLayout", letter, box=(0, top, 1080, 2400), package=ime)


def test_a_button_under_the_keyboard_is_not_tapped() -> None:
    app = node("FrameLayout", button("Send", (0, 2000, 500, 2100)))
    drawn = parse(windows(app, keyboard(1600, (0, 1700, 100, 1800))))
    assert refused(drawn, "Send").details["reason"] == "covered"


def test_a_keyboard_window_as_large_as_the_screen_covers_only_with_its_keys() -> None:
    drawn = parse(windows(node("FrameLayout", button("Send")), keyboard(0, (0, 1700, 100, 1800))))
    assert tap_point(drawn, named(drawn, "Send")) == (300, 1100)


def test_a_row_is_not_tapped_on_the_button_inside_it() -> None:
    inner = button("Delete", (200, 1020, 400, 1180))
    drawn = screen(node("LinearLayout", node("TextView", text="Letter", box=(100, 1000, 190, 1200)), inner,
                        box=BOX, flags="clickable"))  # fmt: skip
    row = named(drawn, "Letter").parent
    assert row is not None
    x, y = tap_point(drawn, row)
    assert row.bounds.holds(x, y)
    assert not named(drawn, "Delete").bounds.holds(x, y)


def test_a_row_is_not_tapped_on_a_button_deep_inside_it() -> None:
    inner = node("FrameLayout", button("Delete", (200, 1020, 400, 1180)), box=(190, 1010, 410, 1190))
    drawn = screen(node("LinearLayout", inner, box=BOX, flags="clickable", text="Letter"))
    point = tap_point(drawn, named(drawn, "Letter"))
    assert named(drawn, "Letter").bounds.holds(*point)
    assert not named(drawn, "Delete").bounds.holds(*point)


def test_a_row_whose_only_free_place_is_its_inner_button_is_tapped_on_it() -> None:
    menu, inner = button("Menu", (0, 900, 420, 1300)), button("Delete", (420, 1000, 500, 1200))
    drawn = screen(node("LinearLayout", inner, box=BOX, flags="clickable", text="Letter"), menu)
    assert tap_point(drawn, named(drawn, "Letter")) == (460, 1100)


def test_a_row_filled_by_two_buttons_is_tapped_in_its_centre() -> None:
    halves = button("Call", (100, 1000, 300, 1200)), button("Write", (300, 1000, 500, 1200))
    letter = node("LinearLayout", *halves, box=BOX, flags="clickable", text="Letter")
    beside = button("Menu", (50, 900, 250, 1300))
    for drawn in (screen(letter), screen(letter, beside)):
        assert tap_point(drawn, named(drawn, "Letter")) == (300, 1100)


def test_a_row_is_tapped_on_the_text_inside_it() -> None:
    words = node("TextView", text="Letter", box=(200, 1020, 400, 1180))
    drawn = screen(node("LinearLayout", words, box=BOX, flags="clickable", content_desc="Row"))
    assert tap_point(drawn, drawn.nodes[1]) == (300, 1100)


def test_a_group_that_takes_no_touch_is_tapped_on_what_is_inside() -> None:
    group = node("LinearLayout", button("Delete", (200, 1020, 400, 1180)), box=BOX, text="Letter")
    drawn = screen(group)
    assert tap_point(drawn, named(drawn, "Letter")) == (300, 1100)


def test_a_row_filled_by_its_button_is_tapped_on_it() -> None:
    drawn = screen(node("LinearLayout", button("Send"), box=BOX, flags="clickable"))
    row = named(drawn, "Send").parent
    assert row is not None
    assert tap_point(drawn, row) == (300, 1100)


def test_a_ref_is_named_in_the_message() -> None:
    drawn = screen(button("Send", flags="clickable disabled"))
    with pytest.raises(ElementNotInteractable, match='@b7 Button "Send" is disabled'):
        tap_point(drawn, named(drawn, "Send"), lambda _: "@b7")


def test_a_point_reaches_the_topmost_that_takes_touches() -> None:
    over = button("Menu", (0, 900, 1080, 1300))
    text = node("TextView", text="hint", box=BOX)
    drawn = screen(button("Send"), over, text)
    assert element_at(drawn, 300, 1100) is named(drawn, "Menu")


def test_a_point_where_nothing_takes_touches_reaches_the_deepest() -> None:
    drawn = screen(node("LinearLayout", node("TextView", text="hint", box=BOX), box=(0, 900, 1080, 1300)))
    assert element_at(drawn, 300, 1100) is named(drawn, "hint")


def test_a_point_in_a_dialogs_window_does_not_reach_what_is_behind_it() -> None:
    dialog = dialog_at((90, 800, 990, 1400), node("TextView", text="Sure?", box=(90, 800, 990, 900)))
    drawn = parse(windows(node("FrameLayout", button("Send")), dialog))
    assert element_at(drawn, 300, 1100) is drawn.windows[1]
    assert element_at(drawn, 300, 1450) is drawn.windows[0]


def test_a_point_reaches_nothing_outside_its_scroll_container_and_nothing_invisible() -> None:
    outside = node("ListView", button("Send"), box=(0, 0, 1080, 900), flags="scrollable")
    hidden = button("Menu", (0, 900, 1080, 1300), visible_to_user="false")
    drawn = screen(outside, hidden)
    assert element_at(drawn, 300, 1100) is drawn.root


def test_a_point_outside_the_screen_reaches_nothing() -> None:
    assert element_at(screen(button("Send")), 5000, 10) is None


def reported(drawn: Screen, text: str, covered_by: str | None, touch_at: ScreenPoint | None = None) -> Node:
    """A node about which a web page was asked."""
    reporting = named(drawn, text)
    reporting.native_id, reporting.covered_by, reporting.touch_at = "page.1", covered_by, touch_at
    return reporting


@each("is_exact", [True, False])
def test_a_page_decides_where_its_element_is_touched(is_exact: bool) -> None:
    drawn = screen(button("Send"))
    drawn.is_exact = is_exact
    send = reported(drawn, "Send", "")
    assert tap_point(drawn, send) == (300, 1100)
    send.touch_at = ScreenPoint(110, 1190)
    assert tap_point(drawn, send) == (110, 1190)
    assert element_at(drawn, 110, 1190) is send


@each(
    ("covered_by", "says"),
    [
        (CLIPPED, 'Button "Send" is cut off by what is around it'),
        ("page.2", 'Button "Send" is covered by Button "Menu"'),
        ("page.9", 'Button "Send" is covered by something that is not named'),
    ],
)
@each("is_exact", [True, False])
def test_a_page_says_what_covers_its_element(is_exact: bool, covered_by: str, says: str) -> None:
    drawn = screen(button("Send"), button("Menu", (0, 0, 100, 100)))
    drawn.is_exact = is_exact
    named(drawn, "Menu").native_id = "page.2"
    reported(drawn, "Send", covered_by)
    failure = refused(drawn, "Send")
    assert (failure.message, failure.details["reason"]) == (says, "covered")
    assert element_at(drawn, 300, 1100) is drawn.root


def test_a_page_on_a_phone_does_not_know_what_the_phone_shows_above_it() -> None:
    drawn = screen(button("Send"), button("Menu", (0, 900, 400, 1300)))
    send = reported(drawn, "Send", "")
    assert 'covered by Button "Menu"' in refused(drawn, "Send").message
    send.touch_at = ScreenPoint(450, 1100)
    assert tap_point(drawn, send) == (450, 1100)
    send.touch_at = None
    named(drawn, "Menu").native_id = "page.2"
    assert tap_point(drawn, send) == (300, 1100), "the page saw its own menu"


@each(
    ("point", "slop", "targets"),
    [
        ((300, 1100), 8, ["Send"]),
        ((95, 1100), 8, ["Send"]),
        ((92, 1100), 8, ["Send"]),
        ((91, 1100), 8, []),
        ((507, 1100), 8, ["Send"]),
        ((508, 1100), 8, []),
        ((300, 992), 8, ["Send"]),
        ((300, 991), 8, []),
        ((300, 1204), 15, ["Send"]),
        ((300, 1204), 16, ["Send", "Next"]),
        ((300, 1212), 8, ["Next"]),
        ((300, 1196), 20, ["Send"]),
        ((300, 1196), 30, ["Send", "Next"]),
    ],
)
def test_a_touch_may_reach_what_begins_within_the_slop(
    point: tuple[int, int], slop: int, targets: list[str]
) -> None:
    drawn = screen(button("Send"), button("Next", (100, 1220, 500, 1400)))
    reached = touch_targets(drawn, ScreenPoint(*point), slop)
    assert sorted(one.text for one in reached if one.text) == sorted(targets)


def test_a_touch_on_a_dialog_reaches_nothing_beside_it_in_the_window_behind() -> None:
    """The edge is that of the button behind; the dialog ends far below it."""
    dialog = dialog_at((0, 1204, 1080, 2000), node("TextView", text="Sure?", box=(0, 1300, 900, 1400)))
    drawn = parse(windows(node("FrameLayout", button("Send")), dialog))
    assert "Send" not in [one.text for one in touch_targets(drawn, ScreenPoint(300, 1206), 32)]
    assert "Send" in [one.text for one in touch_targets(drawn, ScreenPoint(300, 1202), 32)]


def test_a_touch_reaches_nothing_hidden_and_nothing_under_a_cover() -> None:
    hidden = button("Menu", (100, 1200, 500, 1300), visible_to_user="false")
    drawn = screen(button("Below", (100, 1190, 500, 1300)), button("Send"), hidden)
    assert [one.text for one in touch_targets(drawn, ScreenPoint(300, 1188), 20)] == ["Send"]
