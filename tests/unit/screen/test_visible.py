"""What a person can see."""

from handrail.screen.node import Node, Screen
from handrail.screen.parse import parse
from handrail.screen.windows import paint_order, visible
from tests.unit.screen.drawn import body, node, row, screen, untold, windows

FULL = (0, 0, 1080, 2400)


def seen(drawn: Screen) -> list[str]:
    shown = visible(drawn)
    return [one.text for one in drawn.nodes if one.text and shown[one.order]]


def button(text: str, box: tuple[int, int, int, int], **more: str) -> str:
    return node("Button", text=text, box=box, flags="clickable", **more)


def test_a_node_without_size_is_not_seen() -> None:
    assert seen(screen(button("flat", (10, 10, 10, 90)), button("there", row(0)))) == ["there"]


def test_inverted_bounds_are_not_seen() -> None:
    assert seen(screen(button("mirrored", (300, 300, 100, 400)), button("there", row(0)))) == ["there"]


def test_what_lies_beyond_any_edge_is_not_seen() -> None:
    around = [(-200, 10, 0, 90), (10, -90, 100, 0), (1080, 10, 1200, 90), (10, 2400, 100, 2500)]
    assert seen(screen(*(button("out", box) for box in around), button("in", row(0)))) == ["in"]


def test_what_is_partly_on_the_screen_is_seen() -> None:
    assert seen(screen(button("half", (-50, 100, 50, 200)))) == ["half"]


def test_what_was_scrolled_out_of_its_container_is_not_seen() -> None:
    rows = [node("TextView", text="gone", box=(0, 65, 1080, 99)), node("TextView", text="here", box=row(1))]
    assert seen(screen(node("ScrollView", *rows, box=(0, 128, 1080, 2137), flags="scrollable"))) == ["here"]


def test_a_node_that_the_dump_calls_invisible_is_not_seen() -> None:
    assert seen(screen(button("ghost", row(0), visible_to_user="false"), button("real", row(1)))) == ["real"]


def test_the_status_bar_is_left_out_beside_an_app() -> None:
    clock = node("TextView", text="12:00", box=(0, 0, 200, 60), package="com.android.systemui")
    bar = node("FrameLayout", clock, box=(0, 0, 1080, 60), package="com.android.systemui")
    app = node("FrameLayout", button("Go", row(0)))
    assert seen(parse(windows(app, bar))) == ["Go"]


def test_system_ui_is_shown_when_it_is_all_there_is() -> None:
    unlock = node("TextView", text="Swipe to unlock", box=row(5), package="com.android.systemui")
    assert seen(parse(windows(node("FrameLayout", unlock, package="com.android.systemui")))) == [
        "Swipe to unlock"
    ]


def test_a_pulled_down_shade_is_no_system_bar() -> None:
    tile = node("TextView", text="Wi-Fi tile", box=row(2), package="com.android.systemui")
    shade = node("FrameLayout", tile, box=(0, 0, 1080, 1900), package="com.android.systemui")
    assert "Wi-Fi tile" in seen(parse(windows(node("FrameLayout", button("Go", row(0))), shade)))


def test_a_button_under_a_later_clickable_of_another_branch_is_covered() -> None:
    sheet = node("FrameLayout", node("TextView", text="Sheet", box=row(0)), box=FULL, flags="clickable")
    assert seen(screen(button("below", row(3)), sheet)) == ["Sheet"]


def test_a_later_scroll_container_covers_nothing() -> None:
    layer = node("ScrollView", box=FULL, flags="clickable scrollable")
    assert seen(screen(button("below", row(3)), layer)) == ["below"]


def test_a_clickable_child_of_the_same_size_does_not_cover_its_parent() -> None:
    child = node("FrameLayout", node("TextView", text="inner", box=row(1)), box=row(1), flags="clickable")
    outer = node("FrameLayout", child, text="outer", box=row(1), flags="clickable")
    assert seen(screen(outer)) == ["outer", "inner"]


def test_a_partly_covered_button_stays() -> None:
    assert seen(screen(button("wide", row(0)), button("over", row(0, right=500)))) == ["wide", "over"]


def test_the_drawing_order_decides_where_the_dump_tells_it() -> None:
    front = button("front", row(0), drawing_order="2")
    back = button("back", row(0), drawing_order="1")
    assert seen(screen(front, back)) == ["front"]


def test_text_behind_an_empty_tappable_layer_is_still_read() -> None:
    caption = node("TextView", text="Username", box=(40, 220, 900, 330))
    field = node("EditText", box=(40, 210, 1040, 340), flags="clickable focusable")
    assert body(screen(node("FrameLayout", caption, field, box=row(0)))) == ['@f1 "Username" empty']


def test_a_full_screen_scrim_hides_the_texts_behind_it() -> None:
    scrim = node("View", box=FULL, flags="clickable", resource_id="com.example.app:id/touch_outside")
    assert body(screen(node("TextView", text="behind", box=row(0)), scrim)) == ["@g1 #touch_outside"]


def test_paint_order_is_document_order_without_other_news() -> None:
    drawn = untold(button("a", row(0)), button("b", row(1)))
    assert paint_order(drawn) is drawn.nodes


def test_thousands_of_stacked_clickables_are_one_visible_thing() -> None:
    drawn = screen(*(button(f"card {number}", row(0)) for number in range(3000)))
    assert seen(drawn) == ["card 2999"]


def test_a_virtual_root_is_never_seen() -> None:
    drawn = parse(windows(node("FrameLayout", button("a", row(0))), node("FrameLayout", button("b", row(4)))))
    root: Node = drawn.root
    assert visible(drawn)[root.order] == 0
