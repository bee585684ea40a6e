"""Seed 000: OpenPocket's `ModelStepOutput` from anything a model can print, with a note of every repair.

Tried in this order: a tool-call object, JSON, JSON in a fence or in prose, `name(a=b)`, nothing at all.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from pydantic_core import from_json

from handrail.dialects.model_text import LenientReader
from handrail.dialects.rules import put_at_path, round_half_up
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.actions import AnyAction
from handrail.protocol.keys import KEYS
from handrail.protocol.observe import HumanCapability
from handrail.protocol.read import action_from
from handrail.protocol.target import Point


@dataclass(frozen=True, slots=True)
class SeedField:
    """One field of a seed action: its kind, its default, and its native path."""

    kind: type
    default: Any
    native: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SeedAction:
    """One seed action: the native kind and its fields, in the seed's order."""

    native: str
    fields: dict[str, SeedField] = field(default_factory=dict)


_AUTH = "Human authorization is required to continue."

SHAPES: dict[str, SeedAction] = {
    "tap": SeedAction("tap", {"x": SeedField(int, 0, "target.x"), "y": SeedField(int, 0, "target.y")}),
    "swipe": SeedAction(
        "swipe",
        {
            "x1": SeedField(int, 0, "from.x"), "y1": SeedField(int, 0, "from.y"),
            "x2": SeedField(int, 0, "to.x"), "y2": SeedField(int, 0, "to.y"),
            "durationMs": SeedField(int, 300, "duration_ms"),
        },
    ),
    "type": SeedAction("type_text", {"text": SeedField(str, "", "text")}),
    "keyevent": SeedAction("press_key", {"keycode": SeedField(str, "KEYCODE_ENTER", "key")}),
    "launch_app": SeedAction("start_app", {"packageName": SeedField(str, "", "package")}),
    "shell": SeedAction("shell", {"command": SeedField(str, "", "command")}),
    "run_script": SeedAction(
        "run_script",
        {"script": SeedField(str, "", "script"), "timeoutSec": SeedField(int, 60, "timeout_sec")},
    ),
    "request_human_auth": SeedAction(
        "request_human_auth",
        {
            "capability": SeedField(str, "unknown", "capability", get_args(HumanCapability)),
            "instruction": SeedField(str, _AUTH, "instruction"),
            "timeoutSec": SeedField(int, 300, "timeout_sec"),
        },
    ),
    "wait": SeedAction("wait", {"durationMs": SeedField(int, 1000, "duration_ms")}),
    "finish": SeedAction("finish", {"message": SeedField(str, "Task finished.", "message")}),
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
        written = {"action": self.action, "defaulted": self.defaulted}
        if self.native:
            return {**written, "native": self.native.to_dict()}
        return {**written, "not_executable": self.not_executable}


def normalise(payload: Any) -> Normalised:
    """Exactly seed 000's normalisation, on anything."""
    source = payload if isinstance(payload, Mapping) else {}
    kind = source.get("type")
    kind = TOOL_NAMES.get(kind, kind) if isinstance(kind, str) else None
    if kind not in SHAPES:
        wait = {"type": "wait", "durationMs": 1000}
        native = action_from({"type": "wait", "duration_ms": 1000})
        return Normalised(_with_reason(wait, source), ["type"], native)
    if kind == "tap" and "x" not in source and "y" not in source:
        for name in ("coordinate", "position"):  # `[x, y]`, as OpenPocket itself accepts
            pair = source.get(name)
            if isinstance(pair, list | tuple) and len(pair) == 2:
                source = {**source, "x": pair[0], "y": pair[1]}
                break
    action: dict[str, Any] = {"type": kind}
    defaulted: list[str] = []
    for name, shape in SHAPES[kind].fields.items():
        value = _value_of_kind(source.get(name), shape)
        if value is None:
            defaulted.append(name)
        action[name] = shape.default if value is None else value
    if kind != "finish":
        action = _with_reason(action, source)
    return _add_native_action(action, defaulted, source)


def write_action(action: Act) -> dict[str, Any]:
    """The seed's form of a native action; `Unsupported` where the seed has no words for it."""
    data = action.to_dict()
    for kind, shape in SHAPES.items():
        if shape.native != data["type"] or not _can_be_written(action):
            continue
        written: dict[str, Any] = {"type": kind}
        for name, rule in shape.fields.items():
            value: Any = data
            for part in rule.native.split("."):
                value = value[part]
            if name == "keycode":
                value = KEYS.get(str(value), str(value))
            elif rule.kind is not int:
                value = shlex.join(value) if isinstance(value, list) else str(value)
            written[name] = value
        return written if kind == "finish" else _with_reason(written, data)
    raise Unsupported(
        f"{action.type} with these fields has no form in OpenPocket", hint="Resolve it to a point first."
    )


def _value_of_kind(value: Any, shape: SeedField) -> Any:
    """The value in its kind, or None where it is missing or invalid."""
    if shape.kind is int:
        # Numbers and numeric strings; halves go up.
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        try:
            number = value if isinstance(value, int) else float(value)
            return number if isinstance(number, int) else round_half_up(number)
        except (ValueError, OverflowError):  # words, NaN and infinities
            return None
    if not isinstance(value, str) or (shape.choices and value not in shape.choices):
        return None
    return value if value or shape.default == "" else None


def _with_reason(action: dict[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    reason = source.get("reason")
    return {**action, "reason": reason} if isinstance(reason, str) and reason.strip() else action


def _add_native_action(action: dict[str, Any], defaulted: list[str], source: Mapping[str, Any]) -> Normalised:
    invented = [name for name in defaulted if name in _COORDINATES]
    empty = [name for name in _NEVER_EMPTY if name in action and not action[name].strip()]
    lost = [name for name in defaulted if name in ("keycode", "text") and source.get(name) is not None]
    why = [f"missing or invalid coordinates: {', '.join(invented)}"] if invented else []
    why += [f"{name} is empty" for name in empty] + [f"{name} is not a string" for name in lost]
    if why:
        return Normalised(action, defaulted, not_executable=why[0])
    try:
        shape = SHAPES[action["type"]]
        native: dict[str, Any] = {"type": shape.native}
        for name, rule in shape.fields.items():
            value = action[name]
            if name == "keycode":  # `BACK` and `Back` are short names in capitals
                low = value.strip().lower()
                value = low if low in KEYS else value.strip()
            put_at_path(native, rule.native, value)
        if reason := action.get("reason"):
            native["reason"] = reason[:1000]
        return Normalised(action, defaulted, native=action_from(native))
    except InvalidAction as error:
        return Normalised(action, defaulted, not_executable=error.message)


def _can_be_written(action: Act) -> bool:
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


MAX_CHARS = 200_000
"""More than this no model says in one step; the rest is not read."""

_CANDIDATES = 40
_FENCE = re.compile(r"```[\w-]*\s*\n?")
_MARKUP = re.compile(r"(\[|`{3}[\w-]*|<[\w|:/-]{1,40}>)\s*$")
_CALL = re.compile(r"\b(" + "|".join([*SHAPES, *TOOL_NAMES]) + r")\s*\(")
RawAction = tuple[dict[str, Any], str, list[str]]  # payload, thought, repairs

_LAYERS = (
    "tool_calls", "tool_call", "function_call", "functionCall", "function", "action", "choices", "message",
    "candidates", "content", "parts", "output",
)  # fmt: skip
"""Where the wire formats of the model makers put a call, from the nearest to the farthest."""
_NAMES = ("name", "tool", "function")
_SPOKEN = ("text", "thinking", "reasoning")
_THOUGHTS = ("thought", "thinking", "reasoning", "rationale")


@dataclass(frozen=True, slots=True)
class ModelStep:
    """What a model wants to do, and what had to be mended to read it."""

    thought: str
    normalised: Normalised
    raw: str
    repairs: list[str]

    def to_dict(self) -> dict[str, Any]:
        return {"thought": self.thought, "action": self.normalised.action, "raw": self.raw}


def parse_step(output: str | Mapping[str, Any], thought: str = "") -> ModelStep:
    """One step from a model's text or tool call. Never fails."""
    if isinstance(output, Mapping):
        payload, reasoning, repairs = unwrap(dict(output))
        try:
            raw = output["raw"] if isinstance(output.get("raw"), str) else repr(dict(output))[:MAX_CHARS]
        except (RecursionError, ValueError):  # deeper than Python goes, or a number with thousands of digits
            raw = "…"
        return ModelStep(reasoning or thought, normalise(payload), raw, repairs)
    text = output[:MAX_CHARS]
    cut = ["the answer was cut"] if len(output) > MAX_CHARS else []
    parsed = find_action(text)
    if parsed is None:
        return ModelStep(thought or text.strip(), normalise(None), output, [*cut, "no action was found"])
    payload, reasoning, repairs = parsed
    return ModelStep(reasoning or thought, normalise(payload), output, [*cut, *repairs])


def find_action(text: str, kinds: Collection[str] = SHAPES.keys()) -> RawAction | None:
    """The first object that is an action of these kinds, else the first that could be one, else a call."""
    candidates = [unwrap(value, kinds, repairs) for value, repairs in _objects(text)]
    actions = [candidate for candidate in candidates if _kind_of(candidate[0]) in kinds]
    if actions:
        payload, reasoning, repairs = actions[0]
        several = [f"{len(actions)} actions, the first was taken"] if len(actions) > 1 else []
        return payload, reasoning or _text_around_json(text), [*repairs, *several]
    if call := _CALL.search(text):  # `tap(x=540, y=750)` or `tap(540, 750)`, by the seed's order of fields
        kind = TOOL_NAMES.get(call[1], call[1])
        reader = LenientReader(text, call.end() - 1)
        arguments = reader.value()
        if isinstance(arguments, list):
            arguments = dict(zip(SHAPES[kind].fields, arguments, strict=False))
        lost = [note for note in reader.repairs if note.startswith("a missing")]  # names are bare in a call
        notes = ["the action was written as a call", *lost]
        return {**arguments, "type": kind}, _text_around_json(text), notes
    named = [candidate for candidate in candidates if candidate[0]]
    if named:
        return named[0][0], named[0][1] or _text_around_json(text), named[0][2]
    return None


def _kind_of(payload: Mapping[str, Any]) -> Any:
    kind = payload.get("type")
    return TOOL_NAMES.get(kind, kind) if isinstance(kind, str) else None


def _objects(text: str) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Every outermost `{…}` of the text, strict JSON first, leniently where that fails."""
    try:
        strict = from_json(_FENCE.sub("", text, count=1).removesuffix("```") if text[:3] == "```" else text)
    except (ValueError, TypeError):
        pass
    else:
        values = strict if isinstance(strict, list) else [strict]
        yield from [(value, []) for value in values if isinstance(value, dict)][:_CANDIDATES]
        return
    prose = ["the action was inside other text"] if not text.lstrip().startswith("{") else []
    at = 0
    for _ in range(_CANDIDATES):
        at = text.find("{", at)
        if at < 0:
            return
        reader = LenientReader(text, at)
        value = reader.value()
        at = max(reader.at, at + 1)
        if isinstance(value, dict) and value:
            yield value, [*prose, *reader.repairs]


def unwrap(
    value: dict[str, Any], kinds: Collection[str] = SHAPES.keys(), repairs: list[str] | None = None
) -> RawAction:
    """Peel tool calls and `{thought, action}` off; the payload, the thought, the repairs."""
    notes = list(repairs or [])
    reasoning = ""
    for _ in range(8):
        reasoning = reasoning or next(
            (value[key] for key in _THOUGHTS if isinstance(value.get(key), str)), ""
        )
        inner = _object_inside(value, kinds, notes)
        if inner is None:
            return value, reasoning, notes
        value = inner
    return value, reasoning, notes


def _object_inside(value: dict[str, Any], kinds: Collection[str], notes: list[str]) -> dict[str, Any] | None:
    """One layer down, or None at the action itself."""
    if _kind_of(value) in kinds:
        return None
    for layer in _LAYERS:
        inside = value.get(layer)
        several = inside if isinstance(inside, list) else [inside]
        calls = [call for call in several if isinstance(call, dict) and call.get("type") not in _SPOKEN]
        if len(calls) > 1:
            notes.append(f"{len(calls)} tool calls, the first was taken")
        if calls:
            return calls[0]
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    if name:
        return {"type": name, **_arguments(value)}
    # `{"action": "tap", "x": 1}` and `{"tap": {"x": 1}}`.
    action = value.get("action")
    if isinstance(action, str) and "type" not in value:
        notes.append("the action was named by `action`")
        return {**{key: item for key, item in value.items() if key != "action"}, "type": action}
    key = next(iter(value), "")
    if len(value) == 1 and key in kinds and isinstance(value[key], dict):
        notes.append("the action was named by its key")
        return {**value[key], "type": key}
    return None


def _arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a tool call: an object, or JSON in a string."""
    for key in ("arguments", "input", "args", "parameters", "params"):
        arguments = call.get(key)
        if isinstance(arguments, str):
            arguments = LenientReader(arguments[:MAX_CHARS]).value()
        if isinstance(arguments, dict):
            return {name: value for name, value in arguments.items() if name != "type"}
    return {}


def _text_around_json(text: str) -> str:
    start = min((at for at in (text.find("{"), text.find("```")) if at >= 0), default=0)
    call = _CALL.search(text)
    end = start or (call.start() if call else 0)
    prose = re.sub(r"^\s*(thought|reasoning)\s*:\s*", "", text[:end], flags=re.IGNORECASE)
    return _MARKUP.sub("", prose).strip()
