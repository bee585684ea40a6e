"""Seed 000: OpenPocket's ten actions, and whatever a model asked for as one of them.

`normalise` never fails: what is missing or invalid becomes the seed's default and is listed. Whether the
result may be *executed* is another question: `native` is the action, or `not_executable` says why not.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from handrail.dialects.rules import round_half_up
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.actions import AnyAction
from handrail.protocol.keys import KEYS
from handrail.protocol.observe import HumanCapability
from handrail.protocol.read import action_from
from handrail.protocol.target import Point


@dataclass(frozen=True, slots=True)
class Argument:
    """One field of a seed action: its kind, its default, and its native path."""

    kind: type
    default: Any
    native: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """One seed action: the native kind and its fields, in the seed's order."""

    native: str
    fields: dict[str, Argument] = field(default_factory=dict)


_AUTH = "Human authorization is required to continue."

SHAPES: dict[str, Shape] = {
    "tap": Shape("tap", {"x": Argument(int, 0, "target.x"), "y": Argument(int, 0, "target.y")}),
    "swipe": Shape(
        "swipe",
        {
            "x1": Argument(int, 0, "from.x"), "y1": Argument(int, 0, "from.y"),
            "x2": Argument(int, 0, "to.x"), "y2": Argument(int, 0, "to.y"),
            "durationMs": Argument(int, 300, "duration_ms"),
        },
    ),
    "type": Shape("type_text", {"text": Argument(str, "", "text")}),
    "keyevent": Shape("press_key", {"keycode": Argument(str, "KEYCODE_ENTER", "key")}),
    "launch_app": Shape("start_app", {"packageName": Argument(str, "", "package")}),
    "shell": Shape("shell", {"command": Argument(str, "", "command")}),
    "run_script": Shape(
        "run_script", {"script": Argument(str, "", "script"), "timeoutSec": Argument(int, 60, "timeout_sec")}
    ),
    "request_human_auth": Shape(
        "request_human_auth",
        {
            "capability": Argument(str, "unknown", "capability", get_args(HumanCapability)),
            "instruction": Argument(str, _AUTH, "instruction"),
            "timeoutSec": Argument(int, 300, "timeout_sec"),
        },
    ),
    "wait": Shape("wait", {"durationMs": Argument(int, 1000, "duration_ms")}),
    "finish": Shape("finish", {"message": Argument(str, "Task finished.", "message")}),
}  # fmt: skip
"""The ten actions, their defaults included."""

_COORDINATES = {"x", "y", "x1", "y1", "x2", "y2"}
_NEVER_EMPTY = {"packageName", "command", "script"}
TOOL_NAMES = {"type_text": "type"}
"""The seed's tool of this name makes the action `type`."""


@dataclass(frozen=True, slots=True)
class Normalised:
    """The seed's form of an action, what had to be defaulted, and what can be executed."""

    action: dict[str, Any]
    defaulted: list[str]
    native: AnyAction | None = None
    not_executable: str | None = None

    def to_dict(self) -> dict[str, Any]:
        outcome = (
            {"native": self.native.to_dict()} if self.native else {"not_executable": self.not_executable}
        )
        return {"action": self.action, "defaulted": self.defaulted, **outcome}


def normalise(payload: Any) -> Normalised:
    """Exactly seed 000's normalisation, on anything."""
    given = payload if isinstance(payload, Mapping) else {}
    kind = given.get("type")
    kind = TOOL_NAMES.get(kind, kind) if isinstance(kind, str) else None
    if kind not in SHAPES:
        wait = {"type": "wait", "durationMs": 1000}
        return Normalised(
            _with_reason(wait, given), ["type"], action_from({"type": "wait", "duration_ms": 1000})
        )
    given = _unpack_pair(given) if kind == "tap" else given
    action: dict[str, Any] = {"type": kind}
    defaulted: list[str] = []
    for name, shape in SHAPES[kind].fields.items():
        value = _coerce(given.get(name), shape)
        if value is None:
            defaulted.append(name)
        action[name] = shape.default if value is None else value
    if kind != "finish":
        action = _with_reason(action, given)
    return _executable(action, defaulted, given)


def write_action(action: Act) -> dict[str, Any]:
    """The seed's form of a native action; `Unsupported` where the seed has no words for it."""
    data = action.to_dict()
    for kind, shape in SHAPES.items():
        if shape.native != data["type"] or not _sayable(action):
            continue
        written: dict[str, Any] = {"type": kind}
        for name, known in shape.fields.items():
            value = _dig(data, known.native)
            written[name] = value if known.kind is int else _as_text(name, value)
        return written if kind == "finish" else _with_reason(written, data)
    raise Unsupported(
        f"{action.type} with these fields has no form in OpenPocket", hint="Resolve it to a point first."
    )


def _coerce(value: Any, shape: Argument) -> Any:
    """The value in its kind, or None where it is missing or invalid."""
    if shape.kind is int:
        return _to_integer(value)
    if not isinstance(value, str) or (shape.choices and value not in shape.choices):
        return None
    return value if value or shape.default == "" else None


def _to_integer(value: Any) -> int | None:
    """Numbers and numeric strings; halves go up."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = value if isinstance(value, int) else float(value)
        return number if isinstance(number, int) else round_half_up(number)
    except (ValueError, OverflowError):  # words, NaN and infinities
        return None


def _unpack_pair(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """`coordinate: [x, y]` and `position: [x, y]`, as OpenPocket itself accepts."""
    for name in ("coordinate", "position"):
        pair = given.get(name)
        if isinstance(pair, list | tuple) and len(pair) == 2 and "x" not in given and "y" not in given:
            return {**given, "x": pair[0], "y": pair[1]}
    return given


def _with_reason(action: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    reason = given.get("reason")
    return {**action, "reason": reason} if isinstance(reason, str) and reason.strip() else action


def _executable(action: dict[str, Any], defaulted: list[str], given: Mapping[str, Any]) -> Normalised:
    invented = [name for name in defaulted if name in _COORDINATES]
    empty = [name for name in _NEVER_EMPTY if name in action and not action[name].strip()]
    lost = [name for name in defaulted if name in ("keycode", "text") and given.get(name) is not None]
    if invented:
        return Normalised(
            action, defaulted, not_executable=f"missing or invalid coordinates: {', '.join(invented)}"
        )
    if empty:
        return Normalised(action, defaulted, not_executable=f"{empty[0]} is empty")
    if lost:
        return Normalised(action, defaulted, not_executable=f"{lost[0]} is not a string")
    try:
        return Normalised(action, defaulted, native=_to_native(action))
    except InvalidAction as error:
        return Normalised(action, defaulted, not_executable=error.message)


def _to_native(action: dict[str, Any]) -> AnyAction:
    shape = SHAPES[action["type"]]
    native: dict[str, Any] = {"type": shape.native}
    for name, known in shape.fields.items():
        holder = native
        *parents, last = known.native.split(".")
        for parent in parents:
            holder = holder.setdefault(parent, {})
        holder[last] = _key(action[name]) if name == "keycode" else action[name]
    if reason := action.get("reason"):
        native["reason"] = reason[:1000]
    return action_from(native)


def _key(keycode: str) -> str:
    """`BACK` and `Back` are short names in capitals."""
    word = keycode.strip()
    return word.lower() if word.lower() in KEYS else word


def _sayable(action: Act) -> bool:
    """The seed aims at points only and types into what has the focus; it expects nothing of the outcome."""
    target = getattr(action, "target", None)
    flags = [
        getattr(action, name, False) for name in ("clear", "submit", "raw", "activity", "expect", "device")
    ]
    if any(flags) or getattr(action, "status", "done") != "done":
        return False
    if action.type == "swipe":
        return getattr(action, "from_", None) is not None
    return isinstance(target, Point) if action.type == "tap" else target is None


def _dig(data: Mapping[str, Any], path: str) -> Any:
    value: Any = data
    for part in path.split("."):
        value = value[part]
    return value


def _as_text(name: str, value: Any) -> str:
    if name == "keycode":
        return KEYS.get(str(value), str(value))
    return shlex.join(value) if isinstance(value, list) else str(value)
