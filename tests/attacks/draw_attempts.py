"""Draws whole attempts: which actions, on which screen, by which channel and door, in whose words."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

from handrail.dialects.arguments import action_of_tool
from handrail.errors import HandrailError
from handrail.mcp_server.tools import PROFILES
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS
from handrail.protocol.traits import Capability, Pressed
from tests.attacks import spellings
from tests.attacks.draw import Draw, place_of
from tests.attacks.guarded import SCENES, Scene
from tests.attacks.stage import MCP, Attempt

_WALK = (0.12, 0.02)
"""Of the attempts: the focus is walked to the thing by keys first; no button of an iPhone has the focus."""


def _weight(cls: type[Act]) -> float:
    """What presses is tried often, what can't is tried too."""
    if cls.traits.presses is Pressed.UNKNOWN:
        return 0.3 if cls.traits.needs is None else 3.0  # a script of this machine is a process of its own
    if cls.traits.presses is Pressed.NOTHING:
        return 0.05 if cls.traits.effect == "desk" else 0.4
    needs = cls.traits.needs
    return 14.0 if needs is Capability.KEYS else 7.0 if needs is Capability.TEXT else 10.0


def _walk(draw: Draw, luck: random.Random) -> list[dict[str, Any]]:
    """The focus moves by keys until it may stand on the thing; then a key that presses."""
    kinds = [kind for kind, cls in ACTIONS.items() if "key" in cls.model_fields]
    steps: list[dict[str, Any] | None] = [
        {"type": kinds[0], "key": luck.choice(spellings.WALKING_KEYS)} for _ in range(luck.randint(1, 4))
    ]
    steps.append(draw.action(kinds[0]))
    return [step for step in steps if step is not None]


_TYPING = 0.7
_INTO_FIELD: dict[Capability | None, float] = {Capability.KEYS: 0.7, Capability.TEXT: 0.3}
"""Of the attempts on an iPhone, whose keys go into fields alone: a field is tapped first."""
AROUND: tuple[dict[str, Any], ...] = (
    {},
    {"repeat": {"times": 2}},
    {"when": {"visible": {"text_contains": "e"}}},
    {"repeat": {"while": {"absent": "Nowhere"}, "max_times": 2}},
)


def _door(luck: random.Random, steps: Sequence[dict[str, Any]]) -> str:
    door = luck.choices(("python", "mcp", "flow"), (76, 16, 8))[0]
    return door if door != "mcp" or all(step["type"] in PROFILES[MCP] for step in steps) else "python"


OTHER_NAMES = {"key": "keycode", "target": "selector", "within": "scrollTarget", "package": "appId"}
OTHER_PLACES = {"target": ("x", "y"), "from": ("startX", "startY"), "to": ("x2", "y2")}


def _in_dialect(luck: random.Random, step: dict[str, Any]) -> dict[str, Any]:
    """As models write it that learned another tool's words; as it was where that is no valid input."""
    made: dict[str, Any] = {}
    for name, value in step.items():
        if name in OTHER_PLACES and isinstance(value, dict) and "x" in value and luck.random() < 0.6:
            made |= dict(zip(OTHER_PLACES[name], (float(value["x"]), value["y"]), strict=True))
        else:
            made[OTHER_NAMES.get(name, name) if luck.random() < 0.5 else name] = value
    arguments = {name: value for name, value in made.items() if name != "type"}
    try:
        action_of_tool(made["type"], {"reason": "I try it", **arguments})
    except HandrailError:
        return step
    return made


def draw_attempt(luck: random.Random, channels: Sequence[str]) -> Attempt:
    """Under `allow`; whoever judges changes the policy."""
    kinds, weights = _weights(tuple(channels))
    while True:
        kind = luck.choices(kinds, weights)[0]
        needs = ACTIONS[kind].traits.needs
        scene = _scene(luck, kind)
        channel = _channel(luck, channels, kind)
        if channel == "ios" and needs is Capability.KEYS and luck.random() < _TYPING:
            scene = luck.choice([entry for entry in SCENES.values() if place_of(entry, "ios").fields])
        draw = Draw(luck, scene, channel)
        count = luck.choices((1, 2, 3), (8, 1, 1))[0]
        drawn = [draw.action(kind), *(draw.action(luck.choices(kinds, weights)[0]) for _ in range(count - 1))]
        steps = (
            _walk(draw, luck)
            if luck.random() < _WALK[channel == "ios"]
            else [one for one in drawn if one is not None]
        )
        door = _door(luck, steps)
        around = luck.choice(AROUND) if door == "flow" else {}
        if door == "mcp":
            steps = [_in_dialect(luck, step) for step in steps]
        if steps:
            return Attempt(scene.name, channel, "allow", door, tuple(steps), around)


@cache
def _weights(channels: tuple[str, ...]) -> tuple[list[str], list[float]]:
    """What no channel here can do is tried seldom."""
    weights = [_weight(cls) if set(channels) - set(_unable(cls)) else 0.2 for cls in ACTIONS.values()]
    return list(ACTIONS), weights


_NOT_ON_IPHONES = frozenset({Capability.MOUSE, Capability.SHELL, Capability.DATA, Capability.LOGS})


def _unable(cls: type[Act]) -> tuple[str, ...]:
    """Channels without the fingers or the capability for it; an iPhone takes no two keys at once."""
    fields = " ".join(cls.model_fields)
    fingers = ("adb", "u2") if "angle" in fields else ("adb",) if "radius" in fields else ()
    is_missing = cls.traits.needs in _NOT_ON_IPHONES or "keys" in cls.model_fields
    return (*fingers, "ios") if is_missing else fingers


def _channel(luck: random.Random, channels: Sequence[str], kind: str) -> str:
    """Two fingers need a channel that has two."""
    unable = _unable(ACTIONS[kind])
    able = [one for one in channels if one not in unable] if luck.random() < 0.95 else []
    weights = [0.3 if one == "grpc" and not unable else 1.0 for one in able or channels]
    return luck.choices(able or list(channels), weights)[0]


def _scene(luck: random.Random, kind: str) -> Scene:
    """Often one with a field for what types, and with a focus for what needs one."""
    scenes, needs = list(SCENES.values()), ACTIONS[kind].traits.needs
    if luck.random() < 0.6:
        if needs is Capability.TEXT:
            scenes = [one for one in scenes if place_of(one, "adb").fields]
        if needs is Capability.KEYS:
            scenes = [one for one in scenes if one.focused]
    return luck.choice(scenes)
