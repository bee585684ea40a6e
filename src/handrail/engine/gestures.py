"""Gestures, keys and text of an action: what they would press is checked by policy, then they are sent once.

The engine has no other way to a surface's touch, key and text input.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeVar

from handrail.engine.resolve import find_out_of_sight, is_shown
from handrail.engine.snapshot import UiSnapshot, require_present
from handrail.errors import Unsupported
from handrail.protocol.actions import AnyAction
from handrail.protocol.device import HideKeyboard, PressKey
from handrail.protocol.keys import ANYWHERE, HELD, KeyEffect, effect_of_chord, effect_of_key, types_only
from handrail.protocol.target import Point as PointTarget
from handrail.protocol.target import Selector
from handrail.protocol.traits import Pressed
from handrail.screen.node import (
    CLICKABLE,
    ENABLED,
    UNCLEAR,
    Bounds,
    Node,
    Screen,
    ScreenPoint,
    receiver,
    touchable,
)
from handrail.screen.pictures import picture_around
from handrail.screen.reach import element_at, touch_targets
from handrail.screen.windows import is_input_method, is_window
from handrail.surface import capabilities as can
from handrail.surface.gesture import Gesture, Stroke, tap
from handrail.surface.values import Activated, SetControl, Typed

if TYPE_CHECKING:
    from handrail.engine.run import Stage

T = TypeVar("T")
_SENT_AS = {"path": "drag", "rotate": "turn"}
"""The word for `sent`, if it is not the gesture's kind."""
MOST_POINTS = 32
"""Points of one stroke in the details of an envelope."""


class GuardedInput:
    """Sends input of one action after policy has allowed what it presses. Raises `ActionRejected`."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    # gestures

    async def perform(self, gesture: Gesture) -> None:
        """Each tap of a multi-tap is judged separately, because the first may open another screen: there
        nothing of what was permitted before counts."""
        if gesture.kind == "double_tap":
            under = element_at(require_present(self._stage.screens.last).screen, *gesture.start_point)
            taker = receiver(under) if under is not None else None
            if taker is not None and taker.role != "text_field":
                await self.perform(tap(gesture.start_point))
                await self.perform(replace(tap(gesture.start_point), count=2))
                return
        surface = self._stage.surface
        touch = surface.need(can.Mouse) if gesture.needs_mouse else surface.need(can.Touch)
        sent_as = _SENT_AS.get(gesture.kind, gesture.kind.replace("_", " "))
        pressed, reached = await self._pressed_by(gesture)
        hovers = len(gesture.ends) == 1 and gesture.kind != "hover"
        pointer = can.optional(surface, can.Mouse) if hovers else None
        if pointer is not None:
            # A page may act when the pointer arrives, and what it brings up then would be pressed.
            await self._stage.guard.authorize_press(self._stage, pressed)
            await pointer.hover(gesture.start_point)
            pressed, reached_now = await self._pressed_by(gesture)
            if reached_now != reached:
                await self._stage.refresh_screen()
                pressed, _ = await self._pressed_by(gesture)
        await self._do(sent_as, pressed, lambda: touch.perform(gesture))
        paths = []
        for stroke in gesture.strokes:
            if len(stroke) > 1:
                every = -(-len(stroke) // MOST_POINTS)
                paths.append([list(point) for point in (*stroke[:-1:every], stroke[-1])])
        if paths:
            self._stage.run.details["strokes"] = paths  # of several gestures, the last

    async def _pressed_by(self, gesture: Gesture) -> tuple[PressedNodes, tuple[str, ...]]:
        """Adds what is at the gesture's ends, as far as the surface tells."""
        pressed = pressed_by_strokes(gesture.strokes)
        activation = can.optional(self._stage.surface, can.Activation)
        activated = await activation.activated_by_points(gesture.ends) if activation is not None else None
        if activated is None:
            return pressed, ()
        return _pressed_by_either(pressed, pressed_by_activation(activated)), activated.reached

    async def bring_into_view(self, target: Selector | PointTarget) -> UiSnapshot | None:
        """Scrolls what the target means into view, if the surface needs no finger for that: the screen then.

        None if it can't, or if nothing out of sight is meant. What is pressed afterwards is judged as ever.
        Raises `AmbiguousTarget`.
        """
        stage = self._stage
        scrolling = can.optional(stage.surface, can.Scrolling)
        if scrolling is None or isinstance(target, PointTarget) or not stage.guard.may_scroll(stage):
            return None
        if target.handle:
            native_id = stage.find(target).touched.native_id
        else:
            everything = await scrolling.everything()
            native_id = find_out_of_sight(everything, target) if everything is not None else ""
        screen = require_present(stage.screens.last).screen
        if not native_id or is_shown(screen, native_id):
            return None
        await stage.run.session.before_dispatch(stage.run)
        if not await scrolling.bring_into_view(native_id):
            return None
        stage.run.diagnostics.append(f"[scroll] {target} was out of sight and was scrolled into view")
        return await stage.refresh_screen()

    def unguarded_lines(self, lines: Sequence[SwipeLine]) -> Sequence[SwipeLine]:
        """The lines whose swipe presses nothing that a person must approve; all of them if there is none."""
        stage = self._stage
        free = [
            line for line in lines if stage.guard.may_press(stage, pressed_by_strokes([line_points(line)]))
        ]
        return free or lines

    # keys and text

    async def key(self, key: str) -> None:
        keys = self._stage.surface.need(can.KeyPresses)
        pressed = await activated_by_keys(self._stage, (key,)) or pressed_by_keys(key)
        await self._do("key", pressed, lambda: keys.key(key))

    async def keys(self, keys: Sequence[str]) -> None:
        board = self._stage.surface.need(can.KeyPresses)
        pressed = await activated_by_keys(self._stage, keys) or pressed_by_keys(*keys)
        await self._do("chord", pressed, lambda: board.chord(keys))

    async def type_text(self, text: str, how: can.TypingWay | None = None) -> Typed:
        pressed = pressed_by_text(text)
        if typed := await activated_by_keys(self._stage, ("a",)):  # a date is chosen by typing it
            pressed = _pressed_by_either(pressed, typed)
        if not types_only(text) and (activated := await activated_by_keys(self._stage, ("enter",))):
            is_last = types_only(text.removesuffix("\n").removesuffix("\r"))
            entered = activated if is_last else _then_anything(activated)
            pressed = _pressed_by_either(pressed, entered) if "\t" in text else entered
        return await self._do("text", pressed, lambda: self._text.type_text(text, how=how))

    async def type_without_field(self, text: str) -> Typed:
        """Keys for a page that listens to them itself. What a letter can press there, each of these can."""
        letter = "KEYCODE_A"
        pressed = await activated_by_keys(self._stage, (letter,)) or pressed_by_keys(letter)
        if not types_only(text):
            pressed = _pressed_by_either(pressed, pressed_by_activation(Activated(is_unknown=True)))
        return await self._do("keys", pressed, lambda: self._text.type_text(text, how="keys"))

    def require_typing_way(self, how: can.TypingWay | None) -> None:
        """Raises `Unsupported` before a field is touched."""
        if how is not None and how not in self._text.ways:
            raise Unsupported(
                f"A text can't be typed by {how} here",
                hint="Leave `how` out: the text goes in by the way that the field takes.",
                delivery="not_delivered",
            )

    async def require_way(self, text: str) -> None:
        await self._text.require_way(text)

    async def clear_text(self) -> Typed:
        return await self._do("clearing", pressed_by_text(""), self._text.clear_text)

    async def set_value(self, node: Node, value: can.ControlValue) -> SetControl | None:
        """For a control that the surface can set directly; None if gestures have to set it."""
        values = can.optional(self._stage.surface, can.ControlValues)
        if not node.native_id or values is None:
            return None
        pressed: PressedNodes = lambda _: [node]  # noqa: E731
        activation = can.optional(self._stage.surface, can.Activation)
        if (
            activation is not None
            and (chosen := await activation.activated_by_value(node.native_id, value)) is not None
        ):
            pressed = _pressed_by_either(pressed, pressed_by_activation(chosen))
        return await self._do("value", pressed, lambda: values.set_value(node.native_id, value))

    def reads_back_as(self, text: str) -> str:
        return self._text.reads_back_as(text)

    @property
    def _text(self) -> can.TextInput:
        return self._stage.surface.need(can.TextInput)

    async def _do(self, what: str, pressed: PressedNodes, send: Callable[[], Awaitable[T]]) -> T:
        stage = self._stage
        is_text = what in ("text", "clearing")  # into a field that was looked at when it got the focus
        if stage.run.sent and stage.run.touched_on is stage.screens.last and not is_text:
            await stage.guard.look_between_touches(stage)
        await stage.guard.authorize_press(stage, pressed)
        stage.run.touched_on = stage.screens.last
        async with stage.run.dispatching(what):
            return await send()


PressedNodes = Callable[[Screen], list[Node]]
"""The nodes that input would press, on the screen at the time of the call."""


async def activated_by_keys(stage: Stage, keys: Sequence[str], field: str = "") -> PressedNodes | None:
    """Returns None where the surface can't tell. `field`: the native id of what will have the focus."""
    activation = can.optional(stage.surface, can.Activation)
    if activation is None:
        return None
    if effect_of_chord(keys) is KeyEffect.NOTHING and activation.touched_keys.isdisjoint(keys):
        return None
    activated = await activation.activated_by_keys(keys, field)
    return pressed_by_activation(activated) if activated is not None else None


def as_sent(action: AnyAction, surface: can.Surface) -> AnyAction:
    """The action as this surface sends it: one that presses back may be a touch there."""
    if isinstance(action, HideKeyboard | PressKey):
        activation = can.optional(surface, can.Activation)
        key = action.name if isinstance(action, PressKey) else "back"
        if activation is not None and key in activation.touched_keys:
            return action.as_touch()
    return action


def pressed_by_activation(activated: Activated) -> PressedNodes:
    """What the surface named. If that is not on the screen, everything touchable counts as pressed."""

    def pressed(screen: Screen) -> list[Node]:
        on_screen = {node.native_id: node for node in screen.nodes if node.native_id}
        nodes, is_unknown = [], activated.is_unknown
        for element in activated.elements:
            node = on_screen.get(element.native_id)
            is_unknown = is_unknown or (node is None and not element.is_named)
            says = ""
            if node is not None:
                nodes.append(node)
                says = " ".join((node.text, node.description, node.hint_text, node.tooltip_text))
            if not all(f" {text} " in f" {says} " for text in element.texts):  # whole words
                nodes.append(_stand_in_node(screen, *element.texts[:4], id_=element.resource_id))
        if is_unknown:
            nodes += [node for node in screen.nodes if touchable(node) and node.role != "text_field"]
        if activated.asks or (is_unknown and screen.is_cut):
            words = activated.asks or "Something that is not on the screen"
            nodes.append(_stand_in_node(screen, words, role=UNCLEAR))
        return list(dict.fromkeys(nodes))

    return pressed


def _pressed_by_either(first: PressedNodes, second: PressedNodes) -> PressedNodes:
    def pressed(screen: Screen) -> list[Node]:
        nodes = list(dict.fromkeys((*first(screen), *second(screen))))
        # A surface names its canvas; what is drawn at that place is known better.
        canvases = {picture_around(node) for node in nodes if node.drawn is not None}
        return [node for node in nodes if node not in canvases or node.text or node.description]

    return pressed


def _then_anything(first: PressedNodes) -> PressedNodes:
    """Several line breaks: what the first one presses may put the focus anywhere."""

    def pressed(screen: Screen) -> list[Node]:
        nodes = first(screen)
        if any(node.role != "text_field" for node in nodes):
            nodes.append(_stand_in_node(screen, "Whatever has the focus after the first line", role=UNCLEAR))
        return nodes

    return pressed


def _stand_in_node(screen: Screen, *texts: str, id_: str = "", role: str = "button") -> Node:
    """For what has no node of its own. Its order is outside the screen's, and its own."""
    text, description, hint, tooltip = (*texts, "", "", "")[:4]
    order = -1 - zlib.crc32("\x1f".join((role, id_, *texts)).encode())
    flags, box = ENABLED | CLICKABLE, screen.bounds
    node = Node("", id_, text, description, screen.package, box, flags, role, 0, hint, tooltip_text=tooltip)
    node.order, node.end = order, order + 1
    return node


SwipeLine = tuple[int, int, int, int]
"""From x, y to x, y."""
_NARROWEST_DP = 360
_SLOP_DP = 8
"""Android's touch slop: a finger that moves less may count as a tap."""
_MOVED = ("slider", "spinner")
"""Roles whose value a passing finger or an arrow key changes."""
_BOXES = ("container", "list", "list_item", "scroll_view", "web_view", "unknown")
"""Roles of what may hold an element that was left out."""
_KEYBOARD_FROM = 0.4
"""Share of the screen's height above which no keyboard reaches while its field is visible."""


def needs_fresh_screen(action: AnyAction) -> bool:
    """Whether only a fresh screen tells what the action would press."""
    return action.presses in (Pressed.PATH, Pressed.FOCUS)


def touch_slop(screen: Screen) -> int:
    """In pixels. Few phones are narrower than 360 dp, so this is rarely too small. A mouse has none."""
    if screen.is_exact:
        return 0
    return math.ceil(min(screen.width, screen.height) * _SLOP_DP / _NARROWEST_DP)


def pressed_by_strokes(strokes: Sequence[Stroke]) -> PressedNodes:
    """The nodes under the ends of each stroke, and the sliders and spinners on its way."""
    return lambda screen: list(dict.fromkeys(_under_strokes(screen, strokes)))


def _under_strokes(screen: Screen, strokes: Sequence[Stroke]) -> Iterator[Node]:
    for stroke in strokes:
        ends = (stroke[0], stroke[-1]) if stroke[0] != stroke[-1] else (stroke[0],)
        for point in ends:
            x, y, box = *point, screen.bounds
            if box.area:  # some devices clamp a point outside the screen to its edge
                x, y = min(max(x, box.left), box.right - 1), min(max(y, box.top), box.bottom - 1)
            touched = touch_targets(screen, ScreenPoint(x, y), touch_slop(screen))
            yield from touched
            if screen.is_cut and all(node.role in _BOXES for node in touched):
                yield _stand_in_node(screen, "Something that was left out of the screen", role=UNCLEAR)
            if _is_key(screen, point, touched):
                yield from pressed_by_keys("enter")(screen)
        if len(stroke) > 1:
            for node in screen.nodes:
                if node.role in _MOVED and any(_crosses(node.bounds, *leg) for leg in pairwise(stroke)):
                    yield node


def _is_key(screen: Screen, point: ScreenPoint, touched: Iterable[Node]) -> bool:
    """Whether a touch there may hit a key of the on-screen keyboard.

    A dump of a single window does not include the keyboard, so it is assumed in the lower part of the screen.
    """
    if any(is_input_method(node.package_name) for node in touched):
        return True
    if len(screen.windows) > 1 or screen.is_exact:
        return False
    fields = [node for node in _focused_nodes(screen) if node.role == "text_field"]
    is_low = point.y >= screen.height * _KEYBOARD_FROM
    return is_low and any(point.y >= field.bounds.bottom for field in fields)


def _crosses(box: Bounds, start: ScreenPoint, end: ScreenPoint) -> bool:
    """Whether a straight line touches a box, by clipping it at each side."""
    enters, leaves = 0.0, 1.0
    for at, to, low, high in ((start.x, end.x, box.left, box.right), (start.y, end.y, box.top, box.bottom)):
        if at == to:
            if not low <= at < high:
                return False
            continue
        first, last = sorted(((low - at) / (to - at), (high - at) / (to - at)))
        enters, leaves = max(enters, first), min(leaves, last)
    return enters <= leaves


def pressed_by_keys(*keys: str) -> PressedNodes:
    """The focused node, if it is affected. The first of two may move the focus; some act wherever it is."""
    effect, struck = effect_of_chord(keys), [key for key in keys if key not in HELD]
    before, pressed = {effect_of_key(key) for key in struck[:-1]}, _pressed_by_effect(effect)
    moved = not before.isdisjoint((KeyEffect.MOVES, KeyEffect.PRESSES))
    if (moved and effect in (KeyEffect.PRESSES, KeyEffect.TYPES)) or not ANYWHERE.isdisjoint(keys):
        pressed = _pressed_by_either(pressed, pressed_by_text("\t"))
    return _then_anything(pressed) if KeyEffect.PRESSES in before else pressed


def _pressed_by_effect(effect: KeyEffect) -> PressedNodes:
    def pressed(screen: Screen) -> list[Node]:
        focused = _focused_nodes(screen)
        if effect is KeyEffect.MOVES:
            return [node for node in focused if node.role in _MOVED]
        if effect is KeyEffect.TYPES:
            return [node for node in focused if node.role != "text_field"]
        if effect is KeyEffect.PRESSES:
            return [*focused, *submit_buttons(screen, focused)]
        return []

    return pressed


def _focused_nodes(screen: Screen) -> list[Node]:
    """The innermost focused node of each window: some containers claim the focus as well."""
    marked = [node for node in screen.nodes if node.focused]
    return [box for box in marked if not any(node.is_inside(box) for node in marked if node is not box)]


def pressed_by_text(text: str) -> PressedNodes:
    """The nodes that line breaks and tabs in a text may press."""

    def pressed(screen: Screen) -> list[Node]:
        if types_only(text):
            return []
        if "\t" in text:
            return [node for node in screen.nodes if touchable(node) and node.role != "text_field"]
        return pressed_by_keys("enter")(screen)

    return pressed


def submit_buttons(screen: Screen, focused: Iterable[Node]) -> Iterator[Node]:
    """Accessibility does not tell what Enter in a field presses: any button of its window may be it."""
    for field in focused:
        if field.role == "text_field":
            window = next(filter(is_window, field.ancestors()), screen.root)
            for node in screen.inside(window):
                is_leaf = not node.children and node.role != "text_field"
                if node.clickable and (node.role == "button" or is_leaf):
                    yield node


Direction = Literal["up", "down", "left", "right"]
SHARE = 0.6
"""Of the element's or screen's size, centred (seed 003)."""
LANES = (0.5, 0.25, 0.75, 0.15, 0.85)
"""Positions across the box, the middle first; the outer ones keep clear of Android's edge gestures."""
OPPOSITE: dict[Direction, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}


def swipe_line(
    direction: Direction, box: Bounds, share: float = SHARE, lane: float = 0.5, shift: float = 0.0
) -> SwipeLine:
    """A straight swipe inside a box, in the finger's direction.

    `lane` is its position across the box; `shift` moves it back towards the finger's start.
    """
    forward = 1 if direction in ("right", "down") else -1
    start, end = (0.5 - forward * (share / 2 + shift), 0.5 + forward * (share / 2 - shift))
    if is_sideways(direction):
        y = box.top + round(box.height * lane)
        return box.left + round(box.width * start), y, box.left + round(box.width * end), y
    x = box.left + round(box.width * lane)
    return x, box.top + round(box.height * start), x, box.top + round(box.height * end)


def is_sideways(direction: Direction) -> bool:
    return direction in ("left", "right")


def line_points(line: SwipeLine) -> tuple[ScreenPoint, ScreenPoint]:
    x1, y1, x2, y2 = line
    return (ScreenPoint(x1, y1), ScreenPoint(x2, y2))
