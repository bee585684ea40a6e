"""What an action aims at (`Target`) and what a caller expects to hold (`Condition`)."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Tag,
    model_validator,
)
from pydantic_core import CoreSchema

from handrail.protocol.model import NOT_BLANK, Flag, Model, Name, Number, Pixel, Text, one_of

REF_PATTERN = r"^(@[a-z][0-9]+|el_[A-Za-z0-9_]+)$"
_REF = re.compile(REF_PATTERN)
_POINT = re.compile(r"^\s*(-?\d{1,5})\s*,\s*(-?\d{1,5})\s*$", re.ASCII)

Ref = Annotated[str, Field(pattern=REF_PATTERN, max_length=60)]
"""A handle from a screen: `@b1`, or the session-stable `el_…` behind it."""

Role = Literal[
    "button", "text_field", "text_view", "check_box", "switch", "radio_button", "slider", "scroll_view",
    "image", "image_button", "container", "list", "list_item", "tab", "toolbar", "progress_bar", "spinner",
    "web_view", "unknown",
]  # fmt: skip
"""AgenTest's nineteen roles."""

ElementProperty = Literal[
    "enabled", "focused", "selected", "checked", "checkable", "clickable", "scrollable", "long_clickable",
    "password", "text", "value", "description", "hint", "state", "exists", "interactable",
]  # fmt: skip
"""What can be read of an element. One that exists may be out of sight; an interactable one takes a tap now:
it or its row is clickable, enabled and not covered."""
_SHOWN = 60  # characters of a caller's own words in a message


def value_in_words(value: Any) -> str:
    """A value as people write it: `"Save"`, `true`, `nothing`, `"a", "b"`."""
    match value:
        case None:
            return "nothing"
        case str():
            return json.dumps(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…", ensure_ascii=False)
        case list() | tuple():
            return ", ".join(map(value_in_words, value))
        case dict():
            return ", ".join(f"{name} {value_in_words(part)}" for name, part in value.items())
        case bool() | int() | float():
            return json.dumps(value)
        case _:
            return str(value)


class Point(Model):
    """A place on the screen, in device pixels."""

    x: Pixel
    y: Pixel

    def __str__(self) -> str:
        return f"{self.x},{self.y}"


def _read_short(value: Any) -> Any:
    """`"@b1"` is a ref, `"540,750"` a point, any other string a text."""
    if not isinstance(value, str):
        return value
    if _REF.fullmatch(value):
        return {"ref": value}
    if point := _POINT.match(value):
        return {"x": int(point[1]), "y": int(point[2])}
    return {"text": value}


class OrShort:
    """Says in the JSON Schema that a short string is accepted too."""

    def __init__(self, meaning: str, pattern: str | None = None) -> None:
        self.short: dict[str, Any] = {"type": "string", "description": meaning}
        self.short |= {"pattern": pattern} if pattern else {"pattern": NOT_BLANK, "maxLength": 1_000}

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [self.short, handler(schema)]}


Place = Annotated[
    Point, BeforeValidator(_read_short), OrShort('"540,750"', r"^-?[0-9]{1,4}\s*,\s*-?[0-9]{1,4}$")
]
"""A point, or "540,750"."""


def _read_region(region: object) -> object:
    """Reads "0,200,1080,800", as command lines have it."""
    if isinstance(region, str):
        return [int(part) if part.strip().lstrip("-").isdecimal() else part for part in region.split(",")]
    return region


Region = Annotated[
    tuple[Pixel, ...],
    Field(min_length=4, max_length=4),
    BeforeValidator(_read_region),
    OrShort('"0,200,1080,800"', r"^-?[0-9]{1,4}(,-?[0-9]{1,4}){3}$"),
]
"""Left, top, right, bottom in device pixels."""


class Selector(Model):
    """Describes one element: all given fields must match. A ref, if given, decides alone."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    ref: Ref | None = None
    """Handle from a screen, such as "@b1"; the other fields are then ignored."""
    element_id: Ref | None = None
    """Session-stable identity "el_…"; accepted wherever a ref is."""
    id: Name | None = None
    """Resource id, whole or the part after `:id/`."""
    id_contains: Name | None = None
    """Part of the resource id."""
    text: Name | None = None
    """Exact visible text."""
    text_contains: Name | None = None
    """Part of the visible text."""
    class_name: Name | None = None
    """Android class, short or full."""
    description: Name | None = None
    """Content description."""
    hint: Name | None = None
    """Hint of an input field."""
    state: Name | None = None
    """State description, such as "Expanded"."""
    role: Role | None = None
    """Kind of element."""
    within: Anchor | None = None
    """Only inside this element."""
    near: Anchor | None = None
    """The nearest to this element."""
    left_of: Anchor | None = None
    """Left of this element."""
    right_of: Anchor | None = None
    """Right of this element."""
    above: Anchor | None = None
    """Above this element."""
    below: Anchor | None = None
    """Below this element."""
    index: Annotated[int, Field(strict=True, ge=0, le=100_000)] | None = None
    """Which of several matches, from 0, in document order."""

    @model_validator(mode="after")
    def _check_not_empty(self) -> Selector:
        for name in self.model_fields_set:
            if name != "index" and getattr(self, name) is not None:
                return self
        raise ValueError("a selector needs at least one field besides index")

    @property
    def handle(self) -> str | None:
        """The ref or element id, which decides alone."""
        return self.ref or self.element_id

    def __str__(self) -> str:
        """As a message names it: `"Save"`, `@b1`, `id save, role button, within "Account"`."""
        if self.handle:
            return self.handle
        fields = {name: getattr(self, name) for name in _WORDS}
        return ", ".join(
            _WORDS[name].format(value_in_words(field)) for name, field in fields.items() if field is not None
        )


_WORDS = {
    "text": "{}", "text_contains": "text with {}", "id": "id {}", "id_contains": "id with {}",
    "class_name": "class {}", "description": "description {}", "hint": "hint {}", "state": "state {}",
    "role": "role {}", "within": "within {}", "near": "near {}", "left_of": "left of {}",
    "right_of": "right of {}", "above": "above {}", "below": "below {}", "index": "index {}",
}  # fmt: skip
"""How each field of a selector is said."""
Anchor = Annotated[
    Selector, BeforeValidator(_read_short), OrShort('"@b1" (ref), any other string (exact text)')
]
"""An element to measure others against: a selector, a ref or a text."""


def _point_or_selector(value: Any) -> str:
    if isinstance(value, dict):
        return "point" if "x" in value or "y" in value else "selector"
    return "point" if isinstance(value, Point) else "selector"


Target = Annotated[
    Annotated[Point, Tag("point")] | Annotated[Selector, Tag("selector")],
    Discriminator(_point_or_selector),
    BeforeValidator(_read_short),
    OrShort('"@b1" (ref), "540,750" (point), any other string (exact text)'),
]
"""An element or a place."""


class TextIs(Model):
    """The text of an element: exactly one of `equals` and `contains`."""

    target: Target
    equals: Text | None = None
    contains: Text | None = None

    _check_comparison = one_of("equals", "contains")


class StateIs(Model):
    """One property of an element has this value."""

    target: Target
    property: ElementProperty
    value: Flag | Number | Text


class Condition(Model):
    """What should hold: exactly one of the fields. A bare string means `visible`."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    visible: Target | None = None
    """This element can be seen."""
    absent: Target | None = None
    """This element can't be seen."""
    text: TextIs | None = None
    """An element's text."""
    state: StateIs | None = None
    """An element's state."""
    app: Name | None = None
    """This package is in front."""
    screen_changed: Literal[True] | None = None
    """The screen is another one than before."""
    toast: Name | None = None
    """A toast or a new notification contains this text."""
    fingerprint: Name | None = None
    """The screen has this fingerprint."""
    all: Annotated[tuple[Expectation, ...], Field(min_length=1, max_length=20)] | None = None
    """All of these hold."""
    any: Annotated[tuple[Expectation, ...], Field(min_length=1, max_length=20)] | None = None
    """At least one of these holds."""

    @model_validator(mode="after")
    def _check_single(self) -> Condition:
        names = [name for name in self.model_fields_set if getattr(self, name) is not None]
        if len(names) != 1:
            raise ValueError(f"needs exactly one of: {', '.join(type(self).model_fields)}")
        return self

    @property
    def subject(self) -> Target | None:
        """The element that it is about; None where it is about the screen, or about several."""
        about = self.text or self.state
        return about.target if about else self.visible or self.absent

    @property
    def kind(self) -> str:
        """The name of the field that is set."""
        return next(name for name in type(self).model_fields if getattr(self, name) is not None)

    def __str__(self) -> str:
        """What should hold, as a clause: `"Saved" is visible`."""
        match self.kind:
            case "visible" | "absent" as kind:
                return f"{self.subject} is {kind}"
            case "text" if self.text:
                expected = self.text.contains if self.text.equals is None else self.text.equals
                verb = "says" if self.text.contains is None else "contains"
                return f"{self.subject} {verb} {value_in_words(expected)}"
            case "state" if self.state:
                return f"{self.state.property} of {self.subject} is {value_in_words(self.state.value)}"
            case "app":
                return f"{self.app} is in front"
            case "fingerprint":
                return f"the screen is #{self.fingerprint}"
            case "screen_changed":
                return "the screen is another one"
            case "toast":
                return f"a toast says {value_in_words(self.toast)}"
            case kind:
                return (" and " if kind == "all" else " or ").join(map(str, self.all or self.any or ()))


Expectation = Annotated[
    Condition,
    BeforeValidator(lambda value: {"visible": value} if isinstance(value, str) else value),
    OrShort("this can be seen"),
]
"""A condition, or a bare string for "this can be seen"."""
