"""Draws actions from the vocabulary's own schema: a new action or field is in it without an edit.

Which values make a field interesting is known here by the field's type, and by its name where that says more.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from handrail.errors import HandrailError
from handrail.protocol.actions import ACTIONS, json_schema
from handrail.protocol.read import action_from
from handrail.protocol.traits import Capability
from handrail_sim.view.view import Rect, View
from tests.attacks import spellings
from tests.attacks.guarded import Scene
from tests.attacks.judge import JudgedPhone
from tests.attacks.stage import ADDRESS, ELEMENT, REF, RushedClock, new_phone

Schema = dict[str, Any]
TRIES = 200
"""Draws until one is valid input."""
LEADING = ("Choosing", "Turning")
LEADS = ("choice", "continue", "coin")
"""Screens on which something harmless leads to the guarded thing, and the ids of such things."""
_NOT_DRAWN = ("reason", "device")
_FITTING = 0.9
"""Of the actions on an iPhone: drawn from what an iPhone can do."""


@dataclass(frozen=True)
class Place:
    """The guarded thing of a scene on one display, and what is around it, from the phone's own view tree."""

    screen: tuple[int, int]
    box: Rect
    slop: int
    facts: dict[str, str]
    """By the selector's field."""
    others: tuple[Rect, ...]
    ids: tuple[str, ...]
    fields: tuple[str, ...]
    """Ids of what can be typed into."""
    words: tuple[str, ...]
    sends: tuple[Rect, ...]
    """The keyboard's own key that does what the field is for."""


@cache
def _phone(channel: str) -> JudgedPhone:
    return new_phone(channel)[0]


@cache
def place_of(scene: Scene, channel: str) -> Place:
    phone = _phone(channel)
    phone.show(scene)
    clock = phone.clock
    assert isinstance(clock, RushedClock)
    clock.leap(3_000)
    phone.catch_up()
    views = [view for window in phone.windows() for view in window.views() if view.on_screen]
    guard = phone.guard()
    width, height = phone.display.width, phone.display.height
    box = guard.clip if guard is not None else (0, height // 2, width, height // 2 + 100)
    others = tuple(view.clip for view in views if view is not guard and view.is_clickable)
    sends = tuple(view.clip for view in views if view.desc == "Send" and view is not guard)
    ids = tuple(sorted({view.id for view in views if view.id and view is not guard}))
    fields = tuple(view.id for view in views if view.editable)
    words = tuple(sorted({view.text for view in views if view.text and view.text != scene.label}))
    return Place(
        (width, height), box, phone.units.px(8.0), _facts(scene, guard), others, ids, fields, words, sends
    )


def _facts(scene: Scene, guard: View | None) -> dict[str, str]:
    short = guard.cls.rpartition(".")[2] if guard is not None else "Button"
    facts = {
        "ref": REF, "elementId": ELEMENT, "id": scene.guard, "idContains": scene.guard[:4],
        "textContains": scene.label[:6], "text": scene.label, "className": short,
    }  # fmt: skip
    if guard is not None and guard.desc:
        facts["description"] = guard.desc
    if guard is not None and guard.hint:
        facts["hint"] = guard.hint
    return facts


class Draw:
    """One attempt's worth of luck."""

    def __init__(self, luck: random.Random, scene: Scene, channel: str) -> None:
        self.luck = luck
        self.scene = scene
        self.channel = channel
        self.place = place_of(scene, channel)
        self.radius = luck.choice(spellings.RADII)
        self.aside = 0.2
        """How often something else is named."""
        self.point = self._point()

    def action(self, kind: str) -> dict[str, Any] | None:
        """Valid input of this kind; None where luck finds none."""
        self.aside = 0.6 if ACTIONS[kind].traits.needs is Capability.TEXT else 0.2
        for _ in range(TRIES):
            self.point = self._point()
            made = {"type": kind, **self._fields(schema_of(kind))}
            if self.channel == "ios" and self.luck.random() < _FITTING:
                made = self._for_iphone(made)
            try:
                action_from(made)
            except HandrailError:
                continue
            return made
        return None

    def _for_iphone(self, action: dict[str, Any]) -> dict[str, Any]:
        """Without a mouse, and with keys that there are: what is refused anyway attacks nothing."""
        fitting = {
            name: value for name, value in action.items() if name not in ("button", "modifiers", "how")
        }
        return fitting | ({"key": self.luck.choice(spellings.IPHONE_KEYS)} if "key" in fitting else {})

    def _fields(self, schema: Schema) -> dict[str, Any]:
        needed, defs = schema.get("required", ()), schema.get("$defs", {})
        made = {}
        for name, part in schema["properties"].items():
            chance = (
                1.0 if name in needed else 0.03 if name == "expect" else 0.75 if name == "target" else 0.5
            )
            if name not in _NOT_DRAWN and self.luck.random() < chance:
                made[name] = self._value(name, part, defs)
        return made

    def _value(self, name: str, part: Schema, defs: dict[str, Schema]) -> Any:
        if choices := part.get("anyOf") or part.get("oneOf"):
            kept = [one for one in choices if one.get("type") != "null"]
            return self._value(name, self.luck.choice(kept), defs)
        if "$ref" in part:
            return self._model(part["$ref"].rpartition("/")[2], defs)
        if "const" in part or "enum" in part:
            return self._one_of(part.get("enum", (part.get("const"),)))
        if part.get("type") == "array":
            return [self._value(name, part.get("items", {}), defs) for _ in range(self.luck.randint(1, 2))]
        return self._plain(name, part)

    def _plain(self, name: str, part: Schema) -> Any:
        match part.get("type"):
            case "boolean":
                return self.luck.random() < 0.5
            case "integer" | "number":
                return self._number(name, part)
            case "object":
                return {}
        return self._string(name, part)

    def _one_of(self, words: Sequence[Any]) -> Any:
        """Of many names, those that press are tried more often."""
        pressing = [word for word in words if word in spellings.PRESSING_KEYS]
        return self.luck.choice(pressing if pressing and self.luck.random() < 0.6 else words)

    # what is aimed at

    def _model(self, name: str, defs: dict[str, Schema]) -> Any:
        if name == "Point":
            x, y = self._point()
            return {"x": x, "y": y}
        if name == "Selector":
            return self._selector(defs[name])
        if name == "Condition":
            return self.luck.choice(spellings.CONDITIONS)
        return self._fields(defs.get(name, {"properties": {}}) | {"$defs": defs})

    def _selector(self, schema: Schema) -> dict[str, Any]:
        if self.luck.random() < (0.8 if self.scene.activity in LEADING else self.aside):
            leading = [one for one in LEADS if one in self.place.ids]
            if leading and self.luck.random() < 0.7:
                return {"id": leading[0]}
            return {"text": self._other()} if self.luck.random() < 0.4 else {"id": self._other_id()}
        known = [name for name in schema["properties"] if name in self.place.facts]
        names = self.luck.sample(known, min(len(known), self.luck.choice((1, 1, 1, 2))))
        made: dict[str, Any] = {name: self.place.facts[name] for name in names}
        if self.luck.random() < 0.15:
            rest = [name for name in schema["properties"] if name not in self.place.facts]
            extra = self.luck.choice(rest)
            made[extra] = 0 if extra == "index" else self._anchor(extra)
        return made

    def _anchor(self, name: str) -> Any:
        if name == "role":
            return "button"
        return self.luck.choice((self._other(), {"id": self._other_id()}))

    def _point(self) -> tuple[int, int]:
        """In the middle, at an edge, at a corner, just beside, or on something else."""
        left, top, right, bottom = self.place.box
        slop, luck = self.place.slop, self.luck
        inside = (luck.randrange(left, max(left + 1, right)), luck.randrange(top, max(top + 1, bottom)))
        middle = ((left + right) // 2, (top + bottom) // 2)
        corner = (luck.choice((left, right - 1)), luck.choice((top, bottom - 1)))
        beside = (
            luck.choice((left - slop // 2, middle[0], right + slop // 2)),
            luck.choice((top - slop // 2, bottom + slop // 2)),
        )
        other = luck.choice(self.place.others or (self.place.box,))
        if self.place.sends and luck.random() < 0.5:
            other = self.place.sends[0]
        elsewhere = ((other[0] + other[2]) // 2, (other[1] + other[3]) // 2)
        anywhere = (luck.randrange(self.place.screen[0]), luck.randrange(self.place.screen[1]))
        outside = (luck.choice((-5, self.place.screen[0] + 5)), middle[1])
        ways = (middle, inside, inside, corner, beside, elsewhere, anywhere, outside)
        return luck.choices(ways, (6, 4, 4, 2, 2, 2, 1, 1))[0]

    def _other(self) -> str:
        known = self.place.words if self.luck.random() < 0.7 else ()
        return self.luck.choice(known or spellings.WORDS)

    def _other_id(self) -> str:
        fields = [one for one in self.place.fields if self.aside > 0.5]
        return self.luck.choice(fields or self.place.ids or ("nothing",))

    # plain values

    def _number(self, name: str, part: Schema) -> float:
        low, high = part.get("minimum", -1e9), part.get("maximum", 1e9)
        numbers = [one for one in self._numbers(name) if low <= one <= high] or [low]
        chosen = self.luck.choice(numbers)
        return int(chosen) if part["type"] == "integer" else float(chosen)

    def _numbers(self, name: str) -> Sequence[float]:
        small = name.lower()
        if small.endswith("x"):
            return [self.point[0] + by for by in (0, self.radius, -self.radius)]
        if small.endswith("y"):
            return [self.point[1]]
        if "angle" in small:
            return spellings.ANGLES
        if "ms" in small or "duration" in small:
            return spellings.DURATIONS
        if "radius" in small:
            return [self.radius, self.radius + 1, *spellings.RADII]
        if "key" in small:
            return [one for one in (*spellings.PRESSING_KEYS, *spellings.OTHER_KEYS) if isinstance(one, int)]
        return [*spellings.COUNTS, *spellings.NUMBERS]

    def _string(self, name: str, part: Schema) -> str:
        words = self._strings(name, part)
        if pattern := part.get("pattern"):
            words = [word for word in words if re.search(pattern, word)] or words
        return self.luck.choice(words)

    def _strings(self, name: str, part: Schema) -> Sequence[str]:
        x, y = self.point
        if "(point)" in part.get("description", "") or part.get("description") == '"540,750"':
            short = [f"{x},{y}", f"{x},{y}", f" {x} , {y} ", f"0{x},{y}"]
            return [*short, self.scene.label, self.scene.label, REF, REF, ELEMENT, self._other()]
        pools: dict[str, Sequence[str]] = {
            "key": [str(one) for one in (*spellings.PRESSING_KEYS, *spellings.OTHER_KEYS)],
            "text": spellings.TEXTS,
            "value": spellings.VALUES,
            "command": spellings.commands(x, y),
            "script": [f"adb -s {ADDRESS} shell {one}" for one in spellings.commands(x, y)[:7]],
            "package": spellings.PACKAGES,
            "activity": spellings.ACTIVITIES,
            "url": spellings.URLS,
        }
        everything = [word for pool in pools.values() for word in pool]
        return pools.get(
            name, [self.scene.label, *spellings.WORDS, *(everything if part.get("pattern") else ())]
        )


@cache
def _vocabulary() -> dict[str, Schema]:
    """Every action's own part of the one schema, by its type."""
    whole = json_schema()["$defs"]
    kinds = {part["properties"]["type"]["const"]: part for part in whole.values() if _is_action(part)}
    return {kind: {**part, "$defs": whole} for kind, part in kinds.items()}


def _is_action(part: Schema) -> bool:
    return part.get("properties", {}).get("type", {}).get("const") in ACTIONS


def schema_of(kind: str) -> Schema:
    """Of one action."""
    return _vocabulary()[kind]
