"""What a finger or a key comes down on when the action does not name it."""

from __future__ import annotations

from handrail.engine.gestures import (
    OPPOSITE,
    Direction,
    PressedNodes,
    SwipeLine,
    is_sideways,
    needs_fresh_screen,
    pressed_by_keys,
    pressed_by_strokes,
    pressed_by_text,
    swipe_line,
    touch_slop,
)
from handrail.protocol.device import PressKeys
from handrail.protocol.keys import name_of_key
from handrail.protocol.read import action_from
from handrail.protocol.traits import Pressed
from handrail.screen.node import Bounds, Screen, ScreenPoint
from handrail.screen.parse import parse
from handrail.surface.gesture import pinch, rotate
from tests.cases import each

BUTTON = 'class="android.widget.Button" clickable="true" enabled="true" focusable="true"'


def screen(focused: str = "") -> Screen:
    """Save at the top, Pay near the bottom, each as wide as the screen."""
    rows = "".join(
        f'<node text="{label}" {BUTTON} focused="{str(label == focused).lower()}"'
        f' bounds="[0,{top}][1000,{top + 400}]"/>'
        for label, top in (("Save", 0), ("Pay", 1500))
    )
    frame = f'<node class="android.widget.FrameLayout" package="app" bounds="[0,0][1000,2100]">{rows}</node>'
    return parse(f'<hierarchy rotation="0">{frame}</hierarchy>')


def at(*points: tuple[int, int]) -> PressedNodes:
    """One finger's way."""
    return pressed_by_strokes([[ScreenPoint(*point) for point in points]])


def texts(felt: PressedNodes, shown: Screen) -> list[str]:
    """Of what says something: the page around it takes no touches."""
    return [node.text for node in felt(shown) if node.text]


@each(
    "felt",
    [
        at((500, 1700)),
        at((500, 1700), (501, 1700)),
        at((500, 1700), (500, 1000)),
        at((500, 1000), (500, 1700)),
        at((500, 1480), (500, 1000)),
        pressed_by_strokes(pinch(500, 1700, 10, 200, 300).strokes),
        pressed_by_strokes(rotate(500, 1700, 50, 90, 0, 300).strokes),
    ],
)
def test_what_a_finger_comes_down_on_or_lifts_from_is_felt(felt: PressedNodes) -> None:
    assert texts(felt, screen()) == ["Pay"]


def test_a_finger_that_passes_over_a_button_does_not_press_it() -> None:
    assert texts(at((500, 2050), (500, 1000)), screen()) == []


def test_a_button_within_the_slop_is_felt_and_one_beyond_is_not() -> None:
    slop = touch_slop(screen())
    assert slop == 23
    assert texts(at((500, 1500 - slop)), screen()) == ["Pay"]
    assert texts(at((500, 1499 - slop)), screen()) == []
    exact = screen()
    exact.is_exact = True
    assert texts(at((500, 1500)), exact) == ["Pay"]
    assert texts(at((500, 1499)), exact) == [], "a mouse has no width"


def test_a_place_beyond_the_edge_counts_as_the_edge() -> None:
    assert "Pay" in texts(at((5_000, 1_700)), screen())


def slider_at(box: str) -> Screen:
    frame = '<node class="android.widget.FrameLayout" package="app" bounds="[0,0][1000,2100]">'
    return parse(
        f'<hierarchy rotation="0">{frame}<node class="android.widget.SeekBar" text="Slide to pay" '
        f'enabled="true" focused="true" bounds="{box}"/></node></hierarchy>'
    )


def test_a_slider_on_the_way_is_felt() -> None:
    shown = slider_at("[100,900][900,1000]")
    assert texts(at((500, 100), (500, 2000)), shown) == ["Slide to pay"]
    assert texts(at((50, 950), (150, 850)), shown) == ["Slide to pay"], "over its corner"
    for across, felt in ((50, False), (99, False), (100, True), (899, True), (900, False)):
        assert bool(texts(at((across, 100), (across, 2000)), shown)) is felt
    assert texts(at((0, 0), (1000, 2100)), shown) == ["Slide to pay"]
    assert texts(at((0, 850), (1000, 860)), shown) == []
    assert texts(pressed_by_strokes(rotate(500, 500, 480, 0, 180, 300).strokes), shown) == ["Slide to pay"]
    assert texts(pressed_by_strokes(rotate(500, 500, 300, 0, 3_600, 300).strokes), shown) == []


@each("key", ["up", "left", "page_up", "move_end"])
def test_an_arrow_moves_a_slider_and_presses_no_button(key: str) -> None:
    assert texts(pressed_by_keys(key), slider_at("[0,0][900,100]")) == ["Slide to pay"]
    assert texts(pressed_by_keys(key), screen("Pay")) == []


PRESSING = ["enter", "space", "center", "KEYCODE_NUMPAD_ENTER", "KEYCODE_BUTTON_A", "KEYCODE_BUTTON_START"]
PRESSING += ["KEYCODE_MEDIA_NEXT", "KEYCODE_NAVIGATE_IN", "KEYCODE_STEM_PRIMARY", "700"]


@each("key", PRESSING)
def test_a_key_that_may_press_what_has_the_focus_is_judged_by_it(key: str) -> None:
    assert texts(pressed_by_keys(key), screen("Pay")) == ["Pay"]
    assert texts(pressed_by_keys(key), screen()) == []
    assert needs_fresh_screen(action_from({"type": "press_key", "key": key}))


@each("key", ["play_pause", "camera", "79", "KEYCODE_CALL", "KEYCODE_ENDCALL"])
def test_a_key_that_acts_wherever_the_focus_is_may_press_any_button(key: str) -> None:
    assert texts(pressed_by_keys(name_of_key(key)), screen()) == ["Save", "Pay"]


@each("key", ["back", "volume_up", "home", "escape", "shift"])
def test_other_keys_press_nothing(key: str) -> None:
    assert texts(pressed_by_keys(key), screen("Pay")) == []
    assert not needs_fresh_screen(action_from({"type": "press_key", "key": key}))


@each(
    "keys",
    ["ctrl+enter", "ctrl+s", "alt+a", "a+enter", "a+c", "x+ctrl", "enter+ctrl", "c+v", "meta+a", "shift+a"],
)
def test_keys_together_are_judged_by_what_they_could_press(keys: str) -> None:
    action = action_from({"type": "press_keys", "keys": keys})
    assert isinstance(action, PressKeys)
    assert texts(pressed_by_keys(*action.names), screen("Pay")) == ["Pay"]
    assert needs_fresh_screen(action) or action.presses is Pressed.UNKNOWN


@each("keys", ["tab+enter", "down+enter", "enter+enter", "enter+space", "tab+a"])
def test_the_second_of_two_keys_presses_whatever_the_first_has_put_the_focus_on(keys: str) -> None:
    action = action_from({"type": "press_keys", "keys": keys})
    assert isinstance(action, PressKeys)
    assert {"Pay", "Save"} <= set(texts(pressed_by_keys(*action.names), screen("Pay")))


@each("keys", ["ctrl+shift", "ctrl+left", "back+home"])
def test_keys_that_only_move_or_leave_press_nothing(keys: str) -> None:
    action = action_from({"type": "press_keys", "keys": keys})
    assert isinstance(action, PressKeys)
    assert texts(pressed_by_keys(*action.names), screen("Pay")) == []


@each("keys", ["ctrl+a", "ctrl+v", "ctrl+c"])
def test_editing_keys_press_nothing_in_a_field_and_count_elsewhere(keys: str) -> None:
    action = action_from({"type": "press_keys", "keys": keys})
    assert isinstance(action, PressKeys)
    assert texts(pressed_by_keys(*action.names), screen("Pay")) == ["Pay"]
    assert texts(pressed_by_keys(*action.names), form("")) == []


def form(inside: str) -> Screen:
    field = (
        '<node class="android.widget.EditText" text="" focused="true" enabled="true" bounds="[0,0][900,90]"/>'
    )
    return parse(
        '<hierarchy rotation="0"><node class="android.widget.FrameLayout" package="app" '
        f'bounds="[0,0][1000,2100]"><node class="a.Box" bounds="[0,0][1000,500]">{field}{inside}</node>'
        f'<node text="Buy" {BUTTON} bounds="[0,600][900,700]"/></node></hierarchy>'
    )


def test_enter_in_a_field_may_press_any_button_of_its_window() -> None:
    own = f'<node text="Pay" {BUTTON} bounds="[0,100][900,190]"/>'
    assert texts(pressed_by_keys("enter"), form(own)) == ["Pay", "Buy"]
    assert texts(pressed_by_keys("enter"), form("")) == ["Buy"]
    for kind, text, inside, pressed in (
        ("View", "Go", "", True),
        ("FrameLayout", "Card", '<node class="android.widget.TextView" bounds="[0,100][90,190]"/>', False),
        ("EditText", "Ada", "", False),
    ):
        other = (
            f'<node class="android.widget.{kind}" text="{text}" clickable="true" enabled="true" '
            f'bounds="[0,100][900,190]">{inside}</node>'
        )
        assert texts(pressed_by_keys("enter"), form(other)) == [*([text] if pressed else []), "Buy"]
    assert texts(pressed_by_keys("KEYCODE_A"), form(own)) == []
    assert texts(pressed_by_keys("delete"), form(own)) == []
    assert texts(pressed_by_keys("tab"), form(own)) == []
    assert texts(pressed_by_keys("KEYCODE_A"), screen("Pay")) == ["Pay"]
    assert texts(pressed_by_keys("delete"), screen("Pay")) == ["Pay"]


@each("text", ["Ada\n", "\r", "a\u2028b", "\x00", "\x85"])
def test_a_line_break_in_a_text_is_the_enter_key(text: str) -> None:
    assert texts(pressed_by_text(text), form("")) == ["Buy"]
    assert texts(pressed_by_text("Ada Lovelace"), form("")) == []


def test_behind_a_tab_anything_may_have_the_focus() -> None:
    assert texts(pressed_by_text("Ada\t "), screen()) == ["Save", "Pay"]


def test_each_of_two_fingers_is_felt() -> None:
    """Side by side, Left and Right: each finger on one of them, and none on the page between."""
    halves = "".join(
        f'<node text="{label}" {BUTTON} bounds="[{left},900][{left + 300},1100]"/>'
        for label, left in (("Left", 0), ("Right", 700))
    )
    shown = parse(
        '<hierarchy rotation="0"><node class="android.widget.FrameLayout" package="app" '
        f'bounds="[0,0][1000,2100]">{halves}</node></hierarchy>'
    )
    assert texts(pressed_by_strokes(pinch(500, 1000, 300, 10, 300).strokes), shown) == ["Left", "Right"]
    assert texts(pressed_by_strokes(rotate(500, 1000, 300, 0, 90, 300).strokes), shown) == ["Right", "Left"]
    assert texts(pressed_by_strokes(rotate(500, 1000, 300, 90, 130, 300).strokes), shown) == []


KEY = '<node text="Send" class="android.widget.Button" package="com.x.inputmethod.y" clickable="true" '


def test_a_key_of_the_keyboard_presses_what_has_the_focus() -> None:
    shown = form("")
    keyboard = f'{KEY} enabled="true" bounds="[0,1600][1000,2100]"/>'
    field = '<node class="android.widget.EditText" text="Note" focused="true" bounds="[0,0][900,90]"/>'
    app = f'<node class="a.Frame" package="app" bounds="[0,0][1000,2100]">{field}</node>'
    both = parse(f'<hierarchy rotation="0">{app}{keyboard}</hierarchy>')
    assert texts(at((500, 1800)), both) == ["Send", "Note"]
    assert texts(at((500, 1200)), both) == []
    assert texts(at((500, 1800)), shown) == ["Buy"]  # one window: nobody knows where a keyboard is
    assert texts(at((500, 800)), shown) == []


def test_of_several_focused_things_the_innermost_is_pressed() -> None:
    shown = parse(
        '<hierarchy rotation="0"><node class="android.widget.FrameLayout" package="app" focused="true" '
        f'bounds="[0,0][1000,2100]"><node text="Pay" {BUTTON} focused="true" bounds="[0,0][1000,400]"/>'
        "</node></hierarchy>"
    )
    assert texts(pressed_by_keys("enter"), shown) == ["Pay"]


def test_only_what_is_not_named_needs_a_fresh_screen() -> None:
    assert not needs_fresh_screen(action_from({"type": "tap", "target": "Save"}))
    assert needs_fresh_screen(action_from({"type": "swipe", "direction": "up"}))


BOX = Bounds(100, 200, 300, 600)


@each(
    ("direction", "goes"),
    [
        ("down", (200, 280, 200, 520)),
        ("up", (200, 520, 200, 280)),
        ("right", (140, 400, 260, 400)),
        ("left", (260, 400, 140, 400)),
    ],
)
def test_a_finger_goes_six_tenths_of_a_box_through_its_middle(direction: Direction, goes: SwipeLine) -> None:
    assert swipe_line(direction, BOX) == goes
    assert is_sideways(direction) is (direction in ("left", "right"))
    assert swipe_line(OPPOSITE[direction], BOX) == (*goes[2:], *goes[:2])


@each(
    ("direction", "goes"),
    [
        ("down", (150, 260, 150, 460)),
        ("up", (150, 540, 150, 340)),
        ("right", (130, 300, 230, 300)),
        ("left", (270, 300, 170, 300)),
    ],
)
def test_a_way_may_be_shorter_in_another_lane_and_begin_further_back(
    direction: Direction, goes: SwipeLine
) -> None:
    assert swipe_line(direction, BOX, share=0.5, lane=0.25, shift=0.1) == goes
