"""What a surface says that an input would activate, as a web page does: policy is asked about all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from handrail.engine.gestures import GuardedInput, as_sent, pressed_by_activation
from handrail.errors import Unsupported
from handrail.protocol.read import action_from
from handrail.screen.node import UNCLEAR, Screen, ScreenPoint
from handrail.surface.capabilities import Activation, ControlValues, Mouse
from handrail.surface.gesture import Gesture, double_tap, drag, long_press, tap
from handrail.surface.values import Activated, ActivatedElement
from tests.cases import each
from tests.unit.engine.test_gestures import BUTTON, form, screen, texts

PAY = ActivatedElement("n-Pay", ("Pay",))
BEYOND = "Something that is not on the screen"


def page(drawn: Screen | None = None) -> Screen:
    """Its elements have the page's own names."""
    shown = drawn or screen()
    for node in shown.nodes:
        node.native_id = f"n-{node.text}" if node.text else ""
    return shown


class PageSurface:
    """Can everything but what `lacks` names; `says` is what each input would activate."""

    ways = frozenset({"keys"})
    touched_keys = frozenset({"back"})

    def __init__(self, *says: Activated | None, lacks: Sequence[type] = ()) -> None:
        self.says, self.lacks = list(says), lacks
        self.sent: list[str] = []
        self.keys_asked: list[str] = []

    def need(self, kind: type) -> Any:
        if kind in self.lacks:
            raise Unsupported(f"a page has no {kind.__name__}")
        return self

    async def activated_by_keys(self, keys: Sequence[str], field: str = "") -> Activated | None:
        self.keys_asked += keys
        return self.says.pop(0) if self.says else None

    async def activated_by_points(self, points: Sequence[ScreenPoint]) -> Activated | None:
        return self.says.pop(0) if self.says else None

    async def activated_by_value(self, native_id: str, value: Any) -> Activated | None:
        return self.says.pop(0) if self.says else None

    async def hover(self, point: ScreenPoint) -> None:
        self.sent.append("hover")

    async def perform(self, gesture: Gesture) -> None:
        self.sent.append(gesture.kind if gesture.count == 1 else f"{gesture.kind} {gesture.count}")

    async def key(self, key: str) -> None:
        self.sent.append(key)

    async def type_text(self, text: str, *, how: Any = None) -> None:
        self.sent.append(text)

    async def bring_into_view(self, native_id: str) -> bool:
        self.sent.append(f"{native_id} into view")
        return True

    async def set_value(self, native_id: str, value: Any) -> None:
        self.sent.append(f"{native_id}={value}")


class Guard:
    """Keeps what policy was asked about, and refreshes of the screen between."""

    def __init__(self, surface: PageSurface, shown: Screen) -> None:
        self.asked: list[list[str]] = []
        self.words: list[str] = []
        run = SimpleNamespace(sent=[], touched_on=None, details={}, dispatching=self._dispatching)
        self.stage: Any = SimpleNamespace(
            surface=surface, run=run, guard=self, screens=SimpleNamespace(last=SimpleNamespace(screen=shown)),
            refresh_screen=self._refresh,
        )  # fmt: skip
        self.input = GuardedInput(self.stage)

    async def authorize_press(self, stage: Any, pressed: Any) -> None:
        self.asked.append(texts(pressed, stage.screens.last.screen))

    async def look_between_touches(self, stage: Any) -> None:
        self.asked.append(["looked"])

    async def _refresh(self) -> Any:
        self.asked.append(["refreshed"])
        return self.stage.screens.last

    @asynccontextmanager
    async def _dispatching(self, what: str) -> AsyncIterator[None]:
        self.words.append(what)
        yield

    def may_scroll(self, stage: Any) -> bool:
        return True


def judged(activated: Activated, shown: Screen | None = None) -> list[str]:
    return texts(pressed_by_activation(activated), page(shown))


@each(
    ("activated", "expected"),
    [
        (Activated((PAY,)), ["Pay"]),
        (
            Activated((ActivatedElement("n-Pay", ("Pay", "now")),)),
            ["Pay", "Pay"],
        ),  # and words it does not show
        (Activated((ActivatedElement("gone", ("Erase",), is_named=True),)), ["Erase"]),
        (Activated((ActivatedElement("gone", ("Erase",)),)), ["Erase", "Save", "Pay"]),
        (Activated(is_unknown=True), ["Save", "Pay"]),
        (Activated(asks="It leaves the page"), ["It leaves the page"]),
        (Activated(), []),
    ],
    ids=["shown", "other words", "named", "unnamed", "unknown", "asks", "nothing"],
)
def test_what_is_not_on_the_screen_is_judged_by_its_words_or_as_anything(
    activated: Activated, expected: list[str]
) -> None:
    assert judged(activated) == expected


def test_behind_what_was_left_out_of_a_screen_may_be_anything_else() -> None:
    cut = screen()
    cut.is_cut = True
    assert judged(Activated(is_unknown=True), cut) == ["Save", "Pay", BEYOND]
    assert judged(Activated((PAY,)), cut) == ["Pay"]


def test_a_stand_in_has_the_words_of_its_element_and_is_no_node_of_the_screen() -> None:
    shown = page()
    erase = ActivatedElement("gone", ("Erase", "all", "Name", "tip"), "erase-all", is_named=True)
    other = ActivatedElement("gone too", ("Erase", "one"), is_named=True)
    first, second = pressed_by_activation(Activated((erase, other)))(shown)
    said = (first.resource_id, first.text, first.description, first.hint_text, first.tooltip_text, first.role)
    assert said == ("erase-all", "Erase", "all", "Name", "tip", "button")
    assert (first.bounds, first.package_name) == (shown.bounds, shown.package)
    assert first.end == first.order + 1 <= 0
    assert first.order != second.order
    [asked] = pressed_by_activation(Activated(asks="It leaves"))(shown)
    assert asked.role == UNCLEAR


async def test_a_key_presses_what_the_page_says_and_else_what_has_the_focus() -> None:
    for says, expected in ((Activated((PAY,)), ["Pay"]), (None, ["Save"])):
        guard = Guard(PageSurface(says), page(screen("Save")))
        await guard.input.key("enter")
        assert guard.asked == [expected]
    without = Guard(PageSurface(Activated((PAY,)), lacks=[Activation]), page(screen("Save")))
    await without.input.key("enter")
    assert without.asked == [["Save"]]


async def test_a_key_without_effect_asks_the_page_only_where_it_is_sent_as_a_touch() -> None:
    for key, expected in (("volume_up", []), ("back", ["Pay"])):
        guard = Guard(PageSurface(Activated((PAY,))), page())
        await guard.input.key(key)
        assert guard.asked == [expected]


@pytest.mark.parametrize(
    ("text", "says", "expected"),
    [
        ("Ada", [None], []),
        ("Ada", [Activated((PAY,))], ["Pay"]),  # a date is chosen by typing it
        ("Ada\n", [None, Activated((PAY,))], ["Pay"]),
        ("Ada\r\n", [None, Activated((PAY,))], ["Pay"]),
        ("A\nB\n", [None, Activated((PAY,))], ["Pay", "Whatever has the focus after the first line"]),
        ("A\tB", [None, Activated(asks="It leaves")],
         ["Pay", "It leaves", "Whatever has the focus after the first line"]),
    ],
)  # fmt: skip
async def test_line_breaks_and_tabs_press_what_the_page_says(
    text: str, says: list[Activated | None], expected: list[str]
) -> None:
    guard = Guard(PageSurface(*says), page(form(PAY_BUTTON)))
    await guard.input.type_text(text)
    [asked] = guard.asked
    assert [word for word in asked if word != "Buy"] == expected
    assert guard.stage.surface.sent == [text]
    assert guard.stage.surface.keys_asked == ["a", "enter"][: len(says)]


PAY_BUTTON = f'<node text="Pay" {BUTTON} bounds="[0,100][900,190]"/>'


async def test_keys_for_a_page_without_a_field_may_press_what_each_letter_can() -> None:
    for text, expected in (("abc", ["Pay"]), ("a\n", ["Pay", "Save"])):
        guard = Guard(PageSurface(Activated((PAY,))), page())
        await guard.input.type_without_field(text)
        assert guard.asked == [expected]


async def test_a_value_is_judged_by_its_control_and_by_what_the_page_does_then() -> None:
    for says, expected in ((Activated((PAY,)), ["Save", "Pay"]), (None, ["Save"])):
        guard = Guard(PageSurface(says), page())
        save = next(node for node in guard.stage.screens.last.screen.nodes if node.text == "Save")
        await guard.input.set_value(save, 5)
        assert (guard.asked, guard.stage.surface.sent) == ([expected], ["n-Save=5"])
    without = Guard(PageSurface(lacks=[ControlValues]), page())
    assert await without.input.set_value(save, 5) is None
    assert without.asked == []


async def test_what_comes_up_under_a_pointer_is_read_again_and_judged_before_it_is_pressed() -> None:
    at = tap(ScreenPoint(500, 1700))
    menu = Activated((ActivatedElement("menu", ("Erase",), is_named=True),), reached=("menu",))
    still = Activated(reached=("n-Pay",))
    same = Guard(PageSurface(still, still), page())
    await same.input.perform(at)
    assert (same.asked, same.stage.surface.sent) == ([["Pay"], ["Pay"]], ["hover", "tap"])
    other = Guard(PageSurface(still, menu, menu), page())
    await other.input.perform(at)
    assert other.asked == [["Pay"], ["refreshed"], ["Pay", "Erase"]]
    assert "strokes" not in other.stage.run.details
    finger = Guard(PageSurface(still, lacks=[Mouse]), page())
    await finger.input.perform(at)
    assert (finger.asked, finger.stage.surface.sent) == ([["Pay"]], ["tap"])


@each(("kind", "lacks", "as_touch"), [
    ({"type": "press_key", "key": "back"}, [], True),
    ({"type": "hide_keyboard"}, [], True),
    ({"type": "press_key", "key": "home"}, [], False),
    ({"type": "press_key", "key": "back"}, [Activation], False),
    ({"type": "tap", "target": "Pay"}, [], False),
])  # fmt: skip
def test_a_key_that_a_surface_has_not_is_sent_as_a_touch(
    kind: dict[str, Any], lacks: list[type], as_touch: bool
) -> None:
    action = action_from(kind)
    sent: Any = as_sent(action, PageSurface(lacks=lacks))  # type: ignore[arg-type]
    assert (sent is not action) is as_touch


async def test_each_tap_of_a_double_tap_on_a_button_is_judged() -> None:
    guard = Guard(PageSurface(lacks=[Activation, Mouse]), page())
    await guard.input.perform(double_tap(ScreenPoint(500, 1700)))
    assert (guard.asked, guard.stage.surface.sent) == ([["Pay"], ["Pay"]], ["tap", "tap 2"])


async def test_after_a_touch_the_same_screen_is_read_again_but_not_for_the_text_of_its_field() -> None:
    guard = Guard(PageSurface(), page(screen("Save")))
    guard.stage.run.sent, guard.stage.run.touched_on = ["a tap"], guard.stage.screens.last
    await guard.input.type_text("Ada")
    assert guard.asked == [[]]
    await guard.input.key("enter")
    assert guard.asked == [[], ["looked"], ["Save"]]


async def test_a_way_with_two_ends_has_no_pointer_before_it_and_stands_in_the_details() -> None:
    way = [ScreenPoint(500, 1700), ScreenPoint(500, 1000)]
    guard = Guard(PageSurface(), page())
    await guard.input.perform(drag(*way, 300))
    assert (guard.asked, guard.stage.surface.sent, guard.words) == ([["Pay"]], ["drag"], ["drag"])
    assert guard.stage.run.details["strokes"] == [[list(point) for point in way]]
    held = Guard(PageSurface(lacks=[Mouse]), page())
    await held.input.perform(long_press(way[0], 800))
    assert held.words == ["long press"]


async def test_only_what_is_out_of_sight_is_scrolled_into_view() -> None:
    for shown, expected in (("n-Pay", None), ("n-Far", True), ("", None)):
        surface, target = PageSurface(), SimpleNamespace(handle="@b1")
        guard = Guard(surface, page())
        found = SimpleNamespace(touched=SimpleNamespace(native_id=shown))
        guard.stage.find = lambda _, found=found: found
        guard.stage.run.diagnostics = []
        guard.stage.run.session = SimpleNamespace(before_dispatch=_nothing)
        looked = await guard.input.bring_into_view(target)  # type: ignore[arg-type]
        assert (looked is not None) is bool(expected), shown
        assert surface.sent == (["n-Far into view"] if expected else [])


async def _nothing(_: object) -> None:
    """Nobody stopped it."""
