"""Fingers, keys and text of an iPhone, as W3C actions: no element is looked up, nothing waits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from handrail.clock import Clock
from handrail.errors import (
    ElementNotInteractable,
    HandrailError,
    InvalidAction,
    IosCommandError,
    Unsupported,
)
from handrail.ios.screen_reader import FocusedField, IosScreenReader, element_of
from handrail.ios.wda import INPUT_MS, Wda, mark_delivery
from handrail.protocol.keys import KeyEffect, effect_of_chord, name_of_key
from handrail.screen.node import Node, Screen, ScreenPoint, receiver
from handrail.screen.reach import touch_targets
from handrail.screen.windows import has_keyboard
from handrail.surface.capabilities import ControlValue, TypingWay
from handrail.surface.gesture import Gesture, Stroke
from handrail.surface.values import Activated, ActivatedElement, SetControl, Typed

HOLD_MS = 60
"""A finger that lifts sooner is too fast for some controls."""
BETWEEN_MS = 80
PICK_UP_MS = 600
"""How long a drag holds before it moves."""
EDGE, INTO = 1, 0.7
"""Where the gesture for back begins, in points, and how far it goes, as a share of the width."""
EDGE_MS = 250
SLOW_KEYS = 10
"""Keys a second when a text did not arrive at the usual speed."""
MS_PER_KEY = 200
_BUTTONS = {"home": "home", "volume_up": "volumeup", "volume_down": "volumedown"}
_TYPED = {"enter": "\n", "delete": "\u0008", "tab": "\t", "space": " "}
_HIDING, _DONE = ("Hide keyboard", "Dismiss"), ("Done", "done")
"""Keys that hide a keyboard: the second ones may also send what was typed."""
_LEADING = 0.35
"""Share of a navigation bar's width in which its button for back begins."""


class IosInput:
    """`Touch`, `KeyPresses` and `Activation`."""

    touched_keys = frozenset({"back"})

    def __init__(self, wda: Wda, reader: IosScreenReader) -> None:
        self._wda = wda
        self._reader = reader
        self._upright_checked: tuple[int, int] | None = None

    async def perform(self, gesture: Gesture) -> None:
        with mark_delivery("not_delivered"):
            scale = await self._reader.scale()
            await self._require_upright()
        strokes = [_finger(gesture, stroke, scale) for stroke in gesture.strokes]
        await self._send(strokes, gesture.duration_ms)

    async def _send(self, fingers: Sequence[list[dict[str, Any]]], duration_ms: int) -> None:
        actions = [
            {"type": "pointer", "id": f"finger{at}", "parameters": {"pointerType": "touch"}, "actions": moves}
            for at, moves in enumerate(fingers, 1)
        ]
        await self._wda.send("/actions", {"actions": actions}, timeout_ms=INPUT_MS + duration_ms)

    async def _require_upright(self) -> None:
        """Refuses to touch while the tree and WebDriverAgent disagree about how the phone is turned."""
        screen = self._reader.last
        if screen is None or screen.width <= screen.height:
            return
        if self._upright_checked == (screen.width, screen.height):
            return
        width, height = await self._reader.points()
        if width < height:
            raise ElementNotInteractable(
                "WebDriverAgent touches upright while the screen is turned, so it would hit another place",
                hint="Turn the phone upright: set_orientation portrait.",
                reason="covered",
                delivery="not_delivered",
            )
        self._upright_checked = (screen.width, screen.height)

    # keys

    async def key(self, key: str | int) -> None:
        name = _key_name(key)
        if name == "back":
            await self._back()
        elif name in _BUTTONS:
            await self._wda.send("/wda/pressButton", {"name": _BUTTONS[name]})
        elif name in ("power", "sleep"):
            await self._wda.send("/wda/lock", {})
        elif name == "wakeup":
            await self._wda.send("/wda/unlock", {})
        elif text := _TYPED.get(name) or _character(name):
            await self._wda.send("/wda/keys", {"value": [text]})
        else:
            raise Unsupported(
                f"An iPhone has no key {name}",
                hint=f"It has back, power, wakeup, letters, digits, {', '.join([*_BUTTONS, *_TYPED])}.",
                delivery="not_delivered",
            )

    async def chord(self, keys: Sequence[str]) -> None:
        raise Unsupported(
            f"An iPhone takes keys one by one, not {'+'.join(map(str, keys))}", delivery="not_delivered"
        )

    async def _back(self) -> None:
        """Hides the keyboard, else touches the navigation bar's button, else swipes from the left edge."""
        with mark_delivery("not_delivered"):
            screen = await self._reader.look()
            scale = await self._reader.scale()
        if has_keyboard(screen):
            try:
                await self._wda.send("/wda/keyboard/dismiss", {"keyNames": [*_HIDING, *_DONE]})
            except IosCommandError as error:
                raise Unsupported(
                    f"This keyboard has no key that hides it: {error.message}",
                    hint="Tap beside the field, or press enter where that does no harm.",
                    delivery=error.details.get("delivery"),
                ) from None
            return
        with mark_delivery("not_delivered"):
            await self._require_upright()
        if (button := back_button(screen)) is not None:
            await self._send([_tap(button.center.x / scale, button.center.y / scale)], 0)
            return
        end, middle = screen.width / scale * INTO, screen.height / scale / 2
        await self._send([[_move(EDGE, middle), _down(), _move(end, middle, EDGE_MS), _up()]], EDGE_MS)

    # what an input would activate

    async def activated_by_keys(self, keys: Sequence[str], field: str = "") -> Activated | None:
        """Back touches; Enter without a field that is known to have the focus may press anything."""
        del field
        screen = self._reader.last
        if screen is None:
            return Activated(is_unknown=True)
        if "back" in keys:
            if has_keyboard(screen):
                keys_shown = {name for node in screen.nodes for name in (node.description, node.resource_id)}
                return Activated(is_unknown=keys_shown.isdisjoint(_HIDING))
            swept = [ScreenPoint(round(screen.width * part), screen.height // 2) for part in (0, INTO)]
            under = [receiver(node) for point in swept for node in touch_targets(screen, point, EDGE)]
            nodes = under if (button := back_button(screen)) is None else [button]
            return Activated(tuple(_activated(node) for node in nodes if node is not None))
        if effect_of_chord(keys) is KeyEffect.PRESSES and not any(node.focused for node in screen.nodes):
            return Activated(is_unknown=True)
        return None

    async def activated_by_points(self, points: Sequence[ScreenPoint]) -> Activated | None:
        del points
        return None

    async def activated_by_value(self, native_id: str, value: ControlValue) -> Activated | None:
        del native_id, value
        return None


def back_button(screen: Screen) -> Node | None:
    """The first button of the navigation bar in front, where it stands at the leading edge."""
    for bar in screen.nodes:
        if bar.short_class != "NavigationBar" or not bar.bounds.area or len(screen.windows) > 1:
            continue
        for node in screen.inside(bar):
            is_button = node.role in ("button", "image_button") and node.enabled and node.bounds.area
            if is_button and node.bounds.left - bar.bounds.left <= bar.bounds.width * _LEADING:
                return node if node.bounds.intersect(screen.windows[-1].bounds).area else None
    return None


def _activated(node: Node) -> ActivatedElement:
    texts = tuple(filter(None, (node.text, node.description)))
    return ActivatedElement(node.native_id, texts, node.resource_id, is_named=bool(texts))


def _key_name(key: str | int) -> str:
    try:
        return name_of_key(key)
    except ValueError as error:
        raise InvalidAction(str(error), path="key", delivery="not_delivered") from None


def _character(name: str) -> str:
    tail = name.removeprefix("KEYCODE_")
    return tail.lower() if len(tail) == 1 and tail.isascii() and tail.isalnum() else ""


def _finger(gesture: Gesture, stroke: Stroke, scale: float) -> list[dict[str, Any]]:
    """One finger's moves, in points."""
    points = [(point.x / scale, point.y / scale) for point in stroke]
    if gesture.kind in ("tap", "double_tap"):
        taps = 2 if gesture.kind == "double_tap" else 1
        moves = _tap(*points[0])
        return moves if taps == 1 else [*moves, _pause(BETWEEN_MS), *moves[1:]]
    if gesture.kind == "long_press":
        return [_move(*points[0]), _down(), _pause(gesture.duration_ms), _up()]
    hold = [_pause(PICK_UP_MS)] if gesture.kind == "drag" else []
    legs = max(1, len(points) - 1)
    each = math.ceil(gesture.duration_ms / legs)
    return [_move(*points[0]), _down(), *hold, *(_move(*point, each) for point in points[1:]), _up()]


def _tap(x: float, y: float) -> list[dict[str, Any]]:
    return [_move(x, y), _down(), _pause(HOLD_MS), _up()]


def _move(x: float, y: float, duration_ms: float = 0) -> dict[str, Any]:
    place = {"x": round(x, 2), "y": round(y, 2)}
    return {"type": "pointerMove", "duration": duration_ms, "origin": "viewport", **place}


def _down() -> dict[str, Any]:
    return {"type": "pointerDown", "button": 0}


def _up() -> dict[str, Any]:
    return {"type": "pointerUp", "button": 0}


def _pause(duration_ms: float) -> dict[str, Any]:
    return {"type": "pause", "duration": duration_ms}


class IosText:
    """`TextInput` and `ControlValues`: what was typed is read back from the field itself."""

    def __init__(self, wda: Wda, reader: IosScreenReader, clock: Clock) -> None:
        self._wda = wda
        self._reader = reader
        self._clock = clock

    ways: frozenset[TypingWay] = frozenset({"keys"})

    def reads_back_as(self, text: str) -> str:
        return text

    async def require_way(self, text: str) -> None:
        """Every text has a way: XCTest types any character."""

    async def type_text(
        self,
        text: str,
        *,
        blind: bool = False,
        into: str | None = None,
        how: TypingWay | None = None,  # noqa: ARG002
    ) -> Typed:
        with mark_delivery("not_delivered"):
            front = (await self._reader.foreground()).package if into is not None else None
        if front != into:
            raise ElementNotInteractable(
                f"{front or 'nothing'} is in front now, and the field that was looked at is in {into}",
                hint="Look again.",
                reason="covered",
                delivery="not_delivered",
            )
        if blind:
            await self._type(text)
            return Typed("keys", None, None, None)
        field = await self._focused()
        await self._type(text)
        after = await self._read_after_input()
        arrived = was_typed(field, text, after)
        is_same = after is not None and after.element == field.element and not after.is_secure
        if arrived is False and is_same and text.isprintable() and await self._emptied(field):
            # Lost or swapped characters: the whole is typed again, slowly. Never only the rest.
            with mark_delivery("unknown"):
                await self._type(field.text + text, frequency=SLOW_KEYS)
            after = await self._read_after_input()
            arrived = None if after is None else after.text == field.text + text
        return Typed("keys", field.text, None if after is None else after.text, arrived)

    async def _emptied(self, field: FocusedField) -> bool:
        """Whether the field was cleared and is empty now, so that typing again types nothing twice."""
        try:
            await self._wda.send(f"/element/{field.element}/clear", {})
        except HandrailError as error:
            if error.details.get("delivery") == "not_delivered":
                return False
            raise
        after = await self._read_after_input()
        return after is not None and after.element == field.element and not after.text

    async def clear_text(self) -> Typed:
        field = await self._focused()
        await self._wda.send(f"/element/{field.element}/clear", {}, timeout_ms=INPUT_MS * 2)
        after = await self._read_after_input()
        shown = None if after is None else after.text
        return Typed("clear", field.text, shown, None if shown is None else not shown)

    async def _type(self, text: str, frequency: int | None = None) -> None:
        body: dict[str, Any] = {"value": [text]}
        if frequency is not None:
            body["frequency"] = frequency
        await self._wda.send("/wda/keys", body, timeout_ms=INPUT_MS + MS_PER_KEY * len(text))

    async def _focused(self) -> FocusedField:
        with mark_delivery("not_delivered"):
            field = await self._reader.focused_field()
        if field is None:
            raise ElementNotInteractable(
                "No field has the keyboard's focus",
                hint="Tap the field first, or name it as the action's target.",
                reason="not-focused",
                delivery="not_delivered",
            )
        return field

    async def _read_after_input(self) -> FocusedField | None:
        """A read after the input: where it fails, it proves nothing."""
        try:
            return await self._reader.focused_field()
        except (HandrailError, KeyError):
            return None

    # controls

    async def set_value(self, native_id: str, value: ControlValue) -> SetControl | None:
        """Only wheels: XCTest turns them to a value. Sliders are moved by a finger that reads them."""
        kind, _, ordinal = native_id.partition("#")
        if not kind.endswith("PickerWheel") or not isinstance(value, str):
            return None
        with mark_delivery("not_delivered"):
            query = {"using": "class name", "value": "XCUIElementTypePickerWheel"}
            wheels = await self._wda.read("/elements", query)
        if not isinstance(wheels, list) or not int(ordinal) < len(wheels):
            return None
        element = element_of(wheels[int(ordinal)])
        path = f"/element/{element}"
        try:
            await self._wda.send(f"{path}/value", {"value": [value], "text": value}, timeout_ms=INPUT_MS * 2)
        except IosCommandError as error:
            if error.details.get("error") != "invalid element state":
                raise
        with mark_delivery("delivered"):
            shown = str(await self._wda.read(f"{path}/attribute/value") or "")
        return SetControl(shown, shown == value)


def was_typed(before: FocusedField, text: str, after: FocusedField | None) -> bool | None:
    """Returns None where nobody can tell. Of a secure field only the length is known."""
    if after is None:
        return None
    if before.is_secure or after.is_secure:
        return len(after.text) == len(before.text) + len(text)
    return was_inserted(before.text, text, after.text)


def was_inserted(before: str, text: str, after: str) -> bool:
    """Whether `after` is `before` with `text` in it, at whatever cursor."""
    if after == before + text:
        return True
    return len(after) == len(before) + len(text) and any(
        before[:at] + text + before[at:] == after for at in range(len(before))
    )
