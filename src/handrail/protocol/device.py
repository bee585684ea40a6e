"""Actions of fingers and keys on a device: gestures, text, keys. One class is one meaning.

The docstrings are the text of tools, CLI help and docs; field docstrings are shown with the fields.
"""

from functools import partial
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from handrail.protocol import details as detail_types
from handrail.protocol.act import Act
from handrail.protocol.keys import (
    ALT,
    LEAVING,
    NAVIGATION,
    Chord,
    Key,
    KeyEffect,
    effect_of_chord,
    effect_of_key,
    name_of_key,
    types_only,
)
from handrail.protocol.model import Flag, GestureMs, Name, Number, Pixel, Text, field_problem
from handrail.protocol.target import OrShort, Place, Target
from handrail.protocol.traits import ALLOW, Capability, ModelView, Pressed, Traits

Direction = Literal["up", "down", "left", "right"]
MouseButton = Literal["left", "middle", "right"]
Radius = Annotated[int, Field(strict=True, ge=1, le=32_767)]
Degrees = Annotated[float, Field(strict=True, ge=-3_600, le=3_600)]

HeldKeys = Annotated[
    tuple[Literal["ctrl", "shift", "alt", "meta"], ...],
    Field(max_length=4),
    BeforeValidator(lambda keys: keys.split("+") if isinstance(keys, str) else keys),
    OrShort('"ctrl+shift"', r"^(ctrl|shift|alt|meta)(\+(ctrl|shift|alt|meta)){0,3}$"),
]
_GESTURE = partial(
    Traits, effect="input", semantic="selection", needs=Capability.TOUCH, presses=Pressed.PATH,
    verdict=ALLOW,
)  # fmt: skip
_TAP = partial(
    Traits, effect="input", semantic="selection", needs=Capability.TOUCH, presses=Pressed.TARGET,
    aims=("target",), verdict=ALLOW, shorthand="target",
)  # fmt: skip
_INPUT = partial(Traits, effect="input", semantic="input", presses=Pressed.FOCUS, verdict=ALLOW)


class _GestureAct(Act):
    """An action of fingers whose ways are known when it is sent."""

    details = detail_types.TouchDetails


class Tap(_GestureAct):
    """Tap an element or a point."""

    traits = _TAP(
        says="Tapped {target:at}[ with the {button} button][, {modifiers:plus} held].",
        tools=("core", "agent"),
        model=ModelView(
            shown="target", expects=True, web="button modifiers", fields={"modifiers": "ctrl+shift"}
        ),
    )  # fmt: skip
    example = {"type": "tap", "target": {"text": "Save"}}
    type: Literal["tap"] = "tap"
    target: Target
    """What to tap."""
    button: MouseButton | None = None
    """Mouse button, in a browser; left when absent."""
    modifiers: HeldKeys | None = None
    """Keys that are held meanwhile, in a browser."""


class Hover(_GestureAct):
    """Move the mouse over an element without pressing: in a browser."""

    traits = _TAP(
        needs=Capability.MOUSE, says="Hovered over {target:at}.", tools=("web",),
        model=ModelView("Move the mouse over an element."),
    )  # fmt: skip
    example = {"type": "hover", "target": {"text": "Products"}}
    type: Literal["hover"] = "hover"
    target: Target
    """What to hover over."""


class DoubleTap(_GestureAct):
    """Tap twice, 100 ms apart."""

    traits = _TAP(says="Double-tapped {target:at}.", tools=("agent", "web"), model=ModelView("Tap twice."))
    example = {"type": "double_tap", "target": {"x": 540, "y": 1200}}
    type: Literal["double_tap"] = "double_tap"
    target: Target
    """What to tap twice."""


class LongPress(_GestureAct):
    """Press and hold."""

    traits = _TAP(says="Long-pressed {target:at} for {duration_ms} ms.", tools=("core", "agent"))
    example = {"type": "long_press", "target": {"ref": "@i2"}, "duration_ms": 1000}
    type: Literal["long_press"] = "long_press"
    target: Target
    """What to hold."""
    duration_ms: GestureMs = 1000
    """How long the finger stays down."""


class Swipe(_GestureAct):
    """Move a finger over the screen or an element: a direction, or from one point to another."""

    traits = _GESTURE(
        semantic="navigation", aims=("target",),
        says="Swiped[ {direction}][ on {target:at}][ from {from_}][ to {to}].", shorthand="direction",
        tools=("core", "agent"),
        model=ModelView(
            "Swipe in a direction, or between two points.", "direction target from to",
            {"direction": "of the finger", "from": "x,y", "to": "x,y"},
        ),
    )  # fmt: skip
    example = {"type": "swipe", "direction": "up", "duration_ms": 300}
    type: Literal["swipe"] = "swipe"
    direction: Direction | None = None
    """Where the finger goes, over 60 % of the target or screen, centred."""
    from_: Place | None = None
    """Where the finger comes down; needs `to`."""
    to: Place | None = None
    """Where the finger leaves; needs `from`."""
    target: Target | None = None
    """The element to swipe on, with `direction`."""
    duration_ms: GestureMs = 300
    """How long the finger moves; shorter is a fling."""

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        if (self.from_ is None) != (self.to is None):
            raise field_problem("to" if self.to is None else "from", "from and to go together")
        if (self.direction is None) == (self.from_ is None):
            raise field_problem("direction", "give either direction, or from and to")
        if self.from_ is not None and self.target is not None:
            raise field_problem("target", "goes with direction, not with from and to")
        return self


class Drag(_GestureAct):
    """Pick something up, carry it to another place, and let go."""

    traits = _GESTURE(
        aims=("from_", "to"), says="Dragged from {from_:own} to {to:own}.", tools=("web",),
        model=ModelView("Drag and drop.", "from to"),
    )  # fmt: skip
    example = {"type": "drag", "from": {"ref": "@i1"}, "to": {"x": 540, "y": 300}, "duration_ms": 800}
    type: Literal["drag"] = "drag"
    from_: Target
    """What to pick up."""
    to: Target
    """Where to let go."""
    duration_ms: GestureMs = 800
    """How long the way takes, the initial hold included."""


_PLACE = "-?[0-9]{1,4},-?[0-9]{1,4}"


class DragPath(_GestureAct):
    """Move a finger along a path of points: draw, unlock by a pattern, drag around a corner."""

    traits = _GESTURE(says="Dragged along {points:count} points.", shorthand="points")
    example = {
        "type": "drag_path", "points": [{"x": 200, "y": 900}, {"x": 540, "y": 600}, {"x": 880, "y": 900}],
        "duration_ms": 800,
    }  # fmt: skip
    type: Literal["drag_path"] = "drag_path"
    points: Annotated[
        tuple[Place, ...],
        Field(min_length=2, max_length=100),
        BeforeValidator(lambda points: points.split() if isinstance(points, str) else points),
        OrShort('"200,900 540,600"', rf"^{_PLACE}( {_PLACE}){{1,99}}$"),
    ]
    """Where the finger comes down, what it passes, where it lifts."""
    duration_ms: GestureMs = 800
    """How long the whole way takes."""


class Pinch(_GestureAct):
    """Two fingers towards or away from each other around a point: zoom."""

    traits = _GESTURE(says="Pinched at ({cx}, {cy}) from radius {start_radius} to {end_radius}.")
    example = {
        "type": "pinch", "cx": 540, "cy": 1200, "start_radius": 100, "end_radius": 400, "duration_ms": 300,
    }  # fmt: skip
    type: Literal["pinch"] = "pinch"
    cx: Pixel
    """Centre, x."""
    cy: Pixel
    """Centre, y."""
    start_radius: Radius
    """Distance of each finger from the centre at the start."""
    end_radius: Radius
    """The same at the end; larger zooms in."""
    duration_ms: GestureMs = 300
    """How long the fingers move."""


class Rotate(_GestureAct):
    """Two fingers turning around a point. 0° is right, 90° is down."""

    traits = _GESTURE(says="Rotated at ({cx}, {cy}) from {start_angle_deg:g}° to {end_angle_deg:g}°.")
    example = {
        "type": "rotate", "cx": 540, "cy": 1200, "radius": 300,
        "start_angle_deg": 0.0, "end_angle_deg": 90.0, "duration_ms": 400,
    }  # fmt: skip
    type: Literal["rotate"] = "rotate"
    cx: Pixel
    """Centre, x."""
    cy: Pixel
    """Centre, y."""
    radius: Radius
    """Distance of each finger from the centre."""
    start_angle_deg: Degrees
    """Where the first finger starts."""
    end_angle_deg: Degrees
    """Where it ends."""
    duration_ms: GestureMs = 400
    """How long the fingers move."""


class ScrollTo(Act):
    """Scroll until an element is visible; stops at the end of the list."""

    traits = _GESTURE(
        semantic="navigation", aims=("within",), says="Scrolled {direction} to {target:at}.",
        shorthand="target", tools=("core", "agent"),
        model=ModelView(shown="target direction within", fields={"direction": "where the content lies"}),
    )  # fmt: skip
    example = {"type": "scroll_to", "target": {"text": "About phone"}, "direction": "down", "max_scrolls": 10}
    details = detail_types.ScrollDetails
    type: Literal["scroll_to"] = "scroll_to"
    target: Target
    """What to look for."""
    within: Target | None = None
    """The container to scroll; the one that holds the most of the screen when absent."""
    direction: Direction = "down"
    """Where the content lies: down moves the finger up."""
    max_scrolls: Annotated[int, Field(strict=True, ge=1, le=100)] = 10
    """How often to scroll before giving up."""
    amount: Annotated[float, Field(strict=True, ge=0.05, le=0.95)] | None = None
    """How much of the container a finger crosses at once; 0.6 when absent."""


class SetValue(Act):
    """Set a slider, a picker or a spinner, and check that it took the value."""

    traits = _TAP(
        semantic="input", says="Set {target:at} to {value}.", shorthand="value", tools=("web", "agent"),
        model=ModelView("Set a slider, a list, a date or a file.", "target value"),
    )  # fmt: skip
    example = {"type": "set_value", "target": {"text": "Brightness"}, "value": 40, "tolerance": 0.0}
    details = detail_types.ValueDetails
    type: Literal["set_value"] = "set_value"
    target: Target
    """The control."""
    value: Number | Name | Annotated[tuple[Name, ...], Field(min_length=1, max_length=100)]
    """A number (a slider's per cent or its own unit), a picker's label, or all labels to select in a list."""
    tolerance: Annotated[float, Field(strict=True, ge=0, le=1_000_000)] = 0
    """How far from the number is good enough."""
    max_moves: Annotated[int, Field(strict=True, ge=1, le=50)] | None = None
    """How often a slider is moved before giving up; 8 when absent."""


class TypeText(Act):
    """Type text into a field and read it back."""

    traits = _INPUT(
        needs=Capability.TEXT, aims=("target",), says='Typed "{text}"[ into {target:at}].', shorthand="text",
        tools=("core", "agent"),
        model=ModelView(
            "Type into a field and read it back.",
            "text target clear submit",
            fields={"target": "default: the focused one", "clear": "empty it first", "submit": "press enter"},
            expects=True,
        ),
    )  # fmt: skip
    example = {
        "type": "type_text", "text": "Ada", "target": {"text": "Name"}, "clear": False, "submit": False,
    }  # fmt: skip
    details = detail_types.TypingDetails
    type: Literal["type_text"] = "type_text"
    text: Text
    """What to type, any script; `${secret:NAME}` is filled at dispatch."""
    target: Target | None = None
    """The field; the focused one when absent."""
    clear: Flag = False
    """Empty the field first."""
    submit: Flag = False
    """Press enter afterwards."""
    how: Literal["keys", "value", "paste"] | None = None
    """In a browser: by keys, also where no field has the focus; as a value; as pasted. What fits the
    field when absent."""

    @property
    def only_types(self) -> bool:
        return not self.submit and types_only(self.text) and self.how != "keys"


class ClearText(Act):
    """Empty a field."""

    traits = _TAP(
        semantic="input", needs=Capability.TEXT, presses=Pressed.FOCUS, says="Cleared {target:at}.",
        tools=("agent",),
    )  # fmt: skip
    example = {"type": "clear_text", "target": {"ref": "@f1"}}
    details = detail_types.TypingDetails
    type: Literal["clear_text"] = "clear_text"
    target: Target
    """The field."""

    @property
    def only_types(self) -> bool:
        return True


class _BackAct(Act):
    """An action that presses back: a key on some surfaces, on others a touch that may hit a button."""

    _is_touch: bool = PrivateAttr(default=False)

    def as_touch(self) -> Self:
        touching = self.model_copy()
        touching._is_touch = True
        return touching

    @property
    def presses(self) -> Pressed:
        return Pressed.PATH if self._is_touch else super().presses


class HideKeyboard(_BackAct):
    """Close the keyboard on the screen; does nothing where none is shown."""

    traits = _INPUT(
        needs=Capability.KEYS, presses=Pressed.NOTHING, says="Made sure that no keyboard is shown.",
    )  # fmt: skip
    example = {"type": "hide_keyboard"}
    type: Literal["hide_keyboard"] = "hide_keyboard"


class PressKey(_BackAct):
    """Press a system key by name (back, home, enter, recents, …), KEYCODE_* name or number."""

    traits = _INPUT(
        needs=Capability.KEYS, says="Pressed key: {key}.", shorthand="key", tools=("core", "agent"),
        model=ModelView(
            "Press back, home, enter, recents, another key's name or a KEYCODE_*.", texts=("key",),
            expects=True,
        ),
    )  # fmt: skip
    example = {"type": "press_key", "key": "back"}
    details = detail_types.KeyDetails
    type: Literal["press_key"] = "press_key"
    key: Key
    """A name, a KEYCODE_* constant or a key code."""

    @property
    def name(self) -> str:
        """Returns the key's canonical name, whatever the spelling."""
        return name_of_key(self.key)

    @property
    def semantic(self) -> Literal["navigation", "input"]:
        return "navigation" if self.name in NAVIGATION else "input"

    @property
    def presses(self) -> Pressed:
        if self._is_touch:
            return super().presses
        return Pressed.NOTHING if effect_of_key(self.name) is KeyEffect.NOTHING else Pressed.FOCUS

    @property
    def leaves_app(self) -> bool:
        return self.name in LEAVING

    @property
    def only_types(self) -> bool:
        return effect_of_key(self.name) is KeyEffect.TYPES


class PressKeys(Act):
    """Press keys together, those that are held first: ctrl and a."""

    traits = _INPUT(
        needs=Capability.KEYS, says="Pressed keys: {names:plus}.", shorthand="keys", tools=("web",),
        model=ModelView("Press keys together: ctrl+a."),
    )  # fmt: skip
    example = {"type": "press_keys", "keys": ["ctrl", "a"]}
    type: Literal["press_keys"] = "press_keys"
    keys: Chord
    """Two to four names, KEYCODE_* constants or key codes; also ctrl, shift, alt and meta."""

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the keys' canonical names, whatever the spelling."""
        return tuple(map(name_of_key, self.keys))

    @property
    def presses(self) -> Pressed:
        if effect_of_chord(self.names) is KeyEffect.NOTHING:
            return Pressed.NOTHING
        # With alt a page's access keys press their buttons, wherever the focus is.
        return Pressed.UNKNOWN if ALT & set(self.names) else Pressed.FOCUS
