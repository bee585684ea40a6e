"""Actions of fingers and keys on a device: gestures, text, keys. One class is one meaning.

The docstrings are the text of tools, CLI help and docs; field docstrings are shown with the fields.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from handrail.protocol.act import Act, Semantic, Traits
from handrail.protocol.keys import Key, is_navigation
from handrail.protocol.model import Flag, GestureMs, Name, Number, Pixel, Text
from handrail.protocol.target import Place, Target

Direction = Literal["up", "down", "left", "right"]
Radius = Annotated[int, Field(strict=True, ge=1, le=32_767)]
Degrees = Annotated[float, Field(strict=True, ge=-3_600, le=3_600)]


class Tap(Act):
    """Tap an element or a point."""

    traits = Traits("input", "selection", "target")
    example = {"type": "tap", "target": {"text": "Save"}}
    type: Literal["tap"] = "tap"
    target: Target
    """What to tap."""


class DoubleTap(Act):
    """Tap twice, 100 ms apart."""

    traits = Traits("input", "selection", "target")
    example = {"type": "double_tap", "target": {"x": 540, "y": 1200}}
    type: Literal["double_tap"] = "double_tap"
    target: Target
    """What to tap twice."""


class LongPress(Act):
    """Press and hold."""

    traits = Traits("input", "selection", "target")
    example = {"type": "long_press", "target": {"ref": "@i2"}, "duration_ms": 1000}
    type: Literal["long_press"] = "long_press"
    target: Target
    """What to hold."""
    duration_ms: GestureMs = 1000
    """How long the finger stays down."""


class Swipe(Act):
    """Move a finger over the screen or an element: a direction, or from one point to another."""

    traits = Traits("input", "navigation", "direction")
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
    def _one_form(self) -> Swipe:
        if (self.from_ is None) != (self.to is None):
            raise ValueError("from and to go together")
        if (self.direction is None) == (self.from_ is None):
            raise ValueError("needs either direction, or from and to")
        if self.from_ is not None and self.target is not None:
            raise ValueError("target goes with direction, not with from and to")
        return self


class Drag(Act):
    """Pick something up, carry it to another place, and let go."""

    traits = Traits("input", "selection")
    example = {"type": "drag", "from": {"ref": "@i1"}, "to": {"x": 540, "y": 300}, "duration_ms": 800}
    type: Literal["drag"] = "drag"
    from_: Target
    """What to pick up."""
    to: Target
    """Where to let go."""
    duration_ms: GestureMs = 800
    """How long the way takes, the initial hold included."""


class Pinch(Act):
    """Two fingers towards or away from each other around a point: zoom."""

    traits = Traits("input", "selection")
    example = {
        "type": "pinch",
        "cx": 540,
        "cy": 1200,
        "start_radius": 100,
        "end_radius": 400,
        "duration_ms": 300,
    }
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


class Rotate(Act):
    """Two fingers turning around a point. 0° is right, 90° is down."""

    traits = Traits("input", "selection")
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

    traits = Traits("input", "navigation", "target")
    example = {"type": "scroll_to", "target": {"text": "About phone"}, "direction": "down", "max_scrolls": 10}
    type: Literal["scroll_to"] = "scroll_to"
    target: Target
    """What to look for."""
    within: Target | None = None
    """The container to scroll; the one that holds the most of the screen when absent."""
    direction: Direction = "down"
    """Where the content lies: down moves the finger up."""
    max_scrolls: Annotated[int, Field(strict=True, ge=1, le=100)] = 10
    """How often to scroll before giving up."""


class SetValue(Act):
    """Set a slider, a picker or a spinner, and check that it took the value."""

    traits = Traits("input", "input", "value")
    example = {"type": "set_value", "target": {"text": "Brightness"}, "value": 40, "tolerance": 0.0}
    type: Literal["set_value"] = "set_value"
    target: Target
    """The control."""
    value: Number | Name
    """A number (a slider's per cent or its own unit) or a picker's label."""
    tolerance: Annotated[float, Field(strict=True, ge=0, le=1_000_000)] = 0
    """How far from the number is good enough."""


class TypeText(Act):
    """Type text into a field and read it back."""

    traits = Traits("input", "input", "text")
    example = {
        "type": "type_text",
        "text": "Ada",
        "target": {"text": "Name"},
        "clear": False,
        "submit": False,
    }
    type: Literal["type_text"] = "type_text"
    text: Text
    """What to type, any script; `${secret:NAME}` is filled at dispatch."""
    target: Target | None = None
    """The field; the focused one when absent."""
    clear: Flag = False
    """Empty the field first."""
    submit: Flag = False
    """Press enter afterwards."""


class ClearText(Act):
    """Empty a field."""

    traits = Traits("input", "input", "target")
    example = {"type": "clear_text", "target": {"ref": "@f1"}}
    type: Literal["clear_text"] = "clear_text"
    target: Target
    """The field."""


class PressKey(Act):
    """Press a system key by name (back, home, enter, recents, …), KEYCODE_* name or number."""

    traits = Traits("input", "input", "key")
    example = {"type": "press_key", "key": "back"}
    type: Literal["press_key"] = "press_key"
    key: Key
    """A name, a KEYCODE_* constant or a key code."""

    @property
    def semantic(self) -> Semantic:
        return "navigation" if is_navigation(self.key) else "input"
