"""Which parts of a screen are read from the picture, and what becomes of what was read."""

from __future__ import annotations

from handrail.protocol.target import Selector
from handrail.safety.labels import committing_effect
from handrail.safety.screen_binding import ScreenBinding
from handrail.safety.subject import TouchedElement
from handrail.screen.fingerprint import at_rest, screen_fingerprint
from handrail.screen.node import UNCLEAR, Bounds, DrawnPart, Node, Screen
from handrail.screen.parse import parse
from handrail.screen.pictures import blind_parts, with_drawn_parts
from handrail.screen.reach import element_at
from handrail.screen.refs import Registry
from handrail.screen.select import find
from tests.cases import each

NODE = '<node class="{cls}" text="{text}" package="com.game" enabled="true" bounds="{bounds}">{inside}</node>'


def node(cls: str, bounds: str, *inside: str, text: str = "") -> str:
    return NODE.format(cls=cls, text=text, bounds=bounds, inside="".join(inside))


def screen(*inside: str) -> Screen:
    return parse(
        f"<hierarchy>{node('android.widget.FrameLayout', '[0,0][1000,2000]', *inside)}</hierarchy>".encode()
    )


LABELS = [
    node("android.widget.TextView", f"[0,{y}][1000,{y + 50}]", text=f"Row {y}") for y in (0, 60, 120, 180)
]
SURFACE = "android.view.SurfaceView"


@each(
    ("inside", "parts"),
    [
        ((), ["FrameLayout"]),
        ((node(SURFACE, "[0,100][1000,2000]"),), ["SurfaceView"]),
        ((*LABELS, node(SURFACE, "[0,300][1000,2000]")), ["SurfaceView"]),
        ((*LABELS, node(SURFACE, "[0,300][1000,600]")), []),  # too small a share to pay for a picture
        ((*LABELS, node("android.view.View", "[0,300][1000,2000]")), []),  # a page with room to spare
        ((node("android.view.View", "[0,300][1000,2000]"), LABELS[0]), ["View"]),
        ((node("android.widget.FrameLayout", "[0,0][1000,2000]", LABELS[0], LABELS[1], LABELS[2]),), []),
        ((node(SURFACE, "[0,100][1000,2000]", LABELS[1], LABELS[2]), LABELS[0]), []),  # it tells its content
    ],
)
def test_a_picture_is_read_where_the_tree_is_silent(inside: tuple[str, ...], parts: list[str]) -> None:
    assert [part.short_class for part in blind_parts(screen(*inside))] == parts


def drawn(*parts: DrawnPart) -> Screen:
    tree = screen(node(SURFACE, "[0,0][1000,2000]"))
    [part] = blind_parts(tree)
    return with_drawn_parts(tree, {part: parts})


def line(text: str, top: int, *, pixels: str = "p", look: str = "l", left: int = 100) -> DrawnPart:
    return DrawnPart("text", Bounds(left, top, left + 300, top + 50), text, 0.97, pixels, look)


def box(text: str, top: int) -> DrawnPart:
    return DrawnPart("button", Bounds(100, top, 900, top + 100), text, 0.97, "p", "l")


SHAPE = DrawnPart("shape", Bounds(100, 900, 200, 1000), pixels="s", look="s")


def touched(seen: Screen, text: str) -> TouchedElement:
    return TouchedElement.of(seen, of_text(seen, text), pressed=True)


def of_text(seen: Screen, text: str) -> Node:
    return next(part for part in seen.nodes if part.text == text)


def test_what_was_read_has_refs_and_is_marked() -> None:
    registry = Registry()
    text = registry.rebuild(drawn(box("Start", 100), line("Level 3", 300), SHAPE)).text
    assert "@b1 ~Start\n@b2 ~Level 3\n@g1 ~(middle left)" in text
    assert find(drawn(box("Start", 100)), Selector(text="Start"), registry).point == (500, 150)


def test_a_press_on_a_drawn_word_that_pays_asks() -> None:
    seen = drawn(box("Pay 42 €", 100), box("Cancel", 600))
    assert committing_effect(touched(seen, "Pay 42 €")) == "pays"
    assert committing_effect(touched(seen, "Cancel")) is None


def test_a_picture_does_not_tell_one_button_from_two() -> None:
    seen = drawn(line("Cancel anytime", 100), line("Pay now", 160), line("Help", 800))
    assert committing_effect(touched(seen, "Cancel anytime")) == "pays"
    assert committing_effect(touched(seen, "Help")) is None


@each("text", ["Paynow", "Jetztbezahlen", "Sendmoney"])
def test_a_space_that_the_reader_lost_hides_no_payment(text: str) -> None:
    assert committing_effect(touched(drawn(line(text, 100)), text))
    assert committing_effect(touched(drawn(line("Display", 100)), "Display")) is None


@each("text", ["OK", "Continue", "4,99 €"])
def test_an_answer_or_a_price_in_a_picture_asks(text: str) -> None:
    assert committing_effect(touched(drawn(line(text, 100), line("Pay now", 1500)), text)) == "pays"


def test_a_place_without_a_text_may_be_a_part_of_any_drawn_button() -> None:
    seen = drawn(line("Pay now", 160))
    place = element_at(seen, 800, 1500)
    assert place is not None
    assert committing_effect(TouchedElement.of(seen, place, pressed=True)) == "pays"


def test_what_nobody_could_read_is_unclear() -> None:
    seen = drawn(SHAPE)
    under = element_at(seen, 150, 950)
    assert under is not None
    assert TouchedElement.of(seen, under, pressed=True).role == UNCLEAR


@each("now", [line("Total 43 €", 600), line("Total 42 €", 600, pixels="other")])
def test_one_other_digit_voids_a_yes_also_where_it_is_read_as_the_same(now: DrawnPart) -> None:
    before = drawn(box("Pay", 100), line("Total 42 €", 600))
    after = drawn(box("Pay", 100), now)
    asked = ScreenBinding.of(before, [of_text(before, "Pay")])
    assert asked.changes(ScreenBinding.of(after, [of_text(after, "Pay")])) is None
    assert asked.changes(ScreenBinding.of(before, [of_text(before, "Pay")])) == set()


def test_a_clock_in_a_picture_is_named_and_a_far_sprite_is_not_bound() -> None:
    far = DrawnPart("shape", Bounds(800, 1800, 900, 1900), pixels="a", look="a")
    flown = DrawnPart("shape", Bounds(700, 1800, 800, 1900), pixels="b", look="b")
    before = drawn(box("Pay", 100), line("12:00:01", 600, pixels="", look=""), far)
    after = drawn(box("Pay", 100), line("12:00:02", 600, pixels="", look=""), flown)
    asked = ScreenBinding.of(before, [of_text(before, "Pay")])
    assert list(asked.volatile.values()) == ["12:00:01"]
    assert asked.changes(ScreenBinding.of(after, [of_text(after, "Pay")])) == set(asked.volatile)


def test_another_look_is_a_change_and_another_clock_is_none() -> None:
    before = drawn(line("12:00:01", 600, look=""), SHAPE)
    assert at_rest(before, drawn(line("12:00:02", 600, look="", pixels="q"), SHAPE))
    other = DrawnPart("shape", SHAPE.bounds, pixels="t", look="t")
    assert not at_rest(before, drawn(line("12:00:01", 600, look=""), other))
    assert screen_fingerprint(before) != screen_fingerprint(drawn(line("12:00:01", 600, look=""), other))
